/* SPDX-License-Identifier: Apache-2.0 */
/* HeadwayPlot.tsx - headway over the steady steps, a plot a device: how much work waits on the GPU. A press goes there. */
import type { Headway, Phase } from "../data/protocol";
import { useEffect, useState } from "preact/hooks";
import { tr } from "../lang";
import { headwayOf, show } from "../state/actions";
import { state, type Trace } from "../state/store";
import { duration } from "../timeline/units";

const WIDE = 346;
const TALL = 54;
const MOST_DEVICES = 8;

function pathOf(points: Headway["devices"][number]["points"], phase: Phase, most: number): string {
	const x = (time: number): string => (Math.min(1, Math.max(0, (time - phase.from) / (phase.to - phase.from))) * WIDE).toFixed(1);
	// One point a pixel is enough: the highest.
	const highest = new Map<number, [number, number]>();
	for (const [time, , work] of points) {
		const pixel = Math.round(Number(x(time)));
		if ((highest.get(pixel)?.[1] ?? -1) < work)
			highest.set(pixel, [time, work]);
	}
	const steps = [...highest.values()].map(([time, work]) => `H${x(time)}V${(TALL - work / most * (TALL - 4)).toFixed(1)}`);
	return `M0 ${TALL}${steps.join("")}H${WIDE}V${TALL}Z`;
}

export function HeadwayPlot({ trace }: { trace: Trace }) {
	const main = trace.steps?.main ?? 0;
	const phase = trace.steps?.phases[main];
	const [fine, setFine] = useState<Headway | null>(null);
	// The phase may be a small part of the recording: ask for as many points as the plot has pixels.
	useEffect(() => {
		if (phase)
			void headwayOf(state.traces.indexOf(trace), phase.from, phase.to, WIDE).then(setFine);
	}, [phase]);
	const devices = (fine ?? trace.headway)?.devices.filter((d) => (d.phase === main || d.phase < 0) && d.max_work > 0 && d.points.length > 1).slice(0, MOST_DEVICES) ?? [];
	if (!phase || !devices.length)
		return null;
	const go = (e: MouseEvent): void => {
		const box = (e.currentTarget as Element).getBoundingClientRect();
		const time = phase.from - trace.shift + (phase.to - phase.from) * (e.clientX - box.left) / box.width;
		show(time - phase.mean * 1.5, time + phase.mean * 1.5);
	};
	return <section class="plot"><h3>{tr("Headway over time")} <small>{tr("work launched and not finished; 0: the GPU waits for the CPU")}</small></h3>
		{devices.map((d) => <figure key={d.device}><figcaption><small>{devices.length > 1 && `GPU ${d.device}${tr(", ")}`}{tr("up to {time}", { time: duration(d.max_work) })}</small>
			<small>{duration(phase.to - phase.from)}</small></figcaption>
			<svg viewBox={`0 0 ${WIDE} ${TALL}`} preserveAspectRatio="none" role="img" aria-label={tr("headway over time")} onClick={go}>
				<path d={pathOf(d.points, phase, d.max_work)} /></svg></figure>)}
	</section>;
}
