/* SPDX-License-Identifier: Apache-2.0 */
/* Details.tsx - everything known about the selected span. */
import { LOOK_NAMES, type Frame, type Group, type SpanDetails } from "../data/protocol";
import { followLink, selectNext } from "../state/actions";
import { useStore } from "../state/store";
import { zoomToSelection } from "../timeline/input";
import { plain } from "../timeline/text";
import { exact } from "../timeline/units";
import { SpanLink } from "./SpanLink";
import { SpanMetrics } from "./SpanMetrics";

/** Characters of a name that are shown. */
const NAME = 4096;

const where = (f: { file: string; line: number | null }): string => (f.file ? `${f.file}${f.line ? `:${f.line}` : ""}` : "");

function Stack({ frames, place }: { frames: Frame[]; place: SpanDetails["place"] }) {
	if (!frames.length)
		return null;
	return <section><h3>Stack</h3><ol class="stack">{frames.map((f, i) => <li key={i} class={place?.file && f.file === place.file && f.line === place.line ? "mine" : ""}>
		<b>{f.function || "?"}</b> <small>{where(f) || f.module}</small></li>)}</ol></section>;
}

/** The title of the device or thread that a lane belongs to. */
function ownerOf(groups: Group[], lane: number): string {
	for (const g of groups) {
		if (g.lanes.includes(lane) && g.kind !== "other")
			return g.title;
		const inner = ownerOf(g.groups, lane);
		if (inner || g.groups.some((one) => one.lanes.includes(lane)))
			return inner || g.title;
	}
	return "";
}

function Fields({ trace, span }: { trace: number; span: SpanDetails }) {
	const info = useStore((s) => s.traces[trace]!.info);
	const { lanes, groups } = useStore((s) => s.traces[trace]!.lanes);
	const lane = lanes.find((l) => l.lane === span.lane);
	const owner = ownerOf(groups, span.lane);
	const thread = span.launch && ownerOf(groups, span.launch.lane);
	return <table class="fields"><tbody>
		<tr><th>start</th><td>{exact(span.start - info.start)}</td></tr>
		<tr><th>on its clock</th><td>{(BigInt(info.origin) + BigInt(span.start)).toString()} ns</td></tr>
		<tr><th>duration</th><td>{exact(span.dur)}</td></tr>
		<tr><th>end</th><td>{exact(span.start + span.dur - info.start)}</td></tr>
		{lane && <tr><th>lane</th><td>{plain(lane.title)}{owner && ` of ${plain(owner)}`}</td></tr>}
		{span.launch && <tr><th>launched</th><td>{exact(span.start - span.launch.start)} before its start{thread && ` by ${plain(thread)}`}</td></tr>}
		{span.place && where(span.place) && <tr><th>place</th><td>{where(span.place)} {span.place.function}</td></tr>}
		{span.place?.module && <tr><th>module</th><td>{span.place.module}</td></tr>}
		{span.place?.operator && <tr><th>operator</th><td>{span.place.operator}</td></tr>}
		{span.place?.range && !span.around.length && <tr><th>range</th><td>{span.place.range}</td></tr>}
		{span.fields.map((f) => <tr key={f.key}><th>{f.key}</th><td>{f.value}{f.unit ? ` ${f.unit}` : ""}</td></tr>)}
		<tr><th>span</th><td>{span.id}</td></tr>
	</tbody></table>;
}

export function Details() {
	const selected = useStore((s) => s.selected);
	if (!selected)
		return <p class="empty">Click a span to see everything known about it.</p>;
	const { trace, span } = selected;
	return <div class="details">
		<h2 class="name">{plain(span.name || span.stack[0]?.function || "", NAME)}</h2>
		<p class="kind">{span.kind || LOOK_NAMES[span.look ?? -1]}</p>
		<div class="buttons">
			<button title="previous of the same name (,)" onClick={() => void selectNext(-1)}>‹ previous</button>
			<button title="next of the same name (.)" onClick={() => void selectNext(1)}>next ›</button>
			<button title="zoom to it (f)" onClick={zoomToSelection}>zoom</button>
			{(span.launch || span.work.length > 0) && <button class="follow" title="follow the arrow (l)" onClick={() => void followLink()}>
				{span.launch ? "to its launch" : "to its work"}</button>}
		</div>
		<Fields trace={trace} span={span} />
		{span.partial && <p class="empty">Its other columns were left out of this page, for its size.</p>}
		<SpanMetrics trace={trace} span={span} />
		{span.launch && <section><h3>Launched by</h3><SpanLink trace={trace} span={span.launch} /></section>}
		{span.work.length > 0 && <section><h3>Its work{span.work_count > 1 ? ` (${span.work_count})` : ""}</h3>
			{span.work.slice(0, 12).map((w) => <SpanLink key={w.id} trace={trace} span={w} />)}</section>}
		{span.around.length > 0 && <section><h3>Inside</h3>{span.around.map((a) => <SpanLink key={a.id} trace={trace} span={a} />)}</section>}
		<Stack frames={span.stack} place={span.place} />
	</div>;
}
