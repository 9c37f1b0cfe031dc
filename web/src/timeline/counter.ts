/* SPDX-License-Identifier: Apache-2.0 */
/* counter.ts - what a counter's tiles say: its value at a time, what of it is on the screen, its scale. Nothing here draws. */
import type { Lane } from "../data/protocol";
import type { CounterTile } from "../data/tile";
import type { Cover } from "../data/tiles";
import { tr } from "../lang";
import { amount, roundTop } from "./units";

/** A value, or the mean of many with the least and the largest of them. */
export interface Reading { value: number; least: number; most: number }
export interface Scale { least: number; most: number }

/** Shares are drawn from 0 to 100, so that lanes can be compared; the others from 0 to their largest value. */
export function scaleOf(lane: Lane): Scale {
	if (lane.flags)
		return { least: 0, most: 1 };
	const most = lane.max ?? 1;
	if (lane.unit === "%" && most <= 100.5 && (lane.min ?? 0) >= 0)
		return { least: 0, most: 100 };
	const least = lane.min != null && lane.min < 0 ? -roundTop(-lane.min) : 0;
	return { least, most: most > 0 ? roundTop(most) : least < 0 ? 0 : 1 };
}

/** The name without its unit in brackets, where the values show that unit: "SMs Active [Throughput %]". Others need it to be told
 * apart: "Compute Warps in Flight [Avg]". */
export const counterTitle = (lane: Lane): string =>
	(/^(%|Hz|W|J|B\/s|°C)$/.test(lane.unit ?? "") ? lane.title.replace(/\s*\[[^\]]*\]$/, "") : lane.title) || lane.title;

/** The last point of a tile that begins in a bucket or before it; -1: none. */
function pointAt(tile: CounterTile, bucket: number): number {
	let low = 0;
	let high = tile.n;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (tile.offset[middle]! <= bucket)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

/** The value at a time: exact where a bucket has one value, else the bucket's mean and range. */
export function readingAt(covers: Cover[], lane: Lane, time: number): Reading | null {
	const cover = covers.find((c) => c.from <= time && time < c.to);
	// Nothing is drawn behind the last value.
	if (cover?.tile.form !== "counter" || time < lane.start || time > lane.end + cover.tile.bucket)
		return null;
	const { tile } = cover;
	const bucket = Math.floor((time - tile.begin) / tile.bucket);
	const i = pointAt(tile, bucket);
	if (i >= 0 && tile.offset[i] === bucket && tile.least[i]! < tile.most[i]!)
		return { value: tile.mean[i]!, least: tile.least[i]!, most: tile.most[i]! };
	const value = i >= 0 ? tile.last[i]! : tile.before;
	return Number.isNaN(value) ? null : { value, least: value, most: value };
}

/** The least and the largest value in the part of the lane that is on the screen. */
export function visibleRange(covers: Cover[]): Scale | null {
	let least = Infinity;
	let most = -Infinity;
	for (const { tile, from, to } of covers) {
		if (tile.form !== "counter")
			continue;
		const first = Math.floor((from - tile.begin) / tile.bucket);
		const held = pointAt(tile, first - 1);
		const carried = held >= 0 ? tile.last[held]! : tile.before;
		if (!Number.isNaN(carried)) {
			least = Math.min(least, carried);
			most = Math.max(most, carried);
		}
		for (let i = held + 1; i < tile.n && tile.begin + tile.offset[i]! * tile.bucket < to; i++) {
			if (Number.isNaN(tile.least[i]!))
				continue;
			least = Math.min(least, tile.least[i]!);
			most = Math.max(most, tile.most[i]!);
		}
	}
	return most >= least ? { least, most } : null;
}

/** Of a set: how high it stands; its first bit says that there is nothing to do, which is no limit. */
export const heightOf = (lane: Lane, value: number): number => (!lane.flags ? value : value > 1 ? 1 : value > 0 ? 0.3 : value);

/** A value for people: 612 W, or the words of a set. */
export function valueText(lane: Lane, value: number): string {
	if (!lane.flags)
		return amount(value, lane.unit ?? "");
	const words = lane.flags.filter((_, bit) => Math.floor(value / 2 ** bit) % 2 === 1);
	return words.join(tr(", ")) || tr("none");
}

/** 612 W, or 612 W (480 – 700 W) where many values share the place. */
export function readingText(reading: Reading, lane: Lane): string {
	const [value, least, most] = [reading.value, reading.least, reading.most].map((v) => valueText(lane, v)) as [string, string, string];
	if (lane.flags)
		return least === most ? value : `${least}${tr("; ")}${most}`;
	return least === most ? value : `${value} (${least} – ${most})`;
}
