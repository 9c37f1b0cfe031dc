/* SPDX-License-Identifier: Apache-2.0 */
/* picture.ts - the timeline with the names of its lanes as a picture: PNG as on the screen, SVG with names as text. */
import { tr } from "../lang";
import { beginOf, runTitle, state } from "../state/store";
import { SvgInk, SvgRaster } from "./svg_ink";
import { FONT, plain } from "./text";
import { css } from "./theme";
import { RULER, type Timeline } from "./timeline";
import { duration } from "./units";

const HEAD = 30;
const LEFT = 200;
const INDENT = 9;

interface Size { width: number; height: number; left: number; head: number; dpr: number }

function sizeOf(canvas: HTMLCanvasElement): Size {
	const dpr = window.devicePixelRatio || 1;
	const [left, head] = [LEFT * dpr, HEAD * dpr];
	return { width: left + canvas.width, height: head + canvas.height, left, head, dpr };
}

function fit(on: CanvasRenderingContext2D, text: string, room: number): string {
	const width = on.measureText(text).width;
	return width <= room ? text : `${text.slice(0, Math.max(1, Math.floor(text.length * room / width) - 1))}…`;
}

function drawHead(on: CanvasRenderingContext2D, timeline: Timeline, { width, height, head, dpr }: Size): void {
	on.fillStyle = css(timeline.palette.back);
	on.fillRect(0, 0, width, height);
	on.font = FONT.replace("11px", `${13 * dpr}px`);
	on.textBaseline = "middle";
	on.textAlign = "left";
	on.fillStyle = timeline.palette.ink;
	const name = state.traces.map((t) => plain(runTitle(t))).join(" · ");
	on.fillText(fit(on, `${name} · ${tr("{time} from {start}", { time: duration(state.to - state.from), start: duration(state.from - beginOf(state)) })}`, width - 20 * dpr), 8 * dpr, head / 2);
}

function drawTitles(on: CanvasRenderingContext2D, timeline: Timeline, { left, height, head, dpr }: Size): void {
	const { rows, pinnedHeight } = timeline.layout;
	const edge = (RULER + pinnedHeight) * dpr;
	on.font = FONT.replace("11px", `${11 * dpr}px`);
	for (const row of rows) {
		const y = (row.pinned ? RULER + row.y : RULER + pinnedHeight + row.y - timeline.scroll) * dpr;
		const middle = y + Math.min(row.h, 24) * dpr / 2;
		if (middle > height - head || middle < (row.pinned ? RULER * dpr : edge))
			continue;
		const x = (8 + row.depth * INDENT) * dpr;
		on.fillStyle = row.folds ? timeline.palette.ink : timeline.palette.faint;
		on.fillText(fit(on, plain(row.title), left - x - 6 * dpr), x, head + middle);
	}
}

export async function pngOf(timeline: Timeline, canvas: HTMLCanvasElement): Promise<Blob | null> {
	const size = sizeOf(canvas);
	const whole = document.createElement("canvas");
	whole.width = size.width;
	whole.height = size.height;
	const on = whole.getContext("2d")!;
	drawHead(on, timeline, size);
	drawTitles(on, timeline, size);
	on.drawImage(canvas, size.left, size.head);
	return new Promise((done) => whole.toBlob(done, "image/png"));
}

/** Null where there is too much on the screen. */
export function svgOf(timeline: Timeline, canvas: HTMLCanvasElement): string | null {
	const size = sizeOf(canvas);
	const ink = new SvgInk();
	const raster = new SvgRaster();
	const on = ink as unknown as CanvasRenderingContext2D;
	drawHead(on, timeline, size);
	drawTitles(on, timeline, size);
	ink.save();
	ink.translate(size.left, size.head);
	ink.beginPath();
	ink.rect(0, 0, canvas.width, canvas.height);
	ink.clip();
	timeline.drawOn(on, raster);
	ink.restore();
	if (raster.isFull)
		return null;
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width / size.dpr}" height="${size.height / size.dpr}" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, 'Noto Sans', 'DejaVu Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif">
${ink.parts.filter(Boolean).join("\n")}
</svg>
`;
}
