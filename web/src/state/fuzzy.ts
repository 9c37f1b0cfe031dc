/* SPDX-License-Identifier: Apache-2.0 */
/* fuzzy.ts - how well a text answers what was typed: every word of it must be there, if only letter by letter. */

const WHOLE = 100;
const BEGIN = 50;
const MOST_BEHIND = 40;

/** Whether a word begins at a place of a text. */
const begins = (text: string, at: number): boolean => at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!);

/** The letters of a word in order, with others between: letters that begin a word or follow one another count most. */
function scattered(word: string, text: string): number | null {
	let score = 0;
	let last = -2;
	for (const letter of word) {
		let at = text.indexOf(letter, last + 1);
		// The beginning of a word, where there is one further on, is what people type.
		for (let next = at; next >= 0; next = text.indexOf(letter, next + 1))
			if (begins(text, next)) {
				at = last + 1 === at ? at : next;
				break;
			}
		if (at < 0)
			return null;
		score += at === last + 1 ? 5 : begins(text, at) ? 8 : 1;
		last = at;
	}
	// Letters picked from all over a text are chance.
	return score >= word.length * 3 ? score : null;
}

function scoreOf(word: string, text: string): number | null {
	const at = text.indexOf(word);
	return at < 0 ? scattered(word, text) : WHOLE + (begins(text, at) ? BEGIN : 0) - Math.min(at, MOST_BEHIND);
}

/** Higher is better; null: no answer. */
export function fuzzy(query: string, text: string): number | null {
	const lower = text.toLowerCase();
	let sum = 0;
	for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
		const score = scoreOf(word, lower);
		if (score === null)
			return null;
		sum += score;
	}
	return sum - lower.length / 1000;
}
