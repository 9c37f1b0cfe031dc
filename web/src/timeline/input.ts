/* SPDX-License-Identifier: Apache-2.0 */
/* input.ts - mouse and keyboard on the timeline.
 *
 * Wheel: scroll; with Ctrl or Shift zoom or pan. Drag: pan; drag with Shift, or on the ruler: an interval. Click: select. */
import * as act from "../state/actions";
import { set, state } from "../state/store";
import { hitAt } from "./hit";
import { RULER, type Timeline } from "./timeline";

const CLICK_PIXELS = 4;
const ZOOM_KEY = 0.75;
const PAN_KEY = 0.2;

const timeAt = (canvas: HTMLCanvasElement, x: number): number => state.from + (state.to - state.from) * x / Math.max(1, canvas.clientWidth);

function click(timeline: Timeline, x: number, y: number): void {
	const scene = timeline.scene();
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
	let down: { x: number; y: number; from: number; to: number; scroll: number; range: boolean; moved: boolean } | null = null;
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
	};
	const press = (e: MouseEvent): void => {
		if (e.button !== 0)
			return;
		const { x, y } = at(e);
		down = { x, y, from: state.from, to: state.to, scroll: timeline.scroll, range: e.shiftKey || y < RULER, moved: false };
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
		if (down.range) {
			const ends = [down.from + down.x * per, down.from + x * per].sort((a, b) => a - b);
			set({ range: { from: ends[0]!, to: ends[1]! } });
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
		else if (was.range && state.range)
			void act.selectRange(state.range.from, state.range.to);
	};
	const twice = (e: MouseEvent): void => {
		if (state.selected && at(e).y > RULER)
			zoomToSelection();
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

/** Shows the selected span; without one, the interval. */
export function zoomToSelection(): void {
	const { selected } = state;
	if (!selected)
		return zoomToRange();
	const shift = state.traces[selected.trace]!.shift;
	const { start, dur } = selected.span;
	const margin = Math.max(200, dur * 0.4);
	act.show(start - shift - margin, start + dur - shift + margin);
}

export function zoomToRange(): void {
	const { range } = state;
	if (range)
		act.show(range.from, range.to);
}

/** With the keyboard on the timeline and a span selected, the arrows go to its neighbours on the lane; else they move the window. */
function sideways(dir: 1 | -1): void {
	if (state.selected && document.activeElement?.matches("canvas.timeline"))
		void act.selectNext(dir, true);
	else
		act.pan(dir * PAN_KEY);
}

const KEYS: Record<string, (timeline: Timeline) => void> = {
	w: () => act.zoom(ZOOM_KEY, state.cursor ?? undefined), "+": () => act.zoom(ZOOM_KEY), "=": () => act.zoom(ZOOM_KEY),
	s: () => act.zoom(1 / ZOOM_KEY, state.cursor ?? undefined), "-": () => act.zoom(1 / ZOOM_KEY),
	a: () => act.pan(-PAN_KEY), d: () => act.pan(PAN_KEY), ArrowLeft: () => sideways(-1), ArrowRight: () => sideways(1),
	ArrowUp: (t) => t.setScroll(t.scroll - 60), ArrowDown: (t) => t.setScroll(t.scroll + 60),
	PageUp: (t) => t.setScroll(t.scroll - t.viewHeight), PageDown: (t) => t.setScroll(t.scroll + t.viewHeight),
	"0": () => act.showAll(), Home: () => act.showAll(), f: zoomToSelection, l: () => void act.followLink(),
	n: () => void (state.query ? act.goToHit(1) : act.nextEvidence(1)), N: () => void (state.query ? act.goToHit(-1) : act.nextEvidence(-1)),
	".": () => void act.selectNext(1), ",": () => void act.selectNext(-1), "]": () => act.moveStep(1), "[": () => act.moveStep(-1),
	g: () => set({ gaps: !state.gaps }), p: () => set({ path: !state.path }),
	"?": () => set({ help: !state.help }), Escape: act.clear,
	"1": () => act.setPanel("findings"), "2": () => act.setPanel("details"), "3": () => act.setPanel("interval"),
	"4": () => act.setPanel("search"), "5": () => act.setPanel("whatif"), "6": () => act.setPanel("roofline"),
	"/": () => (document.querySelector("input[type=search]") as HTMLInputElement | null)?.focus(),
};

export function listenToKeys(timeline: Timeline): void {
	addEventListener("keydown", (e) => {
		// A slider and a list move by the arrows themselves.
		const slides = (e.target instanceof HTMLInputElement && e.target.type === "range") || e.target instanceof HTMLSelectElement;
		if (slides && /^(Arrow|Page|Home$|End$)/.test(e.key))
			return;
		// A dialog has the keyboard to itself.
		if (state.help && e.key !== "Escape" && e.key !== "?")
			return;
		const typing = e.target instanceof HTMLInputElement && e.target.type !== "checkbox" && e.target.type !== "range";
		if (typing && e.key !== "Escape")
			return;
		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		const pressed = KEYS[e.key] ?? KEYS[e.key.toLowerCase()];
		if (pressed) {
			e.preventDefault();
			if (typing) {
				(e.target as HTMLElement).blur();
				if ((e.target as HTMLInputElement).type === "search")
					return act.clearSearch();
			}
			pressed(timeline);
		}
	});
}
