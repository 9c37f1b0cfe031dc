/* SPDX-License-Identifier: Apache-2.0 */
/* draw_counter.ts - a counter's lane, its axis, and its value beside the cursor.
 *
 * A bucket is drawn as wide as it is: a band from its least to its largest value, a line at its mean. Coarse and fine tiles side
 * by side then differ in sharpness only, and the border between two tiles does not look like a change of the value. */
import type { Lane } from "../data/protocol";
import type { Cover } from "../data/tiles";
import { heightOf, readingAt, readingText, scaleOf } from "./counter";
import type { Row } from "./layout";
import type { Scene } from "./scene";
import { FONT } from "./text";
import { css } from "./theme";
import { amount } from "./units";

interface Box { bottom: number; height: number; yOf: (value: number) => number }

/** Rows lower than this have no room for an axis. */
const LEAST_AXIS = 30;

function boxOf(scene: Scene, row: Row, lane: Lane): Box {
	const { least, most } = scaleOf(lane);
	const bottom = scene.top(row) + scene.size(row.h) - 2;
	const height = scene.size(row.h) - 5;
	return { bottom, height, yOf: (value) => bottom - Math.round((Math.min(most, Math.max(least, heightOf(lane, value))) - least) / (most - least) * height) };
}

function drawGrid(scene: Scene, row: Row, { bottom, height }: Box): void {
	if (row.h < LEAST_AXIS)
		return;
	const faint = scene.palette.tint(scene.palette.line, 0.8);
	for (const share of [0.5, 1])
		scene.raster.rect(0, scene.width, bottom - Math.round(height * share), bottom - Math.round(height * share) + 1, faint);
}

/** Draws one part after the other, from left to right, and joins them. */
class Pen {
	private last = NaN;
	private readonly fill: number;
	private readonly band: number;
	private readonly edge: number;
	private readonly thick: number;

	constructor(private scene: Scene, private box: Box, colour: number) {
		const { palette } = scene;
		this.fill = palette.tint(colour, palette.dark ? 0.28 : 0.2);
		this.band = palette.tint(colour, 0.45);
		this.edge = palette.pixel(colour);
		this.thick = scene.size(1);
	}
	part(x0: number, x1: number, value: number, least: number, most: number): void {
		if (Number.isNaN(value) || x1 <= x0)
			return;
		const { raster } = this.scene;
		const { bottom, yOf } = this.box;
		const y = yOf(value);
		raster.rect(x0, x1, y, bottom, this.fill);
		if (least < most)
			raster.rect(x0, x1, yOf(most), Math.min(bottom, yOf(least) + 1), this.band);
		if (!Number.isNaN(this.last))
			raster.rect(x0, x0 + this.thick, Math.min(y, this.last), Math.max(y, this.last), this.edge);
		raster.rect(x0, x1, Math.min(y, bottom - 1), Math.min(y, bottom - 1) + this.thick, this.edge);
		this.last = y;
	}
	lift(): void {
		this.last = NaN;
	}
}

export function drawCounter(scene: Scene, row: Row, lane: Lane, covers: Cover[]): void {
	const { from, perPixel } = scene.window(row.trace);
	const box = boxOf(scene, row, lane);
	const pen = new Pen(scene, box, scene.palette.counter(lane.unit ?? ""));
	const end = (lane.end - from) / perPixel;
	drawGrid(scene, row, box);
	let reached = -Infinity;
	for (const { tile, ...part } of covers) {
		if (tile.form !== "counter")
			continue;
		const low = Math.max(0, Math.floor((part.from - from) / perPixel));
		const high = Math.min(scene.width, Math.floor((part.to - from) / perPixel) + (part.to === from + scene.width * perPixel ? 1 : 0));
		const clip = (x: number): number => Math.min(high, Math.max(low, x));
		if (low > reached + 1)
			pen.lift();
		let x = low;
		let value = tile.before;
		for (let i = 0; i < tile.n; i++) {
			const left = (tile.begin + tile.offset[i]! * tile.bucket - from) / perPixel;
			const x0 = clip(Math.floor(left));
			const x1 = clip(Math.max(Math.floor(left) + 1, Math.floor(left + tile.bucket / perPixel)));
			pen.part(x, x0, value, value, value);
			pen.part(Math.max(x, x0), x1, lane.flags ? tile.most[i]! : tile.mean[i]!, tile.least[i]!, tile.most[i]!);
			x = Math.max(x, x1);
			value = tile.last[i]!;
		}
		pen.part(x, Math.min(high, Math.ceil(end)), value, value, value);
		reached = high;
	}
	if (row.h >= LEAST_AXIS && !lane.flags)
		scene.axes.push({ pinned: row.pinned, y: box.bottom - box.height, text: amount(scaleOf(lane).most, lane.unit ?? "") });
}

/** What the top of each chart stands for. */
export function drawAxes(on: CanvasRenderingContext2D, scene: Scene, pinned: boolean): void {
	const { dpr, palette } = scene;
	on.font = FONT.replace("11px", `${9.5 * dpr}px`);
	on.textBaseline = "middle";
	on.textAlign = "left";
	for (const { y, text } of scene.axes.filter((a) => a.pinned === pinned)) {
		// The curve may run behind it.
		on.strokeStyle = css(palette.back);
		on.lineWidth = 4 * dpr;
		on.lineJoin = "round";
		on.strokeText(text, 3 * dpr, y + 6.5 * dpr);
		on.fillStyle = palette.faint;
		on.fillText(text, 3 * dpr, y + 6.5 * dpr);
	}
}

/** The value at the cursor's time beside every counter: a point on the curve, and the number to the left of it. */
export function drawReadings(on: CanvasRenderingContext2D, scene: Scene, rows: { row: Row; lane: Lane; covers: Cover[] }[]): void {
	const { cursor, from, to } = scene.state;
	if (cursor === null)
		return;
	const { dpr, palette } = scene;
	const x = Math.round((cursor - from) / ((to - from) / scene.width));
	on.font = FONT.replace("11px", `600 ${11 * dpr}px`);
	on.textBaseline = "middle";
	on.textAlign = "left";
	for (const { row, lane, covers } of rows) {
		const reading = readingAt(covers, lane, cursor + (scene.state.traces[row.trace]?.shift ?? 0));
		if (!reading)
			continue;
		const text = readingText(reading, lane);
		const y = boxOf(scene, row, lane).yOf(reading.value);
		const high = 15 * dpr;
		const wide = on.measureText(text).width + 10 * dpr;
		const left = x - wide - 7 * dpr >= 0 ? x - wide - 7 * dpr : x + 7 * dpr;
		const top = Math.min(scene.top(row) + scene.size(row.h) - high - 1, Math.max(scene.top(row) + 1, y - high / 2));
		on.fillStyle = css(palette.back);
		on.strokeStyle = css(palette.counter(lane.unit ?? ""));
		on.lineWidth = dpr;
		on.beginPath();
		on.roundRect(left, top, wide, high, 3 * dpr);
		on.fill();
		on.stroke();
		on.fillStyle = palette.ink;
		on.fillText(text, left + 5 * dpr, top + high / 2 + 0.5);
		on.fillStyle = css(palette.counter(lane.unit ?? ""));
		on.beginPath();
		on.arc(x + 0.5, y, 3 * dpr, 0, 7);
		on.fill();
	}
}
