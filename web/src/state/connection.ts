/* SPDX-License-Identifier: Apache-2.0 */
/* connection.ts - whether the server is there. Where it is not, the page keeps what it shows and tries again by itself. */
import { NoAnswer } from "../data/http";
import type { DiagnosisState } from "../data/protocol";
import type { Source } from "../data/source";
import { timeline } from "./page";
import { set, state } from "./store";

/** "ended": nobody answers; "other": a server is there, with another recording. */
export type Gone = "" | "ended" | "other";

/** Waits, or less where the machine wakes up, its network is back, or the page is looked at again. */
export const pause = (ms: number): Promise<void> => new Promise((done) => {
	const signs: [EventTarget, string][] = [[window, "online"], [window, "pageshow"], [window, "focus"], [document, "visibilitychange"]];
	const end = (): void => {
		clearTimeout(timer);
		for (const [from, name] of signs)
			from.removeEventListener(name, look);
		done();
	};
	const look = (): void => {
		if (state.gone && !document.hidden)
			end();
	};
	const timer = window.setTimeout(end, ms);
	for (const [from, name] of signs)
		from.addEventListener(name, look);
});

/** Tells the server that the page is there. Yields how far the diagnosis of each trace is; null where the server is not there. */
export async function askAlive(source: Source): Promise<DiagnosisState[] | null> {
	let gone: Gone = "";
	const alive = await source.get<{ diagnosis: DiagnosisState[] }>("alive").catch((e: Error) => {
		// The server knows by a header which recordings the page shows.
		gone = e instanceof NoAnswer && e.status === 409 ? "other" : "ended";
		return null;
	});
	if (state.gone !== gone) {
		set({ gone });
		// What could not be had meanwhile is asked for again.
		timeline.invalidate();
	}
	return alive?.diagnosis ?? null;
}
