/* SPDX-License-Identifier: Apache-2.0 */
/* draw_overlay.ts - what is drawn over the lanes: the ruler, the selection, arrows from launch to work, evidence, marks. */
import type { Span } from "../data/protocol";
import { beginOf } from "../state/store";
import { flagsShown } from "./draw_notes";
import { laneKey, levelOf, partsOf, type Layout, type Row } from "./layout";
import type { Scene } from "./scene";
import { css } from "./theme";
import { FONT, widthOf } from "./text";
import { roundStep, tick, duration, momentText, signed } from "./units";

/** Half the height of a time under a flag. */
const FLAG_ROOM = 6;

type Ink = CanvasRenderingContext2D;

export function drawRuler(on: Ink, scene: Scene, height: number): void {
	const { state, dpr, palette, width } = scene;
	const perPixel = (state.to - state.from) / width;
	const step = roundStep(perPixel * 110 * dpr);
	const zero = beginOf(state);
	// Under the flags of notes, where there are any.
	const middle = (flagsShown(scene) ? scene.ruler - FLAG_ROOM : scene.ruler / 2) * dpr;
	on.fillStyle = css(palette.band);
	on.fillRect(0, 0, width, scene.ruler * dpr);
	on.font = FONT.replace("11px", `${11 * dpr}px`);
	on.textBaseline = "middle";
	on.textAlign = "left";
	for (let k = Math.floor((state.from - zero) / step); zero + k * step <= state.to; k++) {
		const x = Math.round((zero + k * step - state.from) / perPixel) + 0.5;
		on.fillStyle = palette.dark ? "rgba(255,255,255,0.07)" : "rgba(0,0,0,0.07)";
		on.fillRect(x, scene.ruler * dpr, 1, height);
		on.fillStyle = palette.faint;
		on.fillRect(x, scene.ruler * dpr - 6 * dpr, 1, 6 * dpr);
		// Half a text says another time.
		const text = tick(k * step, step);
		if (x >= 0 && x + 4 * dpr + widthOf(on, text) <= width)
			on.fillText(text, x + 4 * dpr, middle);
	}
}

interface Box { x0: number; x1: number; y0: number; y1: number; row: Row }

/** Where a span stands on the screen, or would if there were room. */
function boxOf(scene: Scene, layout: Layout, trace: number, span: Span): Box | null {
	const row = layout.byLane.get(laneKey(trace, span.lane));
	if (!row)
		return null;
	const nested = levelOf(row, span.row ?? 0);
	const within = row.kind === "rank" ? partsOf(row).strip ?? row : row;
	const level = row.kind === "lane" ? row.level : within.h - 4;
	const y0 = scene.top(within) + scene.size(2) + scene.size(nested * level);
	const x0 = scene.x(trace, span.start);
	return { x0, x1: Math.max(x0 + 2, scene.x(trace, span.start + span.dur)), y0, y1: y0 + scene.size(level) - 1, row };
}

function clipped(on: Ink, scene: Scene, draw: () => void): void {
	on.save();
	on.beginPath();
	on.rect(0, scene.ruler * scene.dpr, scene.width, 1e5);
	on.clip();
	draw();
	on.restore();
}

/** A row that has scrolled behind the pinned ones keeps its frames to itself. */
function isBehind(scene: Scene, box: Box): boolean {
	return !box.row.pinned && box.y0 < (scene.ruler + scene.pinnedHeight) * scene.dpr - 1;
}

function frame(on: Ink, scene: Scene, box: Box, width: number): void {
	if (isBehind(scene, box))
		return;
	on.strokeStyle = scene.palette.accent;
	on.lineWidth = width * scene.dpr;
	const x0 = Math.max(-4, box.x0);
	on.strokeRect(Math.floor(x0) + 0.5, Math.floor(box.y0) + 0.5, Math.min(1e4, Math.max(2, box.x1 - x0)), box.y1 - box.y0);
}

function arrow(on: Ink, from: Box, to: Box, colour: string, dpr: number): void {
	const x0 = Math.min(Math.max(from.x0, -50), 1e4);
	const x1 = Math.min(Math.max(to.x0, -50), 1e4);
	const down = to.y0 > from.y0;
	const y0 = down ? from.y1 : from.y0;
	const y1 = down ? to.y0 : to.y1;
	const bend = Math.max(24, Math.abs(y1 - y0) * 0.5) * (down ? 1 : -1);
	on.strokeStyle = colour;
	on.fillStyle = colour;
	on.lineWidth = 1.5 * dpr;
	on.beginPath();
	on.moveTo(x0, y0);
	on.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
	on.stroke();
	const head = (down ? -6 : 6) * dpr;
	on.beginPath();
	on.moveTo(x1, y1);
	on.lineTo(x1 - 4 * dpr, y1 + head);
	on.lineTo(x1 + 4 * dpr, y1 + head);
	on.fill();
}

export function drawSelection(on: Ink, scene: Scene, layout: Layout): void {
	const selected = scene.state.selected;
	if (!selected)
		return;
	const { trace, span } = selected;
	const box = boxOf(scene, layout, trace, span);
	if (!box)
		return;
	clipped(on, scene, () => {
		const colour = scene.palette.accent;
		if (span.launch) {
			const launch = boxOf(scene, layout, trace, span.launch);
			if (launch) {
				frame(on, scene, launch, 1.5);
				arrow(on, launch, box, colour, scene.dpr);
			}
		}
		for (const work of span.work.slice(0, 16)) {
			const target = boxOf(scene, layout, trace, work);
			if (target) {
				frame(on, scene, target, 1.5);
				arrow(on, box, target, colour, scene.dpr);
			}
		}
		for (const there of span.projected ?? []) {
			const target = boxOf(scene, layout, trace, { ...span, ...there });
			if (target) {
				frame(on, scene, target, 1.5);
				arrow(on, box, target, colour, scene.dpr);
			}
		}
		frame(on, scene, box, 2.5);
	});
}

/** Frames the evidence of a finding, and the piece one is at twice as strong; draw_spans.ts lets the rest step back. */
export function drawLit(on: Ink, scene: Scene, layout: Layout): void {
	const lit = scene.state.lit;
	if (!lit || !lit.spans.length)
		return;
	clipped(on, scene, () => {
		for (const [i, span] of lit.spans.entries()) {
			const box = boxOf(scene, layout, lit.trace, span);
			if (!box || box.x1 < 0 || box.x0 >= scene.width || isBehind(scene, box))
				continue;
			frame(on, scene, box, i === lit.at ? 3 : 1.5);
			on.fillStyle = scene.palette.accent;
			on.beginPath();
			const x = Math.max(0, box.x0) + 5 * scene.dpr;
			on.moveTo(x, box.y0 - 2);
			on.lineTo(x - 5 * scene.dpr, box.y0 - 9 * scene.dpr);
			on.lineTo(x + 5 * scene.dpr, box.y0 - 9 * scene.dpr);
			on.fill();
		}
	});
}

/** How high the mark of hits is along the upper edge of a crowded lane. */
const BAND = 6;

export function drawOutlines(on: Ink, scene: Scene, pinned: boolean): void {
	for (const { x0, x1, y0, y1, kind, many } of scene.outlines.filter((o) => o.pinned === pinned)) {
		on.fillStyle = scene.palette.accent;
		if (kind === "path")
			on.fillRect(x0, y1 - 2 * scene.dpr, x1 - x0, 2 * scene.dpr);
		else {
			on.strokeStyle = kind === "kin" ? (scene.palette.dark ? "#ff7ad9" : "#c2188f") : css(scene.palette.hit);
			if (many) {
				// Over the spans it would be another colour of theirs.
				on.fillStyle = on.strokeStyle;
				on.fillRect(x0, y0, x1 - x0, Math.min(BAND * scene.dpr, y1 - y0));
			}
			on.lineWidth = (kind === "kin" ? 2 : 1.5) * scene.dpr;
			on.strokeRect(x0 + 0.5, y0 + 0.5, Math.max(1, x1 - x0 - 1), y1 - y0 - 1);
		}
	}
}

/** The rows of chosen lanes; a folded group where one of its lanes is. */
function chosenRows(scene: Scene, layout: Layout): Row[] {
	const rows = new Set<Row>();
	for (const key of scene.state.chosen) {
		const row = layout.byLane.get(key);
		if (row)
			rows.add(row);
	}
	return [...rows];
}

/** Tints what is selected: the stretch of time, on the chosen lanes where there are any. */
function tintSelection(on: Ink, scene: Scene, layout: Layout, x0: number, x1: number, height: number): void {
	on.fillStyle = scene.palette.dark ? "rgba(120,170,255,0.16)" : "rgba(40,100,220,0.12)";
	if (!scene.state.chosen.size)
		return on.fillRect(x0, 0, x1 - x0, height);
	on.fillRect(x0, 0, x1 - x0, scene.ruler * scene.dpr);
	const edge = (scene.ruler + scene.pinnedHeight) * scene.dpr;
	for (const row of chosenRows(scene, layout)) {
		const top = scene.top(row);
		const from = Math.max(top, row.pinned ? 0 : edge);
		on.fillRect(x0, from, x1 - x0, Math.max(0, top + scene.size(row.h) - from));
	}
}

export function drawRange(on: Ink, scene: Scene, layout: Layout, height: number): void {
	const { range, chosen, from, to } = scene.state;
	if (!range) {
		if (chosen.size)
			tintSelection(on, scene, layout, 0, scene.width, height);
		return;
	}
	const perPixel = (to - from) / scene.width;
	const x0 = (range.from - from) / perPixel;
	const x1 = (range.to - from) / perPixel;
	tintSelection(on, scene, layout, x0, x1, height);
	on.fillStyle = scene.palette.dark ? "#78aaff" : "#2864dc";
	on.fillRect(Math.round(x0), 0, scene.dpr, height);
	on.fillRect(Math.round(x1), 0, scene.dpr, height);
	const text = duration(range.to - range.from);
	const wide = on.measureText(text).width + 12 * scene.dpr;
	const middle = Math.min(scene.width - wide / 2, Math.max(wide / 2, (x0 + x1) / 2));
	on.fillRect(middle - wide / 2, 3 * scene.dpr, wide, (scene.ruler - 6) * scene.dpr);
	on.fillStyle = scene.palette.dark ? "#10161d" : "#ffffff";
	on.textAlign = "center";
	on.fillText(text, middle, scene.ruler * scene.dpr / 2);
}

/** The line at the pointer, and its time on the ruler: since the begin, and from the begin of the selection where there is one. */
export function drawCursor(on: Ink, scene: Scene, height: number): void {
	const { cursor, from, to, range } = scene.state;
	// Keys and links move the window under a pointer that stands still.
	if (cursor === null || cursor < from || cursor > to)
		return;
	const { dpr, palette } = scene;
	const perPixel = (to - from) / scene.width;
	const x = Math.round((cursor - from) / perPixel);
	on.fillStyle = palette.dark ? "rgba(255,255,255,0.35)" : "rgba(0,0,0,0.3)";
	on.fillRect(x, 0, 1, height);
	const text = momentText(cursor - beginOf(scene.state), perPixel) + (range ? `  (${signed(cursor - range.from)})` : "");
	on.font = FONT.replace("11px", `600 ${11 * dpr}px`);
	on.textBaseline = "middle";
	on.textAlign = "left";
	const wide = on.measureText(text).width + 10 * dpr;
	const left = Math.min(scene.width - wide, x + 5 * dpr);
	on.fillStyle = palette.ink;
	on.beginPath();
	on.roundRect(left, 4 * dpr, wide, (scene.ruler - 8) * dpr, 3 * dpr);
	on.fill();
	on.fillStyle = css(palette.back);
	on.fillText(text, left + 5 * dpr, scene.ruler * dpr / 2 + 0.5);
}

/** A frame around the row that the keyboard is at. */
export function drawFocus(on: Ink, scene: Scene, row: Row | null, height: number): void {
	if (!row)
		return;
	const wide = 2 * scene.dpr;
	on.save();
	on.beginPath();
	on.rect(0, (scene.ruler + (row.pinned ? 0 : scene.pinnedHeight)) * scene.dpr, scene.width, height);
	on.clip();
	on.strokeStyle = scene.palette.dark ? "#78aaff" : "#2864dc";
	on.lineWidth = wide;
	on.strokeRect(wide / 2, scene.top(row) + wide / 2, scene.width - wide, scene.size(row.h) - wide);
	on.restore();
}
