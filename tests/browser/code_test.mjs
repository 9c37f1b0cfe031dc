/* SPDX-License-Identifier: Apache-2.0 */
/* code_test.mjs - the page's code without a browser: its types, and the decoding of tiles against the protocol's own example. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { check, run, skip } from "./common.mjs";
import { roofline } from "./fixture_answers.mjs";
import { tile } from "./fixture_tiles.mjs";
import { makeTrace } from "./fixture_trace.mjs";

const web = new URL("../../web/", import.meta.url);
const require = createRequire(new URL("package.json", web));
if (!existsSync(new URL("node_modules/typescript", web)))
	skip("no typescript (npm --prefix web ci)");

async function load(file) {
	const { outputFiles } = await require("esbuild").build({ entryPoints: [new URL(file, web).pathname], bundle: true, write: false, format: "esm" });
	return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

const { decodeTiles } = await load("src/data/tile.ts");
const { amount, duration, exact, roundStep, roundTop, tick } = await load("src/timeline/units.ts");
const { axisOf, extentOf, isPlaced, radiusOf, roofAt, roofsOf } = await load("src/panels/roofline_scale.ts");
const { editOf } = await load("src/panels/roofline_edit.ts");
const { luminance, Palette } = await load("src/timeline/theme.ts");
const { measure } = await load("src/data/counter_mean.ts");
const { readingAt, readingText, scaleOf, visibleRange } = await load("src/timeline/counter.ts");
const trace = makeTrace();
const end = (s) => s.start + s.dur;

await run([
	["the text on a span can be read, whatever its colour", () => {
		const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
		for (const dark of [false, true])
			for (let look = 0; look < 22; look++)
				for (let name = 0; name < 40; name++) {
					const palette = new Palette(dark);
					const pixel = palette.span(look, name);
					const colour = ((pixel & 255) << 16) | (pixel & 0xff00) | ((pixel >> 16) & 255);
					check(contrast(parseInt(palette.inkOn(look, name).slice(1), 16), colour) >= 4.1, `look ${look}, name ${name}, ${dark ? "dark" : "light"}`);
				}
	}],
	["the types are right", () => {
		const { status, stdout } = spawnSync(process.execPath, [require.resolve("typescript/bin/tsc"), "--noEmit"], { cwd: web, encoding: "utf8" });
		check(status === 0, stdout);
	}],
	["the protocol's example is decoded as it says", () => {
		const bytes = Buffer.from("24000000 01000001 04000000 02000000 0100000000000000 0e080a030000 022814030000".replaceAll(" ", ""), "hex");
		const [one] = decodeTiles(new Uint8Array(bytes));
		check(one.form === "spans" && one.lane === 4 && one.index === 1 && one.begin === 256, "the head");
		check(String([...one.spans.id, ...one.spans.start, ...one.spans.dur, ...one.spans.name]) === "7,8,260,280,10,20,3,3", "the spans");
	}],
	["tiles of spans have every span of their window with exact times", () => {
		for (const lane of [0, 1, 5, 10])
			for (const index of [0, 3, 9]) {
				const [one] = decodeTiles(tile(trace, 0, lane, 13, index));
				const wanted = trace.lanes[lane].spans.filter((s) => s.start < (index + 1) * 2 ** 21 && end(s) > index * 2 ** 21);
				check(wanted.length === 0 ? one.form === "empty" : String([...one.spans.start]) === String(wanted.map((s) => s.start)), `lane ${lane}, tile ${index}`);
			}
	}],
	["a summary's shares are those of the spans", () => {
		const [one] = decodeTiles(tile(trace, 0, 5, 18, 1));
		check(one.form === "summary", "a summary");
		for (let i = 0; i < one.n; i += 17) {
			const from = one.begin + one.offset[i] * one.bucket;
			const busy = trace.lanes[5].spans.reduce((sum, s) => sum + Math.max(0, Math.min(end(s), from + one.bucket) - Math.max(s.start, from)), 0);
			check(Math.abs(one.share[0][i] / 255 - busy / one.bucket) < 0.005, `bucket ${i}`);
		}
	}],
	["a counter's values hold until the next", () => {
		const [one] = decodeTiles(tile(trace, 0, 9, 14, 10));
		check(one.form === "counter" && one.n > 0 && one.before > 0 && one.last[0] > 99, "values");
	}],
	["a counter's value is read from any level, exact or as the mean of its bucket", () => {
		const lane = { ...trace.lanes[11], start: trace.begin, end: trace.end };
		for (const level of [12, 14, 17, 20]) {
			const width = 2 ** (level + 8);
			const time = trace.begin + 0.37 * trace.step;
			const covers = [0, 1].map((more) => Math.floor(time / width) + more).map((index) => ({ tile: decodeTiles(tile(trace, 0, 11, level, index))[0], from: index * width, to: (index + 1) * width }));
			const { value, least, most } = readingAt(covers, lane, time);
			const bucket = Math.floor(time / 2 ** level) * 2 ** level;
			const inside = lane.spans.filter((s) => s.start < bucket + 2 ** level && s.start + s.dur > bucket).map((s) => s.value);
			check(least >= Math.min(...inside) && most <= Math.max(...inside) && value >= Math.min(...inside) && value <= Math.max(...inside), `level ${level}`);
			const range = visibleRange(covers);
			check(range.least >= 2 && range.most <= 100, "nothing that is not there");
		}
		check(scaleOf({ unit: "%", min: 3, max: 41 }).most === 100 && scaleOf({ unit: "W", min: 80, max: 690 }).least === 0, "shares from 0 to 100, others from 0");
	}],
	["a set of bits is told in words", () => {
		const lane = { flags: ["idle", "set", "power limit", "slowdown"] };
		const at = (v) => readingText({ value: v, least: v, most: v }, lane);
		check(at(4) === "power limit" && at(12) === "power limit, slowdown" && at(0) === "none" && at(1) === "idle", `${at(4)} ${at(12)} ${at(0)}`);
	}],
	["the mean of an interval from tiles is that of the values", () => {
		const tiles = [[17, 0], [17, 1], [14, 3], [14, 4], [14, 5], [14, 6]].map(([level, index]) => decodeTiles(tile(trace, 0, 11, level, index))[0]);
		const [from, to] = [3 * 2 ** 22, 7 * 2 ** 22];
		const got = measure(tiles, from, to);
		const inside = trace.lanes[11].spans.filter((s) => s.start < to && end(s) > from);
		const wanted = inside.reduce((sum, s) => sum + s.value * (Math.min(to, end(s)) - Math.max(from, s.start)), 0) / (to - from);
		check(Math.abs(got.mean - wanted) < 0.05, `${got.mean} is ${wanted}`);
	}],
	["values are told with their unit, as people write them", () => {
		const told = [[1.98e9, "Hz"], [612.4, "W"], [63.21, "%"], [2.1e12, "B/s"], [100, "%"], [0.04, "%"], [71, "°C"], [0, "W"], [1.2e6, ""], [127, ""], [2.36e6, "Avg"], [999.7, "W"], [2.09e9, "bytes"]]
			.map(([v, u]) => amount(v, u));
		check(told.join("; ") === "1,980 MHz; 612 W; 63.2 %; 2.1 TB/s; 100 %; 0.04 %; 71 °C; 0 W; 1.2 M; 127; 2.36 M; 1000 W; 2.09 GB", told.join("; "));
		check(roundTop(690) === 800 && roundTop(1.98e9) === 2e9 && roundTop(100) === 100, "round tops");
	}],
	["roofs stand at their rate, meet the memory's slope at their ridge, and those of one rate are one", () => {
		const { devices: [device], points } = roofline(trace);
		const roofs = roofsOf(device, points);
		check(roofs.map((r) => r.title).join("; ") === "fp8 tensor; fp16, bf16 tensor; tf32 tensor; fp32; fp64", roofs.map((r) => r.title).join("; "));
		check(roofs.filter((r) => r.used).map((r) => r.flop).join() === "989000000000000,67000000000000", "those in use are of the points' precisions");
		for (const roof of roofs)
			check(Math.abs(roof.ridge * device.bytes_per_s / roof.flop - 1) < 1e-9, "the ridge");
		const placed = points.filter(isPlaced);
		const { x, y } = extentOf(device, placed, roofs);
		for (const p of placed) {
			check(p.intensity > x[0] && p.intensity < x[1] && p.flop_per_s > y[0] && p.flop_per_s < y[1], `${p.name} is inside`);
			check(roofAt(device, p) <= device.bytes_per_s * p.intensity * 1.000001, "no roof is above the slope");
		}
		const axis = axisOf(0.13, 700, 60, 500);
		check(axis.at(axis.from) === 60 && Math.abs(axis.at(axis.to) - 500) < 1e-9 && axis.from <= 0.13 && axis.to >= 700 && axis.ticks.join() === "0.1,1,10,100,1000", `${axis.ticks}`);
		check(Math.abs(radiusOf(0.4) / radiusOf(0.1) - 2) < 1e-9, "an area four times as large has twice the radius");
	}],
	["a kernel is named to the replay by a part of its name that is its own and has no comma", () => {
		const of = (name) => ({ kind: "kernel", name, of_peak: 0.5, gain_ns: 5 });
		const all = ["void gemm<128, relu>(int)", "void gemm<128, gelu>(int)", "sgemm", "k:7"].map(of);
		check(all.map((p) => editOf(p, all)).join() === "faster:relu>(int),faster:gelu>(int),faster:sgemm,", all.map((p) => editOf(p, all)).join());
		check(editOf({ ...all[2], gain_ns: 0 }, all) === null, "nothing to gain, nothing to try");
	}],
	["times are told for people and to the last digit", () => {
		check(duration(785_473) === "785 µs" && duration(11_193_806) === "11.2 ms" && duration(0) === "0 ns", "three digits");
		check(exact(12_573_844_963) === "12.573844963 s" && exact(347_387) === "347.387 µs", "all digits");
		check(roundStep(130) === 200 && roundStep(0.2) === 1 && tick(12_540_000_000, 5_000_000) === "12.540 s", "the ruler");
	}],
]);
