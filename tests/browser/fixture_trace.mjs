/* SPDX-License-Identifier: Apache-2.0 */
/* fixture_trace.mjs - a small invented training loop, for tests of the page that need no binary.
 *
 * 24 steps of 10 ms: a main thread that launches, waits and steps through ranges, a loader thread, one GPU with
 * three streams, two counters. The same every time. */

export const STEP = 10_000_000;
export const STEPS = 24;
const BEGIN = 5_000_000;

/** A trace: lanes with sorted spans, their names, the links from calls to device work. `more` streams repeat the first one. */
export function makeTrace(scale = 1, hostile = false, more = 0) {
	const names = [];
	const nameIds = new Map();
	const nameId = (text) => {
		if (!nameIds.has(text)) {
			nameIds.set(text, names.length);
			names.push(text);
		}
		return nameIds.get(text);
	};
	const spans = [];
	const lanes = [];
	const lane = (type, title, extra = {}) => {
		lanes.push({ lane: lanes.length, type, title, spans: [], nests: false, marks: false, ...extra });
		return lanes.length - 1;
	};
	const add = (on, look, name, start, dur, row = 0, extra = {}) => {
		const span = { lane: on, look, name: nameId(name), start: Math.round(start), dur: Math.round(dur), row, ...extra };
		spans.push(span);
		lanes[on].spans.push(span);
		return span;
	};
	const api = lane("api", "CUDA calls", { nests: true });
	const ranges = lane("range", "NVTX", { nests: true });
	const os = lane("os", "OS calls");
	const state = lane("state", "state");
	const samples = lane("samples", "samples", { marks: true });
	const compute = lane("stream", "stream 7", { device: 0 });
	const comm = lane("stream", "stream 13", { device: 0 });
	const copies = lane("stream", "stream 14", { device: 0 });
	const projected = lane("device-range", "ranges on the GPU", { device: 0, nests: true });
	const counter = lane("counter", "power", { device: 0, unit: "W" });
	const loader = lane("os", "OS calls");
	const active = lane("counter", "SMs Active [Throughput %]", { device: 0, unit: "%" });
	const others = Array.from({ length: more }, (_, i) => lane("stream", `stream ${20 + i}`, { device: 0 }));

	const step = STEP * scale;
	const links = [];
	const kernels = ["ampere_sgemm_128x64_tn", "void at::native::vectorized_elementwise_kernel<4, relu>(int)",
		"layer_norm_kernel", "softmax_warp_forward", hostile ? "<script>alert(1)</script><b>\u0007bold" : "adam_kernel"];
	for (let s = 0; s < STEPS; s++) {
		const at = BEGIN + s * step;
		add(ranges, 10, `step_${s}`, at, step * 0.97, 0);
		let device = at + 60_000;
		for (let part = 0; part < 3; part++) {
			const from = at + part * step * 0.12;
			add(ranges, 10, ["forward", "backward", "optimizer"][part], from, step * 0.115, 1);
			const deviceFrom = Math.max(device, from + 20_000);
			for (let k = 0; k < 30; k++) {
				const call = add(api, 6, "cudaLaunchKernel", from + k * step * 0.0038, 9_000 + (k % 3) * 3000, 0);
				const long = ((k * 7 + part * 3) % 5) * 40_000 + 25_000;
				device = Math.max(device, call.start + 12_000);
				const work = add(compute, 0, kernels[(k + part) % kernels.length], device, long * scale);
				for (const other of others)
					add(other, 0, kernels[(k + part + other) % kernels.length], device, long * scale);
				device += work.dur + 1500;
				links.push([call, work]);
			}
			add(projected, 10, ["forward", "backward", "optimizer"][part], deviceFrom, device - deviceFrom, 0);
			if (part === 1) {
				const call = add(api, 6, "ncclAllReduce", from + step * 0.1145, 30_000, 0);
				links.push([call, add(comm, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", device - step * 0.1, step * 0.15)]);
			}
		}
		const copyCall = add(api, 9, "cudaMemcpyAsync", at + step * 0.38, 20_000, 0);
		links.push([copyCall, add(copies, 2, "Memcpy HtoD (pageable)", at + step * 0.4, step * 0.1)]);
		add(api, 7, "cudaStreamSynchronize", at + step * 0.42, device - at - step * 0.42 + 15_000, 0);
		add(os, 13, "ioctl", at + step * 0.37, 40_000);
		add(state, 14, "running", at, step * 0.42);
		add(state, 15, "waiting", at + step * 0.42, step * 0.5);
		for (let k = 0; k < 12; k++)
			add(loader, 13, k % 4 === 3 ? "read" : "pthread_cond_wait", at + k * step / 12, step / 13);
		for (let k = 0; k < 40; k++)
			add(samples, 17, ["run", "forward", "backward", "item"][k >> 4], at + k * step / 40, 0, 0, { mark: true });
		for (let k = 0; k < 200; k++)
			add(active, 21, "active", at + k * step / 200, step / 200, 0, { value: k < 150 ? 60 + (k * 7919) % 40 : 2 });
		for (let k = 0; k < 10; k++)
			add(counter, 21, "power", at + k * step / 10, step / 10, 0, { value: 350 + 250 * Math.sin(s / 3 + k / 5) });
	}
	spans.sort((a, b) => a.lane - b.lane || a.start - b.start || b.dur - a.dur);
	spans.forEach((span, id) => { span.id = id; });
	for (const l of lanes)
		l.spans.sort((a, b) => a.start - b.start || b.dur - a.dur);
	for (const [call, work] of links) {
		work.launch = call.id;
		(call.work ??= []).push(work.id);
	}
	return { names, spans, lanes, step, others, begin: BEGIN, end: BEGIN + STEPS * step + 20_000_000 };
}

export const groups = (more) => [
	{ id: "gpu0", kind: "device", title: "GPU 0 NVIDIA H200", device: 0, lanes: [2 ** 31, 5, 6, 7, ...more, 8, 9, 11], groups: [] },
	{ id: "p0", kind: "process", title: "python (pid 411)", process: 0, lanes: [], groups: [
		{ id: "p0t0", kind: "thread", title: "python (tid 411)", thread: 0, lanes: [0, 1, 2, 3, 4], groups: [] },
		{ id: "p0t1", kind: "thread", title: "loader (tid 415)", thread: 1, lanes: [10], groups: [] }] }];
