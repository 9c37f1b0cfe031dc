/* SPDX-License-Identifier: Apache-2.0 */
/* words.ts - whether a name has every word of a search, in any order and case: as the server finds them. */

export const wordsOf = (query: string): string[] => query.toLowerCase().split(/[ \t]+/).filter(Boolean);

export function hasWords(name: string, words: string[]): boolean {
	const small = name.toLowerCase();
	return words.length > 0 && words.every((word) => small.includes(word));
}
