/* SPDX-License-Identifier: Apache-2.0 */
/* commands_selection.ts - what a person can do with the selection: time and lanes. */
import { tr } from "../lang";
import type { Command } from "./commands";
import { chooseAll, chooseOfSpan, hasSelection, selectNothing, selectScreen, selectSpanTime } from "./selection";
import { state } from "./store";

const hasSpan = (): boolean => state.selected !== null;

export const SELECTION: Command[] = [
	{ id: "selection.screen", title: tr("Select the time on the screen"), group: tr("Selection"), keys: ["r"], run: selectScreen },
	{ id: "selection.span", title: tr("Select the time of the span"), group: tr("Selection"), keys: ["e"], run: selectSpanTime, enabled: hasSpan },
	{ id: "selection.lane", title: tr("Choose the lane of the span, or no longer"), group: tr("Selection"), keys: ["x"], run: chooseOfSpan, enabled: hasSpan },
	{ id: "selection.lanes", title: tr("Choose all lanes again"), group: tr("Selection"), keys: ["X"], run: chooseAll, enabled: () => state.chosen.size > 0 },
	{ id: "selection.none", title: tr("Select nothing"), group: tr("Selection"), run: selectNothing, enabled: hasSelection },
];
