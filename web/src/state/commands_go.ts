/* SPDX-License-Identifier: Apache-2.0 */
/* commands_go.ts - questions that one command answers. */
import { tr } from "../lang";
import type { Command } from "./commands";
import { goToLongestGap, goToSlowestStep, hasSteps, selectStep, tableOfLines, tableOfVarying } from "./questions";

export const QUESTIONS: Command[] = [
	{ id: "ask.gap", title: tr("Longest idle gap of the GPU, and its cause"), group: tr("Questions"), run: goToLongestGap, enabled: hasSteps },
	{ id: "ask.step", title: tr("Slowest step, and why"), group: tr("Questions"), run: goToSlowestStep, enabled: hasSteps },
	{ id: "ask.varies", title: tr("Kernels that vary most"), group: tr("Questions"), run: tableOfVarying },
	{ id: "ask.lines", title: tr("Lines of the program that cost most GPU time"), group: tr("Questions"), run: tableOfLines },
	{ id: "selection.step", title: tr("Select the time of the step"), group: tr("Selection"), keys: ["E"], run: selectStep, enabled: hasSteps },
];
