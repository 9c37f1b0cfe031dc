/* SPDX-License-Identifier: Apache-2.0 */
/* fits.ts - whether a span fulfils a term, from what a tile tells of it and from its lane. Steps, lines and columns need more (data/inline_query.ts). */
import type { Group, Lane, Lanes } from "../data/protocol";
import { smallLetters, type Term } from "./parse";
import { shownName } from "./shown";
import type { Field } from "./words";

export interface Told { id: number; name: string; look: number; start: number; dur: number }

const LOCAL = new Set<Field>(["kind", "name", "lane", "thread", "id", "start", "end", "dur", "gpu", "stream", "rank", "pid"]);
export const isLocal = (term: Term): boolean => LOCAL.has(term.field);

export const numberFits = (term: Term, value: number | undefined | null): boolean => value != null && term.bounds.some((b) => value >= b.low && value <= b.high);

export const realFits = (term: Term, value: number): boolean =>
	term.bounds.some((b) => (b.lowIsOpen ? value > b.realLow : value >= b.realLow) && (b.highIsOpen ? value < b.realHigh : value <= b.realHigh));

export function textFits(term: Term, text: string): boolean {
	if (term.test === "is")
		return text === term.text;
	const small = smallLetters(text);
	return term.pattern ? term.pattern.test(small) : small.includes(term.text);
}

/** A name fits as it is, and as it is shown. */
export const nameFits = (term: Term, name: string): boolean => textFits(term, name) || (term.test !== "has" && textFits(term, shownName(name)));

/** Whether a title has the text as whole words: "stream 7" is not in "stream 71". */
function hasWords(term: Term, title: string): boolean {
	const small = smallLetters(title);
	const isWord = (c: string | undefined): boolean => c !== undefined && /[0-9a-z]/.test(c);
	for (let at = small.indexOf(term.text); at >= 0; at = small.indexOf(term.text, at + 1)) {
		const end = at + term.text.length;
		if ((!isWord(small[at - 1]) || !isWord(small[at])) && (!isWord(small[end]) || !isWord(small[end - 1])))
			return true;
	}
	return false;
}

/** Lanes as terms see them. */
export class LaneFacts {
	private lanes: Map<number, Lane>;
	private threads = new Map<number, string>();

	constructor(of: Lanes) {
		this.lanes = new Map(of.lanes.map((l) => [l.lane, l]));
		const visit = (groups: Group[]): void => groups.forEach((g) => {
			if (g.kind === "thread" && g.thread !== undefined)
				this.threads.set(g.thread, g.title);
			visit(g.groups);
		});
		visit(of.groups);
	}
	lane(lane: number): Lane | undefined {
		return this.lanes.get(lane);
	}
	threadOf(lane: number): string {
		return this.threads.get(this.lanes.get(lane)?.thread ?? -1) ?? "";
	}

	fits(term: Term, number: number): boolean {
		const lane = this.lanes.get(number);
		if (!lane)
			return false;
		switch (term.field) {
		case "gpu": return numberFits(term, lane.gpu);
		case "stream": return numberFits(term, lane.stream);
		case "rank": return numberFits(term, lane.rank);
		case "pid": return numberFits(term, lane.pid);
		default: {
			const isLane = term.field === "lane";
			if (term.text.startsWith("#"))
				return Number.parseInt(term.text.slice(1), 10) === (isLane ? number : lane.thread);
			const title = isLane ? lane.title : this.threadOf(number);
			return title !== "" && (term.test === "has" ? hasWords(term, title) : textFits(term, title));
		}
		}
	}
}

/** Whether a term about what a tile tells holds; times count from `begin`, the trace's first event. */
export function fitsLocally(term: Term, span: Told, lane: number, lanes: LaneFacts, begin: number): boolean {
	const holds = (): boolean => {
		switch (term.field) {
		case "kind": return term.looks.includes(span.look);
		case "name": return nameFits(term, span.name);
		case "id": return numberFits(term, span.id);
		case "start": return numberFits(term, span.start - begin);
		case "end": return numberFits(term, span.start + span.dur - begin);
		case "dur": return numberFits(term, span.dur);
		default: return lanes.fits(term, lane);
		}
	};
	return holds() !== term.negated;
}
