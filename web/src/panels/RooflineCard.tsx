/* SPDX-License-Identifier: Apache-2.0 */
/* RooflineCard.tsx - one point of the roofline in full: its name, what holds it back, its numbers. */
import type { RooflineDevice, RooflinePoint } from "../data/roofline";
import { plain } from "../timeline/text";
import { count, duration, percent, withPrefix } from "../timeline/units";

const NAME = 2000;

function rateOf(reached: number | null, peak: number | null | undefined, unit: string): string {
	return reached === null ? "not known" : `${withPrefix(reached, unit)}${peak ? ` of ${withPrefix(peak, unit)} (${percent(reached / peak)})` : ""}`;
}

export function RooflineCard({ point, device, go, edit }: { point: RooflinePoint; device: RooflineDevice | undefined; go: (p: RooflinePoint) => void; edit: (() => void) | null }) {
	const peak = device?.peaks.find((p) => p.precision === point.precision && p.tensor === point.tensor);
	return <div class="roofline-card" aria-live="polite">
		<h3><i class={`chip ${point.bound}`} /> <span class="name">{plain(point.name, NAME)}</span>
			{point.span !== null && <button title="show one of them in the timeline (Enter)" onClick={() => go(point)}>in the timeline</button>}
			{edit && <button class="try" title="see the step as it would be with this kernel at its roof" onClick={edit}>what if</button>}</h3>
		{point.says && <p class="says">{plain(point.says, NAME)}</p>}
		{point.advice?.map((line) => <p key={line} class="do">▸ {plain(line, NAME)}</p>)}
		<dl>
			<div><dt>time</dt><dd>{duration(point.ns)}, {percent(point.share)} of the kernels</dd></div>
			<div><dt>{point.kind === "operator" ? "calls" : "launches"}</dt><dd>{count(point.count)}, {duration(point.ns / Math.max(1, point.count))} each</dd></div>
			<div><dt>compute</dt><dd>{point.flop ? `${rateOf(point.flop_per_s, peak?.flop_per_s, "FLOP/s")}, ${point.precision}${point.tensor ? " on tensor cores" : ""}` : point.flop === 0 ? "no arithmetic that counts" : "not known"}</dd></div>
			<div><dt>memory</dt><dd>{rateOf(point.bytes_per_s, device?.bytes_per_s, "B/s")}</dd></div>
			{point.of_peak !== null && <div><dt>at its roof</dt><dd>{duration(Math.max(0, point.ns - point.gain_ns))}: {duration(point.gain_ns)} less</dd></div>}
			{point.occupancy != null && <div><dt>occupancy</dt><dd>{percent(point.occupancy)} at most{point.waves != null && `, ${Number(point.waves.toPrecision(2))} waves`}</dd></div>}
		</dl>
	</div>;
}
