/* SPDX-License-Identifier: Apache-2.0 */
/* Stack.tsx - a stack: the user's frame first and marked, then all frames from the innermost out, runs of native ones folded. */
import type { Frame, SpanDetails } from "../data/protocol";
import { tr } from "../lang";
import { plain } from "../timeline/text";
import { CopyButton } from "./CopyButton";
import { placeText } from "./readout";

/** So many native frames in a row are folded. */
const FOLDED = 3;

const isPython = (f: Frame): boolean => /\.py$|^<.*>$/.test(f.file);

function FrameLine({ frame: f, mine }: { frame: Frame; mine: boolean }) {
	return <li class={mine ? "mine" : ""}><b>{plain(f.function) || "?"}</b> <small>{plain(placeText(f) || f.module)}</small></li>;
}

/** Frames of one kind that follow one another. */
function runsOf(frames: Frame[]): Frame[][] {
	const runs: Frame[][] = [];
	for (const frame of frames) {
		const last = runs.at(-1);
		if (last && isPython(last[0]!) === isPython(frame))
			last.push(frame);
		else
			runs.push([frame]);
	}
	return runs;
}

export function Stack({ frames, place }: { frames: Frame[]; place: SpanDetails["place"] }) {
	if (!frames.length)
		return null;
	const isMine = (f: Frame): boolean => !!place?.file && f.file === place.file && f.line === place.line;
	const named = frames.findIndex((f) => f.function);
	// Frames of libraries without symbols tell nothing of the program.
	const hidden = named > 0 && !frames.slice(0, named).some(isMine) ? frames.slice(0, named) : [];
	const runs = runsOf(frames.slice(hidden.length));
	// A program without Python is native all over: nothing is hidden then.
	const folds = runs.some((run) => isPython(run[0]!));
	const where = place ? placeText(place) : "";
	return <section><h3>{tr("Stack")}</h3>
		{where && <p class="yours"><b>{plain(place!.function) || "?"}</b> <span>{plain(where)}</span> <CopyButton text={where} title={tr("copy the place")} /></p>}
		<div class="stack">{hidden.length > 0 && <details class="unnamed"><summary>{tr(hidden.length === 1 ? "{n} frame without a name" : "{n} frames without a name", { n: hidden.length })} <small>{plain(hidden[0]!.module)}</small></summary>
			<ol>{hidden.map((f, k) => <FrameLine key={k} frame={f} mine={false} />)}</ol></details>}{runs.map((run, i) => (folds && !isPython(run[0]!) && run.length >= FOLDED && !run.some(isMine)
			? <details key={i}><summary>{tr("{n} native frames", { n: run.length })} <small>{plain(run[0]!.function)} …</small></summary><ol>{run.map((f, k) => <FrameLine key={k} frame={f} mine={false} />)}</ol></details>
			: <ol key={i}>{run.map((f, k) => <FrameLine key={k} frame={f} mine={isMine(f)} />)}</ol>))}</div></section>;
}
