/* SPDX-License-Identifier: Apache-2.0 */
/* commands_table.ts - what a person can do with the table of spans. */
import type { Command } from "./commands";
import { hasSelection } from "./selection";
import { state } from "./store";
import { backToGroups, GROUPS, groupTable, showTable, tableOfSearch, tableOfSelection, tableOfSpan } from "./table";

const isOpen = (): boolean => state.dock === "table";

export const TABLE: Command[] = [
	{ id: "table.all", title: "Table of all spans", group: "Table", run: () => showTable("") },
	{ id: "table.search", title: "Table of the hits of the search", group: "Table", keys: ["t"], run: tableOfSearch },
	{ id: "table.selection", title: "Table of the selection", group: "Table", keys: ["T"], run: () => tableOfSelection(), enabled: hasSelection },
	{ id: "table.span", title: "Table of spans like the selected one", group: "Table", run: tableOfSpan, enabled: () => state.selected !== null },
	{ id: "table.rows", title: "Table: rows, no groups", group: "Table", run: () => groupTable(""), enabled: isOpen },
	...GROUPS.map((by): Command => ({ id: `table.by.${by}`, title: `Table: group by ${by}`, group: "Table", run: () => groupTable(by), enabled: isOpen })),
	{ id: "table.back", title: "Table: back to the groups", group: "Table", run: backToGroups, enabled: () => state.table.from !== null },
];
