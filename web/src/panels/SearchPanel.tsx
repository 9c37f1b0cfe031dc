/* SPDX-License-Identifier: Apache-2.0 */
/* SearchPanel.tsx - hits of the search, by lane. */
import { searchMore } from "../state/actions";
import { useStore } from "../state/store";
import { tableOfSearch } from "../state/table";
import { count } from "../timeline/units";
import { SpanLink } from "./SpanLink";

export function SearchPanel() {
	const found = useStore((s) => s.found);
	const query = useStore((s) => s.query);
	const traces = useStore((s) => s.traces);
	if (!query)
		return <p class="empty">Type in the search box: words of names, or <code>kernel name~gemm dur&gt;50us step:12</code>. Hits are marked in the timeline and in the strip above it; Enter goes from one to the next.</p>;
	if (!found.length)
		return <p class="empty">Searching…</p>;
	return <div class="search"><div class="buttons"><button onClick={tableOfSearch} title="(t)">as a table</button></div>{found.map((answer, t) => {
		if (!answer)
			return <p key={t} class="empty">No answer.</p>;
		const titles = new Map(traces[t]!.lanes.lanes.map((l) => [l.lane, l.title]));
		return <div key={t}><p class="summary">{traces.length > 1 && <b>{t ? "B" : "A"}</b>}<span><b>{count(answer.hits)}</b> {answer.hits === 1 ? "hit" : "hits"}{answer.more && " and more"}</span>
			{answer.names > 0 && <span><b>{answer.names}</b> {answer.names === 1 ? "name" : "names"}</span>}</p>
			{answer.lanes.map((lane) => <section key={lane.lane}><h3>{titles.get(lane.lane) ?? lane.lane} <small>{count(lane.count)}</small></h3>
				{lane.first.map((s) => <SpanLink key={s.id} trace={t} span={s} stay />)}
				{lane.first.length < lane.count && <button class="more" onClick={() => void searchMore(t, lane.lane)}>{count(lane.count - lane.first.length)} more</button>}</section>)}
		</div>;
	})}</div>;
}
