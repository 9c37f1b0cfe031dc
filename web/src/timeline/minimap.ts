/* SPDX-License-Identifier: Apache-2.0 */
/* minimap.ts - the whole run in one strip: how busy the devices are, hits of the search, evidence, the window. */
import type { Tiles } from "../data/tiles";
import { bounds } from "../state/actions";
import type { State } from "../state/store";
import { drawNotesOnMap } from "./draw_notes";
import { css, type Palette } from "./theme";

function drawBusy(on: CanvasRenderingContext2D, s: State, tiles: Tiles, palette: Palette, width: number, height: number): void {
	const all = bounds();
	const perPixel = (all.to - all.from) / width;
	const level = Math.min(40, Math.max(0, Math.ceil(Math.log2(perPixel))));
	s.traces.forEach((trace, t) => {
		const lanes = trace.lanes.lanes.filter((l) => l.type === "hardware");
		const band = height / Math.max(1, s.traces.length);
		const bottom = Math.round(band * (t + 1)) - 1;
		for (const lane of lanes)
			for (const { tile } of tiles.cover(t, lane.lane, all.from + trace.shift, all.to + trace.shift, level, 0)) {
				if (tile.form !== "summary")
					continue;
				for (let i = 0; i < tile.n; i++) {
					const x = Math.floor((tile.begin + tile.offset[i]! * tile.bucket - all.from - trace.shift) / perPixel);
					let share = 0;
					let best = 0;
					for (let c = 0; c < 3; c++) {
						share += tile.share[c]?.[i] ?? 0;
						if ((tile.share[c]?.[i] ?? 0) > (tile.share[best]?.[i] ?? 0))
							best = c;
					}
					// The root: a sign of life matters here, not its measure.
					const h = Math.max(2, Math.round(Math.sqrt(Math.min(1, share / 255)) * (band - 4)));
					on.fillStyle = css(palette.look(palette.classLook(best)));
					on.fillRect(x, bottom - h, Math.max(1, Math.ceil(tile.bucket / perPixel)), h);
				}
			}
	});
}

function drawMarks(on: CanvasRenderingContext2D, s: State, palette: Palette, width: number, height: number): void {
	const all = bounds();
	const scale = width / (all.to - all.from);
	on.fillStyle = palette.accent;
	s.found.forEach((found, t) => {
		const trace = s.traces[t];
		if (!found || !trace)
			return;
		const part = (trace.info.end - trace.info.start) / found.marks.length;
		found.marks.forEach((n, i) => {
			if (n)
				on.fillRect((trace.info.start + i * part - trace.shift - all.from) * scale, 0, Math.max(1.5, part * scale), 5);
		});
	});
	if (s.lit) {
		const shift = s.traces[s.lit.trace]?.shift ?? 0;
		for (const span of s.lit.spans) {
			const x = (span.start - shift - all.from) * scale;
			on.fillRect(x - 1, 0, 3, height);
		}
	}
}

export function drawMiniMap(canvas: HTMLCanvasElement, s: State, tiles: Tiles, palette: Palette): void {
	const on = canvas.getContext("2d", { alpha: false });
	if (!on || !s.traces.length)
		return;
	const dpr = window.devicePixelRatio || 1;
	const width = Math.max(1, Math.round(canvas.clientWidth * dpr));
	const height = Math.max(1, Math.round(canvas.clientHeight * dpr));
	if (canvas.width !== width || canvas.height !== height) {
		canvas.width = width;
		canvas.height = height;
	}
	on.fillStyle = css(palette.band);
	on.fillRect(0, 0, width, height);
	drawBusy(on, s, tiles, palette, width, height);
	drawMarks(on, s, palette, width, height);
	const all = bounds();
	const scale = width / (all.to - all.from);
	drawNotesOnMap(on, s, all.from, scale, palette.dark);
	const x0 = Math.round((s.from - all.from) * scale);
	const x1 = Math.max(x0 + 2, Math.round((s.to - all.from) * scale));
	on.fillStyle = palette.dark ? "rgba(10,13,17,0.62)" : "rgba(255,255,255,0.66)";
	on.fillRect(0, 0, x0, height);
	on.fillRect(x1, 0, width - x1, height);
	on.strokeStyle = palette.accent;
	on.lineWidth = 1.5 * dpr;
	on.strokeRect(x0 + 0.5, 0.75, x1 - x0 - 1, height - 1.5);
}
