/* SPDX-License-Identifier: Apache-2.0 */
/* SearchPanel.tsx - hits of the search, by lane. */
import { Look, type Span } from "../data/protocol";
import { phrase, tr } from "../lang";
import { searchMore } from "../state/actions";
import { useStore, type Trace } from "../state/store";
import { tableOfSearch } from "../state/table";
import { laneTitle } from "../timeline/lane_title";
import { stepTitle } from "../timeline/text";
import { count, momentText } from "../timeline/units";
import { SpanLink } from "./SpanLink";

/** Times far apart have this many ns of accuracy: 0.01 s. */
const COARSEST = 1e7;

/** The process of steps that are of all processes. */
const NOBODY = -1;

/** When a span began after the first event, and its step: the last of its process that has begun, if it is not over. Of device work the step's time on the
 * device counts, of all else that on the CPU. */
function placeInTime({ info, steps, lanes }: Trace, span: Span, apart: number): string {
	const time = momentText(span.start - info.start, apart);
	const at = (span.look ?? Look.api) <= Look.graph ? 0 : 2;
	const all = steps?.phases ?? [];
	const process = all.some((p) => p.process === NOBODY) ? NOBODY : lanes.lanes.find((l) => l.lane === span.lane)?.process;
	let last = { from: -1, to: -1, title: "" };
	for (const phase of all)
		if (phase.process === process)
			phase.steps.forEach((s, k) => {
				if (s[at] <= span.start && s[at] >= last.from)
					last = { from: s[at], to: s[at === 0 ? 1 : 3], title: stepTitle(s[6], k) };
			});
	return span.start < last.to ? tr("{time}, {step}", { time, step: last.title }) : time;
}

/** How near neighbours of a list stand, ns: their times need as many digits. */
const apartOf = (spans: Span[]): number => spans.reduce((least, s, i) => (i > 0 && s.start > spans[i - 1]!.start ? Math.min(least, s.start - spans[i - 1]!.start) : least), COARSEST);

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
		return <div key={t}><p class="summary">{traces.length > 1 && <b>{t ? "B" : "A"}</b>}<span>{phrase(answer.hits === 1 ? "{n} hit" : "{n} hits", { n: <b>{count(answer.hits)}</b> })}{answer.more && tr(" and more")}</span>
			{answer.names > 0 && <span>{phrase(answer.names === 1 ? "{n} name" : "{n} names", { n: <b>{count(answer.names)}</b> })}</span>}</p>
			{answer.lanes.map((lane) => ({ ...lane, apart: apartOf(lane.first) })).map((lane) => <section key={lane.lane}><h3>{laneTitle(titles.get(lane.lane) ?? String(lane.lane))} <small>{count(lane.count)}</small></h3>
				{lane.first.map((s) => <SpanLink key={s.id} trace={t} span={s} stay at={placeInTime(traces[t]!, s, lane.apart)} />)}
				{lane.first.length < lane.count && <button class="more" onClick={() => void searchMore(t, lane.lane)}>{tr("{n} more", { n: count(lane.count - lane.first.length) })}</button>}</section>)}
		</div>;
	})}</div>;
}
