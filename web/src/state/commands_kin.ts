/* SPDX-License-Identifier: Apache-2.0 */
/* commands_kin.ts - what a person can do to see what belongs together: light it up, colour by name. */
import { tr } from "../lang";
import type { Command } from "./commands";
import { lightChain, lightSame } from "./kin";
import { set, state } from "./store";

const hasSpan = (): boolean => state.selected !== null;

export const KIN: Command[] = [
	{ id: "light.same", title: tr("Light up all spans of the same name"), group: tr("Selection"), keys: ["h"], run: lightSame, enabled: hasSpan },
	{ id: "light.chain", title: tr("Light up what belongs to the span: launch and work, forward and backward"), group: tr("Selection"), keys: ["j"], run: lightChain, enabled: hasSpan },
	{ id: "color.names", title: tr("Colours by name, on and off"), group: tr("View"), keys: ["k"], run: () => set({ byName: !state.byName }) },
];
