/* SPDX-License-Identifier: Apache-2.0 */
/* commands_selection.ts - what a person can do with the selection: time and lanes. */
import type { Command } from "./commands";
import { chooseAll, chooseOfSpan, hasSelection, selectNothing, selectScreen, selectSpanTime } from "./selection";
import { state } from "./store";

const hasSpan = (): boolean => state.selected !== null;

export const SELECTION: Command[] = [
	{ id: "selection.screen", title: "Select the time on the screen", group: "Selection", keys: ["r"], run: selectScreen },
	{ id: "selection.span", title: "Select the time of the span", group: "Selection", keys: ["e"], run: selectSpanTime, enabled: hasSpan },
	{ id: "selection.lane", title: "Choose the lane of the span, or no longer", group: "Selection", keys: ["x"], run: chooseOfSpan, enabled: hasSpan },
	{ id: "selection.lanes", title: "Choose all lanes again", group: "Selection", keys: ["X"], run: chooseAll, enabled: () => state.chosen.size > 0 },
	{ id: "selection.none", title: "Select nothing", group: "Selection", run: selectNothing, enabled: hasSelection },
];
