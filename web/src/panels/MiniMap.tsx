/* SPDX-License-Identifier: Apache-2.0 */
/* MiniMap.tsx - the strip above the timeline; press or drag moves the window there. */
import { useEffect, useRef } from "preact/hooks";
import { tr } from "../lang";
import { bounds, show } from "../state/actions";
import { state } from "../state/store";
import { drawMiniMap } from "../timeline/minimap";
import type { Timeline } from "../timeline/timeline";

export function MiniMap({ timeline }: { timeline: Timeline }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	useEffect(() => timeline.onFrame(() => canvas.current && drawMiniMap(canvas.current, state, timeline.tiles, timeline.palette)), [timeline]);
	const move = (e: PointerEvent): void => {
		if (!(e.buttons & 1) || !canvas.current)
			return;
		const box = canvas.current.getBoundingClientRect();
		const all = bounds();
		const at = all.from + (all.to - all.from) * (e.clientX - box.left) / box.width;
		const half = (state.to - state.from) / 2;
		show(at - half, at + half);
	};
	return <canvas class="minimap" ref={canvas} onPointerDown={(e) => {
		canvas.current?.setPointerCapture(e.pointerId);
		move(e);
	}} onPointerMove={move} aria-label={tr("The whole run; drag to move the window")} />;
}
