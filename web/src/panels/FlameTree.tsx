/* SPDX-License-Identifier: Apache-2.0 */
/* FlameTree.tsx - the flame graph as a table that opens row by row, for the keyboard and for exact numbers.
 *
 * One row is in the order of Tab. Up and Down go from row to row, Right opens a row or goes into it, Left closes it or goes out, Enter shows the longest span. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { tr } from "../lang";
import { plain, shorten } from "../timeline/text";
import { count, percent } from "../timeline/units";
import { css } from "../timeline/theme";
import { useDark } from "./dark";
import { colourOfFrame } from "./flame_colours";
import { titleOfNode } from "./flame_draw";
import type { Picked } from "./FlameCanvas";
import type { Trie } from "./flame_trie";
import { piecesOf, shareOf, shown, signed, type Values } from "./flame_values";

interface Props { trie: Trie; hits: Set<number> | null; how: Values; picked: Picked | null; pick: (picked: Picked) => void; go: (picked: Picked) => void }

const MOST_INNER = 200;
const MOST_ROWS = 1500;
/** At first the widest frames are open as long as they hold most of what their caller has. */
const MOST_OF_IT = 0.7;

function openAtFirst(trie: Trie): Set<number> {
	const open = new Set([0]);
	for (let node = 0; ;) {
		const widest = trie.inner[node]![0];
		if (widest === undefined || trie.width(widest) < trie.width(node) * MOST_OF_IT)
			return open;
		open.add(node = widest);
	}
}

interface Row { node: number; level: number; place: number; of: number }

function rowsOf(trie: Trie, open: Set<number>): Row[] {
	const rows: Row[] = [];
	const visit = (node: number, level: number, place: number, of: number): void => {
		if (rows.length >= MOST_ROWS)
			return;
		rows.push({ node, level, place, of });
		const inner = open.has(node) ? trie.inner[node]!.slice(0, MOST_INNER) : [];
		inner.forEach((one, i) => visit(one, level + 1, i + 1, inner.length));
	};
	visit(0, 1, 1, 1);
	return rows;
}

function Numbers({ trie, node, how }: { trie: Trie; node: number; how: Values }) {
	if (how.runs > 1)
		return <>
			<td role="gridcell" class="n">{shown(trie.total[0]![node]!, how)}</td><td role="gridcell" class="n">{shown(trie.total[1]![node]!, how)}</td>
			<td role="gridcell" class={`n ${trie.change(node) > 0 ? "grew" : "shrank"}`}>{signed(trie.change(node), how)}</td>
			<td role="gridcell" class="n">{signed(trie.self[1]![node]! - trie.self[0]![node]!, how)}</td></>;
	const whole = trie.width(0);
	return <>
		<td role="gridcell" class="n">{shown(trie.width(node), how)}</td><td role="gridcell" class="n share"><span class="bar" style={{ width: percent(whole ? trie.width(node) / whole : 0).replace(" ", "") }} /><span>{shareOf(trie.width(node), whole)}</span></td>
		<td role="gridcell" class="n">{shown(trie.own(node), how)}</td><td role="gridcell" class="n">{count(trie.count(node, 0))}</td></>;
}

export function FlameTree({ trie, hits, how, picked, pick, go }: Props) {
	const dark = useDark();
	const [open, setOpen] = useState(() => openAtFirst(trie));
	const body = useRef<HTMLTableSectionElement>(null);
	useLayoutEffect(() => setOpen(openAtFirst(trie)), [trie]);
	const rows = rowsOf(trie, open);
	const stop = rows.some((r) => picked?.trie === trie && r.node === picked.node) ? picked!.node : 0;
	const focus = (i: number): void => (body.current?.children[Math.max(0, Math.min(rows.length - 1, i))] as HTMLElement | undefined)?.focus();
	const flip = (node: number, on: boolean): void => {
		const next = new Set(open);
		on ? next.add(node) : next.delete(node);
		setOpen(next);
	};
	const keys = (e: KeyboardEvent, row: Row, i: number): void => {
		const { node } = row;
		const holds = trie.inner[node]!.length > 0;
		switch (e.key) {
		case "ArrowDown": focus(i + 1); break;
		case "ArrowUp": focus(i - 1); break;
		case "Home": focus(0); break;
		case "End": focus(rows.length - 1); break;
		case "ArrowRight": holds && !open.has(node) ? flip(node, true) : holds && focus(i + 1); break;
		case "ArrowLeft": holds && open.has(node) ? flip(node, false) : focus(rows.findIndex((r) => r.node === trie.outer[node])); break;
		case "Enter": go({ trie, node }); break;
		case " ": pick({ trie, node }); break;
		default: return;
		}
		e.preventDefault();
		e.stopPropagation();
	};
	return <div class="flame-table"><table role="treegrid" aria-label={tr("frames")}>
		<thead><tr role="row"><th role="columnheader" class="text">{tr("frame")}</th>{(how.runs > 1 ? ["A", "B", tr("change"), tr("itself")] : [tr("total"), tr("share"), tr("itself"), piecesOf(how.weight)]).map((t) => <th role="columnheader" key={t}>{t}</th>)}</tr></thead>
		<tbody ref={body}>{rows.map((row, i) => {
			const { node } = row;
			const holds = trie.inner[node]!.length > 0;
			const name = titleOfNode(trie, node);
			return <tr key={node} role="row" aria-level={row.level} aria-posinset={row.place} aria-setsize={row.of} aria-expanded={holds ? open.has(node) : undefined} tabIndex={node === stop ? 0 : -1}
				class={`${picked?.trie === trie && picked.node === node ? "chosen" : ""} ${hits && !hits.has(trie.frame[node]!) ? "weak" : ""}`}
				onClick={() => pick({ trie, node })} onDblClick={() => go({ trie, node })} onKeyDown={(e) => keys(e, row, i)} onFocus={(e) => e.currentTarget.matches(":focus-visible") && pick({ trie, node })}>
				<td role="gridcell" class="text" style={{ paddingLeft: `${6 + (row.level - 1) * 12}px` }} title={plain(name, 400)}>
					<span class="twist" aria-hidden="true" onClick={(e) => {
						e.stopPropagation();
						flip(node, !open.has(node));
					}}>{holds ? (open.has(node) ? "▾" : "▸") : ""}</span>
					<i class="chip" style={{ backgroundColor: css(colourOfFrame(trie.at(node), dark)) }} />{shorten(plain(name))}</td>
				<Numbers trie={trie} node={node} how={how} /></tr>;
		})}</tbody></table></div>;
}
