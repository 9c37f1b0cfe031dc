/* SPDX-License-Identifier: Apache-2.0 */
/* lanes_test.mjs - how lanes are drawn and pointed at: deep ones, crowded ones, folded ones. */
import { writeFileSync } from "node:fs";
import { check, openBrowser, openPage, pointOf, run, settled, skip, stateOf, view } from "./common.mjs";
import { data, makeFolder } from "./recordings.mjs";
import { join } from "node:path";

if (!process.env.HEADWAY)
	skip("no headway binary");
const browser = await openBrowser();
const folder = makeFolder();

async function withPage(files, test, hash = "") {
	const server = await view(files);
	const page = await openPage(browser.context, server.url + hash);
	try {
		await test(page, server);
	} finally {
		await page.close();
		await server.close();
	}
}

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
	["names of what nests in a folded group do not stand over one another", () => withPage([deep], async (page) => {
		const thread = page.locator(".title.group", { hasText: "tid 7" }).or(page.locator(".title.group", { hasText: "thread 7" })).first();
		if ((await thread.locator(".fold").getAttribute("aria-expanded")) === "true")
			await thread.locator(".fold").click();
		const { start } = await page.evaluate(() => window.headway.state.traces[0].info);
		await show(page, start, start + 300_000);
		const texts = await page.evaluate(async () => {
			const { timeline, state } = window.headway;
			await new Promise((done) => setTimeout(done, 300));
			const seen = [];
			const proto = CanvasRenderingContext2D.prototype;
			const { fillText } = proto;
			proto.fillText = function draw(text, x, y) {
				seen.push({ text, x, y, w: this.measureText(text).width });
				return fillText.call(this, text, x, y);
			};
			timeline.invalidate();
			await new Promise((done) => setTimeout(done, 300));
			proto.fillText = fillText;
			return { seen: seen.filter((t) => /^(level|innermost)/.test(t.text)), folded: [...state.folded] };
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
	["everything that is drawn in an overview can be pointed at and clicked", () => withPage([uniform], async (page) => {
		await page.keyboard.press("0");
		await settled(page);
		const box = await page.locator("canvas.timeline").boundingBox();
		for (const type of ["stream", "api"]) {
			const { y } = await pointOf(page, type);
			for (let i = 1; i < 20; i++) {
				await page.mouse.move(box.x + box.width * i / 20, y);
				await page.locator(".tip", { hasText: /begin|Kernel|^k/ }).waitFor({ timeout: 3000 });
			}
			await page.locator(".tip", { hasText: type === "stream" ? "Longest: k" : "Longest: cudaLaunchKernel" }).waitFor({ timeout: 5000 });
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
			await page.locator(".tip", { hasText: says }).waitFor({ timeout: 3000 });
		}
	})],
]);
await browser.close();
folder.remove();
