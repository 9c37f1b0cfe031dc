/* SPDX-License-Identifier: Apache-2.0 */
/* tips.ts - what stands under the pointer, in words: of spans, summaries, counters, devices, steps, idle gaps, headway. */
import { CAUSES, Look, LOOK_NAMES, OUTLIER, PATH_KINDS, WARM_UP, type Lane, type SpanDetails } from "../data/protocol";
import { spanName } from "../data/span_names";
import { keys, tr } from "../lang";
import { detailsOf, happenedOn, standingAt } from "../state/actions";
import { state } from "../state/store";
import { counterTitle, readingAt, readingText, valueText } from "../timeline/counter";
import { BOUND_LEAST } from "../timeline/draw_charts";
import { judgedOf } from "../timeline/draw_pieces";
import { hitAt, type Hit } from "../timeline/hit";
import { laneTitle } from "../timeline/lane_title";
import type { Scene } from "../timeline/scene";
import { plain, shorten, stepTitle } from "../timeline/text";
import type { Timeline } from "../timeline/timeline";
import { coarsePercent, count, duration, percent } from "../timeline/units";
import { tipLines } from "./readout";

export interface Tip { x: number; y: number; head: string; line: string;
	/** The span that it is of. */
	of?: number;
	/** What is known of it besides, a line each. */
	lines?: string[];
	/** Asks for what the tiles do not say. */
	more?: (() => Promise<Partial<Tip> | null>) | undefined }

/** The value at the pointer, and what the lane does on the screen. */
function counterTip(timeline: Timeline, { row, time }: Hit, x: number, y: number): Tip | null {
	const shown = timeline.counters.find((c) => c.row.key === row.key);
	const reading = shown && readingAt(shown.covers, shown.lane, time);
	if (!shown || !reading)
		return null;
	const range = shown.lane.flags ? null : shown.row.range;
	const [least, most] = range ? [valueText(shown.lane, range.least), valueText(shown.lane, range.most)] : ["", ""];
	return { x, y, head: `${plain(counterTitle(shown.lane))}${tr(": ")}${readingText(reading, shown.lane)}`,
		line: !range ? "" : least === most ? tr("the same all over the screen") : tr("on the screen {least} to {most}", { least, most }) };
}

/** How busy a device is at the pointer, where its row is drawn from summaries. */
function deviceTip(timeline: Timeline, scene: Scene, { row, time }: Hit, x: number, y: number): Tip | null {
	const { from, to } = scene.window(row.trace);
	const cover = row.lane && timeline.tiles.cover(row.trace, row.lane.lane, from, to, scene.level(), row.lane.detail).find((c) => c.from <= time && time < c.to);
	if (cover?.tile.form !== "summary")
		return null;
	const { tile } = cover;
	const at = tile.offset.indexOf(Math.floor((time - tile.begin) / tile.bucket));
	const parts = keys("compute", "communication", "memory").flatMap((name, c) => {
		const share = at < 0 ? 0 : (tile.share[c]?.[at] ?? 0) / 255;
		return share > 0 ? [`${tr(name)} ${coarsePercent(share)}`] : [];
	});
	return { x, y, head: plain(row.title), line: parts.join(tr(", ")) || tr("idle") };
}

/** Where a sample was taken: the innermost function that has a name, or the library where its functions have no names. */
function sampledText({ stack }: SpanDetails): string {
	const frame = stack.find((f) => f.function) ?? stack[0];
	const library = frame?.module.slice(frame.module.lastIndexOf("/") + 1) ?? "";
	return plain(frame?.function || (library && tr("in {module}", { module: library })) || "");
}

/** The tiles know what it is and how long; the rest is asked for. */
function spanTip(timeline: Timeline, { row }: Hit, span: NonNullable<Hit["span"]>, x: number, y: number): Tip {
	const name = plain(spanName(timeline.names.text(row.trace, span.name), span.look));
	const look = tr(LOOK_NAMES[span.look] ?? "");
	const isSample = span.look === Look.sample;
	return { x, y, of: span.id, head: name || (isSample ? look : ""), line: isSample && !name ? "" : span.dur ? `${look} · ${duration(span.dur)}` : look, more: async () => {
		const details = await detailsOf(row.trace, span.id);
		return details && { lines: tipLines(details), ...(isSample ? { head: sampledText(details) || name || tr("sample") } : {}) };
	} };
}

/** The states of a thread, in the order of a summary's rows. */
const STATES = [Look.running, Look.stopped];

/** Many spans in one pixel: how many, how much of it they cover, and the longest of them. */
function summaryTip({ row, count: n, share, states, from, to }: Hit, lane: Lane, x: number, y: number): Tip {
	const time = duration(to - from);
	const inStates = states && tr("{what} of {time}", { what: STATES.flatMap((look, i) => (states[i]! > 0 ? [`${tr(LOOK_NAMES[look]!)} ${coarsePercent(states[i]!)}`] : [])).join(tr(", ")), time });
	const covers = inStates || (lane.marks ? "" : tr("covers {share} of {time}", { share: coarsePercent(share), time }));
	if (lane.type === "samples")
		return { x, y, head: tr(n === 1 ? "{n} sample" : "{n} samples", { n: count(n) }), line: "", more: async () => {
			const sampled = (await happenedOn(row.trace, lane.lane, from, to))?.samples.rows[0];
			const name = sampled && plain(sampled.function || sampled.module.slice(sampled.module.lastIndexOf("/") + 1));
			return name ? { line: tr("{n} of them in {name}. Click selects one.", { n: count(sampled.count), name: shorten(name) }) } : null;
		} };
	return { x, y, head: n && !states ? tr(n === 1 ? "{n} span begins here" : "{n} spans begin here", { n: count(n) }) : laneTitle(lane.title), line: covers, more: async () => {
		const longest = (await standingAt(row.trace, lane.lane, from, to))?.longest;
		return longest?.dur ? { line: (covers && tr("{covers}. ", { covers })) + tr("Longest: {name}, {time}. Click selects it.", { name: shorten(plain(spanName(longest.name, longest.look))), time: duration(longest.dur) }) } : null;
	} };
}

function stepTip({ row, time }: Hit, x: number, y: number): Tip | null {
	const steps = state.traces[row.trace]?.steps;
	for (const phase of steps?.phases ?? [])
		for (const [i, [from, to, , , busy, flags, name]] of phase.steps.entries())
			if (from <= time && time < to)
				return { x, y, head: stepTitle(name, i), line: tr("{time}, GPU {share} busy", { time: duration(to - from), share: percent(busy / (to - from)) }) + (flags & WARM_UP ? tr(", warm-up") : "") + (flags & OUTLIER ? tr(", unlike the rest") : "") };
	return null;
}

/** Where idle time and headway are not looked at. */
function unjudgedTip({ row, time }: Hit, x: number, y: number): Tip | null {
	const { steps, info } = state.traces[row.trace]!;
	const judged = !steps || time < info.start || time > info.end || judgedOf(row).some(([from, to]) => from <= time && time < to);
	return judged ? null : { x, y, head: tr("not judged"), line: tr("outside of the steady steps") };
}

function leadText({ count: n, work, within }: { count: number; work: number; within: number }, least: number): string {
	const ahead = { n: count(n), time: duration(work), wide: duration(within) };
	if (within > least)
		return tr(n === 1 ? "at most {n} operation, {time} of work ahead within {wide}" : "at most {n} operations, {time} of work ahead within {wide}", ahead);
	return tr(n === 1 ? "{n} operation, {time} of work ahead" : "{n} operations, {time} of work ahead", ahead);
}

/** What is under a point of the canvas, or null. */
export function tipAt(timeline: Timeline, x: number, y: number): Tip | null {
	const scene = timeline.scene();
	const hit = scene && hitAt(timeline, scene, x, y);
	if (!scene || !hit)
		return null;
	const { kind } = hit.row;
	if (hit.row.lane?.type === "counter")
		return counterTip(timeline, hit, x, y);
	if (kind === "device" || (kind === "rank" && !hit.span && hit.row.lane))
		return deviceTip(timeline, scene, hit, x, y);
	if (hit.span)
		return spanTip(timeline, hit, hit.span, x, y);
	if (hit.lane && (hit.count || hit.share))
		return summaryTip(hit, hit.lane, x, y);
	if (kind === "steps")
		return stepTip(hit, x, y);
	if (kind === "gaps" || kind === "path") {
		const piece = timeline.pieceAt(scene, hit.row, hit.time);
		if (!piece)
			return kind === "gaps" ? unjudgedTip(hit, x, y) : null;
		const head = kind === "gaps" ? tr("idle: {cause}", { cause: tr(CAUSES[piece.cause] ?? "") }) : tr("critical path: {kind}", { kind: tr(PATH_KINDS[piece.cause] ?? "") });
		const together = kind === "gaps" && hit.row.rank === null && state.traces[hit.row.trace]!.lanes.groups.some((g) => g.kind === "rank");
		return { x, y, head, line: `${duration(piece.to - piece.from)}${piece.count > 1 ? tr(", {n} pieces", { n: piece.count }) : ""}`,
			...(together ? { lines: [tr("All ranks together: causes of one rank are in its own recording.")] } : {}) };
	}
	if (kind === "headway") {
		const point = timeline.leadAt(scene, hit.row, hit.time);
		return point ? { x, y, head: tr("headway"), line: leadText(point, scene.window(hit.row.trace).perPixel * BOUND_LEAST) } : unjudgedTip(hit, x, y);
	}
	return null;
}
