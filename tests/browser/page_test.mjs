/* SPDX-License-Identifier: Apache-2.0 */
/* page_test.mjs - the page on an invented trace: every way to move, select and link, names that mean harm, how often it draws.
 *
 * Needs no binary: fixture_server.mjs speaks the protocol. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { builtPage, check, openBrowser, openPage, pageOf, pointOf, run, settled, stateOf, until, when } from "./common.mjs";
import { inlined, serve } from "./fixture_server.mjs";
import { makeTrace, STEP } from "./fixture_trace.mjs";
import { measureFrames } from "./frames.mjs";

const html = builtPage();
const browser = await openBrowser();
const server = await serve([makeTrace(1, true)], html);
const page = await openPage(browser.context, server.url);
const width = async () => {
	const { from, to } = await stateOf(page, "window");
	return to - from;
};
const press = async (...keys) => {
	for (const key of keys)
		await page.keyboard.press(key);
	await settled(page);
};

await run([
	["the first picture shows every group and its lanes", async () => {
		const titles = () => page.locator(".lanes .title").allTextContents();
		for (const wanted of ["GPU 0 NVIDIA H200", "stream 7", "headway", "idle, by cause", "CUDA calls", "samples", "GPU metrics", "power", "SMs Active"])
			await until(async () => (await titles()).some((t) => t.includes(wanted)), `a row for ${wanted}`);
	}],
	["headway that is known of a long time only is said to be the most of it", async () => {
		const at = await pointOf(page, "headway");
		const tip = async (x) => {
			await page.mouse.move(at.x + x, at.y);
			return page.locator(".tip").innerText();
		};
		await until(async () => /operations?, .* of work ahead/.test(await tip(0)) && !(await tip(1)).includes("at most"), "what is known of each pixel");
		await page.evaluate(() => {
			const { leads } = window.headway.timeline;
			const { list } = leads;
			leads.list = (...asked) => list.apply(leads, asked).map((d) => ({ ...d, within: 4e9 }));
		});
		await until(async () => /at most .* within 4.00 s/.test(await tip(2)), "the time that the value is of");
		await page.evaluate(() => delete window.headway.timeline.leads.list);
	}],
	["the tip is of what stands under the pointer after a zoom or a move, too", async () => {
		const at = await pointOf(page, "steps");
		await page.mouse.move(at.x, at.y);
		const tip = page.locator(".tip");
		const box = await page.locator("canvas.timeline").boundingBox();
		const name = () => page.evaluate((share) => {
			const { state } = window.headway;
			const time = state.from + (state.to - state.from) * share;
			const { phases } = state.traces[0].steps;
			return phases.flatMap((p) => p.steps).find((s) => s[0] <= time && time < s[1])?.[6] ?? "";
		}, (at.x - box.x) / box.width);
		const first = await when(name, Boolean, "a step under the pointer");
		await until(async () => (await tip.innerText()).includes(first), "its tip");
		await press("w", "w", "d", "d", "d");
		const next = await when(name, (now) => now && now !== first, "another step under the pointer");
		await until(async () => (await tip.innerText()).startsWith(next), async () => `its tip: ${await tip.innerText()} of ${next}`);
		await press("0");
	}],
	["keys, wheel and dragging zoom and pan", async () => {
		const before = await width();
		await press("w", "w");
		await until(async () => await width() < before * 0.6, "w zooms in");
		const { from } = await stateOf(page, "window");
		await press("d");
		await until(async () => (await stateOf(page, "window")).from > from, "d goes on");
		await press("a", "ArrowLeft");
		await until(async () => (await stateOf(page, "window")).from < from, "a goes back");
		const at = await pointOf(page, "stream");
		const wide = await width();
		await page.mouse.move(at.x, at.y);
		await page.keyboard.down("Control");
		await page.mouse.wheel(0, -300);
		await page.keyboard.up("Control");
		await settled(page);
		await until(async () => await width() < wide, "the wheel zooms");
		const start = (await stateOf(page, "window")).from;
		await page.mouse.down();
		await page.mouse.move(at.x + 200, at.y, { steps: 3 });
		await page.mouse.up();
		await until(async () => (await stateOf(page, "window")).from < start, "dragging moves");
		await press("0");
		await until(async () => await width() > before * 0.9, "0 shows all");
	}],
	["a place is copied where the browser has no clipboard of the new kind, too", async () => {
		await page.evaluate((step) => { location.hash = `from=${8 * step}&to=${8 * step + 400_000}&panel=findings`; }, STEP);
		await settled(page);
		const at = await pointOf(page, "stream");
		await page.mouse.click(at.x, at.y);
		await page.evaluate(() => {
			Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
			document.execCommand = (what) => what === "copy";
		});
		const button = page.locator("button.copy").first();
		await button.click();
		await until(async () => await button.textContent() === "copied", "it says so");
		await page.evaluate(() => {
			delete navigator.clipboard;
			delete document.execCommand;
		});
	}],
	["names that begin alike are told apart when all of a name are lit", async () => {
		const begin = "n".repeat(300);
		const light = (name) => page.evaluate((other) => {
			const { state } = window.headway;
			state.selected = { ...state.selected, span: { ...state.selected.span, name: other } };
		}, name).then(() => page.keyboard.press("h"));
		await light(`${begin}a`);
		await until(async () => (await page.evaluate(() => window.headway.state.kin?.name)) === `${begin}a`, "lit");
		await light(`${begin}b`);
		await until(async () => (await page.evaluate(() => window.headway.state.kin?.name)) === `${begin}b`, "another name is lit instead");
		await light(`${begin}b`);
		await until(async () => (await page.evaluate(() => window.headway.state.kin)) === null, "and the same one no longer");
	}],
	["a click selects a kernel, its arrow leads to the launch and back", async () => {
		await page.evaluate((step) => { location.hash = `from=${8 * step}&to=${8 * step + 400_000}&panel=findings`; }, STEP);
		await settled(page);
		const at = await pointOf(page, "stream");
		await page.mouse.click(at.x, at.y);
		await page.waitForSelector(".details .follow");
		const kernel = (await stateOf(page, "selected")).span;
		check(kernel.kind === "kernel" && kernel.launch, "a kernel with a launch");
		await page.locator(".follow").click();
		await page.waitForFunction((id) => window.headway.state.selected.span.id === id, kernel.launch.id);
		await page.keyboard.press("l");
		await page.waitForFunction((id) => window.headway.state.selected.span.id === id, kernel.id);
	}],
	["next and previous go along spans of the same name", async () => {
		const first = (await stateOf(page, "selected")).span;
		await page.keyboard.press(".");
		await page.waitForFunction((id) => window.headway.state.selected.span.id !== id, first.id);
		const next = (await stateOf(page, "selected")).span;
		check(next.name === first.name && next.start > first.start, "the next one is later and has the same name");
		await page.keyboard.press(",");
		await page.waitForFunction((id) => window.headway.state.selected.span.id === id, first.id);
	}],
	["dragging on the ruler shows the interval's table", async () => {
		await press("Escape", "0");
		const box = await page.locator("canvas.timeline").boundingBox();
		await page.mouse.move(box.x + 200, box.y + 8);
		await page.mouse.down();
		await page.mouse.move(box.x + 500, box.y + 8, { steps: 4 });
		await page.mouse.up();
		await page.waitForSelector(".interval .rows");
		await until(async () => (await page.locator(".interval").textContent()).includes("blocked"), "idle time by cause");
		await until(async () => /power.* W/.test(await page.locator(".interval .metrics").textContent()), "and what the counters said");
		await press("f");
		const { from, to } = await stateOf(page, "range");
		await until(async () => Math.abs(await width() - (to - from)) < 2, "f zooms to it");
		await press("Escape");
	}],
	["search lists hits and marks them", async () => {
		await press("0", "/");
		await page.keyboard.type("nccldev");
		await page.waitForSelector(".search .span-link");
		await until(async () => (await page.locator(".search .summary").first().textContent()).includes("24"), "24 hits");
		check(/^[0-9.]+ .?s, step/.test(await page.locator(".search .span-link .at").first().textContent()), "when it was, and in which step");
		await page.locator(".search .span-link").first().click();
		await page.waitForFunction(() => window.headway.state.selected?.span.name.startsWith("nccl"));
		await page.locator("input[type=search]").focus();
		await press("Escape");
		await until(async () => await stateOf(page, "query") === "", "Escape clears it");
	}],
	["a finding lights up its evidence", async () => {
		await press("0", "1");
		await page.locator("[data-finding=sync-in-loop]").click();
		await page.waitForFunction(() => window.headway.state.lit?.spans.length === 6);
		await until(async () => await width() < 5 * STEP, "the window is around it");
		await until(async () => await page.locator(".finding.lit pre").isVisible(), "its advice is shown");
		await page.locator(".finding .try").click();
		await page.waitForFunction(() => window.headway.state.whatIf?.edits === "remove-wait:train.py:18");
		await until(async () => await page.locator(".drawer canvas").isVisible(), "its fix is one press away");
		await page.keyboard.press("1");
		await press("Escape");
	}],
	["a counter tells its value with its unit at the cursor, and what of it is on the screen", async () => {
		await page.evaluate((step) => { location.hash = `from=${8 * step}&to=${8.2 * step}&panel=findings`; }, STEP);
		await settled(page);
		const time = 8.1 * STEP;
		const valueOf = (lane) => lane.spans.filter((s) => s.start <= time).at(-1).value;
		const at = await pointOf(page, "counter", time);
		await page.mouse.move(at.x, at.y);
		await page.waitForSelector(".tip");
		const { lanes } = makeTrace(1, true);
		await until(async () => (await page.locator(".tip").textContent()).includes(`power: ${Math.round(valueOf(lanes[9]))} W`), "the value in the tip");
		const read = await page.evaluate((when) => window.headway.timeline.counters.map((c) => {
			const bucket = c.covers.find((p) => p.from <= when && when < p.to).tile;
			return { title: c.row.title, form: bucket.form, h: c.row.h };
		}), time);
		check(read.length === 2 && read.every((r) => r.form === "counter") && read[1].title === "SMs Active", "each counter has its row, its unit stands with the value");
		await when(() => page.locator(".title.counter .range").allTextContents(), (shown) => / W/.test(shown[0]) && /%/.test(shown[1]), (shown) => `the range on the screen: ${shown}`);
		const device = await pointOf(page, "device", time);
		await page.mouse.move(device.x, device.y);
		await page.locator(".tip", { hasText: /compute \d+/ }).waitFor();
		await page.locator("[data-key='0/gpu0-counters'] .fold").click();
		await settled(page);
		await until(async () => await page.locator(".title.counter").count() === 0 && (await page.locator("[data-key='0/gpu0-counters']").textContent()).includes("SMs Active"), "folded, one of them stands for all");
		await page.locator("[data-key='0/gpu0-counters'] .fold").click();
	}],
	["coarse and fine tiles of a counter meet without a step", async () => {
		const heights = [];
		for (const wide of [1, 3.7]) {
			await page.evaluate(([from, to]) => {
				Object.assign(window.headway.state, { from, to });
				window.headway.timeline.invalidate();
			}, [8 * STEP, 8 * STEP + 0.3 * STEP * wide]);
			await settled(page);
			heights.push(...await page.evaluate(() => {
				const { row, covers, lane } = window.headway.timeline.counters.find((c) => c.lane.unit === "%");
				return covers.slice(1).map(({ tile: b }, i) => {
					const a = covers[i].tile;
					return [a.n ? a.last[a.n - 1] : a.before, b.before, row.h, lane.lane];
				});
			}));
		}
		check(heights.length > 1 && heights.every(([last, before]) => last === before), "a tile begins with the value the one before ends with");
	}],
	["groups fold and pin, lanes are filtered", async () => {
		const rows = () => page.locator(".lanes .title").count();
		const before = await rows();
		await page.locator("[data-key='0/gpu0'] .fold").click();
		await settled(page);
		await until(async () => await rows() === before - 7, "seven rows are gone");
		await page.locator("[data-key='0/gpu0'] .fold").click();
		await settled(page);
		await page.locator("[data-key='0/p0t0']").hover();
		await page.locator("[data-key='0/p0t0'] .pin").click();
		await settled(page);
		await until(async () => await page.evaluate(() => window.headway.timeline.layout.pinnedHeight > 80), "a pinned thread stands on top");
		await page.locator("[data-key='0/p0t0'] .pin").click({ force: true });
		await page.locator("[data-key='0/p0']").dragTo(page.locator("[data-key='0/gpu0']"));
		await settled(page);
		await until(async () => await page.evaluate(() => window.headway.timeline.layout.rows.find((r) => r.folds).key) === "0/p0", "a group dragged up stands first");
		await page.locator("[data-key='0/gpu0']").dragTo(page.locator("[data-key='0/p0']"));
		await page.locator("input.filter").fill("stream 13");
		await settled(page);
		await until(async () => await page.locator(".title.lane").count() === 1, "one lane is left");
		await page.locator("input.filter").fill("");
		await settled(page);
		await until(async () => await rows() >= before, "all are back");
	}],
	["the address holds the view", async () => {
		await page.locator("input.filter").blur();
		await press("Escape", "0", "w", "w", "p");
		await page.waitForFunction(() => location.hash.includes("path=1"));
		const wanted = await stateOf(page, "window");
		const other = await openPage(browser.context, page.url());
		const got = await stateOf(other, "window");
		check(Math.abs(wanted.from - got.from) < 2 && Math.abs(wanted.to - got.to) < 2, "the same window");
		await until(async () => await stateOf(other, "path"), "and the same overlay");
		await other.close();
		await press("p");
	}],
	["the switch makes it dark, the system's wish does so by itself", async () => {
		const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
		check(await back() === "rgb(255, 255, 255)", "it is light at first");
		await page.locator("button.theme").click();
		await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
		await until(async () => await back() !== "rgb(255, 255, 255)", "the page is dark");
		await until(async () => await page.evaluate(() => window.headway.timeline.palette.dark), "and so is the canvas");
		await page.locator("button.theme").click();
		await page.locator("button.theme").click();
		await page.emulateMedia({ colorScheme: "dark" });
		await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
		await page.emulateMedia({ colorScheme: "light" });
	}],
	["what-if replays with the edits that are switched on", async () => {
		await press("5");
		await page.waitForSelector(".drawer canvas");
		await page.locator("[data-edit=remove-wait] input[type=checkbox]").uncheck();
		await page.locator("[data-edit=wait-every] input[type=checkbox]").click();
		await page.waitForFunction(() => window.headway.state.whatIf.edits === "wait-every:10");
		await page.locator("[data-edit=wait-every] input[type=range]").fill("50");
		await page.waitForFunction(() => window.headway.state.whatIf.edits === "wait-every:50");
		await until(async () => (await page.locator(".prediction").textContent()).includes("1.25×"), "the gain is shown");
		await page.locator("[data-edit=pin] input[type=checkbox]").click();
		await page.waitForSelector(".whatif .error");
		await press("1");
	}],
	["the roofline has a point for each kernel whose operations and bytes are known, and its roofs", async () => {
		await press("Escape", "0", "6");
		await page.waitForSelector(".roofline-plot .point");
		await until(async () => await page.locator(".point").count() === 5, "five kernels have a place");
		for (const bound of ["compute", "memory", "latency", "occupancy", "unknown"])
			await until(async () => await page.locator(`.point.${bound}`).count() === 1, `one is bound by ${bound}`);
		const texts = await page.locator(".roof-name").allTextContents();
		check(texts.some((t) => t.includes("bf16") && t.includes("989 TFLOP/s")) && texts.some((t) => t.includes("4.8 TB/s")), `roofs: ${texts}`);
		const at = async (bound) => (await page.locator(`.point.${bound}`).boundingBox());
		const [compute, memory] = [await at("compute"), await at("memory")];
		check(compute.x > memory.x && compute.y < memory.y && compute.width > memory.width, "further right, higher and larger");
	}],
	["the table of the roofline sorts by any column, at first by the time to be gained", async () => {
		const column = (name) => page.locator(`.roofline-table tbody td.of-${name}`).allTextContents();
		const first = await column("gain");
		check(first.length === 7 && first[0] === "35.2 ms" && first.at(-1) === "–", `by gain: ${first}`);
		await until(async () => await page.locator("th[aria-sort=descending]").textContent() === "to gain ▾", "and says so");
		await page.locator(".roofline-table th button", { hasText: "time" }).click();
		await until(async () => (await column("time"))[1] === "45.4 ms", "by time");
		await page.locator(".roofline-table th button", { hasText: "name" }).click();
		await when(() => column("name"), (names) => names[0].startsWith("<script>") && names.at(-1).startsWith("vectorized"), (names) => `by name: ${names}`);
		await page.locator(".roofline-table th button", { hasText: "of roof" }).click();
		await page.locator(".roofline-table th button", { hasText: "of roof" }).click();
		await when(() => column("roof"), (shares) => shares[0] === "6.0 %" && shares.at(-1) === "–", (shares) => `what is not known stands last: ${shares}`);
		await page.locator(".roofline-table th button", { hasText: "to gain" }).click();
	}],
	["a press on a point, or Enter in the table, goes to its kernel in the timeline", async () => {
		await page.locator(".point.compute").hover();
		await until(async () => (await page.locator(".roofline-plot .tip").textContent()).includes("620 TFLOP/s"), "the tip has its numbers");
		await page.locator(".point.compute").click();
		await page.waitForFunction(() => window.headway.state.selected?.span.name.includes("sgemm"));
		check(await stateOf(page, "dock") === "roofline", "the roofline stays");
		await until(async () => await width() < STEP, "the window is around it");
		await until(async () => (await page.locator(".roofline-card").textContent()).includes("620 TFLOP/s of 989 TFLOP/s (63 %)"), "what it reaches, and of what");
		await until(async () => (await page.locator(".roofline-card .do").textContent()).includes("Use fp8"), "and what to do about it");
		const row = page.locator(".roofline-table tbody tr", { hasText: "gather" });
		const before = await row.boundingBox();
		await row.click();
		await page.locator(".roofline-card h3", { hasText: "gather" }).waitFor();
		check((await row.boundingBox()).y === before.y, "a press on a row moves no row");
		await page.locator(".roofline-table tbody tr").first().click();
		await page.locator(".roofline-card h3", { hasText: "sgemm" }).waitFor();
		await page.locator(".roofline-table tr.chosen").focus();
		const { from } = await stateOf(page, "window");
		await page.keyboard.press("ArrowDown");
		await page.locator(".roofline-card h3", { hasText: "layer_norm" }).waitFor();
		check((await stateOf(page, "window")).from === from, "and does not move the timeline");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => window.headway.state.selected?.span.name.includes("layer_norm"));
		await page.locator(".roofline-plot svg").focus();
		await page.keyboard.press("ArrowRight");
		await page.locator(".roofline-card h3", { hasText: "softmax" }).waitFor();
	}],
	["the roofline has operators beside kernels, names that mean harm as text, and room in small windows", async () => {
		await page.locator(".roofline-bar button", { hasText: "operators" }).click();
		await page.locator(".roofline-table", { hasText: "aten::mm" }).waitFor();
		await until(async () => await page.locator(".point").count() === 1, "the operator");
		await page.locator(".roofline-bar button", { hasText: "kernels" }).click();
		check(await page.locator(".roofline script, .roofline b > b").count() === 0, "no element came of a name");
		for (const [w, h] of [[1024, 640], [480, 700]]) {
			await page.setViewportSize({ width: w, height: h });
			for (const what of [".panels button", ".tabs button", ".roofline-plot svg", ".roofline-bar button"])
				await until(async () => {
					const box = await page.locator(what).last().boundingBox();
					return box.x >= 0 && box.x + box.width <= w + 1;
				}, `${what} is inside a window of ${w}`);
		}
		await page.setViewportSize({ width: 1600, height: 900 });
		await press("6");
	}],
	["a recording without operations and bytes is told what to run", async () => {
		const trace = makeTrace();
		const bare = await serve([{ ...trace, bare: true }], html);
		const other = await openPage(browser.context, bare.url);
		await other.keyboard.press("6");
		await other.waitForSelector(".how pre");
		await until(async () => (await other.locator(".how").textContent()).includes("headway kernels run0.sqlite --write kernels.hwy -- PROGRAM"), "the line that measures");
		await until(async () => await other.locator(".roofs line").count() > 2, "the roofs are there");
		await other.close();
		bare.close();
	}],
	["names that mean harm are text", async () => {
		await page.locator("input[type=search]").fill("script");
		await page.waitForSelector(".search .span-link");
		await page.locator(".search .span-link").first().click();
		await page.keyboard.press("2");
		// The details of what was selected before stand there until the server has answered.
		await page.waitForFunction(() => document.querySelector(".details .name")?.textContent.startsWith("<script>alert(1)</script>"));
		check(await page.locator(".details .name b, .details .name script").count() === 0, "no element came of it");
		await page.locator("input[type=search]").focus();
		await press("Escape");
	}],
	["help lists the keys", async () => {
		await page.keyboard.press("?");
		await until(async () => await page.locator(".help kbd").count() > 20, "keys");
		await page.keyboard.press("Escape");
		await until(async () => await page.locator(".help").count() === 0, "gone");
	}],
	["two runs stand one under the other, aligned by step", async () => {
		const two = await serve([makeTrace(1), makeTrace(0.8)], html);
		const other = await openPage(browser.context, two.url);
		await other.keyboard.press("]");
		await settled(other);
		const k = await stateOf(other, "step");
		const begins = await other.evaluate((step) => window.headway.state.traces.map((t) => t.steps.phases[0].steps[step][0] - t.shift), k);
		check(k >= 0 && begins[0] === begins[1], "the step begins at the same place");
		await until(async () => await other.locator(".title.run").count() === 2, "two runs");
		await other.close();
		two.close();
	}],
	["the self-contained page asks nobody anything", async () => {
		const folder = mkdtempSync(join(tmpdir(), "headway-inline-"));
		const file = join(folder, "run.html");
		writeFileSync(file, inlined([makeTrace()], html));
		const asked = [];
		const before = new Set(browser.context.pages()); // those that are open say now and then that they are
		const hear = (request) => before.has(pageOf(request)) || asked.push(request.url());
		browser.context.on("request", hear);
		const other = await openPage(browser.context, pathToFileURL(file).href);
		await other.locator("[data-finding]").first().click();
		await other.waitForFunction(() => window.headway.state.lit?.spans.length > 0);
		await settled(other);
		await other.keyboard.press("6");
		await other.waitForSelector(".point");
		await until(async () => await other.locator(".point").count() === 5 && await other.locator(".roofline-table tbody tr").count() === 7, "the roofline is in it");
		await other.locator(".point.compute").hover();
		await until(async () => (await other.locator(".roofline-plot .tip").textContent()).includes("sgemm"), "and can be asked");
		await until(async () => await other.locator(".note").first().textContent().then((t) => t.includes("Left out")), "it says what was left out");
		browser.context.off("request", hear);
		check(asked.filter((url) => !url.startsWith("data:")).length === 1, `one request, the file itself: ${asked.join(" ").slice(0, 200)}`);
		await other.close();
		rmSync(folder, { recursive: true });
	}],
	["a change of the window is drawn once, however many lanes there are", async () => {
		const { lanes, width, median, p90, moves, drawn, answers } = await measureFrames(browser.context, html);
		// The times are for a reader: a busy machine may take any.
		console.log(`   ${lanes} lanes, ${width} pixels: median ${median.toFixed(1)} ms, p90 ${p90.toFixed(1)} ms`);
		check(lanes >= 40 && width >= 1920, "a full screen");
		check(drawn >= moves, `${drawn} frames for ${moves} moves: each is drawn`);
		check(drawn <= moves + answers, `${drawn} frames for ${moves} moves and ${answers} answers: none is drawn twice`);
		check(answers <= moves, `${answers} answers for ${moves} moves: tiles are kept`);
	}],
]);
await browser.close();
server.close();
