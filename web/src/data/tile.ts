/* SPDX-License-Identifier: Apache-2.0 */
/* tile.ts - decodes the binary answers: tiles (docs/view-protocol.md, "tiles") and pieces.
 *
 * A decoded tile is a set of columns; nothing is allocated for a span. Times are relative to the trace's origin. */
import type { Piece } from "./protocol";

const BUCKETS = 256;
export const TILE_BITS = 8;
/* The names of src/serve/protocol.h without VIEW_. A span's byte: its look in the low bits, and two flags. */
const COLOR_MASK = 0x3f;
const UNFINISHED = 0x40;
const MARK = 0x80;
/* Bits in the mask of a summary: which columns follow. */
const HAS_COLORS = 0x40;
const HAS_COUNTS = 0x80;

export interface Spans {
	n: number; id: Uint32Array; start: Float64Array; dur: Float64Array; name: Uint32Array; look: Uint8Array; row: Uint8Array; flags: Uint8Array;
}
interface Head { trace: number; level: number; lane: number; index: number; rows: number; begin: number; bucket: number }
export interface SpanTile extends Head { form: "spans"; spans: Spans }
export interface SummaryTile extends Head {
	form: "summary"; n: number; offset: Uint8Array; share: (Uint8Array | null)[]; look: Uint8Array | null; count: Uint16Array | null; spans: Spans;
	/** Shares by row of the lane; of thread states: running, not running. Empty: not known, or there is one row. */
	rowShares: Uint8Array[];
}
export interface CounterTile extends Head {
	form: "counter"; n: number; before: number; offset: Uint8Array; least: Float32Array; most: Float32Array; last: Float32Array; mean: Float32Array;
}
export interface EmptyTile extends Head { form: "empty" }
export type Tile = SpanTile | SummaryTile | CounterTile | EmptyTile;

class Reader {
	constructor(readonly bytes: Uint8Array, public at: number) {}

	u8(): number {
		return this.bytes[this.at++] ?? 0;
	}
	/** Unsigned LEB128 below 2^53: multiplied, not shifted, beyond 28 bits. */
	leb(): number {
		let value = 0;
		let unit = 1;
		for (;;) {
			const byte = this.u8();
			value += (byte & 127) * unit;
			if (byte < 128)
				return value;
			unit *= 128;
		}
	}
	zigzag(): number {
		const value = this.leb();
		return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
	}
	take(n: number): Uint8Array {
		const part = this.bytes.subarray(this.at, this.at + n);
		this.at += n;
		return part;
	}
}

function readSpans(from: Reader, n: number, begin: number): Spans {
	const spans: Spans = {
		n, id: new Uint32Array(n), start: new Float64Array(n), dur: new Float64Array(n), name: new Uint32Array(n), look: new Uint8Array(n),
		row: new Uint8Array(n), flags: new Uint8Array(n),
	};
	let id = 0;
	let start = begin;
	for (let i = 0; i < n; i++) {
		id += from.zigzag();
		start += from.zigzag();
		spans.id[i] = id;
		spans.start[i] = start;
		spans.dur[i] = from.leb();
		spans.name[i] = from.leb();
		const look = from.u8();
		spans.look[i] = look & COLOR_MASK;
		spans.flags[i] = look & (MARK | UNFINISHED);
		spans.row[i] = from.u8();
	}
	return spans;
}

export const isMark = (spans: Spans, i: number): boolean => (spans.flags[i]! & MARK) !== 0;
export const isUnfinished = (spans: Spans, i: number): boolean => (spans.flags[i]! & UNFINISHED) !== 0;

function readSummary(from: Reader, head: Head, n: number): SummaryTile {
	const mask = from.u8();
	const rows = from.u8();
	const long = from.u8() + from.u8() * 256;
	const offset = from.take(n);
	const share: (Uint8Array | null)[] = [];
	for (let c = 0; c < 4; c++)
		share.push(mask & (1 << c) ? from.take(n) : null);
	const look = mask & HAS_COLORS ? from.take(n) : null;
	let count: Uint16Array | null = null;
	if (mask & HAS_COUNTS) {
		count = new Uint16Array(n);
		for (let i = 0; i < n; i++)
			count[i] = from.u8() + from.u8() * 256;
	}
	const rowShares = Array.from({ length: rows }, () => from.take(n));
	return { ...head, form: "summary", n, offset, share, look, count, rowShares, spans: readSpans(from, long, head.begin) };
}

function readCounter(view: DataView, from: Reader, head: Head, n: number): CounterTile {
	const before = view.getFloat64(from.at, true);
	from.at += 8;
	const offset = from.take(n);
	from.at += -n & 3;
	const column = (): Float32Array => {
		const values = new Float32Array(n);
		for (let i = 0; i < n; i++, from.at += 4)
			values[i] = view.getFloat32(from.at, true);
		return values;
	};
	return { ...head, form: "counter", n, before, offset, least: column(), most: column(), last: column(), mean: column() };
}

function decodeTile(bytes: Uint8Array, at: number): Tile {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const form = view.getUint8(at + 4);
	const level = view.getUint8(at + 6);
	const n = view.getUint32(at + 12, true);
	const index = Number(view.getBigInt64(at + 16, true));
	const bucket = 2 ** level;
	const head: Head = {
		trace: view.getUint8(at + 5), level, lane: view.getUint32(at + 8, true), index, rows: view.getUint8(at + 7),
		begin: index * bucket * BUCKETS, bucket,
	};
	const from = new Reader(bytes, at + 24);
	switch (form) {
	case 0: return readSummary(from, head, n);
	case 1: return { ...head, form: "spans", spans: readSpans(from, n, head.begin) };
	case 2: return readCounter(view, from, head, n);
	default: return { ...head, form: "empty" };
	}
}

/** All tiles of an answer, in its order. */
export function decodeTiles(bytes: Uint8Array): Tile[] {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const tiles: Tile[] = [];
	for (let at = 0; at + 24 <= bytes.length;) {
		const size = view.getUint32(at, true);
		if (size < 24 || at + size > bytes.length)
			break;
		tiles.push(decodeTile(bytes, at));
		at += size;
	}
	return tiles;
}

export function decodePieces(bytes: Uint8Array): Piece[] {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const n = Math.min(view.getUint32(0, true), Math.floor((bytes.length - 4) / 24));
	const pieces: Piece[] = [];
	for (let i = 0, at = 4; i < n; i++, at += 24)
		pieces.push({
			from: view.getFloat64(at, true), to: view.getFloat64(at + 8, true), span: view.getUint32(at + 16, true) - 1,
			cause: view.getUint8(at + 20), device: view.getUint8(at + 21), count: view.getUint8(at + 22),
			share: view.getUint8(at + 23) / 255,
		});
	return pieces;
}
