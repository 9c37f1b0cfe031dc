/* SPDX-License-Identifier: Apache-2.0 */
/* kept.ts - what the browser keeps for the next time: the theme, how large the parts of the page are.
 *
 * A page from file://, or one whose browser keeps nothing, works without: it forgets. */

const PREFIX = "headway.";

export function keep(key: string, value: unknown): void {
	try {
		localStorage.setItem(PREFIX + key, JSON.stringify(value));
	} catch {
		// The browser keeps nothing for this page.
	}
}

/** What was kept, or null. The caller checks it: anybody can write there. */
export function kept(key: string): unknown {
	try {
		return JSON.parse(localStorage.getItem(PREFIX + key) ?? "null");
	} catch {
		return null;
	}
}
