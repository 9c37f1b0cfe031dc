/* SPDX-License-Identifier: Apache-2.0 */
/* parse.ts - takes a query apart: `kernel name~gemm dur>50us -lane:"stream 7"`. As src/serve/query.c; tests/query_cases.txt holds both to the same. */
import { tr } from "../lang";
import { readQuantity } from "./numbers";
import { compilePattern, Wrong, type Pattern } from "./pattern";
import { fieldOf, looksOf, type Field, type Unit, type Word } from "./words";

const MOST_TERMS = 32;
const MOST_LIST = 1000;

/** Whole numbers from low to high; of real numbers the ends may be open. */
export interface Bounds { low: number; high: number; realLow: number; realHigh: number; lowIsOpen: boolean; highIsOpen: boolean }
export type Test = "has" | "is" | "matches" | "in";
export interface Term {
	field: Field; part: string; test: Test; negated: boolean; looks: readonly number[]; text: string;
	/** Of "line": the number behind the file, or 0. */
	line: number; pattern: Pattern | null; bounds: Bounds[];
}
export class QueryError extends Error {}

export const smallLetters = (text: string): string => text.replace(/[A-Z]/g, (c) => c.toLowerCase());
const WANTED: Partial<Record<Unit, string>> = {
	plain: tr("a number (7, or 3..5)"), time: tr("a time (50us, or 1ms..2ms)"), bytes: tr("a size (4MB, or 1KiB..1MiB)"), rate: tr("a rate (20GB/s, or 1GB/s..2GB/s)"),
};
const BLANK = /[ \t\n\r]/;
const FIELD = /^([A-Za-z_][A-Za-z0-9_-]*)(<=|>=|[<>=:~])/;

class Parser {
	at = 0;
	constructor(private text: string) {}

	fail(at: number, what: string): never {
		throw new QueryError(tr("character {n}: {what}", { n: [...this.text.slice(0, at)].length + 1, what }));
	}
	private isEnd = (at: number): boolean => at >= this.text.length || BLANK.test(this.text[at]!);

	skipBlanks(): boolean {
		while (this.at < this.text.length && this.isEnd(this.at))
			this.at++;
		return this.at < this.text.length;
	}
	takeMinus(): boolean {
		const is = this.text[this.at] === "-" && !this.isEnd(this.at + 1);
		this.at += is ? 1 : 0;
		return is;
	}
	/** A text up to the next blank, or in quotation marks. */
	readText(): string {
		const open = this.at;
		let out = "";
		if (this.text[open] !== "\"") {
			while (!this.isEnd(this.at))
				out += this.text[this.at++];
			return out;
		}
		for (this.at++; this.at < this.text.length && this.text[this.at] !== "\""; this.at++) {
			if (this.text[this.at] === "\\" && /["\\]/.test(this.text[this.at + 1] ?? ""))
				this.at++;
			out += this.text[this.at];
		}
		if (this.at >= this.text.length)
			this.fail(open, tr("the quotation mark is not closed"));
		if (!this.isEnd(++this.at))
			this.fail(this.at, tr("a blank is missing behind the quotation mark"));
		return out;
	}
	/** A field and its operator, if the term has them: "aten::mm" is a name. */
	readField(): { word: Word; operator: string; operatorAt: number } | null {
		const rest = this.text.slice(this.at);
		const found = FIELD.exec(rest);
		if (!found || (found[2] === ":" && rest[found[0].length] === ":"))
			return null;
		const [whole, name, operator] = [found[0], found[1]!, found[2]!];
		const word = fieldOf(name);
		const value = rest.slice(whole.length).split(BLANK)[0]!;
		// "durr>50us" is a slip of the pen, "gemm<float" a part of a name.
		if (!word && !":~".includes(operator) && value && readQuantity(value, "time")?.length === value.length)
			this.fail(this.at, tr("there is no field '{name}'; a part of a name stands in quotation marks", { name: name.slice(0, 40) }));
		if (!word)
			return null;
		const operatorAt = this.at + name.length;
		this.at += whole.length;
		return { word, operator, operatorAt };
	}
}

const everything = (): Bounds => ({ low: -Infinity, high: Infinity, realLow: -Infinity, realHigh: Infinity, lowIsOpen: false, highIsOpen: false });

/** "5", "5..7", "5..", "..7"; null where it is none of these. */
function readRange(text: string, unit: Unit): Bounds | null {
	const low = readQuantity(text, unit);
	const rest = text.slice(low?.length ?? 0);
	const bounds = everything();
	if (low)
		Object.assign(bounds, { low: low.ceiling, realLow: low.real });
	if (low && rest === "")
		return Object.assign(bounds, { high: low.floor, realHigh: low.real });
	if (!rest.startsWith("..") || (rest === ".." && !low))
		return null;
	if (rest === "..")
		return bounds;
	const high = readQuantity(rest.slice(2), unit);
	return high && high.length === rest.length - 2 ? Object.assign(bounds, { high: high.floor, realHigh: high.real }) : null;
}

function readLimit(operator: string, text: string, unit: Unit): Bounds | null {
	const limit = readQuantity(text, unit);
	if (!limit || limit.length !== text.length)
		return null;
	const isWith = operator.length > 1;
	return operator.startsWith(">")
		? { ...everything(), low: isWith ? limit.ceiling : limit.floor + 1, realLow: limit.real, lowIsOpen: !isWith }
		: { ...everything(), high: isWith ? limit.floor : limit.ceiling - 1, realHigh: limit.real, highIsOpen: !isWith };
}

function readNumbers(p: Parser, at: number, operator: string, text: string, unit: Unit): Bounds[] {
	const isLimit = /^[<>]/.test(operator);
	const parts = isLimit ? [text] : text.split(",");
	if (parts.length > MOST_LIST)
		p.fail(at, tr("the list has more than {n} numbers", { n: MOST_LIST }));
	return parts.map((part) => (isLimit ? readLimit(operator, part, unit) : readRange(part, unit)) ?? p.fail(at, tr("{what} is expected here", { what: WANTED[unit] ?? "" })));
}

function readPattern(p: Parser, at: number, text: string): Pattern {
	try {
		return compilePattern(text);
	} catch (e) {
		return p.fail(at, tr("the regular expression is wrong: {why}", { why: e instanceof Wrong ? e.message : tr("it is not understood") }));
	}
}

function setText(p: Parser, term: Term, at: number, text: string): void {
	if (!text && term.test !== "is")
		p.fail(at, tr("a text is missing"));
	term.text = term.test === "is" ? text : smallLetters(text);
	if (term.test === "matches") {
		term.pattern = readPattern(p, at, text);
		return;
	}
	const line = term.field === "line" ? /^(?:(.*):)?(\d{1,9})$/s.exec(term.text) : null;
	if (line)
		Object.assign(term, { text: line[1] ?? "", line: Number(line[2]) });
}

function setValue(p: Parser, term: Term, { word, operator, operatorAt }: NonNullable<ReturnType<Parser["readField"]>>): void {
	const at = p.at;
	const text = p.readText();
	const isLimit = /^[<>]/.test(operator);
	const isText = word.unit === "text" || word.unit === "words";
	if (isText ? isLimit || (word.unit === "words" && operator === "~") : operator === "~")
		p.fail(operatorAt, tr(isText && isLimit ? "this field is no number: '{operator}' does not fit it" : "this field is no text: '{operator}' does not fit it", { operator }));
	Object.assign(term, { field: word.field, part: word.part, test: operator === "=" ? "is" : operator === "~" ? "matches" : "has" });
	if (word.unit === "words") {
		term.test = "is";
		term.looks = [...new Set(text.replace(/(?<=.),$/s, "").split(",").flatMap((one) => [...looksOf(one) ?? p.fail(at, tr("'{word}' is no kind of span", { word: one.slice(0, 40) }))]))].sort((a, b) => a - b);
	} else if (isText) {
		setText(p, term, at, text);
	} else {
		term.test = "in";
		term.bounds = readNumbers(p, at, operator, text, word.unit);
	}
}

/** The terms of a query; throws QueryError with one sentence that names the place. */
export function parseQuery(text: string): Term[] {
	const p = new Parser(text);
	const terms: Term[] = [];
	while (p.skipBlanks()) {
		if (terms.length === MOST_TERMS)
			p.fail(p.at, tr("a query has at most {n} terms", { n: MOST_TERMS }));
		const term: Term = { field: "name", part: "", test: "has", negated: p.takeMinus(), looks: [], text: "", line: 0, pattern: null, bounds: [] };
		const field = p.readField();
		if (field) {
			setValue(p, term, field);
		} else {
			const at = p.at;
			const isQuoted = text[at] === "\"";
			const word = p.readText();
			const looks = terms.length || isQuoted ? null : looksOf(word);
			if (looks)
				Object.assign(term, { field: "kind", test: "is", looks: [...looks].sort((a, b) => a - b) });
			else
				setText(p, term, at, word);
		}
		terms.push(term);
	}
	return terms;
}

/** The sentence about what is wrong, or "". */
export function queryError(text: string): string {
	try {
		parseQuery(text);
		return "";
	} catch (e) {
		return e instanceof Error ? e.message : String(e);
	}
}
