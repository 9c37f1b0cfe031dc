/* SPDX-License-Identifier: Apache-2.0 */
/* CompareVerdict.tsx - whether the second run is faster, by how much, whether that is more than noise, and what makes the runs hard to compare. */
import type { Comparison } from "../data/compare";
import { plain } from "../timeline/text";
import { duration } from "../timeline/units";

const WORDS: Record<Comparison["verdict"], string> = { faster: "B is faster", slower: "B is slower", same: "no difference", unknown: "cannot tell" };

/** +3.1 %, −7.3 %. */
export const percentChange = (share: number): string => `${share > 0 ? "+" : share < 0 ? "−" : "±"}${Math.abs(share * 100).toFixed(1)} %`;

export function CompareVerdict({ answer }: { answer: Comparison }) {
	const { change, before, after } = answer;
	const range = change.low !== null && change.high !== null ? `95 %: ${percentChange(change.low)} … ${percentChange(change.high)}` : "no interval";
	return <section class={`compare-verdict ${answer.verdict}`}>
		<p><b class="big">{WORDS[answer.verdict]}</b> <b>{duration(before.step_ns)} → {duration(after.step_ns)}</b> a step, <b>{percentChange(change.share)}</b> <small>({range}, {change.method === "welch" ? "by runs" : change.method === "bootstrap" ? "by steps" : change.method})</small>
			{" "}· what holds it back: {before.verdict === after.verdict ? after.verdict : `${before.verdict} → ${after.verdict}`} <small>· {before.steady_steps} and {after.steady_steps} steady steps</small></p>
		{change.why && <p class="faint">{change.why}</p>}
		{answer.other_program && <p class="error">These are recordings of different programs.</p>}
		{answer.not_alike.length > 0 && <p class="faint">Not alike: {answer.not_alike.map((n) => `${n.what} ${plain(n.before)} → ${plain(n.after)}${n.so && `: ${n.so}`}`).join(" · ")}</p>}
	</section>;
}
