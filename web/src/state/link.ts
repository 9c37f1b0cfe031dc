/* SPDX-License-Identifier: Apache-2.0 */
/* link.ts - the address holds the view: #from=…&to=…&span=…&fold=…&q=… */
import { readTable, writeTable } from "./table";
import { isAligned, light, predict, search, select, show, showStep } from "./actions";
import { decoded } from "./decoded";
import { restoreNotes } from "./notes";
import { timeline } from "./page";
import { readFlame, writeFlame } from "./flame";
import { chooseOnly, readChosen, selectRange, writeChosen } from "./selection";
import { DOCKS, PANELS, set, state, subscribe, type Dock, type Panel, type Theme } from "./store";

const THEMES = ["light", "dark"];
/** A window that is so much wider or narrower is a step of the browser's history. */
const ZOOMED = 1.5;

/** What of the address waits for the diagnosis: a finding, and edits. They stay in the address until then. */
let later: { lit: string; whatif: string } = { lit: "", whatif: "" };

/** An address that somebody gave has told the window: it stays. The page's own writing of the address (keepLink) does not count. */
let told = false;
export const toldWindow = (): boolean => told;

/** Takes from the address what needs the diagnosis. */
export function readLater(): void {
	const { lit, whatif } = later;
	later = { lit: "", whatif: "" };
	const finding = /^(\d)\.(\d+)$/.exec(lit);
	// The window is the address's, not that of the first piece of evidence.
	if (finding && state.traces[Number(finding[1])])
		void light(Number(finding[1]), Number(finding[2]), false);
	const edits = /^(\d)\.(.*)$/.exec(whatif);
	if (edits && state.traces[Number(edits[1])])
		void predict(edits[2]!.split("+").filter(Boolean).flatMap((text) => decoded(text) ?? []), Number(edits[1]));
}

function write(): string {
	const parts: string[] = [`from=${Math.round(state.from)}`, `to=${Math.round(state.to)}`];
	const put = (key: string, value: string): void => void (value && parts.push(`${key}=${encodeURIComponent(value)}`));
	put("span", state.selected ? `${state.selected.trace}.${state.selected.span.id}` : "");
	put("fold", [...state.folded].join(","));
	put("deep", [...state.deep].join(","));
	put("pin", [...state.pinned].join(","));
	put("order", state.order.join(","));
	put("q", state.query);
	put("filter", state.filter);
	put("panel", state.panel ?? "no");
	put("dock", state.dock ?? "");
	put("table", state.dock === "table" ? writeTable() : "");
	put("sql", state.dock === "sql" ? state.sql.text : "");
	put("path", state.path ? "1" : "");
	put("gaps", state.gaps ? "" : "0");
	put("range", state.range ? `${Math.round(state.range.from)},${Math.round(state.range.to)}` : "");
	put("lanes", writeChosen());
	put("colours", state.byName ? "name" : "");
	put("lit", state.lit ? `${state.lit.trace}.${state.lit.finding}` : later.lit);
	put("whatif", state.edits.length ? `${state.whatIfTrace}.${state.edits.map(encodeURIComponent).join("+")}` : later.whatif);
	put("scroll", timeline.scroll ? String(Math.round(timeline.scroll)) : "");
	put("notes", state.notes.packed);
	put("flame", state.dock === "flame" ? writeFlame() : "");
	put("theme", state.theme === "auto" ? "" : state.theme);
	put("step", state.traces.length > 1 && state.step >= 0 ? String(state.step) : "");
	return `#${parts.join("&")}`;
}

/** The open panels; links of 0.1 had one name for both. */
function readPanels(link: URLSearchParams): { panel: Panel | null; dock: Dock | null } {
	const old: Record<string, string> = { interval: "selection", roofline: "no" };
	const name = link.get("panel") ?? "";
	const dock = link.get("dock") ?? { roofline: "roofline", whatif: "prediction" }[name];
	return {
		panel: PANELS.find((p) => p === (old[name] ?? name)) ?? ((old[name] ?? name) === "no" ? null : state.panel),
		dock: DOCKS.find((d) => d === dock) ?? null,
	};
}

/** Takes the view from the address, where it has one. Waits for nothing. */
export function readLink(): void {
	const link = new URLSearchParams(location.hash.slice(1));
	const [from, to] = [Number(link.get("from")), Number(link.get("to"))];
	told ||= link.has("from");
	if (link.has("step"))
		showStep(Number(link.get("step")));
	if (link.has("from") && to > from && Number.isFinite(to - from))
		isAligned() ? show(from, to) : set({ from, to });
	const list = (key: string): Set<string> => new Set((link.get(key) ?? "").split(",").filter(Boolean));
	const { panel, dock } = readPanels(link);
	if (link.has("from"))
		set({
			folded: list("fold"), pinned: list("pin"), deep: list("deep"), order: [...list("order")], filter: link.get("filter") ?? "", path: link.has("path"), gaps: link.get("gaps") !== "0",
			panel, dock,
		});
	else if (link.has("panel") || link.has("dock"))
		set({ panel, dock: dock ?? state.dock });
	const scroll = Number(link.get("scroll"));
	if (scroll > 0 && scroll < 1e7)
		requestAnimationFrame(() => timeline.setScroll(scroll));
	void restoreNotes(link.get("notes") ?? "");
	readFlame(link.get("flame") ?? "");
	const theme = link.get("theme") ?? "";
	if (THEMES.includes(theme))
		set({ theme: theme as Theme });
	later = { lit: link.get("lit") ?? "", whatif: link.get("whatif") ?? "" };
	if (state.traces.every((t) => t.diagnosis))
		readLater();
	const [begin, end] = (link.get("range") ?? "").split(",").map(Number);
	const chosen = readChosen(link.get("lanes") ?? "");
	set({ chosen, byName: link.get("colours") === "name" });
	if (end !== undefined && end > begin!)
		void selectRange(begin!, end, panel === "selection");
	else if (chosen.size)
		void chooseOnly([...chosen], panel === "selection");
	readTable(link.get("table") ?? "");
	// What a link asks for is put into the editor; a person runs it.
	const sql = link.get("sql");
	if (sql && sql !== state.sql.text)
		set({ sql: { ...state.sql, text: sql } });
	const query = link.get("q");
	if (query)
		void search(query, panel === "search");
	const span = /^(\d)\.(\d+)$/.exec(link.get("span") ?? "");
	if (span && state.traces[Number(span[1])])
		void select(Number(span[1]), Number(span[2])).then(() => set({ panel })); // the link names the panel, not the span
}

let written = "";
let replacing = false;

/** The next change of the window is no step of the browser's history. */
export function replaceNext(): void {
	replacing = true;
}

/** The address of what is on the screen now. */
export const linkNow = (): string => location.href.replace(/#.*/, "") + write();

/** From now on the address follows the view, and the view the address. A page inside a notebook has no address of its own, and
 * may not change the history. */
export function keepLink(): void {
	if (location.protocol === "about:")
		return;
	let timer = 0;
	let last = state.to - state.from;
	let known = location.hash;
	const changed = (): void => {
		clearTimeout(timer);
		timer = window.setTimeout(() => {
			// Another address was given, and the event that tells of it is on its way: it counts, not what was on the screen before.
			if (location.hash !== known)
				return;
			const now = write();
			if (now !== written && now !== location.hash) {
				written = now;
				const width = state.to - state.from;
				const zoomed = !replacing && (width > last * ZOOMED || width < last / ZOOMED);
				last = zoomed || replacing ? width : last;
				replacing = false;
				history[zoomed ? "pushState" : "replaceState"](null, "", now);
				known = location.hash;
			}
		}, 200);
	};
	subscribe(changed);
	let { scroll } = timeline;
	timeline.onFrame(() => {
		if (scroll !== timeline.scroll)
			changed();
		scroll = timeline.scroll;
	});
	addEventListener("hashchange", () => {
		known = location.hash;
		if (location.hash === written)
			return;
		readLink();
		last = state.to - state.from;
	});
}
