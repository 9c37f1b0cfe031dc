/* SPDX-License-Identifier: Apache-2.0 */
/* TableGrid.tsx - the rows of the table of spans, however many: only those on the screen are asked for and drawn.
 *
 * A scroll bar cannot be as long as ten million rows: above MOST_PIXELS its places stand for several rows, while the wheel and the keys still move row by row. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { EventGroup, EventRow } from "../data/protocol";
import { tr } from "../lang";
import { keep, kept } from "../state/kept";
import { state, useStore } from "../state/store";
import { goToRow, openGroup, PAGE_ROWS, setActive, sortTable, tablePage, type Line, type Page } from "../state/table";
import { GROUP_COLUMNS, ROW_COLUMNS, type Around, type Column } from "./table_columns";

const ROW = 22;
const MOST_PIXELS = 6_000_000;
/** Of a column, in pixels. */
const LEAST_WIDTH = 40;
const MOST_WIDTH = 1200;
const BY_KEY = 16;

function Head({ columns, resize }: { columns: Column[]; resize: (id: string, pixels: number | null) => void }) {
	const { sort, down } = useStore((s) => s.table);
	const dragged = useRef<{ id: string; at: number; width: number } | null>(null);
	const widthOf = (e: Event): number => (e.currentTarget as HTMLElement).closest("[role=columnheader]")!.getBoundingClientRect().width;
	const byKey = (e: KeyboardEvent, id: string): void => {
		const by = e.shiftKey ? { ArrowLeft: -BY_KEY, ArrowRight: BY_KEY }[e.key] : undefined;
		if (by === undefined)
			return;
		e.preventDefault();
		e.stopPropagation();
		resize(id, widthOf(e) + by);
	};
	return <div class="grid-head" role="row" aria-rowindex={1}>{columns.map((c) => {
		const by = sort === c.id;
		return <div key={c.id} role="columnheader" class={c.text ? "text" : "n"} aria-sort={by ? (down ? "descending" : "ascending") : "none"} title={c.fixed ? c.hint : tr("{hint}; press to sort", { hint: c.hint })}>
			{c.fixed ? <span>{tr(c.title)}</span> : <button onClick={() => sortTable(c.id, by ? !down : !c.text && c.id !== "start")} onKeyDown={(e) => byKey(e, c.id)}>{tr(c.title)}{by ? (down ? " ▾" : " ▴") : ""}</button>}
			<i class="edge" title={tr("drag to make the column wider or narrower, double click for its own width; Shift + ← → with the keyboard on the title")}
				onPointerDown={(e) => {
					dragged.current = { id: c.id, at: e.clientX, width: widthOf(e) };
					e.currentTarget.setPointerCapture(e.pointerId);
				}} onPointerMove={(e) => {
					if (dragged.current)
						resize(dragged.current.id, dragged.current.width + e.clientX - dragged.current.at);
				}} onPointerUp={() => { dragged.current = null; }} onDblClick={() => resize(c.id, null)} /></div>;
	})}</div>;
}

/** Beside columns that were made wider, the others give way. */
const widthOf = (c: Column, chosen: Record<string, number>): string =>
	(chosen[c.id] ? `${chosen[c.id]}px` : Object.keys(chosen).length ? c.width.replace(/minmax\(\d+px/, `minmax(${LEAST_WIDTH}px`) : c.width);

/** The widths of columns that somebody has changed, as the browser keeps them. */
function useWidths(): [Record<string, number>, (id: string, pixels: number | null) => void] {
	const [widths, setWidths] = useState<Record<string, number>>(() => {
		const old = kept("columns");
		return Object.fromEntries(Object.entries(old && typeof old === "object" ? old : {}).filter((one): one is [string, number] => typeof one[1] === "number"));
	});
	return [widths, (id, pixels) => setWidths((old) => {
		const { [id]: _, ...rest } = old;
		const now = pixels === null ? rest : { ...rest, [id]: Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, pixels))) };
		keep("columns", now);
		return now;
	})];
}

interface LineProps { columns: Column[]; line: Line | undefined; index: number; around: Around; active: boolean; stop: boolean; selected: boolean; press: () => void }

function TableLine({ columns, line, index, around, active, stop, selected, press }: LineProps) {
	return <div role="row" id={`line-${index}`} class={`grid-line ${active ? "active" : ""} ${selected ? "selected" : ""}`} aria-rowindex={index + 2} aria-selected={selected} tabIndex={stop ? 0 : -1} style={{ height: `${ROW}px` }} onClick={press}>
		{columns.map((c) => <div key={c.id} role="gridcell" class={c.text ? "text" : "n"} title={line && c.full ? c.full(line, around) : undefined}>{line ? c.show(line, around) : ""}</div>)}</div>;
}

/** Which row is at the top; what the scroll bar says stands for several rows where there are too many. */
function useScroll(lines: number, height: number) {
	const box = useRef<HTMLDivElement>(null);
	const [top, setTop] = useState(0);
	const fit = Math.max(1, Math.floor(height / ROW));
	const most = Math.max(0, lines - fit);
	const tall = Math.min(MOST_PIXELS, lines * ROW);
	const room = Math.max(1, tall - height);
	const isDirect = lines * ROW <= MOST_PIXELS;
	const own = useRef(-1);
	const go = (to: number): void => {
		const row = Math.min(most, Math.max(0, Math.round(to)));
		setTop(row);
		if (!box.current)
			return;
		own.current = Math.round(isDirect ? row * ROW : most ? row / most * room : 0);
		box.current.scrollTop = own.current;
	};
	const onScroll = (): void => {
		const at = box.current?.scrollTop ?? 0;
		if (Math.abs(at - own.current) < 2)
			return;
		own.current = -1;
		setTop(Math.min(most, Math.max(0, isDirect ? Math.floor(at / ROW) : Math.round(at / room * most))));
	};
	const onWheel = (e: WheelEvent): void => {
		if (isDirect || e.ctrlKey)
			return;
		e.preventDefault();
		go(top + Math.sign(e.deltaY) * Math.max(1, Math.abs(e.deltaY) / ROW));
	};
	return { box, top: Math.min(top, most), fit, tall, go, onScroll, onWheel };
}

/** The pages of what the table asks for now. */
function usePages(top: number, fit: number): Map<number, Page> {
	const version = useStore((s) => s.table.version);
	const [pages, setPages] = useState<{ version: number; of: Map<number, Page> }>({ version: -1, of: new Map() });
	const now = pages.version === version ? pages.of : new Map<number, Page>();
	const first = Math.floor(top / PAGE_ROWS);
	const last = Math.floor((top + fit) / PAGE_ROWS);
	useEffect(() => {
		const controller = new AbortController();
		for (let p = first; p <= last; p++)
			if (!now.has(p))
				void tablePage(p * PAGE_ROWS, PAGE_ROWS, controller.signal).then((page) => {
					if (page && !controller.signal.aborted)
						setPages((old) => ({ version, of: new Map([...old.version === version ? old.of : [], [p, page]]) }));
				});
		return () => controller.abort();
	}, [version, first, last]);
	return now;
}

export function TableGrid({ around }: { around: Omit<Around, "names"> }) {
	const table = useStore((s) => s.table);
	const selected = useStore((s) => (s.selected?.trace === s.table.trace ? s.selected.span.id : -1));
	const [{ height, bar }, setSize] = useState({ height: 200, bar: 0 });
	const lines = table.sums?.lines ?? 0;
	const columns = table.group ? GROUP_COLUMNS : ROW_COLUMNS;
	const [widths, resize] = useWidths();
	const { box, top, fit, tall, go, onScroll, onWheel } = useScroll(lines, height);
	const pages = usePages(top, fit);
	useEffect(() => {
		const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => setSize({ height: target.clientHeight, bar: (target as HTMLElement).offsetWidth - target.clientWidth })));
		watch.observe(box.current!);
		return () => watch.disconnect();
	}, []);
	useLayoutEffect(() => go(0), [table.q, table.group, table.sort, table.down, table.inSelection]);
	const lineAt = (i: number): Line | undefined => pages.get(Math.floor(i / PAGE_ROWS))?.lines[i % PAGE_ROWS];
	const press = (i: number): void => {
		setActive(i);
		const line = lineAt(i);
		const term = state.table.group ? (line as EventGroup | undefined)?.[1] : null;
		if (state.table.group ? term : line)
			void (term ? openGroup(term) : goToRow(line as EventRow));
	};
	const moved = useRef(false);
	// The focus follows the keys, also to a row that was not drawn before; at once, as the next key goes to what has the focus.
	useLayoutEffect(() => {
		if (moved.current)
			document.getElementById(`line-${table.active}`)?.focus({ preventScroll: true });
		moved.current = false;
	}, [table.active, top]);
	const move = (to: number): void => {
		moved.current = true;
		const at = Math.min(lines - 1, Math.max(0, to));
		setActive(at);
		if (at < top || at >= top + fit)
			go(at < top ? at : at - fit + 1);
	};
	const keys = (e: KeyboardEvent): void => {
		// The heads are buttons of their own.
		if (!(e.target instanceof HTMLElement) || !e.target.classList.contains("grid-line"))
			return;
		const to = { ArrowDown: table.active + 1, ArrowUp: table.active - 1, PageDown: table.active + fit, PageUp: table.active - fit, Home: 0, End: lines - 1 }[e.key];
		if (to !== undefined)
			move(to);
		else if (e.key === "Enter")
			press(table.active);
		else
			return;
		e.preventDefault();
	};
	const shown = Array.from({ length: Math.max(0, Math.min(fit + 1, lines - top)) }, (_, i) => top + i);
	const stop = shown.includes(table.active) ? table.active : top;
	const style = { "--columns": columns.map((c) => widthOf(c, widths)).join(" "), "--bar": `${bar}px` } as Record<string, string>;
	return <div class="grid" style={style} role="grid" aria-label={tr("spans")} aria-rowcount={lines + 1} aria-colcount={columns.length} onKeyDown={keys}>
		<div role="rowgroup"><Head columns={columns} resize={resize} /></div>
		<div class="grid-box" ref={box} onScroll={onScroll} onWheel={onWheel} role="presentation">
			<div class="grid-tall" style={{ height: `${tall}px` }} role="presentation">
				<div class="grid-lines" role="rowgroup">{shown.map((i) => {
					const line = lineAt(i);
					const names = pages.get(Math.floor(i / PAGE_ROWS))?.names ?? [];
					return <TableLine key={i} columns={columns} line={line} index={i} around={{ ...around, names }} active={i === table.active} stop={i === stop} selected={!table.group && line !== undefined && line[0] === selected} press={() => press(i)} />;
				})}</div>
			</div>
		</div>
	</div>;
}
