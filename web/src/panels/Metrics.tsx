/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics.tsx - what the counters of the devices said in a stretch of time. */
import type { Lane, Metric } from "../data/protocol";
import { tr } from "../lang";
import { openLane } from "../state/selection";
import { useStore } from "../state/store";
import { counterTitle } from "../timeline/counter";
import { plain } from "../timeline/text";
import { amount } from "../timeline/units";

/** A mean of fewer samples says little about a span, as in `headway stats`. */
const FEWEST = 5;

export function Metrics({ trace, metrics, title, leads }: { trace: number; metrics: Metric[] | undefined; title: string; leads?: boolean }) {
	const lanes = useStore((s) => s.traces[trace]!.lanes.lanes);
	const rows = (metrics ?? []).flatMap((m) => {
		const lane = lanes.find((l) => l.lane === m.lane);
		return lane && !lane.flags && !(lane.min === 0 && lane.max === 0) ? [{ ...m, lane }] : [];
	});
	if (!rows.length)
		return null;
	const few = Math.min(...rows.map((r) => r.samples ?? FEWEST));
	const several = new Set(rows.map((r) => r.lane.device)).size > 1;
	const name = (lane: Lane): string => `${several && lane.device !== undefined ? `GPU ${lane.device} ` : ""}${plain(counterTitle(lane))}`;
	return <section><h3>{title} <small>{tr("mean, least to largest")}</small></h3><table class="rows metrics"><tbody>{rows.map(({ lane, mean, least, most, last, samples }) => {
		const unit = lane.unit ?? "";
		const [low, high] = [amount(least, unit), amount(most, unit)];
		return <tr key={lane.lane} title={plain(lane.title)} class={(samples ?? FEWEST) < FEWEST ? "weak" : ""}>
			<td class="bar-cell">{unit === "%" && <span class="bar" style={{ width: `${Math.min(100, Math.max(0, mean))}%` }} />}
				{leads ? <button class="lead text" onClick={() => openLane(trace, lane.lane)} title={`${plain(lane.title)}\n${tr("at the end {value}. Go to its lane.", { value: amount(last, unit) })}`}>{name(lane)}</button> : <span class="text">{name(lane)}</span>}</td>
			<td class="n">{amount(mean, unit)}</td><td class="n wide"><small>{low === high ? "" : `${low} – ${high}`}</small></td></tr>;
	})}</tbody></table>
	{few < FEWEST && <p class="empty">{tr(few === 1 ? "One sample of a counter falls into this time: what else ran then is in the values, too." : "{n} samples of a counter fall into this time: what else ran then is in the values, too.", { n: few })}</p>}</section>;
}
