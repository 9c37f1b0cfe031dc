/* SPDX-License-Identifier: Apache-2.0 */
/* hit.ts - what stands at a point of the canvas. */
import type { Spans } from "../data/tile";
import { laneKey, partsOf, type Row } from "./layout";
import { Look, type Lane } from "../data/protocol";
import { RULER, type Timeline } from "./timeline";
import type { Scene } from "./scene";

export interface Hit {
	row: Row; time: number;
	/** A span, where the tile has spans; or the stretch of time its pixels cover. */
	span: { id: number; name: number; start: number; dur: number; look: number; lane: number; row: number } | null;
	from: number; to: number; count: number;
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

function spanAt(spans: Spans, time: number, slack: number, level: number, talk: boolean): number {
	let best = -1;
	for (let i = 0; i < spans.n; i++) {
		const start = spans.start[i]!;
		if (start - slack > time)
			break;
		if (start + spans.dur[i]! + slack < time || (level >= 0 && spans.row[i] !== level) || (talk && spans.look[i] !== Look.comm))
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

function lookIn(timeline: Timeline, scene: Scene, hit: Hit, lane: Lane, level: number): void {
	const { row, time } = hit;
	const { perPixel } = scene.window(row.trace);
	for (const { tile } of timeline.tiles.cover(row.trace, lane.lane, time - perPixel, time + perPixel, scene.level(), lane.detail)) {
		if (tile.form !== "spans" && tile.form !== "summary")
			continue;
		const i = spanAt(tile.spans, time, perPixel * 1.5, level, row.kind === "rank" && lane.type === "stream");
		if (i >= 0) {
			const s = tile.spans;
			hit.span = { id: s.id[i]!, name: s.name[i]!, start: s.start[i]!, dur: s.dur[i]!, look: s.look[i]!, lane: lane.lane, row: s.row[i]! };
		} else if (tile.form === "summary" && tile.count) {
			const bucket = Math.floor((time - tile.begin) / tile.bucket);
			const at = tile.offset.indexOf(bucket);
			hit.count = at >= 0 ? tile.count[at]! : 0;
		}
	}
}

export function hitAt(timeline: Timeline, scene: Scene, x: number, y: number): Hit | null {
	const row = rowAt(timeline, y);
	if (!row)
		return null;
	const { from, perPixel } = scene.window(row.trace);
	const time = from + x * scene.dpr * perPixel;
	const hit: Hit = { row, time, span: null, from: Math.floor(time - 2 * perPixel), to: Math.ceil(time + 2 * perPixel), count: 0 };
	const inside = y - (row.pinned ? RULER + row.y : RULER + timeline.layout.pinnedHeight + row.y - timeline.scroll) - 2;
	const level = row.kind === "lane" && row.h >= 2 * row.level ? Math.floor(inside / row.level) : -1;
	for (const lane of lanesAt(row, inside))
		lookIn(timeline, scene, hit, lane, level);
	return hit;
}

export { laneKey };
