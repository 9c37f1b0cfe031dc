/* SPDX-License-Identifier: Apache-2.0 */
/* keys_test.mjs - everything by keyboard: the palette, the help, lanes and spans, from opening to the line of code. */
import { checkAxe } from "./axe.mjs";
import { builtPage, check, openBrowser, openPage, run, stateOf, until, when } from "./common.mjs";
import { serve } from "./fixture_server.mjs";
import { makeTrace, STEP } from "./fixture_trace.mjs";

const html = builtPage();
const browser = await openBrowser();
const server = await serve([makeTrace()], html);

async function withPage(test, hash = "") {
	const page = await openPage(browser.context, server.url + hash);
	try {
		await test(page);
		await page.evaluate(() => localStorage.clear());
	} finally {
		await page.close();
	}
}

const near = `#from=${8 * STEP}&to=${8 * STEP + 400_000}&panel=findings`;
const focusIn = (page, what) => page.evaluate((selector) => document.activeElement?.closest(selector) !== null, what);

/** Opens the palette, types, and presses Enter. */
async function command(page, text) {
	await page.keyboard.press("Control+k");
	await page.waitForSelector("dialog.palette");
	await page.keyboard.type(text);
	await page.keyboard.press("Enter");
	await page.waitForSelector("dialog.palette", { state: "detached" });
}

await run([
	["Ctrl-K finds commands, panels, lanes, findings, steps and colours by a few letters", () => withPage(async (page) => {
		await command(page, "sel pan");
		await until(async () => await stateOf(page, "panel") === "selection", "a panel");
		await command(page, "roofl");
		await until(async () => await stateOf(page, "dock") === "roofline", "a panel of the dock");
		await command(page, "dark");
		await until(async () => await page.evaluate(() => document.documentElement.dataset.theme) === "dark", "colours");
		await command(page, "step 12");
		await until(async () => await stateOf(page, "step") === 12, "a step");
		await command(page, "waits for the gpu every");
		await page.waitForFunction(() => window.headway.state.lit?.spans.length === 6);
		await until(async () => await stateOf(page, "panel") === "findings", "a finding");
		await page.locator("input.filter").fill("GPU");
		await command(page, "loader OS");
		await page.waitForFunction(() => window.headway.timeline.layout.byLane.get("0/10")?.kind === "lane");
		await until(async () => await stateOf(page, "filter") === "", "a lane that was folded and filtered away");
		await command(page, "nccldev");
		await page.waitForSelector(".search .span-link");
	})],
	["Tab stops at the buttons of one row, the one that the keyboard is at, however many lanes there are", () => withPage(async (page) => {
		const stops = () => page.locator(".lanes button").evaluateAll((all) => [...new Set(all.filter((b) => b.tabIndex >= 0).map((b) => b.closest(".title").dataset.key))]);
		await when(stops, (rows) => rows.join() === "0/gpu0", (rows) => `the first row: ${rows}`);
		await page.keyboard.press("i");
		// Down to a row that has buttons.
		const rows = await page.locator(".lanes .title:has(button)").evaluateAll((all) => all.map((row) => row.dataset.key));
		await until(async () => {
			await page.keyboard.press("ArrowDown");
			return rows.indexOf(await stateOf(page, "focus")) > 2;
		}, "the keyboard is further down");
		await when(async () => [...await stops(), await stateOf(page, "focus")], ([stop, row, ...more]) => stop === row && !more.length, (seen) => `${seen}`);
	}, near)],
	["a name that gets the keyboard below the window takes its lane along", () => withPage(async (page) => {
		await page.setViewportSize({ width: 1280, height: 380 });
		await page.waitForFunction(() => window.headway.timeline.mostScroll > 100);
		const key = await page.evaluate(() => window.headway.timeline.layout.rows.findLast((r) => r.folds).key);
		await page.keyboard.press("i");
		await page.keyboard.press("Shift+Tab");
		await page.evaluate((of) => document.querySelector(`[data-key='${of}'] .fold`).focus({ focusVisible: true }), key);
		await page.waitForFunction((of) => {
			const { timeline } = window.headway;
			const row = timeline.layout.rows.find((r) => r.key === of);
			const name = document.querySelector(`[data-key='${of}']`).getBoundingClientRect();
			const lane = document.querySelector("canvas.timeline").getBoundingClientRect().top + 26 + timeline.layout.pinnedHeight + row.y - timeline.scroll;
			return timeline.scroll > 0 && Math.abs(name.top - lane) < 1.5 && name.bottom <= innerHeight && [...document.querySelectorAll(".lanes, .lanes .part")].every((part) => part.scrollTop === 0);
		}, key);
	})],
	["the palette is a combobox with its list: arrows choose, what was used last stands first", () => withPage(async (page) => {
		await page.keyboard.press(":");
		await page.waitForSelector("[role=combobox]");
		await until(async () => await focusIn(page, "[role=combobox]"), "the box has the keyboard");
		const active = () => page.evaluate(() => document.getElementById(document.querySelector("[role=combobox]").getAttribute("aria-activedescendant"))?.textContent);
		const first = await active();
		await page.keyboard.press("ArrowDown");
		await until(async () => await active() !== first, "the next one");
		await until(async () => await page.locator("[role=option][aria-selected=true]").count() === 1, "one is chosen");
		await checkAxe(page, "the palette");
		const { from } = await stateOf(page, "window");
		await page.keyboard.type("Idle time by");
		check((await stateOf(page, "window")).from === from && await stateOf(page, "path") === false, "letters are only typed");
		await page.keyboard.press("Enter");
		await until(async () => await stateOf(page, "gaps") === false, "done");
		await page.keyboard.press("Control+k");
		await page.waitForSelector("[role=option]");
		await until(async () => (await active()).startsWith("Idle time by cause"), "used last, first in the list");
		await page.keyboard.press("Tab");
		check(await focusIn(page, "dialog"), "Tab stays inside");
		await page.keyboard.press("Escape");
		await until(async () => await page.locator("dialog").count() === 0, "closed");
	})],
	["the help names every command that has a key, keeps the keyboard, and gives it back", () => withPage(async (page) => {
		await page.locator("[data-finding] .show").first().focus();
		await page.keyboard.press("?");
		await page.waitForSelector("dialog.help");
		const text = await page.locator("dialog.help").textContent();
		for (const wanted of ["Ctrl + K", "Follow the arrow", "Roofline", "Critical path", "Esc"])
			check(text.includes(wanted), wanted);
		for (let i = 0; i < 3; i++) {
			await page.keyboard.press("Tab");
			check(await focusIn(page, "dialog.help"), "Tab stays inside");
		}
		await page.keyboard.press("Escape");
		await page.waitForSelector("dialog.help", { state: "detached" });
		await until(async () => await focusIn(page, "[data-finding] .show"), "the keyboard is where it was");
	})],
	["a panel that scrolls is scrolled by the keys that scroll, and the timeline stays", () => withPage(async (page) => {
		await page.setViewportSize({ width: 1280, height: 380 });
		await page.waitForFunction(() => window.headway.timeline.mostScroll > 100);
		const before = JSON.stringify(await stateOf(page, "window"));
		const top = () => page.evaluate(() => document.querySelector("aside").scrollTop);
		for (const place of ["aside", "[data-finding] .show"]) {
			await page.locator(place).first().focus();
			await page.keyboard.press("Home");
			await until(async () => await top() === 0, `${place}: at the begin`);
			for (const key of ["ArrowDown", "PageDown", "End"]) {
				const was = await top();
				await page.keyboard.press(key);
				await when(top, (now) => now > was, (now) => `${place}: ${key} leads from ${was} to ${now}`);
			}
		}
		const now = await page.evaluate(() => window.headway.timeline.scroll);
		check(now === 0 && JSON.stringify(await stateOf(page, "window")) === before, `neither the lanes nor the window moved: ${now}`);
		await page.locator("body").evaluate(() => document.activeElement.blur());
		await page.keyboard.press("ArrowDown");
		await page.waitForFunction(() => window.headway.timeline.scroll > 0);
	}, near)],
	["who passes the timeline by Tab selects nothing; an arrow or Enter does", () => withPage(async (page) => {
		const at = () => focusIn(page, "canvas.timeline");
		await page.locator(".lanes button[tabindex='0']").last().focus();
		await until(async () => {
			await page.keyboard.press("Tab");
			return at();
		}, "the timeline has the keyboard");
		await page.waitForFunction(() => /^stream 7, a lane/.test(document.querySelector(".spoken").textContent));
		check(await stateOf(page, "selected") === null, "nothing is selected");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => window.headway.state.selected && window.headway.state.panel === "details");
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => !window.headway.state.selected);
		await page.locator("canvas.timeline").blur();
		await page.locator("canvas.timeline").focus();
		check(await stateOf(page, "selected") === null, "nothing is selected again");
		await page.keyboard.press("ArrowRight");
		await page.waitForFunction(() => window.headway.state.selected);
	}, near)],
	["the keyboard that comes to the timeline is told of the span that a finding has shown", () => withPage(async (page) => {
		await page.locator("[data-finding] .show").first().click();
		await page.waitForFunction(() => window.headway.state.selected && window.headway.state.lit);
		const { span } = await stateOf(page, "selected");
		await page.keyboard.press("i");
		const text = await when(() => page.locator(".spoken").textContent(), (said) => said !== "", "something is said");
		check(text.startsWith(span.name), `of ${span.name}: ${text}`);
		// What is said again must be new.
		await page.locator("[data-finding] .show").first().focus();
		await until(async () => await page.locator(".spoken").textContent() === "", "silence");
		await page.keyboard.press("i");
		await until(async () => await page.locator(".spoken").textContent() === text, "said again");
	})],
	["no two commands have the same key", () => withPage(async (page) => {
		await page.keyboard.press("?");
		await page.waitForSelector("dialog.help");
		const keys = await page.locator("dialog.help kbd").allTextContents();
		const twice = keys.filter((key, i) => keys.indexOf(key) !== i);
		check(keys.length > 25 && !twice.length, `twice: ${twice}`);
	})],
	["with the keyboard alone one goes from lane to lane, from span to span and from level to level, and hears where one is", () => withPage(async (page) => {
		const spoken = (what) => page.waitForFunction((text) => new RegExp(text).test(document.querySelector(".spoken").textContent), what);
		const selected = async () => (await stateOf(page, "selected")).span;
		const heard = () => page.locator(".spoken").textContent();
		await page.keyboard.press("i");
		await page.waitForFunction(() => window.headway.state.selected);
		await until(async () => await focusIn(page, "canvas.timeline"), "the timeline has the keyboard");
		check(await stateOf(page, "panel") === "findings", "the panel stays");
		await spoken("^\\S.*, kernel, [\\d.]+ [mµ]s at [\\d.]+ ms on stream 7$");
		const first = await selected();
		await page.keyboard.press("ArrowRight");
		await page.waitForFunction((id) => window.headway.state.selected.span.id !== id, first.id);
		const next = await selected();
		check(next.lane === first.lane && next.id === first.id + 1, "the span behind it");
		await page.keyboard.press("ArrowDown");
		await spoken("^stream 13, nothing here$");
		await page.keyboard.press("ArrowRight");
		await spoken("^nccl.*, communication, .* on stream 13$");
		await page.keyboard.press("Home");
		await page.waitForFunction(() => window.headway.state.selected.span.start < 20e6);
		await page.keyboard.press("End");
		await page.waitForFunction(() => window.headway.state.selected.span.start > 220e6);
		await command(page, "NVTX python");
		await page.keyboard.press("i");
		while (!/on NVTX$/.test(await heard()) && !/^loader/.test(await heard())) {
			const before = await heard();
			await page.keyboard.press("ArrowDown");
			await page.waitForFunction((was) => document.querySelector(".spoken").textContent !== was, before);
		}
		await spoken("^step_\\d+, range, .* on NVTX$");
		await page.keyboard.press("ArrowDown");
		await spoken("^(forward|backward|optimizer), range, .* on NVTX$");
		await page.keyboard.press("ArrowRight");
		await page.waitForFunction(() => window.headway.state.selected.span.row === 1);
		await page.keyboard.press("ArrowUp");
		await spoken("^step_\\d+, range");
		await page.keyboard.press("Enter");
		await page.waitForSelector("aside .details");
	}, near)],
	["counters, idle time and groups can be gone to and heard as well", () => withPage(async (page) => {
		await page.keyboard.press("i");
		await page.waitForFunction(() => window.headway.state.selected);
		const seen = [];
		const heard = () => page.locator(".spoken").textContent();
		await until(async () => / on stream 7$/.test(await heard()), "it begins at a kernel");
		const step = async (key) => {
			const before = await heard();
			await page.keyboard.press(key);
			seen.push(await when(heard, (now) => now !== before, `${key} leads on from ${before}`));
		};
		const WANTED = [/^headway: headway, \d+ operations/, /^idle, by cause/, /^GPU 0.*at/];
		const all = () => WANTED.every((wanted) => seen.some((t) => wanted.test(t)));
		for (let i = 0; i < 5 && !all(); i++)
			await step("ArrowUp");
		check(all(), seen.join("\n"));
		const before = seen.at(-1);
		for (let i = 0; i < 14 && !seen.some((t) => /^power: .* W/.test(t)); i++)
			await step("ArrowDown");
		check(seen.some((t) => /^power: .* W/.test(t)), `a counter: ${before} ${seen.join("\n")}`);
		const { cursor } = await page.evaluate(() => ({ cursor: window.headway.state.cursor }));
		await page.keyboard.press("ArrowRight");
		await until(async () => await stateOf(page, "cursor") > cursor, "the cursor goes along the counter");
	}, near)],
	["from opening the page to the line of code no mouse is needed", () => withPage(async (page) => {
		await command(page, "waits");
		await page.waitForFunction(() => window.headway.state.lit?.spans.length === 6);
		await page.keyboard.press("n");
		await page.keyboard.press("i");
		await page.waitForFunction(() => window.headway.state.selected);
		await page.keyboard.press("l");
		await page.waitForFunction(() => window.headway.state.selected.span.kind === "api");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => /train\.py:18/.test(document.querySelector("aside .details")?.textContent));
		check(await focusIn(page, "canvas.timeline"), "and the keyboard is still on the timeline");
	})],
	["Space and Enter press the button that has the keyboard, and Escape in a filled filter only leaves it", () => withPage(async (page) => {
		await page.locator("[data-finding=sync-in-loop] .show").focus();
		await page.keyboard.press("Space");
		await page.waitForFunction(() => window.headway.state.lit?.spans.length === 6);
		await page.locator(".panels button", { hasText: "Search" }).focus();
		await page.keyboard.press("Enter");
		await until(async () => await stateOf(page, "panel") === "search", "Enter too");
		await page.locator("input.filter").fill("GPU");
		await page.keyboard.press("Escape");
		check(await stateOf(page, "lit") !== null && await stateOf(page, "filter") === "GPU", "the rest stays");
	})],
]);
await browser.close();
server.close();
