/* SPDX-License-Identifier: Apache-2.0 */
/* CompareFindings.tsx - findings that are gone, new, changed or still there, with what had been predicted of them. */
import type { CompareFinding, Comparison } from "../data/compare";
import { tr } from "../lang";
import { lightFinding } from "../state/compare";
import { plain } from "../timeline/text";
import { duration } from "../timeline/units";

const cost = (ns: number | null): string => (ns === null ? "–" : duration(ns));

/** What the fix was predicted to be worth beside what it was worth. */
const predictionText = ({ speedup, low, high, measured, grade }: NonNullable<CompareFinding["predicted"]>): string =>
	tr("predicted {speedup}× ({low} – {high}), measured {measured}×: {grade}", { speedup: speedup.toFixed(2), low: low.toFixed(2), high: high.toFixed(2), measured: measured.toFixed(2), grade: tr(grade) });

export function CompareFindings({ answer }: { answer: Comparison }) {
	if (!answer.findings.length)
		return <section><h3>{tr("Findings")}</h3><p class="empty">{tr("Neither run has any.")}</p></section>;
	return <section><h3>{tr("Findings")}</h3>
		<table class="compare-table"><thead><tr><th class="text">{tr("finding")}</th><th class="text short">{tr("change")}</th><th>{tr("costs A")}</th><th>{tr("costs B")}</th><th>{tr("show")}</th></tr></thead><tbody>{answer.findings.map((f) =>
			<tr key={f.id}><td class="text wrap" title={plain(f.place)}>{f.title} <small>{f.id}</small>{f.predicted && f.predicted.grade && f.change === "gone" && <small> · {predictionText(f.predicted)}</small>}</td>
				<td class={`text short change-${f.change}`}>{tr(f.change)}</td><td>{cost(f.before_ns)}</td><td>{cost(f.after_ns)}</td>
				<td class="ways">{[f.before_ns, f.after_ns].map((ns, t) => ns !== null && <button key={t} aria-label={tr("evidence of {id} in run {run}", { id: f.id, run: t ? "B" : "A" })} onClick={() => lightFinding(t, f.id)}>{t ? "B" : "A"}</button>)}</td></tr>)}</tbody></table>
	</section>;
}
