/* SPDX-License-Identifier: Apache-2.0 */
/* history.ts - takes back zooms and moves of the window, and does them again. A window counts once it stands still. */
import { replaceNext } from "./link";
import { set, state, subscribe } from "./store";

interface Window { from: number; to: number }

const STILL_MS = 350;
const MOST = 200;
/** A window that differs by less than this share of its width is the same. */
const SAME = 0.01;

const past: Window[] = [];
const future: Window[] = [];
let now: Window = { from: 0, to: 0 };
let timer = 0;

const here = (): Window => ({ from: state.from, to: state.to });
const differs = (a: Window, b: Window): boolean => Math.abs(a.from - b.from) + Math.abs(a.to - b.to) > SAME * (b.to - b.from);

/** Notes the window that is on the screen. */
function note(): void {
	clearTimeout(timer);
	if (!differs(now, here()))
		return;
	past.push(now);
	past.splice(0, past.length - MOST);
	future.length = 0;
	now = here();
}

export function keepHistory(): void {
	now = here();
	let seen = now;
	subscribe(() => {
		if (seen.from === state.from && seen.to === state.to)
			return;
		seen = here();
		clearTimeout(timer);
		timer = window.setTimeout(note, STILL_MS);
	});
}

function move(from: Window[], onto: Window[]): void {
	const next = from.pop();
	if (!next)
		return;
	onto.push(now);
	now = next;
	replaceNext();
	set({ ...next });
}

export function undoWindow(): void {
	note();
	move(past, future);
}

export function redoWindow(): void {
	note();
	move(future, past);
}
