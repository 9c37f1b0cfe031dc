/* SPDX-License-Identifier: Apache-2.0 */
/* LaneScroll.tsx - the scrollbar of the lanes; there only where they do not fit. The keyboard scrolls by Page Up and Page Down. */
import { useEffect, useRef, useState } from "preact/hooks";
import { tr } from "../lang";
import { RULER, type Timeline } from "../timeline/timeline";

const LEAST_THUMB = 24;

interface Bar { top: number; high: number; at: number; thumb: number; most: number; scroll: number }

function barOf(timeline: Timeline): Bar | null {
	const high = timeline.viewHeight;
	const most = timeline.mostScroll;
	if (most <= 0 || high <= LEAST_THUMB)
		return null;
	const thumb = Math.max(LEAST_THUMB, high * high / (high + most));
	return { top: RULER + timeline.layout.pinnedHeight, high, thumb, at: timeline.scroll / most * (high - thumb), most, scroll: timeline.scroll };
}

export function LaneScroll({ timeline }: { timeline: Timeline }) {
	const [bar, setBar] = useState<Bar | null>(null);
	const down = useRef<{ y: number; scroll: number } | null>(null);
	useEffect(() => timeline.onFrame(() => setBar((was) => {
		const now = barOf(timeline);
		return was && now && was.top === now.top && was.high === now.high && was.at === now.at && was.most === now.most ? was : now;
	})), [timeline]);
	if (!bar)
		return null;
	const perPixel = bar.most / Math.max(1, bar.high - bar.thumb);
	return <div class="lane-scroll" role="scrollbar" aria-label={tr("lanes")} aria-controls="timeline" aria-orientation="vertical" aria-valuemin={0} aria-valuemax={Math.round(bar.most)} aria-valuenow={Math.round(bar.scroll)}
		style={{ top: `${bar.top}px`, height: `${bar.high}px` }}
		onPointerDown={(e) => {
			const y = e.offsetY;
			const onThumb = e.target !== e.currentTarget;
			if (!onThumb)
				timeline.setScroll((y - bar.thumb / 2) * perPixel);
			down.current = { y: e.clientY, scroll: timeline.scroll };
			e.currentTarget.setPointerCapture(e.pointerId);
		}} onPointerMove={(e) => {
			if (down.current)
				timeline.setScroll(down.current.scroll + (e.clientY - down.current.y) * perPixel);
		}} onPointerUp={() => { down.current = null; }}><div class="thumb" style={{ top: `${bar.at}px`, height: `${bar.thumb}px` }} /></div>;
}
