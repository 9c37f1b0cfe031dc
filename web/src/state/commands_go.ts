/* SPDX-License-Identifier: Apache-2.0 */
/* commands_go.ts - questions that one command answers. */
import type { Command } from "./commands";
import { goToLongestGap, goToSlowestStep, hasSteps, selectStep, tableOfLines, tableOfVarying } from "./questions";

export const QUESTIONS: Command[] = [
	{ id: "ask.gap", title: "Longest idle gap of the GPU, and its cause", group: "Questions", run: goToLongestGap, enabled: hasSteps },
	{ id: "ask.step", title: "Slowest step, and why", group: "Questions", run: goToSlowestStep, enabled: hasSteps },
	{ id: "ask.varies", title: "Kernels that vary most", group: "Questions", run: tableOfVarying },
	{ id: "ask.lines", title: "Lines of the program that cost most GPU time", group: "Questions", run: tableOfLines },
	{ id: "selection.step", title: "Select the time of the step", group: "Selection", keys: ["E"], run: selectStep, enabled: hasSteps },
];
