/* SPDX-License-Identifier: Apache-2.0 */
/* inline_selection.ts - the answer `selection` of docs/view-protocol.md from the spans that the self-contained page has.
 *
 * Spans that were left out of the page are not counted. Edges between threads are not in the page: `wakes` is null. */
import { tr } from "../lang";
import { CAUSES, Look, sharesDevice, unionOf, type Copies, type DeviceTimes, type Frame, type Group, type Lane, type Lanes, type Lead, type Metric, type NameTable, type SampledFunctions, type Selection, type Span, type TableRow, type ThreadStates } from "./protocol";
import { measure } from "./counter_mean";
import type { Inlined, Known } from "./inline_index";
import { readLanes } from "./lane_list";
import type { CounterTile } from "./tile";

const MOST_ROWS = 50;
const MOST_MOMENTS = 2000;
const CLASSES = ["compute", "comm", "memory"] as const;
const NAMED = { calls: [Look.api, Look.launch, Look.wait, Look.alloc, Look.apiCopy], ranges: [Look.range], operators: [Look.op], functions: [Look.call], os: [Look.os] };

/** What the page knows, as far as it is needed here. */
export interface Facts {
	of: Inlined; lanes: Map<number, Lane>; byId: Map<number, Known>; ordered: Known[];
	/** Those that touch the stretch, in order of start. */
	spans: Known[];
	callOf: (id: number) => number | undefined; stack: (at: number | undefined) => Frame | undefined;
}

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

const inside = (s: Span, from: number, to: number): number => Math.min(end(s), to) - Math.max(s.start, from);

function table(spans: Known[], from: number, to: number): NameTable {
	const rows = new Map<string, TableRow>();
	let total = 0;
	for (const s of spans) {
		const ns = inside(s, from, to);
		const key = `${s.name_id} ${s.look}`;
		const row = rows.get(key) ?? { name: s.name, name_id: s.name_id, count: 0, total: 0, max: 0, look: s.look };
		row.count++;
		row.total += ns;
		row.max = Math.max(row.max, ns);
		total += ns;
		rows.set(key, row);
	}
	const sorted = [...rows.values()].sort((a, b) => b.total - a.total || a.name_id - b.name_id);
	return { names: sorted.length, count: spans.length, total, rows: sorted.slice(0, MOST_ROWS) };
}

/** The devices, those that stand in ranks too. */
const devicesOf = (groups: Group[]): Group[] => groups.flatMap((g) => (g.kind === "device" ? [g] : devicesOf(g.groups)));

function causes({ of }: Facts, device: number, from: number, to: number): Record<string, number> {
	const known: Record<string, number> = {};
	for (const gap of of.gaps) {
		const ns = Math.min(gap.to, to) - Math.max(gap.from, from);
		const name = CAUSES[gap.cause] ?? "unknown";
		if (gap.device === device && ns > 0)
			known[name] = (known[name] ?? 0) + Math.round(ns * gap.share);
	}
	return known;
}

/** Work of a device with the moment at which it was enqueued: its call has returned, or it has begun. */
export interface Op { enqueued: number; start: number; end: number }

export function opsOf(facts: Pick<Facts, "ordered" | "lanes" | "byId" | "callOf">, isMine: (lane: Lane) => boolean): Op[] {
	const mine = (s: Known): boolean => {
		const lane = facts.lanes.get(s.lane);
		return lane !== undefined && isMine(lane);
	};
	return facts.ordered.filter((s) => classOf(s.look) && mine(s)).map((s) => {
		const call = facts.byId.get(facts.callOf(s.id) ?? -1);
		return { enqueued: call ? Math.min(end(call), s.start) : s.start, start: s.start, end: end(s) };
	});
}

export function leadAt(ops: Op[], time: number): Lead {
	const waiting = ops.filter((op) => op.enqueued <= time && op.end > time);
	return { count: waiting.length, work: waiting.reduce((sum, op) => sum + op.end - Math.max(op.start, time), 0) };
}

/** The least count and the least work: right before something is enqueued, and at the end. Null where that would take long. */
function leastLead(ops: Op[], from: number, to: number): Lead | null {
	const least = leadAt(ops, from);
	const moments = [...new Set(ops.map((op) => op.enqueued - 1).filter((t) => t > from && t < to)), to - 1, ...ops.map((op) => op.end).filter((t) => t > from && t < to)];
	if (moments.length > MOST_MOMENTS)
		return null;
	for (const time of moments) {
		const { count, work } = leadAt(ops, time);
		least.count = Math.min(least.count, count);
		least.work = Math.min(least.work, work);
	}
	return least;
}

/** A device, or the streams of a rank whose device other ranks use, too. */
interface Unit { number: number; title: string; isMine: (lane: Lane) => boolean; shared: boolean }

function unitsOf(lanes: Lanes): Unit[] {
	const ranks = lanes.groups.filter((g) => g.kind === "rank");
	const nested = new Set(ranks.flatMap((g) => devicesOf(g.groups)));
	return [...devicesOf(lanes.groups).map((g): Unit => ({ number: g.device ?? 0, title: g.title, isMine: (l) => l.device === (g.device ?? 0), shared: ranks.length > 0 && !nested.has(g) })),
		...ranks.filter(sharesDevice).flatMap((g): Unit[] => {
			const union = lanes.lanes.find((l) => l.type === "hardware" && l.rank === g.rank);
			return union ? [{ number: unionOf(union), title: g.title, isMine: (l) => l.rank === g.rank, shared: false }] : [];
		})];
}

function devices(facts: Facts, chosen: (lane: number) => boolean, from: number, to: number): DeviceTimes[] {
	const byRank = facts.of.steps?.by_rank ?? false;
	return unitsOf(facts.of.lanes).flatMap(({ number, title, isMine, shared }): DeviceTimes[] => {
		const streams = facts.of.lanes.lanes.filter((l) => l.type === "stream" && isMine(l));
		if (!streams.some((l) => chosen(l.lane)))
			return [];
		const own = new Set(streams.map((l) => l.lane));
		const whole = streams.every((l) => chosen(l.lane));
		const mine = facts.spans.filter((s) => own.has(s.lane) && classOf(s.look) && chosen(s.lane));
		const busy = union(mine, from, to);
		const [compute, comm, memory] = CLASSES.map((c) => union(mine.filter((s) => classOf(s.look) === c), from, to)) as [number, number, number];
		const ops = opsOf(facts, (l) => own.has(l.lane));
		return [{ device: number, title, whole, busy, idle: to - from - busy, compute, comm, memory, causes: whole && !(shared && byRank) ? causes(facts, number, from, to) : null,
			headway: { begin: leadAt(ops, from), end: leadAt(ops, to), least: leastLead(ops, from, to) } }];
	});
}

/** The finest tiles of each counter that the page has: buckets that the interval cuts count by their share. */
function counters({ of }: Facts, chosen: (lane: number) => boolean, from: number, to: number): Metric[] {
	return of.lanes.lanes.filter((l) => l.type === "counter" && chosen(l.lane)).flatMap((lane) => {
		const tiles = of.tiles.filter((t): t is CounterTile => t.form === "counter" && t.lane === lane.lane);
		const metric = measure(tiles, from, Math.min(to, lane.end));
		return metric ? [{ lane: lane.lane, ...metric }] : [];
	});
}

/** The bytes of a copy that were copied by a moment, as if it went on at one rate: whole bytes, rounded down, as the server counts them. */
function bytesUntil(s: Span, bytes: number, time: number): number {
	if (time >= end(s))
		return bytes;
	return time <= s.start ? 0 : Number(BigInt(bytes) * BigInt(time - s.start) / BigInt(s.dur));
}

async function copies({ of }: Facts, spans: Known[], from: number, to: number): Promise<Copies[]> {
	const known = new Map<string, Copies>();
	for (const s of spans.filter((one) => one.look === Look.copy)) {
		const fields = new Map((await of.row(s.id))?.fields.map((f) => [f.key, f.value]) ?? []);
		const direction = fields.get("direction") ?? "unknown";
		const sum = known.get(direction) ?? { direction, count: 0, bytes: 0, total: 0 };
		sum.count++;
		const bytes = Number(fields.get("bytes") ?? 0);
		sum.bytes += bytesUntil(s, bytes, to) - (s.start >= from ? 0 : bytesUntil(s, bytes, from));
		sum.total += inside(s, from, to);
		known.set(direction, sum);
	}
	return [...known.values()];
}

function threads(facts: Facts, spans: Known[], from: number, to: number): ThreadStates[] {
	const titles = new Map<number, string>();
	const visit = (groups: Group[]): void => groups.forEach((g) => {
		g.lanes.forEach((n) => titles.set(n, g.title));
		visit(g.groups);
	});
	visit(facts.of.lanes.groups);
	return facts.of.lanes.lanes.filter((l) => l.type === "state").flatMap((lane): ThreadStates[] => {
		const states = table(spans.filter((s) => s.lane === lane.lane), from, to).rows.map(({ name, look, count, total }) => ({ name, look, count, total }));
		return states.length ? [{ lane: lane.lane, title: titles.get(lane.lane) ?? tr("thread"), states }] : [];
	});
}

async function samples({ of, stack }: Facts, spans: Known[]): Promise<SampledFunctions> {
	const mine = spans.filter((s) => s.look === Look.sample);
	const known = new Map<string, { function: string; module: string; count: number }>();
	for (const s of mine) {
		const frame = stack((await of.row(s.id))?.stack);
		const key = `${frame?.function ?? ""} ${frame?.module ?? ""}`;
		const row = known.get(key) ?? { function: frame?.function ?? "", module: frame?.module ?? "", count: 0 };
		row.count++;
		known.set(key, row);
	}
	const rows = [...known.values()].sort((a, b) => b.count - a.count);
	return { count: mine.length, names: rows.length, rows: rows.slice(0, MOST_ROWS) };
}

export async function select(facts: Facts, from: number, to: number, lanes: string): Promise<Selection> {
	const isNamed = readLanes(lanes);
	const unions = facts.of.lanes.lanes.filter((l) => l.type === "hardware" && isNamed(l.lane));
	const chosen = (lane: number): boolean => {
		const at = facts.lanes.get(lane);
		return !lanes || isNamed(lane) || unions.some((u) => at?.type === "stream" && (u.rank === undefined ? u.device === at.device : u.rank === at.rank));
	};
	const projected = (s: Known): boolean => !lanes && facts.lanes.get(s.lane)?.type === "device-range";
	const spans = facts.spans.filter((s) => chosen(s.lane) && !projected(s));
	const named = (looks: readonly number[]): NameTable => table(spans.filter((s) => looks.includes(s.look)), from, to);
	const all = threads(facts, spans, from, to);
	return {
		from, to, devices: devices(facts, chosen, from, to), counters: counters(facts, chosen, from, to),
		kernels: table(spans.filter((s) => classOf(s.look)), from, to), calls: named(NAMED.calls), ranges: named(NAMED.ranges), operators: named(NAMED.operators),
		functions: named(NAMED.functions), os: named(NAMED.os), copies: await copies(facts, spans, from, to), launches: named([Look.launch]), waits: named([Look.wait]),
		threads: all, thread_count: all.length, wakes: null, samples: await samples(facts, spans),
	};
}
