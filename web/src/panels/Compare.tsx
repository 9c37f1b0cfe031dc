/* SPDX-License-Identifier: Apache-2.0 */
/* Compare.tsx - run A against run B, as `headway diff` compares them: is it faster, is that sure, what grew and what went. */
import { useEffect } from "preact/hooks";
import { tr } from "../lang";
import { askCompare } from "../state/compare";
import { useStore } from "../state/store";
import { CompareFindings } from "./CompareFindings";
import { CompareRows } from "./CompareRows";
import { CompareSplit } from "./CompareSplit";
import { CompareSteps } from "./CompareSteps";
import { CompareVerdict } from "./CompareVerdict";

export function Compare() {
	const { answer, error } = useStore((s) => s.compare);
	// Drawn again when the steps of a run come.
	useStore((s) => s.traces);
	useEffect(() => void askCompare(), []);
	if (!answer)
		return <section class="compare" aria-label={tr("comparison")}><p class={`empty pad ${error ? "error" : ""}`}>{error || tr("Comparing the two runs…")}</p></section>;
	return <section class="compare" aria-label={tr("comparison")}>
		<CompareVerdict answer={answer} />
		<div class="compare-columns">
			<div><CompareSteps /><CompareSplit answer={answer} /></div>
			<div><CompareFindings answer={answer} /><CompareRows answer={answer} /></div>
		</div>
	</section>;
}
