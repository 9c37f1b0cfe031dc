/* SPDX-License-Identifier: Apache-2.0 */
/* hit.ts - what stands at a point of the canvas. */
import type { Spans } from "../data/tile";
import { laneKey, levelOf, partsOf, type Row } from "./layout";
import { Look, type Lane } from "../data/protocol";
import { LONG_BUCKETS, sumUp, type Sum } from "./sum_up";
import { RULER, type Timeline } from "./timeline";
import type { Scene } from "./scene";

export interface Hit {
	row: Row; time: number;
	/** A span, where the tile has spans; or the stretch of time its pixels cover. */
	span: { id: number; name: number; start: number; dur: number; look: number; lane: number; row: number } | null;
	from: number; to: number;
	/** Of a summary: the spans that start there, the covered share (0 … 1), and the lane they stand on. */
	count: number; share: number; lane: Lane | null;
	/** Of a thread's states: the shares (0 … 1) in which it ran, and did not. */
	states: number[] | null;
}

function rowAt(timeline: Timeline, y: number): Row | null {
	const { rows, pinnedHeight } = timeline.layout;
	const inside = y - RULER;
	if (inside < 0)
		return null;
	const pinned = inside < pinnedHeight;
	const at = pinned ? inside : inside - pinnedHeight + timeline.scroll;
	return rows.find((r) => r.pinned === pinned && at >= r.y && at < r.y + r.h) ?? null;
}

/** The rows that a vertical stretch of the canvas touches. A group counts where it is folded: its lanes are rows of their own otherwise. */
export function rowsBetween(timeline: Timeline, y0: number, y1: number): Row[] {
	const { rows, pinnedHeight } = timeline.layout;
	const [low, high] = [Math.min(y0, y1) - RULER, Math.max(y0, y1) - RULER];
	return rows.filter((r) => {
		const top = r.pinned ? r.y : r.y + pinnedHeight - timeline.scroll;
		return top < high && top + r.h > low && (!r.folds || r.folded || r.kind === "device") && (r.pinned || top + r.h > pinnedHeight);
	});
}

/** `level`: the level of the row at the pointer, -1: any. The last level of a row has what is deeper, too. */
function spanAt(spans: Spans, time: number, slack: number, level: number, row: Row, talk: boolean): number {
	let best = -1;
	for (let i = 0; i < spans.n; i++) {
		const start = spans.start[i]!;
		if (start - slack > time)
			break;
		if (start + spans.dur[i]! + slack < time || (level >= 0 && levelOf(row, spans.row[i]!) !== level) || (talk && spans.look[i] !== Look.comm))
			continue;
		// The innermost, and of marks the nearest.
		if (best < 0 || spans.dur[i]! <= spans.dur[best]!)
			best = i;
	}
	return best;
}

/** The lanes that a row draws spans of at a height. */
function lanesAt(row: Row, inside: number): Lane[] {
	if (row.kind === "rank") {
		const { strip } = partsOf(row);
		return strip && inside >= strip.y - row.y - 2 ? row.strips : [];
	}
	return row.lane && row.lane.type !== "counter" && row.kind !== "device" ? [row.lane] : [];
}

/** What a summary says of a time, and of one level of its lane. */
function readSum(hit: Hit, sum: Sum, time: number, level: number): void {
	const bucket = Math.floor((time - sum.begin) / sum.bucket);
	const at = Array.prototype.indexOf.call(sum.offset, bucket);
	if (at < 0)
		return;
	const rows = sum.rowShares.map((row) => row[at]! / 255);
	const isState = hit.lane?.type === "state";
	const ofRow = level >= 0 && rows.length && !isState ? rows.slice(level, level === hit.row.levels - 1 ? undefined : level + 1) : null;
	hit.share = Math.max(0, ...ofRow ?? sum.share.map((share) => (share?.[at] ?? 0) / 255));
	if (ofRow && hit.share === 0)
		return;
	hit.count = sum.count?.[at] ?? 0;
	hit.states = isState && rows.length ? rows : null;
	hit.from = Math.max(0, sum.begin + bucket * sum.bucket);
	hit.to = hit.from + sum.bucket;
}

function lookIn(timeline: Timeline, scene: Scene, hit: Hit, lane: Lane, level: number): void {
	const { row, time } = hit;
	const { perPixel } = scene.window(row.trace);
	for (const { tile } of timeline.tiles.cover(row.trace, lane.lane, time - perPixel, time + perPixel, scene.level(), lane.detail)) {
		if (tile.form !== "spans" && tile.form !== "summary")
			continue;
		const talk = row.kind === "rank" && lane.type === "stream";
		const i = spanAt(tile.spans, time, perPixel * 1.5, level, row, talk);
		hit.lane = lane;
		const bucket = 2 ** scene.level();
		if (lane.type === "state" && tile.form === "spans" && (i < 0 || tile.spans.dur[i]! < bucket * LONG_BUCKETS)) {
			const from = Math.floor(time / bucket) * bucket;
			readSum(hit, sumUp(tile.spans, lane, from, from + bucket, bucket), from, level);
		} else if (i >= 0) {
			const s = tile.spans;
			hit.span = { id: s.id[i]!, name: s.name[i]!, start: s.start[i]!, dur: s.dur[i]!, look: s.look[i]!, lane: lane.lane, row: s.row[i]! };
		} else if (tile.form === "summary") {
			readSum(hit, tile, time, level);
		}
	}
}

export function hitAt(timeline: Timeline, scene: Scene, x: number, y: number): Hit | null {
	const row = rowAt(timeline, y);
	if (!row)
		return null;
	const { from, perPixel } = scene.window(row.trace);
	const time = from + x * scene.dpr * perPixel;
	const hit: Hit = { row, time, span: null, from: Math.max(0, Math.floor(time - 2 * perPixel)), to: Math.ceil(time + 2 * perPixel), count: 0, share: 0, lane: null, states: null };
	const inside = y - (row.pinned ? RULER + row.y : RULER + timeline.layout.pinnedHeight + row.y - timeline.scroll) - 2;
	const level = row.kind === "lane" && row.levels > 1 ? Math.min(row.levels - 1, Math.floor(inside / row.level)) : -1;
	for (const lane of lanesAt(row, inside))
		lookIn(timeline, scene, hit, lane, level);
	return hit;
}

export { laneKey };
