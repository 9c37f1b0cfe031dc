/* SPDX-License-Identifier: Apache-2.0 */
/* link.ts - the address holds the view: #from=…&to=…&span=…&fold=…&q=… */
import { light, predict, search, select, selectRange, showStep } from "./actions";
import { set, state, subscribe, type Panel, type Theme } from "./store";

const PANELS = ["findings", "details", "interval", "search", "whatif", "roofline"];

const THEMES = ["light", "dark"];
/** A window that is so much wider or narrower is a step of the browser's history. */
const ZOOMED = 1.5;

/** What of the address waits for the diagnosis: a finding, and edits. They stay in the address until then. */
let later: { lit: string; whatif: string } = { lit: "", whatif: "" };

/** Takes from the address what needs the diagnosis. */
export function readLater(): void {
	const { lit, whatif } = later;
	later = { lit: "", whatif: "" };
	const { from, to } = state;
	const finding = /^(\d)\.(\d+)$/.exec(lit);
	// The window is the address's, not that of the first piece of evidence.
	if (finding && state.traces[Number(finding[1])])
		void light(Number(finding[1]), Number(finding[2])).then(() => set({ from, to }));
	const edits = /^(\d)\.(.*)$/.exec(whatif);
	if (edits && state.traces[Number(edits[1])])
		void predict(edits[2]!.split("+").filter(Boolean).map(decodeURIComponent), Number(edits[1]));
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
	put("path", state.path ? "1" : "");
	put("gaps", state.gaps ? "" : "0");
	put("range", state.range ? `${Math.round(state.range.from)},${Math.round(state.range.to)}` : "");
	put("lit", state.lit ? `${state.lit.trace}.${state.lit.finding}` : later.lit);
	put("whatif", state.edits.length ? `${state.whatIfTrace}.${state.edits.map(encodeURIComponent).join("+")}` : later.whatif);
	put("theme", state.theme === "auto" ? "" : state.theme);
	put("step", state.traces.length > 1 && state.step >= 0 ? String(state.step) : "");
	return `#${parts.join("&")}`;
}

/** Takes the view from the address, where it has one. Waits for nothing. */
export function readLink(): void {
	const link = new URLSearchParams(location.hash.slice(1));
	const [from, to] = [Number(link.get("from")), Number(link.get("to"))];
	if (link.has("step"))
		showStep(Number(link.get("step")));
	if (link.has("from") && to > from)
		set({ from, to });
	const list = (key: string): Set<string> => new Set((link.get(key) ?? "").split(",").filter(Boolean));
	const panel = link.get("panel");
	if (link.has("from"))
		set({
			folded: list("fold"), pinned: list("pin"), deep: list("deep"), order: [...list("order")], filter: link.get("filter") ?? "", path: link.has("path"), gaps: link.get("gaps") !== "0",
			panel: PANELS.includes(panel ?? "") ? panel as Panel : panel === "no" ? null : state.panel,
		});
	const theme = link.get("theme") ?? "";
	if (THEMES.includes(theme))
		set({ theme: theme as Theme });
	later = { lit: link.get("lit") ?? "", whatif: link.get("whatif") ?? "" };
	if (state.traces.every((t) => t.diagnosis))
		readLater();
	const [begin, end] = (link.get("range") ?? "").split(",").map(Number);
	if (end !== undefined && end > begin!)
		void selectRange(begin!, end, panel === "interval");
	const query = link.get("q");
	if (query)
		void search(query, panel === "search");
	const span = /^(\d)\.(\d+)$/.exec(link.get("span") ?? "");
	if (span && state.traces[Number(span[1])])
		void select(Number(span[1]), Number(span[2]));
}

let written = "";

/** From now on the address follows the view, and the view the address. */
export function keepLink(): void {
	let timer = 0;
	let last = state.to - state.from;
	subscribe(() => {
		clearTimeout(timer);
		timer = window.setTimeout(() => {
			const now = write();
			if (now !== written && now !== location.hash) {
				written = now;
				const width = state.to - state.from;
				const zoomed = width > last * ZOOMED || width < last / ZOOMED;
				last = zoomed ? width : last;
				history[zoomed ? "pushState" : "replaceState"](null, "", now);
			}
		}, 200);
	});
	addEventListener("hashchange", () => {
		if (location.hash !== written)
			readLink();
	});
}
