/* SPDX-License-Identifier: Apache-2.0 */
/* marks.ts - where hits of the search begin, lane by lane, for the window and what is beside it: asked for once it stands still.
 *
 * Needed where spans are summed up: there the tiles do not hold their names. */
import type { Marks as Answer } from "./protocol";
import type { Source } from "./source";

const MOST_PIXELS = 8192;
const STILL_MS = 90;
/** A question that was not answered is asked again, so often in a row. */
const AGAIN_MS = 2000;
const MOST_TRIES = 5;

interface Held { query: string; from: number; to: number; perPixel: number; runs: Map<number, [number, number][]> }

export class Marks {
	private held: (Held | null)[] = [];
	private timers: number[] = [];
	private wanted: string[] = [];
	private asking: (AbortController | null)[] = [];
	private failed = 0;

	constructor(private source: Source, private arrived: () => void) {}

	/** The stretches of time of a lane in which hits begin; asks for them where the window needs others than are at hand. */
	list(trace: number, lane: number, query: string, from: number, to: number, pixels: number): [number, number][] {
		const held = this.held[trace];
		const perPixel = (to - from) / pixels;
		const mine = held?.query === query ? held : null;
		// On a canvas wider than half of MOST_PIXELS an answer is coarser than a pixel, and no finer one can be had.
		const coarsest = perPixel * 1.01 * Math.max(1, 2 * pixels / MOST_PIXELS);
		const fits = mine && mine.from <= Math.max(0, from) && mine.to >= to && mine.perPixel <= coarsest;
		if (!fits && !this.asking[trace]) {
			const wanted = `${query} ${from} ${to} ${pixels}`;
			// Every lane of every frame comes here: only another window puts the question off.
			if (this.wanted[trace] !== wanted) {
				this.wanted[trace] = wanted;
				clearTimeout(this.timers[trace]);
				this.timers[trace] = window.setTimeout(() => void this.ask(trace, query, from, to, pixels), STILL_MS);
			}
		}
		return mine?.runs.get(lane) ?? [];
	}

	private async ask(trace: number, query: string, from: number, to: number, pixels: number): Promise<void> {
		const wide = { from: Math.max(0, Math.floor(from - (to - from) / 2)), to: Math.ceil(to + (to - from) / 2) };
		const n = Math.min(MOST_PIXELS, Math.ceil(pixels * 2));
		const controller = new AbortController();
		this.asking[trace] = controller;
		this.wanted[trace] = "";
		const answer = await this.source.get<Answer>(`marks?t=${trace}&q=${encodeURIComponent(query)}&from=${wide.from}&to=${wide.to}&n=${n}`, controller.signal).catch(() => null);
		this.asking[trace] = null;
		// The server had no time, or does not know the steps yet.
		if (!answer && !this.source.inline && this.failed++ < MOST_TRIES) {
			setTimeout(this.arrived, AGAIN_MS);
			return;
		}
		this.failed = 0;
		const perPixel = (wide.to - wide.from) / n;
		const runs = new Map((answer?.lanes ?? []).map((l): [number, [number, number][]] => [l.lane, pairs(l.runs, wide.from, perPixel)]));
		this.held[trace] = { query, ...wide, perPixel, runs };
		this.arrived();
	}
}

function pairs(runs: number[], from: number, perPixel: number): [number, number][] {
	const list: [number, number][] = [];
	for (let i = 0; i + 1 < runs.length; i += 2)
		list.push([from + runs[i]! * perPixel, from + (runs[i]! + runs[i + 1]!) * perPixel]);
	return list;
}
