/* SPDX-License-Identifier: Apache-2.0 */
/* draw_spans.ts - a lane: its spans, or the summary of a stretch with too many of them.
 *
 * Where a lane has summaries at this scale, stretches with few spans are summed up, too (sum_up.ts): one look for the whole lane,
 * so that a border between two tiles does not look like a change of the program. Each row of a lane that nests has the share that its own spans cover. */
import type { Marks } from "../data/marks";
import { spanName } from "../data/span_names";
import { isMark, isUnfinished, type Spans } from "../data/tile";
import type { Cover } from "../data/tiles";
import { Look, type Lane } from "../data/protocol";
import type { Kin, Lit } from "../state/store";
import { isThin, levelOf, type Row } from "./layout";
import type { Label, Outline, Scene } from "./scene";
import { LONG_BUCKETS, sumUp, type Sum } from "./sum_up";

/** A span or a stretch that is narrower has no label. */
export const LABEL_LEAST = 30;
/** The class of communication in summaries. */
const COMM = 1;
const CLASSES = [0, 1, 2, 3];
/** Looks of which names tell more than the kind. */
const BY_NAME = new Set<number>([Look.kernel, Look.comm, Look.graph, Look.range, Look.op, Look.call]);

/** The rows of a summary of thread states. */
const STATES = [Look.running, Look.stopped];

interface Place { scene: Scene; row: Row; lane: Lane; top: number; level: number; x0: number; x1: number; from: number; perPixel: number;
	/** The strip of a rank's messages: all of it is communication, and of streams nothing else is drawn. */
	talk: boolean;
	/** Of a level in which spans stand one over the other: the label that was put there last, and whose it is. */
	under: { label: Label | null; id: number };
	/** The evidence that is lit: what is of its kind keeps its colour, the rest steps back. */
	lit: Lit | null;
	/** What belongs to the selected span, in this trace. */
	kin: Kin | null }

/** A span hides the rest of the label under it; its own goes on, where the span goes on in the next tile. */
function cutLabel(p: Place, x0: number, id: number): void {
	const { label } = p.under;
	if (label && p.under.id !== id && label.x + label.w > x0)
		label.w = Math.max(0, x0 - label.x);
}

function drawSpan(p: Place, spans: Spans, i: number): void {
	const { scene, row } = p;
	const start = spans.start[i]!;
	const dur = spans.dur[i]!;
	const left = (start - p.from) / p.perPixel;
	const right = left + dur / p.perPixel;
	if (right < p.x0 - 1 || left >= p.x1)
		return;
	let x0 = Math.round(left);
	let x1 = Math.max(x0 + 1, Math.round(right));
	const wide = x1 - x0;
	// A seam between neighbours, where there is room for one.
	if (wide > 3 && !isUnfinished(spans, i))
		x1--;
	x0 = Math.max(x0, Math.floor(p.x0));
	x1 = Math.min(x1, Math.ceil(p.x1));
	if (x1 <= x0)
		return;
	const nested = isThin(p.lane) ? 0 : levelOf(row, spans.row[i]!);
	// In the last level of a lane, and in a folded group, what nests stands over what is around it.
	const stacked = nested >= row.levels - 1;
	const y0 = p.top + nested * p.level;
	const y1 = y0 + p.level - 1;
	if (p.talk && p.lane.type === "stream" && spans.look[i] !== Look.comm)
		return;
	const look = p.talk ? Look.comm : spans.look[i]!;
	const name = spans.name[i]!;
	const { palette, raster } = scene;
	const dim = p.lit !== null && !(p.lit.lanes.has(p.lane.lane) && p.lit.names.has(scene.names.text(row.trace, name)));
	const labelled = wide >= LABEL_LEAST && p.level >= scene.size(11);
	// A name that nobody looks at is not asked for.
	const text = labelled || scene.highlight || scene.state.byName || p.kin?.name ? scene.names.text(row.trace, name) : "";
	const named = scene.state.byName && BY_NAME.has(look) && text ? palette.named(text) : null;
	const colour = named === null ? palette.span(look, name) : palette.pixel(named);
	raster.rect(x0, x1, y0, isMark(spans, i) ? y0 + Math.ceil(p.level * 0.7) : y1, dim ? palette.dim(colour) : colour);
	if (wide >= 8 && !dim && named === null)
		raster.pattern(x0, x1, y0, y1, palette.pattern(look), palette.tint(palette.look(look), 0.62));
	const id = spans.id[i]!;
	if (stacked)
		cutLabel(p, x0, id);
	if (scene.onPath[row.trace]?.has(id))
		scene.outlines.push({ x0, x1, y0, y1, kind: "path", pinned: row.pinned });
	if (p.kin && (p.kin.name === null ? p.kin.ids.has(id) : p.kin.name === text))
		scene.outlines.push({ x0, x1, y0, y1, kind: "kin", pinned: row.pinned });
	if (scene.highlight?.fits(row.trace, p.lane.lane, { id, name: text, look: spans.look[i]!, start: spans.start[i]!, dur: spans.dur[i]! }) && (!scene.highlight.needsMarks || isMarked(p, spans.start[i]!)))
		scene.outlines.push({ x0, x1, y0, y1, kind: "hit", pinned: row.pinned });
	// Once: where the span's first visible point is.
	const from = Math.max(left, 0);
	if (!labelled || !text || from < p.x0 - 0.5 || from >= p.x1)
		return;
	const label = { pinned: row.pinned, x: from, w: Math.min(right, scene.width) - from, y: y0, h: y1 - y0, text: spanName(text, look), ink: dim ? palette.faint : named === null ? palette.inkOn(look, name) : palette.inkOf(named) };
	scene.labels.push(label);
	if (stacked)
		Object.assign(p.under, { label, id });
}

/** Whether the server has marked the pixel in which a span begins. */
function isMarked(p: Place, start: number): boolean {
	const { scene, row } = p;
	const { from, to } = scene.window(row.trace);
	return scene.marks.list(row.trace, p.lane.lane, scene.state.query.trim(), from, to, scene.width).some(([begin, end]) => start >= begin && start < end);
}

/** A bucket of a summary on the screen, and how strong its colour is. */
interface Bar { x0: number; x1: number; look: number; shade: (strength: number) => number; share: number }

/** What share of the time the thread ran: from below, and above it what share it did not. */
function drawStates(p: Place, tile: Sum, i: number, { x0, x1 }: Bar): void {
	const { palette, raster } = p.scene;
	const high = p.level - 1;
	let y = p.top + high;
	for (const [r, look] of STATES.entries()) {
		const share = (tile.rowShares[r]?.[i] ?? 0) / 255;
		const top = share > 0 ? Math.max(p.top, Math.min(y - 1, Math.round(y - share * high))) : y;
		raster.rect(x0, x1, top, y, palette.pixel(palette.look(look)));
		y = top;
	}
}

/** Each row of a lane as strong as spans of it cover the bucket; the last row that is drawn has what is deeper, too. */
function drawRows(p: Place, tile: Sum, i: number, { x0, x1, shade, share }: Bar): void {
	const { raster } = p.scene;
	const last = p.row.kind === "lane" ? p.row.levels - 1 : 0;
	if (last === 0 || !tile.rowShares.length) {
		raster.rect(x0, x1, p.top, p.top + p.level - 1, shade(share));
		// How deep it nests is not known here.
		if (last > 0)
			raster.rect(x0, x1, p.top + p.level, p.top + (last + 1) * p.level - 1, shade(share >> 3));
		return;
	}
	for (let r = 0; r <= last && r < tile.rowShares.length; r++) {
		const strength = r < last ? tile.rowShares[r]![i]! : Math.max(...tile.rowShares.slice(r).map((row) => row[i]!));
		if (strength > 0)
			raster.rect(x0, x1, p.top + r * p.level, p.top + (r + 1) * p.level - 1, shade(strength));
	}
}

/** The class of work that covers most of a bucket, and the share. */
function mostOf(tile: Sum, i: number, classes: number[]): [best: number, share: number] {
	let best = 0;
	let share = -1;
	for (const c of classes) {
		const s = tile.share[c]?.[i] ?? 0;
		if (s > share) {
			share = s;
			best = c;
		}
	}
	return [best, share];
}

function drawSummary(p: Place, tile: Sum): void {
	const { scene, lane } = p;
	const { palette, raster } = scene;
	const classes = p.talk && lane.type === "stream" ? [COMM] : CLASSES;
	for (let i = 0; i < tile.n; i++) {
		const left = (tile.begin + tile.offset[i]! * tile.bucket - p.from) / p.perPixel;
		const x0 = Math.max(Math.floor(left), Math.floor(p.x0));
		const x1 = Math.min(Math.max(x0 + 1, Math.floor(left + tile.bucket / p.perPixel)), Math.ceil(p.x1));
		if (x1 <= x0)
			continue;
		const [best, share] = mostOf(tile, i, classes);
		if (p.talk && share <= 0)
			continue;
		const start = tile.look?.[i] ?? 0xff;
		const look = p.talk ? Look.comm : start !== 0xff ? start : best < 3 ? palette.classLook(best) : lane.looks[0] ?? Look.api;
		const dim = p.lit !== null && !(p.lit.lanes.has(lane.lane) && p.lit.looks.has(look));
		const shade = (of: number): number => (dim ? palette.dim(palette.shade(look)[of]!) : palette.shade(look)[of]!);
		const bar = { x0, x1, look, shade, share: Math.max(0, share) };
		if (lane.marks)
			raster.rect(x0, x1, p.top, p.top + Math.ceil(p.level * 0.7), shade(Math.min(255, 60 + (tile.count?.[i] ?? 1) * 20)));
		else if (lane.type === "state" && tile.rowShares.length && !dim)
			drawStates(p, tile, i, bar);
		else
			drawRows(p, tile, i, bar);
	}
}

/** Spans that a query names among what is summed up: a frame around the pixels in which they begin. */
function drawHits(p: Place, summed: Cover[], marks: Marks, query: string, kind: Outline["kind"]): void {
	const { scene, row } = p;
	const { from, to } = scene.window(row.trace);
	const y1 = p.top + (p.row.kind === "lane" ? p.row.levels : 1) * p.level - 1;
	let last: Outline | null = null;
	for (const [begin, end] of marks.list(row.trace, p.lane.lane, query, from, to, scene.width)) {
		if (end <= from || begin >= to || !summed.some((c) => c.from < end && c.to > begin))
			continue;
		const x0 = Math.floor((begin - from) / p.perPixel);
		const x1 = Math.max(x0 + 2, Math.ceil((end - from) / p.perPixel));
		// Frames that touch are one.
		if (last && x0 <= last.x1 + 1)
			last.x1 = x1;
		else
			scene.outlines.push(last = { x0, x1, y0: p.top, y1, kind, pinned: row.pinned, many: true });
	}
}

const TICK = 4;

/** Hits on the lanes inside a folded group: ticks along its lower edge. */
export function drawFoldedHits(scene: Scene, row: Row, lanes: number[]): void {
	const { from, to, perPixel } = scene.window(row.trace);
	const bottom = scene.top(row) + scene.size(row.h) - 1;
	for (const lane of lanes)
		for (const [begin, end] of scene.marks.list(row.trace, lane, scene.state.query.trim(), from, to, scene.width))
			if (end > from && begin < to) {
				const x0 = Math.floor((begin - from) / perPixel);
				scene.raster.rect(x0, Math.max(x0 + 2, Math.ceil((end - from) / perPixel)), bottom - scene.size(TICK), bottom, scene.palette.pixel(scene.palette.hit));
			}
}

/** Draws a lane into its row; `dense`: it has summaries at this scale; `talk`: as messages of a rank. */
export function drawLane(scene: Scene, row: Row, lane: Lane, covers: Cover[], dense: boolean, talk = false): void {
	const { from, perPixel } = scene.window(row.trace);
	const level = scene.size(row.level);
	const under = { label: null, id: -1 };
	const bucket = 2 ** scene.level();
	// A pixel may hold many states of a thread: none of them is all of it.
	const summed = dense || lane.type === "state" || covers.some((c) => c.tile.form === "summary");
	const kin = scene.state.kin?.trace === row.trace ? scene.state.kin : null;
	const whole: Place = { kin, scene, row, lane, level, from, perPixel, talk, under, top: scene.top(row) + scene.size(row.kind === "group" ? 4 : 2), x0: 0, x1: scene.width,
		lit: scene.state.lit?.spans.length ? { ...scene.state.lit, lanes: scene.state.lit.trace === row.trace ? scene.state.lit.lanes : new Set() } : null };
	for (const cover of covers) {
		const tile = cover.tile;
		const place: Place = { ...whole, x0: (cover.from - from) / perPixel, x1: (cover.to - from) / perPixel };
		if (tile.form === "summary")
			drawSummary(place, tile);
		else if (tile.form === "spans" && summed)
			drawSummary(place, sumUp(tile.spans, lane, cover.from, cover.to, bucket));
		if (tile.form !== "summary" && tile.form !== "spans")
			continue;
		const least = tile.form === "spans" && summed ? bucket * LONG_BUCKETS : 0;
		for (let i = 0; i < tile.spans.n; i++)
			if (tile.spans.dur[i]! >= least)
				drawSpan(place, tile.spans, i);
	}
	const crowded = summed && !talk ? covers.filter((c) => c.tile.form === "summary" || c.tile.form === "spans") : [];
	if (scene.highlight && crowded.length)
		drawHits(whole, crowded, scene.marks, scene.state.query.trim(), "hit");
	if (whole.kin && crowded.length)
		drawHits(whole, crowded, scene.kinMarks, whole.kin.query, "kin");
}
