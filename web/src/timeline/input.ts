/* SPDX-License-Identifier: Apache-2.0 */
/* input.ts - the mouse on the timeline.
 *
 * Wheel: scroll; with Ctrl or Shift zoom or pan. Drag: pan; with Shift, or on the ruler: select time; with Ctrl: time and lanes. Click: select. */
import * as act from "../state/actions";
import { showNote } from "../state/notes";
import { lanesOfRow, selectBox, selectRange } from "../state/selection";
import { set, state } from "../state/store";
import { noteAt } from "./draw_notes";
import { hitAt, rowsBetween } from "./hit";
import { RULER, type Timeline } from "./timeline";

const CLICK_PIXELS = 4;

const timeAt = (canvas: HTMLCanvasElement, x: number): number => state.from + (state.to - state.from) * x / Math.max(1, canvas.clientWidth);

function click(timeline: Timeline, x: number, y: number): void {
	const scene = timeline.scene();
	const note = scene && noteAt(scene, x, y);
	if (note)
		return showNote(note.id);
	const hit = scene && hitAt(timeline, scene, x, y);
	if (!hit)
		return;
	const trace = hit.row.trace;
	if (hit.row.kind === "steps") {
		const steps = state.traces[trace]!.steps!;
		const k = steps.phases[steps.main]?.steps.findIndex((s) => s[0] <= hit.time && hit.time < s[1]) ?? -1;
		if (k >= 0)
			act.showStep(k, trace);
	} else if (hit.row.kind === "gaps" || hit.row.kind === "path") {
		const piece = timeline.pieceAt(scene, hit.row, hit.time);
		if (piece && piece.span >= 0)
			void act.select(trace, piece.span);
	} else if (hit.span) {
		void act.select(trace, hit.span.id);
	} else if (hit.lane && (hit.count || hit.share)) {
		void act.selectAt(trace, hit.lane.lane, hit.from, hit.to);
	} else {
		// The interval and the evidence of a finding stay: they took more than a click to choose.
		set({ selected: null });
	}
}

export function listenToMouse(timeline: Timeline, canvas: HTMLCanvasElement): () => void {
	let down: { x: number; y: number; from: number; to: number; scroll: number; what: "move" | "time" | "box"; moved: boolean; ends: [number, number] } | null = null;
	const at = (e: MouseEvent): { x: number; y: number } => {
		const box = canvas.getBoundingClientRect();
		return { x: e.clientX - box.left, y: e.clientY - box.top };
	};
	const wheel = (e: WheelEvent): void => {
		e.preventDefault();
		const { x } = at(e);
		if (e.ctrlKey || e.metaKey || e.altKey)
			act.zoom(1.0015 ** (e.deltaY * (e.deltaMode ? 30 : 1)), timeAt(canvas, x));
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			act.pan((e.deltaX || e.deltaY) / canvas.clientWidth);
		else
			timeline.setScroll(timeline.scroll + e.deltaY * (e.deltaMode ? 20 : 1));
		// Another time may stand under the pointer now.
		if (!down)
			set({ cursor: timeAt(canvas, x) });
	};
	const press = (e: MouseEvent): void => {
		if (e.button !== 0)
			return;
		const { x, y } = at(e);
		down = { x, y, from: state.from, to: state.to, scroll: timeline.scroll, what: e.shiftKey || y < RULER ? "time" : e.ctrlKey || e.metaKey ? "box" : "move", moved: false, ends: [0, 0] };
		e.preventDefault();
		canvas.focus({ preventScroll: true });
	};
	const move = (e: MouseEvent): void => {
		const { x, y } = at(e);
		if (!down) {
			const inside = e.target === canvas;
			if (inside || state.cursor !== null)
				set({ cursor: inside ? timeAt(canvas, x) : null });
			return;
		}
		down.moved ||= Math.abs(x - down.x) + Math.abs(y - down.y) > CLICK_PIXELS;
		if (!down.moved)
			return;
		const per = (down.to - down.from) / canvas.clientWidth;
		if (down.what !== "move") {
			const there = down.from + x * per;
			const here = down.from + down.x * per;
			down.ends = [Math.min(here, there), Math.max(here, there)];
			const chosen = down.what === "box" ? new Set(rowsBetween(timeline, down.y, y).flatMap(lanesOfRow)) : state.chosen;
			set({ range: act.recorded(...down.ends), chosen, cursor: timeAt(canvas, x) });
		} else {
			act.show(down.from - (x - down.x) * per, down.to - (x - down.x) * per);
			timeline.setScroll(down.scroll - (y - down.y));
		}
	};
	const release = (e: MouseEvent): void => {
		if (!down)
			return;
		const { x, y } = at(e);
		const was = down;
		down = null;
		if (!was.moved)
			click(timeline, x, y);
		else if (was.what === "box")
			void selectBox(...was.ends, [...state.chosen]);
		else if (was.what === "time")
			void selectRange(...was.ends);
	};
	const twice = (e: MouseEvent): void => {
		if (state.selected && at(e).y > RULER)
			act.zoomToSelection();
	};
	canvas.addEventListener("wheel", wheel, { passive: false });
	canvas.addEventListener("mousedown", press);
	canvas.addEventListener("dblclick", twice);
	addEventListener("mousemove", move);
	addEventListener("mouseup", release);
	return () => {
		removeEventListener("mousemove", move);
		removeEventListener("mouseup", release);
	};
}
