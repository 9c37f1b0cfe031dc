/* SPDX-License-Identifier: Apache-2.0 */
/* SearchPanel.tsx - hits of the search, by lane. */
import type { Span } from "../data/protocol";
import { phrase, tr } from "../lang";
import { searchMore } from "../state/actions";
import { useStore, type Trace } from "../state/store";
import { tableOfSearch } from "../state/table";
import { laneTitle } from "../timeline/lane_title";
import { stepTitle } from "../timeline/text";
import { count, duration } from "../timeline/units";
import { SpanLink } from "./SpanLink";

/** When a span began after the first event, and its step: of device work the step's time on the device counts, of all else that on the CPU. */
function placeInTime({ info, steps }: Trace, span: Span, onDevice: boolean): string {
	const time = duration(span.start - info.start);
	for (const phase of steps?.phases ?? []) {
		const k = phase.steps.findIndex((s) => s[onDevice ? 0 : 2] <= span.start && span.start < s[onDevice ? 1 : 3]);
		if (k >= 0)
			return tr("{time}, {step}", { time, step: stepTitle(phase.steps[k]![6], k) });
	}
	return time;
}

export function SearchPanel() {
	const found = useStore((s) => s.found);
	const query = useStore((s) => s.query);
	const traces = useStore((s) => s.traces);
	if (!query)
		return <p class="empty">{phrase("Type in the search box: words of names, or {query}. Hits are marked in the timeline and in the strip above it; Enter goes from one to the next.", { query: <code>kernel name~gemm dur&gt;50us step:12</code> })}</p>;
	if (!found.length)
		return <p class="empty">{tr("Searching…")}</p>;
	return <div class="search"><div class="buttons"><button onClick={tableOfSearch} title="(t)">{tr("as a table")}</button></div>{found.map((answer, t) => {
		if (!answer)
			return <p key={t} class="empty">{tr("No answer.")}</p>;
		const titles = new Map(traces[t]!.lanes.lanes.map((l) => [l.lane, l.title]));
		const types = new Map(traces[t]!.lanes.lanes.map((l) => [l.lane, l.type]));
		return <div key={t}><p class="summary">{traces.length > 1 && <b>{t ? "B" : "A"}</b>}<span>{phrase(answer.hits === 1 ? "{n} hit" : "{n} hits", { n: <b>{count(answer.hits)}</b> })}{answer.more && tr(" and more")}</span>
			{answer.names > 0 && <span>{phrase(answer.names === 1 ? "{n} name" : "{n} names", { n: <b>{count(answer.names)}</b> })}</span>}</p>
			{answer.lanes.map((lane) => <section key={lane.lane}><h3>{laneTitle(titles.get(lane.lane) ?? String(lane.lane))} <small>{count(lane.count)}</small></h3>
				{lane.first.map((s) => <SpanLink key={s.id} trace={t} span={s} stay at={placeInTime(traces[t]!, s, types.get(lane.lane) === "stream")} />)}
				{lane.first.length < lane.count && <button class="more" onClick={() => void searchMore(t, lane.lane)}>{tr("{n} more", { n: count(lane.count - lane.first.length) })}</button>}</section>)}
		</div>;
	})}</div>;
}
