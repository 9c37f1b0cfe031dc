/* SPDX-License-Identifier: Apache-2.0 */
/* Headline.tsx - a run in three numbers: how long a step is, how busy the GPU, how far the CPU is ahead. */
import type { DiagnosedPhase, Diagnosis } from "../data/protocol";
import { tr } from "../lang";
import { count, duration, percent } from "../timeline/units";

/** As `headway analyze` says it. */
function aheadOf(phase: DiagnosedPhase): [string, string] | null {
	const best = phase.headway.reduce<DiagnosedPhase["headway"][number] | null>((a, b) => (a && a.max_ns >= b.max_ns ? a : b), null);
	const window = phase.window.end_ns - phase.window.start_ns;
	if (!best)
		return null;
	if (best.empty_ns > window / 2)
		return ["0", tr("headway for {share} of the time, at most {time}", { share: percent(best.empty_ns / window), time: duration(best.max_ns) })];
	return best.steps >= 2 ? [duration(best.mean_ns), tr("headway: the CPU is {n} steps ahead", { n: Math.round(best.steps) })]
		: [`≤ ${duration(best.max_ns)}`, tr("headway: how far the CPU is ahead")];
}

const FOUND: Record<string, string> = { sequence: tr(", found without marks"), waits: tr(", told apart by their waits"), one: tr(": nothing repeats") };

function about(d: Diagnosis, phase: DiagnosedPhase): string {
	const steps = `${tr(phase.steps === 1 ? "{n} step" : "{n} steps", { n: count(phase.steps) })}${FOUND[phase.source] ?? (phase.name ? tr(" ({name}…)", { name: phase.name }) : "")}`;
	const steady = phase.steady_steps < phase.steps && phase.source !== "one" ? tr(", {n} of them steady", { n: count(phase.steady_steps) }) : "";
	const spread = phase.p10_ns < phase.p90_ns ? ` · ${tr("median {median}, p10 to p90 {p10} to {p90}", { median: duration(phase.median_ns), p10: duration(phase.p10_ns), p90: duration(phase.p90_ns) })}` : "";
	return `${steps}${steady}${spread}${phase.bursty ? tr(", bursty") : ""} · ${d.summary.records_say}`;
}

/** The step that predictions begin with, where a reader sees another time than that of the step: the recorder's cost is not in it. */
function baseOf(d: Diagnosis, phase: DiagnosedPhase): number | null {
	const base = [...d.findings, ...d.acquitted].find((f) => f.phase === d.summary.phase && f.predicted)?.predicted?.before_ns ?? 0;
	return base > 0 && Math.abs(base - phase.step_ns) > phase.step_ns / 100 ? base : null;
}

export function Headline({ diagnosis }: { diagnosis: Diagnosis }) {
	const phase = diagnosis.phases[diagnosis.summary.phase ?? -1];
	if (!phase)
		return null;
	const ahead = aheadOf(phase);
	const base = baseOf(diagnosis, phase);
	return <><div class="tiles">
		<div><b>{duration(phase.step_ns)}</b><small>{phase.source === "one" ? tr("in all") : tr("a step")}</small></div>
		<div><b>{percent(diagnosis.summary.busy)}</b><small>{tr("GPU busy")}</small></div>
		{ahead && <div><b>{ahead[0]}</b><small>{ahead[1]}</small></div>}
	</div><p class="about"><small>{about(diagnosis, phase)}</small></p>
	{base && <p class="about base"><small>{tr("{time} a step without the cost of recording: predictions begin there", { time: duration(base) })}</small></p>}</>;
}
