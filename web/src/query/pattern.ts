/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.ts - the regular expressions of the language: what POSIX and JavaScript understand alike. As src/serve/query_pattern.c. */

import { tr } from "../lang";
const MOST_BYTES = 256;
const CLASSES: Record<string, string> = { d: "[0-9]", w: "[a-z0-9_]", s: "[ \\t]" };
const small = (c: string): string => (c >= "A" && c <= "Z" ? c.toLowerCase() : c);
const family = (c: string): number => (c >= "0" && c <= "9" ? 1 : c >= "a" && c <= "z" ? 2 : 0);

export class Wrong extends Error {}

/** A set, "[a-z_]", from behind its bracket on; yields where it ends. */
function readSet(text: string, from: number, out: string[]): number {
	let at = from;
	out.push("[");
	if (text[at] === "^")
		out.push(text[at++]!);
	if (text[at] === "]")
		throw new Wrong(tr("a set of characters is empty"));
	for (; at < text.length && text[at] !== "]"; at++) {
		const c = text[at]!;
		const isRange = text[at + 1] === "-" && at + 2 < text.length && text[at + 2] !== "]";
		const [low, high] = [small(c), small(isRange ? text[at + 2]! : c)];
		if (c === "\\" || c === "[")
			throw new Wrong(tr("a set of characters cannot hold '{sign}'", { sign: c }));
		if (isRange && (!family(low) || family(low) !== family(high) || low > high))
			throw new Wrong(tr("a range of characters goes from a digit or letter to a later one"));
		out.push(/[\^-]/.test(low) ? `\\${low}` : low, isRange ? `-${high}` : "");
		at += isRange ? 2 : 0;
	}
	if (at >= text.length)
		throw new Wrong(tr("a set of characters is not closed"));
	out.push("]");
	return at + 1;
}

function readEscape(c: string | undefined): string {
	const set = c === undefined ? undefined : CLASSES[c];
	if (set)
		return set;
	if (c === undefined || /[0-9A-Za-z\u0080-\uffff]/.test(c))
		throw new Wrong(tr("after \\ stands a sign, or one of d, w, s"));
	return `\\${c}`;
}

/** Matches in small letters; throws Wrong with the reason. */
export function compilePattern(text: string): RegExp {
	if (new TextEncoder().encode(text).length > MOST_BYTES)
		throw new Wrong(tr("it is longer than {n} bytes", { n: MOST_BYTES }));
	const out: string[] = [];
	let [hasAtom, isEmpty, depth] = [false, true, 0];
	for (let at = 0; at < text.length;) {
		const c = text[at++]!;
		if ("*+?".includes(c) && !hasAtom)
			throw new Wrong(tr("there is nothing that '{sign}' could repeat", { sign: c }));
		if (c === "{" || c === "}")
			throw new Wrong(tr("'{sign}' needs a \\ before it", { sign: c }));
		if ((c === ")" || c === "|") && isEmpty)
			throw new Wrong(tr("there is nothing before '{sign}'", { sign: c }));
		depth += c === "(" ? 1 : c === ")" ? -1 : 0;
		if (depth < 0)
			throw new Wrong(tr("a parenthesis is closed that was not opened"));
		isEmpty = c === "(" || c === "|";
		hasAtom = !isEmpty && !"*+?^$".includes(c);
		if (c === "[")
			at = readSet(text, at, out);
		else if (c === "\\")
			out.push(readEscape(text[at++]));
		else
			out.push(c === "]" || c === "/" ? `\\${c}` : small(c));
	}
	if (depth > 0)
		throw new Wrong(tr("a parenthesis is not closed"));
	if (isEmpty)
		throw new Wrong(tr("there is nothing at its end"));
	return new RegExp(out.join(""), "s");
}
