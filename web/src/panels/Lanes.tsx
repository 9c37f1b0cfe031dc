/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes.tsx - the column of titles beside the canvas: fold, pin, choose. It follows the canvas's layout and scrolling. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { tr } from "../lang";
import { deepen, fold, moveGroup, pin } from "../state/actions";
import { focusedRow } from "../state/focus";
import { choose, chooseOnly, lanesOfRow } from "../state/selection";
import { state, useStore } from "../state/store";
import { tableOfLane } from "../state/table";
import { RULER, type Timeline } from "../timeline/timeline";
import { laneKey, levelsAtFirst, type Row } from "../timeline/layout";
import { LaneName, likenessOf } from "./LaneName";
import { amount } from "../timeline/units";
import { plain } from "../timeline/text";
import { scaleOf } from "../timeline/counter";

/** Pixels of a line of a counter's range, and of the row above and below the chart. */
const RANGE_LINE = 12, CHART_TOP = 3, CHART_BOTTOM = 2;

/** What of a counter is on the screen: its largest and its least value, each at its height in the chart, where both have room. */
function Range({ row }: { row: Row }) {
	if (!row.range || !row.lane || row.lane.flags)
		return null;
	const { lane, range, h } = row;
	const scale = scaleOf(lane);
	const topOf = (value: number): number => {
		const share = Math.min(1, Math.max(0, (value - scale.least) / (scale.most - scale.least)));
		return Math.round(Math.min(h - RANGE_LINE - 1, Math.max(0, h - CHART_BOTTOM - share * (h - CHART_TOP - CHART_BOTTOM) - RANGE_LINE / 2)));
	};
	const [least, most] = [amount(range.least, lane.unit ?? ""), amount(range.most, lane.unit ?? "")];
	const [high, low] = [topOf(range.most), topOf(range.least)];
	const line = (top: number): string => `display:block;position:relative;height:${RANGE_LINE}px;top:${top}px;text-align:right`;
	return <small class="range" style={{ display: "block", padding: "0 5px 0 0" }} title={tr("on the screen: {least} to {most}", { least, most })}>
		<span style={line(high)}>{most}</span>{least !== most && low - high >= RANGE_LINE && <span style={line(low - RANGE_LINE)}>{least}</span>}</small>;
}

/** A lane that nests deeper than it shows at first. */
function Deep({ row, tab }: { row: Row; tab: number }) {
	const all = row.levels === row.depths;
	return <button class="deep" tabIndex={tab} aria-expanded={all} title={all ? tr("show the first {n} levels", { n: levelsAtFirst(row.lane!) }) : tr("{n} levels stand in the last one: show all", { n: row.depths - row.levels })}
		onClick={() => deepen(laneKey(row.trace, row.lane!.lane))}>{tr("{n} deep", { n: row.depths })} {all ? "▴" : "▾"}</button>;
}

/** Pixels of a row that its name does not have. The buttons at its end take room only where the pointer or the keyboard is. */
const ROOM_OF_FOLD = 26;
const MANY_ROWS = 400;

/** How a row is chosen: by a click with Ctrl besides the others, with Shift up to it, or by its button. */
type Choose = (row: Row, upTo: boolean) => void;

function ChooseButton({ row, tab, onChoose }: { row: Row; tab: number; onChoose: Choose }) {
	const lanes = lanesOfRow(row);
	const on = lanes.length > 0 && lanes.every((key) => state.chosen.has(key));
	return <button class={`choose ${on ? "on" : ""}`} tabIndex={tab} aria-pressed={on} aria-label={tr("choose {name}", { name: row.title })} title={tr("choose for the selection (Ctrl + click; with Shift up to here)")}
		onClick={(e) => {
			e.stopPropagation();
			onChoose(row, e.shiftKey);
		}} />;
}

/** `room`: how wide the column is; `same`: how many letters the name shares with another one. Tab stops at the buttons of one row only,
 * `here`: there are hundreds of rows, and the arrows lead from one to the next. */
function Title({ row, top, onChoose, same, room, here }: { row: Row; top: number; onChoose: Choose; same: number; room: number; here: boolean }) {
	const tab = here ? 0 : -1;
	const style = { top: `${top}px`, height: `${row.h}px`, paddingLeft: `${6 + row.depth * 12}px` };
	const pinned = state.pinned.has(row.key);
	const lanes = lanesOfRow(row);
	const chosen = lanes.some((key) => state.chosen.has(key));
	const click = (e: MouseEvent): void => {
		if (lanes.length && (e.ctrlKey || e.metaKey || e.shiftKey))
			onChoose(row, e.shiftKey);
		else if (row.folds)
			fold(row.key);
	};
	const [over, setOver] = useState(false);
	return <div class={`title ${row.kind} ${row.kind === "run" ? row.trace ? "of-b" : "of-a" : ""} ${row.folds ? "folds" : ""} ${over ? "over" : ""} ${row.lane?.type === "counter" ? "wraps" : ""} ${chosen ? "chosen" : ""}`} style={style} data-key={row.key} title={plain(row.kind === "counter" ? row.lane?.title ?? "" : row.title)}
		onClick={click} draggable={row.folds}
		onDragStart={(e) => e.dataTransfer?.setData("text/plain", row.key)} onDragLeave={() => setOver(false)}
		onDragOver={(e) => {
			e.preventDefault();
			setOver(row.folds);
		}} onDrop={(e) => {
			e.preventDefault();
			setOver(false);
			moveGroup(e.dataTransfer?.getData("text/plain") ?? "", row.key);
		}}>
		{row.folds && <button class="fold" tabIndex={tab} aria-expanded={!row.folded} aria-label={tr(row.folded ? "unfold {name}" : "fold {name}", { name: row.title })}>
			{row.folded ? "▸" : "▾"}</button>}
		<LaneName name={row.title} same={same} room={room - ROOM_OF_FOLD - row.depth * 12} />
		<Range row={row} />
		{row.lane && row.depths > levelsAtFirst(row.lane) && row.kind === "lane" && <Deep row={row} tab={tab} />}
		{row.note && <small class="scale" title={tr("the top of the chart")}>{row.note}</small>}
		{row.lane && row.kind === "lane" && <button class="pin" tabIndex={tab} aria-label={tr("table of {name}", { name: row.title })} title={tr("a table of its spans")} onClick={(e) => {
			e.stopPropagation();
			tableOfLane(row.trace, row.lane!);
		}}>▤</button>}
		{lanes.length > 0 && <ChooseButton row={row} tab={tab} onChoose={onChoose} />}
		{row.folds && <button class={`pin ${pinned ? "on" : ""}`} tabIndex={tab} aria-pressed={pinned} aria-label={tr("pin {name}", { name: row.title })} title={tr("pin to the top")}
			onClick={(e) => {
				e.stopPropagation();
				pin(row.key);
			}}>⊤</button>}
	</div>;
}

/** A button that the keyboard comes to is on the screen, with its lane. */
function reveal(timeline: Timeline, button: EventTarget | null): void {
	const key = button instanceof Element && button.matches(":focus-visible") && button.closest<HTMLElement>(".title")?.dataset["key"];
	const row = timeline.layout.rows.find((r) => r.key === key);
	if (row)
		timeline.revealRow(row);
}

export function Lanes({ timeline }: { timeline: Timeline }) {
	const [, again] = useState({ rows: timeline.layout.rows, scroll: 0 });
	useStore((s) => s.pinned);
	useStore((s) => s.chosen);
	useStore((s) => s.focus);
	useStore((s) => s.selected);
	const filter = useStore((s) => s.filter);
	const column = useRef<HTMLDivElement>(null);
	const anchor = useRef("");
	const onChoose: Choose = (row, upTo) => {
		const { rows } = timeline.layout;
		const from = rows.findIndex((r) => r.key === anchor.current);
		const at = rows.findIndex((r) => r.key === row.key);
		if (upTo && from >= 0)
			return void chooseOnly(rows.slice(Math.min(from, at), Math.max(from, at) + 1).filter((r) => !r.folds || r.folded || r.key === row.key).flatMap(lanesOfRow));
		anchor.current = row.key;
		void choose(lanesOfRow(row));
	};
	useEffect(() => {
		let last = "";
		return timeline.onFrame(() => {
			const now = `${column.current?.clientWidth} ${timeline.scroll} ${timeline.layout.rows.map((r) => `${r.key}:${r.h}:${r.folded}:${r.pinned}:${r.range?.least}:${r.range?.most}`).join()}`;
			if (now !== last) {
				last = now;
				again({ rows: timeline.layout.rows, scroll: timeline.scroll });
			}
		});
	}, [timeline]);
	const { rows, pinnedHeight } = timeline.layout;
	const width = column.current?.clientWidth ?? 0;
	const likeness = useMemo(() => likenessOf(rows.map((r) => r.title)), [rows]);
	const here = focusedRow() ?? rows.find((r) => r.folds || lanesOfRow(r).length > 0);
	const titleAt = (r: Row, top: number) => <Title key={r.key} row={r} top={top} onChoose={onChoose} same={likeness.get(r.title) ?? 0} room={width} here={r.key === here?.key} />;
	const height = column.current?.clientHeight ?? 0;
	/** Of thousands of rows only those on the screen and around it have a title. */
	const isNear = (r: Row): boolean => rows.length <= MANY_ROWS || (r.y + r.h > timeline.scroll - height && r.y < timeline.scroll + 2 * height);
	return <div class="lanes" ref={column} onFocusCapture={(e) => reveal(timeline, e.target)} onWheel={(e) => timeline.setScroll(timeline.scroll + e.deltaY)}>
		<div class="part" style={{ top: `${RULER}px`, height: `${pinnedHeight}px` }}>
			{rows.filter((r) => r.pinned).map((r) => titleAt(r, r.y))}
		</div>
		<div class="part" style={{ top: `${RULER + pinnedHeight}px`, bottom: 0 }}>
			{filter.trim() && rows.every((r) => !r.lane && !r.folds) && <p class="empty">{tr("No lane is called like this.")}</p>}
			{rows.filter((r) => !r.pinned && isNear(r)).map((r) => titleAt(r, r.y - timeline.scroll))}
		</div>
	</div>;
}
