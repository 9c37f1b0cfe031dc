/* SPDX-License-Identifier: Apache-2.0 */
/* inline_index.ts - what a server would look up, found in the spans that the self-contained page has.
 *
 * Spans that were left out of the page are not counted; the page says what was left out. Made on the first question. */
import { VIRTUAL, type At, type EventGroups, type EventTable, type Frame, type Lane, type Lanes, type Lead, type Marks, type NextHit, type Piece, type Search, type Selection, type Span, type SpanDetails, type Steps } from "./protocol";
import { leadAt, opsOf, select, type Op } from "./inline_selection";
import { InlineQuery, isWork } from "./inline_query";
import { tableOf, type TableRequest } from "./inline_table";
import { readLanes } from "./lane_list";
import type { Tile } from "./tile";

const MOST_FIRST = 50;

export type Known = Required<Span> & { name_id: number };

const end = (s: Span): number => s.start + s.dur;

/** What enqueued what. */
class Links {
	private calls = new Map<number, number>();
	private work = new Map<number, number[]>();

	/** One list a strip: the first span's id, then for each span the difference of its call's id plus one. Waits, events and overhead have a call, too. */
	constructor(strips: number[][], private isWork: (id: number) => boolean) {
		for (const [first, ...steps] of strips) {
			let link = 0;
			steps.forEach((step, row) => {
				link += step;
				if (link)
					this.add(link - 1, first! + row);
			});
		}
	}
	private add(call: number, work: number): void {
		this.calls.set(work, call);
		if (!this.isWork(work))
			return;
		const known = this.work.get(call);
		if (known)
			known.push(work);
		else
			this.work.set(call, [work]);
	}
	callOf(work: number): number | undefined {
		return this.calls.get(work);
	}
	workOf(call: number): number[] {
		return this.work.get(call) ?? [];
	}
}

export interface Stacks { frames: [string, string, number, string][]; stacks: [number, number, number][] }
export interface RowDetails { kind: string; stack?: number; line?: [file: string, line: number, function: string]; fields: SpanDetails["fields"] }

/** Everything a page has of one trace. */
export interface Inlined {
	tiles: Tile[]; begin: number; end: number; steps: Steps | null; names: Record<string, string>; lanes: Lanes; links: number[][]; stacks: Stacks; gaps: Piece[];
	row: (id: number) => Promise<RowDetails | null>;
}

const AROUND = new Set(["range", "op", "call", "api"]);
const MOST_WORK = 64;
const MOST_CHAIN = 400;

export class InlineIndex {
	private byId = new Map<number, Known>();
	private ordered: Known[];
	private links: Links;
	private lanes: Map<number, Lane>;
	private ops: Record<number, Op[]> = {};
	private projected = new Map<number, Map<number, Known>>();
	private query: InlineQuery;

	constructor(private of: Inlined) {
		for (const tile of of.tiles)
			if (tile.form === "spans" || tile.form === "summary")
				this.add(tile.lane, tile.spans, tile.lane < VIRTUAL ? this.byId : this.projectedOn(tile.lane));
		this.ordered = [...this.byId.values()].sort((a, b) => a.start - b.start || b.dur - a.dur);
		this.links = new Links(of.links, (id) => isWork(this.byId.get(id)?.look ?? NaN));
		this.lanes = new Map(of.lanes.lanes.map((lane) => [lane.lane, lane]));
		this.query = new InlineQuery({
			lanes: of.lanes, begin: of.begin, steps: of.steps, row: of.row, callOf: (id) => this.byId.get(this.links.callOf(id) ?? -1),
		});
	}

	/** The spans of a lane of projected ranges, which have the ids of these. */
	private projectedOn(lane: number): Map<number, Known> {
		const known = this.projected.get(lane) ?? new Map<number, Known>();
		this.projected.set(lane, known);
		return known;
	}

	private add(lane: number, spans: Extract<Tile, { form: "spans" }>["spans"], to: Map<number, Known>): void {
		for (let i = 0; i < spans.n; i++) {
			const name_id = spans.name[i]!;
			to.set(spans.id[i]!, {
				id: spans.id[i]!, lane, name: this.of.names[name_id] ?? "", name_id, start: spans.start[i]!, dur: spans.dur[i]!, look: spans.look[i]!,
				row: spans.row[i]!,
			});
		}
	}

	private within(from: number, to: number): Known[] {
		return this.ordered.filter((s) => s.start < to && (end(s) > from || s.start >= from));
	}

	/** The spans of the same thread around a span, outermost first. */
	private around(span: Known): Known[] {
		const thread = this.lanes.get(span.lane)?.thread;
		const isOf = (lane: Lane | undefined): boolean => lane !== undefined && lane.thread === thread && AROUND.has(lane.type);
		return thread === undefined ? [] : this.ordered.filter((s) => s.start <= span.start && end(s) >= end(span) && s !== span && isOf(this.lanes.get(s.lane)));
	}

	private stack(at: number | undefined): { frames: Frame[]; place: Frame | null } {
		const { frames, stacks } = this.of.stacks;
		const frame = (i: number): Frame => {
			const [name, file, line, module] = frames[i]!;
			return { function: name, file, line, module };
		};
		const place = at ? stacks[at - 1]?.[2] : 0;
		const list: Frame[] = [];
		for (let s = at; s && stacks[s - 1]; s = stacks[s - 1]![1])
			list.push(frame(stacks[s - 1]![0]));
		return { frames: list, place: place ? frame(place - 1) : null };
	}

	/** As the server's answer: device work stands where its call stands. */
	async span(id: number): Promise<SpanDetails | null> {
		const span = this.byId.get(id);
		if (!span)
			return null;
		const launch = this.byId.get(this.links.callOf(id) ?? -1);
		const call = launch ?? span;
		const [own, its] = await Promise.all([this.of.row(id), this.of.row(call.id)]);
		const around = this.around(call);
		const { frames, place } = this.stack(its?.stack);
		// Work of a graph stands where it was captured, not where its call stands.
		const [file, line, name] = own?.line ?? [place?.file ?? "", place?.line ?? null, place?.function ?? ""];
		const work = this.links.workOf(id);
		const isCall = (s: Known): boolean => this.lanes.get(s.lane)?.type === "api";
		return {
			...span, kind: own?.kind ?? "", fields: own?.fields ?? [], partial: !own, stack: frames, around, launch: launch ?? null,
			place: {
				file, line, function: name, api: isCall(call) ? call.name : "",
				range: around.filter((s) => !isCall(s)).map((s) => s.name).join(" > "),
			},
			headway: this.headway(span, launch), projected: [...this.projected.values()].flatMap((on) => on.get(id) ?? []),
			work: work.slice(0, MOST_WORK).flatMap((w) => this.byId.get(w) ?? []), work_count: work.length,
		};
	}

	/** What was ahead of device work when its call began. */
	private headway(span: Known, launch: Known | undefined): Lead | null {
		const device = this.lanes.get(span.lane)?.device;
		if (!launch || device === undefined || !isWork(span.look))
			return null;
		const facts = { ordered: this.ordered, lanes: this.lanes, byId: this.byId, callOf: (id: number) => this.links.callOf(id) };
		return leadAt(this.ops[device] ??= opsOf(facts, (l) => l.device === device), launch.start);
	}

	/** What belongs to a span: its call and the work of that; of a range, an operator or a function the work that was launched inside. */
	chain(id: number): { ids: number[]; more: boolean } {
		const span = this.byId.get(id);
		const lane = span && this.lanes.get(span.lane);
		const call = (span && isWork(span.look) ? this.links.callOf(id) : undefined) ?? id;
		const holds = lane !== undefined && lane.type !== "api" && AROUND.has(lane.type);
		const inside = (s: Known): boolean => holds && this.lanes.get(s.lane)?.type === "api" && this.lanes.get(s.lane)?.thread === lane.thread && s.start >= span!.start && end(s) <= end(span!);
		const calls = holds ? this.ordered.filter(inside).map((s) => s.id) : [call];
		const ids = [...new Set([id, ...calls.filter((c) => this.links.workOf(c).length), ...calls.flatMap((c) => this.links.workOf(c))])];
		return { ids: ids.slice(0, MOST_CHAIN), more: ids.length > MOST_CHAIN };
	}

	next(id: number, dir: number, any: boolean): { span: Span | null } {
		const span = this.byId.get(id);
		const same = span ? this.ordered.filter((s) => s.lane === span.lane && (any || s.name_id === span.name_id)).sort((a, b) => a.start - b.start || a.id - b.id) : [];
		return { span: span ? same[same.indexOf(span) + dir] ?? null : null };
	}

	at(lane: number, from: number, to: number): At {
		const all = lane < VIRTUAL ? this.within(from, to) : [...this.projectedOn(lane).values()].filter((s) => s.start < to && end(s) > from);
		const spans = all.filter((s) => s.lane === lane).sort((a, b) => b.dur - a.dur);
		return { count: spans.length, busy: [], longest: spans[0] ?? null, spans: spans.slice(0, 16) };
	}

	/** The spans that a query asks for, in order of start; an empty search finds nothing. */
	private async hits(q: string): Promise<Known[]> {
		return q.trim() ? this.query.find(this.ordered, q) : [];
	}

	/** Spans that touch an interval, on some lanes, as rows or groups. */
	table(ask: TableRequest, from: number, to: number, lanes: string): Promise<EventTable | EventGroups> {
		const isChosen = lanes ? readLanes(lanes) : () => true;
		const isWhole = from <= this.of.begin && to >= this.of.end;
		const touches = (s: Known): boolean => isWhole || (s.start < to && (s.start >= from || end(s) > from));
		return tableOf(this.query, this.ordered.filter((s) => touches(s) && isChosen(s.lane)), ask);
	}

	async marks(q: string, from: number, to: number, n: number): Promise<Marks> {
		const lanes = new Map<number, Set<number>>();
		for (const s of await this.hits(q)) {
			const part = Math.floor((s.start - from) / (to - from) * n);
			if (part >= 0 && part < n)
				lanes.set(s.lane, (lanes.get(s.lane) ?? new Set()).add(part));
		}
		return { q, lanes: [...lanes].map(([lane, parts]) => ({ lane, runs: [...parts].flatMap((part) => [part, 1]) })) };
	}

	async hit(q: string, id: number, from: number, dir: number): Promise<NextHit> {
		const hits = (await this.hits(q)).sort((a, b) => a.start - b.start || a.id - b.id);
		const start = this.byId.get(id)?.start ?? from;
		const behind = hits.findIndex((s) => s.start > start || (s.start === start && s.id > id));
		const before = hits.filter((s) => s.start < start || (s.start === start && s.id < id)).length - 1;
		const at = dir > 0 ? behind : before;
		return { span: hits[at] ?? null, number: at + 1, hits: hits.length };
	}

	async search(q: string, from: number, to: number, n: number, only: number | null, skip: number): Promise<Search> {
		const hits = (await this.hits(q)).filter((s) => only === null || s.lane === only).sort((a, b) => a.start - b.start || a.id - b.id);
		const lanes = new Map<number, { lane: number; count: number; first: Span[] }>();
		const marks = new Array<number>(n).fill(0);
		for (const s of hits) {
			const lane = lanes.get(s.lane) ?? { lane: s.lane, count: 0, first: [] };
			if (lane.count >= skip && lane.count < skip + MOST_FIRST)
				lane.first.push(s);
			lane.count++;
			lanes.set(s.lane, lane);
			const part = Math.floor((s.start - from) / (to - from) * n);
			if (part >= 0 && part < n)
				marks[part]!++;
		}
		return { q, names: new Set(hits.map((s) => s.name_id)).size, hits: hits.length, more: false, lanes: [...lanes.values()], marks };
	}

	/** As the server's answer `selection`, of what the page carries. */
	selection(from: number, to: number, lanes: string): Promise<Selection> {
		return select({ of: this.of, lanes: this.lanes, spans: this.within(from, to), byId: this.byId, ordered: this.ordered, callOf: (id) => this.links.callOf(id), stack: (at) => this.stack(at).frames[0] }, from, to, lanes);
	}
}
