/* SPDX-License-Identifier: Apache-2.0 */
/* CompareVerdict.tsx - whether the second run is faster, by how much, whether that is more than noise, and what makes the runs hard to compare. */
import type { Comparison } from "../data/compare";
import { keys, phrase, tr } from "../lang";
import { plain } from "../timeline/text";
import { duration } from "../timeline/units";

const WORDS: Record<Comparison["verdict"], string> = { faster: tr("B is faster"), slower: tr("B is slower"), same: tr("no difference"), unknown: tr("cannot tell") };

/** What a verdict may be. */
keys("gpu", "input", "launch", "sync", "cpu", "copy", "comm", "alloc", "first-use", "cannot-tell", "no-device-work");

/** +3.1 %, −7.3 %. */
export const percentChange = (share: number): string => `${share > 0 ? "+" : share < 0 ? "−" : "±"}${Math.abs(share * 100).toFixed(1)} %`;

/** What a run has there: a name or a number, but for a word that the server says. */
const valueOf = (n: Comparison["not_alike"][number], value: string): string => (n.what === "kernels of graphs" ? tr(value) : value);

export function CompareVerdict({ answer }: { answer: Comparison }) {
	const { change, before, after } = answer;
	const range = change.low !== null && change.high !== null ? tr("95 %: {low} … {high}", { low: percentChange(change.low), high: percentChange(change.high) }) : tr("no interval");
	const method = change.method === "welch" ? tr("by runs") : change.method === "bootstrap" ? tr("by steps") : change.method;
	return <section class={`compare-verdict ${answer.verdict}`}>
		<p><b class="big">{WORDS[answer.verdict]}</b> {phrase("{times} a step, {change}", { times: <b>{duration(before.step_ns)} → {duration(after.step_ns)}</b>, change: <b>{percentChange(change.share)}</b> })} <small>{tr("({range}, {method})", { range, method })}</small>
			{" "}· {tr("what holds it back: {verdict}", { verdict: before.verdict === after.verdict ? tr(after.verdict) : `${tr(before.verdict)} → ${tr(after.verdict)}` })} <small>· {tr("{before} and {after} steady steps", { before: before.steady_steps, after: after.steady_steps })}</small></p>
		{change.why && <p class="faint">{change.why}</p>}
		{answer.other_program && <p class="error">{tr("These are recordings of different programs.")}</p>}
		{answer.not_alike.length > 0 && <p class="faint">{tr("Not alike: {what}", { what: answer.not_alike.map((n) => `${tr(n.what)} ${plain(valueOf(n, n.before))} → ${plain(valueOf(n, n.after))}${n.so && `${tr(": ")}${tr(n.so)}`}`).join(" · ") })}</p>}
	</section>;
}
