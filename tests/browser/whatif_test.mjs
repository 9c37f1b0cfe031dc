/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_test.mjs - the panel of what-if on a recording: edits that change nothing say so, others can be limited to a place. */
import { join } from "node:path";
import { check, openBrowser, openPage, run, settled, skip, stateOf, until, view } from "./common.mjs";

const data = process.env.DATA ?? skip("no recordings");
const browser = await openBrowser();
const server = await view([join(data, "nsys/mlp_sync.hwy")]);

async function withPanel(test) {
	const page = await openPage(browser.context, server.url);
	await page.keyboard.press("5");
	await page.waitForFunction(() => window.headway.state.whatIf !== null);
	try {
		await test(page);
	} finally {
		await page.close();
	}
}

const edit = (page, id) => page.locator(`.edit[data-edit="${id}"]`);
const predicted = (page, text) => page.waitForFunction((t) => window.headway.state.whatIf?.edits === t && !window.headway.state.asking, text);

await run([
	["an edit that would change nothing is greyed and says why", () => withPanel(async (page) => {
		await page.waitForFunction(() => document.querySelector('.edit[data-edit="pin"] input')?.disabled);
		await until(async () => (await edit(page, "pin").locator(".why").textContent()) === "the phase copies no pageable memory", "the reason");
		await until(async () => await edit(page, "straggler").locator("input").isDisabled(), "an edit for several ranks");
		await until(async () => await edit(page, "remove-wait").locator("input").isEnabled(), "others can be switched on");
	})],
	["faster takes a kernel or a range, the GPU or the CPU", () => withPanel(async (page) => {
		const faster = edit(page, "faster");
		await faster.locator("input[type=checkbox]").check();
		await predicted(page, "faster:gpu:50");
		const gpu = (await stateOf(page, "whatIf")).step;
		const kernel = await faster.locator("optgroup[label=Kernels] option").first().getAttribute("value");
		await faster.locator("select").selectOption(kernel);
		await predicted(page, `faster:${kernel}:50`);
		const one = await stateOf(page, "whatIf");
		check(gpu <= one.step && one.step < one.base, `a kernel is a part of the GPU's work: ${gpu}, ${one.step}, ${one.base}`);
		await until(async () => await faster.locator("optgroup[label=Ranges] option").count() > 0, "ranges can be chosen");
		await faster.locator("input[type=range]").fill("90");
		await predicted(page, `faster:${kernel}:90`);
		await until(async () => (await stateOf(page, "whatIf")).step < one.step, "by more");
		await until(async () => await page.locator(".stays .big").isVisible(), "the answer stands beside the switches");
	})],
	["an edit is limited to a place that the diagnosis knows, and the link holds that", () => withPanel(async (page) => {
		const wait = edit(page, "wait-every");
		await wait.locator("input[type=checkbox]").check();
		await predicted(page, "wait-every:10");
		await wait.locator("select").selectOption("cudaStreamSynchronize");
		await predicted(page, "wait-every:10:cudaStreamSynchronize");
		const { step } = await stateOf(page, "whatIf");
		await page.waitForFunction(() => decodeURIComponent(location.hash).includes("cudaStreamSynchronize"));
		const link = await page.evaluate(() => location.href);
		await page.goto("about:blank");
		await page.goto(link);
		await settled(page);
		await predicted(page, "wait-every:10:cudaStreamSynchronize");
		await until(async () => (await stateOf(page, "whatIf")).step === step && await edit(page, "wait-every").locator("select").inputValue() === "cudaStreamSynchronize", "as before");
	})],
]);

await browser.close();
await server.close();
