/* SPDX-License-Identifier: Apache-2.0 */
/* readout_test.mjs - what the page says of what is under the pointer, and of the span that is selected. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cacheHere, check, onPage, openBrowser, openPage, pointOf, run, settled, skip, stateOf, until, view } from "./common.mjs";
import { data, makeFolder } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const browser = await openBrowser();
const folder = makeFolder();
const mlp = join(data, "nsys/mlp_sync.hwy");
const recast = join(data, "programs/recast.hwy");

const withPage = (files, test, hash) => onPage(browser, files, test, hash);

/** Shows some milliseconds in the middle of the steps. */
async function zoomIn(page, width) {
	await page.evaluate((ns) => {
		const { state, timeline } = window.headway;
		const middle = (state.from + state.to) / 2;
		Object.assign(state, { from: middle, to: middle + ns });
		timeline.invalidate();
	}, width);
	await settled(page);
}

/** Where the first span of a look stands on the screen that is so many pixels wide. */
async function spanOf(page, type, least = 6) {
	const box = await page.locator("canvas.timeline").boundingBox();
	const { y } = await pointOf(page, type);
	const at = await page.evaluate(async ([wanted, pixels]) => {
		const { timeline, state } = window.headway;
		const scene = timeline.scene();
		const { lane } = timeline.layout.rows.find((r) => r.kind === "lane" && r.lane.type === wanted);
		const { from, to, perPixel } = scene.window(0);
		for (const { tile } of timeline.tiles.cover(0, lane.lane, from, to, scene.level(), lane.detail))
			for (let i = 0; i < (tile.spans?.n ?? 0); i++)
				if (tile.spans.row[i] === 0 && tile.spans.start[i] > from && tile.spans.start[i] + tile.spans.dur[i] < to && tile.spans.dur[i] / perPixel >= pixels)
					return { id: tile.spans.id[i], x: (tile.spans.start[i] + tile.spans.dur[i] / 2 - state.from) / (state.to - state.from) };
		return null;
	}, [type, least]);
	return { id: at.id, x: box.x + at.x * box.width, y };
}

const known = async (page) => {
	await page.waitForSelector(".tip .known");
	return page.locator(".tip").innerText();
};

await run([
	["the step that predictions begin with is told where it is not the one that was seen", () => withPage([join(data, "operators/resnet.hwy")], async (page) => {
		const { step, base } = await page.evaluate(() => {
			const { findings, phases, summary } = window.headway.state.traces[0].diagnosis;
			return { step: phases[summary.phase].step_ns, base: findings[0].predicted.before_ns };
		});
		check(Math.abs(step - base) > step / 50, `the recorder has a cost here: ${step}, ${base}`);
		await page.locator(".about.base", { hasText: `${(base / 1e6).toFixed(2)} ms a step without the cost of recording` }).waitFor();
		await page.locator(".finding .gain", { hasText: `${(base / 1e6).toFixed(2)} ms →` }).first().waitFor();
	})],
	["the table shows the whole line of the program in a window of 1280 pixels", () => withPage([join(data, "gpu/mlp_sync.hwy")], async (page) => {
		await page.setViewportSize({ width: 1280, height: 800 });
		await page.keyboard.press("9");
		const line = page.locator(".grid-line [role=gridcell]", { hasText: /^mlp\.py:\d+$/ }).first();
		await line.waitFor();
		await until(async () => await line.evaluate((cell) => cell.scrollWidth <= cell.clientWidth && cell.getBoundingClientRect().right <= cell.closest(".grid-box").getBoundingClientRect().right), "it is not cut");
		check(await line.getAttribute("title") === await line.textContent(), "and in its tip");
	})],
	["the tip of a kernel has its launch, its occupancy and what was ahead of it, once the pointer stands still", () => withPage([mlp], async (page) => {
		await zoomIn(page, 9e6);
		const asked = [];
		page.on("request", (request) => request.url().includes("/span?") && asked.push(request.url()));
		const at = await spanOf(page, "stream");
		// Where the machine takes long for a move, the pointer stands still there.
		let still = 0;
		for (let x = -40; x <= 0; x++) {
			const begin = performance.now();
			await page.mouse.move(at.x + x, at.y);
			still += performance.now() - begin > 50 ? 1 : 0;
		}
		check(asked.length < 10 + still, `the server is not asked about every place on the way: ${asked.length} times, ${still} moves took long`);
		const text = await known(page);
		for (const part of [/grid \d+/, /block \d+/, /\d+ registers/, /shared memory/, /theoretical occupancy \d+ %, limited by/, /started [\d.]+ .s after its launch; headway then/])
			check(part.test(text), `${part} in ${text}`);
	})],
	["the tip of a launch says what it launched and when that started", () => withPage([mlp], async (page) => {
		await zoomIn(page, 4e5);
		const at = await spanOf(page, "api");
		await page.mouse.move(at.x, at.y);
		await until(async () => /launched .* which started [\d.]+ .s later/.test((await known(page)).replaceAll("\n", " ")), "its work");
	})],
	["sizes and moments of a span have units for people, and all their digits in the tip; numbers of SQL have groups of digits", () => withPage([mlp], async (page) => {
		const id = await page.evaluate(async () => (await (await fetch("hit?t=0&q=copy+bytes%3E1MB&dir=1")).json()).span.id);
		await page.evaluate((n) => { location.hash = `${location.hash}&span=0.${n}`; }, id);
		await page.waitForFunction((n) => window.headway.state.selected?.span.id === n, id);
		await page.keyboard.press("2");
		const row = (name) => page.locator(".fields tr", { has: page.getByRole("rowheader", { name, exact: true }) }).locator("td");
		await until(async () => /^[\d.]+ [kMG]B$/.test(await row("bytes").textContent()), "bytes");
		check(/^[\d\u2009]+ bytes$/.test(await row("bytes").getAttribute("title")), "all of them in the tip");
		check(/^[\d.]+ [MGT]B\/s$/.test(await row("throughput").textContent()), "the rate");
		check(/^\d+\.\d{9} s$/.test(await row("on its clock").textContent()), "the moment on the trace's clock");
		await page.locator("#tab-sql").click();
		await page.locator(".sql-bar textarea").fill("select id, bytes, duration from copy where bytes > 1000000 limit 1");
		await page.locator(".sql-bar textarea").press("Control+Enter");
		const cells = page.locator(".sql-rows tbody td");
		await until(async () => await cells.count() === 3, "an answer");
		check(/^\d+$/.test(await cells.nth(0).textContent()) && /\d\u2009\d{3}/.test(await cells.nth(1).textContent()), "ids stay as they are typed");
		check(/[MG]B$/.test(await cells.nth(1).getAttribute("title")) && /[µm]s$/.test(await cells.nth(2).getAttribute("title")), "tips have units");
	})],
	["steps of one name are told apart by their numbers, and directions of copies can be read in a narrow panel", () => withPage([join(data, "torch/starve_0.hwy")], async (page) => {
		await page.setViewportSize({ width: 1280, height: 800 });
		await page.keyboard.press("Control+k");
		await page.keyboard.type("slowest");
		await page.keyboard.press("Enter");
		await until(async () => /^Slowest step: step \d+ \(Optimizer/.test(await stateOf(page, "message")), () => stateOf(page, "message"));
		const cell = page.locator(".copies td").first();
		await cell.waitFor();
		check(await cell.evaluate((td) => td.scrollWidth <= td.clientWidth && td.textContent.includes("-to-")), "the direction is whole");
	})],
	["an answer that the server has no time for, or that does not come, says what to do", () => withPage([mlp], async (page) => {
		for (const [answer, says] of [[(route) => route.fulfill({ status: 503, body: "" }), /no time for this.*try again/], [(route) => route.fulfill({ status: 500, body: "" }), /table, status 500.*reload the page/],
			[(route) => route.abort(), /still runs.*try again/]]) {
			await page.route("**/table?*", answer);
			await page.keyboard.press("9");
			await page.locator(".table-bar .query").fill(`kernel ${says.source.slice(0, 5).trim()}`);
			await page.locator(".table-bar .query").press("Enter");
			await page.locator("#table-error", { hasText: says }).waitFor();
			await page.unroute("**/table?*");
			await page.locator("#tab-table").click();
		}
	})],
	["the tip of a copy has bytes, rate, direction and kinds of memory", () => withPage([join(data, "nsys/itemloop_item.hwy")], async (page) => {
		const copy = await page.evaluate(async () => (await (await fetch("search?t=0&q=copy+device+to+host&n=1")).json()).lanes[0].first[30]);
		await page.evaluate(({ start, dur }) => {
			Object.assign(window.headway.state, { from: start - dur * 4, to: start + dur * 5 });
			window.headway.timeline.invalidate();
		}, copy);
		await settled(page);
		const at = await pointOf(page, "stream", copy.start + copy.dur / 2);
		await page.mouse.move(at.x, at.y);
		const text = await known(page);
		check(/\d B, [\d.]+ .?B\/s/.test(text) && text.includes("Device-to-Host") && /device to p\w+ memory/.test(text), text);
	})],
	["details say in a sentence when a kernel started after its launch, and what was ahead of it", () => withPage([mlp], async (page) => {
		await zoomIn(page, 9e6);
		const at = await spanOf(page, "stream");
		await page.mouse.click(at.x, at.y);
		await page.waitForSelector(".details .launch-says");
		const { span } = await stateOf(page, "selected");
		const says = await page.locator(".launch-says").textContent();
		check(says.startsWith("Started ") && says.includes(`headway then ${span.headway.count || "none"}`), says);
		const fields = await page.locator(".details .fields").innerText();
		for (const part of ["end", "queue wait", "correlation", "theoretical occupancy", "stream 7 of GPU 0"])
			check(fields.includes(part), `${part} in ${fields}`);
	})],
	["the user's frame stands first and is marked, its place can be copied, and spans around are a tree", () => withPage([recast], async (page) => {
		await zoomIn(page, 2e6);
		const at = await spanOf(page, "api");
		await page.mouse.click(at.x, at.y);
		await page.waitForSelector(".details .yours");
		const { span } = await stateOf(page, "selected");
		await until(async () => (await page.locator(".yours").textContent()).includes(`${span.place.file}:${span.place.line}`), "the place is first");
		await until(async () => await page.locator(".stack .mine").count() === 1, "and marked in the stack");
		await until(async () => await page.locator(".yours .copy").count() === 1, "with a button that copies it");
		const indents = await page.locator(".span-tree li").evaluateAll((items) => items.map((i) => parseFloat(getComputedStyle(i).paddingLeft)));
		check(indents.length === span.around.length && indents.every((v, i) => i === 0 || v > indents[i - 1]), "each span further in than the one around it");
	})],
	["ranges stand under the device from their first to their last work, in a self-contained page too, and lead to the range", () => withPage([mlp], async (page) => {
		const html = folder.path("mlp.html");
		check(spawnSync(process.env.HEADWAY, ["view", mlp, "--html", html], { env: cacheHere() }).status === 0, "the page is written");
		const alone = await openPage(browser.context, pathToFileURL(html).href);
		for (const one of [page, alone]) {
			await zoomIn(one, 3e7);
			const at = await spanOf(one, "projected", 100);
			await one.mouse.click(at.x, at.y);
			await one.waitForSelector(".details .launch-says");
			const { span } = await stateOf(one, "selected");
			check(span.id === at.id && span.kind === "range" && /^step_/.test(span.name), "the range is selected");
			await until(async () => /^Its device work begins [\d.]+ .s after it and lasts/.test(await one.locator(".launch-says").textContent()), "and says where its work is");
		}
		await alone.close();
	})],
	["a colour by name is the name's in every recording, and text on it has contrast in light and dark", () => withPage([mlp], async (page) => {
		await page.keyboard.press("k");
		await until(async () => (await stateOf(page, "byName")) === true, "the switch is on");
		await page.waitForFunction(() => location.hash.includes("colours=name"));
		const worst = () => page.evaluate(() => {
			const { palette } = window.headway.timeline;
			const linear = (x) => (x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4);
			const light = (c) => 0.2126 * linear(c >> 16) + 0.7152 * linear((c >> 8) & 255) + 0.0722 * linear(c & 255);
			const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			let least = 99;
			for (let i = 0; i < 500; i++) {
				const colour = palette.named(`kernel ${i * i}`);
				least = Math.min(least, ratio(light(colour), light(parseInt(palette.inkOf(colour).slice(1), 16))));
			}
			return { least, same: palette.named("gemm") };
		});
		const day = await worst();
		await page.evaluate(() => document.querySelector("button.theme").click());
		await page.waitForFunction(() => window.headway.timeline.palette.dark);
		const night = await worst();
		check(day.least >= 4.5 && night.least >= 4.5, `contrast of at least 4.5: ${day.least}, ${night.least}`);
	})],
	["all spans of a name are lit, also where they are summed up, and the chain of a range is its device work", () => withPage([mlp], async (page) => {
		const lit = () => page.evaluate(() => {
			const canvas = document.querySelector("canvas.timeline");
			const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
			let n = 0;
			for (let i = 0; i < data.length; i += 4)
				n += data[i] === 0xc2 && data[i + 1] === 0x18 && data[i + 2] === 0x8f ? 1 : 0;
			return n;
		});
		await zoomIn(page, 9e6);
		const at = await spanOf(page, "stream");
		await page.mouse.click(at.x, at.y);
		await page.waitForSelector(".details .fields");
		await page.evaluate(() => {
			Object.assign(window.headway.state, { from: 12.3e9, to: 12.7e9 });
			window.headway.timeline.invalidate();
		});
		await settled(page);
		check(await lit() === 0, "nothing is lit before");
		await page.keyboard.press("h");
		await page.waitForFunction(() => window.headway.state.kin);
		await until(async () => await lit() >= 100, "hits are framed among what is summed up");
		const range = await page.evaluate(async () => (await (await fetch("search?t=0&q=name%3D%22step_8%22&n=1")).json()).lanes[0].first[0].id);
		const chain = await page.evaluate(async (id) => (await fetch(`chain?t=0&id=${id}`)).json(), range);
		const kinds = await page.evaluate(async (ids) => Promise.all(ids.map(async (id) => (await (await fetch(`span?t=0&id=${id}`)).json()).kind)), chain.ids);
		check(kinds.filter((k) => k === "kernel").length >= 20 && kinds.includes("api") && kinds[0] === "range", `calls and kernels of the step: ${kinds}`);
	})],
	["a counter tells its value at the pointer, all counters at once, and is part of a selection", () => withPage([join(data, "nsys/streams_metrics.hwy")], async (page) => {
		await page.locator(".title", { hasText: "GPU metrics" }).locator(".fold").click();
		await page.waitForFunction(() => window.headway.timeline.layout.rows.some((r) => r.kind === "counter"));
		await settled(page);
		const at = await pointOf(page, "counter");
		await page.mouse.move(at.x, at.y);
		await page.waitForSelector(".tip b");
		await until(async () => /: [\d.,]+/.test(await page.locator(".tip b").textContent()), "its value");
		await until(async () => await page.locator(".title.counter, .title.wraps").count() > 3, "counters have titles of several lines");
		await page.keyboard.press("r");
		await page.waitForSelector(".interval .metrics .lead");
		const rows = await page.locator(".interval .metrics .lead").allTextContents();
		check(rows.length > 3 && new Set(rows).size === rows.length, `counters that can be told apart: ${rows}`);
	})],
	["a share that the summary knows in steps of 1/255 has no digits that it has not, and agrees with SQL", () => withPage([join(data, "nsys/decode_eager.hwy")], async (page) => {
		await page.keyboard.press("0");
		await settled(page);
		// Of each lane with many spans a pixel: a place of the least share, and one of another.
		const places = await page.evaluate(() => {
			const { timeline, state } = window.headway;
			const scene = timeline.scene();
			const { from, to } = scene.window(0);
			return timeline.layout.rows.filter((r) => (r.kind === "lane" || r.kind === "device") && r.lane && !r.lane.marks && r.lane.type !== "state" && r.levels === 1).flatMap((row) => {
				const of = (wanted) => {
					for (const { tile } of timeline.tiles.cover(0, row.lane.lane, from, to, scene.level(), row.lane.detail))
						for (let i = 0; i < (tile.form === "summary" ? tile.n : 0); i++) {
							const begin = tile.begin + tile.offset[i] * tile.bucket;
							const shares = tile.share.map((s) => s?.[i] ?? 0);
							const long = Array.from(tile.spans.start).some((s, k) => s <= begin + tile.bucket && s + tile.spans.dur[k] >= begin);
							if (!long && wanted(Math.max(...shares)) && begin > state.from && begin + tile.bucket < state.to && (row.kind === "device" || shares.filter(Boolean).length === 1))
								return { lane: row.lane.lane, kind: row.kind, begin, bucket: tile.bucket, share: Math.max(...shares) / 255, y: 26 + row.y + Math.min(row.h, row.level) / 2 + (row.pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll),
									x: (begin + tile.bucket / 2 - state.from) / (state.to - state.from) };
						}
					return null;
				};
				return [of((s) => s === 1), of((s) => s > 1 && s < 26)].filter(Boolean);
			}).filter((p) => p.y < timeline.viewHeight);
		});
		check(places.some((p) => p.share < 0.004 && p.kind === "lane") && places.some((p) => p.share > 0.004), `places of both kinds: ${JSON.stringify(places)}`);
		const box = await page.locator("canvas.timeline").boundingBox();
		const origin = Number(await page.evaluate(() => window.headway.state.traces[0].info.origin));
		for (const place of places) {
			await page.mouse.move(box.x + place.x * box.width, box.y + place.y);
			const wanted = place.share < 0.005 ? "< 1 %" : `${Math.round(place.share * 100)} %`;
			await page.locator(".tip", { hasText: place.kind === "device" ? wanted : `covers ${wanted} of` }).waitFor();
			check(!/\d\.\d %/.test(await page.locator(".tip").textContent()), `no part of a per cent: ${await page.locator(".tip").textContent()}`);
			if (place.kind === "lane" && wanted === "< 1 %") {
				const [from, to] = [place.begin + origin, place.begin + place.bucket + origin];
				const rows = JSON.parse(execFileSync(process.env.HEADWAY, ["sql", join(data, "nsys/decode_eager.hwy"), "--format", "json",
					`select coalesce(sum(min("end", ${to}) - max(start, ${from})), 0) as ns from spans where lane_id = ${place.lane} and start < ${to} and "end" > ${from}`], { env: cacheHere() }));
				check(rows[0].ns > 0 && rows[0].ns < place.bucket / 100, `less than 1 %: ${rows[0].ns} of ${place.bucket}`);
			}
		}
	})],
	["what is not judged is hatched, and says so in its tip and in the legend", () => withPage([mlp], async (page) => {
		await page.keyboard.press("0");
		await settled(page);
		const inks = (time) => page.evaluate((at) => {
			const { timeline, state } = window.headway;
			const canvas = document.querySelector("canvas.timeline");
			const x = Math.round((at - state.from) / (state.to - state.from) * canvas.width);
			return ["gaps", "headway"].map((kind) => {
				const row = timeline.layout.rows.find((r) => r.kind === kind);
				const { data: pixels } = canvas.getContext("2d").getImageData(x - 8, 26 + row.y + 2 + (row.pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll), 16, row.h - 6);
				return new Set(Array.from({ length: pixels.length / 4 }, (_, i) => pixels.slice(4 * i, 4 * i + 3).join())).size;
			});
		}, time);
		check((await inks(3e9)).every((n) => n > 1), `a pattern before the steps: ${await inks(3e9)}`);
		const { from, to } = await page.evaluate(() => { const { steps } = window.headway.state.traces[0]; return steps.phases[steps.main]; });
		for (const kind of ["gaps", "headway"]) {
			const point = await pointOf(page, kind, 3e9);
			await page.mouse.move(point.x, point.y);
			await page.locator(".tip", { hasText: "not judgedoutside of the steady steps" }).waitFor();
		}
		await page.evaluate(([a, b]) => { Object.assign(window.headway.state, { from: a + (b - a) * 0.4, to: a + (b - a) * 0.6 }); window.headway.timeline.invalidate(); }, [from, to]);
		await settled(page);
		const inside = await pointOf(page, "headway", (from + to) / 2);
		await page.mouse.move(inside.x, inside.y);
		await page.locator(".tip", { hasText: "of work ahead" }).waitFor();
		await page.keyboard.press("Shift+K");
		await page.locator(".legend li", { hasText: "not judged: outside of the steady steps" }).waitFor();
	})],
	["the labels of a counter stand at the heights of what they say", () => withPage([join(data, "nsys/streams_metrics.hwy")], async (page) => {
		await page.locator(".title", { hasText: "GPU metrics" }).locator(".fold").click();
		await page.waitForFunction(() => window.headway.timeline.layout.rows.some((r) => r.kind === "counter"));
		await settled(page);
		const told = await page.evaluate(() => window.headway.timeline.counters.filter((c) => c.row.kind === "counter").map(({ row, lane }) => {
			const title = document.querySelector(`.title[data-key="${row.key}"]`);
			const box = title.getBoundingClientRect();
			const percent = lane.unit === "%" && (lane.max ?? 1) <= 100.5;
			return { percent, range: row.range, h: row.h, at: [...title.querySelectorAll(".range span")].map((s) => { const b = s.getBoundingClientRect(); return (b.top + b.bottom) / 2 - box.top; }) };
		}).filter((one) => one.percent));
		check(told.length > 2 && told.some((one) => one.range.most < 60) && told.some((one) => one.range.most > 80), `counters of several heights: ${JSON.stringify(told)}`);
		for (const { range, h, at } of told)
			[range.most, range.least].slice(0, at.length).forEach((value, i) => {
				const wanted = Math.min(h - 7, Math.max(6, h - 2 - value / 100 * (h - 5)));
				check(Math.abs(at[i] - wanted) <= 2, `${value} of 100 stands at ${at[i]} of ${h}, not at ${wanted}`);
			});
	})],
	["the tip of many samples says how many, and the function that most of them are in", () => withPage([mlp], async (page) => {
		await page.keyboard.press("0");
		await settled(page);
		const at = await page.evaluate(() => {
			const { timeline, state } = window.headway;
			const scene = timeline.scene();
			const { lane } = timeline.layout.rows.find((r) => r.kind === "lane" && r.lane.type === "samples");
			for (const { tile } of timeline.tiles.cover(0, lane.lane, state.from, state.to, scene.level(), lane.detail))
				for (let i = 0; i < (tile.form === "summary" ? tile.n : 0); i++) {
					const from = tile.begin + tile.offset[i] * tile.bucket;
					if (tile.count[i] > 2 && from > state.from)
						return { from, to: from + tile.bucket, lane: lane.lane, count: tile.count[i] };
				}
			return null;
		});
		const point = await pointOf(page, "samples", (at.from + at.to) / 2);
		await page.mouse.move(point.x, point.y);
		const most = (await page.evaluate((w) => window.headway.source.get(`selection?t=0&from=${w.from}&to=${w.to}&lanes=${w.lane}`), at)).samples.rows[0];
		await page.locator(".tip", { hasText: `${at.count} samples` }).waitFor();
		await until(async () => (await page.locator(".tip").textContent()).includes(`${most.count} of them in `), async () => `${JSON.stringify(most)}: ${await page.locator(".tip").textContent()}`);
		check(!(await page.locator(".tip").textContent()).includes("Longest"), "no duration: samples have none");
	})],
	["a wait that began before its call returned says so", () => withPage([mlp], async (page) => {
		const { id, by } = await page.evaluate(async () => {
			for (const [id] of (await window.headway.source.get("table?t=0&q=sync&n=200")).list) {
				const span = await window.headway.source.get(`span?t=0&id=${id}`);
				if (span.launch && span.start < span.launch.start + span.launch.dur)
					return { id, by: span.launch.start + span.launch.dur - span.start };
			}
			return null;
		});
		await page.evaluate((n) => { location.hash = `${location.hash}&span=0.${n}`; }, id);
		await page.waitForFunction((n) => window.headway.state.selected?.span.id === n, id);
		await page.keyboard.press("2");
		const text = await page.locator(".fields tr", { hasText: "queue wait" }).locator("td").textContent();
		check(/^none: [\d.]+ .?s before the call returned$/.test(text) && by > 0, text);
	})],
	["hits in a row have times that tell them apart", () => withPage([mlp], async (page) => {
		await page.locator("input[type=search]").fill("kernel");
		await page.locator(".span-link .at").nth(20).waitFor();
		const times = (await page.locator("section:has(.span-link .at)").first().locator(".at").allTextContents()).map((t) => t.split(",")[0]);
		check(times.length > 10 && new Set(times).size === times.length, `all differ: ${times.slice(0, 6)}`);
	})],
	["steps that share a pixel look like most of them, in the strip and as bars; how many are judged is said", () => withPage([mlp], async (page) => {
		await page.locator(".about", { hasText: "18 steps (step_…), 14 of them steady" }).waitFor();
		const pink = await page.evaluate(async () => {
			const { state, timeline } = window.headway;
			const { start, end } = state.traces[0].info;
			const { steps } = state.traces[0];
			const phase = steps.phases[steps.main];
			const wide = (end - start) / 20000;
			// Every tenth is unlike the rest.
			phase.steps = Array.from({ length: 20000 }, (_, i) => [start + i * wide, start + (i + 1) * wide, start + i * wide, start + (i + 1) * wide, wide / 2, i % 10 === 3 ? 2 : 0, `step_${i}`]);
			state.traces[0] = { ...state.traces[0], steps: { ...steps } };
			Object.assign(state, { from: start, to: end, traces: [...state.traces] });
			timeline.invalidate();
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			const row = timeline.layout.rows.find((r) => r.kind === "steps");
			const canvas = document.querySelector("canvas.timeline");
			const { data: pixels } = canvas.getContext("2d").getImageData(0, 26 + row.y + 8, canvas.width, 1);
			let n = 0;
			for (let i = 0; i < pixels.length; i += 4)
				n += pixels[i] > pixels[i + 1] + 20 ? 1 : 0;
			return n / canvas.width;
		});
		check(pink < 0.02, `as good as none of the strip is marked: ${pink}`);
		await page.keyboard.press("1");
		await page.keyboard.press("1");
		await page.locator(".steps-plot g").nth(50).waitFor();
		await until(async () => await page.locator(".steps-plot g.outlier").count() === 0, "no bar of many steps is marked for one of them");
	})],
	["the tip of a sample names its function", () => withPage([mlp], async (page) => {
		await zoomIn(page, 9e6);
		const at = await page.evaluate(() => {
			const { timeline, state } = window.headway;
			const scene = timeline.scene();
			const { lane } = timeline.layout.rows.find((r) => r.kind === "lane" && r.lane.type === "samples");
			const tile = timeline.tiles.cover(0, lane.lane, state.from, state.to, scene.level(), lane.detail)[0].tile;
			return [...tile.spans.start].find((t) => t > state.from && t < state.to);
		});
		const point = await pointOf(page, "samples", at);
		await page.mouse.move(point.x, point.y);
		await page.waitForFunction(() => !["", "sample"].includes(document.querySelector(".tip b")?.textContent ?? ""));
	})],
]);
await browser.close();
folder.remove();
