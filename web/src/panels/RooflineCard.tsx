/* SPDX-License-Identifier: Apache-2.0 */
/* RooflineCard.tsx - one point of the roofline in full: its name, what holds it back, its numbers. */
import type { RooflineDevice, RooflinePoint } from "../data/roofline";
import { tr } from "../lang";
import { plain } from "../timeline/text";
import { count, duration, percent, withPrefix } from "../timeline/units";

const NAME = 2000;

function rateOf(reached: number | null, peak: number | null | undefined, unit: string): string {
	if (reached === null)
		return tr("not known");
	return peak ? tr("{rate} of {peak} ({share})", { rate: withPrefix(reached, unit), peak: withPrefix(peak, unit), share: percent(reached / peak) }) : withPrefix(reached, unit);
}

export function RooflineCard({ point, device, go, edit }: { point: RooflinePoint; device: RooflineDevice | undefined; go: (p: RooflinePoint) => void; edit: (() => void) | null }) {
	const peak = device?.peaks.find((p) => p.precision === point.precision && p.tensor === point.tensor);
	return <div class="roofline-card" aria-live="polite">
		<h3><i class={`chip ${point.bound}`} /> <span class="name">{plain(point.name, NAME)}</span>
			{point.span !== null && <button title={tr("show one of them in the timeline (Enter)")} onClick={() => go(point)}>{tr("in the timeline")}</button>}
			{edit && <button class="try" title={tr("see the step as it would be with this kernel at its roof")} onClick={edit}>{tr("what if")}</button>}</h3>
		{point.says && <p class="says">{plain(point.says, NAME)}</p>}
		{point.advice?.map((line) => <p key={line} class="do">▸ {plain(line, NAME)}</p>)}
		<dl>
			<div><dt>{tr("time")}</dt><dd>{tr("{time}, {share} of the kernels", { time: duration(point.ns), share: percent(point.share) })}</dd></div>
			<div><dt>{point.kind === "operator" ? tr("calls") : tr("launches")}</dt><dd>{tr("{n}, {time} each", { n: count(point.count), time: duration(point.ns / Math.max(1, point.count)) })}</dd></div>
			<div><dt>{tr("compute")}</dt><dd>{point.flop ? `${rateOf(point.flop_per_s, peak?.flop_per_s, "FLOP/s")}${tr(", ")}${point.tensor ? tr("{precision} on tensor cores", { precision: point.precision }) : point.precision}` : point.flop === 0 ? tr("no arithmetic that counts") : tr("not known")}</dd></div>
			<div><dt>{tr("memory")}</dt><dd>{rateOf(point.bytes_per_s, device?.bytes_per_s, "B/s")}</dd></div>
			{point.of_peak !== null && <div><dt>{tr("at its roof")}</dt><dd>{tr("{time}: {gain} less", { time: duration(Math.max(0, point.ns - point.gain_ns)), gain: duration(point.gain_ns) })}</dd></div>}
			{point.occupancy != null && <div><dt>{tr("occupancy")}</dt><dd>{tr("{share} at most", { share: percent(point.occupancy) })}{point.waves != null && tr(", {n} waves", { n: Number(point.waves.toPrecision(2)) })}</dd></div>}
		</dl>
	</div>;
}
