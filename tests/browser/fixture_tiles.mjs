/* SPDX-License-Identifier: Apache-2.0 */
/* fixture_tiles.mjs - tiles of the invented trace, as docs/view-protocol.md lays them out. Slow and plain. */

const HARDWARE = 2 ** 31;

class Bytes {
	list = [];
	u8(v) { this.list.push(v & 255); }
	u16(v) { this.u8(v); this.u8(v >> 8); }
	v(n) {
		let big = BigInt(n);
		for (; big > 127n; big >>= 7n)
			this.u8(Number(big & 127n) | 128);
		this.u8(Number(big));
	}
	z(n) { this.v(n >= 0 ? BigInt(n) * 2n : BigInt(-n) * 2n - 1n); }
	f32(v) { this.raw(new Uint8Array(new Float32Array([v]).buffer)); }
	f64(v) { this.raw(new Uint8Array(new Float64Array([v]).buffer)); }
	raw(bytes) { this.list.push(...bytes); }
}

const end = (s) => s.start + Math.max(s.dur, s.mark ? 1 : 0);
const classOf = (look) => (look === 0 || look === 4 ? 0 : look === 1 ? 1 : look < 4 ? 2 : 3);

function writeSpans(out, spans, begin) {
	let id = 0;
	let start = begin;
	for (const s of spans) {
		out.z(s.id - id);
		out.z(s.start - start);
		out.v(s.dur);
		out.v(s.name);
		out.u8(s.look | (s.mark ? 0x80 : 0));
		out.u8(s.row);
		id = s.id;
		start = s.start;
	}
}

function writeSummary(out, spans, begin, bucket, hardware) {
	const shares = [0, 1, 2, 3].map(() => new Float64Array(256));
	const counts = new Uint32Array(256);
	const looks = new Array(256).fill(0xff);
	const longest = new Float64Array(256).fill(-1);
	const any = new Uint8Array(256);
	for (const s of spans) {
		const first = Math.max(0, Math.floor((s.start - begin) / bucket));
		const last = Math.min(255, Math.floor((end(s) - 1 - begin) / bucket));
		for (let b = first; b <= last; b++) {
			const from = begin + b * bucket;
			any[b] = 1;
			shares[classOf(s.look)][b] += Math.max(0, Math.min(s.start + s.dur, from + bucket) - Math.max(s.start, from));
		}
		if (s.start >= begin && first < 256) {
			counts[first]++;
			if (s.dur > longest[first]) {
				longest[first] = s.dur;
				looks[first] = s.look;
			}
		}
	}
	const used = [...any.keys()].filter((b) => any[b]);
	const classes = [0, 1, 2, 3].filter((c) => shares[c].some((v) => v > 0));
	const long = hardware ? [] : spans.filter((s) => s.dur >= 8 * bucket);
	out.u8(classes.reduce((mask, c) => mask | (1 << c), hardware ? 0 : 0xc0));
	out.u8(0);
	out.u16(long.length);
	out.raw(used);
	for (const c of classes)
		for (const b of used)
			out.u8(shares[c][b] > 0 ? Math.max(1, Math.min(255, Math.round(shares[c][b] * 255 / bucket))) : 0);
	if (!hardware) {
		for (const b of used)
			out.u8(looks[b]);
		for (const b of used)
			out.u16(Math.min(65535, counts[b]));
	}
	writeSpans(out, long, begin);
	return used.length;
}

function writeCounter(out, spans, before, begin, bucket) {
	const points = [];
	let carried = Number.isNaN(before) ? spans[0]?.value ?? 0 : before;
	for (const s of spans) {
		const at = Math.floor((s.start - begin) / bucket);
		const last = points.at(-1);
		const until = begin + (at + 1) * bucket;
		if (last && last.at === at) {
			// Of the rest of the bucket this value has the place of the one before.
			last.mean += (s.value - last.last) * (until - s.start) / bucket;
			last.least = Math.min(last.least, s.value);
			last.most = Math.max(last.most, s.value);
			last.last = s.value;
		} else
			points.push({ at, least: s.value, most: s.value, last: s.value, mean: carried + (s.value - carried) * (until - s.start) / bucket });
		carried = s.value;
	}
	out.f64(before);
	out.raw(points.map((p) => p.at));
	while (out.list.length % 4)
		out.u8(0);
	for (const key of ["least", "most", "last", "mean"])
		for (const p of points)
			out.f32(p[key]);
	return points.length;
}

/** One tile, bytes as in an answer. */
export function tile(trace, t, lane, level, index) {
	const bucket = 2 ** level;
	const begin = index * bucket * 256;
	const until = begin + bucket * 256;
	const hardware = lane >= HARDWARE;
	const all = hardware ? trace.lanes.filter((l) => l.type === "stream").flatMap((l) => l.spans) : trace.lanes[lane]?.spans ?? [];
	const spans = all.filter((s) => s.start < until && end(s) > begin);
	const counter = !hardware && trace.lanes[lane]?.type === "counter";
	const out = new Bytes();
	let form = 255;
	let n = 0;
	if (counter) {
		const old = all.filter((s) => s.start < begin).at(-1);
		form = 2;
		n = writeCounter(out, spans.filter((s) => s.start >= begin), old ? old.value : NaN, begin, bucket);
	} else if (spans.length && (hardware || spans.length > 256)) {
		form = 0;
		n = writeSummary(out, spans, begin, bucket, hardware);
	} else if (spans.length) {
		form = 1;
		n = spans.length;
		writeSpans(out, spans, begin);
	}
	while (out.list.length % 4)
		out.u8(0);
	const bytes = new Uint8Array(24 + out.list.length);
	const view = new DataView(bytes.buffer);
	view.setUint32(0, bytes.length, true);
	bytes.set([form, t, level, Math.max(1, ...all.map((s) => s.row + 1))], 4);
	view.setUint32(8, lane, true);
	view.setUint32(12, n, true);
	view.setBigInt64(16, BigInt(index), true);
	bytes.set(out.list, 24);
	return bytes;
}
