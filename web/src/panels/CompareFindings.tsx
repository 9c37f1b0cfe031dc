/* SPDX-License-Identifier: Apache-2.0 */
/* CompareFindings.tsx - findings that are gone, new, changed or still there, with what had been predicted of them. */
import type { Comparison } from "../data/compare";
import { lightFinding } from "../state/compare";
import { plain } from "../timeline/text";
import { duration } from "../timeline/units";

const cost = (ns: number | null): string => (ns === null ? "–" : duration(ns));

export function CompareFindings({ answer }: { answer: Comparison }) {
	if (!answer.findings.length)
		return <section><h3>Findings</h3><p class="empty">Neither run has any.</p></section>;
	return <section><h3>Findings</h3>
		<table class="compare-table"><thead><tr><th class="text">finding</th><th class="text short">change</th><th>costs A</th><th>costs B</th><th>show</th></tr></thead><tbody>{answer.findings.map((f) =>
			<tr key={f.id}><td class="text wrap" title={plain(f.place)}>{f.title} <small>{f.id}</small>{f.predicted && f.predicted.grade && f.change === "gone" && <small> · predicted {f.predicted.speedup.toFixed(2)}× ({f.predicted.low.toFixed(2)} – {f.predicted.high.toFixed(2)}), measured {f.predicted.measured.toFixed(2)}×: {f.predicted.grade}</small>}</td>
				<td class={`text short change-${f.change}`}>{f.change}</td><td>{cost(f.before_ns)}</td><td>{cost(f.after_ns)}</td>
				<td class="ways">{[f.before_ns, f.after_ns].map((ns, t) => ns !== null && <button key={t} aria-label={`evidence of ${f.id} in run ${t ? "B" : "A"}`} onClick={() => lightFinding(t, f.id)}>{t ? "B" : "A"}</button>)}</td></tr>)}</tbody></table>
	</section>;
}
