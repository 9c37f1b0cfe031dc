/* SPDX-License-Identifier: Apache-2.0 */
/* WhatIf.tsx - edits to switch on and off, and what the step would take then. The timeline of the step is in Prediction. */
import { useEffect } from "preact/hooks";
import { tr } from "../lang";
import { asking, predict } from "../state/actions";
import { askApplicable, editKernels, editPlaces, editRanges } from "../state/edit_places";
import { runTitle, useStore } from "../state/store";
import { duration } from "../timeline/units";
import { EditControl } from "./EditControl";
import { splitEdits } from "./edit_text";

function Headline() {
	const answer = useStore((s) => s.whatIf);
	const error = useStore((s) => s.whatIfError);
	const asking = useStore((s) => s.asking);
	if (error)
		return <p class="error">{error}</p>;
	if (!answer)
		return <p class="empty">{asking ? tr("Replaying…") : tr("Switch an edit on.")}</p>;
	return <div class={`prediction ${asking ? "asking" : ""}`}>
		<p class="big"><b>{duration(answer.base)}</b> → <b class="after">{duration(answer.step)}</b> <em>{answer.speedup.toFixed(2)}×</em></p>
		<p><small>{tr("{least} to {most}", { least: duration(answer.p10), most: duration(answer.p90) })}{answer.bound && tr("; then bound by {bound}", { bound: tr(answer.bound) })}{answer.note && tr("; ") + answer.note}
			{answer.base !== answer.recorded && tr(". Recorded: {time}, with the cost of recording", { time: duration(answer.recorded) })}</small></p>
	</div>;
}

export function WhatIf() {
	const traces = useStore((s) => s.traces);
	const on = useStore((s) => s.edits);
	const inline = useStore((s) => s.info?.inline ?? false);
	const trace = useStore((s) => s.whatIfTrace);
	const known = traces[trace]?.edits;
	const isKnown = known !== null && known !== undefined;
	useEffect(() => {
		if (isKnown)
			void askApplicable(trace);
		if (isKnown && !asking())
			void predict(on);
	}, [isKnown, trace]);
	useStore((s) => s.selected);
	if (!known)
		return <p class="empty">{traces[trace]?.failed || tr("Diagnosing…")}</p>;
	const set = (id: string, text: string | null): void =>
		void predict([...on.filter((e) => e !== id && !e.startsWith(`${id}:`)), ...(text === null ? [] : [text])]);
	const choices = { places: editPlaces(traces[trace]!), kernels: editKernels(traces[trace]!), ranges: editRanges(traces[trace]!) };
	return <div class="whatif">
		{traces.length > 1 && <div class="group which">{traces.map((t, i) => <button key={i} class={i === trace ? "on" : ""} aria-pressed={i === trace}
			onClick={() => void predict([], i)}>{i ? "B" : "A"} {runTitle(t)}</button>)}</div>}
		<div class="stays"><Headline /></div>
		{known.suggested.length > 0 && <section><h3>{tr("What the findings suggest")}</h3>{known.suggested.map((s) =>
			<button key={s.edits} class={`suggestion ${on.join(",") === s.edits ? "on" : ""}`} onClick={() => void predict(splitEdits(s.edits, known.edits))}>
				<b>{s.edits}</b><small>{duration(s.step)}</small><em>{s.speedup.toFixed(2)}×</em></button>)}</section>}
		{inline && <p class="empty">{tr("This page holds what the findings suggest. 'headway view' replays any other edit.")}</p>}
		{!inline && <section><h3>{tr("Edits")}</h3>{known.edits.map((e) => <EditControl key={e.id} edit={e} choices={choices}
			on={on.find((o) => o === e.id || o.startsWith(`${e.id}:`)) ?? null} change={(text) => set(e.id, text)} />)}</section>}
	</div>;
}
