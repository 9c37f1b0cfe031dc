/* SPDX-License-Identifier: Apache-2.0 */
/* flame_draw.ts - where the frames of a trie lie, and their picture. Frames below a tenth of a pixel are not drawn; those around them have their width. */
import { FrameKind } from "../data/flame";
import { keys, tr } from "../lang";
import { css } from "../timeline/theme";
import { FONT, plain, shorten } from "../timeline/text";
import { colourOfChange, colourOfFrame, faded, inkOn } from "./flame_colours";
import type { Trie } from "./flame_trie";

export const ROW = 18;
const THINNEST = 0.1;
const LEAST_LABEL = 24;
export const MOST_ROWS = 400;

/** A frame on the screen: part 0 is the trie itself or what a function calls, part 1 its callers, which stand over it. */
export interface Box { part: 0 | 1; node: number; x: number; w: number; row: number; above: boolean }

export interface Picture { boxes: Box[]; rows: number; tries: Trie[] }

/** The frames inside of one, row by row, in a width. The rows begin at `row` and go down, or up. */
function place(trie: Trie, part: 0 | 1, top: number, width: number, row: number, step: 1 | -1, boxes: Box[]): number {
	const whole = trie.width(top);
	let last = row;
	const stack: [number, number, number][] = [[top, 0, row]];
	while (stack.length) {
		const [node, x, at] = stack.pop()!;
		const w = whole > 0 ? trie.width(node) / whole * width : width;
		if (w < THINNEST && node !== top)
			continue;
		boxes.push({ part, node, x, w, row: at, above: false });
		last = step > 0 ? Math.max(last, at) : Math.min(last, at);
		if (Math.abs(at - row) >= MOST_ROWS)
			continue;
		let from = x;
		for (const inner of trie.inner[node]!) {
			stack.push([inner, from, at + step]);
			from += whole > 0 ? trie.width(inner) / whole * width : 0;
		}
	}
	return last;
}

/** A trie from a node on; the node's callers stand over it in full width. */
export function layOut(trie: Trie, zoom: number, width: number): Picture {
	const boxes: Box[] = [];
	const path = trie.path(zoom);
	path.slice(0, -1).forEach((node, row) => boxes.push({ part: 0, node, x: 0, w: width, row, above: true }));
	const last = place(trie, 0, zoom, width, path.length - 1, 1, boxes);
	return { boxes, rows: last + 1, tries: [trie] };
}

/** Callers upwards, callees downwards, the function between them. Both tries have one node in their root: the function. */
export function layOutSandwich(callers: Trie, callees: Trie, width: number): Picture {
	const above: Box[] = [];
	const first = place(callers, 1, 1, width, 0, -1, above);
	const boxes = above.filter((b) => b.row < 0).map((b) => ({ ...b, row: b.row - first }));
	const last = place(callees, 0, 1, width, -first, 1, boxes);
	return { boxes, rows: last + 1, tries: [callees, callers] };
}

export const boxAt = (picture: Picture, x: number, y: number): Box | null => {
	const row = Math.floor(y / ROW);
	return picture.boxes.find((b) => b.row === row && x >= b.x && x < b.x + Math.max(b.w, 0.5)) ?? null;
};

interface Look { dark: boolean; hits: Set<number> | null; over: Box | null; picked: Box | null; ink: string; accent: string }

function label(on: CanvasRenderingContext2D, text: string, box: Box, y: number): void {
	const room = box.w - 6;
	let shown = shorten(plain(text));
	const width = on.measureText(shown).width;
	if (width > room) {
		let chars = Math.floor(shown.length * room / width);
		const cut = (): string => `${shown.slice(0, chars)}…`;
		while (chars > 2 && on.measureText(cut()).width > room)
			chars--;
		if (chars < 3)
			return;
		shown = cut();
	}
	on.fillText(shown, box.x + 3, y + ROW / 2);
}

keys("no stack was recorded");

/** What stands in a frame. */
export function titleOfNode(trie: Trie, node: number): string {
	const { name, kind } = trie.at(node);
	return node === 0 && !name ? tr("all") : trie.merged[node] && !name ? tr("{n} small frames", { n: trie.merged[node] }) : (kind === FrameKind.unknown ? tr(name) : name) || "?";
}

export function draw(canvas: HTMLCanvasElement, picture: Picture, width: number, look: Look): void {
	const dpr = devicePixelRatio || 1;
	const height = Math.max(1, picture.rows) * ROW;
	canvas.width = Math.round(width * dpr);
	canvas.height = Math.round(height * dpr);
	canvas.style.height = `${height}px`;
	const on = canvas.getContext("2d")!;
	on.scale(dpr, dpr);
	on.font = FONT;
	on.textBaseline = "middle";
	for (const box of picture.boxes) {
		const trie = picture.tries[box.part]!;
		const hit = look.hits?.has(trie.frame[box.node]!) ?? true;
		let colour = trie.runs > 1 && box.node ? colourOfChange(trie, box.node, look.dark) : colourOfFrame(trie.at(box.node), look.dark);
		if (!hit || box.above)
			colour = faded(colour, look.dark);
		const y = box.row * ROW;
		on.fillStyle = css(colour);
		// A line of background between neighbours, where there is room for one.
		on.fillRect(box.x, y, Math.max(0.4, box.w - (box.w > 3 ? 1 : 0)), ROW - 1);
		if (box.w >= LEAST_LABEL) {
			on.fillStyle = hit && !box.above ? inkOn(colour) : look.ink;
			on.globalAlpha = hit ? 1 : 0.6;
			label(on, titleOfNode(trie, box.node), box, y);
			on.globalAlpha = 1;
		}
	}
	for (const [box, colour] of [[look.picked, look.accent], [look.over, look.ink]] as const) {
		if (!box)
			continue;
		on.strokeStyle = colour;
		on.lineWidth = 1.5;
		on.strokeRect(box.x + 0.75, box.row * ROW + 0.75, Math.max(1, box.w - 2.5), ROW - 2.5);
	}
}
