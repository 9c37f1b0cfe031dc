/* SPDX-License-Identifier: Apache-2.0 */
/* lang.ts - the page's sentences in the reader's language.
 *
 *   tr("{count} spans in {time}", { count: 3, time: "2 ms" })
 *
 * The key of a sentence is its English text, as in C (src/base/lang.h). The sentences of another language stand in the page before this
 * script (docs/view-protocol.md, "The page"), so tr() may be called while modules load; one that is not there stays English. A translation
 * may take the {names} in another order; tests/check_lang holds it to them. What people type (kinds, fields, ids) is never translated. */
import type { ComponentChild } from "preact";

declare global {
	var HEADWAY_LANG: Record<string, string> | undefined;
}

// Tests load parts of the page where there is no window.
const sentences = new Map<string, string>();
const english = new Map<string, string>();

/** Takes what stands in HEADWAY_LANG: the second script of the page (late.ts) brings more. */
export function addSentences(): void {
	for (const [key, sentence] of Object.entries(globalThis.HEADWAY_LANG ?? {})) {
		sentences.set(key, sentence);
		english.set(sentence, key);
	}
}
addSentences();

/** A sentence with things in it that are not texts, in their places. */
export function phrase(key: string, values: Record<string, ComponentChild>): ComponentChild[] {
	const parts = (sentences.get(key) ?? key).split(/\{(\w+)\}/);
	// Every second part is the name between braces.
	return parts.map((part, i) => (i % 2 ? values[part] : part));
}

/** A sentence in the reader's language. */
export const tr = (key: string, values: Record<string, string | number> = {}): string => phrase(key, values).join("");

/** The English text of a sentence; "" where the page is English. What people type finds it by both. */
export const inEnglish = (sentence: string): string => english.get(sentence) ?? "";

/** Marks words that tr() gets where they are shown, because they are ids, too. */
export const keys = <const T extends readonly string[]>(...words: T): T => words;
