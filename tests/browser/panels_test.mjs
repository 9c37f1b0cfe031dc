/* SPDX-License-Identifier: Apache-2.0 */
/* panels_test.mjs - panels, keys and the link, on the invented trace: what is on the screen is in the address, Escape takes back one thing. */
import { builtPage, check, drawn, later, openBrowser, openPage, pointOf, run, settled, stateOf, until, when } from "./common.mjs";
import { serve } from "./fixture_server.mjs";
import { makeTrace, STEP } from "./fixture_trace.mjs";

const html = builtPage();
const browser = await openBrowser();
const server = await serve([makeTrace()], html);

async function withPage(test, hash = "") {
	const page = await openPage(browser.context, server.url + hash);
	try {
		await test(page);
	} finally {
		await page.close();
	}
}

async function chooseInterval(page) {
	const box = await page.locator("canvas.timeline").boundingBox();
	await page.mouse.move(box.x + 300, box.y + 8);
	await page.mouse.down();
	await page.mouse.move(box.x + 600, box.y + 8, { steps: 4 });
	await page.mouse.up();
	await page.waitForSelector(".interval .rows");
}

const near = `#from=${8 * STEP}&to=${8 * STEP + 400_000}&panel=findings`;

await run([
	["an edit that cannot be made is named, and no older prediction stands beside it", () => withPage(async (page) => {
		await page.keyboard.press("5");
		await page.waitForSelector(".drawer canvas");
		await page.locator("[data-edit=pin] input[type=checkbox]").click();
		await page.locator(".whatif .error", { hasText: /^pin: / }).waitFor();
		await until(async () => await page.locator(".drawer").count() === 0, "the drawer is gone");
	})],
	["the panel and the card of a finding count from the same step", () => withPage(async (page) => {
		await page.keyboard.press("5");
		await page.waitForSelector(".prediction .big");
		const { base, recorded } = await stateOf(page, "whatIf");
		check(base !== recorded, "the recording has a cost");
		await until(async () => (await page.locator(".prediction .big").textContent()).startsWith("9.90 ms"), "without the cost of recording");
		await until(async () => (await page.locator(".prediction").textContent()).includes("Recorded: 10.0 ms"), "and says what was recorded");
		await until(async () => await page.locator(".stays").evaluate((e) => getComputedStyle(e).position) === "sticky", "it stays in sight");
	})],
	["the address holds the interval, the finding, the edits and the colours", () => withPage(async (page) => {
		await page.keyboard.press("0");
		await page.locator("[data-finding=sync-in-loop]").click();
		await page.waitForFunction(() => window.headway.state.lit?.spans.length === 6);
		await page.locator(".finding .try").click();
		await page.waitForFunction(() => window.headway.state.whatIf?.edits === "remove-wait:train.py:18");
		await page.locator("button.theme").click();
		await chooseInterval(page);
		await page.waitForFunction(() => /range=/.test(location.hash) && /lit=/.test(location.hash) && /whatif=/.test(location.hash) && /theme=dark/.test(location.hash));
		const [range, window] = [await stateOf(page, "range"), await stateOf(page, "window")];
		const other = await openPage(browser.context, page.url());
		await other.waitForSelector(".interval .rows");
		await other.waitForFunction(() => window.headway.state.lit?.spans.length === 6 && window.headway.state.whatIf?.edits === "remove-wait:train.py:18");
		const now = await stateOf(other, "range");
		check(Math.abs(now.from - range.from) < 2 && Math.abs(now.to - range.to) < 2, "the interval");
		await until(async () => Math.abs((await stateOf(other, "window")).from - window.from) < 2, "the window is the link's");
		await until(async () => await other.evaluate(() => document.documentElement.dataset.theme) === "dark", "dark");
		await other.close();
	})],
	["the browser's back button takes back a zoom", () => withPage(async (page) => {
		await page.keyboard.press("0");
		await page.waitForFunction(() => location.hash.includes("from="));
		await later(page, 400);
		const before = await stateOf(page, "window");
		// All at once: keys that a slow machine takes one by one are several zooms.
		await page.evaluate(() => [1, 2, 3, 4, 5].forEach(() => dispatchEvent(new KeyboardEvent("keydown", { key: "w" }))));
		await page.waitForFunction((to) => !location.hash.includes(`to=${Math.round(to)}&`), before.to);
		await page.goBack();
		await page.waitForFunction((from) => Math.abs(window.headway.state.from - from) < 2, before.from);
	})],
	["a kernel's details have its end, stream, device and launch, and the program's own frame stands out", () => withPage(async (page) => {
		const at = await pointOf(page, "stream");
		await page.mouse.click(at.x, at.y);
		await page.waitForSelector(".details .follow");
		const text = await page.locator(".details .fields").textContent();
		for (const wanted of [/end\d/, /lanestream 7 of GPU 0/, /launched\d.* before its start by python \(tid 411\)/])
			check(wanted.test(text), `${wanted} in ${text}`);
		await until(async () => await page.locator(".stack .mine").count() === 1, "its frame");
	}, near)],
	["with the keyboard on the timeline the arrows go to a span's neighbours", () => withPage(async (page) => {
		const at = await pointOf(page, "stream");
		await page.mouse.click(at.x, at.y);
		await page.waitForSelector(".details .follow");
		await until(async () => await page.evaluate(() => document.activeElement.matches("canvas.timeline")), "the timeline has the keyboard");
		const { span } = await stateOf(page, "selected");
		await page.keyboard.press("ArrowRight");
		await page.waitForFunction((id) => window.headway.state.selected.span.id !== id, span.id);
		const next = (await stateOf(page, "selected")).span;
		check(next.lane === span.lane && next.start > span.start && next.start - span.start < 400_000, "the very next");
		await page.keyboard.press("ArrowLeft");
		await page.waitForFunction((id) => window.headway.state.selected.span.id === id, span.id);
	}, near)],
	["Escape takes back one thing at a time, in the search box the search alone", () => withPage(async (page) => {
		await chooseInterval(page);
		const at = await pointOf(page, "stream");
		await page.mouse.click(at.x, at.y);
		await page.waitForFunction(() => window.headway.state.selected);
		await page.locator("input[type=search]").fill("sgemm");
		await page.waitForFunction(() => window.headway.state.found.length);
		await page.locator("input[type=search]").press("Escape");
		await until(async () => await stateOf(page, "query") === "" && await stateOf(page, "selected") && await stateOf(page, "range"), "the search is gone, the rest stays");
		await page.keyboard.press("Escape");
		await until(async () => await stateOf(page, "selected") === null && await stateOf(page, "range"), "then the selection");
		await page.keyboard.press("Escape");
		await until(async () => await stateOf(page, "range") === null, "then the interval");
	}, near)],
	["arrows on a slider move the slider, and help has the keyboard", () => withPage(async (page) => {
		await page.keyboard.press("5");
		await page.waitForSelector(".drawer canvas");
		await page.locator("[data-edit=wait-every] input[type=checkbox]").click();
		const slider = page.locator("[data-edit=wait-every] input[type=range]");
		await slider.focus();
		const { from } = await stateOf(page, "window");
		await page.keyboard.press("ArrowRight");
		await page.waitForFunction(() => window.headway.state.whatIf?.edits === "wait-every:11");
		check((await stateOf(page, "window")).from === from, "the timeline stays");
		await slider.blur();
		await page.keyboard.press("?");
		await page.waitForSelector(".help");
		await until(async () => await page.evaluate(() => document.activeElement.closest(".help") !== null), "the dialog has the focus");
		await page.keyboard.press("Tab");
		check(await page.evaluate(() => document.activeElement.closest(".help") !== null), "and keeps it");
		await page.keyboard.press("Escape");
		check(await page.locator("[role=tablist] > :not([role=tab]), [role=tab]:not([aria-selected]), [role=button] button").count() === 0, "no role that is not kept, no button in a button");
	})],
	["edges of the lanes' names, the side and the dock move by mouse and keyboard, and stay so over a reload", () => withPage(async (page) => {
		const widthOf = async (what, side = "width") => {
			// Sizes are drawn a moment later.
			for (let last = NaN; ;) {
				const now = (await page.locator(what).boundingBox())[side];
				if (now === last)
					return now;
				last = now;
				await drawn(page);
			}
		};
		const lanes = page.locator(".splitter").first();
		const at = await lanes.boundingBox();
		const before = await widthOf(".left");
		await page.mouse.move(at.x + 2, at.y + 100);
		await page.mouse.down();
		await page.mouse.move(at.x + 82, at.y + 100, { steps: 3 });
		await page.mouse.up();
		await until(async () => Math.abs(await widthOf(".left") - before - 80) < 2, "dragged");
		const { from } = await stateOf(page, "window");
		const wide = await widthOf("aside");
		await page.locator("[role=separator][aria-label*=beside]").press("ArrowLeft");
		await until(async () => Math.abs(await widthOf("aside") - wide - 16) < 2, "by a key");
		check((await stateOf(page, "window")).from === from, "and the window stays");
		await page.keyboard.press("6");
		const high = await widthOf(".dock", "height");
		await page.locator("[role=separator][aria-label*=under]").press("ArrowUp");
		await until(async () => Math.abs(await widthOf(".dock", "height") - high - 16) < 2, "the dock too");
		await page.reload();
		await settled(page);
		await until(async () => Math.abs(await widthOf(".left") - before - 80) < 2 && Math.abs(await widthOf("aside") - wide - 16) < 2, "kept");
		await page.locator(".splitter").first().dblclick();
		await until(async () => Math.abs(await widthOf(".left") - before) < 2, "a double click takes it back");
		await page.evaluate(() => localStorage.clear());
	})],
	["the dock's tabs are tabs: arrows go along them, a press opens and closes", () => withPage(async (page) => {
		await page.locator("[role=tab]", { hasText: "Roofline" }).click();
		await page.waitForSelector("[role=tabpanel] .roofline-plot");
		await until(async () => await page.locator("[role=tab][aria-selected=true]").textContent() === "Roofline", "it is the chosen one");
		await until(async () => await page.locator(`#${await page.locator("[role=tab][aria-selected=true]").getAttribute("aria-controls")}`).count() === 1, "and names its panel");
		await page.waitForFunction(() => location.hash.includes("dock=roofline"));
		const { from } = await stateOf(page, "window");
		await page.keyboard.press("ArrowRight");
		check((await stateOf(page, "window")).from === from, "arrows do not move the timeline");
		await page.locator("[role=tab]", { hasText: "Roofline" }).click();
		await until(async () => await page.locator("[role=tabpanel]").count() === 0, "closed");
	})],
	["every colour of the timeline is in the legend", () => withPage(async (page) => {
		await page.keyboard.press("K");
		const text = await page.locator(".legend").textContent();
		for (const wanted of ["graph", "allocation", "memory", "running", "profiler", "critical path", "compute"])
			check(text.includes(wanted), wanted);
	})],
	["the lane filter and every button are there in windows of 800 to 1280 pixels", () => withPage(async (page) => {
		for (const width of [1280, 1024, 800]) {
			await page.setViewportSize({ width, height: 700 });
			for (const what of ["input.filter", ".panels button:last-child", "button.theme", "header button[aria-label=keys]"])
				await when(() => page.locator(what).boundingBox(), (box) => box && box.x >= 0 && box.x + box.width <= width + 1, (box) => `${what} is inside a window of ${width}: ${JSON.stringify(box)}`);
		}
	})],
]);
await browser.close();
server.close();
