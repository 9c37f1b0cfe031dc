/* SPDX-License-Identifier: Apache-2.0 */
/* registry.ts - the panels there are: beside the timeline (SIDE) and under it (DOCK). Toolbar, dock, keyboard and palette read this list. */
import type { ComponentType } from "preact";
import { tr } from "../lang";
import type { Dock, Panel, State } from "../state/store";
import type { Timeline } from "../timeline/timeline";
import { Findings } from "./Findings";
import { later } from "./Later";

export interface Entry<Id> {
	id: Id; title: string; keys?: string[]; component: ComponentType<{ timeline: Timeline }>;
	/** Whether there is anything to show; a panel without it is always there. */
	available?: (s: State) => boolean;
	/** In the dock: as high as what it shows, not as high as the dock was made. */
	ownHeight?: boolean;
}

export const SIDE: Entry<Panel>[] = [
	{ id: "findings", title: tr("Findings"), keys: ["1"], component: Findings },
	{ id: "details", title: tr("Details"), keys: ["2"], component: later("Details") },
	{ id: "selection", title: tr("Selection"), keys: ["3"], component: later("Selection") },
	{ id: "search", title: tr("Search"), keys: ["4"], component: later("SearchPanel") },
	{ id: "whatif", title: tr("What if"), keys: ["5"], component: later("WhatIf") },
	{ id: "notes", title: tr("Notes"), keys: ["7"], component: later("Notes") },
];

export const DOCK: Entry<Dock>[] = [
	{ id: "compare", title: tr("Compare"), keys: ["c"], component: later("Compare"), available: (s) => s.traces.length > 1 },
	{ id: "flame", title: tr("Flame"), keys: ["8"], component: later("Flame") },
	{ id: "table", title: tr("Table"), keys: ["9"], component: later("Table") },
	{ id: "sql", title: "SQL", component: later("Sql") },
	{ id: "roofline", title: tr("Roofline"), keys: ["6"], component: later("Roofline") },
	{ id: "prediction", title: tr("Prediction"), component: later("Prediction"), ownHeight: true, available: (s) => s.panel === "whatif" && s.whatIf !== null },
	{ id: "legend", title: tr("Colours"), keys: ["K"], component: later("Legend"), ownHeight: true },
];

/** The panel of the dock that is on the screen: the open one, where it has something to show. */
export const shownInDock = (s: State): Entry<Dock> | null => DOCK.find((p) => p.id === s.dock && (p.available?.(s) ?? true)) ?? null;
