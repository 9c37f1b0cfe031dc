/* SPDX-License-Identifier: Apache-2.0 */
/* svg_ink.ts - what the timeline asks of a canvas, written as SVG: the functions that draw the screen draw the picture, too.
 *
 * Only what they use is here. Texts stay texts; every one is escaped, and what XML cannot hold is replaced. */
import { Raster } from "./raster";
import { css, type Pattern } from "./theme";

/** More shapes make a file that no program opens gladly. */
export const MOST_SHAPES = 200_000;

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escaped = (text: string): string => text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd").replace(/[&<>"']/g, (c) => ESCAPES[c]!);

const n = (value: number): string => String(Math.round(value * 100) / 100);
const box = (x: number, y: number, w: number, h: number): string => `M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}z`;
/** 0xAABBGGRR, as in an ImageData. */
const colourOf = (pixel: number): string => css(((pixel & 255) << 16) | (pixel & 0xff00) | ((pixel >> 16) & 255));

export class SvgInk {
	fillStyle = "#000";
	strokeStyle = "#000";
	lineWidth = 1;
	font = "11px sans-serif";
	textAlign = "left";
	textBaseline = "middle";
	lineJoin = "miter";
	globalAlpha = 1;
	readonly parts: string[] = [];
	private path = "";
	private depth: number[] = [0];
	private clips = 0;
	private measure = document.createElement("canvas").getContext("2d")!;

	private put(tag: string, attributes: string, inside = ""): void {
		const faint = this.globalAlpha < 1 ? ` opacity="${n(this.globalAlpha)}"` : "";
		this.parts.push(`<${tag} ${attributes}${faint}${inside ? `>${inside}</${tag}>` : "/>"}`);
	}
	private open(attributes: string): void {
		this.parts.push(`<g ${attributes}>`);
		this.depth[this.depth.length - 1]!++;
	}
	save(): void {
		this.depth.push(0);
	}
	restore(): void {
		this.parts.push("</g>".repeat(this.depth.pop() ?? 0));
		if (!this.depth.length)
			this.depth.push(0);
	}
	translate(x: number, y: number): void {
		this.open(`transform="translate(${n(x)} ${n(y)})"`);
	}
	beginPath(): void {
		this.path = "";
	}
	moveTo(x: number, y: number): void {
		this.path += `M${n(x)} ${n(y)}`;
	}
	lineTo(x: number, y: number): void {
		this.path += `L${n(x)} ${n(y)}`;
	}
	bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number): void {
		this.path += `C${[a, b, c, d, x, y].map(n).join(" ")}`;
	}
	rect(x: number, y: number, w: number, h: number): void {
		this.path += box(x, y, w, h);
	}
	roundRect(x: number, y: number, w: number, h: number): void {
		this.rect(x, y, w, h);
	}
	/** Whole circles are all that is drawn. */
	arc(x: number, y: number, r: number): void {
		this.path += `M${n(x - r)} ${n(y)}a${n(r)} ${n(r)} 0 1 0 ${n(2 * r)} 0a${n(r)} ${n(r)} 0 1 0 ${n(-2 * r)} 0z`;
	}
	clip(): void {
		const id = `clip${this.clips++}`;
		this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
		this.open(`clip-path="url(#${id})"`);
	}
	fill(): void {
		this.put("path", `d="${this.path}" fill="${this.fillStyle}"`);
	}
	stroke(): void {
		this.put("path", `d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${n(this.lineWidth)}"`);
	}
	fillRect(x: number, y: number, w: number, h: number): void {
		this.put("rect", `x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, w))}" height="${n(Math.max(0, h))}" fill="${this.fillStyle}"`);
	}
	strokeRect(x: number, y: number, w: number, h: number): void {
		this.put("path", `d="${box(x, y, w, h)}" fill="none" stroke="${this.strokeStyle}" stroke-width="${n(this.lineWidth)}"`);
	}
	fillText(text: string, x: number, y: number): void {
		if (!text)
			return;
		const anchor = { center: ' text-anchor="middle"', right: ' text-anchor="end"' }[this.textAlign] ?? "";
		const [, weight, size] = /^(bold |600 )?([\d.]+)px/.exec(this.font) ?? [];
		this.put("text", `x="${n(x)}" y="${n(y)}" dominant-baseline="central" fill="${this.fillStyle}" font-size="${size ?? "11"}"${weight ? ' font-weight="600"' : ""}${anchor}`, escaped(text));
	}
	/** Behind a text: what is under it does not run through its letters. */
	strokeText(text: string, x: number, y: number): void {
		const [, , size] = /^(bold |600 )?([\d.]+)px/.exec(this.font) ?? [];
		this.put("text", `x="${n(x)}" y="${n(y)}" dominant-baseline="central" fill="none" stroke="${this.strokeStyle}" stroke-width="${n(this.lineWidth)}" stroke-linejoin="${this.lineJoin}" font-size="${size ?? "11"}"`, escaped(text));
	}
	measureText(text: string): TextMetrics {
		this.measure.font = this.font;
		return this.measure.measureText(text);
	}
	/** Shapes of one colour are one path. */
	putShapes(colour: string, path: string): void {
		this.parts.push(`<path d="${path}" fill="${colour}"/>`);
	}
}

const PATTERNS: Record<Pattern, string> = { plain: "", line: "", stripes: "M-1 9L9 -1M-5 5L5 -5M3 13L13 3", hatch: "M-1 -1L9 9M-5 3L5 13M3 -5L13 5", dots: "M0 1h1M4 1h1M0 5h1M4 5h1" };

/** Keeps rectangles instead of pixels: those side by side with one colour become one. */
export class SvgRaster extends Raster {
	private shapes: { x0: number; x1: number; y0: number; y1: number; fill: string }[] = [];
	private patterns = new Map<string, string>();

	override resize(width: number, height: number): void {
		this.width = width;
		this.height = height;
	}
	override clear(pixel: number): void {
		this.clip(0, this.height);
		this.add(0, this.width, 0, this.height, colourOf(pixel));
	}
	private add(left: number, right: number, top: number, bottom: number, fill: string): void {
		const [x0, x1, y0, y1] = [Math.max(0, left), Math.min(this.width, right), Math.max(this.top, top), Math.min(this.bottom, bottom)];
		if (x1 <= x0 || y1 <= y0)
			return;
		const last = this.shapes.at(-1);
		if (last && last.fill === fill && last.y0 === y0 && last.y1 === y1 && x0 <= last.x1 && x0 >= last.x0)
			last.x1 = Math.max(last.x1, x1);
		else if (this.shapes.length <= MOST_SHAPES)
			this.shapes.push({ x0, x1, y0, y1, fill });
	}
	get isFull(): boolean {
		return this.shapes.length > MOST_SHAPES;
	}
	override rect(x0: number, x1: number, y0: number, y1: number, pixel: number): void {
		this.add(x0, x1, y0, y1, colourOf(pixel));
	}
	override pattern(x0: number, x1: number, y0: number, y1: number, kind: Pattern, pixel: number): void {
		if (kind === "line")
			return super.pattern(x0, x1, y0, y1, kind, pixel);
		if (kind === "plain" || x1 - x0 < 4)
			return;
		const id = `${kind}-${(pixel >>> 0).toString(16)}`;
		this.patterns.set(id, `<pattern id="${id}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${PATTERNS[kind]}" stroke="${colourOf(pixel)}"/></pattern>`);
		this.add(x0, x1, y0, y1, `url(#${id})`);
	}
	/** In the order in which they were drawn: later ones cover earlier ones. */
	override paint(on: CanvasRenderingContext2D): void {
		const ink = on as unknown as SvgInk;
		ink.parts.push(`<defs>${[...this.patterns.values()].join("")}</defs>`);
		for (let i = 0; i < this.shapes.length;) {
			const { fill } = this.shapes[i]!;
			let path = "";
			for (; i < this.shapes.length && this.shapes[i]!.fill === fill; i++) {
				const s = this.shapes[i]!;
				path += box(s.x0, s.y0, s.x1 - s.x0, s.y1 - s.y0);
			}
			ink.putShapes(fill, path);
		}
	}
}
