/* inline_index.ts - what a server would look up, found in the spans that the self-contained page has.
 *
 * Spans that were left out of the page are not counted; the page says what was left out. Made on the first question. */
import { Look, type At, type Interval, type Lanes, type Search, type Span, type SpanDetails, type TableRow } from "./protocol";
import type { Tile } from "./tile";

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

export class InlineIndex {
	private byId = new Map<number, Known>();
	private ordered: Known[];

	constructor(tiles: Tile[], names: Record<string, string>, private lanes: Lanes) {
		for (const tile of tiles)
			if (tile.form === "spans" || tile.form === "summary")
				this.add(tile.lane, tile.spans, names);
		this.ordered = [...this.byId.values()].sort((a, b) => a.start - b.start || b.dur - a.dur);
	}

	private add(lane: number, spans: Extract<Tile, { form: "spans" }>["spans"], names: Record<string, string>): void {
		for (let i = 0; i < spans.n; i++) {
			const name_id = spans.name[i]!;
			this.byId.set(spans.id[i]!, {
				id: spans.id[i]!, lane, name: names[name_id] ?? "", name_id, start: spans.start[i]!, dur: spans.dur[i]!, look: spans.look[i]!,
				row: spans.row[i]!,
			});
		}
	}

	private within(from: number, to: number): Known[] {
		return this.ordered.filter((s) => s.start < to && end(s) > from);
	}

	span(id: number): SpanDetails | null {
		const span = this.byId.get(id);
		return span ? { ...span, kind: "", fields: [], stack: [], around: [], launch: null, work: [], work_count: 0 } : null;
	}

	next(id: number, dir: number): { span: Span | null } {
		const span = this.byId.get(id);
		const same = span ? this.ordered.filter((s) => s.lane === span.lane && s.name_id === span.name_id) : [];
		return { span: span ? same[same.indexOf(span) + dir] ?? null : null };
	}

	at(lane: number, from: number, to: number): At {
		const spans = this.within(from, to).filter((s) => s.lane === lane).sort((a, b) => b.dur - a.dur);
		return { count: spans.length, busy: [], longest: spans[0] ?? null, spans: spans.slice(0, 16) };
	}

	search(q: string, from: number, to: number, n: number): Search {
		const wanted = q.toLowerCase();
		const hits = this.ordered.filter((s) => s.name.toLowerCase().includes(wanted));
		const lanes = new Map<number, { lane: number; count: number; first: Span[] }>();
		const marks = new Array<number>(n).fill(0);
		for (const s of hits) {
			const lane = lanes.get(s.lane) ?? { lane: s.lane, count: 0, first: [] };
			if (lane.count++ < MOST_FIRST)
				lane.first.push(s);
			lanes.set(s.lane, lane);
			const part = Math.floor((s.start - from) / (to - from) * n);
			if (part >= 0 && part < n)
				marks[part]!++;
		}
		return { q, names: new Set(hits.map((s) => s.name_id)).size, hits: hits.length, more: false, lanes: [...lanes.values()], marks };
	}

	interval(from: number, to: number): Interval {
		const spans = this.within(from, to);
		const devices = this.lanes.groups.filter((g) => g.kind === "device").map((g) => {
			const mine = spans.filter((s) => g.lanes.includes(s.lane) && classOf(s.look));
			const busy = union(mine, from, to);
			const [compute, comm, memory] = CLASSES.map((c) => union(mine.filter((s) => classOf(s.look) === c), from, to)) as [number, number, number];
			return { device: g.device ?? 0, title: g.title, busy, idle: to - from - busy, compute, comm, memory, causes: null };
		});
		const isCall = (s: Known): boolean => s.look >= Look.api && s.look <= Look.apiCopy;
		return {
			from, to, devices, kernels: table(spans.filter((s) => classOf(s.look)), from, to), calls: table(spans.filter(isCall), from, to),
			ranges: table(spans.filter((s) => s.look === Look.range), from, to),
		};
	}
}
