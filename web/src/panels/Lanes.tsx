/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes.tsx - the column of titles beside the canvas: fold, pin. It follows the canvas's layout and scrolling. */
import { useEffect, useState } from "preact/hooks";
import { deepen, fold, moveGroup, pin } from "../state/actions";
import { state, useStore } from "../state/store";
import { RULER, type Timeline } from "../timeline/timeline";
import { laneKey, levelsAtFirst, type Row } from "../timeline/layout";
import { amount } from "../timeline/units";
import { plain } from "../timeline/text";

/** What of a counter is on the screen: its largest value at the top, its least at the bottom. */
function Range({ row }: { row: Row }) {
	const unit = row.lane?.unit ?? "";
	if (!row.range || row.lane?.flags)
		return null;
	const [least, most] = [amount(row.range.least, unit), amount(row.range.most, unit)];
	return <small class="range" title={`on the screen: ${least} to ${most}`}><span>{most}</span>{least !== most && <span>{least}</span>}</small>;
}

/** A lane that nests deeper than it shows at first. */
function Deep({ row }: { row: Row }) {
	const all = row.levels === row.depths;
	return <button class="deep" aria-expanded={all} title={all ? `show the first ${levelsAtFirst(row.lane!)} levels` : `${row.depths - row.levels} levels stand in the last one: show all`}
		onClick={() => deepen(laneKey(row.trace, row.lane!.lane))}>{row.depths} deep {all ? "▴" : "▾"}</button>;
}

function Title({ row, top }: { row: Row; top: number }) {
	const style = { top: `${top}px`, height: `${row.h}px`, paddingLeft: `${6 + row.depth * 12}px` };
	const pinned = state.pinned.has(row.key);
	const [over, setOver] = useState(false);
	return <div class={`title ${row.kind} ${row.folds ? "folds" : ""} ${over ? "over" : ""} ${row.lane?.type === "counter" ? "wraps" : ""}`} style={style} data-key={row.key} title={plain(row.kind === "counter" ? row.lane?.title ?? "" : row.title)}
		onClick={row.folds ? () => fold(row.key) : undefined} draggable={row.folds}
		onDragStart={(e) => e.dataTransfer?.setData("text/plain", row.key)} onDragLeave={() => setOver(false)}
		onDragOver={(e) => {
			e.preventDefault();
			setOver(row.folds);
		}} onDrop={(e) => {
			e.preventDefault();
			setOver(false);
			moveGroup(e.dataTransfer?.getData("text/plain") ?? "", row.key);
		}}>
		{row.folds && <button class="fold" aria-expanded={!row.folded} aria-label={`${row.folded ? "unfold" : "fold"} ${row.title}`}>
			{row.folded ? "▸" : "▾"}</button>}
		<span class="text">{plain(row.title)}</span>
		<Range row={row} />
		{row.lane && row.depths > levelsAtFirst(row.lane) && row.kind === "lane" && <Deep row={row} />}
		{row.note && <small class="scale" title="the top of the chart">{row.note}</small>}
		{row.folds && <button class={`pin ${pinned ? "on" : ""}`} aria-pressed={pinned} aria-label={`pin ${row.title}`} title="pin to the top"
			onClick={(e) => {
				e.stopPropagation();
				pin(row.key);
			}}>⊤</button>}
	</div>;
}

export function Lanes({ timeline }: { timeline: Timeline }) {
	const [, again] = useState({ rows: timeline.layout.rows, scroll: 0 });
	useStore((s) => s.pinned);
	useEffect(() => {
		let last = "";
		return timeline.onFrame(() => {
			const now = `${timeline.scroll} ${timeline.layout.rows.map((r) => `${r.key}:${r.h}:${r.folded}:${r.pinned}:${r.range?.least}:${r.range?.most}`).join()}`;
			if (now !== last) {
				last = now;
				again({ rows: timeline.layout.rows, scroll: timeline.scroll });
			}
		});
	}, [timeline]);
	const { rows, pinnedHeight } = timeline.layout;
	return <div class="lanes" onWheel={(e) => timeline.setScroll(timeline.scroll + e.deltaY)}>
		<div class="part" style={{ top: `${RULER}px`, height: `${pinnedHeight}px` }}>
			{rows.filter((r) => r.pinned).map((r) => <Title key={r.key} row={r} top={r.y} />)}
		</div>
		<div class="part" style={{ top: `${RULER + pinnedHeight}px`, bottom: 0 }}>
			{rows.filter((r) => !r.pinned).map((r) => <Title key={r.key} row={r} top={r.y - timeline.scroll} />)}
		</div>
	</div>;
}
