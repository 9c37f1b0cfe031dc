/* SPDX-License-Identifier: Apache-2.0 */
/* commands_table.ts - what a person can do with the table of spans. */
import { tr } from "../lang";
import type { Command } from "./commands";
import { hasSelection } from "./selection";
import { state } from "./store";
import { backToGroups, GROUPS, groupTable, showTable, tableOfSearch, tableOfSelection, tableOfSpan } from "./table";

const isOpen = (): boolean => state.dock === "table";

export const TABLE: Command[] = [
	{ id: "table.all", title: tr("Table of all spans"), group: tr("Table"), run: () => showTable("") },
	{ id: "table.search", title: tr("Table of the hits of the search"), group: tr("Table"), keys: ["t"], run: tableOfSearch },
	{ id: "table.selection", title: tr("Table of the selection"), group: tr("Table"), keys: ["T"], run: () => tableOfSelection(), enabled: hasSelection },
	{ id: "table.span", title: tr("Table of spans like the selected one"), group: tr("Table"), run: tableOfSpan, enabled: () => state.selected !== null },
	{ id: "table.rows", title: tr("Table: rows, no groups"), group: tr("Table"), run: () => groupTable(""), enabled: isOpen },
	...GROUPS.map((by): Command => ({ id: `table.by.${by}`, title: tr("Table: group by {what}", { what: tr(by) }), group: tr("Table"), run: () => groupTable(by), enabled: isOpen })),
	{ id: "table.back", title: tr("Table: back to the groups"), group: tr("Table"), run: backToGroups, enabled: () => state.table.from !== null },
];
