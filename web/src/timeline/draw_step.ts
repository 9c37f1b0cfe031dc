/* SPDX-License-Identifier: Apache-2.0 */
/* draw_step.ts - a step as recorded and, under it, as predicted: the same lanes, the same scale. */
import { Look, type Lane, type Op, type WhatIf } from "../data/protocol";
import type { Names } from "../data/names";
import { tr } from "../lang";
import { laneTitle } from "./lane_title";
import type { Label } from "./scene";
import { drawLabels, FONT } from "./text";
import { css, type Palette } from "./theme";
import { duration, roundStep, tick } from "./units";

const LANE = 17;
const RULER = 18;
const LEFT = 227; // as wide as the titles of the lanes
const MOST_LANES = 6;

/** Device lanes first, then those of the CPU: the busiest. */
function lanesOf(answer: WhatIf): number[] {
	const busy = new Map<number, { total: number; device: boolean }>();
	for (const [, lane, look, , , dur] of answer.ops) {
		const at = busy.get(lane) ?? { total: 0, device: look <= Look.graph };
		at.total += dur;
		busy.set(lane, at);
	}
	return [...busy].sort((a, b) => Number(b[1].device) - Number(a[1].device) || b[1].total - a[1].total).slice(0, MOST_LANES).map(([lane]) => lane);
}

export const stepHeight = (answer: WhatIf): number => RULER + 2 * lanesOf(answer).length * LANE + 20;

const isDevice = (op: Op): boolean => op[2] <= Look.graph;

/** How far the CPU is ahead, where that is more than half a step: its calls are then drawn so much later. */
function leadOf(ops: Op[], start: 4 | 6, step: number): number {
	const first = ops.filter((o) => !isDevice(o) && o[start + 1]! > 0).reduce((least, o) => Math.min(least, o[start]), 0);
	return first < -step / 2 ? -first : 0;
}

export function drawStep(canvas: HTMLCanvasElement, answer: WhatIf, trace: number, lanes: Lane[], names: Names, palette: Palette): void {
	const on = canvas.getContext("2d", { alpha: false });
	if (!on)
		return;
	const dpr = window.devicePixelRatio || 1;
	canvas.width = Math.round(canvas.clientWidth * dpr);
	canvas.height = Math.round(canvas.clientHeight * dpr);
	const shown = lanesOf(answer);
	const ops = answer.ops.filter((o) => shown.includes(o[1]));
	const ahead = { 4: leadOf(ops, 4, answer.recorded), 6: leadOf(ops, 6, answer.step) };
	const startOf = (op: Op, start: 4 | 6): number => op[start] + (isDevice(op) ? 0 : ahead[start]);
	const from = Math.min(0, ...ops.map((o) => Math.min(startOf(o, 4), startOf(o, 6))));
	const to = Math.max(answer.recorded, answer.step) * 1.03;
	const left = LEFT * dpr;
	const scale = (canvas.width - left) / (to - from);
	const titles = new Map(lanes.map((l) => [l.lane, laneTitle(l.title)]));
	const labels: Label[] = [];
	on.fillStyle = css(palette.back);
	on.fillRect(0, 0, canvas.width, canvas.height);
	on.font = FONT.replace("11px", `${11 * dpr}px`);
	on.textBaseline = "middle";
	const step = roundStep((to - from) / (canvas.width - left) * 110 * dpr);
	for (let k = Math.ceil(from / step); k * step <= to; k++) {
		const x = Math.round(left + (k * step - from) * scale);
		on.fillStyle = css(palette.line);
		on.fillRect(x, 0, 1, canvas.height);
		on.fillStyle = palette.faint;
		const text = tick(k * step, step);
		// Half a text says another time.
		if (x + 3 * dpr + on.measureText(text).width <= canvas.width)
			on.fillText(text, x + 3 * dpr, RULER * dpr / 2);
	}
	const band = (top: number, start: 4 | 6, dur: 5 | 7, end: number, title: string): void => {
		on.fillStyle = palette.ink;
		on.fillText(title, 6 * dpr, (top + shown.length * LANE / 2 - 7) * dpr);
		on.fillStyle = palette.faint;
		on.fillText(duration(end), 6 * dpr, (top + shown.length * LANE / 2 + 7) * dpr);
		if (ahead[start])
			on.fillText(tr("CPU {time} ahead", { time: duration(ahead[start]) }), 6 * dpr, (top + shown.length * LANE / 2 + 20) * dpr);
		on.textAlign = "right";
		shown.forEach((lane, i) => on.fillText(titles.get(lane) ?? "", left - 8 * dpr, (top + (i + 0.5) * LANE) * dpr));
		on.textAlign = "left";
		for (const op of ops) {
			if (op[dur] <= 0)
				continue;
			const y = (top + shown.indexOf(op[1]) * LANE + 1) * dpr;
			const x = left + (startOf(op, start) - from) * scale;
			const w = Math.max(1, op[dur] * scale - (op[dur] * scale > 3 ? 1 : 0));
			on.fillStyle = css(palette.look(op[2]));
			on.fillRect(x, y, w, (LANE - 3) * dpr);
			if (w > 34 * dpr)
				labels.push({ x, w, y, h: (LANE - 3) * dpr, text: names.text(trace, op[3]), ink: palette.inkOn(op[2]) });
		}
		const x = Math.round(left + (end - from) * scale);
		on.fillStyle = palette.accent;
		on.fillRect(x, top * dpr, 2 * dpr, shown.length * LANE * dpr);
	};
	band(RULER, 4, 5, answer.recorded, tr("recorded"));
	band(RULER + shown.length * LANE + 10, 6, 7, answer.step, tr("predicted"));
	on.fillStyle = css(palette.line);
	on.fillRect(0, (RULER + shown.length * LANE + 4) * dpr, canvas.width, 1);
	drawLabels(on, labels, dpr);
	names.flush();
}
