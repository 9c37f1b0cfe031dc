/* SPDX-License-Identifier: Apache-2.0 */
/* inline_table.ts - spans as rows or groups, sorted, from what the self-contained page has. As src/serve/event_*.c. */
import { baseName, type InlineQuery, type InlineSpan } from "./inline_query";
import type { EventGroup, EventGroups, EventRow, EventTable } from "./protocol";

export interface TableRequest { q: string; sort: string; down: boolean; group: string; skip: number; n: number; at: number | null }
const KINDS = ["kernel", "kernel", "copy", "fill", "graph", "api", "api", "api", "api", "api", "range", "op", "call", "os", "state", "state", "memory", "sample", "event", "sync", "overhead", "counter"];
const smaller = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0);
const quote = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** By what a span is sorted; null where it lacks it. */
async function keyOf(query: InlineQuery, span: InlineSpan, sort: string): Promise<number | string | null> {
	switch (sort) {
	case "dur": return span.dur;
	case "name": return span.name.toLowerCase();
	case "kind": return span.look;
	case "lane": return span.lane;
	case "step": return query.stepOf(span)?.place ?? null;
	case "latency": return query.latencyOf(span);
	case "bytes": return await query.bytesOf(span) || null;
	case "rate": {
		const bytes = await query.bytesOf(span);
		return bytes && span.dur ? bytes / span.dur : null;
	}
	case "line": {
		const place = await query.lineOf(span);
		return place && `${place.file.toLowerCase()} ${String(place.line).padStart(10)}`;
	}
	default: return span.start;
	}
}

/** Equal ones stand in order of id, turned around as the rest; spans that lack it come last either way. */
async function order(query: InlineQuery, spans: InlineSpan[], sort: string, down: boolean): Promise<InlineSpan[]> {
	const keyed = await Promise.all(spans.map(async (span) => ({ span, key: await keyOf(query, span, sort) })));
	const known = keyed.filter((k) => k.key !== null).sort((a, b) => smaller(a.key!, b.key!) || a.span.id - b.span.id);
	const rest = keyed.filter((k) => k.key === null).sort((a, b) => a.span.id - b.span.id);
	return [...down ? known.reverse() : known, ...rest].map((k) => k.span);
}

const sums = (spans: InlineSpan[]): { rows: number; total: number; min: number; max: number } => ({
	rows: spans.length, total: spans.reduce((n, s) => n + s.dur, 0), min: spans.reduce((n, s) => Math.min(n, s.dur), spans[0]?.dur ?? 0), max: spans.reduce((n, s) => Math.max(n, s.dur), 0),
});

async function rowOf(query: InlineQuery, span: InlineSpan, names: string[]): Promise<EventRow> {
	const place = await query.lineOf(span);
	if (!names.includes(span.name))
		names.push(span.name);
	return [span.id, span.lane, span.look, names.indexOf(span.name), span.start, span.dur, query.stepOf(span)?.number ?? null, query.latencyOf(span), await query.bytesOf(span) || null,
		place ? `${baseName(place.file)}:${place.line}` : ""];
}

/** A group's name, the term of its spans, and what it is ordered by. */
async function groupOf(query: InlineQuery, span: InlineSpan, by: string): Promise<[string, string, number]> {
	const lane = query.laneFacts.lane(span.lane);
	switch (by) {
	case "kind": return [KINDS[span.look] ?? "", `kind:${KINDS[span.look]}`, span.look];
	case "lane": return [lane?.title ?? "", `lane:#${span.lane}`, span.lane];
	case "thread": return lane?.thread === undefined ? ["", "-thread~.", -1] : [query.laneFacts.threadOf(span.lane), `thread:#${lane.thread}`, lane.thread];
	case "gpu": return lane?.gpu === undefined ? ["", "-gpu:0..", -1] : [`GPU ${lane.gpu}`, `gpu:${lane.gpu}`, lane.gpu];
	case "rank": return lane?.rank === undefined ? ["", "-rank:0..", -1] : [`rank ${lane.rank}`, `rank:${lane.rank}`, lane.rank];
	case "step": {
		const step = query.stepOf(span);
		return step ? [`step ${step.number}${query.hasPhases ? ` of phase ${step.phase}` : ""}`, `phase:${step.phase} step:${step.number}`, step.place] : ["", "-step:0..", -1];
	}
	case "line": {
		const place = await query.lineOf(span);
		return place ? [`${baseName(place.file)}:${place.line}`, `line=${quote(`${place.file}:${place.line}`)}`, place.line] : ["", "-line~.", -1];
	}
	default: return [span.name, `name=${quote(span.name)}`, 0];
	}
}

function summed(name: string, term: string, durations: number[]): EventGroup {
	const sorted = durations.sort((a, b) => a - b);
	const n = sorted.length;
	const total = sorted.reduce((a, b) => a + b, 0);
	const rank = (percent: number): number => sorted[Math.max(1, Math.ceil(n * percent / 100)) - 1]!;
	const squares = sorted.reduce((a, b) => a + (b - total / n) ** 2, 0);
	return [name, term, n, total, sorted[0]!, sorted[n - 1]!, total / n, (sorted[Math.ceil(n / 2) - 1]! + sorted[Math.floor(n / 2)]!) / 2, rank(90), rank(99), n > 1 ? Math.sqrt(squares / (n - 1)) : 0];
}

const AT: Record<string, number> = { count: 2, total: 3, min: 4, max: 5, mean: 6, p50: 7, p90: 8, p99: 9, sd: 10 };

async function groups(query: InlineQuery, spans: InlineSpan[], ask: TableRequest): Promise<EventGroups> {
	const found = new Map<string, { name: string; place: number; durations: number[] }>();
	for (const span of spans) {
		const [name, term, place] = await groupOf(query, span, ask.group);
		const group = found.get(term) ?? { name, place, durations: [] };
		group.durations.push(span.dur);
		group.place = Math.min(group.place, place);
		found.set(term, group);
	}
	const all = [...found].map(([term, g]) => ({ place: g.place, row: summed(g.name, term, g.durations) }));
	const by = (a: typeof all[number], b: typeof all[number]): number =>
		(ask.sort === "name" ? smaller(a.row[0].toLowerCase(), b.row[0].toLowerCase()) : ask.sort === "start" ? a.place - b.place : Number(a.row[AT[ask.sort] ?? 3]) - Number(b.row[AT[ask.sort] ?? 3]));
	all.sort((a, b) => (ask.down ? -by(a, b) : by(a, b)) || a.place - b.place);
	return { q: ask.q, ...sums(spans), skip: ask.skip, groups: all.length, list: all.slice(ask.skip, ask.skip + ask.n).map((g) => g.row) };
}

export async function tableOf(query: InlineQuery, spans: InlineSpan[], ask: TableRequest): Promise<EventTable | EventGroups> {
	const found = await query.find(spans, ask.q);
	if (ask.group)
		return groups(query, found, ask);
	const sorted = await order(query, found, ask.sort, ask.down);
	const names: string[] = [];
	const list: EventRow[] = [];
	for (const span of sorted.slice(ask.skip, ask.skip + ask.n))
		list.push(await rowOf(query, span, names));
	const at = ask.at === null ? -1 : sorted.findIndex((s) => s.id === ask.at);
	return { q: ask.q, ...sums(found), skip: ask.skip, ...ask.at === null ? {} : { at: at < 0 ? null : at }, list, names };
}
