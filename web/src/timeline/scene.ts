/* SPDX-License-Identifier: Apache-2.0 */
/* scene.ts - what every drawing function of one frame needs: where time is on the screen, colours, the raster, texts to come.
 *
 * Lengths are device pixels. Text is not drawn at once: the raster is painted first, labels over it. */
import type { Marks } from "../data/marks";
import type { Names } from "../data/names";
import type { Tiles } from "../data/tiles";
import { Highlight } from "../query/highlight";
import type { State } from "../state/store";
import type { Row } from "./layout";
import type { Raster } from "./raster";
import type { Palette } from "./theme";

export interface Label { x: number; w: number; y: number; h: number; text: string; ink: string }
export interface Outline { x0: number; x1: number; y0: number; y1: number; kind: "hit" | "path" | "kin"; pinned: boolean;
	/** Many spans, of which some begin all over the frame: with a band along its upper edge, as its ends may be off the screen. */
	many?: boolean }

let last: { query: string; traces: State["traces"]; highlight: Highlight } | null = null;

/** Taken apart once for each query, not for each frame. */
function highlightOf(state: State): Highlight | null {
	const query = state.query.trim();
	if (!query)
		return null;
	if (last?.query !== query || last.traces !== state.traces)
		last = { query, traces: state.traces, highlight: new Highlight(query, state.traces.map((t) => t.lanes), state.traces.map((t) => t.info.start)) };
	return last.highlight;
}

export class Scene {
	labels: (Label & { pinned: boolean })[] = [];
	outlines: Outline[] = [];
	/** The tops of charts, and what they stand for. */
	axes: { y: number; text: string; pinned: boolean }[] = [];
	/** Ids of the spans on the critical path, by trace. */
	onPath: (Set<number> | null)[] = [];
	/** What the search asks for; null where nobody searches. */
	readonly highlight: Highlight | null;

	constructor(
		readonly state: State, readonly raster: Raster, readonly palette: Palette, readonly tiles: Tiles, readonly names: Names, readonly marks: Marks, readonly kinMarks: Marks,
		readonly width: number, readonly dpr: number, readonly ruler: number, readonly pinnedHeight: number, readonly scroll: number,
	) {
		this.highlight = highlightOf(state);
	}

	/** The part of a trace's time that is on the screen. */
	window(trace: number): { from: number; to: number; perPixel: number } {
		const shift = this.state.traces[trace]?.shift ?? 0;
		const { from, to } = this.state;
		return { from: from + shift, to: to + shift, perPixel: (to - from) / this.width };
	}
	/** A bucket is one to two pixels wide. */
	level(): number {
		return Math.min(40, Math.max(0, Math.ceil(Math.log2((this.state.to - this.state.from) / this.width))));
	}
	x(trace: number, time: number): number {
		const { from, perPixel } = this.window(trace);
		return (time - from) / perPixel;
	}
	top(row: Row): number {
		return Math.round((row.pinned ? this.ruler + row.y : this.ruler + this.pinnedHeight + row.y - this.scroll) * this.dpr);
	}
	size(css: number): number {
		return Math.round(css * this.dpr);
	}
}
