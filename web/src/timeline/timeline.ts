/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.ts - the canvas: one frame is lay out, draw the lanes, ask for what was missing.
 *
 * draw() is called by invalidate() once a display frame and reads the state; it changes nothing but its own scroll limits. */
import { Leads } from "../data/leads";
import { Marks } from "../data/marks";
import { Names } from "../data/names";
import { Pieces } from "../data/pieces";
import type { Group, Lane, Piece } from "../data/protocol";
import type { Source } from "../data/source";
import { Tiles, type Cover } from "../data/tiles";
import { focusedRow } from "../state/focus";
import { state } from "../state/store";
import { visibleRange } from "./counter";
import { drawHeadway, drawUtilisation, drawUtilisationOf, firstAfter } from "./draw_charts";
import { drawAxes, drawCounter, drawReadings } from "./draw_counter";
import { drawNotes } from "./draw_notes";
import { drawCursor, drawFocus, drawLit, drawOutlines, drawRange, drawRuler, drawSelection } from "./draw_overlay";
import { drawGaps, drawPath, drawSteps, tintGaps } from "./draw_pieces";
import { drawFoldedHits, drawLane, LABEL_LEAST } from "./draw_spans";
import { layOut, levelOf, partsOf, type Layout, type Row } from "./layout";
import { Raster } from "./raster";
import { Scene } from "./scene";
import { drawLabels } from "./text";
import { Palette } from "./theme";

export const RULER = 26;

/** Labels of one line, from lanes that are drawn over each other: each ends where the next one begins. */
function setApart(labels: Scene["labels"], out: Scene["labels"]): void {
	labels.sort((a, b) => a.x - b.x);
	for (const [i, label] of labels.entries()) {
		const w = Math.min(label.w, (labels[i + 1]?.x ?? Infinity) - label.x);
		if (w >= LABEL_LEAST)
			out.push({ ...label, w });
	}
}

/** All lanes inside a group. */
const lanesOf = (group: Group): number[] => [...group.lanes, ...group.groups.flatMap(lanesOf)];

export class Timeline {
	readonly tiles: Tiles;
	readonly names: Names;
	readonly marks: Marks;
	/** Where spans stand that belong to the selected one. */
	readonly kinMarks: Marks;
	readonly gaps: Pieces;
	readonly path: Pieces;
	readonly leads: Leads;
	layout: Layout = { rows: [], pinnedHeight: 0, height: 0, byLane: new Map() };
	palette = new Palette(false);
	scroll = 0;
	/** Rows of counters on the screen, with the tiles they were drawn from. */
	counters: { row: Row; lane: Lane; covers: Cover[] }[] = [];
	/** Milliseconds of the latest frames, for tests and the curious. */
	frames: number[] = [];
	private canvas: HTMLCanvasElement | null = null;
	private raster = new Raster();
	private depths = new Map<string, number>();
	private queued = false;
	private listeners: (() => void)[] = [];

	constructor(source: Source) {
		const again = (): void => this.invalidate();
		this.tiles = new Tiles(source, again);
		this.names = new Names(source, again);
		this.marks = new Marks(source, again);
		this.kinMarks = new Marks(source, again);
		this.gaps = new Pieces(source, "gaps", again);
		this.path = new Pieces(source, "path", again);
		this.leads = new Leads(source, again);
	}

	mount(canvas: HTMLCanvasElement): void {
		this.canvas = canvas;
		this.invalidate();
	}

	/** Called after each frame: labels and the mini-map follow the canvas. */
	onFrame(listener: () => void): () => void {
		this.listeners.push(listener);
		return () => { this.listeners = this.listeners.filter((l) => l !== listener); };
	}

	invalidate(): void {
		if (this.queued)
			return;
		this.queued = true;
		requestAnimationFrame(() => {
			this.queued = false;
			this.draw();
		});
	}

	get viewHeight(): number {
		return (this.canvas?.clientHeight ?? 0) - RULER - this.layout.pinnedHeight;
	}

	get viewWidth(): number {
		return this.canvas?.clientWidth ?? 0;
	}

	/** How far the lanes scroll: 0 where they fit. */
	get mostScroll(): number {
		const over = this.layout.height - this.viewHeight;
		return over > 0 ? over + 40 : 0;
	}

	setScroll(y: number): void {
		this.scroll = Math.max(0, Math.min(y, this.mostScroll));
		this.invalidate();
	}

	/** Scrolls until a level of a lane's row is in view. */
	reveal(key: string, nested = 0): void {
		const row = this.layout.byLane.get(key);
		if (row)
			this.revealRow(row, nested);
	}

	revealRow(row: Row, nested = 0): void {
		if (row.pinned)
			return;
		const y = row.y + levelOf(row, nested) * row.level;
		const h = row.kind === "lane" ? row.level : row.h;
		if (y < this.scroll || y + h > this.scroll + this.viewHeight)
			this.setScroll(y - this.viewHeight / 3);
	}

	scene(): Scene | null {
		const canvas = this.canvas;
		if (!canvas || !state.traces.length)
			return null;
		const dpr = window.devicePixelRatio || 1;
		return new Scene(state, this.raster, this.palette, this.tiles, this.names, this.marks, this.kinMarks, Math.max(1, Math.round(canvas.clientWidth * dpr)), dpr, RULER,
			this.layout.pinnedHeight, this.scroll);
	}

	private depthOf = (trace: number, lane: number): number => this.depths.get(`${trace}/${lane}`) ?? 1;

	/** The piece of a row of gaps or of the critical path at a time. */
	pieceAt(scene: Scene, row: Row, time: number): Piece | undefined {
		const { from, to } = scene.window(row.trace);
		const pieces = row.kind === "gaps" ? this.gaps.list(row.trace, row.device, from, to, scene.width) : this.path.list(row.trace, 0, from, to, scene.width);
		return pieces.find((p) => p.from <= time && time < p.to);
	}

	/** How far the CPU is ahead of a row's device at a time: operations and ns of work. They are the most within so many ns. */
	leadAt(scene: Scene, row: Row, time: number): { count: number; work: number; within: number } | undefined {
		const { from, to } = scene.window(row.trace);
		const all = state.traces[row.trace]?.headway;
		const mine = all ? this.leads.list(row.trace, all, from, to, scene.width).filter((d) => d.device === row.device) : [];
		const phase = mine.find((d) => (d.points[0]?.[0] ?? Infinity) <= time && time <= d.points.at(-1)![0]);
		const point = phase?.points[firstAfter(phase.points, time) - 1];
		return point && { count: point[1], work: point[2], within: phase!.within };
	}

	private draw(): void {
		const begin = performance.now();
		const canvas = this.canvas;
		const on = canvas?.getContext("2d", { alpha: false });
		this.layout = layOut(state, this.depthOf, (canvas?.clientHeight ?? 0) - RULER - 8);
		// Lanes may have become fewer.
		this.scroll = Math.min(this.scroll, this.mostScroll);
		const scene = this.scene();
		if (!canvas || !on || !scene)
			return;
		const height = Math.max(1, Math.round(canvas.clientHeight * scene.dpr));
		if (canvas.width !== scene.width || canvas.height !== height) {
			canvas.width = scene.width;
			canvas.height = height;
		}
		this.drawParts(on, scene, height);
		this.frames.push(performance.now() - begin);
		if (this.frames.length > 240)
			this.frames.shift();
		for (const listener of this.listeners)
			listener();
		// After the listeners: the strip above asks for tiles, too.
		this.tiles.flush();
		this.names.flush();
	}

	/** The same picture on something else than the screen. */
	drawOn(on: CanvasRenderingContext2D, raster: Raster): void {
		const mine = this.raster;
		this.raster = raster;
		try {
			const scene = this.scene();
			if (scene && this.canvas)
				this.drawParts(on, scene, this.canvas.height);
		} finally {
			this.raster = mine;
		}
	}

	private drawParts(on: CanvasRenderingContext2D, scene: Scene, height: number): void {
		const { canvas } = this;
		this.drawRows(scene, height);
		this.raster.paint(on);
		drawRuler(on, scene, height);
		drawNotes(on, scene, height);
		this.drawLabelParts(on, scene, height);
		this.eachPart(on, scene, height, (pinned) => drawAxes(on, scene, pinned));
		this.eachPart(on, scene, height, (pinned) => drawOutlines(on, scene, pinned));
		drawLit(on, scene, this.layout);
		drawSelection(on, scene, this.layout);
		drawFocus(on, scene, canvas && document.activeElement === canvas && canvas.matches(":focus-visible") ? focusedRow() : null, height);
		drawRange(on, scene, this.layout, height);
		drawCursor(on, scene, height);
		this.eachPart(on, scene, height, (pinned) => drawReadings(on, scene, this.counters.filter((c) => c.row.pinned === pinned)));
	}

	/** Texts and frames of rows that scroll must not show over those that do not. */
	private eachPart(on: CanvasRenderingContext2D, scene: Scene, height: number, draw: (pinned: boolean) => void): void {
		const edge = (RULER + this.layout.pinnedHeight) * scene.dpr;
		for (const [pinned, top, bottom] of [[true, RULER * scene.dpr, edge], [false, edge, height]] as const) {
			on.save();
			on.beginPath();
			on.rect(0, top, scene.width, bottom - top);
			on.clip();
			draw(pinned);
			on.restore();
		}
	}

	private drawLabelParts(on: CanvasRenderingContext2D, scene: Scene, height: number): void {
		this.eachPart(on, scene, height, (pinned) => drawLabels(on, scene.labels.filter((l) => l.pinned === pinned), scene.dpr));
	}

	private drawCounterRow(scene: Scene, row: Row, lane: Lane, covers: Cover[]): void {
		drawCounter(scene, row, lane, covers);
		row.range = visibleRange(covers);
		this.counters.push({ row, lane, covers });
	}

	private drawRows(scene: Scene, height: number): void {
		const { palette } = scene;
		this.raster.resize(scene.width, height);
		this.raster.clear(palette.pixel(palette.back));
		this.counters = [];
		if (state.path)
			state.traces.forEach((_, t) => {
				const { from, to } = scene.window(t);
				this.path.list(t, 0, from, to, scene.width);
				scene.onPath[t] = this.path.ids(t);
			});
		const edge = (RULER + this.layout.pinnedHeight) * scene.dpr;
		for (const row of this.layout.rows) {
			this.raster.clip(row.pinned ? 0 : edge, height);
			const top = scene.top(row);
			const bottom = top + scene.size(row.h);
			if (bottom <= this.raster.top || top >= height)
				continue;
			if (row.kind === "group" || row.kind === "rank" || row.kind === "device" || row.kind === "run")
				this.raster.rect(0, scene.width, top, bottom, palette.pixel(palette.band));
			this.raster.rect(0, scene.width, bottom - 1, bottom, palette.pixel(palette.line));
			this.drawRow(scene, row);
			if (row.folded && row.group && scene.highlight)
				drawFoldedHits(scene, row, lanesOf(row.group).filter((lane) => row.kind !== "group" || lane !== row.lane?.lane));
		}
	}

	private drawRow(scene: Scene, row: Row): void {
		const { from, to } = scene.window(row.trace);
		const trace = state.traces[row.trace]!;
		const covers = (): Cover[] =>
			row.lane ? this.tiles.cover(row.trace, row.lane.lane, from, to, scene.level(), row.lane.detail) : [];
		switch (row.kind) {
		case "steps":
			return void (trace.steps && drawSteps(scene, row, trace.steps));
		case "path":
			return drawPath(scene, row, this.path.list(row.trace, 0, from, to, scene.width));
		case "gaps":
			return drawGaps(scene, row, this.gaps.list(row.trace, row.device, from, to, scene.width));
		case "headway":
			return void (trace.headway && drawHeadway(scene, row, trace.headway, this.leads.list(row.trace, trace.headway, from, to, scene.width)));
		case "device":
			return this.drawDevice(scene, row, covers());
		case "rank":
			return this.drawRank(scene, row, covers());
		case "counter":
			return void (row.lane && this.drawCounterRow(scene, row, row.lane, covers()));
		case "lane":
			if (state.gaps && trace.steps && row.lane?.type === "stream")
				tintGaps(scene, row, this.gaps.list(row.trace, this.idleOf(row), from, to, scene.width));
			this.drawLaneRow(scene, row, covers());
			return;
		case "group":
			if (row.lane?.type === "counter")
				this.drawCounterRow(scene, row, row.lane, covers());
			else if (row.lane)
				this.drawLaneRow(scene, row, covers());
		}
	}

	/** Whose idle time stands behind a stream: its device's, or its rank's where ranks share the device. */
	private idleOf({ trace, lane, rank }: Row): number {
		const chart = rank === null ? null : this.layout.rows.find((r) => r.kind === "gaps" && r.trace === trace && r.rank === rank);
		return chart?.device ?? lane?.device ?? 0;
	}

	private drawDevice(scene: Scene, row: Row, covers: Cover[]): void {
		if (covers.some((c) => c.tile.level > scene.level())) {
			const { from, to } = scene.window(row.trace);
			const streams = state.traces[row.trace]!.lanes.lanes.filter((l) => l.type === "stream" && (row.kind === "rank" ? l.rank === row.rank : l.device === row.device))
				.map((l) => this.tiles.cover(row.trace, l.lane, from, to, scene.level(), l.detail));
			if (streams.flat().length && streams.flat().every((c) => c.tile.form === "spans" || c.tile.form === "empty"))
				return drawUtilisationOf(scene, row, streams);
		}
		drawUtilisation(scene, row, covers);
	}

	/** How busy the rank's streams are, and what it says to the others. */
	private drawRank(scene: Scene, row: Row, covers: Cover[]): void {
		const { chart, strip } = partsOf(row);
		if (chart)
			this.drawDevice(scene, chart, covers);
		const { from, to } = scene.window(row.trace);
		const before = scene.labels.length;
		for (const lane of strip ? row.strips : [])
			drawLane(scene, strip!, lane, this.tiles.cover(row.trace, lane.lane, from, to, scene.level(), lane.detail), this.tiles.isDense(row.trace, lane.lane, scene.level()), true);
		setApart(scene.labels.splice(before), scene.labels);
	}

	private drawLaneRow(scene: Scene, row: Row, covers: Cover[]): void {
		const lane = row.lane;
		if (!lane)
			return;
		drawLane(scene, row, lane, covers, this.tiles.isDense(row.trace, lane.lane, scene.level()));
		const key = `${row.trace}/${lane.lane}`;
		const deepest = Math.max(this.depths.get(key) ?? 1, ...covers.map((c) => c.tile.rows));
		if (deepest > (this.depths.get(key) ?? 1)) {
			this.depths.set(key, deepest);
			this.invalidate();
		}
	}
}
