/* SPDX-License-Identifier: Apache-2.0 */
/* Canvas.tsx - the timeline itself, with some lines about what is under the pointer. */
import { useEffect, useRef, useState } from "preact/hooks";
import { tr } from "../lang";
import { focusCame } from "../state/focus";
import { listenToMouse } from "../timeline/input";
import type { Timeline } from "../timeline/timeline";
import { LaneScroll } from "./LaneScroll";
import { tipAt, type Tip } from "./tips";

/** So long the pointer stands still before the server is asked about what is under it. */
const STILL_MS = 120;
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
	/** The keyboard comes by a press of the mouse: what is pressed on counts, not the first lane. */
	const pressed = useRef(false);
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
		<canvas class="timeline" id="timeline" ref={canvas} tabIndex={0} role="application" aria-roledescription={tr("timeline")} aria-label={tr("Timeline. Up and down: lanes and levels. Left and right: spans. Enter: details.")} aria-describedby="spoken"
			onPointerDown={() => { pressed.current = true; }} onPointerUp={() => { pressed.current = false; }} onFocus={() => pressed.current || focusCame()} onBlur={() => timeline.invalidate()} onMouseLeave={() => setTip(null)}
			onMouseMove={(e) => setTip(e.buttons ? null : tipAt(timeline, e.offsetX, e.offsetY))} onMouseDown={() => setTip(null)} />
		{tip && <div class="tip" style={placeOf(tip, canvas.current)}>
			<b>{tip.head}</b>{tip.line && <span>{tip.line}</span>}{tip.lines?.map((line) => <span key={line} class="known">{line}</span>)}</div>}
		<LaneScroll timeline={timeline} />
	</div>;
}
