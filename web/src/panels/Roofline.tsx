/* SPDX-License-Identifier: Apache-2.0 */
/* Roofline.tsx - a panel of the dock: kernels and operators under the roofs of their device, and the same as a table. */
import { useState } from "preact/hooks";
import { BOUNDS, type Roofline as Answer, type RooflinePoint } from "../data/roofline";
import { phrase, tr } from "../lang";
import { predict, select } from "../state/actions";
import { showPanel } from "../state/layout";
import { runTitle, set, useStore, type Trace } from "../state/store";
import { plain } from "../timeline/text";
import { duration, percent } from "../timeline/units";
import { editOf } from "./roofline_edit";
import { RooflineCard } from "./RooflineCard";
import { RooflineHow } from "./RooflineHow";
import { RooflinePlot } from "./RooflinePlot";
import { RooflineTable } from "./RooflineTable";
import { isPlaced } from "./roofline_scale";

type Kind = RooflinePoint["kind"];

/** Kernels first, unless only operators have a place in the plot. */
function kindOf(answer: Answer, wanted: Kind | null): Kind {
	if (wanted && answer.points.some((p) => p.kind === wanted))
		return wanted;
	const first = answer.points.find((p) => p.kind === "kernel" && isPlaced(p)) ?? answer.points.find(isPlaced) ?? answer.points[0];
	return first?.kind ?? "kernel";
}

/** What the points are worth together; a kernel cannot gain more than to its roof. */
function Sum({ points, answer, device }: { points: RooflinePoint[]; answer: Answer; device: number }) {
	const known = points.filter((p) => p.of_peak !== null);
	const gain = known.reduce((sum, p) => sum + p.gain_ns, 0);
	const time = known.reduce((sum, p) => sum + p.ns, 0);
	const all = answer.devices.find((d) => d.device === device)?.kernel_ns ?? 0;
	if (!known.length)
		return null;
	return <span class="sum">{phrase("at their roofs they would take {least} instead of {time}", { least: <b>{duration(Math.max(0, time - gain))}</b>, time: <b>{duration(time)}</b> })}{all > 0 && time <= all && <small> {tr("({share} of the kernels' time is known)", { share: percent(time / all) })}</small>}</span>;
}

function Legend({ points }: { points: RooflinePoint[] }) {
	return <span class="bounds">{BOUNDS.filter((b) => points.some((p) => p.bound === b)).map((b) => <span key={b}><i class={`chip ${b}`} />{b === "unknown" ? tr("cannot tell") : tr(b)}</span>)}</span>;
}

function Body({ trace, index, answer }: { trace: Trace; index: number; answer: Answer }) {
	const [wanted, setWanted] = useState<{ kind: Kind | null; device: number | null }>({ kind: null, device: null });
	const [chosen, choose] = useState<RooflinePoint | null>(null);
	const [hovered, hover] = useState<RooflinePoint | null>(null);
	const kind = kindOf(answer, wanted.kind);
	const device = answer.devices.find((d) => d.device === wanted.device) ?? answer.devices[0]!;
	const points = answer.points.filter((p) => p.kind === kind && p.device === device.device);
	const kinds = (["kernel", "operator"] as const).filter((k) => answer.points.some((p) => p.kind === k));
	const go = (p: RooflinePoint): void => {
		choose(p);
		if (p.span !== null)
			void select(index, p.span, true, true);
	};
	const inline = useStore((s) => s.info?.inline ?? false);
	const text = chosen && !inline && trace.steps?.phases.length ? editOf(chosen, answer.points) : null;
	const edit = text === null ? null : (): void => {
		showPanel("whatif");
		void predict([text], index);
	};
	const shared = { points, chosen, hovered, hover, choose, go };
	const bare = points.filter((p) => p.of_peak !== null && !isPlaced(p)).length;
	return <>
		<div class="roofline-bar">
			<b>{tr("Roofline")}</b>
			{answer.devices.length > 1 ? <select aria-label={tr("device")} value={device.device} onChange={(e) => setWanted({ ...wanted, device: Number(e.currentTarget.value) })}>
				{answer.devices.map((d) => <option key={d.device} value={d.device}>GPU {d.device} {plain(d.name)}</option>)}</select> : <span class="faint">{plain(device.name)}</span>}
			{kinds.length > 1 && <span class="group">{kinds.map((k) => <button key={k} class={k === kind ? "on" : ""} aria-pressed={k === kind} onClick={() => setWanted({ ...wanted, kind: k })}>{tr(k === "kernel" ? "kernels" : "operators")}</button>)}</span>}
			<Legend points={points} />
			<Sum points={points} answer={answer} device={device.device} />
		</div>
		<div class="roofline-body">
			<div class="roofline-left">
				<RooflinePlot device={device} {...shared} />
				{!device.peaks.length && <p class="empty">{tr("What this device can do at most is not known: there are points, and no roofs.")}</p>}
				{bare > 0 && <p class="empty">{tr(bare === 1 ? "One does no arithmetic that counts: only in the table." : "{n} do no arithmetic that counts: only in the table.", { n: bare })}</p>}
			</div>
			<div class="roofline-right">
				{!points.some(isPlaced) && <RooflineHow trace={trace} />}
				{points.length > 0 && <RooflineTable {...shared} />}
				{chosen && points.includes(chosen) && <RooflineCard point={chosen} device={device} go={go} edit={edit} />}
			</div>
		</div>
	</>;
}

export function Roofline() {
	const traces = useStore((s) => s.traces);
	const index = useStore((s) => s.rooflineTrace);
	const trace = traces[index];
	if (!trace)
		return null;
	const answer = trace.roofline;
	return <section class="drawer roofline" aria-label={tr("roofline")}>
		{traces.length > 1 && <div class="group which">{traces.map((t, i) => <button key={i} class={i === index ? "on" : ""} aria-pressed={i === index}
			onClick={() => set({ rooflineTrace: i })}>{i ? "B" : "A"} {runTitle(t)}</button>)}</div>}
		{!answer ? <p class="empty pad">{trace.failed ? tr("No roofline: {why}", { why: trace.failed }) : trace.info.diagnosis === "none" ? tr("No diagnosis was asked for, which the roofline is part of.") : tr("Looking at the kernels…")}</p>
			: !answer.devices.length ? <p class="empty pad">{tr("This recording has no kernels.")}</p>
				: <Body key={index} trace={trace} index={index} answer={answer} />}
	</section>;
}
