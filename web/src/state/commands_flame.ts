/* SPDX-License-Identifier: Apache-2.0 */
/* commands_flame.ts - what a person can do with flame graphs and with two runs. */
import type { Command } from "./commands";
import type { FlameKind } from "../data/flame";
import { setFlame } from "./flame";
import type { FlameState } from "./flame_state";
import { showDock } from "./layout";
import { hasSelection } from "./selection";
import { state } from "./store";

function open(change: Partial<FlameState>): void {
	setFlame(change);
	showDock("flame");
}

const ofKind = (kind: FlameKind, title: string): Command => ({ id: `flame.${kind}`, title: `Flame graph: ${title}`, group: "Flame", run: () => open({ kind, weight: "" }) });

export const FLAME: Command[] = [
	ofKind("operators", "modules and operators"),
	ofKind("stacks", "GPU time by the stack that launched it"),
	ofKind("samples", "samples of the CPU"),
	{ id: "flame.selection", title: "Flame graph of the selection", group: "Flame", run: () => open({ scope: "selection" }), enabled: hasSelection },
	{ id: "flame.steps", title: "Flame graph of the steady steps", group: "Flame", run: () => open({ scope: "steps" }) },
	{ id: "flame.all", title: "Flame graph of the whole recording", group: "Flame", run: () => open({ scope: "all" }) },
	{ id: "flame.down", title: "Flame graph top-down", group: "Flame", run: () => open({ view: "down" }) },
	{ id: "flame.up", title: "Flame graph bottom-up", group: "Flame", run: () => open({ view: "up" }) },
	{ id: "flame.form", title: "Flame graph as a picture or as a table", group: "Flame", run: () => open({ shown: state.flame.shown === "graph" ? "table" : "graph" }) },
	{ id: "flame.change", title: "Flame graph of what changed from A to B", group: "Flame", run: () => open({ run: 2 }), enabled: () => state.traces.length > 1 },
];
