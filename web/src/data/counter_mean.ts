/* SPDX-License-Identifier: Apache-2.0 */
/* counter_mean.ts - the mean, least and largest value of a counter in an interval, from the tiles that the self-contained page has. */
import { TILE_BITS, type CounterTile } from "./tile";

interface Sum { sum: number; weight: number; least: number; most: number; parts: number;
	/** The value at the end of the latest stretch so far, and where that ends. */
	last: number; until: number }

/** Adds the part of a stretch that lies in the interval. */
function add(to: Sum, from: number, until: number, mean: number, least: number, most: number, last: number): void {
	if (until <= from || Number.isNaN(mean))
		return;
	to.parts++;
	to.sum += mean * (until - from);
	to.weight += until - from;
	to.least = Math.min(to.least, least);
	to.most = Math.max(to.most, most);
	if (until >= to.until) {
		to.until = until;
		to.last = last;
	}
}

function addTile(all: Sum, tile: CounterTile, from: number, to: number): void {
	let at = tile.begin;
	let value = tile.before;
	const stretch = (until: number, mean: number, least: number, most: number, last: number): void => {
		add(all, Math.max(at, from), Math.min(until, to), mean, least, most, last);
		at = until;
	};
	for (let i = 0; i < tile.n; i++) {
		const begin = tile.begin + tile.offset[i]! * tile.bucket;
		stretch(begin, value, value, value, value);
		stretch(begin + tile.bucket, tile.mean[i]!, tile.least[i]!, tile.most[i]!, tile.last[i]!);
		value = tile.last[i]!;
	}
	stretch(tile.begin + tile.bucket * 2 ** TILE_BITS, value, value, value, value);
}

/** Each stretch from the finest tile that has it. A bucket counts as one sample, which it has at least. */
export function measure(tiles: CounterTile[], from: number, to: number): { mean: number; least: number; most: number; last: number; samples: number } | null {
	const all: Sum = { sum: 0, weight: 0, least: Infinity, most: -Infinity, parts: 0, last: NaN, until: -Infinity };
	const ends = (t: CounterTile): number => t.begin + t.bucket * 2 ** TILE_BITS;
	const inside = tiles.filter((t) => t.begin < to && ends(t) > from).sort((a, b) => a.level - b.level || a.begin - b.begin);
	const visit = (begin: number, end: number, candidates: CounterTile[]): void => {
		const first = candidates[0];
		if (!first || end <= begin)
			return;
		const rest = candidates.slice(1);
		const [low, high] = [Math.max(begin, first.begin), Math.min(end, ends(first))];
		if (high <= low)
			return visit(begin, end, rest);
		addTile(all, first, low, high);
		visit(begin, low, rest);
		visit(high, end, rest);
	};
	visit(from, to, inside);
	return all.weight > 0 ? { mean: all.sum / all.weight, least: all.least, most: all.most, last: all.last, samples: all.parts } : null;
}
