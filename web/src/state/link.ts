/* SPDX-License-Identifier: Apache-2.0 */
/* link.ts - the address holds the view: #from=…&to=…&span=…&fold=…&q=… */
import { search, select, showStep } from "./actions";
import { set, state, subscribe, type Panel } from "./store";

const PANELS = ["findings", "details", "interval", "search", "whatif", "roofline"];

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
	subscribe(() => {
		clearTimeout(timer);
		timer = window.setTimeout(() => {
			const now = write();
			if (now !== written && now !== location.hash) {
				written = now;
				history.replaceState(null, "", now);
			}
		}, 200);
	});
	addEventListener("hashchange", () => {
		if (location.hash !== written)
			readLink();
	});
}
