/* SPDX-License-Identifier: Apache-2.0 */
/* lanes_test.mjs - how lanes are drawn and pointed at: deep ones, crowded ones, folded ones. */
import { writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { cacheHere, check, later, onPage, openBrowser, openPage, pointOf, run, settled, skip, stateOf, until, view } from "./common.mjs";
import { data, makeFolder } from "./recordings.mjs";
import { join } from "node:path";

if (!process.env.HEADWAY)
	skip("no headway binary");
const browser = await openBrowser();
const folder = makeFolder();

const withPage = (files, test, hash) => onPage(browser, files, test, hash);

function recording(name, events) {
	const file = folder.path(name);
	writeFileSync(file, JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: "GPU" }], traceEvents: events }));
	return file;
}
const call = (tid, name, ts, dur, cat = "cpu_op") => ({ ph: "X", cat, name, pid: 7, tid, ts, dur });
const kernel = (i, ts, dur, name = "k", tid = 7) => [
	{ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 7, tid, ts: ts - 3, dur: 1, args: { correlation: i } },
	{ ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts, dur, args: { correlation: i, device: 0, stream: 7 } }];

/** Calls that nest 30 deep; the innermost stand side by side. */
const deep = recording("deep.json", [...kernel(1, 10, 5, "k", 9),
	...Array.from({ length: 29 }, (_, i) => call(7, `level ${i}`, 10 + i, 1000 - 2 * i)),
	...Array.from({ length: 40 }, (_, i) => call(7, `innermost ${i}`, 50 + i * 20, 15)),
	call(8, "another thread", 100, 500)]);

/** The same kernel all the time: 4000 of them, so that the last tile of most levels has few and the others many. */
const uniform = recording("uniform.json", Array.from({ length: 4000 }, (_, i) => kernel(i + 1, 10 + i * 10, 5)).flat());

/** Calls with a shorter one inside, all the time; one of them nests five deep. */
const nested = recording("nested.json", [...kernel(1, 10, 5, "k", 9), ...Array.from({ length: 4000 }, (_, i) => [call(7, "outer", 10 + i * 10, 9), call(7, "inner", 11 + i * 10, 2)]).flat(),
	...[0, 1, 2].map((i) => call(7, "deepest", 20001.2 + i * 0.1, 1.5 - i * 0.2))]);

/** Kernels of two names by turns, all the time. */
const turns = recording("turns.json", Array.from({ length: 4000 }, (_, i) => kernel(i + 1, 10 + i * 10, 5, i % 20 ? "other" : "wanted")).flat());

const rowOf = (page, title) => page.evaluate((wanted) => {
	const { timeline } = window.headway;
	const { y, h, level, levels, depths, pinned } = timeline.layout.rows.find((r) => r.title.includes(wanted) && r.lane);
	return { h, level, levels, depths, top: 26 + y + (pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll) };
}, title);

const show = async (page, from, to) => {
	await page.evaluate(([a, b]) => {
		Object.assign(window.headway.state, { from: a, to: b });
		window.headway.timeline.invalidate();
	}, [from, to]);
	await settled(page);
};

/** The mean colour of each stretch of `wide` pixels of a row. */
const colours = (page, y, wide) => page.evaluate(([at, w]) => {
	const canvas = document.querySelector("canvas.timeline");
	const { data: pixels } = canvas.getContext("2d").getImageData(0, at, canvas.width, 1);
	const list = [];
	for (let x = 0; x + w <= canvas.width; x += w) {
		let sum = 0;
		for (let i = x; i < x + w; i++)
			sum += pixels[4 * i];
		list.push(sum / w);
	}
	return list;
}, [Math.round(y), wide]);

await run([
	["a lane that nests deeper than it shows can be opened, and everything on it can be clicked", () => withPage([deep], async (page) => {
		const ops = () => rowOf(page, "perators");
		const before = await ops();
		check(before.depths === 30 && before.levels === 16, `30 deep, 16 shown: ${JSON.stringify(before)}`);
		const start = await page.evaluate(() => window.headway.state.traces[0].info.start);
		const box = await page.locator("canvas.timeline").boundingBox();
		const at = async (time, y) => {
			const { from, to } = await stateOf(page, "window");
			return { x: box.x + (start + time * 1000 - 7000 - from) / (to - from) * box.width, y: box.y + y };
		};
		await show(page, start, start + 500_000);
		const clicks = async (row) => {
			const point = await at(50 + 5 * 20 + 7, row.top + 2 + row.level * (row.levels - 0.5));
			await page.mouse.click(point.x, point.y);
			await page.waitForFunction(() => window.headway.state.selected?.span.name === "innermost 5");
		};
		await clicks(before);
		await page.keyboard.press("Escape");
		await page.locator(".title .deep").click();
		await settled(page);
		const after = await ops();
		check(after.levels === 30 && after.h >= 30 * after.level, "all levels are drawn");
		await page.evaluate(() => window.headway.timeline.setScroll(1e6));
		await settled(page);
		await clicks(await ops());
	})],
	["a span that is found deep in a lane is framed inside its lane", () => withPage([deep], async (page) => {
		await page.locator("input[type=search]").fill("innermost 30");
		await page.waitForSelector(".search .span-link");
		await until(async () => /^[0-9.]+ .?s/.test(await page.locator(".search .span-link .at").first().textContent()), "a hit says when it was");
		await page.locator(".search .span-link").first().click();
		await page.waitForFunction(() => window.headway.state.selected?.span.name === "innermost 30");
		await settled(page);
		const row = await rowOf(page, "perators");
		check(row.levels === 30, "its lane was opened for it");
		const inside = await page.evaluate(() => {
			const { timeline } = window.headway;
			const at = timeline.layout.rows.find((r) => r.lane?.lane === window.headway.state.selected.span.lane);
			const y = at.y + window.headway.state.selected.span.row * at.level - timeline.scroll;
			return y >= 0 && y + at.level <= timeline.viewHeight;
		});
		check(inside, "and its level is on the screen");
	})],
	["names on lanes that have scrolled away do not stand over the rows that stay", () => withPage([deep], async (page) => {
		await page.locator(".title", { hasText: "deep" }).getByRole("button", { name: /deep/ }).click();
		await page.setViewportSize({ width: 1600, height: 420 });
		await settled(page);
		const pinned = async (scroll) => {
			await page.evaluate((y) => window.headway.timeline.setScroll(y), scroll);
			await settled(page);
			return page.evaluate(() => {
				const { timeline } = window.headway;
				const canvas = document.querySelector("canvas.timeline");
				const dpr = canvas.width / canvas.clientWidth;
				return [...canvas.getContext("2d").getImageData(0, 26 * dpr, canvas.width, (timeline.layout.pinnedHeight - 1) * dpr).data].join();
			});
		};
		const before = await pinned(0);
		await until(async () => await page.evaluate(() => window.headway.timeline.layout.pinnedHeight) > 10, "there is a row that stays");
		for (const scroll of [180, 204, 228, 252])
			check(await pinned(scroll) === before, `what stays looks as before, lanes scrolled by ${scroll}`);
	})],
	["names of what nests in a folded group do not stand over one another", () => withPage([deep], async (page) => {
		const thread = page.locator(".title.group", { hasText: "tid 7" }).or(page.locator(".title.group", { hasText: "thread 7" })).first();
		if ((await thread.locator(".fold").getAttribute("aria-expanded")) === "true")
			await thread.locator(".fold").click();
		const { start } = await page.evaluate(() => window.headway.state.traces[0].info);
		await show(page, start, start + 300_000);
		const texts = await page.evaluate(async () => {
			const { timeline, state } = window.headway;
			const seen = [];
			const proto = CanvasRenderingContext2D.prototype;
			const { fillText } = proto;
			proto.fillText = function draw(text, x, y) {
				seen.push({ text, x, y, w: this.measureText(text).width });
				return fillText.call(this, text, x, y);
			};
			// Until the names have come: a picture that is drawn with them.
			for (const end = performance.now() + 20_000; performance.now() < end && !seen.some((t) => /^(lev|inn)/.test(t.text));) {
				seen.length = 0;
				timeline.invalidate();
				await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			}
			proto.fillText = fillText;
			return { seen: seen.filter((t) => /^(lev|inn)/.test(t.text)), folded: [...state.folded] };
		});
		const { seen } = texts;
		check(seen.length > 0, `something is written: ${texts.folded}`);
		for (const a of seen)
			for (const b of seen)
				check(a === b || a.y !== b.y || a.x + a.w <= b.x + 1 || b.x + b.w <= a.x + 1 || (a.text === b.text && a.x === b.x), `"${a.text}" and "${b.text}" stand apart`);
	})],
	["a steady load looks the same where tiles hold spans and where they hold summaries", () => withPage([uniform], async (page) => {
		const { start } = await page.evaluate(() => window.headway.state.traces[0].info);
		let both = 0;
		for (const wide of [7e6, 10e6, 14e6, 20e6]) {
			await show(page, start + 39.9e6 - wide, start + 39.9e6);
			const forms = await page.evaluate(() => {
				const { timeline } = window.headway;
				const row = timeline.layout.rows.find((r) => r.lane?.type === "stream" && r.kind === "lane");
				const scene = timeline.scene();
				const { from, to: until } = scene.window(0);
				return timeline.tiles.cover(0, row.lane.lane, from, until, scene.level(), row.lane.detail).map((c) => c.tile.form);
			});
			both += forms.includes("spans") && forms.includes("summary") ? 1 : 0;
			const row = await rowOf(page, "stream");
			const list = (await colours(page, row.top + 8, 50)).filter((c) => c < 250);
			check(list.length > 10 && Math.max(...list) - Math.min(...list) < 12, `one colour all along: ${list.map(Math.round)}`);
		}
		check(both > 0, "tiles of both forms were drawn");
	})],
	["each level of a lane that nests is as strong as its spans cover it, in tiles of both forms", () => withPage([nested], async (page) => {
		const { start } = await page.evaluate(() => window.headway.state.traces[0].info);
		let both = 0;
		for (const wide of [3e6, 5e6, 7e6, 10e6, 14e6, 19e6]) {
			await show(page, start + 39.9e6 - wide, start + 39.9e6);
			const row = await rowOf(page, "perators");
			const shares = [];
			for (let level = 0; level < 3; level++)
				shares.push(await colours(page, row.top + (level + 0.5) * row.level, 50));
			// The first and the last stretch may hold an end of the recording.
			const [outer, inner, none] = shares.map((list) => list.slice(1, -1));
			const spread = (list) => Math.max(...list) - Math.min(...list);
			check(spread(outer) < 12 && spread(inner) < 12, `one colour all along a level, ${wide / 1e6} ms: ${outer.map(Math.round)}; ${inner.map(Math.round)}`);
			check(outer[0] + 25 < inner[0] && inner[0] + 15 < none[0] && Math.min(...none) > 250, `paler where less is covered, nothing where nothing is: ${outer[0]}, ${inner[0]}, ${none}`);
			both += await page.evaluate(() => {
				const { timeline } = window.headway;
				const { lane } = timeline.layout.rows.find((r) => r.title.includes("perators") && r.lane);
				const scene = timeline.scene();
				const { from, to } = scene.window(0);
				return new Set(timeline.tiles.cover(0, lane.lane, from, to, scene.level(), lane.detail).map((c) => c.tile.form)).size > 1;
			}) ? 1 : 0;
		}
		check(both > 0, "tiles of both forms were drawn");
	})],
	["a pixel with many states of a thread shows how much of it the thread ran, and its tip says so", () => withPage([join(data, "nsys/mlp_sync.hwy")], async (page) => {
		await page.keyboard.press("0");
		await settled(page);
		const { top, level } = await rowOf(page, "state");
		const column = await page.evaluate(([y, high]) => {
			const canvas = document.querySelector("canvas.timeline");
			const { data: pixels } = canvas.getContext("2d").getImageData(0, y, canvas.width, high);
			const at = (x, i) => [...pixels.slice(4 * (i * canvas.width + x), 4 * (i * canvas.width + x) + 3)];
			const isRunning = ([r, g, b]) => g > r + 40 && g > b + 40;
			for (let x = 0; x < canvas.width; x++) {
				const rows = Array.from({ length: high }, (_, i) => isRunning(at(x, i)));
				const ran = rows.filter(Boolean).length / high;
				// All of it below, and the other state above it.
				if (ran > 0.3 && ran < 0.7 && rows.lastIndexOf(false) < rows.indexOf(true))
					return { x, ran };
			}
			return null;
		}, [Math.round(top + 2), Math.round(level - 1)]);
		check(column, "some pixel has both states, one over the other");
		const box = await page.locator("canvas.timeline").boundingBox();
		await page.mouse.move(box.x + column.x + 0.5, box.y + top + 2 + level / 2);
		const tip = page.locator(".tip", { hasText: /running \d+ %, not running \d+ % of/ });
		await tip.waitFor();
		const told = Number(/running (\d+) %/.exec(await tip.textContent())[1]) / 100;
		check(Math.abs(told - column.ran) < 0.15, `drawn ${column.ran}, told ${told}`);
	})],
	["everything that is drawn in an overview can be pointed at and clicked", () => withPage([uniform], async (page) => {
		await page.keyboard.press("0");
		await settled(page);
		const box = await page.locator("canvas.timeline").boundingBox();
		for (const type of ["stream", "api"]) {
			const { y } = await pointOf(page, type);
			for (let i = 1; i < 20; i++) {
				await page.mouse.move(box.x + box.width * i / 20, y);
				await page.locator(".tip", { hasText: /begin|Kernel|^k/ }).waitFor();
			}
			await page.locator(".tip", { hasText: type === "stream" ? "Longest: k" : "Longest: cudaLaunchKernel" }).waitFor();
			await page.mouse.click(box.x + box.width * 0.4, y);
			await page.waitForFunction((look) => window.headway.state.selected?.span.look === look, type === "stream" ? 0 : 6);
		}
	})],
	["a click on nothing leaves the interval and the evidence where they are", () => withPage([uniform], async (page) => {
		const box = await page.locator("canvas.timeline").boundingBox();
		await page.mouse.move(box.x + 200, box.y + 8);
		await page.mouse.down();
		await page.mouse.move(box.x + 500, box.y + 8, { steps: 4 });
		await page.mouse.up();
		await page.waitForSelector(".interval .rows");
		const { y } = await pointOf(page, "stream");
		await page.mouse.click(box.x + 3, y);
		await settled(page);
		check(await stateOf(page, "range") !== null && await page.locator(".interval .rows").count() > 0, "the interval is still there");
	})],
	["steps, the GPU's utilisation and its headway tell their numbers", () => withPage([join(data, "nsys/mlp_sync.hwy")], async (page) => {
		for (const [kind, says] of [["steps", /step.*busy/s], ["device", /compute|idle/], ["headway", /operations/]]) {
			const at = await pointOf(page, kind);
			await page.mouse.move(at.x, at.y);
			await page.locator(".tip", { hasText: says }).waitFor();
		}
	})],
	["a search marks its hits where spans are summed up, too, served and in the self-contained page", async () => {
		const marked = async (page) => {
			await page.keyboard.press("0");
			await page.locator("input[type=search]").fill("wanted");
			await page.waitForFunction(() => window.headway.state.found.length > 0);
			await settled(page);
			await page.waitForFunction(() => window.headway.timeline.marks?.held[0]?.query === "wanted");
			await settled(page);
			const { top, level } = await rowOf(page, "stream 7");
			// The frame's colour, parts of the row in which it is.
			return page.evaluate(([y, h]) => {
				const canvas = document.querySelector("canvas.timeline");
				const { data: pixels } = canvas.getContext("2d").getImageData(0, y, canvas.width, h);
				const parts = new Array(20).fill(0);
				for (let i = 0; i < pixels.length; i += 4)
					if (Math.abs(pixels[i] - 0xc9) < 40 && Math.abs(pixels[i + 1] - 0x7b) < 40 && pixels[i + 2] < 60)
						parts[Math.floor((i / 4) % canvas.width / canvas.width * 20)]++;
				return parts;
			}, [Math.round(top), Math.round(level)]);
		};
		await withPage([turns], async (page) => {
			const parts = await marked(page);
			check(parts.slice(1, 19).every((n) => n > 3), `all along the lane: ${parts}`);
		});
		const html = folder.path("turns.html");
		execFileSync(process.env.HEADWAY, ["view", turns, "--html", html], { stdio: "ignore", env: cacheHere() });
		const alone = await openPage(browser.context, pathToFileURL(html).href);
		const parts = await marked(alone);
		check(parts.slice(1, 19).every((n) => n > 3), `in the page alone: ${parts}`);
		await alone.close();
	}],
	["hits in every pixel of a lane are a band along it in a colour of their own, hits in a folded group are ticks on it, and what the server had no time for is asked for again", () => withPage([uniform], async (page) => {
		await page.keyboard.press("0");
		await settled(page);
		const { top, level } = await rowOf(page, "stream 7");
		const before = await colours(page, top + level / 2, 50);
		const hit = await page.evaluate(() => window.headway.timeline.palette.hit);
		let refused = 0;
		await page.route("**/marks?*", (route) => (refused++ ? route.continue() : route.fulfill({ status: 503, body: "" })));
		await page.locator("input[type=search]").fill("name~^(k|cudaLaunch)");
		await until(async () => {
			const band = await colours(page, top + 5, 50);
			return band.slice(2, -2).every((c) => Math.abs(c - (hit >> 16)) < 3);
		}, "a band all along the lane");
		const after = await colours(page, top + level / 2, 50);
		check(after.slice(2, -2).every((c, i) => Math.abs(c - before[i + 2]) < 3), `the spans keep their colours: ${after} ${before}`);
		check(refused > 1, "although the first answer was none");
		await page.locator(".title.group", { hasText: "pid 7" }).locator(".fold").click();
		await settled(page);
		const ticks = await page.evaluate(() => {
			const { timeline } = window.headway;
			const row = timeline.layout.rows.find((r) => r.folded && /pid 7/.test(r.title));
			const canvas = document.querySelector("canvas.timeline");
			const y = 26 + row.y + row.h - 3 + (row.pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll);
			const { data: pixels } = canvas.getContext("2d").getImageData(0, Math.round(y), canvas.width, 1);
			let n = 0;
			for (let i = 0; i < pixels.length; i += 4)
				n += Math.abs(pixels[i] - 0xc9) < 20 && Math.abs(pixels[i + 1] - 0x7b) < 20 && pixels[i + 2] < 40 ? 1 : 0;
			return n;
		});
		check(ticks > 500, `ticks on the folded process: ${ticks}`);
	})],
	["Enter goes from hit to hit and says which one it is, and all hits of a lane can be listed", () => withPage([turns], async (page) => {
		await page.keyboard.press("0");
		await page.locator("input[type=search]").fill("want ed");
		await page.waitForFunction(() => window.headway.state.found[0]?.hits === 200);
		for (const number of [1, 2, 3]) {
			await page.locator("input[type=search]").press("Enter");
			await page.locator(".hits output", { hasText: `${number} of 200` }).waitFor();
		}
		const third = (await stateOf(page, "selected")).span;
		check(third.name === "wanted" && await stateOf(page, "panel") === "search", "it is selected, and the panel stays");
		await page.locator("input[type=search]").press("Shift+Enter");
		await page.locator(".hits output", { hasText: "2 of 200" }).waitFor();
		await until(async () => (await stateOf(page, "selected")).span.start < third.start, "and back");
		for (let listed = 50; listed < 200; listed += 50) {
			await until(async () => await page.locator(".search .span-link").count() === listed, `${listed} are listed`);
			await page.locator(".search .more").click();
			await page.waitForFunction((n) => document.querySelectorAll(".search .span-link").length > n, listed);
		}
		await until(async () => await page.locator(".search .span-link").count() === 200, "all of them");
	})],
	["an interval that begins before the first event has its table", () => withPage([deep], async (page) => {
		await page.keyboard.press("0");
		for (let i = 0; i < 3; i++)
			await page.keyboard.press("a");
		await settled(page);
		const box = await page.locator("canvas.timeline").boundingBox();
		await until(async () => (await stateOf(page, "window")).from < 0, "the window begins before the origin");
		await settled(page);
		await later(page, 500);
		let asked = 0;
		page.on("request", (request) => { asked += /\/(gaps|headway|path)\?/.test(request.url()) ? 1 : 0; });
		await later(page, 1000);
		check(asked === 0, `what is there is not asked for again: ${asked} requests`);
		await page.mouse.move(box.x + 5, box.y + 8);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width - 50, box.y + 8, { steps: 4 });
		await page.mouse.up();
		await page.locator(".interval .rows").first().waitFor();
	})],
	["f and zoom go to the selected span, also where an interval is chosen; l keeps both ends on the screen", () => withPage([join(data, "nsys/mlp_sync.hwy")], async (page) => {
		const box = await page.locator("canvas.timeline").boundingBox();
		await page.mouse.move(box.x + 500, box.y + 8);
		await page.mouse.down();
		await page.mouse.move(box.x + 900, box.y + 8, { steps: 4 });
		await page.mouse.up();
		await page.waitForSelector(".interval .rows");
		const id = await page.evaluate(async () => {
			const { state } = window.headway;
			const lane = state.traces[0].lanes.lanes.filter((l) => l.type === "stream").sort((a, b) => b.spans - a.spans)[0];
			const middle = Math.round((state.from + state.to) / 2);
			return (await (await fetch(`at?t=0&lane=${lane.lane}&from=${middle - 2_000_000}&to=${middle + 2_000_000}`)).json()).longest;
		});
		await page.locator("input[type=search]").fill(id.name.slice(0, 60));
		await page.waitForSelector(".search .span-link");
		await page.locator(".search .span-link").first().click();
		await page.waitForFunction(() => window.headway.state.selected);
		await settled(page);
		const on = async () => {
			const { span } = await stateOf(page, "selected");
			const { from, to } = await stateOf(page, "window");
			return { span, from, to, has: (s) => s.start >= from && s.start + s.dur <= to };
		};
		await page.locator("canvas.timeline").hover();
		await page.keyboard.press("f");
		await settled(page);
		const near = await on();
		check(near.has(near.span) && near.to - near.from < 3 * near.span.dur + 1000, "f shows the span, and not the interval");
		await page.keyboard.press("2");
		await page.keyboard.press("s");
		await page.locator(".details .buttons button", { hasText: "zoom" }).click();
		await settled(page);
		await until(async () => (await on()).to - (await on()).from < 3 * near.span.dur + 1000, "so does the button");
		// Until its launch is on the screen, too.
		for (let i = 0; i < 40 && !(await on()).has(near.span.launch); i++)
			await page.keyboard.press("s");
		const before = await on();
		await page.keyboard.press("l");
		await page.waitForFunction((was) => window.headway.state.selected.span.id === was, near.span.launch.id);
		await settled(page);
		const after = await on();
		check(after.from === before.from && after.to === before.to, "the window stays");
	})],
	["evidence says which piece of how many it is, leads to the next, and keeps the colour of its kind", () => withPage([join(data, "nsys/mlp_sync.hwy")], async (page) => {
		await page.locator("[data-finding=sync-in-loop]").click();
		await page.locator(".evidence", { hasText: /1 of 6.*picked from 14\b/s }).waitFor();
		const first = await stateOf(page, "window");
		await page.getByLabel("next piece of evidence").click();
		await page.locator(".evidence", { hasText: "2 of 6" }).waitFor();
		await until(async () => (await stateOf(page, "window")).from !== first.from, "it goes there");
		const isSelected = () => page.evaluate(() => window.headway.state.selected?.span.id === window.headway.state.lit.spans[window.headway.state.lit.at].id);
		check(await isSelected(), "the piece that is shown is the selected span");
		await page.keyboard.press("e");
		const { span } = await stateOf(page, "selected");
		await page.waitForFunction(([from, dur]) => window.headway.state.range?.from === from && window.headway.state.range.to === from + dur, [span.start, span.dur]);
		await page.keyboard.press("1");
		await page.keyboard.press("N");
		await page.locator(".evidence", { hasText: "1 of 6" }).waitFor();
		check(await isSelected(), "and so is the one before");
		// Waits that are no evidence, but of the same name on the same lane, are as red as those that are.
		for (let i = 0; i < 4; i++)
			await page.keyboard.press("s");
		await settled(page);
		const { top, h } = await rowOf(page, "API calls");
		const red = () => page.evaluate(([y, high]) => {
			const canvas = document.querySelector("canvas.timeline");
			const { data: pixels } = canvas.getContext("2d").getImageData(0, y, canvas.width, high);
			let n = 0;
			for (let i = 0; i < pixels.length; i += 4)
				n += pixels[i] > 190 && pixels[i + 1] < 110 && pixels[i + 2] < 110 ? 1 : 0;
			return n;
		}, [top, h]);
		const lit = await red();
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => window.headway.state.lit === null);
		await settled(page);
		const plain = await red();
		check(lit > plain * 0.75, `${lit} of ${plain} red pixels are as red as before`);
	})],
]);
await browser.close();
folder.remove();
