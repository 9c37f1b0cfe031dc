/* SPDX-License-Identifier: Apache-2.0 */
/* CompareSplit.tsx - what the GPU does with a step, run A over run B, and what of it grew or went. The parts add up to the change of the step. */
import type { Comparison } from "../data/compare";
import { CAUSES, Look } from "../data/protocol";
import { phrase, tr } from "../lang";
import { goToIdle } from "../state/compare";
import { css, Palette } from "../timeline/theme";
import { amount, count, duration } from "../timeline/units";
import { useDark } from "./dark";

const NAMES: Record<string, [string, number]> = { compute: [tr("compute"), Look.kernel], exposed_comm: [tr("communication, exposed"), Look.comm], exposed_copy: [tr("copies, exposed"), Look.copy], fill: [tr("fills"), Look.fill] };

const causeOf = (part: string): string | null => (part.startsWith("idle_") ? part.slice(5).replaceAll("_", "-") : null);

export const signedTime = (ns: number): string => (ns > 0 ? `+${duration(ns)}` : ns < 0 ? `−${duration(-ns)}` : "±0");

function Bar({ answer, side, most }: { answer: Comparison; side: "before" | "after"; most: number }) {
	const palette = new Palette(useDark());
	const parts = answer.split.filter((p) => p[`${side}_ns`] > 0).sort((a, b) => Number(causeOf(a.part) !== null) - Number(causeOf(b.part) !== null));
	return <div class="compare-bar"><b class={side === "before" ? "of-a" : "of-b"}>{side === "before" ? "A" : "B"}</b><div class="stack-bar" style={{ width: `${answer[side].step_ns / most * 100}%` }} role="img" aria-label={tr("a step of {run}, as in the table", { run: side === "before" ? "A" : "B" })}>{parts.map((p) => {
		const cause = causeOf(p.part);
		const colour = cause ? palette.cause(CAUSES.findIndex((c) => c === cause)) : palette.look(NAMES[p.part]?.[1] ?? Look.kernel);
		return <i key={p.part} class={cause ? "idle" : ""} title={`${cause ? tr("idle: {cause}", { cause: tr(cause) }) : NAMES[p.part]?.[0] ?? p.part}${tr(": ")}${duration(p[`${side}_ns`])}`} style={{ flexGrow: p[`${side}_ns`], backgroundColor: css(colour) }} />;
	})}</div></div>;
}

const COUNTS: Record<string, string> = {
	waits: tr("waits"), waited_ns: tr("CPU waits for"), launches: tr("launches"), graph_launches: tr("graph launches"), kernels: tr("kernels"), copies: tr("copies"), fills: tr("fills"), allocs: tr("allocations"), h2d_bytes: tr("to the GPU"), d2h_bytes: tr("from the GPU"), pageable_bytes: tr("pageable"),
};
const shownCount = (key: string, n: number): string => (key.endsWith("_ns") ? duration(n) : key.endsWith("_bytes") ? amount(n, "B") : count(Math.round(n * 100) / 100));

export function CompareSplit({ answer }: { answer: Comparison }) {
	const most = Math.max(answer.before.step_ns, answer.after.step_ns, 1);
	const parts = answer.split.filter((p) => p.before_ns || p.after_ns);
	return <section><h3>{tr("What the GPU does with a step")}</h3>
		<Bar answer={answer} side="before" most={most} /><Bar answer={answer} side="after" most={most} />
		<table class="compare-table"><thead><tr><th class="text">{tr("part")}</th><th>A</th><th>B</th><th>{tr("change")}</th><th>{tr("show")}</th></tr></thead><tbody>
			{parts.map((p) => {
				const cause = causeOf(p.part);
				return <tr key={p.part}><td class="text">{cause ? phrase("idle: {cause}", { cause: <b>{tr(cause)}</b> }) : NAMES[p.part]?.[0] ?? p.part}</td><td>{duration(p.before_ns)}</td><td>{duration(p.after_ns)}</td>
					<td class={p.change_ns > 0 ? "grew" : p.change_ns < 0 ? "shrank" : ""}>{signedTime(p.change_ns)}</td>
					<td class="ways">{cause && [p.before_ns, p.after_ns].map((ns, t) => ns > 0 && <button key={t} aria-label={tr("the longest idle time of this cause in run {run}", { run: t ? "B" : "A" })} onClick={() => void goToIdle(t, cause)}>{t ? "B" : "A"}</button>)}</td></tr>;
			})}
			<tr class="sum"><td class="text">{tr("step")}</td><td>{duration(answer.before.step_ns)}</td><td>{duration(answer.after.step_ns)}</td><td class={answer.change.ns > 0 ? "grew" : "shrank"}>{signedTime(answer.change.ns)}</td><td /></tr></tbody></table>
		<h3>{tr("In a step")}</h3>
		<table class="compare-table"><tbody>{Object.entries(answer.per_step).filter(([key, n]) => COUNTS[key] && (n.before > 0 || n.after > 0)).map(([key, n]) =>
			<tr key={key} class={n.before === n.after ? "weak" : ""}><td class="text">{COUNTS[key]}</td><td>{shownCount(key, n.before)}</td><td>{shownCount(key, n.after)}</td></tr>)}</tbody></table>
	</section>;
}
