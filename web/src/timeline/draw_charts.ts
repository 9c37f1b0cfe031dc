/* SPDX-License-Identifier: Apache-2.0 */
/* draw_charts.ts - area charts: a device's utilisation, its headway. */
import type { Lead } from "../data/leads";
import type { Cover } from "../data/tiles";
import { Look, type Headway } from "../data/protocol";
import { drawUnjudged } from "./draw_pieces";
import type { Row } from "./layout";
import type { Scene } from "./scene";

/** How busy the device is: compute from below, communication and memory on it, each pixel's share of time. */
export function drawUtilisation(scene: Scene, row: Row, covers: Cover[]): void {
	const { from, perPixel } = scene.window(row.trace);
	const { palette, raster } = scene;
	const colours = [0, 1, 2].map((c) => palette.pixel(palette.look(palette.classLook(c))));
	const bottom = scene.top(row) + scene.size(row.h) - 2;
	const height = scene.size(row.h) - 5;
	for (const cover of covers) {
		const tile = cover.tile;
		if (tile.form !== "summary")
			continue;
		const low = Math.floor((cover.from - from) / perPixel);
		const high = Math.ceil((cover.to - from) / perPixel);
		for (let i = 0; i < tile.n; i++) {
			const left = (tile.begin + tile.offset[i]! * tile.bucket - from) / perPixel;
			const x0 = Math.max(low, Math.floor(left));
			const x1 = Math.min(high, Math.max(x0 + 1, Math.floor(left + tile.bucket / perPixel)));
			let y = bottom;
			for (let c = 0; c < 3; c++) {
				const share = tile.share[c]?.[i] ?? 0;
				if (!share)
					continue;
				const next = Math.max(bottom - height, y - Math.max(1, Math.round(share / 255 * height)));
				raster.rect(x0, x1, next, y, colours[c]!);
				y = next;
			}
		}
	}
}

/** The same from the spans of the device's streams: the self-contained page has no summaries as fine as these. */
export function drawUtilisationOf(scene: Scene, row: Row, streams: Cover[][]): void {
	const { from, perPixel } = scene.window(row.trace);
	const spans: { start: number; end: number; c: number }[] = [];
	for (const { tile } of streams.flat())
		if (tile.form === "spans")
			for (let i = 0; i < tile.spans.n; i++)
				spans.push({ start: tile.spans.start[i]!, end: tile.spans.start[i]! + tile.spans.dur[i]!, c: scene.palette.classOf(tile.spans.look[i]!) });
	spans.sort((a, b) => a.start - b.start);
	const bottom = scene.top(row) + scene.size(row.h) - 2;
	const height = scene.size(row.h) - 5;
	const until = [from, from, from];
	const share = [0, 1, 2].map(() => new Float32Array(scene.width + 1));
	for (const { start, end, c } of spans) {
		for (let x = (Math.max(start, until[c]!) - from) / perPixel; x < Math.min(scene.width, (end - from) / perPixel); x = Math.floor(x) + 1)
			share[c]![Math.floor(x)]! += Math.min(Math.floor(x) + 1, (end - from) / perPixel) - x;
		until[c] = Math.max(until[c]!, end);
	}
	for (let x = 0; x < scene.width; x++) {
		let y = bottom;
		for (let c = 0; c < 3; c++) {
			const next = Math.max(bottom - height, y - Math.round(Math.min(1, share[c]![x]!) * height));
			scene.raster.rect(x, x + 1, next, y, scene.palette.pixel(scene.palette.look(scene.palette.classLook(c))));
			y = next;
		}
	}
}

/** The number of points that are not after a time. */
export function firstAfter(points: [number, number, number][], time: number): number {
	let low = 0;
	let high = points.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (points[middle]![0] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** A value that is of more pixels is told from those that are known pixel by pixel. */
export const BOUND_LEAST = 3;

/** Work enqueued and not finished, in time: the CPU's lead over the GPU. `all` has the height of every phase, `leads` what the window needs. */
export function drawHeadway(scene: Scene, row: Row, all: Headway, leads: Lead[]): void {
	const series = leads.filter((d) => d.device === row.device);
	const most = Math.max(1, ...all.devices.filter((d) => d.device === row.device).map((d) => d.max_work));
	const { from, to, perPixel } = scene.window(row.trace);
	const { palette, raster } = scene;
	const fill = palette.tint(palette.look(Look.launch), 0.45);
	const faint = palette.tint(palette.look(Look.launch), 0.2);
	const edge = palette.pixel(palette.look(Look.launch));
	const bottom = scene.top(row) + scene.size(row.h) - 2;
	const height = scene.size(row.h) - 5;
	drawUnjudged(scene, row);
	for (const { points, within } of series)
		for (let i = Math.max(0, firstAfter(points, from) - 1); i < points.length && points[i]![0] < to; i++) {
			const x0 = Math.floor((points[i]![0] - from) / perPixel);
			const x1 = Math.max(x0 + 1, Math.floor(((points[i + 1]?.[0] ?? points[i]![0]) - from) / perPixel));
			const y = bottom - Math.round(Math.min(1, points[i]![2] / most) * height);
			// The most of a longer time is no plateau: an area that it stays below, without an edge.
			const bound = within > perPixel * BOUND_LEAST;
			raster.rect(x0, x1, y, bottom, bound ? faint : fill);
			if (!bound)
				raster.rect(x0, x1, Math.min(y, bottom - 1), Math.min(y, bottom - 1) + scene.size(1), edge);
		}
}
