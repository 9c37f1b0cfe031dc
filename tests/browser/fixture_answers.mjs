/* SPDX-License-Identifier: Apache-2.0 */
/* fixture_answers.mjs - the JSON answers of docs/view-protocol.md for the invented trace. */
import { groups, STEPS } from "./fixture_trace.mjs";

const brief = (trace, s) => ({ id: s.id, lane: s.lane, name: trace.names[s.name], start: s.start, dur: s.dur, look: s.look, row: s.row });

export function info(traces, inline = false) {
	return { protocol: 1, version: "0.1.0", inline, keep: true, left_out: inline ? ["spans below level 12 on 3 lanes"] : undefined,
		traces: traces.map((trace, t) => ({ id: `000000000000000${t}`, file: `run${t}.sqlite`, title: "train.py", origin: "0", start: trace.begin, end: trace.end,
			spans: trace.spans.length, wall_ns: "1731657600000000000", source: "nsys 2024.5", diagnosis: "ready" })) };
}

export function lanes(trace) {
	const list = trace.lanes.map((l) => ({ lane: l.lane, type: l.type, title: l.title, device: l.device, spans: l.spans.length,
		nests: l.nests, marks: l.marks, start: l.spans[0].start, end: l.spans.at(-1).start + l.spans.at(-1).dur,
		looks: [...new Set(l.spans.map((s) => s.look))], detail: 13, unit: l.unit,
		min: l.unit ? l.spans.reduce((m, s) => Math.min(m, s.value), Infinity) : undefined, max: l.unit ? l.spans.reduce((m, s) => Math.max(m, s.value), -Infinity) : undefined }));
	list.push({ lane: 2 ** 31, type: "hardware", title: "CUDA HW", device: 0, spans: 1, nests: false, marks: false, start: trace.begin,
		end: trace.end, looks: [0, 1, 2], detail: 0 });
	return { groups: groups(trace.others), lanes: list };
}

export function span(trace, id) {
	const s = trace.spans[id];
	if (!s)
		return { error: "no such span" };
	const launch = s.launch === undefined ? null : brief(trace, trace.spans[s.launch]);
	const work = (s.work ?? []).map((w) => brief(trace, trace.spans[w]));
	const around = trace.lanes[1].spans.filter((r) => s.lane === 0 && r.start <= s.start && r.start + r.dur >= s.start + s.dur);
	return { ...brief(trace, s), kind: ["kernel", "kernel", "copy"][s.look] ?? "api",
		fields: [{ key: "grid", value: "128 x 1 x 1" }, { key: "block", value: "256 x 1 x 1" }, { key: "registers", value: "64" }],
		place: { file: "train.py", line: 18, function: "run", range: "step_7 > forward", api: "cudaLaunchKernel" },
		stack: [{ function: "run", file: "train.py", line: 18, module: "" }, { function: "main", file: "train.py", line: 44, module: "" }],
		around: around.map((r) => brief(trace, r)), launch, work, work_count: work.length };
}

export function at(trace, lane, from, to) {
	const spans = (trace.lanes[lane]?.spans ?? []).filter((s) => s.start < to && s.start + Math.max(1, s.dur) > from)
		.sort((a, b) => b.dur - a.dur);
	return { count: spans.length, busy: [0, 0, 0, 0], longest: spans[0] ? brief(trace, spans[0]) : null,
		spans: spans.slice(0, 16).map((s) => brief(trace, s)) };
}

export function next(trace, id, dir, any) {
	const s = trace.spans[id];
	const same = trace.lanes[s.lane].spans.filter((o) => any || o.name === s.name);
	const other = same[same.indexOf(s) + dir];
	return { span: other ? brief(trace, other) : null };
}

export function search(trace, q, from, to, n) {
	const wanted = new Set(trace.names.map((name, i) => (name.toLowerCase().includes(q.toLowerCase()) ? i : -1)).filter((i) => i >= 0));
	const marks = new Array(n).fill(0);
	const found = [];
	let hits = 0;
	for (const l of trace.lanes) {
		const spans = l.spans.filter((s) => wanted.has(s.name));
		hits += spans.length;
		for (const s of spans) {
			const i = Math.floor((s.start - from) / (to - from) * n);
			if (i >= 0 && i < n)
				marks[i]++;
		}
		if (spans.length)
			found.push({ lane: l.lane, count: spans.length, first: spans.slice(0, 50).map((s) => brief(trace, s)) });
	}
	return { q, names: wanted.size, hits, more: false, lanes: found, marks };
}

const named = (trace, q) => {
	const wanted = new Set(trace.names.map((name, i) => (q.toLowerCase().split(" ").every((word) => name.toLowerCase().includes(word)) ? i : -1)));
	return trace.spans.filter((s) => wanted.has(s.name));
};

export function marks(trace, q, from, to, n) {
	const lanes = new Map();
	for (const s of named(trace, q)) {
		const part = Math.floor((s.start - from) / (to - from) * n);
		if (part >= 0 && part < n)
			lanes.set(s.lane, (lanes.get(s.lane) ?? new Set()).add(part));
	}
	return { q, lanes: [...lanes].map(([lane, parts]) => ({ lane, runs: [...parts].sort((a, b) => a - b).flatMap((part) => [part, 1]) })) };
}

export function hit(trace, q, id, from, dir) {
	const hits = named(trace, q).sort((a, b) => a.start - b.start || a.id - b.id);
	const start = trace.spans[id]?.start ?? from;
	const before = hits.filter((s) => s.start < start || (s.start === start && s.id < id)).length;
	const at = dir > 0 ? hits.findIndex((s) => s.start > start || (s.start === start && s.id > id)) : before - 1;
	return { span: hits[at] ? brief(trace, hits[at]) : null, number: at + 1, hits: hits.length };
}

function table(trace, spans, from, to) {
	const rows = new Map();
	for (const s of spans) {
		const dur = Math.min(s.start + s.dur, to) - Math.max(s.start, from);
		if (dur <= 0)
			continue;
		const row = rows.get(s.name) ?? { name: trace.names[s.name], name_id: s.name, count: 0, total: 0, max: 0, look: s.look };
		row.count++;
		row.total += dur;
		row.max = Math.max(row.max, dur);
		rows.set(s.name, row);
	}
	return [...rows.values()].sort((a, b) => b.total - a.total).slice(0, 10);
}

function metric(lane, from, to) {
	const inside = lane.spans.filter((s) => s.start < to && s.start + s.dur > from);
	const part = (s) => Math.min(to, s.start + s.dur) - Math.max(from, s.start);
	const values = inside.map((s) => s.value);
	return { lane: lane.lane, mean: inside.reduce((sum, s) => sum + s.value * part(s), 0) / inside.reduce((sum, s) => sum + part(s), 0),
		least: Math.min(...values), most: Math.max(...values), last: values.at(-1) };
}

/** The share of the stretch in which a kernel of the stream runs, and so on; ignores the chosen lanes but for names. */
export function selection(trace, from, to, lanes) {
	const chosen = new Set((lanes ?? "").split(",").filter(Boolean).flatMap((part) => {
		const [first, last = first] = part.split("-").map(Number);
		return Array.from({ length: last - first + 1 }, (_, i) => first + i);
	}));
	const on = (type) => trace.lanes.filter((l) => l.type === type && (!lanes || chosen.has(l.lane))).flatMap((l) => l.spans);
	const named = (type) => {
		const rows = table(trace, on(type), from, to);
		return { names: rows.length, count: rows.reduce((n, r) => n + r.count, 0), total: rows.reduce((n, r) => n + r.total, 0), rows };
	};
	const lead = { count: 14, work: 1_200_000 };
	return { from, to, devices: [{ device: 0, title: "GPU 0 NVIDIA H200", whole: true, busy: Math.round((to - from) * 0.7), idle: Math.round((to - from) * 0.3),
		compute: Math.round((to - from) * 0.6), comm: 0, memory: Math.round((to - from) * 0.1), causes: { blocked: (to - from) * 0.25, launch: (to - from) * 0.05 },
		headway: { begin: lead, end: lead, least: { count: 0, work: 0 } } }],
		counters: trace.lanes.filter((l) => l.type === "counter").map((l) => metric(l, from, to)),
		kernels: named("stream"), calls: named("api"), ranges: named("range"), operators: named("op"), functions: named("call"), os: named("os"), copies: [],
		launches: { count: 0, total: 0 }, waits: { count: 0, total: 0 }, threads: [], thread_count: 0, wakes: [], samples: { count: 0, names: 0, rows: [] } };
}

export function steps(trace) {
	const list = [];
	for (let s = 0; s < STEPS; s++) {
		const from = trace.begin + s * trace.step + 60_000;
		list.push([from, from + trace.step, from - 60_000, from - 60_000 + trace.step * 0.97, trace.step * 0.8, s < 2 ? 1 : 0, `step_${s}`]);
	}
	return { main: 0, phases: [{ name: "step_", source: "marks", mean: trace.step, median: trace.step, from: list[0][0], to: list.at(-1)[1],
		first_steady: 2, n_steady: STEPS - 2, steps: list }] };
}

export function headway(trace) {
	const points = [];
	for (let s = 0; s < STEPS; s++)
		for (let k = 0; k < 20; k++) {
			const level = k < 8 ? k * 10 : Math.max(0, 80 - (k - 8) * 10);
			points.push([trace.begin + (s + k / 20) * trace.step, level, level * trace.step / 100]);
		}
	const steps = points.map((point, i) => point.map((value, k) => value - (points[i - 1]?.[k] ?? 0)));
	return { devices: [{ device: 0, phase: 0, points: steps, max_count: 80, max_work: trace.step * 0.8, within: 0 }] };
}

export function edits(trace) {
	return { edits: [
		{ id: "remove-wait", arguments: "[:PLACE]", about: "the CPU no longer waits for the device there, nor reads the value" },
		{ id: "wait-every", arguments: ":N[:PLACE]", about: "it waits in every Nth step only" },
		{ id: "pin", arguments: "[:PLACE]", about: "host memory of copies is pinned" },
		{ id: "no-module", arguments: "[:PLACE]", about: "code is loaded and compiled before the steps" },
		{ id: "graph", arguments: "", about: "each step's launches are captured as one graph" },
		{ id: "faster", arguments: ":WHAT:PERCENT", about: "a kernel, a range, 'gpu' or 'cpu' takes so much less time" }],
		suggested: [{ finding: "sync-in-loop", edits: "remove-wait:train.py:18", step: trace.step * 0.8, speedup: 1.25 }] };
}

export function applicable(trace) {
	return { phase: 0, edits: edits(trace).edits.map(({ id }) => ({ id, why: id === "no-module" ? "the phase loads no code" : null })) };
}

export function whatif(trace, list) {
	if (list.includes("pin"))
		return { error: "pin: no copy of this recording is pageable" };
	const gain = list === "" ? 1 : 0.8;
	const from = trace.begin + 7 * trace.step + 60_000;
	const ops = trace.spans.filter((s) => (s.lane === 0 || (s.lane >= 5 && s.lane <= 7)) && s.start >= from && s.start < from + trace.step)
		.map((s) => [s.id, s.lane, s.look, s.name, s.start - from, s.dur, Math.round((s.start - from) * gain), s.look === 7 ? 0 : s.dur]);
	return { edits: list, phase: 0, recorded: trace.step, base: trace.step * 0.99, step: trace.step * gain * 0.99, p10: trace.step * gain * 0.95,
		p90: trace.step * gain * 1.05, speedup: 1 / gain, bound: "compute", note: "", shown_step: 7, ops, left_out: 0 };
}

export function diagnosis(trace) {
	const waits = trace.lanes[0].spans.filter((s) => s.look === 7).slice(4, 10).map((s) => s.id);
	const place = { file: "train.py", line: 18, function: "run", range: "step_0", api: "cudaStreamSynchronize", count: 24, cost_ns_per_step: trace.step * 0.2 };
	return { summary: { verdict: "sync", verdict_says: "The GPU idles 18 % of a step because the CPU stops to wait for it and then launches late.", coverage: 0.9, program: "train.py", framework: "PyTorch", phase: 0, steps: STEPS, step_ns: trace.step, busy: 0.71, healthy: false, reachable: 0.2,
		own_cost_ns_per_step: null, lost_records: 0, records_say: "nothing lost", top_kernels: [], ncu: "", runs: [] }, trust: [], phases: [], gpu: [],
	findings: [{ id: "sync-in-loop", title: "the CPU waits for the GPU every step", phase: 0, side: "program", cost_ns_per_step: trace.step * 0.2, share: 0.2,
		confidence: "high", says: "The CPU stops for the GPU once a step; the queue runs empty, and the GPU idles 2 ms.", places: [place], evidence: waits,
		predicted: { edits: ["remove-wait:train.py:18"], before_ns: trace.step, step_ns: trace.step * 0.8, p10_ns: trace.step * 0.76, p90_ns: trace.step * 0.84,
			speedup: 1.25, bound: "compute" },
		advice: "Keep the value on the GPU and read it every N steps.\n  total += loss.detach()" }],
	acquitted: [{ id: "pageable-copies", title: "copies from pageable memory", phase: 0, side: "program", cost_ns_per_step: 0, share: 0, confidence: "high",
		says: "They are covered by compute.", places: [], evidence: [] }] };
}

/** Gaps: the end of each step. Path: launch, compute, wait by turns. Pieces as the protocol has them. */
export function pieces(trace, kind) {
	const list = [];
	for (let s = 0; s < STEPS; s++) {
		const at = trace.begin + s * trace.step;
		if (kind === "gaps")
			list.push([at + trace.step * 0.75, at + trace.step, 1, 0]);
		else
			list.push([at, at + trace.step * 0.1, 1, 1], [at + trace.step * 0.1, at + trace.step * 0.75, 100 + s, 4], [at + trace.step * 0.75, at + trace.step, 0, 3]);
	}
	const bytes = new DataView(new ArrayBuffer(4 + 24 * list.length));
	bytes.setUint32(0, list.length, true);
	list.forEach(([from, to, id, cause], i) => {
		const o = 4 + 24 * i;
		bytes.setFloat64(o, from, true);
		bytes.setFloat64(o + 8, to, true);
		bytes.setUint32(o + 16, id, true);
		bytes.setUint8(o + 20, cause);
		bytes.setUint8(o + 22, 1);
		bytes.setUint8(o + 23, 255);
	});
	return new Uint8Array(bytes.buffer);
}

/** A point of each bound, one that no roof is known for, one without arithmetic; the first name means harm. */
export function roofline(trace) {
	const kernels = trace.lanes[5].spans;
	const total = kernels.reduce((sum, s) => sum + s.dur, 0);
	const point = (name, share, intensity, rate, bound, of_peak, more = {}) => {
		const ns = Math.round(total * share);
		const flop = rate === null ? null : rate * ns / 1e9;
		return { kind: "kernel", name, device: 0, count: 24, ns, share, flop, bytes: intensity ? flop / intensity : flop === 0 ? 1e12 * ns / 1e9 : null, precision: "bf16", tensor: true,
			intensity, flop_per_s: rate, bytes_per_s: intensity ? rate / intensity : flop === 0 ? 1e12 : null, of_peak, occupancy: 0.5, waves: 3.2, bound,
			gain_ns: of_peak === null ? 0 : Math.round(ns * (1 - of_peak)), source: "counters", says: `It reaches ${of_peak} of its roof.`,
			span: kernels.find((s) => trace.names[s.name] === name)?.id ?? kernels[0].id, ...more };
	};
	const names = [...new Set(kernels.map((s) => trace.names[s.name]))];
	return { devices: [{ device: 0, name: "NVIDIA H200", bytes_per_s: 4.8e12, kernel_ns: total, known_ns: total * 0.95, peaks: [
		{ precision: "fp64", tensor: false, flop_per_s: 3.4e13, source: "data sheet" }, { precision: "fp32", tensor: false, flop_per_s: 6.7e13, source: "data sheet" },
		{ precision: "tf32", tensor: true, flop_per_s: 4.95e14, source: "data sheet" }, { precision: "fp16", tensor: true, flop_per_s: 9.89e14, source: "data sheet" },
		{ precision: "bf16", tensor: true, flop_per_s: 9.89e14, source: "data sheet" }, { precision: "fp8", tensor: true, flop_per_s: 1.979e15, source: "data sheet" }] }],
	points: trace.bare ? [] : [
		point(names[4], 0.09, 0.25, 4e11, "latency", 0.33),
		point(names[0], 0.42, 480, 6.2e14, "compute", 0.63, { advice: ["Use fp8 where the model allows it."] }),
		point(names[1], 0.2, 0.125, 5.1e11, "memory", 0.85, { precision: "fp32", tensor: false }),
		point(names[2], 0.14, 1.9, 2.2e12, "occupancy", 0.24, { precision: "fp32", tensor: false }),
		point(names[3], 0.08, 5.2, 1.6e12, "unknown", 0.06, { precision: "fp32", tensor: false }),
		point("gather_kernel", 0.04, 0, 0, "memory", 0.21),
		point("mystery_kernel", 0.03, null, null, "unknown", null),
		point("aten::mm", 0.42, 500, 6.2e14, "compute", 0.63, { kind: "operator", source: "shapes" })] };
}
