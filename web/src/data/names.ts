/* SPDX-License-Identifier: Apache-2.0 */
/* names.ts - texts of names, asked for in one request a frame. */
import type { Source } from "./source";

const MOST = 8000;

export class Names {
	private texts: Map<number, string>[] = [];
	private wanted: Set<number>[] = [];
	private busy = false;

	constructor(private source: Source, private arrived: () => void) {}

	/** The text, or "" until it is there. */
	text(trace: number, id: number): string {
		const known = (this.texts[trace] ??= new Map()).get(id);
		if (known !== undefined)
			return known;
		(this.wanted[trace] ??= new Set()).add(id);
		return "";
	}

	/** Asks for what was missing since the last call. */
	flush(): void {
		if (this.busy || !this.wanted.some((set) => set?.size))
			return;
		this.busy = true;
		void Promise.all(this.wanted.map((set, trace) => this.ask(trace, [...set].slice(0, MOST)))).then(() => {
			this.busy = false;
			this.arrived();
		});
	}

	private async ask(trace: number, ids: number[]): Promise<void> {
		if (!ids.length)
			return;
		const texts = await this.source.names(trace, ids).catch(() => []);
		ids.forEach((id, i) => {
			this.texts[trace]!.set(id, texts[i] ?? "");
			this.wanted[trace]!.delete(id);
		});
	}
}
