/* SPDX-License-Identifier: Apache-2.0 */
/* draw_pieces.ts - rows and tints made of pieces: idle gaps by cause, the critical path, steps. */
import { CAUSES, OUTLIER, PATH_KINDS, WARM_UP, type Phase, type Piece, type Steps } from "../data/protocol";
import { tr } from "../lang";
import { state } from "../state/store";
import type { Row } from "./layout";
import type { Scene } from "./scene";

function firstEndingAfter<T>(list: T[], end: (item: T) => number, time: number): number {
	let low = 0;
	let high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (end(list[middle]!) <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function eachPiece(scene: Scene, trace: number, pieces: Piece[], draw: (piece: Piece, x0: number, x1: number) => void): void {
	const { from, to, perPixel } = scene.window(trace);
	for (let i = firstEndingAfter(pieces, (p) => p.to, from); i < pieces.length && pieces[i]!.from < to; i++) {
		const piece = pieces[i]!;
		const x0 = Math.floor((piece.from - from) / perPixel);
		draw(piece, x0, Math.max(x0 + 1, Math.round((piece.to - from) / perPixel)));
	}
}

/** The stretches of time in which idle time has causes: those of the steady steps. Of a rank's row, of that rank's. */
export function judgedOf(row: Row): [number, number][] {
	const { steps, lanes } = state.traces[row.trace]!;
	const ranks = row.rank === null ? null : new Map(lanes.lanes.map((l) => [l.process ?? -1, l.rank]));
	return (steps?.phases ?? []).filter((p) => !ranks || (p.process ?? -1) < 0 || ranks.get(p.process!) === row.rank).map((p): [number, number] => [p.from, p.to]).sort((a, b) => a[0] - b[0]);
}

/** What is not judged is not empty: hatched, where the recording has something. */
export function drawUnjudged(scene: Scene, row: Row): void {
	const { from, perPixel } = scene.window(row.trace);
	const { start, end } = state.traces[row.trace]!.info;
	const top = scene.top(row) + 1;
	const bottom = top + scene.size(row.h) - 3;
	const ground = scene.palette.tint(scene.palette.line, 0.35);
	const mark = scene.palette.tint(scene.palette.line, 1);
	let at = start;
	for (const [begin, stop] of [...judgedOf(row), [end, end] as const]) {
		const [x0, x1] = [at, Math.min(begin, end)].map((t) => Math.round((t - from) / perPixel)) as [number, number];
		if (x1 > x0) {
			scene.raster.rect(x0, x1, top, bottom, ground);
			scene.raster.pattern(x0, x1, top, bottom, "hatch", mark);
		}
		at = Math.max(at, stop);
	}
}

export function drawGaps(scene: Scene, row: Row, pieces: Piece[]): void {
	const top = scene.top(row) + 1;
	const bottom = top + scene.size(row.h) - 3;
	const { palette } = scene;
	drawUnjudged(scene, row);
	eachPiece(scene, row.trace, pieces, (piece, x0, x1) => {
		scene.raster.rect(x0, x1, top, bottom, palette.tint(palette.cause(piece.cause), 0.2 + 0.6 * piece.share));
		// Merged pieces are mostly not idle: no name for all of it.
		if (piece.share > 0.5)
			label(scene, row, x0, x1, top, bottom, tr(CAUSES[piece.cause] ?? "unknown"));
	});
}

/** A faint tint behind the device's lanes, so that a gap shows where it is. */
export function tintGaps(scene: Scene, row: Row, pieces: Piece[]): void {
	const top = scene.top(row);
	const { palette } = scene;
	eachPiece(scene, row.trace, pieces, (piece, x0, x1) =>
		scene.raster.rect(x0, x1, top, top + scene.size(row.h), palette.tint(palette.cause(piece.cause), 0.18 * piece.share)));
}

export function drawPath(scene: Scene, row: Row, pieces: Piece[]): void {
	const top = scene.top(row) + 1;
	const bottom = top + scene.size(row.h) - 3;
	const { palette } = scene;
	eachPiece(scene, row.trace, pieces, (piece, x0, x1) => {
		scene.raster.rect(x0, x1 - x0 > 3 ? x1 - 1 : x1, top, bottom, palette.pixel(palette.path(piece.cause)));
		label(scene, row, x0, x1, top, bottom, tr(PATH_KINDS[piece.cause] ?? "other"));
	});
}

function label(scene: Scene, { pinned }: Row, x0: number, x1: number, y0: number, y1: number, text: string): void {
	const x = Math.max(0, x0);
	const w = Math.min(scene.width, x1) - x;
	if (w >= 34)
		scene.labels.push({ pinned, x, w, y: y0, h: y1 - y0, text, ink: scene.palette.dark ? "#ffffff" : "#10161d" });
}

/** Where the whole name does not fit, its number is what tells steps apart. */
const stepName = (name: string, i: number, w: number): string =>
	(/\d/.test(name) && w > 8 * name.length + 8 ? name : /\d+$/.exec(name)?.[0] ?? String(i));

/** Phases of other processes run at the same time as the main one: there is one strip. */
function shownPhases(steps: Steps): Phase[] {
	const main = steps.phases[steps.main];
	const ends = (phase: Phase): [number, number] => [phase.steps[0]?.[0] ?? 0, phase.steps.at(-1)?.[1] ?? 0];
	const beside = (phase: Phase): boolean => main !== undefined && ends(phase)[0] < ends(main)[1] && ends(phase)[1] > ends(main)[0];
	return steps.phases.filter((phase) => phase === main || !beside(phase));
}

/** Steps that begin in one pixel are one bar; what most of them are decides how it looks. */
function together(phase: Phase, first: number, from: number, perPixel: number): { last: number; outlier: boolean; warmUp: boolean } {
	const pixel = Math.round((phase.steps[first]![0] - from) / perPixel);
	let last = first;
	let outliers = 0;
	let warm = 0;
	for (let i = first; i < phase.steps.length && Math.round((phase.steps[i]![0] - from) / perPixel) === pixel; i++) {
		last = i;
		outliers += phase.steps[i]![5] & OUTLIER ? 1 : 0;
		warm += phase.steps[i]![5] & WARM_UP ? 1 : 0;
	}
	const half = (last - first + 1) / 2;
	return { last, outlier: outliers > half, warmUp: warm > half };
}

/** Steps by turns light and dark; warm-up faint, outliers marked. */
export function drawSteps(scene: Scene, row: Row, steps: Steps): void {
	const { from, to, perPixel } = scene.window(row.trace);
	const top = scene.top(row) + 1;
	const bottom = top + scene.size(row.h) - 3;
	const { palette } = scene;
	for (const phase of shownPhases(steps)) {
		const first = firstEndingAfter(phase.steps, (s) => s[1], from);
		for (let i = first; i < phase.steps.length && phase.steps[i]![0] < to; i++) {
			const [start, , , , , , name] = phase.steps[i]!;
			const { last, outlier, warmUp } = together(phase, i, from, perPixel);
			const x0 = Math.round((start - from) / perPixel);
			const x1 = Math.max(x0 + 1, Math.round((phase.steps[last]![1] - from) / perPixel));
			const strong = (last > i ? 0.27 : i & 1 ? 0.2 : 0.34) * (warmUp ? 0.5 : 1);
			const colour = outlier ? palette.cause(0) : palette.dark ? 0x7f95ad : 0x5b7590;
			scene.raster.rect(x0, x1 - x0 > 2 ? x1 - 1 : x1, top, bottom, palette.tint(colour, outlier ? 0.6 : strong));
			i = last;
			const x = Math.max(0, x0);
			const w = Math.min(scene.width, x1) - x;
			if (w >= 20)
				scene.labels.push({ pinned: row.pinned, x, w, y: top, h: bottom - top, text: stepName(name, i, w), ink: palette.ink });
		}
	}
}
