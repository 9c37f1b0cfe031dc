/* SPDX-License-Identifier: Apache-2.0 */
/* firefox_test.mjs - the main walk through the page in Firefox: open, zoom, select, search, the table, the palette, the panels, a page from a file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { builtPage, run, settled, stateOf, until, view } from "./common.mjs";
import { openFirefox, openFirefoxPage } from "./firefox.mjs";
import { inlined, serve } from "./fixture_server.mjs";
import { makeTrace, STEP } from "./fixture_trace.mjs";

const html = builtPage();
const firefox = await openFirefox();
const server = await serve([makeTrace(1, true)], html);
const page = await openFirefoxPage(firefox, server.url);

const width = async (on = page) => {
	const { from, to } = await stateOf(on, "window");
	return to - from;
};
/** A place on the stream's lane. */
const onStream = (on) => on.evaluate(() => {
	const { timeline } = window.headway;
	const box = document.querySelector("canvas.timeline").getBoundingClientRect();
	const row = timeline.layout.rows.find((r) => r.lane?.type === "stream");
	return { x: box.x + box.width / 2, y: box.y + 26 + timeline.layout.pinnedHeight + row.y - timeline.scroll + row.h / 2 };
});
const textOf = (selector) => page.$eval(selector, (e) => e.textContent);

await run([
	["the page opens in Firefox with its lanes and its findings", async () => {
		const titles = () => page.$$eval(".lanes .title", (list) => list.map((e) => e.textContent));
		for (const wanted of ["GPU 0 NVIDIA H200", "stream 7", "CUDA calls"])
			await until(async () => (await titles()).some((t) => t.includes(wanted)), `a row for ${wanted}`);
		await until(async () => await page.$("[data-finding=sync-in-loop]"), "a finding");
		const colours = () => page.evaluate(() => {
			const canvas = document.querySelector("canvas.timeline");
			return new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
		});
		await until(async () => await colours() > 20, "something is drawn");
	}],
	["keys and the wheel zoom in Firefox", async () => {
		const before = await width();
		await page.keyboard.press("w");
		await page.keyboard.press("w");
		await until(async () => await width() < before * 0.6, "w zooms in");
		const at = await onStream(page);
		await page.mouse.move(at.x, at.y);
		const wide = await width();
		await page.keyboard.down("Control");
		await page.mouse.wheel({ deltaY: -300 });
		await page.keyboard.up("Control");
		await page.waitForFunction((was) => window.headway.state.to - window.headway.state.from < was, {}, wide);
		await page.keyboard.press("0");
		await until(async () => await width() > before * 0.9, "0 shows all");
	}],
	["a click selects, the arrow leads to the launch in Firefox", async () => {
		await page.evaluate((step) => { location.hash = `from=${8 * step}&to=${8 * step + 400_000}&panel=findings`; }, STEP);
		await settled(page);
		const at = await onStream(page);
		await page.mouse.click(at.x, at.y);
		await page.waitForSelector(".details .follow");
		const { span } = await stateOf(page, "selected");
		await page.keyboard.press("l");
		await page.waitForFunction((id) => window.headway.state.selected.span.id === id, {}, span.launch.id);
	}],
	["the search finds and lists in Firefox", async () => {
		await page.keyboard.press("/");
		await page.keyboard.type("nccldev");
		await page.waitForSelector(".search .span-link");
		await until(async () => (await textOf(".search .summary")).includes("24"), "24 hits");
		await page.keyboard.press("Escape");
		await until(async () => await stateOf(page, "query") === "", "Escape clears it");
	}],
	["the palette finds a finding, and the arrows go from span to span in Firefox", async () => {
		await page.keyboard.down("Control");
		await page.keyboard.press("k");
		await page.keyboard.up("Control");
		await page.waitForSelector("dialog.palette");
		await page.keyboard.type("waits for the gpu");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => window.headway.state.lit?.spans.length === 6);
		await page.keyboard.press("i");
		await page.waitForFunction(() => /, .* on /.test(document.querySelector(".spoken").textContent));
		const { span } = await stateOf(page, "selected");
		await page.keyboard.press("ArrowRight");
		await page.waitForFunction((id) => window.headway.state.selected.span.id !== id, {}, span.id);
		await page.keyboard.press("?");
		await page.waitForSelector("dialog.help");
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => !document.querySelector("dialog"));
	}],
	["every panel opens in Firefox", async () => {
		for (const [line, pressed] of [[".panels button", "aria-pressed"], [".tabs button", "aria-selected"]])
			for (const button of await page.$$(line)) {
				if (!await button.evaluate((b, a) => b.getAttribute(a) === "true", pressed))
					await button.click();
				await page.waitForFunction((b, a) => b.getAttribute(a) === "true", {}, button, pressed);
			}
	}],
	["the table of a recording lists its spans in Firefox", async () => {
		const real = await view([join(process.env.DATA ?? new URL("../data", import.meta.url).pathname, "gpu/mlp_sync.hwy")]);
		const other = await openFirefoxPage(firefox, real.url);
		await other.keyboard.press("9");
		await other.waitForFunction(() => window.headway.state.table.sums?.rows > 100 && document.querySelectorAll(".dock [role=row]").length > 5);
		await other.close();
		await real.close();
	}],
	["the strip above the timeline is drawn after the window has become narrower in Firefox", async () => {
		const real = await view([join(process.env.DATA ?? new URL("../data", import.meta.url).pathname, "programs/finetune.hwy")]);
		const other = await openFirefoxPage(firefox, real.url);
		const blue = () => other.evaluate(() => {
			const strip = document.querySelector("canvas.minimap");
			const { data } = strip.getContext("2d").getImageData(0, 0, strip.width, strip.height);
			let n = 0;
			for (let i = 0; i < data.length; i += 4)
				n += data[i + 2] - data[i] > 40 ? 1 : 0;
			return n;
		});
		await until(async () => await blue() > 1000, "busy at first");
		await other.setViewport({ width: 800, height: 800 });
		await other.waitForFunction(() => document.querySelector("canvas.minimap").width < 500);
		await until(async () => await blue() > 500, async () => `busy after that: ${await blue()} pixels`);
		await other.close();
		await real.close();
	}],
	["the self-contained page works from a file in Firefox", async () => {
		const folder = mkdtempSync(join(tmpdir(), "headway-inline-"));
		const file = join(folder, "run.html");
		writeFileSync(file, inlined([makeTrace()], html));
		const other = await openFirefoxPage(firefox, pathToFileURL(file).href);
		await other.click("[data-finding] .show");
		await other.waitForFunction(() => window.headway.state.lit?.spans.length > 0);
		await other.keyboard.press("6");
		await other.waitForSelector(".point");
		await other.close();
		rmSync(folder, { recursive: true });
	}],
]);
await firefox.close();
server.close();
