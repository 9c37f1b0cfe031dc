/* SPDX-License-Identifier: Apache-2.0 */
/* flame.ts - which flame graph is shown, and its answers. */
import { FLAME_KINDS, type FlameAnswer, type FlameKind, type FlameSpans } from "../data/flame";
import { writeLanes } from "../data/lane_list";
import type { Group } from "../data/protocol";
import { tr } from "../lang";
import { select } from "./actions";
import { decoded } from "./decoded";
import { source } from "./page";
import { chosenLanes, hasSelection, windowOf } from "./selection";
import { SCOPES, VIEWS, type FlameState } from "./flame_state";
import { set, state } from "./store";

export const setFlame = (change: Partial<FlameState>): void => set({ flame: { ...state.flame, ...change } });

/** Operators where there are some, else samples where nothing runs on a device, else stacks. */
export function kindShown(): FlameKind {
	const types = new Set(state.traces.flatMap((t) => t.lanes.lanes.map((l) => l.type)));
	return state.flame.kind ?? (types.has("op") ? "operators" : types.has("samples") && !types.has("stream") ? "samples" : "stacks");
}

export const onlyPython = (): boolean => kindShown() !== "operators" && (state.flame.python ?? kindShown() === "stacks");

const NO_LANE = 2 ** 32 - 1;

const runsShown = (): number[] => (state.flame.run === 2 && state.traces.length > 1 ? [0, 1] : [Math.min(state.flame.run, state.traces.length - 1)]);

/** The lanes of the chosen group; null: all. */
function lanesOf(run: number): number[] | null {
	const [t, id] = state.flame.group.split("/");
	const within = (groups: Group[]): Group | null => groups.reduce<Group | null>((found, g) => found ?? (g.id === id ? g : within(g.groups)), null);
	const all = (g: Group): number[] => [...g.lanes, ...g.groups.flatMap(all)];
	const group = id && Number(t) === run ? within(state.traces[run]!.lanes.groups) : null;
	return group && all(group);
}

/** The request of a run, as the self-contained page knows it. */
function requestOf(run: number): string {
	const { scope } = state.flame;
	const selected = scope === "selection" && hasSelection();
	const time = selected ? windowOf(run) : "";
	const window = time && `&${time}`;
	const group = lanesOf(run);
	const lanes = time === null ? [] : !selected || !state.chosen.size ? group : group ? chosenLanes(run).filter((l) => group.includes(l)) : chosenLanes(run);
	// None of the lanes: one that no trace has.
	const list = lanes && `&lanes=${writeLanes(lanes.length ? lanes : [NO_LANE])}`;
	return `flame?t=${run}&kind=${kindShown()}${window ?? ""}${onlyPython() ? "&python=1" : ""}${scope === "steps" ? "&steps=1" : ""}${list ?? ""}`;
}

let asked: AbortController | null = null;

const MISSING = tr("This page carries the flame graphs of the whole recording and of its steady steps, as they are shown at first. 'headway view' shows those of a selection, of a thread, and with other frames.");

/** Asks for what is to be shown. */
export async function askFlame(): Promise<void> {
	asked?.abort();
	asked = new AbortController();
	const { signal } = asked;
	setFlame({ asking: true, error: "" });
	try {
		const answers = await Promise.all(runsShown().map((run) => source.get<FlameAnswer>(requestOf(run), signal)));
		if (signal.aborted)
			return;
		const error = answers.map((a) => a?.error).find(Boolean);
		const missing = answers.some((a) => !a) ? (source.inline ? MISSING : tr("The recording is still being looked at.")) : "";
		setFlame({ answers: error || missing ? [] : answers, asking: false, error: error ?? missing });
	} catch (e) {
		if (!signal.aborted)
			setFlame({ answers: [], asking: false, error: e instanceof Error ? e.message : tr("no answer") });
	}
}

/** The longest spans of a frame, in order of time; of a self-contained page only the longest. */
export async function spansOfFrame(run: number, node: number, longest: number): Promise<FlameSpans> {
	const found = await source.get<FlameSpans>(`${requestOf(run)}&node=${node}`).catch(() => null);
	return found?.spans?.length ? found : { count: 1, spans: [longest] };
}

export const goToSpan = (run: number, id: number): Promise<void> => select(run, id, true, true);

/** As the address holds it: what differs from the first view. */
export function writeFlame(): string {
	const f = state.flame;
	const parts = [f.kind, f.scope, f.view, f.shown, f.weight, f.run, f.by, f.group, f.python, f.query, f.focus].map((v) => encodeURIComponent(String(v ?? "")));
	const first = [null, "all", "down", "graph", "", 0, "share", "", null, "", ""].map((v) => String(v ?? ""));
	return parts.every((p, i) => p === first[i]) ? "" : parts.join("|");
}

export function readFlame(text: string): void {
	const parts = text.split("|").map(decoded);
	if (parts.includes(null))
		return;
	const [kind, scope, view, shown, weight, run, by, group, python, query, focus] = parts as string[];
	if (focus === undefined)
		return;
	const one = (["0", "1", "2"].indexOf(run ?? "") + 3) % 3 as 0 | 1 | 2;
	setFlame({
		kind: FLAME_KINDS.find((k) => k === kind) ?? null, scope: SCOPES.find((s) => s === scope) ?? "all", view: VIEWS.find((v) => v === view) ?? "down",
		shown: shown === "table" ? "table" : "graph", weight: weight ?? "", run: state.traces.length > 1 ? one : 0, by: by === "step" ? "step" : "share", group: group ?? "",
		python: python === "true" ? true : python === "false" ? false : null, query: query ?? "", focus,
	});
}
