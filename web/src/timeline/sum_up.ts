/* SPDX-License-Identifier: Apache-2.0 */
/* sum_up.ts - spans as the summary that the server would make of them (docs/view-protocol.md, form 0), for a part of a lane.
 *
 * Shares are unions for each class of work; a bucket's look is that of the longest span that starts in it. */
import { Look, type Lane } from "../data/protocol";
import type { Spans } from "../data/tile";

/** Spans of so many buckets are drawn one by one, over the summary. */
export const LONG_BUCKETS = 8;
const NOTHING = 0xff;
const MOST_COUNT = 65535;
/** Deeper spans are in the last of so many rows. */
const MOST_ROWS = 16;

/** A summary: of a tile, or made here. */
export interface Sum {
	begin: number; bucket: number; n: number; offset: ArrayLike<number>; share: (ArrayLike<number> | null)[]; look: ArrayLike<number> | null;
	count: ArrayLike<number> | null;
	/** Shares by row of the lane, as a tile has them (data/tile.ts). */
	rowShares: ArrayLike<number>[];
}

function classOf(look: number): number {
	if (look > Look.graph)
		return 3;
	return look === Look.comm ? 1 : look === Look.copy || look === Look.fill ? 2 : 0;
}

/** Adds the stretch [from, to), in buckets, to the shares. */
function cover(share: Float32Array, from: number, to: number): void {
	const end = Math.min(to, share.length);
	for (let x = Math.max(0, from); x < end;) {
		const next = Math.min(end, Math.floor(x) + 1);
		share[Math.floor(x)]! += next - x;
		x = next;
	}
}

export function sumUp(spans: Spans, lane: Lane, from: number, to: number, bucket: number): Sum {
	const begin = Math.floor(from / bucket) * bucket;
	const n = Math.ceil((to - begin) / bucket);
	const shares = [0, 1, 2, 3].map(() => new Float32Array(n));
	const counts = new Uint32Array(n);
	const looks = new Uint8Array(n).fill(NOTHING);
	const longest = new Float64Array(n).fill(-1);
	const until = [-Infinity, -Infinity, -Infinity, -Infinity];
	const rows: Float32Array[] = [];
	const rowUntil: number[] = [];
	for (let i = 0; i < spans.n; i++) {
		const start = (spans.start[i]! - begin) / bucket;
		const end = start + spans.dur[i]! / bucket;
		const c = classOf(spans.look[i]!);
		cover(shares[c]!, Math.max(start, until[c]!), end);
		until[c] = Math.max(until[c]!, end);
		const r = lane.type === "state" ? Number(spans.look[i] !== Look.running) : Math.min(spans.row[i]!, MOST_ROWS - 1);
		while (rows.length <= r) {
			rows.push(new Float32Array(n));
			rowUntil.push(-Infinity);
		}
		cover(rows[r]!, Math.max(start, rowUntil[r]!), end);
		rowUntil[r] = Math.max(rowUntil[r]!, end);
		const at = Math.floor(start);
		if (at < 0 || at >= n)
			continue;
		counts[at]!++;
		if (spans.dur[i]! > longest[at]!) {
			longest[at] = spans.dur[i]!;
			looks[at] = spans.look[i]!;
		}
	}
	return compact(begin, bucket, n, shares, rows, counts, lane.type === "stream" || lane.type === "device-range" ? null : looks);
}

/** Leaves out the buckets in which nothing is. */
function compact(begin: number, bucket: number, n: number, shares: Float32Array[], rows: Float32Array[], counts: Uint32Array, looks: Uint8Array | null): Sum {
	const used: number[] = [];
	for (let b = 0; b < n; b++)
		if (counts[b]! > 0 || shares.some((share) => share[b]! > 0))
			used.push(b);
	const bytes = (share: Float32Array): number[] => used.map((b) => (share[b]! > 0 ? Math.max(1, Math.min(255, Math.round(share[b]! * 255))) : 0));
	return {
		begin, bucket, n: used.length, offset: used, share: shares.map(bytes), rowShares: rows.map(bytes),
		look: looks && used.map((b) => looks[b]!), count: used.map((b) => Math.min(MOST_COUNT, counts[b]!)),
	};
}
