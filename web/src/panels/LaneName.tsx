/* SPDX-License-Identifier: Apache-2.0 */
/* LaneName.tsx - the name of a lane, cut where the lane has no room: in the middle, where others begin alike. */
import { plain } from "../timeline/text";

const MOST_TAIL = 14;
/** Pixels of a letter, about. */
const LETTER = 6.2;

const alike = (a: string, b: string): number => {
	let n = 0;
	while (n < a.length && a[n] === b[n])
		n++;
	return n;
};

/** By name: how many letters it has in common with the other name that is most like it. Of names in order that is one of its neighbours. */
export function likenessOf(names: string[]): Map<string, number> {
	const ordered = [...new Set(names)].sort((a, b) => (a < b ? -1 : 1));
	return new Map(ordered.map((name, i) => [name, Math.max(alike(name, ordered[i - 1] ?? ""), alike(name, ordered[i + 1] ?? ""))]));
}

/** What must not be cut off: from where the name differs from one that would look the same in so many letters. `same`: how many letters they share. */
export function tailOf(name: string, same: number, letters: number): string {
	return name.length <= letters || same < letters - 1 ? "" : name.slice(Math.max(same - 1, name.length - MOST_TAIL));
}

/** `room`: pixels for the name. */
export function LaneName({ name, same, room }: { name: string; same: number; room: number }) {
	const tail = tailOf(name, same, Math.max(4, Math.floor(room / LETTER)));
	const text = plain(name);
	return tail ? <span class="text cut"><span class="head">{text.slice(0, text.length - tail.length)}</span><span class="tail">{text.slice(text.length - tail.length)}</span></span>
		: <span class="text">{text}</span>;
}
