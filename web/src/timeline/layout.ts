/* SPDX-License-Identifier: Apache-2.0 */
/* layout.ts - which rows there are, in which order, how high.
 *
 * A row is a group's head, a lane, or a chart of a device. A rank's row has two parts: how busy its streams are, and its messages. Rows of pinned groups and the steps stand on top and do not scroll.
 * Empty groups, and what the filter does not name, are left out. */
import { sharesDevice, unionOf, type Group, type Lane } from "../data/protocol";
import { tr } from "../lang";
import { runTitle, type State, type Trace } from "../state/store";
import { counterTitle, type Scale } from "./counter";
import { laneTitle } from "./lane_title";
import { duration } from "./units";

export type RowKind = "run" | "steps" | "path" | "group" | "rank" | "device" | "gaps" | "headway" | "lane" | "counter";
export interface Row {
	kind: RowKind; key: string; trace: number; depth: number; title: string; y: number; h: number; pinned: boolean;
	lane: Lane | null; group: Group | null; device: number;
	/** The rank that the row belongs to, or null. */
	rank: number | null;
	/** Of a rank: the lanes of its messages, which share one strip. */
	strips: Lane[];
	folds: boolean; folded: boolean;
	/** Height of one level of a nesting lane, how many levels are drawn, and how many there are. Deeper spans stand in the last level that is drawn. */
	level: number; levels: number; depths: number;
	/** The scale of a chart. */
	note: string;
	/** Of a counter: the least and the largest value on the screen, once it is drawn. */
	range: Scale | null;
}
export interface Layout { rows: Row[]; pinnedHeight: number; height: number; byLane: Map<string, Row> }

const SPAN = 20;
const NEST = 16;
const STREAM = 24;
const COUNTER = 40;
/** A folded group of counters shows one of them. */
const FOLDED_COUNTER = 34;
const MOST_ROWS = 16;
const MOST_STREAM_ROWS = 4;
const THIN = new Set(["state", "samples", "memory", "overhead", "sync"]);

/** Of so many ranks idle time stands below each, also where it is folded. */
const FEW_RANKS = 8;
const RANK_CHART = 30;
const RANK_STRIP = 14;

/** The two parts of a rank's row, as rows of their own: the chart, and the strip of messages under it. */
export function partsOf(row: Row): { chart: Row | null; strip: Row | null } {
	const strip = row.strips.length ? row.level + 4 : 0;
	const chart = row.h - strip;
	return {
		chart: row.lane ? { ...row, h: chart } : null,
		strip: strip ? { ...row, kind: "group", y: row.lane ? row.y + chart : row.y + chart / 2, h: strip } : null,
	};
}

/** The level of a row in which a span of a depth is drawn. */
export const levelOf = (row: Row, nested: number): number => (row.kind === "lane" ? Math.min(nested, row.levels - 1) : 0);

export const isThin = (lane: Lane): boolean => THIN.has(lane.type);

export const laneKey = (trace: number, lane: number): string => `${trace}/${lane}`;

/** How many levels a lane shows unless somebody asks for all of them. */
export const levelsAtFirst = (lane: Lane): number => (lane.type === "stream" ? MOST_STREAM_ROWS : MOST_ROWS);

function laneHeight(lane: Lane, rows: number, all: boolean): { h: number; level: number; levels: number } {
	if (lane.type === "counter")
		return { h: COUNTER, level: COUNTER, levels: 1 };
	if (THIN.has(lane.type))
		return { h: 16, level: 12, levels: 1 };
	const level = rows > 1 ? NEST : lane.type === "stream" ? STREAM : SPAN;
	const levels = Math.min(all ? Infinity : levelsAtFirst(lane), Math.max(1, rows));
	return { h: levels * level + 4, level, levels };
}

/** A counter that never counted anything. */
const isFlat = (lane: Lane): boolean => lane.type === "counter" && lane.min === 0 && lane.max === 0;

class Builder {
	rows: Row[] = [];
	byLane = new Map<string, Row>();
	private lanes = new Map<number, Lane>();
	private filter: string;
	private rank: number | null = null;

	constructor(private s: State, private t: number, private trace: Trace, private depthOf: (trace: number, lane: number) => number) {
		for (const lane of trace.lanes.lanes)
			if (!isFlat(lane))
				this.lanes.set(lane.lane, lane);
		this.filter = s.filter.trim().toLowerCase();
	}

	private row(kind: RowKind, key: string, title: string, h: number, depth: number, extra: Partial<Row> = {}): Row {
		const row: Row = {
			kind, key: `${this.t}/${key}`, trace: this.t, depth, title, y: 0, h, pinned: false, lane: null, group: null, device: -1, rank: this.rank, strips: [],
			folds: false, folded: false, level: h, levels: 1, depths: 1, note: "", range: null, ...extra,
		};
		this.rows.push(row);
		return row;
	}

	/** Groups that were moved stand where they were put, the others keep their order. */
	private ordered(groups: Group[]): Group[] {
		const { order } = this.s;
		const moved = groups.filter((g) => order.includes(`${this.t}/${g.id}`));
		if (!moved.length)
			return groups;
		const rank = (g: Group): number => {
			const at = order.indexOf(`${this.t}/${g.id}`);
			return at < 0 ? groups.indexOf(g) : at;
		};
		return [...groups].sort((a, b) => rank(a) - rank(b));
	}

	private matches(title: string): boolean {
		return !this.filter || [title, laneTitle(title)].some((one) => one.toLowerCase().includes(this.filter));
	}

	/** Whether anything of a group is to be shown. */
	private shows(group: Group, named: boolean): boolean {
		const hit = named || this.matches(group.title);
		return group.lanes.some((n) => this.lanes.has(n) && (hit || this.matches(this.lanes.get(n)!.title))) ||
			group.groups.some((g) => this.shows(g, hit));
	}

	private addLane(lane: Lane, depth: number, pinned: boolean): void {
		const rows = this.depthOf(this.t, lane.lane);
		const { h, level, levels } = laneHeight(lane, rows, this.s.deep.has(laneKey(this.t, lane.lane)));
		const counter = lane.type === "counter";
		const row = this.row(counter ? "counter" : "lane", `lane${lane.lane}`, counter ? counterTitle(lane) : laneTitle(lane.title), h, depth,
			{ lane, level, levels, pinned, depths: counter || THIN.has(lane.type) ? 1 : rows });
		this.byLane.set(laneKey(this.t, lane.lane), row);
	}

	/** A folded group stands for its lanes: arrows end there. */
	private standIn(group: Group, row: Row): void {
		for (const n of group.lanes)
			this.byLane.set(laneKey(this.t, n), row);
		for (const inner of group.groups)
			this.standIn(inner, row);
	}

	/** The lane that stands for a folded group; of counters, the first share of a whole, which says most at a glance. */
	private stripOf(group: Group): Lane | null {
		const lanes = group.lanes.flatMap((n) => this.lanes.get(n) ?? []).filter((l) => !THIN.has(l.type));
		const busy = lanes.every((l) => l.type === "counter") && lanes.find((l) => l.main);
		return busy || (lanes.find((l) => l.type !== "counter" || l.unit === "%") ?? lanes[0] ?? null);
	}

	private addDevice(group: Group, depth: number, pinned: boolean, folded: boolean): void {
		const device = group.device ?? 0;
		const hardware = group.lanes.map((n) => this.lanes.get(n)).find((l) => l?.type === "hardware") ?? null;
		const row = this.row("device", group.id, group.title, 42, depth, { group, lane: hardware, device, folds: true, folded, pinned });
		// What several ranks of a job use stands beside them, and each rank has its own idle time.
		const together = this.rank === null && this.trace.lanes.groups.some((g) => g.kind === "rank");
		if (!together || !this.trace.steps?.by_rank)
			this.addCharts(group, device, depth, pinned, together);
		if (folded)
			this.standIn(group, row);
	}

	/** Idle time by cause, and headway: of a device, or of a rank whose device others use, too. */
	private addCharts(group: Group, device: number, depth: number, pinned: boolean, together = false): void {
		if (this.s.gaps && this.trace.steps)
			this.row("gaps", `${group.id}/gaps`, together ? tr("idle, all ranks together") : tr("idle, by cause"), 17, depth + 1, { device, pinned });
		const ahead = this.trace.headway?.devices.filter((d) => d.device === device) ?? [];
		if (ahead.length)
			this.row("headway", `${group.id}/headway`, together ? tr("headway, all ranks together") : tr("headway"), 38, depth + 1,
				{ device, pinned, note: duration(Math.max(...ahead.map((d) => d.max_work))) });
	}

	private addRank(group: Group, depth: number, pinned: boolean, folded: boolean): void {
		const lane = group.lanes.map((n) => this.lanes.get(n)).find((l) => l?.type === "hardware") ?? null;
		const strips = (group.messages ?? []).flatMap((n) => this.lanes.get(n) ?? []);
		const h = Math.max(24, (lane ? RANK_CHART : 0) + (strips.length ? RANK_STRIP + 4 : 0));
		const row = this.row("rank", group.id, group.title, h, depth, { group, lane, strips, folds: true, folded, pinned, level: RANK_STRIP });
		const few = this.trace.lanes.groups.filter((g) => g.kind === "rank").length <= FEW_RANKS;
		if (lane && this.trace.steps?.by_rank && sharesDevice(group) && (few || !folded))
			this.addCharts(group, unionOf(lane), depth, pinned);
		if (folded)
			this.standIn(group, row);
	}

	addGroup(group: Group, depth: number, named: boolean, pinned: boolean): void {
		if (!this.shows(group, named))
			return;
		const key = `${this.t}/${group.id}`;
		const hit = named || this.matches(group.title);
		const folded = this.s.folded.has(key) && !this.filter;
		const stays = pinned || this.s.pinned.has(key);
		if (group.kind === "rank")
			this.rank = group.rank ?? null;
		if (group.kind === "device") {
			this.addDevice(group, depth, stays, folded);
		} else if (group.kind === "rank") {
			this.addRank(group, depth, stays, folded);
		} else {
			const strip = folded ? this.stripOf(group) : null;
			const counter = strip?.type === "counter";
			const row = this.row("group", group.id, counter ? tr("{title}: {name}", { title: group.title, name: counterTitle(strip) }) : group.title, counter ? FOLDED_COUNTER : 22, depth,
				{ group, folds: true, folded, pinned: stays, lane: strip, level: 15 });
			if (folded)
				this.standIn(group, row);
		}
		if (!folded)
			this.addInside(group, depth, hit, stays);
		if (group.kind === "rank")
			this.rank = null;
	}

	private addInside(group: Group, depth: number, hit: boolean, stays: boolean): void {
		for (const n of group.lanes) {
			const lane = this.lanes.get(n);
			if (lane && lane.type !== "hardware" && (hit || this.matches(lane.title)))
				this.addLane(lane, depth + 1, stays);
		}
		for (const inner of this.ordered(group.groups))
			this.addGroup(inner, depth + 1, hit, stays);
	}

	build(two: boolean): void {
		if (two) {
			const name = runTitle(this.trace, this.s.traces);
			const { file } = this.trace.info;
			this.row("run", "run", `${this.t ? "B" : "A"}  ${name}${file.endsWith(name) ? "" : ` (${file})`}`, 22, 0);
		}
		if (this.trace.steps?.phases.length)
			this.row("steps", "steps", tr("steps"), 20, 0, { pinned: !two });
		if (this.s.path && this.trace.steps)
			this.row("path", "path", tr("critical path"), 18, 0, { pinned: !two });
		for (const group of this.ordered(this.trace.lanes.groups))
			this.addGroup(group, 0, false, false);
	}
}

const GROWS = new Set<RowKind>(["device", "rank", "headway", "lane", "counter", "gaps"]);
const MOST_GROWTH = 1.6;

/** Where there is room to spare, rows are higher. */
function grow(rows: Row[], room: number): void {
	const sum = (list: Row[]): number => list.reduce((h, row) => h + row.h, 0);
	const growing = rows.filter((r) => GROWS.has(r.kind));
	const spare = room - sum(rows);
	if (spare <= 0 || !growing.length)
		return;
	const by = Math.min(MOST_GROWTH, 1 + spare / sum(growing));
	for (const row of growing) {
		row.level = Math.floor(row.level * by);
		row.h = row.kind === "lane" ? row.level * row.levels + 4 : Math.floor(row.h * by);
	}
}

function stack(rows: Row[]): number {
	let y = 0;
	for (const row of rows) {
		row.y = y;
		y += row.h;
	}
	return y;
}

export function layOut(s: State, depthOf: (trace: number, lane: number) => number, room: number): Layout {
	const rows: Row[] = [];
	const byLane = new Map<string, Row>();
	s.traces.forEach((trace, t) => {
		const builder = new Builder(s, t, trace, depthOf);
		builder.build(s.traces.length > 1);
		rows.push(...builder.rows);
		for (const [key, row] of builder.byLane)
			byLane.set(key, row);
	});
	grow(rows, room);
	return { rows, byLane, pinnedHeight: stack(rows.filter((r) => r.pinned)), height: stack(rows.filter((r) => !r.pinned)) };
}
