/* SPDX-License-Identifier: Apache-2.0 */
/* FlameBar.tsx - the line over the flame graph: what is added up, of what, and how it is shown. */
import { FLAME_KINDS, type FlameKind } from "../data/flame";
import type { Group } from "../data/protocol";
import { kindShown, onlyPython, setFlame } from "../state/flame";
import type { FlameState } from "../state/flame_state";
import { titleOf, useStore } from "../state/store";
import { plain } from "../timeline/text";
import { percent } from "../timeline/units";
import { WEIGHT_NAMES } from "./flame_values";

const KIND_NAMES: Record<FlameKind, [string, string]> = {
	operators: ["Operators", "modules and operators: their time on the CPU, and the GPU time of what they launched"],
	stacks: ["GPU by stack", "GPU time by the stack of the call that launched the work"],
	samples: ["CPU samples", "samples of the CPU by their stacks"],
};

interface Choice<T> { value: T; name: string; hint?: string; off?: boolean }

function Buttons<T extends string | number | boolean>({ label, value, choices, choose }: { label: string; value: T; choices: Choice<T>[]; choose: (value: T) => void }) {
	return <span class="group" role="group" aria-label={label}>{choices.map((c) =>
		<button key={String(c.value)} class={c.value === value ? "on" : ""} aria-pressed={c.value === value} title={c.hint ?? ""} disabled={c.off ?? false} onClick={() => choose(c.value)}>{c.name}</button>)}</span>;
}

/** Processes, threads, ranks and devices, each under what holds it. */
function groupsOf(groups: Group[], run: number, depth = 0): { key: string; title: string }[] {
	return groups.flatMap((g) => [...(g.kind === "other" ? [] : [{ key: `${run}/${g.id}`, title: `${"\u2003".repeat(depth)}${plain(g.title, 60)}` }]), ...groupsOf(g.groups, run, depth + 1)]);
}

function Runs({ flame }: { flame: FlameState }) {
	const traces = useStore((s) => s.traces);
	if (traces.length < 2)
		return null;
	return <>
		<Buttons label="run" value={flame.run} choose={(run) => setFlame({ run, group: "" })} choices={[
			...traces.map((t, i) => ({ value: i as 0 | 1, name: i ? "B" : "A", hint: titleOf(t) })), { value: 2 as const, name: "A → B", hint: "what grew (red) and what shrank (blue)" }]} />
		{flame.run === 2 && <Buttons label="measure of change" value={flame.by} choose={(by) => setFlame(by === "step" ? { by, scope: "steps" } : { by })} choices={[
			{ value: "share", name: "by share", hint: "shares of each run's whole" }, { value: "step", name: "a step", hint: "time a step, of the steady steps" }]} />}
	</>;
}

export function FlameBar({ weights, weight, match, legend }: { weights: string[]; weight: string; match: number | null; legend: preact.ComponentChildren }) {
	const flame = useStore((s) => s.flame);
	const selected = useStore((s) => s.range !== null || s.chosen.size > 0);
	const traces = useStore((s) => s.traces);
	const run = Math.min(flame.run, traces.length - 1);
	const kind = kindShown();
	return <div class="flame-bar">
		<Buttons label="what is added up" value={kind} choose={(value) => setFlame({ kind: value, weight: "", focus: "", view: flame.view === "sandwich" ? "down" : flame.view })} choices={FLAME_KINDS.map((k) => ({ value: k, name: KIND_NAMES[k][0], hint: KIND_NAMES[k][1] }))} />
		{weights.length > 1 && <Buttons label="weight" value={weight} choose={(value) => setFlame({ weight: value })} choices={weights.map((w) => ({ value: w, name: WEIGHT_NAMES[w] ?? w }))} />}
		<Runs flame={flame} />
		<Buttons label="part of the run" value={flame.scope} choose={(scope) => setFlame({ scope })} choices={[
			{ value: "all", name: "all", hint: "the whole recording", off: flame.run === 2 && flame.by === "step" }, { value: "steps", name: "steady steps", hint: "the steps that are judged, without the warm-up" },
			{ value: "selection", name: "selection", hint: selected ? "the chosen time and lanes" : "drag along the ruler to choose an interval", off: !selected || (flame.run === 2 && flame.by === "step") }]} />
		{flame.run !== 2 && <select aria-label="lanes" value={flame.group} onChange={(e) => setFlame({ group: e.currentTarget.value })}>
			<option value="">all lanes</option>{groupsOf(traces[run]?.lanes.groups ?? [], run).map((g) => <option key={g.key} value={g.key}>{g.title}</option>)}</select>}
		{kind !== "operators" && <button class={onlyPython() ? "on" : ""} aria-pressed={onlyPython()} title="of stacks that have functions of Python, list only these" onClick={() => setFlame({ python: !onlyPython() })}>Python only</button>}
		<Buttons label="direction" value={flame.view} choose={(view) => setFlame({ view })} choices={[
			{ value: "down", name: "top-down", hint: "callers over what they call" }, { value: "up", name: "bottom-up", hint: "where time is spent, over who calls it" },
			{ value: "sandwich", name: "sandwich", hint: flame.focus ? "one function, its callers over it and what it calls below" : "click a frame first", off: !flame.focus }]} />
		<Buttons label="form" value={flame.shown} choose={(form) => setFlame({ shown: form })} choices={[{ value: "graph", name: "graph" }, { value: "table", name: "table" }]} />
		<input type="text" placeholder="Highlight" aria-label="highlight frames" value={flame.query} onInput={(e) => setFlame({ query: e.currentTarget.value })} />
		{match !== null && <output class="faint">{percent(match)} of all</output>}
		{legend}
	</div>;
}
