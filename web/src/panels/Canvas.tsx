/* SPDX-License-Identifier: Apache-2.0 */
/* Canvas.tsx - the timeline itself, with a line about what is under the pointer. */
import { useEffect, useRef, useState } from "preact/hooks";
import { CAUSES, LOOK_NAMES, PATH_KINDS } from "../data/protocol";
import { counterTitle, readingAt, readingText, valueText } from "../timeline/counter";
import { hitAt, type Hit } from "../timeline/hit";
import { listenToMouse } from "../timeline/input";
import { plain } from "../timeline/text";
import type { Timeline } from "../timeline/timeline";
import type { Scene } from "../timeline/scene";
import { duration, percent } from "../timeline/units";
import { state } from "../state/store";

interface Tip { x: number; y: number; head: string; line: string }

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
		return { x, y, head: plain(timeline.names.text(trace, hit.span.name)), line: `${LOOK_NAMES[hit.span.look] ?? ""} · ${duration(hit.span.dur)}` };
	if (hit.count)
		return { x, y, head: `${hit.count} spans`, line: "zoom in to tell them apart" };
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
	return <div class="stage">
		<canvas class="timeline" ref={canvas} aria-label="timeline" onMouseLeave={() => setTip(null)}
			onMouseMove={(e) => setTip(e.buttons ? null : tipAt(timeline, e.offsetX, e.offsetY))} onMouseDown={() => setTip(null)} />
		{tip && <div class="tip" style={placeOf(tip, canvas.current)}>
			<b>{tip.head}</b><span>{tip.line}</span></div>}
	</div>;
}
