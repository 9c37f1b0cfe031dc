/* SPDX-License-Identifier: Apache-2.0 */
/* raster.ts - rectangles written straight into an ImageData.
 *
 * In software rendering this is some twenty times faster than fillRect; text and lines are drawn over it by the canvas. */
import type { Pattern } from "./theme";

const NARROW = 20;

export class Raster {
	private image = new ImageData(1, 1);
	pixels = new Uint32Array(1);
	width = 1;
	height = 1;
	/** Nothing is drawn above or below these. */
	top = 0;
	bottom = 1;

	resize(width: number, height: number): void {
		if (width === this.width && height === this.height)
			return;
		this.width = width;
		this.height = height;
		this.image = new ImageData(width, height);
		this.pixels = new Uint32Array(this.image.data.buffer);
	}
	clear(pixel: number): void {
		this.pixels.fill(pixel);
		this.clip(0, this.height);
	}
	clip(top: number, bottom: number): void {
		this.top = Math.max(0, top);
		this.bottom = Math.min(this.height, bottom);
	}
	rect(x0: number, x1: number, y0: number, y1: number, pixel: number): void {
		const left = Math.max(0, x0);
		const right = Math.min(this.width, x1);
		if (right <= left)
			return;
		const { pixels, width } = this;
		const end = Math.min(y1, this.bottom);
		// A call of fill costs as much as some twenty pixels.
		if (right - left < NARROW) {
			for (let y = Math.max(y0, this.top); y < end; y++)
				for (let at = y * width + left, stop = y * width + right; at < stop; at++)
					pixels[at] = pixel;
			return;
		}
		for (let y = Math.max(y0, this.top); y < end; y++)
			pixels.fill(pixel, y * width + left, y * width + right);
	}
	/** Marks over a rectangle that tell its look without colour. */
	pattern(x0: number, x1: number, y0: number, y1: number, kind: Pattern, pixel: number): void {
		if (kind === "plain" || x1 - x0 < 4)
			return;
		if (kind === "line") {
			this.rect(x0, x1, y1 - 3, y1 - 2, pixel);
			return;
		}
		const left = Math.max(0, x0);
		const right = Math.min(this.width, x1);
		const end = Math.min(y1, this.bottom);
		for (let y = Math.max(y0, this.top); y < end; y++)
			for (let x = left; x < right; x++) {
				const on = kind === "stripes" ? ((x - x0 + y - y0) & 7) === 0
					: kind === "hatch" ? ((x - x0 - (y - y0)) & 7) === 0
						: ((x - x0) & 3) === 0 && ((y - y0) & 3) === 1;
				if (on)
					this.pixels[y * this.width + x] = pixel;
			}
	}
	paint(on: CanvasRenderingContext2D): void {
		on.putImageData(this.image, 0, 0);
	}
}
