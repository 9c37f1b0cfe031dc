/* SPDX-License-Identifier: Apache-2.0 */
/* commands_flame.ts - what a person can do with flame graphs and with two runs. */
import { tr } from "../lang";
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

const ofKind = (kind: FlameKind, title: string): Command => ({ id: `flame.${kind}`, title, group: tr("Flame"), run: () => open({ kind, weight: "" }) });

export const FLAME: Command[] = [
	ofKind("operators", tr("Flame graph: modules and operators")),
	ofKind("stacks", tr("Flame graph: GPU time by the stack that launched it")),
	ofKind("samples", tr("Flame graph: samples of the CPU")),
	{ id: "flame.selection", title: tr("Flame graph of the selection"), group: tr("Flame"), run: () => open({ scope: "selection" }), enabled: hasSelection },
	{ id: "flame.steps", title: tr("Flame graph of the steady steps"), group: tr("Flame"), run: () => open({ scope: "steps" }) },
	{ id: "flame.all", title: tr("Flame graph of the whole recording"), group: tr("Flame"), run: () => open({ scope: "all" }) },
	{ id: "flame.down", title: tr("Flame graph top-down"), group: tr("Flame"), run: () => open({ view: "down" }) },
	{ id: "flame.up", title: tr("Flame graph bottom-up"), group: tr("Flame"), run: () => open({ view: "up" }) },
	{ id: "flame.form", title: tr("Flame graph as a picture or as a table"), group: tr("Flame"), run: () => open({ shown: state.flame.shown === "graph" ? "table" : "graph" }) },
	{ id: "flame.change", title: tr("Flame graph of what changed from A to B"), group: tr("Flame"), run: () => open({ run: 2 }), enabled: () => state.traces.length > 1 },
];
