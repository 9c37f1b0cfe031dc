/* SPDX-License-Identifier: Apache-2.0 */
/* highlight.ts - which spans on the screen the search asks for. Terms that tiles cannot answer (a step, a line, a column) are answered by the server's marks. */
import type { Lanes } from "../data/protocol";
import { fitsLocally, isLocal, LaneFacts, nameFits, type Told } from "./fits";
import { parseQuery, type Term } from "./parse";

export class Highlight {
	/** Whether some terms need the marks. */
	readonly needsMarks: boolean;
	private terms: Term[];
	private nameTerms: Term[];
	private names = new Map<string, boolean>();
	private lanes: LaneFacts[];

	constructor(text: string, lanes: Lanes[], private begins: number[]) {
		let all: Term[] = [];
		try {
			all = parseQuery(text);
		} catch { /* what is wrong is said beside the field */ }
		this.nameTerms = all.filter((t) => t.field === "name");
		this.terms = all.filter((t) => isLocal(t) && t.field !== "name");
		this.needsMarks = all.some((t) => !isLocal(t));
		this.lanes = lanes.map((l) => new LaneFacts(l));
	}

	private nameFits(name: string): boolean {
		let fits = this.names.get(name);
		if (fits === undefined)
			this.names.set(name, fits = this.nameTerms.every((t) => nameFits(t, name) !== t.negated));
		return fits;
	}
	/** Whether all that a tile tells of a span fits. */
	fits(trace: number, lane: number, span: Told): boolean {
		return this.nameFits(span.name) && this.terms.every((t) => fitsLocally(t, span, lane, this.lanes[trace]!, this.begins[trace]!));
	}
}
