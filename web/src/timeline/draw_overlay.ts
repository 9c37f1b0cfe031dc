/* SPDX-License-Identifier: Apache-2.0 */
/* draw_overlay.ts - what is drawn over the lanes: the ruler, the selection, arrows from launch to work, evidence, marks. */
import type { Span } from "../data/protocol";
import { beginOf } from "../state/store";
import { laneKey, levelOf, partsOf, type Layout, type Row } from "./layout";
import type { Scene } from "./scene";
import { css } from "./theme";
import { FONT } from "./text";
import { roundStep, tick, duration } from "./units";

type Ink = CanvasRenderingContext2D;

export function drawRuler(on: Ink, scene: Scene, height: number): void {
	const { state, dpr, palette, width } = scene;
	const perPixel = (state.to - state.from) / width;
	const step = roundStep(perPixel * 110 * dpr);
	const zero = beginOf(state);
	on.fillStyle = css(palette.band);
	on.fillRect(0, 0, width, scene.ruler * dpr);
	on.font = FONT.replace("11px", `${11 * dpr}px`);
	on.textBaseline = "middle";
	on.textAlign = "left";
	for (let k = Math.floor((state.from - zero) / step); zero + k * step <= state.to; k++) {
		const x = Math.round((zero + k * step - state.from) / perPixel) + 0.5;
		on.fillStyle = palette.dark ? "rgba(255,255,255,0.07)" : "rgba(0,0,0,0.07)";
		on.fillRect(x, scene.ruler * dpr, 1, height);
		on.fillStyle = palette.faint;
		on.fillRect(x, scene.ruler * dpr - 6 * dpr, 1, 6 * dpr);
		// Half a text says another time.
		if (x >= 0)
			on.fillText(tick(k * step, step), x + 4 * dpr, scene.ruler * dpr / 2);
	}
}

interface Box { x0: number; x1: number; y0: number; y1: number; row: Row }

/** Where a span stands on the screen, or would if there were room. */
function boxOf(scene: Scene, layout: Layout, trace: number, span: Span): Box | null {
	const row = layout.byLane.get(laneKey(trace, span.lane));
	if (!row)
		return null;
	const nested = levelOf(row, span.row ?? 0);
	const within = row.kind === "rank" ? partsOf(row).strip ?? row : row;
	const level = row.kind === "lane" ? row.level : within.h - 4;
	const y0 = scene.top(within) + scene.size(2) + scene.size(nested * level);
	const x0 = scene.x(trace, span.start);
	return { x0, x1: Math.max(x0 + 2, scene.x(trace, span.start + span.dur)), y0, y1: y0 + scene.size(level) - 1, row };
}

function clipped(on: Ink, scene: Scene, draw: () => void): void {
	on.save();
	on.beginPath();
	on.rect(0, scene.ruler * scene.dpr, scene.width, 1e5);
	on.clip();
	draw();
	on.restore();
}

function frame(on: Ink, box: Box, width: number, colour: string): void {
	on.strokeStyle = colour;
	on.lineWidth = width;
	const x0 = Math.max(-4, box.x0);
	on.strokeRect(Math.floor(x0) + 0.5, Math.floor(box.y0) + 0.5, Math.min(1e4, Math.max(2, box.x1 - x0)), box.y1 - box.y0);
}

function arrow(on: Ink, from: Box, to: Box, colour: string, dpr: number): void {
	const x0 = Math.min(Math.max(from.x0, -50), 1e4);
	const x1 = Math.min(Math.max(to.x0, -50), 1e4);
	const down = to.y0 > from.y0;
	const y0 = down ? from.y1 : from.y0;
	const y1 = down ? to.y0 : to.y1;
	const bend = Math.max(24, Math.abs(y1 - y0) * 0.5) * (down ? 1 : -1);
	on.strokeStyle = colour;
	on.fillStyle = colour;
	on.lineWidth = 1.5 * dpr;
	on.beginPath();
	on.moveTo(x0, y0);
	on.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
	on.stroke();
	const head = (down ? -6 : 6) * dpr;
	on.beginPath();
	on.moveTo(x1, y1);
	on.lineTo(x1 - 4 * dpr, y1 + head);
	on.lineTo(x1 + 4 * dpr, y1 + head);
	on.fill();
}

export function drawSelection(on: Ink, scene: Scene, layout: Layout): void {
	const selected = scene.state.selected;
	if (!selected)
		return;
	const { trace, span } = selected;
	const box = boxOf(scene, layout, trace, span);
	if (!box)
		return;
	clipped(on, scene, () => {
		const colour = scene.palette.accent;
		if (span.launch) {
			const launch = boxOf(scene, layout, trace, span.launch);
			if (launch) {
				frame(on, launch, 1.5 * scene.dpr, colour);
				arrow(on, launch, box, colour, scene.dpr);
			}
		}
		for (const work of span.work.slice(0, 16)) {
			const target = boxOf(scene, layout, trace, work);
			if (target) {
				frame(on, target, 1.5 * scene.dpr, colour);
				arrow(on, box, target, colour, scene.dpr);
			}
		}
		frame(on, box, 2.5 * scene.dpr, colour);
	});
}

/** Frames the evidence of a finding, and the piece one is at twice as strong; draw_spans.ts lets the rest step back. */
export function drawLit(on: Ink, scene: Scene, layout: Layout): void {
	const lit = scene.state.lit;
	if (!lit || !lit.spans.length)
		return;
	clipped(on, scene, () => {
		for (const [i, span] of lit.spans.entries()) {
			const box = boxOf(scene, layout, lit.trace, span);
			if (!box || box.x1 < 0 || box.x0 >= scene.width)
				continue;
			frame(on, box, (i === lit.at ? 3 : 1.5) * scene.dpr, scene.palette.accent);
			on.fillStyle = scene.palette.accent;
			on.beginPath();
			const x = Math.max(0, box.x0) + 5 * scene.dpr;
			on.moveTo(x, box.y0 - 2);
			on.lineTo(x - 5 * scene.dpr, box.y0 - 9 * scene.dpr);
			on.lineTo(x + 5 * scene.dpr, box.y0 - 9 * scene.dpr);
			on.fill();
		}
	});
}

export function drawOutlines(on: Ink, scene: Scene): void {
	for (const { x0, x1, y0, y1, kind } of scene.outlines) {
		on.fillStyle = scene.palette.accent;
		if (kind === "path")
			on.fillRect(x0, y1 - 2 * scene.dpr, x1 - x0, 2 * scene.dpr);
		else {
			on.strokeStyle = scene.palette.dark ? "#ffe14d" : "#c97b00";
			on.lineWidth = 1.5 * scene.dpr;
			on.strokeRect(x0 + 0.5, y0 + 0.5, Math.max(1, x1 - x0 - 1), y1 - y0 - 1);
		}
	}
}

export function drawRange(on: Ink, scene: Scene, height: number): void {
	const { range, from, to } = scene.state;
	if (!range)
		return;
	const perPixel = (to - from) / scene.width;
	const x0 = (range.from - from) / perPixel;
	const x1 = (range.to - from) / perPixel;
	on.fillStyle = scene.palette.dark ? "rgba(120,170,255,0.16)" : "rgba(40,100,220,0.12)";
	on.fillRect(x0, 0, x1 - x0, height);
	on.fillStyle = scene.palette.dark ? "#78aaff" : "#2864dc";
	on.fillRect(Math.round(x0), 0, scene.dpr, height);
	on.fillRect(Math.round(x1), 0, scene.dpr, height);
	const text = duration(range.to - range.from);
	const wide = on.measureText(text).width + 12 * scene.dpr;
	const middle = Math.min(scene.width - wide / 2, Math.max(wide / 2, (x0 + x1) / 2));
	on.fillRect(middle - wide / 2, 3 * scene.dpr, wide, (scene.ruler - 6) * scene.dpr);
	on.fillStyle = scene.palette.dark ? "#10161d" : "#ffffff";
	on.textAlign = "center";
	on.fillText(text, middle, scene.ruler * scene.dpr / 2);
}

export function drawCursor(on: Ink, scene: Scene, height: number): void {
	const { cursor, from, to } = scene.state;
	if (cursor === null)
		return;
	on.fillStyle = scene.palette.dark ? "rgba(255,255,255,0.35)" : "rgba(0,0,0,0.3)";
	on.fillRect(Math.round((cursor - from) / ((to - from) / scene.width)), 0, 1, height);
}
