/* SPDX-License-Identifier: Apache-2.0 */
/* draw_notes.ts - flags on the ruler, with as much of their text as fits, and where a press meets one. */
import type { Note } from "../data/note";
import type { State } from "../state/store";
import type { Scene } from "./scene";
import { plain } from "./text";

const HIGH = 14;
const LEAST = 14;
const MOST_TEXT = 160;

interface Flag { note: Note; trace: number; x0: number; x1: number; room: number }

/** The flags on the screen, in device pixels, in order; each has the room up to the next one. */
function flagsOf(scene: Scene): Flag[] {
	const flags = scene.state.notes.all.flatMap((notes, trace) => notes.map((note): Flag =>
		({ note, trace, x0: scene.x(trace, note.from), x1: scene.x(trace, note.to), room: MOST_TEXT * scene.dpr })))
		.filter((f) => f.x1 >= 0 && f.x0 < scene.width)
		.map((f) => ({ ...f, x0: Math.max(0, f.x0), x1: Math.min(scene.width, f.x1) })).sort((a, b) => a.x0 - b.x0);
	flags.forEach((f, i) => { f.room = Math.min(f.room, (flags[i + 1]?.x0 ?? scene.width) - f.x0 - 2); });
	return flags;
}

/** Whether a flag stands on the ruler. */
export const flagsShown = (scene: Scene): boolean => flagsOf(scene).length > 0;

const inkOf = (scene: Scene): string => (scene.palette.dark ? "#ff9ecb" : "#a3246b");

/** The whole text where it fits, else its begin. */
function fit(on: CanvasRenderingContext2D, text: string, room: number): string {
	const width = on.measureText(text).width;
	const chars = Math.floor(text.length * room / width) - 1;
	return width <= room ? text : chars > 1 ? `${text.slice(0, chars)}…` : "";
}

export function drawNotes(on: CanvasRenderingContext2D, scene: Scene, height: number): void {
	const { dpr } = scene;
	const bottom = scene.ruler * dpr;
	on.textBaseline = "middle";
	on.textAlign = "left";
	for (const { note, x0, x1, room } of flagsOf(scene)) {
		const ink = inkOf(scene);
		const isAt = note.id === scene.state.notes.at;
		const text = fit(on, plain(note.text), room - 8 * dpr);
		const wide = Math.max(Math.min(LEAST * dpr, Math.max(4, room)), text ? on.measureText(text).width + 8 * dpr : 0);
		on.fillStyle = ink;
		on.globalAlpha = isAt ? 0.9 : 0.45;
		on.fillRect(Math.round(x0), 0, isAt ? 2 * dpr : dpr, height);
		if (x1 > x0 + 1)
			on.fillRect(x0, bottom - 3 * dpr, x1 - x0, 3 * dpr);
		on.globalAlpha = 1;
		on.fillRect(x0, 0, wide, HIGH * dpr);
		on.fillStyle = scene.palette.dark ? "#14181e" : "#ffffff";
		on.fillText(text, x0 + 4 * dpr, HIGH * dpr / 2 + 0.5);
	}
}

/** The note whose flag is at a place of the ruler, in CSS pixels. */
export function noteAt(scene: Scene, x: number, y: number): Note | null {
	if (y > HIGH + 2)
		return null;
	const at = x * scene.dpr;
	return flagsOf(scene).reverse().find((f) => f.x0 <= at + 3 * scene.dpr && at <= f.x0 + Math.max(LEAST * scene.dpr, f.room))?.note ?? null;
}

/** Small flags over the whole run. */
export function drawNotesOnMap(on: CanvasRenderingContext2D, s: State, from: number, scale: number, dark: boolean): void {
	on.fillStyle = dark ? "#ff9ecb" : "#a3246b";
	s.notes.all.forEach((notes, t) => notes.forEach((note) => {
		const x = (note.from - (s.traces[t]?.shift ?? 0) - from) * scale;
		on.beginPath();
		on.moveTo(x, 0);
		on.lineTo(x + 8, 4);
		on.lineTo(x, 8);
		on.fill();
		on.fillRect(x - 0.5, 0, 1, 14);
	}));
}
