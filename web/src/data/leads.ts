/* SPDX-License-Identifier: Apache-2.0 */
/* leads.ts - the CPU's lead over the devices around the window, a point or two a pixel: asked for once the window stands still. */
import type { Headway } from "./protocol";
import type { Source } from "./source";

export type Lead = Headway["devices"][number];

/** The points of an answer, of which each says how it differs from the one before, as they are. */
export function withPoints(answer: Headway): Headway {
	return { devices: answer.devices.map((device) => {
		let [time, count, work] = [0, 0, 0];
		return { ...device, points: device.points.map((by) => [time += by[0], count += by[1], work += by[2]]) };
	}) };
}

const MOST_PIXELS = 8192;
const STILL_MS = 70;
/** So much is asked for on both sides of the window, in windows. */
const BESIDE = 0.5;

interface Held { from: number; to: number; perPixel: number; leads: Lead[] }

export class Leads {
	private held: (Held | null)[] = [];
	private timers: number[] = [];
	private asking: boolean[] = [];

	constructor(private source: Source, private arrived: () => void) {}

	/** What is at hand of a trace, phase by phase; `all` is what came first, of the whole recording. Asks for more where the window needs it. */
	list(trace: number, all: Headway, from: number, to: number, pixels: number): Lead[] {
		if (this.source.inline)
			return all.devices;
		const held = this.held[trace];
		const perPixel = (to - from) / pixels;
		// Nothing is before the origin: no answer begins there.
		const covers = held && held.from <= Math.max(0, from) && held.to >= to;
		if (!(covers && held.perPixel <= perPixel * 1.01 && held.perPixel >= perPixel / 8) && !this.asking[trace]) {
			clearTimeout(this.timers[trace]);
			this.timers[trace] = window.setTimeout(() => void this.ask(trace, from, to, pixels), held ? STILL_MS : 0);
		}
		return covers ? held.leads : all.devices;
	}

	private async ask(trace: number, from: number, to: number, pixels: number): Promise<void> {
		const beside = (to - from) * BESIDE;
		const wide = { from: Math.max(0, Math.floor(from - beside)), to: Math.max(1, Math.ceil(to + beside)) };
		const n = Math.min(MOST_PIXELS, Math.ceil(pixels * (1 + 2 * BESIDE)));
		this.asking[trace] = true;
		const answer = await this.source.get<Headway>(`headway?t=${trace}&from=${wide.from}&to=${wide.to}&n=${n}`).catch(() => null);
		this.asking[trace] = false;
		if (!answer)
			return;
		this.held[trace] = { ...wide, perPixel: (wide.to - wide.from) / n, leads: withPoints(answer).devices };
		this.arrived();
	}
}
