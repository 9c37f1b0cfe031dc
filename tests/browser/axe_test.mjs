/* SPDX-License-Identifier: Apache-2.0 */
/* axe_test.mjs - every panel, light and dark, under axe-core's rules: roles that are kept, names, contrast. */
import { checkAxe } from "./axe.mjs";
import { builtPage, check, drawn, openBrowser, openPage, pointOf, run, settled, stateOf, until } from "./common.mjs";
import { serve } from "./fixture_server.mjs";
import { makeTrace, STEP } from "./fixture_trace.mjs";

const html = builtPage();
const browser = await openBrowser();
const server = await serve([makeTrace(1, true)], html);
const near = `#from=${8 * STEP}&to=${8 * STEP + 400_000}`;

/** A page on which everything is chosen that a panel may show: a span, an interval, a search, a finding. */
async function fullPage(theme) {
	const page = await openPage(browser.context, `${server.url}${near}&theme=${theme}&range=${8 * STEP},${8 * STEP + 300_000}&q=gemm&lit=0.0`);
	const at = await pointOf(page, "stream");
	await page.mouse.click(at.x, at.y);
	await page.waitForFunction(() => window.headway.state.selected && window.headway.state.lit && window.headway.state.found.length);
	await page.keyboard.press("m");
	await page.keyboard.type("a note");
	await page.keyboard.press("Enter");
	return page;
}

async function openEach(page, what, isOpen, visit) {
	for (const button of await page.locator(what).all()) {
		const name = await button.textContent();
		if (await button.getAttribute(isOpen) !== "true")
			await button.click();
		await until(async () => await button.getAttribute(isOpen) === "true", `${name} is open`);
		await settled(page);
		await drawn(page);
		await visit(name);
	}
}

const looks = async (theme) => {
	const page = await fullPage(theme);
	await openEach(page, ".panels button", "aria-pressed", (name) => checkAxe(page, `${name}, ${theme},`));
	await openEach(page, ".tabs button", "aria-selected", (name) => checkAxe(page, `${name}, ${theme},`));
	check(await stateOf(page, "dock") !== null, "the dock was open");
	await page.close();
};

await run([
	["every panel can be used by everybody, light", () => looks("light")],
	["every panel can be used by everybody, dark", () => looks("dark")],
	...["light", "dark"].map((theme) => [`the code of a finding that is shown can be used by everybody, ${theme}`, async () => {
		const page = await openPage(browser.context, `${server.url}#theme=${theme}`);
		await page.evaluate(() => { window.headway.state.traces[0].diagnosis.findings[0].advice += `\n  ${"value = step(value) # ".repeat(9)}`; });
		await page.locator("[data-finding] .show").first().click();
		await page.waitForFunction(() => {
			const code = document.querySelector(".lit .advice pre");
			return code && code.scrollWidth > code.clientWidth;
		});
		await checkAxe(page, `the code, ${theme},`);
		await page.close();
	}]),
	["the help can be used by everybody", async () => {
		const page = await openPage(browser.context, server.url);
		await page.keyboard.press("?");
		await page.waitForSelector(".help");
		await checkAxe(page, "the help");
		await page.close();
	}],
]);
await browser.close();
server.close();
