/* SPDX-License-Identifier: Apache-2.0 */
/* RooflineTable.tsx - the points of the roofline as a table that sorts by any column; at first by the time to be gained.
 *
 * The pointer chooses a row when it is released, the keyboard when it comes there. One row is in the order of Tab; the arrow keys go on from it, Enter shows the row's kernel in the timeline. */
import { useState } from "preact/hooks";
import { BOUNDS, type RooflinePoint } from "../data/roofline";
import { keys, tr } from "../lang";
import { plain, shorten } from "../timeline/text";
import { count, duration, percent, withPrefix } from "../timeline/units";

/** Where a point is from. */
keys("counters", "ncu", "shapes");

interface Column { id: string; title: string; hint: string; value: (p: RooflinePoint) => number | string | null; show: (p: RooflinePoint) => string; text?: boolean;
	/** Left out first (2), second (1), or last (0), where there is little room. */
	extra?: 0 | 1 | 2 }

const known = (value: number | null | undefined, show: (v: number) => string): string => (value == null ? "–" : show(value));
const COLUMNS: Column[] = [
	{ id: "name", title: tr("name"), hint: tr("kernel or operator"), value: (p) => p.name.toLowerCase(), show: (p) => shorten(plain(p.name)), text: true },
	{ id: "gain", title: tr("to gain"), hint: tr("how much less it would take at its roof"), value: (p) => (p.of_peak == null ? null : p.gain_ns), show: (p) => (p.of_peak == null ? "–" : duration(p.gain_ns)) },
	{ id: "time", title: tr("time"), hint: tr("of all launches together"), value: (p) => p.ns, show: (p) => duration(p.ns) },
	{ id: "share", title: tr("share"), hint: tr("of the time of all kernels of its device"), value: (p) => p.share, show: (p) => percent(p.share), extra: 0 },
	{ id: "roof", title: tr("of roof"), hint: tr("how near it is to the roof over it"), value: (p) => p.of_peak, show: (p) => known(p.of_peak, percent) },
	{ id: "bound", title: tr("bound by"), hint: tr("what holds it back"), value: (p) => BOUNDS.indexOf(p.bound), show: (p) => (p.bound === "unknown" ? tr("cannot tell") : tr(p.bound)), text: true },
	{ id: "flop", title: "FLOP/s", hint: tr("operations a second"), value: (p) => p.flop_per_s, show: (p) => known(p.flop_per_s, (v) => withPrefix(v, "")) },
	{ id: "bytes", title: "B/s", hint: tr("bytes of memory traffic a second"), value: (p) => p.bytes_per_s, show: (p) => known(p.bytes_per_s, (v) => withPrefix(v, "")), extra: 0 },
	{ id: "intensity", title: "FLOP/B", hint: tr("operations a byte"), value: (p) => p.intensity, show: (p) => known(p.intensity, (v) => String(Number(v.toPrecision(3)))), extra: 2 },
	{ id: "precision", title: tr("precision"), hint: tr("of its operations; T: on the tensor cores"), value: (p) => (p.flop ? `${p.precision}${p.tensor ? " T" : ""}` : null),
		show: (p) => (p.flop ? `${p.precision}${p.tensor ? " T" : ""}` : "–"), text: true, extra: 1 },
	{ id: "occupancy", title: tr("occupancy"), hint: tr("warps that its launch lets reside on a multiprocessor, of those that fit"), value: (p) => p.occupancy ?? null, show: (p) => known(p.occupancy, percent), extra: 2 },
	{ id: "count", title: tr("launches"), hint: tr("launches, or calls of the operator"), value: (p) => p.count, show: (p) => count(p.count), extra: 1 },
	{ id: "source", title: tr("from"), hint: tr("counters of the hardware, ncu, or shapes of the operator's inputs"), value: (p) => p.source, show: (p) => (p.flop == null && p.bytes == null ? "–" : tr(p.source)), text: true, extra: 2 },
];
const FIRST_ROWS = 200;

/** What is not known stands last, whichever way the table is sorted. */
export function sortPoints(points: RooflinePoint[], id: string, down: boolean): RooflinePoint[] {
	const { value } = COLUMNS.find((c) => c.id === id) ?? COLUMNS[1]!;
	return [...points].sort((a, b) => {
		const [x, y] = [value(a), value(b)];
		if (x === null || y === null)
			return x === y ? b.ns - a.ns : x === null ? 1 : -1;
		const order = x < y ? -1 : x > y ? 1 : 0;
		return (down ? -order : order) || b.ns - a.ns;
	});
}

interface Props {
	points: RooflinePoint[]; chosen: RooflinePoint | null; hovered: RooflinePoint | null;
	hover: (p: RooflinePoint | null) => void; choose: (p: RooflinePoint) => void; go: (p: RooflinePoint) => void;
}

function moveFocus(e: KeyboardEvent, row: HTMLElement): HTMLElement | null {
	const body = row.parentElement!;
	switch (e.key) {
	case "ArrowDown": return row.nextElementSibling as HTMLElement | null;
	case "ArrowUp": return row.previousElementSibling as HTMLElement | null;
	case "Home": return body.firstElementChild as HTMLElement | null;
	case "End": return body.lastElementChild as HTMLElement | null;
	default: return null;
	}
}

function Head({ sort, down, set }: { sort: string; down: boolean; set: (id: string, down: boolean) => void }) {
	return <thead><tr>{COLUMNS.map((c) => <th key={c.id} class={`${c.text ? "text" : ""} ${c.extra === undefined ? "" : `extra${c.extra}`}`} aria-sort={sort === c.id ? (down ? "descending" : "ascending") : "none"}>
		<button title={tr("{hint}; press to sort", { hint: c.hint })} onClick={() => set(c.id, sort === c.id ? !down : !c.text)}>{c.title}{sort === c.id ? (down ? " ▾" : " ▴") : ""}</button></th>)}</tr></thead>;
}

export function RooflineTable({ points, chosen, hovered, hover, choose, go }: Props) {
	const [{ sort, down }, setSort] = useState({ sort: "gain", down: true });
	const [all, setAll] = useState(false);
	const sorted = sortPoints(points, sort, down);
	const shown = all ? sorted : sorted.slice(0, FIRST_ROWS);
	const most = Math.max(1, ...points.map((p) => p.gain_ns));
	const stop = chosen && shown.includes(chosen) ? chosen : shown[0];
	const keys = (e: KeyboardEvent, p: RooflinePoint): void => {
		const next = moveFocus(e, e.currentTarget as HTMLElement);
		if (next)
			next.focus();
		else if (e.key === "Enter" || e.key === " ")
			go(p);
		else if (!e.key.startsWith("Arrow"))
			return;
		e.preventDefault();
		e.stopPropagation();
	};
	return <div class="roofline-table"><table>
		<Head sort={sort} down={down} set={(id, way) => setSort({ sort: id, down: way })} />
		<tbody>{shown.map((p, i) => <tr key={`${p.kind}${p.name}${p.device}${i}`} class={`${p === chosen ? "chosen" : ""} ${p === hovered ? "over" : ""}`} tabIndex={p === stop ? 0 : -1}
			aria-selected={p === chosen} onClick={() => go(p)} onKeyDown={(e) => keys(e, p)} onFocus={(e) => e.currentTarget.matches(":focus-visible") && choose(p)} onMouseEnter={() => hover(p)} onMouseLeave={() => hover(null)}>
			{COLUMNS.map((c) => <td key={c.id} class={`${c.text ? "text" : "n"} of-${c.id} ${c.extra === undefined ? "" : `extra${c.extra}`}`} title={c.id === "name" ? plain(p.name) : undefined}>
				{c.id === "gain" && <span class="bar" style={{ width: `${p.gain_ns / most * 100}%` }} />}
				{c.id === "bound" && <i class={`chip ${p.bound}`} />}<span>{c.show(p)}</span></td>)}</tr>)}</tbody>
	</table>
	{sorted.length > shown.length && <button class="more" onClick={() => setAll(true)}>{tr("show all {n}", { n: count(sorted.length) })}</button>}</div>;
}
