/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.ts - idle gaps and the critical path around the window: asked for once it stands still. */
import type { Piece } from "./protocol";
import type { Source } from "./source";

const MOST_PIXELS = 8192;
const STILL_MS = 70;

interface Held { from: number; to: number; perPixel: number; byDevice: Piece[][]; ids: Set<number> }

export class Pieces {
	private held: (Held | null)[] = [];
	private timers: number[] = [];
	private aborts: (AbortController | null)[] = [];

	constructor(private source: Source, private kind: "gaps" | "path", private arrived: () => void) {}

	/** What is at hand for a device of a trace, in order of time; asks for more where the window needs it. */
	list(trace: number, device: number, from: number, to: number, pixels: number): Piece[] {
		const held = this.held[trace];
		const perPixel = (to - from) / pixels;
		// Nothing is before the origin: no answer begins there.
		const fits = held && (this.source.inline || (held.from <= Math.max(0, from) && held.to >= to && held.perPixel <= perPixel * 1.01 && held.perPixel >= perPixel / 8));
		if (!fits && !this.aborts[trace]) {
			clearTimeout(this.timers[trace]);
			this.timers[trace] = window.setTimeout(() => void this.ask(trace, from, to, pixels), held ? STILL_MS : 0);
		}
		return held?.byDevice[device] ?? [];
	}

	ids(trace: number): Set<number> | null {
		return this.held[trace]?.ids ?? null;
	}

	/** The diagnosis has come: forget that there was nothing. */
	forget(): void {
		this.held = [];
	}

	private async ask(trace: number, from: number, to: number, pixels: number): Promise<void> {
		const span = to - from;
		const n = Math.min(MOST_PIXELS, Math.ceil(pixels * 3));
		const controller = new AbortController();
		this.aborts[trace] = controller;
		const wide = { from: Math.max(0, from - span), to: to + span };
		const list = await this.source.pieces(this.kind, trace, wide.from, wide.to, n, controller.signal).catch(() => null);
		this.aborts[trace] = null;
		if (!list)
			return;
		const byDevice: Piece[][] = [];
		for (const piece of list)
			(byDevice[piece.device] ??= []).push(piece);
		this.held[trace] = { ...wide, perPixel: (wide.to - wide.from) / n, byDevice, ids: new Set(list.map((p) => p.span)) };
		this.arrived();
	}
}
