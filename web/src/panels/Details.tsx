/* SPDX-License-Identifier: Apache-2.0 */
/* Details.tsx - everything known about the selected span. */
import { LOOK_NAMES, type Group, type SpanDetails } from "../data/protocol";
import { followLink, selectNext, zoomToSelection } from "../state/actions";
import { lightChain, lightSame } from "../state/kin";
import { useStore } from "../state/store";
import { plain } from "../timeline/text";
import { exact } from "../timeline/units";
import { CopyButton } from "./CopyButton";
import { launchText, placeText, projectedText, workText } from "./readout";
import { SpanLink } from "./SpanLink";
import { SpanMetrics } from "./SpanMetrics";
import { SpanTree } from "./SpanTree";
import { Stack } from "./Stack";

/** Characters of a name that are shown. */
const NAME = 4096;

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
		{span.launch && <><tr><th>launched</th><td>{exact(span.start - span.launch.start)} before its start{thread && ` by ${plain(thread)}`}</td></tr>
			<tr><th>queue wait</th><td>{exact(Math.max(0, span.start - span.launch.start - span.launch.dur))} after the call returned</td></tr></>}
		{span.place && placeText(span.place) && <tr><th>place</th><td>{plain(placeText(span.place))} {plain(span.place.function)} <CopyButton text={placeText(span.place)} title="copy the place" /></td></tr>}
		{span.place?.module && <tr><th>module</th><td>{span.place.module}</td></tr>}
		{span.place?.operator && <tr><th>operator</th><td>{span.place.operator}</td></tr>}
		{span.place?.range && !span.around.length && <tr><th>range</th><td>{span.place.range}</td></tr>}
		{span.fields.map((f) => <tr key={f.key}><th>{f.key}</th><td>{f.value}{f.unit ? ` ${f.unit}` : ""}</td></tr>)}
		<tr><th>span</th><td>{span.id}</td></tr>
	</tbody></table>;
}

const RELATIONS: Record<string, [string, string]> = {
	forward: ["Its backward operator", "Its forward operator"], wake: ["Woke", "Woken by"], event: ["Waited for by", "Waits for"], spawn: ["Started", "Started by"],
	message: ["Received as", "Sent by"], collective: ["Waited for by", "Waits for"], launch: ["Its work", "Launched by"],
};

/** What is recorded of it and other spans, launches left out. */
function Relations({ trace, edges }: { trace: number; edges: NonNullable<SpanDetails["edges"]> }) {
	const titles = [...new Set(edges.map((e) => RELATIONS[e.kind]?.[e.leaves ? 0 : 1] ?? e.kind))];
	return <>{titles.map((title) => <section key={title}><h3>{title}</h3>
		{edges.filter((e) => (RELATIONS[e.kind]?.[e.leaves ? 0 : 1] ?? e.kind) === title).map((e) => <SpanLink key={e.span.id} trace={trace} span={e.span} />)}</section>)}</>;
}

export function Details() {
	const selected = useStore((s) => s.selected);
	const kin = useStore((s) => s.kin);
	if (!selected)
		return <p class="empty">Click a span to see everything known about it.</p>;
	const { trace, span } = selected;
	const said = launchText(span) || workText(span) || projectedText(span);
	const sentence = said && said[0]!.toUpperCase() + said.slice(1);
	return <div class="details">
		<h2 class="name">{plain(span.name || span.stack[0]?.function || "", NAME)}</h2>
		<p class="kind">{span.kind || LOOK_NAMES[span.look ?? -1]}</p>
		<div class="buttons">
			<button title="previous of the same name (,)" onClick={() => void selectNext(-1)}>‹ previous</button>
			<button title="next of the same name (.)" onClick={() => void selectNext(1)}>next ›</button>
			<button title="zoom to it (f)" onClick={zoomToSelection}>zoom</button>
			{(span.launch || span.work.length > 0) && <button class="follow" title="follow the arrow (l)" onClick={() => void followLink()}>
				{span.launch ? "to its launch" : "to its work"}</button>}
			<button aria-pressed={kin?.name === span.name} class={kin?.name === span.name ? "on" : ""} title="light up all spans of this name (h)" onClick={lightSame}>same name</button>
			<button aria-pressed={kin?.ids.has(span.id) ?? false} class={kin?.ids.has(span.id) ? "on" : ""} title="light up what belongs to it: launch and work, forward and backward, a range and its device work (j)" onClick={() => void lightChain()}>its chain</button>
		</div>
		{sentence && <p class="launch-says">{sentence}.</p>}
		<Fields trace={trace} span={span} />
		{span.partial && <p class="empty">Its other columns were left out of this page, for its size.</p>}
		<SpanMetrics trace={trace} span={span} />
		{span.launch && <section><h3>Launched by</h3><SpanLink trace={trace} span={span.launch} /></section>}
		{span.work.length > 0 && <section><h3>Its work{span.work_count > 1 ? ` (${span.work_count})` : ""}</h3>
			{span.work.slice(0, 12).map((w) => <SpanLink key={w.id} trace={trace} span={w} />)}</section>}
		{span.around.length > 0 && <section><h3>Inside</h3><SpanTree trace={trace} spans={span.around} /></section>}
		<Relations trace={trace} edges={span.edges ?? []} />
		<Stack frames={span.stack} place={span.place} />
	</div>;
}
