/* SPDX-License-Identifier: Apache-2.0 */
/* text.ts - labels on the canvas, cut to the room there is. Widths of texts are measured once. */
import { tr } from "../lang";
import { shownName } from "../query/shown";
import type { Label } from "./scene";

export const FONT = "11px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif";
const MOST_CHARS = 200;
const widths = new Map<string, number>();
const shortened = new Map<string, string>();

// Control characters and the like would draw as nothing or turn the line around.
const ODD = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name, at most as long as a line. */
export const plain = (text: string, most = MOST_CHARS): string => text.slice(0, most).replace(ODD, "\ufffd");

/** A sentence or a command: whole, however long. Line ends stay. */
export const sentence = (text: string): string => text.split("\n").map((line) => plain(line, Infinity)).join("\n");

/** Of a path of ranges the inner two say where one is. */
export function inner(path: string): string {
	const parts = path.split(" > ");
	return parts.length > 2 ? `… > ${parts.slice(-2).join(" > ")}` : path;
}

/** A path of ranges that stands for several, with N for the numbers that count them: "step_7 > load" is "step_N > load". */
export const folded = (path: string): string => path.replace(/([_# /\-:.,=([])\d+(?![\da-zA-Z\u0080-\uffff])/g, "$1N");

/** The font that the widths are of: another zoom of the browser draws in another size. */
let measured = "";

export function widthOf(on: CanvasRenderingContext2D, text: string): number {
	if (on.font !== measured) {
		widths.clear();
		measured = on.font;
	}
	let width = widths.get(text);
	if (width === undefined) {
		if (widths.size > 20_000)
			widths.clear();
		widths.set(text, width = on.measureText(text).width);
	}
	return width;
}

/** Kernel names begin with what they have in common: without return type, namespaces and arguments more fits. */
export function shorten(text: string): string {
	let short = shortened.get(text);
	if (short === undefined) {
		if (shortened.size > 20_000)
			shortened.clear();
		shortened.set(text, short = shownName(text));
	}
	return short;
}

/** What a step is called. Where all steps have one name ("Optimizer.step#Adam.step"), the number tells them apart. */
export function stepTitle(name: string, k: number): string {
	if (/\d/.test(name))
		return plain(name);
	return name ? `${tr("step {k}", { k })} (${plain(name)})` : tr("step {k}", { k });
}

/** Functions begin with the path of their file: the file's own name tells more than the first folders. */
export const withoutFolders = (text: string): string => text.slice(text.lastIndexOf("/", text.search(/[(:<]|$/)) + 1) || text;

/** Fewer letters of a name say nothing. */
const LEAST_LETTERS = 3;

/** The text, or as much of it as has room, with a sign that there is more of it; "" where that would say nothing. */
function cutTo(on: CanvasRenderingContext2D, text: string, room: number): string {
	if (widthOf(on, text) <= room + 1)
		return text;
	const letters = [...text];
	let left = room - widthOf(on, "…");
	let n = 0;
	while (n < letters.length && (left -= widthOf(on, letters[n]!)) >= 0)
		n++;
	return n < LEAST_LETTERS ? "" : `${letters.slice(0, n).join("")}…`;
}

export function drawLabels(on: CanvasRenderingContext2D, labels: Label[], dpr: number): void {
	on.font = FONT.replace("11px", `${11 * dpr}px`);
	on.textBaseline = "middle";
	on.textAlign = "left";
	for (const label of labels) {
		const room = label.w - 6 * dpr;
		let text = shorten(plain(label.text));
		if (widthOf(on, text) > room + 1)
			text = cutTo(on, withoutFolders(text), room);
		if (!text)
			continue;
		on.fillStyle = label.ink;
		on.fillText(text, Math.round(label.x + 3 * dpr), Math.round(label.y + label.h / 2) + 0.5);
	}
}
