/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.ts - the regular expressions of the language: what POSIX and JavaScript understand alike. As src/serve/query_pattern.c.
 *
 * Matched by a machine of our own that is in all its states at once: that takes time in proportion to the text, where the browser's goes through
 * every way to divide it, and "(.*a)*b", typed or from a link, would hold the page for hours. */

import { tr } from "../lang";
const MOST_BYTES = 256;
/** By number: the bundler would write the character itself into the page. */
const TAB = 9;
type Test = (c: string) => boolean;
const isDigit: Test = (c) => c >= "0" && c <= "9";
const CLASSES: Record<string, Test> = { d: isDigit, w: (c) => isDigit(c) || (c >= "a" && c <= "z") || c === "_", s: (c) => c === " " || c.charCodeAt(0) === TAB };
const small = (c: string): string => (c >= "A" && c <= "Z" ? c.toLowerCase() : c);
const family = (c: string): number => (isDigit(c) ? 1 : c >= "a" && c <= "z" ? 2 : 0);

export class Wrong extends Error {}

/** What stands at a place of the expression, and how often: `of` are the alternatives in parentheses, each in a row. */
interface Piece { atom: Test | "^" | "$" | { of: Piece[][] }; often: "" | "*" | "+" | "?" }
/** A state goes on to `next` where its test holds for a character or a place; one without a test to both. */
interface State { test: Test | "^" | "$" | null; next: number; other: number }
const FOUND = -1;

export interface Pattern { test: (text: string) => boolean }

/** A set, "[a-z_]", from behind its bracket on; yields where it ends. */
function readSet(text: string, from: number): { test: Test; end: number } {
	let at = from;
	const ranges: [string, string][] = [];
	const isNot = text[at] === "^";
	at += isNot ? 1 : 0;
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
		ranges.push([low, high]);
		at += isRange ? 2 : 0;
	}
	if (at >= text.length)
		throw new Wrong(tr("a set of characters is not closed"));
	return { test: (c) => ranges.some(([low, high]) => c >= low && c <= high) !== isNot, end: at + 1 };
}

function readEscape(c: string | undefined): Test {
	const set = c === undefined ? undefined : CLASSES[c];
	if (set)
		return set;
	if (c === undefined || /[0-9A-Za-z\u0080-\uffff]/.test(c))
		throw new Wrong(tr("after \\ stands a sign, or one of d, w, s"));
	return (sign) => sign === c;
}

/** The alternatives of an expression; throws Wrong with the reason. */
function readPattern(text: string): Piece[][] {
	const open: Piece[][][] = [[[]]];
	const add = (atom: Piece["atom"]): void => { open.at(-1)!.at(-1)!.push({ atom, often: "" }); };
	let [hasAtom, isEmpty] = [false, true];
	for (let at = 0; at < text.length;) {
		const c = text[at++]!;
		if ("*+?".includes(c) && !hasAtom)
			throw new Wrong(tr("there is nothing that '{sign}' could repeat", { sign: c }));
		if (c === "{" || c === "}")
			throw new Wrong(tr("'{sign}' needs a \\ before it", { sign: c }));
		if ((c === ")" || c === "|") && isEmpty)
			throw new Wrong(tr("there is nothing before '{sign}'", { sign: c }));
		if (c === ")" && open.length === 1)
			throw new Wrong(tr("a parenthesis is closed that was not opened"));
		isEmpty = c === "(" || c === "|";
		hasAtom = !isEmpty && !"*+?^$".includes(c);
		switch (c) {
		case "(": open.push([[]]); break;
		case ")": add({ of: open.pop()! }); break;
		case "|": open.at(-1)!.push([]); break;
		case "*": case "+": case "?": open.at(-1)!.at(-1)!.at(-1)!.often = c; break;
		case "^": case "$": add(c); break;
		case ".": add(() => true); break;
		case "\\": add(readEscape(text[at++])); break;
		case "[": {
			const { test, end } = readSet(text, at);
			add(test);
			at = end;
			break;
		}
		default: add((sign) => sign === small(c));
		}
	}
	if (open.length > 1)
		throw new Wrong(tr("a parenthesis is not closed"));
	if (isEmpty)
		throw new Wrong(tr("there is nothing at its end"));
	return open[0]!;
}

/** Adds the states of some alternatives, behind which `next` stands; yields where they begin. */
function addStates(states: State[], alternatives: Piece[][], next: number): number {
	const state = (test: State["test"], to: number, other = to): number => states.push({ test, next: to, other }) - 1;
	const once = ({ atom }: Piece, to: number): number => (typeof atom === "object" ? addStates(states, atom.of, to) : state(atom, to));
	const begin = (piece: Piece, to: number): number => {
		if (piece.often === "")
			return once(piece, to);
		const choice = state(null, to);
		const first = once(piece, piece.often === "?" ? to : choice);
		states[choice]!.other = first;
		return piece.often === "+" ? first : choice;
	};
	return alternatives.map((row) => row.reduceRight((to, piece) => begin(piece, to), next)).reduce((one, two) => state(null, one, two));
}

function isFound(states: State[], start: number, text: string): boolean {
	const seen = new Int32Array(states.length).fill(-1);
	let found = false;
	/** Adds a state, and those that it leads to without a character, to those in which the machine is at a place. */
	const enter = (number: number, at: number, list: number[]): void => {
		found ||= number === FOUND;
		if (found || seen[number] === at)
			return;
		seen[number] = at;
		const { test, next, other } = states[number]!;
		if (typeof test === "function")
			list.push(number);
		else if (test === null || (test === "^" ? at === 0 : at === text.length)) {
			enter(next, at, list);
			enter(other, at, list);
		}
	};
	for (let at = 0, list: number[] = []; ; at++) {
		enter(start, at, list);
		if (found || at === text.length)
			return found;
		const after: number[] = [];
		for (const number of list) {
			const { test, next } = states[number]!;
			if ((test as Test)(text[at]!))
				enter(next, at + 1, after);
		}
		list = after;
	}
}

/** Matches in small letters; throws Wrong with the reason. */
export function compilePattern(text: string): Pattern {
	if (new TextEncoder().encode(text).length > MOST_BYTES)
		throw new Wrong(tr("it is longer than {n} bytes", { n: MOST_BYTES }));
	const states: State[] = [];
	const start = addStates(states, readPattern(text), FOUND);
	// Many spans have the same name.
	const known = new Map<string, boolean>();
	return { test: (name) => {
		let found = known.get(name);
		if (found === undefined)
			known.set(name, found = isFound(states, start, name));
		return found;
	} };
}
