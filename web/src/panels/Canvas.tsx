/* SPDX-License-Identifier: Apache-2.0 */
/* Canvas.tsx - the timeline itself, with some lines about what is under the pointer. */
import { useEffect, useRef, useState } from "preact/hooks";
import { tr } from "../lang";
import { focusCame } from "../state/focus";
import { set } from "../state/store";
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

const keyOf = (tip: Tip | null): string => (tip ? [tip.of, tip.head, tip.line].join("\n") : "");

export function Canvas({ timeline }: { timeline: Timeline }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	/** The keyboard comes by a press of the mouse: what is pressed on counts, not the first lane. */
	const pressed = useRef(false);
	const [tip, setTip] = useState<Tip | null>(null);
	/** Where the pointer rests, and what is said of that place: a zoom, a move or a tile that arrives changes what stands there. */
	const rests = useRef<{ x: number; y: number } | null>(null);
	const said = useRef("");
	const tell = (at: { x: number; y: number } | null): void => {
		rests.current = at;
		const next = at && tipAt(timeline, at.x, at.y);
		said.current = keyOf(next);
		setTip(next);
	};
	useEffect(() => {
		if (!canvas.current)
			return undefined;
		timeline.mount(canvas.current);
		const stop = listenToMouse(timeline, canvas.current);
		const watch = new ResizeObserver(() => timeline.invalidate());
		watch.observe(canvas.current);
		const followed = timeline.onFrame(() => {
			const next = rests.current && tipAt(timeline, rests.current.x, rests.current.y);
			if (rests.current && keyOf(next) !== said.current)
				tell(rests.current);
		});
		return () => {
			followed();
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
			onPointerDown={() => { pressed.current = true; }} onPointerUp={() => { pressed.current = false; }} onFocus={() => pressed.current || focusCame()} onBlur={() => set({})} onMouseLeave={() => tell(null)}
			onMouseMove={(e) => tell(e.buttons ? null : { x: e.offsetX, y: e.offsetY })} onMouseDown={() => tell(null)} />
		{tip && <div class="tip" style={placeOf(tip, canvas.current)}>
			<b>{tip.head}</b>{tip.line && <span>{tip.line}</span>}{tip.lines?.map((line) => <span key={line} class="known">{line}</span>)}</div>}
		<LaneScroll timeline={timeline} />
	</div>;
}
