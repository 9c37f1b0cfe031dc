/* SPDX-License-Identifier: Apache-2.0 */
/* screenshots.mjs FOLDER - pictures of the main states, as docs/img/ keeps them. Not a test: run it by hand and look.
 *
 * Needs HEADWAY and SHARED as the tests do. */
import { join } from "node:path";
import { openBrowser, openPage, pointOf, settled, skip, view } from "./common.mjs";
import { data, makeFolder, pick } from "./recordings.mjs";

const out = process.argv[2] ?? skip("usage: screenshots.mjs FOLDER");
const folder = makeFolder();
const browser = await openBrowser({ width: 1440, height: 860 });

async function shoot(files, states) {
	const server = await view(files.map((name) => (name.endsWith(".hwy") ? join(data, name) : folder.unpack(pick(name)))));
	const page = await openPage(browser.context, server.url);
	for (const [name, prepare] of states) {
		await prepare(page);
		await settled(page);
		await page.waitForTimeout(400);
		await page.screenshot({ path: join(out, `view-${name}.png`) });
	}
	await page.close();
	await server.close();
}

const light = async (page) => {
	await page.locator("[data-finding] .show").first().click();
	await page.waitForFunction(() => window.headway.state.lit?.spans.length > 0);
	await settled(page);
};

await shoot(["mlp_sync"], [
	["overview", async () => {}],
	["finding", light],
	["span", async (page) => {
		await page.keyboard.press("Escape");
		await page.mouse.move(5, 5);
		const time = await page.evaluate(() => {
			const { state } = window.headway;
			return state.from + (state.to - state.from) * 0.57;
		});
		const at = await pointOf(page, "stream", time);
		await page.mouse.click(at.x, at.y);
		await page.mouse.move(5, 5);
		await page.waitForSelector(".details .follow");
	}],
	["whatif", async (page) => {
		await page.keyboard.press("Escape");
		await page.keyboard.press("5");
		await page.waitForSelector(".suggestion");
		await page.locator(".suggestion").first().click();
		await page.waitForFunction(() => window.headway.state.whatIf?.speedup > 1.01 && !window.headway.state.asking);
	}],
	["dark", async (page) => {
		await page.keyboard.press("1");
		await page.keyboard.press("p");
		await page.locator("button.theme").click();
		await page.mouse.move(5, 5);
	}],
]);
await shoot(["mlp_sync", "mlp_async"], [["two", async (page) => {
	for (const key of [..."]]]]sssss"])
		await page.keyboard.press(key);
}]]);
await shoot(["torch/mlp_sync.hwy"], [["roofline", async (page) => {
	await page.keyboard.press("6");
	await page.locator(".roofline-table tbody tr").first().click();
}]]);
await shoot(["streams_metrics"], [["counters", async (page) => {
	await page.locator(".title.group", { hasText: "GPU metrics" }).click();
	const box = await page.locator("canvas.timeline").boundingBox();
	await page.mouse.move(box.x + box.width * 0.62, box.y + box.height * 0.6);
}]]);
await shoot(["gpu/mlp_sync.hwy"], [
	["palette", async (page) => {
		await page.keyboard.press("Control+k");
		await page.waitForSelector("dialog.palette");
		await page.keyboard.type("step");
	}],
	["table", async (page) => {
		await page.keyboard.press("Escape");
		await page.keyboard.press("Control+k");
		await page.waitForSelector("dialog.palette");
		await page.keyboard.type("vary most");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => document.querySelectorAll(".dock [role=row]").length > 5);
	}],
	["selection", async (page) => {
		await page.keyboard.press("9");
		await page.keyboard.press("]");
		await page.keyboard.press("E");
		await page.waitForSelector("aside .headway");
		await page.mouse.move(5, 5);
	}],
	["keyboard", async (page) => {
		await page.keyboard.press("i");
		await page.keyboard.press("ArrowRight");
		await page.keyboard.press("Enter");
		await page.waitForSelector("aside .details");
	}],
]);
await shoot(["programs/frames_cupy.hwy"], [["flame", async (page) => {
	await page.keyboard.press("8");
	await page.waitForSelector(".dock canvas");
}]]);
await shoot(["mlp_sync", "mlp_async"], [["compare", async (page) => {
	await page.keyboard.press("c");
	await page.waitForSelector(".compare-table");
}]]);
await browser.close();
folder.remove();
