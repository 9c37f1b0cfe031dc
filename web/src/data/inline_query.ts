/* SPDX-License-Identifier: Apache-2.0 */
/* inline_query.ts - the spans that a query asks for, found in what the self-contained page has. As src/serve/match*.c. */
import { tr } from "../lang";
import { fitsLocally, isLocal, LaneFacts, numberFits, realFits, textFits, type Told } from "../query/fits";
import { parseQuery, QueryError, smallLetters, type Term } from "../query/parse";
import type { RowDetails } from "./inline_index";
import { Look, type Lanes, type Steps } from "./protocol";

export type InlineSpan = Told & { lane: number };

/** What the page knows of its spans beyond the tiles. */
export interface Facts {
	lanes: Lanes; begin: number; steps: Steps | null;
	row: (id: number) => Promise<RowDetails | null>;
	callOf: (id: number) => InlineSpan | undefined;
}
export interface Place { file: string; line: number }
/** `place`: among the steps of all processes, in order of process, then of time on the device. */
interface StepTime { phase: number; number: number; process: number; place: number; cpu: [number, number]; device: [number, number] }

const SHAPE_KEYS: Record<string, string> = {
	registers: "registers a thread", static_shared: "static shared memory", dynamic_shared: "dynamic shared memory", executed_shared: "executed shared memory",
	local_per_thread: "local memory a thread", local_total: "local memory in total", cluster_x: "cluster x", cluster_y: "cluster y", cluster_z: "cluster z",
};
export const isWork = (look: number): boolean => look <= Look.graph;
export const baseName = (file: string): string => file.slice(file.lastIndexOf("/") + 1);

export class InlineQuery {
	readonly laneFacts: LaneFacts;
	/** By process (-1: of all) and by which of the times counts, in order of it. */
	private steps = new Map<string, StepTime[]>();
	private readonly ofAll: boolean;
	readonly hasPhases: boolean;

	constructor(private facts: Facts) {
		this.laneFacts = new LaneFacts(facts.lanes);
		const steps = (facts.steps?.phases ?? []).flatMap((p, phase) => p.steps.map((s, k): StepTime => {
			const mark = /\d{1,9}$/.exec(s[6] ?? "");
			return { phase, number: mark && !/\d{10}$/.test(s[6]) ? Number(mark[0]) : k, process: p.process ?? -1, place: 0, cpu: [s[2], s[3]], device: [s[0], s[1]] };
		})).sort((a, b) => a.process - b.process || a.device[0] - b.device[0]);
		steps.forEach((step, i) => { step.place = i; });
		this.ofAll = steps.some((s) => s.process === -1);
		this.hasPhases = steps.some((s) => s.phase > 0);
		for (const at of ["device", "cpu"] as const)
			for (const step of [...steps].sort((a, b) => a[at][0] - b[at][0])) {
				const key = `${step.process}/${at}`;
				const list = this.steps.get(key) ?? [];
				list.push(step);
				this.steps.set(key, list);
			}
	}

	/** The step of a span: device work by the step's time on the device, all else by its time on the CPU. */
	stepOf(span: InlineSpan): StepTime | null {
		const process = this.laneFacts.lane(span.lane)?.process ?? -1;
		const at = isWork(span.look) ? "device" : "cpu";
		const steps = this.steps.get(`${this.ofAll ? -1 : process}/${at}`) ?? [];
		let low = 0;
		for (let high = steps.length; low < high;) {
			const middle = (low + high) >> 1;
			if (steps[middle]![at][0] <= span.start)
				low = middle + 1;
			else
				high = middle;
		}
		const last = steps[low - 1];
		return last && span.start < last[at][1] ? last : null;
	}
	latencyOf(span: InlineSpan): number | null {
		const call = isWork(span.look) ? this.facts.callOf(span.id) : undefined;
		return call && span.start >= call.start ? span.start - call.start : null;
	}
	async lineOf(span: InlineSpan): Promise<Place | null> {
		const [file, line] = (await this.facts.row(span.id))?.line ?? [];
		return file && line ? { file, line } : null;
	}
	async fieldOf(span: InlineSpan, key: string): Promise<string | null> {
		return (await this.facts.row(span.id))?.fields.find((f) => f.key.replaceAll("-", "_") === key || f.key === key)?.value ?? null;
	}
	async bytesOf(span: InlineSpan): Promise<number | null> {
		const bytes = await this.fieldOf(span, "bytes");
		return bytes === null ? null : Number(bytes);
	}

	private async fitsColumn(term: Term, span: InlineSpan): Promise<boolean> {
		const value = await this.fieldOf(span, term.part);
		if (value === null)
			return false;
		if (term.test !== "in")
			return textFits(term, value);
		const number = Number(/^GPU (\d+)/.exec(value)?.[1] ?? value);
		return realFits(term, term.part === "queued" || term.part === "submitted" ? number - this.facts.begin : number);
	}
	private async fitsShape(term: Term, span: InlineSpan): Promise<boolean> {
		const [what, axis] = term.part.split("_");
		if (what === "grid" || what === "block") {
			const size = await this.fieldOf(span, what);
			return size !== null && numberFits(term, Number(size.split(" x ")["xyz".indexOf(axis!)]));
		}
		const value = await this.fieldOf(span, SHAPE_KEYS[term.part] ?? term.part);
		// A kernel's shape is listed without its zeros.
		return value !== null ? numberFits(term, Number(value)) : await this.fieldOf(span, "grid") !== null && numberFits(term, 0);
	}
	private async fitsLine(term: Term, span: InlineSpan): Promise<boolean> {
		const place = await this.lineOf(span);
		if (!place)
			return false;
		if (term.test === "matches")
			return textFits(term, `${baseName(place.file)}:${place.line}`);
		if (term.line && term.line !== place.line)
			return false;
		if (!term.text || term.test === "is")
			return !term.text || place.file === term.text;
		const file = smallLetters(place.file);
		return file.endsWith(term.text) && (file.length === term.text.length || term.text.startsWith("/") || file[file.length - term.text.length - 1] === "/");
	}
	private async holds(term: Term, span: InlineSpan): Promise<boolean> {
		switch (term.field) {
		case "step": return numberFits(term, this.stepOf(span)?.number);
		case "phase": return numberFits(term, this.stepOf(span)?.phase);
		case "latency": return numberFits(term, this.latencyOf(span));
		case "line": return this.fitsLine(term, span);
		case "shape": return this.fitsShape(term, span);
		case "rate": {
			const bytes = await this.bytesOf(span);
			return Boolean(bytes) && span.dur > 0 && realFits(term, bytes! * 1e9 / span.dur);
		}
		default: return this.fitsColumn(term, span);
		}
	}

	/** Those of the spans that a query asks for. */
	async find<S extends InlineSpan>(spans: S[], text: string): Promise<S[]> {
		const terms = parseQuery(text);
		if (terms.some((t) => t.field === "module"))
			throw new QueryError(tr("modules cannot be asked for in this page: open the recording with headway view"));
		const cheap = terms.filter(isLocal);
		let left = spans.filter((s) => cheap.every((t) => fitsLocally(t, s, s.lane, this.laneFacts, this.facts.begin)));
		for (const term of terms.filter((t) => !isLocal(t))) {
			const kept: S[] = [];
			for (const span of left)
				if (await this.holds(term, span) !== term.negated)
					kept.push(span);
			left = kept;
		}
		return left;
	}
}
