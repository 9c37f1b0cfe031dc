/* SPDX-License-Identifier: Apache-2.0 */
/* windows_test.mjs - windows of every size: each control can be reached, lanes scroll by a bar, names stay apart, the colours are kept. */
import { builtPage, check, drawn, openBrowser, openPage, run, settled, stateOf, until, when } from "./common.mjs";
import { serve } from "./fixture_server.mjs";
import { makeTrace } from "./fixture_trace.mjs";

const html = builtPage();
const browser = await openBrowser();
const server = await serve([makeTrace(1, false, 30)], html);

async function withPage(test, size = { width: 1280, height: 800 }) {
	const page = await openPage(browser.context, server.url);
	await page.setViewportSize(size);
	await page.waitForFunction(([w, h]) => innerWidth === w && innerHeight === h, [size.width, size.height]);
	await settled(page);
	await drawn(page);
	try {
		await test(page);
	} finally {
		await page.evaluate(() => localStorage.clear());
		await page.close();
	}
}

const inside = async (page, what, width, height) => {
	await when(() => page.locator(what).last().boundingBox(), (box) => box && box.x >= 0 && box.x + box.width <= width + 1 && box.y >= 0 && box.y + box.height <= height + 1,
		(box) => `${what} is inside a window of ${width} x ${height}: ${JSON.stringify(box)}`);
};
const CONTROLS = ["input[type=search]", "input.filter", ".panels button:last-child", "button.theme", "header button[aria-label=keys]", "header button[aria-label=commands]", "header button[aria-label='zoom in']",
	".tabs button", "canvas.timeline"];

/** Names are drawn by the canvas: from here on it tells what it wrote where, in pixels of the screen. */
const writes = (page) => page.addInitScript(() => {
	const write = CanvasRenderingContext2D.prototype.fillText;
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
		if (this.canvas.matches("canvas.timeline") && this.textAlign === "left")
			(window.written ??= []).push({ text, y, left: x, right: x + this.measureText(text).width });
		write.call(this, text, x, y, ...more);
	};
});

/** What the page writes when it is drawn once more. */
const written = (page) => page.evaluate(async () => {
	window.written = [];
	window.headway.timeline.draw();
	return { texts: window.written, width: document.querySelector("canvas.timeline").width };
});

await run([
	// 640 x 400 is a window of 1280 x 800 at 200 %.
	...[[1920, 1080], [1280, 800], [800, 600], [640, 400], [480, 640]].map(([width, height]) => [`every control can be reached in a window of ${width} x ${height}`, () => withPage(async (page) => {
		const rest = page.locator("header button.rest");
		if (await rest.isVisible())
			await rest.click();
		for (const what of CONTROLS)
			await inside(page, what, width, height);
		const close = page.locator(".close-side");
		if (await close.isVisible())
			await close.click();
		await when(() => page.locator(".stage").boundingBox(), (stage) => stage.width > width * 0.4 && stage.height > 120, (stage) => `the timeline has room: ${JSON.stringify(stage)}`);
		await until(async () => await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing stands out to the right");
	}, { width, height })]),
	...[1280, 1000, 800].map((width) => [`a search moves no button of the panels in a window ${width} wide`, () => withPage(async (page) => {
		const place = async () => JSON.stringify(await page.locator(".panels button").first().boundingBox());
		const before = JSON.parse(await place());
		await page.locator("input[type=search]").fill("e");
		await page.waitForSelector(".hits");
		const after = JSON.parse(await place());
		check(before.y === after.y, `it stands where it stood: ${before.y}, ${after.y}`);
		await until(async () => await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing stands out to the right");
	}, { width, height: 800 })]),
	...[[800, 600], [640, 400], [480, 640], [360, 640]].map(([width, height]) => [`no panel covers the timeline, or what a finding shows there, in a window of ${width} x ${height}`, () => withPage(async (page) => {
		await page.locator(".finding .show").first().click();
		await page.waitForFunction(() => window.headway.state.lit?.spans.length && window.headway.state.selected);
		await page.keyboard.press("9");
		await page.locator(".dock").waitFor();
		const boxes = async () => Promise.all(["aside", ".upper", ".dock"].map((what) => page.locator(what).boundingBox()));
		const apart = (a, b) => a.x >= b.x + b.width - 1 || b.x >= a.x + a.width - 1 || a.y >= b.y + b.height - 1 || b.y >= a.y + a.height - 1;
		await when(boxes, ([side, upper, dock]) => apart(side, upper) && apart(side, dock) && apart(upper, dock) && side.height > 100 && side.y + side.height <= height + 1 && upper.height > 40, (seen) => JSON.stringify(seen));
		await until(async () => await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing stands out to the right");
		await page.keyboard.press("9");
		const canvas = await page.locator("canvas.timeline").boundingBox();
		const at = await page.evaluate(() => {
			const { from, to, selected: { span } } = window.headway.state;
			return [span.start, span.start + span.dur].map((time) => (time - from) / (to - from));
		});
		check(at[0] >= 0 && at[1] <= 1 && canvas.width > 200, `the evidence is on the part that one sees: ${at} of ${canvas.width}`);
	}, { width, height })]),
	["a lane's name has the room of its buttons until the pointer or the keyboard is there", () => withPage(async (page) => {
		const row = page.locator("[data-key='0/gpu0']");
		const name = row.locator(".text");
		const rest = async () => {
			const [all, text] = [await row.boundingBox(), await name.boundingBox()];
			return all.x + all.width - text.x - text.width;
		};
		await page.mouse.move(600, 400);
		await when(rest, (room) => room < 10, (room) => `the name ends at the edge: ${room} pixels before it`);
		await row.hover();
		await when(rest, (room) => room > 30, (room) => `there are its buttons: ${room} pixels`);
		await row.locator(".pin").click();
		await page.mouse.move(600, 400);
		await until(async () => await row.locator(".pin").isVisible(), "what is pinned says so");
	})],
	["details call a span as its tip does, and of a path in a list the file is seen", () => withPage(async (page) => {
		await page.route(/\/span\?/, async (route) => {
			const answer = await route.fetch();
			const span = await answer.json();
			const { id, lane, name, start, dur, look } = span;
			await route.fulfill({ response: answer, json: { ...span, around: [{ id, lane, name: "torch/nn/modules/linear.py(124): forward", start, dur, look }] } });
		});
		await page.locator(".finding .show").first().click();
		await page.waitForFunction(() => window.headway.state.selected);
		await page.keyboard.press("2");
		await page.locator(".details .kind", { hasText: /^wait$/ }).waitFor();
		await page.locator(".details .span-link[title^='torch/nn']", { hasText: /^linear\.py\(124\): forward/ }).waitFor();
	})],
	["a filter that no lane is called like says so", () => withPage(async (page) => {
		await page.locator("input.filter").fill("loader");
		await settled(page);
		check(await page.locator(".lanes .empty").count() === 0, "there is such a lane");
		await page.locator("input.filter").fill("nosuchlane");
		await page.locator(".lanes .empty", { hasText: "No lane is called like this." }).waitFor();
	})],
	["no label is written over the span behind it, no time over the edge of the ruler", () => withPage(async (page) => {
		await writes(page);
		await page.reload();
		await settled(page);
		// From labels with a letter or two to whole ones.
		let cut = 0;
		for (const width of [8e6, 5e6, 3e6, 2e6]) {
			await page.evaluate((ns) => Object.assign(window.headway.state, { from: 84e6, to: 84e6 + ns }), width);
			await page.evaluate(() => window.headway.timeline.invalidate());
			await settled(page);
			const { texts, width: edge } = await written(page);
			cut += texts.filter((t) => t.text.endsWith("…")).length;
			for (const t of texts) {
				const next = texts.filter((one) => one.y === t.y && one.left > t.left).sort((a, b) => a.left - b.left)[0];
				check(t.right < (next?.left ?? edge + 1), `"${t.text}" ends before "${next?.text ?? "the edge"}" begins: ${t.right}`);
			}
		}
		check(cut > 20, `names are cut: ${cut}`);
	})],
	["the lanes have a scrollbar, where they do not fit", () => withPage(async (page) => {
		const bar = page.locator("[role=scrollbar]");
		const thumb = await bar.locator(".thumb").boundingBox();
		await page.mouse.move(thumb.x + 3, thumb.y + 5);
		await page.mouse.down();
		await page.mouse.move(thumb.x + 3, thumb.y + 105, { steps: 4 });
		await page.mouse.up();
		const scrolled = await when(() => page.evaluate(() => window.headway.timeline.scroll), (y) => y > 50, (y) => `dragged: ${y}`);
		await page.waitForFunction((y) => Number(document.querySelector("[role=scrollbar]").getAttribute("aria-valuenow")) === Math.round(y), scrolled);
		await page.locator("input.filter").fill("power");
		await page.waitForFunction(() => !document.querySelector("[role=scrollbar]"));
		await until(async () => await page.evaluate(() => window.headway.timeline.scroll) === 0, "what fits does not stay scrolled");
	})],
	["names that begin alike keep what tells them apart, and the whole is in the tip", () => withPage(async (page) => {
		await page.evaluate(() => {
			const { state } = window.headway;
			state.traces[0].lanes.lanes.filter((l) => l.type === "stream").forEach((l, i) => { l.title = `stream of the prefetcher of the loader number ${i}`; });
			window.headway.timeline.setScroll(1);
		});
		await page.locator(".title .cut").first().waitFor();
		const names = () => page.locator(".title.lane", { hasText: "prefetcher" }).evaluateAll((rows) => rows.map((row) => {
			const tail = row.querySelector(".tail");
			const box = tail?.getBoundingClientRect();
			return { text: row.querySelector(".text").textContent, tip: row.title, right: box?.right, edge: row.getBoundingClientRect().right };
		}));
		await when(names, (seen) => seen.length > 10 && seen.every((s) => s.right !== undefined && s.right <= s.edge && s.tip === s.text), (seen) => JSON.stringify(seen.slice(0, 3)));
	})],
	["the colours are kept over a reload, without the address", () => withPage(async (page) => {
		await page.locator("button.theme").click();
		await page.goto("about:blank");
		await page.goto(server.url);
		await settled(page);
		await until(async () => await stateOf(page, "theme") === "dark", "dark");
	})],
]);
await browser.close();
server.close();
