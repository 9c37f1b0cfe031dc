/* SPDX-License-Identifier: Apache-2.0 */
/* inline_index.ts - what a server would look up, found in the spans that the self-contained page has.
 *
 * Spans that were left out of the page are not counted; the page says what was left out. Made on the first question. */
import {
	CAUSES, Look, type At, type Frame, type Group, type Interval, type Lane, type Lanes, type Marks, type Metric, type NextHit, type Piece, type Search, type Span, type SpanDetails, type TableRow,
} from "./protocol";
import { measure } from "./counter_mean";
import { hasWords, wordsOf } from "./words";
import type { CounterTile, Tile } from "./tile";

const MOST_FIRST = 50;
const MOST_ROWS = 10;
const CLASSES = ["compute", "comm", "memory"] as const;

type Known = Required<Span> & { name_id: number };

const end = (s: Span): number => s.start + s.dur;

function classOf(look: number): (typeof CLASSES)[number] | null {
	if (look === Look.kernel || look === Look.graph)
		return "compute";
	return look === Look.comm ? "comm" : look === Look.copy || look === Look.fill ? "memory" : null;
}

/** The length of a union, cut to a window. Spans come in order of start. */
function union(spans: Span[], from: number, to: number): number {
	let covered = 0;
	let until = from;
	for (const s of spans) {
		const stop = Math.min(to, end(s));
		if (stop > until) {
			covered += stop - Math.max(until, s.start);
			until = stop;
		}
	}
	return covered;
}

function table(spans: Known[], from: number, to: number): TableRow[] {
	const rows = new Map<number, TableRow>();
	for (const s of spans) {
		const ns = Math.min(end(s), to) - Math.max(s.start, from);
		const row = rows.get(s.name_id) ?? { name: s.name, name_id: s.name_id, count: 0, total: 0, max: 0, look: s.look };
		row.count++;
		row.total += ns;
		row.max = Math.max(row.max, ns);
		rows.set(s.name_id, row);
	}
	return [...rows.values()].sort((a, b) => b.total - a.total).slice(0, MOST_ROWS);
}

/** The devices, those that stand in ranks too. */
const devicesOf = (groups: Group[]): Group[] => groups.flatMap((g) => (g.kind === "device" ? [g] : devicesOf(g.groups)));

/** What enqueued what. */
class Links {
	private calls = new Map<number, number>();
	private work = new Map<number, number[]>();

	/** One list a strip: the first span's id, then for each span the difference of its call's id plus one. */
	constructor(strips: number[][]) {
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
export interface RowDetails { kind: string; stack?: number; fields: SpanDetails["fields"] }

/** Everything a page has of one trace. */
export interface Inlined {
	tiles: Tile[]; names: Record<string, string>; lanes: Lanes; links: number[][]; stacks: Stacks; gaps: Piece[];
	row: (id: number) => Promise<RowDetails | null>;
}

const AROUND = new Set(["range", "op", "call", "api"]);
const MOST_WORK = 64;

export class InlineIndex {
	private byId = new Map<number, Known>();
	private ordered: Known[];
	private links: Links;
	private lanes: Map<number, Lane>;

	constructor(private of: Inlined) {
		for (const tile of of.tiles)
			if (tile.form === "spans" || tile.form === "summary")
				this.add(tile.lane, tile.spans);
		this.ordered = [...this.byId.values()].sort((a, b) => a.start - b.start || b.dur - a.dur);
		this.links = new Links(of.links);
		this.lanes = new Map(of.lanes.lanes.map((lane) => [lane.lane, lane]));
	}

	private add(lane: number, spans: Extract<Tile, { form: "spans" }>["spans"]): void {
		for (let i = 0; i < spans.n; i++) {
			const name_id = spans.name[i]!;
			this.byId.set(spans.id[i]!, {
				id: spans.id[i]!, lane, name: this.of.names[name_id] ?? "", name_id, start: spans.start[i]!, dur: spans.dur[i]!, look: spans.look[i]!,
				row: spans.row[i]!,
			});
		}
	}

	private within(from: number, to: number): Known[] {
		return this.ordered.filter((s) => s.start < to && end(s) > from);
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
		const work = this.links.workOf(id);
		const isCall = (s: Known): boolean => this.lanes.get(s.lane)?.type === "api";
		return {
			...span, kind: own?.kind ?? "", fields: own?.fields ?? [], partial: !own, stack: frames, around, launch: launch ?? null,
			place: {
				file: place?.file ?? "", line: place?.line ?? null, function: place?.function ?? "", api: isCall(call) ? call.name : "",
				range: around.filter((s) => !isCall(s)).map((s) => s.name).join(" > "),
			},
			work: work.slice(0, MOST_WORK).flatMap((w) => this.byId.get(w) ?? []), work_count: work.length,
		};
	}

	next(id: number, dir: number, any: boolean): { span: Span | null } {
		const span = this.byId.get(id);
		const same = span ? this.ordered.filter((s) => s.lane === span.lane && (any || s.name_id === span.name_id)) : [];
		return { span: span ? same[same.indexOf(span) + dir] ?? null : null };
	}

	at(lane: number, from: number, to: number): At {
		const spans = this.within(from, to).filter((s) => s.lane === lane).sort((a, b) => b.dur - a.dur);
		return { count: spans.length, busy: [], longest: spans[0] ?? null, spans: spans.slice(0, 16) };
	}

	private hits(q: string): Known[] {
		const words = wordsOf(q);
		return this.ordered.filter((s) => hasWords(s.name, words));
	}

	marks(q: string, from: number, to: number, n: number): Marks {
		const lanes = new Map<number, Set<number>>();
		for (const s of this.hits(q)) {
			const part = Math.floor((s.start - from) / (to - from) * n);
			if (part >= 0 && part < n)
				lanes.set(s.lane, (lanes.get(s.lane) ?? new Set()).add(part));
		}
		return { q, lanes: [...lanes].map(([lane, parts]) => ({ lane, runs: [...parts].flatMap((part) => [part, 1]) })) };
	}

	hit(q: string, id: number, from: number, dir: number): NextHit {
		const hits = this.hits(q).sort((a, b) => a.start - b.start || a.id - b.id);
		const start = this.byId.get(id)?.start ?? from;
		const behind = hits.findIndex((s) => s.start > start || (s.start === start && s.id > id));
		const before = hits.filter((s) => s.start < start || (s.start === start && s.id < id)).length - 1;
		const at = dir > 0 ? behind : before;
		return { span: hits[at] ?? null, number: at + 1, hits: hits.length };
	}

	search(q: string, from: number, to: number, n: number, only: number | null, skip: number): Search {
		const hits = this.hits(q).filter((s) => only === null || s.lane === only);
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

	private causes(device: number, from: number, to: number): Record<string, number> {
		const causes: Record<string, number> = {};
		for (const gap of this.of.gaps) {
			const ns = Math.min(gap.to, to) - Math.max(gap.from, from);
			const name = CAUSES[gap.cause] ?? "unknown";
			if (gap.device === device && ns > 0)
				causes[name] = (causes[name] ?? 0) + Math.round(ns * gap.share);
		}
		return causes;
	}

	/** The finest tiles of each counter that the page has: buckets that the interval cuts count by their share. */
	private metrics(from: number, to: number): Metric[] {
		return this.of.lanes.lanes.filter((l) => l.type === "counter" && l.device !== undefined).flatMap((lane) => {
			const tiles = this.of.tiles.filter((t): t is CounterTile => t.form === "counter" && t.lane === lane.lane);
			const metric = measure(tiles, from, Math.min(to, lane.end));
			return metric ? [{ lane: lane.lane, ...metric }] : [];
		});
	}

	interval(from: number, to: number): Interval {
		const spans = this.within(from, to);
		const devices = devicesOf(this.of.lanes.groups).map((g) => {
			const mine = spans.filter((s) => this.lanes.get(s.lane)?.device === g.device && classOf(s.look));
			const busy = union(mine, from, to);
			const [compute, comm, memory] = CLASSES.map((c) => union(mine.filter((s) => classOf(s.look) === c), from, to)) as [number, number, number];
			return { device: g.device ?? 0, title: g.title, busy, idle: to - from - busy, compute, comm, memory, causes: this.causes(g.device ?? 0, from, to) };
		});
		const isCall = (s: Known): boolean => s.look >= Look.api && s.look <= Look.apiCopy;
		return {
			from, to, devices, metrics: this.metrics(from, to), kernels: table(spans.filter((s) => classOf(s.look)), from, to), calls: table(spans.filter(isCall), from, to),
			ranges: table(spans.filter((s) => s.look === Look.range), from, to),
		};
	}
}
