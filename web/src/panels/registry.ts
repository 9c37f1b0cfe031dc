/* SPDX-License-Identifier: Apache-2.0 */
/* registry.ts - the panels there are: beside the timeline (SIDE) and under it (DOCK). Toolbar, dock, keyboard and palette read this list. */
import type { ComponentType } from "preact";
import { tr } from "../lang";
import type { Dock, Panel, State } from "../state/store";
import type { Timeline } from "../timeline/timeline";
import { Compare } from "./Compare";
import { Details } from "./Details";
import { Findings } from "./Findings";
import { Flame } from "./Flame";
import { Legend } from "./Legend";
import { Notes } from "./Notes";
import { Prediction } from "./Prediction";
import { Roofline } from "./Roofline";
import { SearchPanel } from "./SearchPanel";
import { Selection } from "./Selection";
import { Sql } from "./Sql";
import { Table } from "./Table";
import { WhatIf } from "./WhatIf";

export interface Entry<Id> {
	id: Id; title: string; keys?: string[]; component: ComponentType<{ timeline: Timeline }>;
	/** Whether there is anything to show; a panel without it is always there. */
	available?: (s: State) => boolean;
	/** In the dock: as high as what it shows, not as high as the dock was made. */
	ownHeight?: boolean;
}

export const SIDE: Entry<Panel>[] = [
	{ id: "findings", title: tr("Findings"), keys: ["1"], component: Findings },
	{ id: "details", title: tr("Details"), keys: ["2"], component: Details },
	{ id: "selection", title: tr("Selection"), keys: ["3"], component: Selection },
	{ id: "search", title: tr("Search"), keys: ["4"], component: SearchPanel },
	{ id: "whatif", title: tr("What if"), keys: ["5"], component: WhatIf },
	{ id: "notes", title: tr("Notes"), keys: ["7"], component: Notes },
];

export const DOCK: Entry<Dock>[] = [
	{ id: "compare", title: tr("Compare"), keys: ["c"], component: Compare, available: (s) => s.traces.length > 1 },
	{ id: "flame", title: tr("Flame"), keys: ["8"], component: Flame },
	{ id: "table", title: tr("Table"), keys: ["9"], component: Table },
	{ id: "sql", title: "SQL", component: Sql },
	{ id: "roofline", title: tr("Roofline"), keys: ["6"], component: Roofline },
	{ id: "prediction", title: tr("Prediction"), component: Prediction, ownHeight: true, available: (s) => s.panel === "whatif" && s.whatIf !== null },
	{ id: "legend", title: tr("Colours"), keys: ["K"], component: Legend, ownHeight: true },
];

/** The panel of the dock that is on the screen: the open one, where it has something to show. */
export const shownInDock = (s: State): Entry<Dock> | null => DOCK.find((p) => p.id === s.dock && (p.available?.(s) ?? true)) ?? null;
