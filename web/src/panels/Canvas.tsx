/* SPDX-License-Identifier: Apache-2.0 */
/* Canvas.tsx - the timeline itself, with a line about what is under the pointer. */
import { useEffect, useRef, useState } from "preact/hooks";
import { CAUSES, Look, LOOK_NAMES, OUTLIER, PATH_KINDS, WARM_UP, type Lane } from "../data/protocol";
import { functionOf, standingAt } from "../state/actions";
import { counterTitle, readingAt, readingText, valueText } from "../timeline/counter";
import { hitAt, type Hit } from "../timeline/hit";
import { listenToMouse } from "../timeline/input";
import { plain, shorten } from "../timeline/text";
import type { Timeline } from "../timeline/timeline";
import type { Scene } from "../timeline/scene";
import { count, duration, percent } from "../timeline/units";
import { state } from "../state/store";

interface Tip { x: number; y: number; head: string; line: string;
	/** Asks for what the tiles do not say. */
	more?: (() => Promise<Partial<Tip> | null>) | undefined }

/** So long the pointer stands still before the server is asked about what is under it. */
const STILL_MS = 120;

/** The value at the pointer, and what the lane does on the screen. */
function counterTip(timeline: Timeline, { row, time }: Hit, x: number, y: number): Tip | null {
	const shown = timeline.counters.find((c) => c.row.key === row.key);
	const reading = shown && readingAt(shown.covers, shown.lane, time);
	if (!shown || !reading)
		return null;
	const range = shown.lane.flags ? null : shown.row.range;
	const [least, most] = range ? [valueText(shown.lane, range.least), valueText(shown.lane, range.most)] : ["", ""];
	return { x, y, head: `${plain(counterTitle(shown.lane))}: ${readingText(reading, shown.lane)}`,
		line: !range ? "" : least === most ? "the same all over the screen" : `on the screen ${least} to ${most}` };
}

/** How busy a device is at the pointer, where its row is drawn from summaries. */
function deviceTip(timeline: Timeline, scene: Scene, { row, time }: Hit, x: number, y: number): Tip | null {
	const { from, to } = scene.window(row.trace);
	const cover = row.lane && timeline.tiles.cover(row.trace, row.lane.lane, from, to, scene.level(), row.lane.detail).find((c) => c.from <= time && time < c.to);
	if (cover?.tile.form !== "summary")
		return null;
	const { tile } = cover;
	const at = tile.offset.indexOf(Math.floor((time - tile.begin) / tile.bucket));
	const parts = ["compute", "communication", "memory"].flatMap((name, c) => {
		const share = at < 0 ? 0 : (tile.share[c]?.[at] ?? 0) / 255;
		return share > 0 ? [`${name} ${percent(share)}`] : [];
	});
	return { x, y, head: plain(row.title), line: parts.join(", ") || "idle" };
}

function spanTip(timeline: Timeline, { row }: Hit, span: NonNullable<Hit["span"]>, x: number, y: number): Tip {
	const name = plain(timeline.names.text(row.trace, span.name));
	const look = LOOK_NAMES[span.look] ?? "";
	const tip = { x, y, head: name, line: span.dur ? `${look} · ${duration(span.dur)}` : look };
	return span.look !== Look.sample ? tip
		: { ...tip, head: name || "sample", more: async () => ({ head: plain(await functionOf(row.trace, span.id)) || name || "sample" }) };
}

/** Many spans in one pixel: how many, how much of it they cover, and the longest of them. */
function summaryTip({ row, count: n, share, from, to }: Hit, lane: Lane, x: number, y: number): Tip {
	const covers = lane.marks ? "" : `covers ${percent(share)} of ${duration(to - from)}`;
	return { x, y, head: n ? `${count(n)} span${n === 1 ? "" : "s"} ${n === 1 ? "begins" : "begin"} here` : lane.title, line: covers, more: async () => {
		const longest = (await standingAt(row.trace, lane.lane, from, to))?.longest;
		return longest ? { line: `${covers}${covers && ". "}Longest: ${shorten(plain(longest.name))}, ${duration(longest.dur)}. Click selects it.` } : null;
	} };
}

function stepTip({ row, time }: Hit, x: number, y: number): Tip | null {
	const steps = state.traces[row.trace]?.steps;
	for (const phase of steps?.phases ?? [])
		for (const [i, [from, to, , , busy, flags, name]] of phase.steps.entries())
			if (from <= time && time < to)
				return { x, y, head: plain(name) || `step ${i}`, line: `${duration(to - from)}, GPU ${percent(busy / (to - from))} busy${flags & WARM_UP ? ", warm-up" : ""}${flags & OUTLIER ? ", unlike the rest" : ""}` };
	return null;
}

function tipAt(timeline: Timeline, x: number, y: number): Tip | null {
	const scene = timeline.scene();
	const hit = scene && hitAt(timeline, scene, x, y);
	if (!scene || !hit)
		return null;
	const { kind, trace, device } = hit.row;
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
			return null;
		const head = kind === "gaps" ? `idle: ${CAUSES[piece.cause] ?? ""}` : `critical path: ${PATH_KINDS[piece.cause] ?? ""}`;
		return { x, y, head, line: `${duration(piece.to - piece.from)}${piece.count > 1 ? `, ${piece.count} pieces` : ""}` };
	}
	if (kind === "headway") {
		const series = state.traces[trace]?.headway?.devices.find((d) => d.device === device);
		const point = series?.points.filter((p) => p[0] <= hit.time).at(-1);
		return point ? { x, y, head: "headway", line: `${point[1]} operations, ${duration(point[2])} of work ahead` } : null;
	}
	return null;
}

const LEAST_TIP = 190;
const MOST_TIP = 370;

/** To the right of the pointer, as the values of counters stand to the left of it; narrower where the canvas ends. */
function placeOf({ x, y }: Tip, canvas: HTMLCanvasElement | null): Record<string, string> {
	const room = canvas?.clientWidth ?? 0;
	const left = Math.max(4, Math.min(x + 14, room - LEAST_TIP - 4));
	return { left: `${left}px`, top: `${y + 16}px`, maxWidth: `${Math.min(MOST_TIP, room - left - 4)}px` };
}

export function Canvas({ timeline }: { timeline: Timeline }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const [tip, setTip] = useState<Tip | null>(null);
	useEffect(() => {
		if (!canvas.current)
			return undefined;
		timeline.mount(canvas.current);
		const stop = listenToMouse(timeline, canvas.current);
		const watch = new ResizeObserver(() => timeline.invalidate());
		watch.observe(canvas.current);
		// A name that was not known when the pointer came is there a frame later.
		const named = timeline.onFrame(() => setTip((now) => (now && !now.head ? tipAt(timeline, now.x, now.y) : now)));
		return () => {
			named();
			stop();
			watch.disconnect();
		};
	}, [timeline]);
	useEffect(() => {
		if (!tip?.more)
			return undefined;
		const timer = setTimeout(() => void tip.more!().then((known) => known && setTip((now) => (now === tip ? { ...tip, ...known, more: undefined } : now))), STILL_MS);
		return () => clearTimeout(timer);
	}, [tip]);
	return <div class="stage">
		<canvas class="timeline" ref={canvas} tabIndex={0} role="img" aria-label="timeline: click a span, then the arrow keys go to its neighbours" onMouseLeave={() => setTip(null)}
			onMouseMove={(e) => setTip(e.buttons ? null : tipAt(timeline, e.offsetX, e.offsetY))} onMouseDown={() => setTip(null)} />
		{tip && <div class="tip" style={placeOf(tip, canvas.current)}>
			<b>{tip.head}</b><span>{tip.line}</span></div>}
	</div>;
}
