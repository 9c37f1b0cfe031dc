/* SPDX-License-Identifier: Apache-2.0 */
/* FlameBar.tsx - the line over the flame graph: what is added up, of what, and how it is shown. */
import { FLAME_KINDS, type FlameKind } from "../data/flame";
import type { Group } from "../data/protocol";
import { tr } from "../lang";
import { kindShown, onlyPython, setFlame } from "../state/flame";
import type { FlameState } from "../state/flame_state";
import { runTitle, useStore } from "../state/store";
import { plain } from "../timeline/text";
import { percent } from "../timeline/units";
import { WEIGHT_NAMES } from "./flame_values";

const KIND_NAMES: Record<FlameKind, [string, string]> = {
	operators: [tr("Operators"), tr("modules and operators: their time on the CPU, and the GPU time of what they launched")],
	stacks: [tr("GPU by stack"), tr("GPU time by the stack of the call that launched the work")],
	samples: [tr("CPU samples"), tr("samples of the CPU by their stacks")],
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
		<Buttons label={tr("run")} value={flame.run} choose={(run) => setFlame({ run, group: "" })} choices={[
			...traces.map((t, i) => ({ value: i as 0 | 1, name: i ? "B" : "A", hint: runTitle(t) })), { value: 2 as const, name: "A → B", hint: tr("what grew (red) and what shrank (blue)") }]} />
		{flame.run === 2 && <Buttons label={tr("measure of change")} value={flame.by} choose={(by) => setFlame(by === "step" ? { by, scope: "steps" } : { by })} choices={[
			{ value: "share", name: tr("by share"), hint: tr("shares of each run's whole") }, { value: "step", name: tr("a step"), hint: tr("time a step, of the steady steps") }]} />}
	</>;
}

export function FlameBar({ weights, weight, match, legend }: { weights: string[]; weight: string; match: number | null; legend: preact.ComponentChildren }) {
	const flame = useStore((s) => s.flame);
	const selected = useStore((s) => s.range !== null || s.chosen.size > 0);
	const traces = useStore((s) => s.traces);
	const run = Math.min(flame.run, traces.length - 1);
	const kind = kindShown();
	return <div class="flame-bar">
		<Buttons label={tr("what is added up")} value={kind} choose={(value) => setFlame({ kind: value, weight: "", focus: "", view: flame.view === "sandwich" ? "down" : flame.view })} choices={FLAME_KINDS.map((k) => ({ value: k, name: KIND_NAMES[k][0], hint: KIND_NAMES[k][1] }))} />
		{weights.length > 1 && <Buttons label={tr("weight")} value={weight} choose={(value) => setFlame({ weight: value })} choices={weights.map((w) => ({ value: w, name: WEIGHT_NAMES[w] ?? w }))} />}
		<Runs flame={flame} />
		<Buttons label={tr("part of the run")} value={flame.scope} choose={(scope) => setFlame({ scope })} choices={[
			{ value: "all", name: tr("all"), hint: tr("the whole recording"), off: flame.run === 2 && flame.by === "step" }, { value: "steps", name: tr("steady steps"), hint: tr("the steps that are judged, without the warm-up") },
			{ value: "selection", name: tr("selection"), hint: selected ? tr("the chosen time and lanes") : tr("drag along the ruler to choose an interval"), off: !selected || (flame.run === 2 && flame.by === "step") }]} />
		{flame.run !== 2 && <select aria-label={tr("lanes")} value={flame.group} onChange={(e) => setFlame({ group: e.currentTarget.value })}>
			<option value="">{tr("all lanes")}</option>{groupsOf(traces[run]?.lanes.groups ?? [], run).map((g) => <option key={g.key} value={g.key}>{g.title}</option>)}</select>}
		{kind !== "operators" && <button class={onlyPython() ? "on" : ""} aria-pressed={onlyPython()} title={tr("of stacks that have functions of Python, list only these")} onClick={() => setFlame({ python: !onlyPython() })}>{tr("Python only")}</button>}
		<Buttons label={tr("direction")} value={flame.view} choose={(view) => setFlame({ view })} choices={[
			{ value: "down", name: tr("top-down"), hint: tr("callers over what they call") }, { value: "up", name: tr("bottom-up"), hint: tr("where time is spent, over who calls it") },
			{ value: "sandwich", name: tr("sandwich"), hint: flame.focus ? tr("one function, its callers over it and what it calls below") : tr("click a frame first"), off: !flame.focus }]} />
		<Buttons label={tr("form")} value={flame.shown} choose={(form) => setFlame({ shown: form })} choices={[{ value: "graph", name: tr("graph") }, { value: "table", name: tr("table") }]} />
		<input type="text" placeholder={tr("Highlight")} aria-label={tr("highlight frames")} value={flame.query} onInput={(e) => setFlame({ query: e.currentTarget.value })} />
		{match !== null && <output class="faint">{tr("{share} of all", { share: percent(match) })}</output>}
		{legend}
	</div>;
}
