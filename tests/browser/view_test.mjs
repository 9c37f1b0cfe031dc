/* SPDX-License-Identifier: Apache-2.0 */
/* view_test.mjs - `headway view` on real recordings, seen through a browser. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { cacheHere, check, openBrowser, openPage, pageOf, pointOf, run, settled, skip, stateOf, until, view, when } from "./common.mjs";
import { data, makeFolder, packed, pick } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const browser = await openBrowser();
const folder = makeFolder();

/** Opens recordings, hands the page over, ends the server. */
async function withPage(files, test) {
	const server = await view(files);
	const page = await openPage(browser.context, server.url);
	try {
		await test(page, server);
	} finally {
		await page.close();
		await server.close();
	}
}

/** How many pixels of the timeline are not background, in part of it. */
const inkOf = (page) => page.evaluate(() => {
	const canvas = document.querySelector("canvas.timeline");
	const { data } = canvas.getContext("2d").getImageData(0, 26, canvas.width, canvas.height - 26);
	let ink = 0;
	for (let i = 0; i < data.length; i += 4)
		ink += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60 ? 1 : 0;
	return ink;
});

async function opensAndZooms(page) {
	await until(async () => await page.locator(".title.device").count() >= 1, "a device");
	await until(async () => await inkOf(page) > 300, "something is drawn");
	const { from, to } = await stateOf(page, "window");
	for (let i = 0; i < 4; i++)
		await page.keyboard.press("w");
	await page.keyboard.press("d");
	await settled(page);
	const now = await stateOf(page, "window");
	check(now.to - now.from < (to - from) / 2, "w zooms in");
	await page.keyboard.press("0");
	await settled(page);
}

/** Shows the middle of the first stream that has kernels, close enough to tell spans apart. */
async function showKernel(page) {
	const hit = await page.evaluate(async () => {
		const { state } = window.headway;
		const lane = state.traces[0].lanes.lanes.filter((l) => l.type === "stream").sort((a, b) => b.spans - a.spans)[0];
		const at = await (await fetch(`at?t=0&lane=${lane.lane}&from=${lane.start}&to=${lane.end}`)).json();
		const span = at.longest;
		state.from = span.start - span.dur;
		state.to = span.start + 2 * span.dur;
		window.headway.timeline.invalidate();
		return { span, title: lane.title };
	});
	await settled(page);
	await page.locator("input.filter").fill(hit.title);
	await settled(page);
	return hit.span;
}

const two = [pick("mlp_sync", "streams_pageable1"), pick("mlp_async", "streams_pinned4")];
const one = pick("mlp_sync", "power_base") ?? skip("no recordings");
const eager = pick("itemloop_item", "power_base");

const tests = packed().map((path) => [`${basename(path, ".sqlite.xz")} opens, is drawn and zooms`,
	() => withPage([folder.unpack(path)], opensAndZooms)]);

tests.push(
	["a kernel's exact times are shown, its launch is one key away, and it is back with another", () => withPage([folder.unpack(one)], async (page) => {
		const span = await showKernel(page);
		const at = await pointOf(page, "stream", span.start + span.dur / 2);
		await page.mouse.click(at.x, at.y);
		await page.waitForSelector(".details .follow");
		const { span: details } = await stateOf(page, "selected");
		check(details.id === span.id && details.start === span.start && details.dur === span.dur, "the very span");
		await page.locator("input.filter").fill("");
		await page.locator(".details .follow").click();
		await page.waitForFunction((id) => window.headway.state.selected.span.id !== id, span.id);
		await until(async () => (await stateOf(page, "selected")).span.work.some((w) => w.id === span.id), "the launch names the kernel");
		await page.locator(".details .span-link").first().click();
		await page.waitForFunction((id) => window.headway.state.selected.span.id === id, span.id);
	})],
	["a finding leads to its evidence", () => withPage([folder.unpack(one)], async (page) => {
		await page.locator("[data-finding]").first().click();
		await page.waitForFunction(() => window.headway.state.lit?.spans.length > 0);
		const { spans } = await stateOf(page, "lit");
		const { from, to } = await stateOf(page, "window");
		check(spans[0].start < to && spans[0].start + spans[0].dur > from, "it is on the screen");
	})],
	["a place of many steps has no step's number", () => withPage([join(data, "nsys/mlp_sync.hwy")], async (page) => {
		const place = page.locator("[data-finding] .places").first();
		await place.waitFor();
		const text = await place.textContent();
		check(/step_N/.test(text) && !/step_\d/.test(text), text);
	})],
	["search finds what the server finds", () => withPage([folder.unpack(eager)], async (page) => {
		await page.locator("input[type=search]").fill("cudaLaunchKernel");
		await page.waitForSelector(".search .span-link");
		await until(async () => (await stateOf(page, "found"))[0].hits > 10, "hits");
		await page.locator(".search .span-link").nth(3).click();
		await page.waitForFunction(() => window.headway.state.selected?.span.name.includes("cudaLaunchKernel"));
	})],
	["the critical path is drawn", () => withPage([folder.unpack(one)], async (page) => {
		await page.keyboard.press("p");
		await page.waitForFunction(() => (window.headway.timeline.path.ids(0)?.size ?? 0) > 1);
	})],
	["a what-if switch predicts a step", () => withPage([folder.unpack(one)], async (page) => {
		await page.keyboard.press("5");
		await page.waitForFunction(() => window.headway.state.whatIf !== null);
		await page.locator("[data-edit=faster] input[type=checkbox]").click();
		await page.waitForFunction(() => window.headway.state.whatIf.edits.startsWith("faster"));
		const answer = await stateOf(page, "whatIf");
		check(answer.step <= answer.base && answer.ops.length > 0, "not slower, and there is a timeline");
	})],
	["a deep link opens the same view", () => withPage([folder.unpack(one)], async (page) => {
		await page.locator("[data-finding]").first().click();
		await page.waitForFunction(() => window.headway.state.lit !== null);
		const wanted = await stateOf(page, "window");
		await page.waitForFunction((from) => location.hash.includes(`from=${Math.round(from)}`), wanted.from);
		const other = await openPage(browser.context, page.url());
		const got = await stateOf(other, "window");
		check(Math.abs(got.from - wanted.from) < 2 && Math.abs(got.to - wanted.to) < 2, "the window");
		await other.close();
	})],
	["two runs are aligned by step", () => withPage(two.map((path) => folder.unpack(path)), async (page) => {
		await until(async () => await page.locator(".title.run").count() === 2, "two runs");
		await page.keyboard.press("]");
		await settled(page);
		const begins = await page.evaluate(() => {
			const { state } = window.headway;
			return state.traces.map((t) => t.steps && t.steps.phases[t.steps.main].steps[state.step]?.[0] - t.shift);
		});
		check(begins[0] === begins[1], `the step begins at the same place: ${begins}`);
	})],
	["names that mean harm, that are long or empty, are text", async () => {
		const names = ["<script>window.hit = 1</script>", "<img src=x onerror='window.hit = 1'>", "k".repeat(100_000), "\u0000\u0007\u202eback", "</script>"];
		const events = names.flatMap((name, i) => [
			{ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 7, tid: 7, ts: 100 * i + 1, dur: 5, args: { correlation: i + 1 } },
			{ ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts: 100 * i + 20, dur: 60, args: { correlation: i + 1, device: 0, stream: 7 } }]);
		const file = folder.path("harm.json");
		writeFileSync(file, JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: "<b>GPU</b>" }], traceEvents: events }));
		const seen = async (page) => {
			for (const query of ["script", "img", "kkkk"]) {
				await page.locator("input[type=search]").fill(query);
				await page.waitForFunction((q) => window.headway.state.found[0]?.q === q, query);
				await page.locator(".search .span-link").first().click();
				await page.waitForFunction((q) => window.headway.state.selected?.span.name.includes(q), query);
			}
			await page.keyboard.press("2");
			await settled(page);
			check(await page.evaluate(() => window.hit === undefined), "nothing was run");
			check(await page.locator("#app script, #app img, .title b").count() === 0, "no element came of a name");
		};
		await withPage([file], seen);
		execFileSync(process.env.HEADWAY, ["view", file, "--html", folder.path("harm.html")], { stdio: "ignore" });
		const alone = await openPage(browser.context, pathToFileURL(folder.path("harm.html")).href);
		await seen(alone);
		await alone.close();
	}],
	["a page whose server has ended says so and stays", async () => {
		const server = await view([folder.unpack(one)]);
		const page = await openPage(browser.context, server.url);
		await server.close();
		await page.waitForFunction(() => window.headway.state.gone);
		check(await inkOf(page) > 300, "the picture stays");
		await page.close();
	}],
	["each run of two can be replayed with edits of its own", () => withPage(two.map((path) => folder.unpack(path)), async (page) => {
		await page.keyboard.press("5");
		await page.waitForFunction(() => window.headway.state.whatIf !== null);
		const a = await stateOf(page, "whatIf");
		await page.locator(".which button").nth(1).click();
		await page.waitForFunction(() => window.headway.state.whatIfTrace === 1 && window.headway.state.whatIf !== null);
		const steps = await page.evaluate(() => window.headway.state.traces.map((t) => t.diagnosis.summary.step_ns));
		const b = await stateOf(page, "whatIf");
		check(a.recorded === steps[0] && b.recorded === steps[1], `each its own: ${a.recorded} ${b.recorded} ${steps}`);
	})],
	["the roofline of a PyTorch recording leads to its kernels, served and in the self-contained page", async () => {
		const recording = join(data, "torch/mlp_sync.hwy");
		let served;
		const looks = async (page) => {
			await page.keyboard.press("6");
			await page.waitForSelector(".roofline-table tbody tr");
			await until(async () => await page.locator(".point").count() > 2, "points");
			const rows = await page.locator(".roofline-table tbody tr").allTextContents();
			check(/gemm|cutlass/.test(rows[0]) && rows[0].includes("compute"), `a product has most to gain: ${rows[0]}`);
			await page.locator(".roofline-table tbody tr").first().click();
			await page.waitForFunction(() => window.headway.state.selected?.span.kind === "kernel");
			const { span } = await stateOf(page, "selected");
			const { from, to } = await stateOf(page, "window");
			check(span.start < to && span.start + span.dur > from && to - from < 1e8, "it is on the screen, and near");
			await until(async () => await page.locator(".roofline-card .name").textContent() === span.name, "the very kernel");
			return rows;
		};
		await withPage([recording], async (page) => { served = await looks(page); });
		execFileSync(process.env.HEADWAY, ["view", recording, "--html", folder.path("roof.html")], { stdio: "ignore", env: cacheHere() });
		const alone = await openPage(browser.context, pathToFileURL(folder.path("roof.html")).href);
		check((await looks(alone)).join("|") === served.join("|"), "the same table");
		await alone.close();
	}],
	["a kernel can be replayed at its roof", () => withPage([join(data, "torch/mlp_sync.hwy")], async (page) => {
		await page.keyboard.press("6");
		await page.locator(".roofline-table tbody tr").first().click();
		await page.locator(".roofline-card .try").click();
		await page.waitForFunction(() => window.headway.state.whatIf?.edits.startsWith("faster:"));
		const { step, base } = await stateOf(page, "whatIf");
		check(step < base, `${step} is less than ${base}`);
		await until(async () => (await page.locator("[data-edit=faster]").textContent()).includes("at its roof"), "and the edit says so");
	})],
	["a file of counters alone shows its roofline", () => withPage([join(data, "ncu/mlp_raw.csv")], async (page) => {
		await page.waitForSelector(".roofline-table tbody tr");
		await until(async () => await page.locator(".point").count() > 0, "points");
		await until(async () => await page.locator("canvas.timeline").isHidden(), "and no empty timeline");
	})],
	["a recording of nothing says what to record instead", async () => {
		const empty = folder.path("empty.hwy");
		execFileSync(process.env.HEADWAY, ["profile", "-q", "-t", "cuda", "-o", empty, "sleep", "0"]);
		await withPage([empty], async (page) => {
			await page.waitForSelector(".nothing-recorded");
			const said = await page.locator(".nothing-recorded code").allTextContents();
			check(said.some((text) => text.startsWith("headway profile -t pytorch")), `${said}`);
			await until(async () => await page.locator(".roofline").count() === 0 && await page.locator("canvas.timeline").isHidden(), "and neither a roofline nor an empty timeline");
		});
	}],
	["counters of a GPU tell their values, served and in the self-contained page", async () => {
		const metrics = pick("streams_metrics");
		if (!metrics)
			return console.log("   left out: no recording with counters");
		const recording = folder.unpack(metrics);
		const readings = async (page) => {
			await page.locator(".title.group", { hasText: "GPU metrics" }).click();
			await settled(page);
			const box = await page.locator("canvas.timeline").boundingBox();
			await page.mouse.move(box.x + box.width * 0.62, box.y + 40);
			await when(() => page.locator(".title.counter").allTextContents(),
				(ranges) => ranges.some((t) => t.includes("GPC Clock Frequency") && t.includes("1,980 MHz")) && ranges.some((t) => t.includes("SMs Active") && t.includes("100 %")), (ranges) => `${ranges}`);
			const row = await page.evaluate(() => {
				const { timeline } = window.headway;
				const { row: one } = timeline.counters.find((c) => c.lane.main);
				return 26 + one.y + one.h / 2 + timeline.layout.pinnedHeight - timeline.scroll;
			});
			await page.mouse.move(box.x + box.width * 0.62, box.y + row);
			await when(() => page.locator(".tip").textContent(), (tip) => /^SMs Active: [\d.]+ %/.test(tip), (tip) => tip);
		};
		await withPage([recording], readings);
		execFileSync(process.env.HEADWAY, ["view", recording, "--html", folder.path("metrics.html")], { stdio: "ignore", env: cacheHere() });
		const alone = await openPage(browser.context, pathToFileURL(folder.path("metrics.html")).href);
		await readings(alone); // the same in the page alone
		await alone.close();
	}],
	["the self-contained page shows the same without a request", async () => {
		const file = folder.path("page.html");
		const recording = folder.unpack(one);
		execFileSync(process.env.HEADWAY, ["view", recording, "--html", file], { stdio: "ignore", env: cacheHere() });
		const asked = [];
		const before = new Set(browser.context.pages()); // those that are open say now and then that they are
		const hear = (request) => before.has(pageOf(request)) || asked.push(request.url());
		browser.context.on("request", hear);
		const page = await openPage(browser.context, pathToFileURL(file).href);
		await until(async () => await inkOf(page) > 300, "something is drawn");
		await until(async () => await page.locator(".breakdown .part").count() > 1 && await page.locator(".steps-plot g").count() > 3, "the plots are there");
		await page.locator("[data-finding]").first().click();
		await page.waitForFunction(() => window.headway.state.lit?.spans.length > 0);
		await settled(page);
		await page.locator("input[type=search]").fill("cudaLaunch");
		await page.waitForSelector(".search .span-link");
		await page.locator(".search .span-link").first().click();
		await page.waitForFunction(() => window.headway.state.selected?.span.work.length > 0);
		await page.keyboard.press("l");
		await page.waitForFunction(() => window.headway.state.selected.span.launch !== null);
		const { span } = await stateOf(page, "selected");
		browser.context.off("request", hear);
		check(asked.filter((url) => !url.startsWith("data:")).length === 1, `one request, the file itself: ${asked.join(" ").slice(0, 300)}`);
		await page.close();
		await withPage([recording], async (served) => {
			const told = await served.evaluate(async (id) => (await fetch(`span?t=0&id=${id}`)).json(), span.id);
			for (const key of ["fields", "kind", "start", "dur", "work_count"])
				check(JSON.stringify(told[key]) === JSON.stringify(span[key]), `${key} as the server tells: ${JSON.stringify(span[key])}`);
			check(told.launch.id === span.launch.id && told.stack.length === span.stack.length, "the launch and its stack");
			check(told.around.map((s) => s.id).join() === span.around.map((s) => s.id).join(), "what is around it");
			check(told.place.range === span.place.range && told.place.file === span.place.file, "its place");
		});
	}]);

await run(tests);
await browser.close();
folder.remove();
