/* SPDX-License-Identifier: Apache-2.0 */
/* focus.ts - the keyboard on the timeline: the row that it is at, and the moves from span to span and from row to row.
 *
 * On a lane the selected span is what the keyboard is at; on a row without spans (a counter, idle time, headway) it is the cursor's time. */
import type { Span } from "../data/protocol";
import { tr } from "../lang";
import { laneKey, type Row } from "../timeline/layout";
import { fold, moveStep, pan, scrollLanes, select, show, showAll, standingAt } from "./actions";
import { source, timeline } from "./page";
import { set, state } from "./store";
import { inTurn } from "./turns";

const PAN_KEY = 0.2;
const SCROLL_KEY = 60;
/** The cursor moves by this share of the window. */
const CURSOR_KEY = 0.01;

const SEEK_WIDER = 8;

type Dir = 1 | -1;

/** Where the eye is, in the time of the window: moves along a lane change it, moves from lane to lane keep it. */
let attention: number | null = null;

/** Rows that were gone to and whose span is not known yet: nothing can be said of them. */
let looking = 0;
export const isLooking = (): boolean => looking > 0;

/** The row on which a span was looked for last: one without a span is empty there. */
let looked = "";
export const wasLookedAt = (row: Row): boolean => row.key === looked;

export const onTimeline = (): boolean => document.activeElement?.matches("canvas.timeline") ?? false;

/** In the order of the screen. */
const rowsShown = (): Row[] => [...timeline.layout.rows].sort((a, b) => Number(b.pinned) - Number(a.pinned));

const isOfSpans = (row: Row): boolean => row.kind === "lane" && row.lane !== null;

/** The row that the keyboard is at: the one that was moved to, else that of the selected span. */
export function focusedRow(): Row | null {
	const { rows, byLane } = timeline.layout;
	const moved = rows.find((r) => r.key === state.focus);
	const { selected } = state;
	return moved ?? (selected ? byLane.get(laneKey(selected.trace, selected.span.lane)) ?? null : null);
}

const selectedOn = (row: Row): Span | null =>
	(state.selected && row.lane && state.selected.trace === row.trace && state.selected.span.lane === row.lane.lane ? state.selected.span : null);

const shiftOf = (row: Row): number => state.traces[row.trace]?.shift ?? 0;

function timeOf(row: Row): number {
	const at = attention ?? state.cursor;
	const inside = at !== null && at >= state.from && at <= state.to;
	return Math.round((inside ? at : (state.from + state.to) / 2) + shiftOf(row));
}

/** Selects a span that the keyboard has come to: the window keeps its width, the panel stays. */
async function arrive(row: Row, span: Span, moved: boolean): Promise<void> {
	const start = span.start - shiftOf(row);
	if (moved)
		attention = start;
	const width = state.to - state.from;
	if (start < state.from || start > state.to)
		show(start - width / 2, start + width / 2);
	await select(row.trace, span.id, false, true);
	timeline.revealRow(row, span.row ?? 0);
}

/** Goes to a row: on a lane to the span that stands at the time one is at, else to the longest on the screen. */
async function goToRow(row: Row): Promise<void> {
	if (!isOfSpans(row)) {
		set({ focus: row.key, cursor: timeOf(row) - shiftOf(row) });
		return timeline.revealRow(row);
	}
	looking++;
	set({ focus: row.key });
	timeline.revealRow(row);
	try {
		await findOn(row);
	} finally {
		looking--;
		set({});
	}
}

/** Selects what stands on a lane at the time one is at, else the longest on the screen. */
async function findOn(row: Row): Promise<void> {
	const time = Math.max(0, timeOf(row));
	const { lane } = row.lane!;
	const window = [Math.max(0, Math.floor(state.from + shiftOf(row))), Math.max(1, Math.ceil(state.to + shiftOf(row)))] as const;
	looked = row.key;
	const found = (await standingAt(row.trace, lane, time, time + 1))?.longest ?? (await standingAt(row.trace, lane, ...window))?.longest;
	if (found && state.focus === row.key)
		await arrive(row, found, false);
}

/** The span one level deeper or higher at the same time, of a lane that nests. */
async function otherLevel(row: Row, at: Span, dir: Dir): Promise<Span | null> {
	const level = at.row ?? 0;
	if (row.depths < 2 || level + dir < 0)
		return null;
	const time = Math.min(Math.max(timeOf(row), at.start), at.start + Math.max(0, at.dur - 1));
	const on = async (from: number, to: number): Promise<Span[]> => (await standingAt(row.trace, row.lane!.lane, from, to))?.spans.filter((s) => s.row === level + dir) ?? [];
	const [here] = await on(time, time + 1);
	// Nothing stands deeper at that moment: the first that does inside the span.
	return here ?? (dir > 0 && at.dur > 0 ? (await on(at.start, at.start + at.dur)).sort((a, b) => a.start - b.start)[0] ?? null : null);
}

/** Up and down: to another level of the lane, then to the next row. Without the keyboard on the timeline the lanes scroll. */
export async function focusUp(dir: Dir): Promise<void> {
	if (!onTimeline())
		return scrollLanes(dir * SCROLL_KEY);
	return inTurn(() => moveUp(dir));
}

async function moveUp(dir: Dir): Promise<void> {
	const rows = rowsShown();
	const row = focusedRow();
	if (!row)
		return goToRow(firstRow());
	const at = selectedOn(row);
	const level = at && await otherLevel(row, at, dir);
	if (level)
		return arrive(row, level, false);
	const next = rows[rows.findIndex((r) => r.key === row.key) + dir];
	return next && goToRow(next);
}

/** The first lane of spans on the screen. */
const firstRow = (): Row => rowsShown().find((r) => isOfSpans(r) && (r.pinned || r.y + r.h > timeline.scroll)) ?? rowsShown()[0]!;

/** The neighbour on the same level: of a lane that nests, as it is drawn. */
function drawnNeighbour(row: Row, at: Span, dir: Dir): number | null {
	const scene = timeline.scene();
	if (!scene || !row.lane || row.depths < 2)
		return null;
	const { from, to } = scene.window(row.trace);
	let best: { id: number; start: number } | null = null;
	for (const { tile } of timeline.tiles.cover(row.trace, row.lane.lane, from, to, scene.level(), row.lane.detail)) {
		if (tile.form !== "spans")
			continue;
		const { spans } = tile;
		for (let i = 0; i < spans.n; i++) {
			const start = spans.start[i]!;
			if (spans.row[i] === at.row && (start - at.start) * dir > 0 && (!best || (best.start - start) * dir > 0))
				best = { id: spans.id[i]!, start };
		}
	}
	return best && best.id;
}

async function neighbour(row: Row, at: Span, dir: Dir): Promise<Span | null> {
	const drawn = drawnNeighbour(row, at, dir);
	if (drawn !== null)
		return source.get<Span>(`span?t=${row.trace}&id=${drawn}`).catch(() => null);
	return (await source.get<{ span: Span | null }>(`next?t=${row.trace}&id=${at.id}&dir=${dir}&any=1`).catch(() => null))?.span ?? null;
}

/** A span on one side of the time one is at, on a lane that has none there: near ones are looked for first. */
async function seek(row: Row, dir: Dir): Promise<Span | null> {
	const time = timeOf(row);
	const { lane, start, end } = row.lane!;
	for (let width = state.to - state.from; ; width *= SEEK_WIDER) {
		const [from, to] = dir > 0 ? [time, time + width] : [time - width, time];
		const found = (await standingAt(row.trace, lane, Math.max(0, Math.floor(from)), Math.max(1, Math.ceil(to))))?.spans ?? [];
		const near = found.sort((a, b) => (a.start - b.start) * dir)[0];
		if (near || (dir > 0 ? to > end : from < start))
			return near ?? null;
	}
}

/** Left and right: along the row. Without the keyboard on the timeline, or without anything to go along, the window moves. */
export const focusAlong = async (dir: Dir): Promise<void> => (onTimeline() ? inTurn(() => moveAlong(dir)) : pan(dir * PAN_KEY));

async function moveAlong(dir: Dir): Promise<void> {
	const row = focusedRow();
	if (!row)
		return pan(dir * PAN_KEY);
	if (row.kind === "steps")
		return moveStep(dir);
	if (row.folds && row.kind !== "device" && row.kind !== "rank")
		return (dir < 0) === row.folded ? undefined : fold(row.key);
	if (!isOfSpans(row))
		return moveCursor(dir);
	const at = selectedOn(row);
	const next = at && await neighbour(row, at, dir);
	if (next)
		return arrive(row, next, true);
	const sought = at ? null : await seek(row, dir);
	if (sought)
		return arrive(row, sought, true);
	set({ message: tr(dir > 0 ? "Nothing later on this lane." : "Nothing earlier on this lane.") });
}

function moveCursor(dir: Dir): void {
	const width = state.to - state.from;
	const time = (state.cursor ?? (state.from + state.to) / 2) + dir * width * CURSOR_KEY;
	if (time < state.from || time > state.to)
		pan(dir * PAN_KEY);
	attention = time;
	set({ cursor: time });
}

/** The first or the last span of the lane; elsewhere all of the recording. */
export const focusEnd = async (dir: Dir): Promise<void> => (onTimeline() ? inTurn(() => moveToEnd(dir)) : showAll());

async function moveToEnd(dir: Dir): Promise<void> {
	const row = focusedRow();
	if (!row?.lane || !isOfSpans(row))
		return showAll();
	const { lane, start, end } = row.lane;
	const found = await (dir < 0 ? standingAt(row.trace, lane, start, start + 1) : standingAt(row.trace, lane, Math.max(start, end - 1), end + 1));
	if (found?.longest)
		await arrive(row, found.longest, true);
}

/** Enter: what is known of the span that the keyboard has come to; of a group, what is inside. */
export const focusOpen = (): Promise<void> => inTurn(openFocused);

async function openFocused(): Promise<void> {
	const row = focusedRow();
	if (row && isOfSpans(row) && !selectedOn(row))
		await goToRow(row);
	if (row && selectedOn(row))
		set({ panel: "details" });
	else if (row?.folds)
		fold(row.key);
}

/** The keyboard has come to the timeline: it is at the selected span, else at the first lane. Who only passes by selects nothing. */
export function focusCame(): void {
	set(!focusedRow() && timeline.layout.rows.length ? { focus: firstRow().key } : {});
}

/** Brings the keyboard to the timeline, and to a span. */
export function focusTimeline(): void {
	document.querySelector<HTMLElement>("canvas.timeline")?.focus();
	const row = focusedRow();
	if (row && isOfSpans(row) && !selectedOn(row))
		void inTurn(() => goToRow(row));
}
