/* SPDX-License-Identifier: Apache-2.0 */
/* selection_test.mjs - time and lanes that a person selects, and what the panel says of them. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cacheHere, check, onPage, openBrowser, openPage, pointOf, run, settled, skip, stateOf, until, view, when } from "./common.mjs";
import { data, makeFolder, pick } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const browser = await openBrowser();
const folder = makeFolder();
const loop = join(data, "nsys/itemloop_item.hwy");

const withPage = (files, test, hash) => onPage(browser, files, test, hash);

const chosenOf = (page) => page.evaluate(() => [...window.headway.state.chosen].sort());
const counted = (page) => page.waitForFunction(() => window.headway.state.intervals[0]);
const titleOf = (page, name, nth = 0) => page.locator(".title", { hasText: name }).nth(nth);
const tableOf = async (page) => {
	await counted(page);
	return page.evaluate(() => window.headway.state.intervals[0]);
};

async function drag(page, from, to, key) {
	const box = await page.locator("canvas.timeline").boundingBox();
	if (key)
		await page.keyboard.down(key);
	await page.mouse.move(box.x + from.x, box.y + from.y);
	await page.mouse.down();
	await page.mouse.move(box.x + to.x, box.y + to.y, { steps: 4 });
	await page.mouse.up();
	if (key)
		await page.keyboard.up(key);
	await counted(page);
}

/** The vertical middle of a lane's row on the canvas. */
const middleOf = (page, type) => page.evaluate((wanted) => {
	const { timeline } = window.headway;
	const row = timeline.layout.rows.find((r) => r.kind === "lane" && r.lane.type === wanted);
	return 26 + row.y + row.h / 2 + (row.pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll);
}, type);

await run([
	["lanes are chosen by Ctrl, up to one by Shift, and by a button with the keyboard; the panel is of them alone", () => withPage([loop], async (page) => {
		await drag(page, { x: 300, y: 8 }, { x: 520, y: 8 });
		const all = await tableOf(page);
		check(all.kernels.count > 0 && all.calls.count > 0 && all.threads.length > 1 && all.samples.count > 0, "everything of all lanes");
		await titleOf(page, "API calls").click({ modifiers: ["Control"] });
		await counted(page);
		const calls = await tableOf(page);
		check(calls.devices.length === 0 && calls.kernels.count === 0 && calls.calls.count > 0 && calls.calls.count < all.calls.count, "only the calls of that thread");
		await until(async () => (await page.locator(".interval h2").first().textContent()).includes("on 1 chosen lane"), "the panel says of how many lanes");
		await titleOf(page, "stream 7").click({ modifiers: ["Shift"] });
		const between = (await chosenOf(page)).length;
		check(between > 3, "all lanes between the two");
		await titleOf(page, "API calls").getByRole("button", { name: "choose API calls" }).focus();
		await page.keyboard.press("Space");
		await until(async () => (await chosenOf(page)).length === between - 1, "a press of the button takes one lane back");
		await page.keyboard.press("Escape");
		await page.keyboard.press("Escape");
		await until(async () => await stateOf(page, "range") === null && (await chosenOf(page)).length === 0, "Escape takes back the time, then the lanes");
	})],
	["a drag with Ctrl over lanes selects both time and lanes", () => withPage([loop], async (page) => {
		const y = await middleOf(page, "stream");
		await drag(page, { x: 300, y: y - 4 }, { x: 500, y: y + 4 }, "Control");
		const table = await tableOf(page);
		await until(async () => (await chosenOf(page)).length === 1 && table.kernels.count > 0 && table.calls.count === 0, "one lane: the stream");
		check(table.devices.length === 1 && table.devices[0].whole, "which is all of its device");
	})],
	["a name in the selection leads to its spans", () => withPage([loop], async (page) => {
		await drag(page, { x: 300, y: 8 }, { x: 520, y: 8 });
		const row = page.locator(".interval .names .lead").first();
		const name = await row.textContent();
		await row.click();
		await page.waitForFunction(() => window.headway.state.found.length > 0 || window.headway.state.dock === "table");
		check(name.length > 0, "the row has a name");
	})],
	["a name leads to the spans of its kind, work without a name too", () => withPage([folder.unpack(pick("two_processes") ?? skip("no recordings"))], async (page) => {
		await page.evaluate(() => {
			const { start, end } = window.headway.state.traces[0].info;
			location.hash = `#from=${start}&to=${end}&range=${start},${end}&panel=selection`;
		});
		await page.waitForFunction(() => window.headway.state.range);
		const { kernels } = await when(() => tableOf(page), (table) => table.kernels.rows.some((r) => r.name === ""), "graphs have no names there");
		const row = kernels.rows.find((r) => r.name === "");
		await page.locator(".interval .names .lead").filter({ hasText: /^graph$/ }).click();
		await page.waitForFunction((n) => window.headway.state.table.sums?.rows === n, row.count);
		await page.locator(".grid-line").first().click();
		await page.waitForFunction(() => window.headway.state.selected);
		await page.locator(".panels button", { hasText: "Details" }).click();
		await until(async () => await page.locator(".details h2.name").textContent() === "graph", "its details have a head");
	})],
	["keys select the time on the screen, the time of the span and its lane", () => withPage([loop], async (page) => {
		await page.keyboard.press("r");
		await counted(page);
		const [range, { from, to }] = [await stateOf(page, "range"), await stateOf(page, "window")];
		check(range.from === Math.floor(from) && range.to === Math.ceil(to), "what is on the screen");
		const time = await page.evaluate(async ([a, b]) => {
			const { lane } = window.headway.timeline.layout.rows.find((r) => r.kind === "lane" && r.lane.type === "api");
			const { longest } = await (await fetch(`at?t=0&lane=${lane.lane}&from=${a}&to=${b}`)).json();
			return longest.start + longest.dur / 2;
		}, [Math.round(from + (to - from) / 3), Math.round(to - (to - from) / 3)]);
		const point = await pointOf(page, "api", time);
		await page.mouse.click(point.x, point.y);
		await page.waitForFunction(() => window.headway.state.selected);
		await page.keyboard.press("e");
		await page.keyboard.press("x");
		await counted(page);
		const { span } = await stateOf(page, "selected");
		const now = await stateOf(page, "range");
		check(now.to - now.from - span.dur <= 1, "the time of the span");
		await until(async () => (await chosenOf(page)).join() === `0/${span.lane}`, "and its lane");
	})],
	["the time under the pointer stands on the ruler", () => withPage([loop], async (page) => {
		const box = await page.locator("canvas.timeline").boundingBox();
		const inkAt = () => page.evaluate(() => {
			const canvas = document.querySelector("canvas.timeline");
			const dpr = canvas.width / canvas.clientWidth;
			return [...canvas.getContext("2d").getImageData(Math.round(410 * dpr), Math.round(6 * dpr), 1, 1).data].join();
		});
		await page.mouse.move(box.x + 100, box.y + 300);
		await settled(page);
		const before = await inkAt();
		await page.mouse.move(box.x + 400, box.y + 300);
		await page.waitForFunction(() => window.headway.state.cursor !== null);
		await settled(page);
		await until(async () => await inkAt() !== before, "a label beside the cursor's line");
	})],
	["the time under the pointer follows it through a drag over the ruler", () => withPage([loop], async (page) => {
		const box = await page.locator("canvas.timeline").boundingBox();
		await page.mouse.move(box.x + 100, box.y + 10);
		await page.mouse.down();
		await page.mouse.move(box.x + 300, box.y + 10, { steps: 4 });
		await when(() => page.evaluate(() => ({ cursor: window.headway.state.cursor, range: window.headway.state.range })),
			({ cursor, range }) => Math.abs(cursor - range.to) <= 1, ({ cursor, range }) => `the pointer is at the end of what it selects: ${cursor}, ${range?.to}`);
		await page.mouse.up();
	})],
	["a self-contained page says of a selection what the server says, and the link holds it", async () => {
		const recording = folder.unpack(pick("streams_pinned4") ?? skip("no recording"));
		const html = folder.path("alone.html");
		const done = spawnSync(process.env.HEADWAY, ["view", recording, "--html", html], { encoding: "utf8", env: cacheHere() });
		check(done.status === 0, done.stderr);
		let hash = "";
		const served = [];
		await withPage([recording], async (page) => {
			for (const nth of [0, 1]) {
				if (nth)
					await titleOf(page, "stream 1").click({ modifiers: ["Control"] });
				else
					await drag(page, { x: 200, y: 8 }, { x: 700, y: 8 });
				served.push(await tableOf(page));
			}
			await page.waitForFunction(() => location.hash.includes("lanes=") && location.hash.includes("range="));
			hash = await page.evaluate(() => location.hash);
		});
		const page = await openPage(browser.context, pathToFileURL(html).href + hash);
		const alone = await tableOf(page);
		await page.getByRole("button", { name: "all lanes" }).click();
		const all = await tableOf(page);
		for (const [got, wanted] of [[all, served[0]], [alone, served[1]]]) {
			for (const key of ["devices", "kernels", "calls", "ranges", "os", "copies", "threads", "samples"]) {
				const sorted = (part) => (key === "samples" ? { ...part, rows: [...part.rows].sort((a, b) => b.count - a.count || (a.function + a.module < b.function + b.module ? -1 : 1)) } : part);
				const least = (part) => (key === "devices" ? part.map((d) => ({ ...d, headway: { ...d.headway, least: null }, causes: null })) : sorted(part));
				check(JSON.stringify(least(got[key])) === JSON.stringify(least(wanted[key])), `${key}: ${JSON.stringify(least(got[key])).slice(0, 300)} instead of ${JSON.stringify(least(wanted[key])).slice(0, 300)}`);
			}
			check(got.launches.count === wanted.launches.count && got.waits.total === wanted.waits.total, "launches and waits");
		}
		await page.close();
	}],
	["more names than are listed are in the table", () => withPage([join(data, "programs/finetune.hwy")], async (page) => {
		await page.evaluate(() => { const { start, end } = window.headway.state.traces[0].info; location.hash = `#from=${start}&to=${end}&range=${start},${end}&panel=selection`; });
		const table = await tableOf(page);
		const [key, { names }] = Object.entries(table).find(([, part]) => part.names > 50 && part.rows[0].name_id !== undefined);
		const section = page.locator(".interval section", { hasText: `of ${names} names` });
		await section.locator("button.more").click();
		await section.getByRole("button", { name: `all ${names} in the table` }).click();
		await page.waitForFunction((n) => window.headway.state.table.sums?.lines >= n - 2, names);
		const asked = await stateOf(page, "table");
		check(asked.inSelection && asked.group === "name", `${key}, by name, in the selection: ${JSON.stringify(asked)}`);
	})],
	["in a narrow panel names have room, and numbers do not stand over them", () => withPage([loop], async (page) => {
		await drag(page, { x: 200, y: 8 }, { x: 520, y: 8 });
		for (const width of [1280, 800]) {
			await page.setViewportSize({ width, height: 800 });
			const cells = (of) => page.evaluate((query) => [...document.querySelectorAll(query)].map((row) => [...row.cells].map((c) => ({ left: c.getBoundingClientRect().left, right: c.getBoundingClientRect().right, cut: c.scrollWidth > c.clientWidth && getComputedStyle(c).overflow === "visible" }))), of);
			await until(async () => (await cells(".rows.names tbody tr")).every(([name]) => name.right - name.left > 140), async () => `names have room at ${width}: ${JSON.stringify((await cells(".rows.names tbody tr"))[0])}`);
			const copies = await cells(".rows.copies tr");
			check(copies.length > 0 && copies.every((row) => row.every((cell) => !cell.cut)), `directions end before the numbers at ${width}: ${JSON.stringify(copies)}`);
		}
	})],
	["what is selected and what is shown ends where the recording does", () => withPage([join(data, "nsys/mlp_sync.hwy")], async (page, server) => {
		const { start, end } = await page.evaluate(() => window.headway.state.traces[0].info);
		await page.keyboard.press("0");
		const { width } = await page.locator("canvas.timeline").boundingBox();
		await drag(page, { x: 300, y: 8 }, { x: width + 300, y: 8 });
		const { range } = await page.evaluate(() => ({ range: window.headway.state.range }));
		check(range.from > start && range.to === end, `until the last event: ${JSON.stringify(range)} of ${start} to ${end}`);
		const { from, to, devices } = await tableOf(page);
		check(from === range.from && to === range.to && devices[0].idle + devices[0].busy === to - from, "the panel is of that time, too");
		await page.mouse.move(700, 300);
		await page.keyboard.down("Control");
		for (let i = 0; i < 8; i++)
			await page.mouse.wheel(0, 400);
		await page.keyboard.up("Control");
		const shown = () => stateOf(page, "window");
		await until(async () => (await shown()).from <= start && (await shown()).to >= end, "zooming out ends where all is visible");
		const all = await shown();
		check(all.to - all.from < 1.05 * (end - start), `and no further: ${JSON.stringify(all)}`);
		await page.evaluate(([after, late]) => { location.hash = `from=${after}&to=${late}&range=${after},${late}`; }, [end + 5e9, end + 6e9]);
		await page.waitForFunction(() => !window.headway.state.range);
		await until(async () => (await page.locator(".message, [role=status], [role=alert]").allTextContents()).some((text) => text.includes("Nothing was recorded then")), "a time after the end is none, and the page says so");
		check((await shown()).from < end, "the window does not leave the recording");
	})],
]);
await browser.close();
folder.remove();
