/* SPDX-License-Identifier: Apache-2.0 */
/* later.ts - gets the second script of the page (late.ts): it stands in a self-contained page; `headway view` is asked for it.
 *
 * A request that fails is made again when the next panel needs it: the server may be back by then. */
import { scriptOf } from "../data/http";
import { addSentences } from "../lang";

type Late = typeof import("../late");

declare global {
	interface Window { headwayLate?: () => Late }
}

let here: Late | null = null;
let asked: Promise<Late> | null = null;

/** What is there already. */
export function lateNow(): Late | null {
	if (!here && window.headwayLate) {
		addSentences();
		here = window.headwayLate();
	}
	return here;
}

async function ask(): Promise<Late> {
	// The page's policy allows scripts that stand in it, and none that has an address.
	const script = document.createElement("script");
	script.textContent = await scriptOf("late");
	document.head.append(script);
	script.remove();
	return lateNow()!;
}

export function late(): Promise<Late> {
	const now = lateNow();
	if (now)
		return Promise.resolve(now);
	return asked ??= ask().finally(() => { asked = null; });
}
