/* SPDX-License-Identifier: Apache-2.0 */
/* Details.tsx - everything known about the selected span. */
import { LOOK_NAMES, type Group, type SpanDetails } from "../data/protocol";
import { spanName } from "../data/span_names";
import { keys, tr } from "../lang";
import { followLink, selectNext, zoomToSelection } from "../state/actions";
import { lightChain, lightSame } from "../state/kin";
import { useStore } from "../state/store";
import { laneTitle } from "../timeline/lane_title";
import { plain } from "../timeline/text";
import { exact } from "../timeline/units";
import { CopyButton } from "./CopyButton";
import { fieldText, launchText, placeText, projectedText, workText } from "./readout";
import { SpanLink } from "./SpanLink";
import { SpanMetrics } from "./SpanMetrics";
import { SpanTree } from "./SpanTree";
import { Stack } from "./Stack";

const NS = 1_000_000_000n;
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

const launchedText = (time: string, thread: string): string => (thread ? tr("{time} before its start by {thread}", { time, thread }) : tr("{time} before its start", { time }));

/** From the return of its call to the start of what it enqueued: work may well begin while the call lasts. */
const queueText = (ns: number): string => (ns >= 0 ? tr("{time} after the call returned", { time: exact(ns) }) : tr("none: {time} before the call returned", { time: exact(-ns) }));

/** A moment in seconds: more digits than a double has. */
const clockText = (ns: bigint): string => `${ns / NS}.${String(ns % NS).padStart(9, "0")} s`;

/** Fields with a name for people; those that are columns of the model are called as they are typed. */
keys("theoretical occupancy", "waves of blocks", "grid", "block", "registers a thread", "static shared memory", "dynamic shared memory", "executed shared memory", "local memory a thread", "local memory in total",
	"mangled name", "throughput");

function Fields({ trace, span }: { trace: number; span: SpanDetails }) {
	const info = useStore((s) => s.traces[trace]!.info);
	const { lanes, groups } = useStore((s) => s.traces[trace]!.lanes);
	const lane = lanes.find((l) => l.lane === span.lane);
	const owner = ownerOf(groups, span.lane);
	const thread = span.launch && ownerOf(groups, span.launch.lane);
	return <table class="fields"><tbody>
		<tr><th>{tr("start")}</th><td>{exact(span.start - info.start)}</td></tr>
		<tr><th>{tr("on its clock")}</th><td title={`${BigInt(info.origin) + BigInt(span.start)} ns`}>{clockText(BigInt(info.origin) + BigInt(span.start))}</td></tr>
		<tr><th>{tr("duration")}</th><td>{exact(span.dur)}</td></tr>
		<tr><th>{tr("end")}</th><td>{exact(span.start + span.dur - info.start)}</td></tr>
		{lane && <tr><th>{tr("lane")}</th><td>{owner ? tr("{lane} of {owner}", { lane: plain(laneTitle(lane.title)), owner: plain(owner) }) : plain(laneTitle(lane.title))}</td></tr>}
		{span.launch && <><tr><th>{tr("launched")}</th><td>{launchedText(exact(span.start - span.launch.start), thread ? plain(thread) : "")}</td></tr>
			<tr><th>{tr("queue wait")}</th><td>{queueText(span.start - span.launch.start - span.launch.dur)}</td></tr></>}
		{span.place && placeText(span.place) && <tr><th>{tr("place")}</th><td>{plain(placeText(span.place))} {plain(span.place.function)} <CopyButton text={placeText(span.place)} title={tr("copy the place")} /></td></tr>}
		{span.place?.module && <tr><th>{tr("module")}</th><td>{span.place.module}</td></tr>}
		{span.place?.operator && <tr><th>{tr("operator")}</th><td>{span.place.operator}</td></tr>}
		{span.place?.range && !span.around.length && <tr><th>{tr("range")}</th><td>{span.place.range}</td></tr>}
		{span.fields.map((f) => {
			const { text, whole } = fieldText(f, info.start);
			return <tr key={f.key}><th>{tr(f.key)}</th><td title={whole}>{text}</td></tr>;
		})}
		<tr><th>{tr("span")}</th><td>{span.id}</td></tr>
	</tbody></table>;
}

const RELATIONS: Record<string, [string, string]> = {
	forward: [tr("Its backward operator"), tr("Its forward operator")], wake: [tr("Woke"), tr("Woken by")], event: [tr("Waited for by"), tr("Waits for")], spawn: [tr("Started"), tr("Started by")],
	message: [tr("Received as"), tr("Sent by")], collective: [tr("Waited for by"), tr("Waits for")], launch: [tr("Its work"), tr("Launched by")],
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
		return <p class="empty">{tr("Click a span to see everything known about it.")}</p>;
	const { trace, span } = selected;
	const said = launchText(span) || workText(span) || projectedText(span);
	const sentence = said && said[0]!.toUpperCase() + said.slice(1);
	return <div class="details">
		<h2 class="name">{plain(spanName(span.name, span.look) || span.stack[0]?.function || tr(LOOK_NAMES[span.look ?? -1] ?? ""), NAME)}</h2>
		<p class="kind">{tr(LOOK_NAMES[span.look ?? -1] ?? span.kind)}</p>
		<div class="buttons">
			<button title={tr("previous of the same name (,)")} onClick={() => void selectNext(-1)}>‹ {tr("previous")}</button>
			<button title={tr("next of the same name (.)")} onClick={() => void selectNext(1)}>{tr("next")} ›</button>
			<button title={tr("zoom to it (f)")} onClick={zoomToSelection}>{tr("zoom")}</button>
			{(span.launch || span.work.length > 0) && <button class="follow" title={tr("follow the arrow (l)")} onClick={() => void followLink()}>
				{span.launch ? tr("to its launch") : tr("to its work")}</button>}
			<button aria-pressed={kin?.name === span.name} class={kin?.name === span.name ? "on" : ""} title={tr("light up all spans of this name (h)")} onClick={lightSame}>{tr("same name")}</button>
			<button aria-pressed={kin?.ids.has(span.id) ?? false} class={kin?.ids.has(span.id) ? "on" : ""} title={tr("light up what belongs to it: launch and work, forward and backward, a range and its device work (j)")} onClick={() => void lightChain()}>{tr("its chain")}</button>
		</div>
		{sentence && <p class="launch-says">{tr("{sentence}.", { sentence })}</p>}
		<Fields trace={trace} span={span} />
		{span.partial && <p class="empty">{tr("Its other columns were left out of this page, for its size.")}</p>}
		<SpanMetrics trace={trace} span={span} />
		{span.launch && <section><h3>{tr("Launched by")}</h3><SpanLink trace={trace} span={span.launch} /></section>}
		{span.work.length > 0 && <section><h3>{tr("Its work")}{span.work_count > 1 ? ` (${span.work_count})` : ""}</h3>
			{span.work.slice(0, 12).map((w) => <SpanLink key={w.id} trace={trace} span={w} />)}</section>}
		{span.around.length > 0 && <section><h3>{tr("Inside")}</h3><SpanTree trace={trace} spans={span.around} /></section>}
		<Relations trace={trace} edges={span.edges ?? []} />
		<Stack frames={span.stack} place={span.place} />
	</div>;
}
