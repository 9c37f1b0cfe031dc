/* SPDX-License-Identifier: Apache-2.0 */
/* notebook_test.mjs - what headway.show puts into a notebook, in a browser: a page inside a page, without a server. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtPage, later, newPage, openBrowser, skip, until } from "./common.mjs";

const python = "/usr/bin/python3";
if (!process.env.HEADWAY_BUILD || !existsSync(python))
	skip("needs a build and python3");
builtPage();
const folder = mkdtempSync(join(tmpdir(), "headway-notebook-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const shown = execFileSync(python, ["-c", "import headway, sys; print(headway.show(sys.argv[1])._repr_html_())",
	join(process.env.DATA, "gpu/mlp_sync.hwy")], { encoding: "utf8", maxBuffer: 1 << 26, env: { ...process.env,
	HEADWAY_HOME: process.env.HEADWAY_BUILD, PYTHONDONTWRITEBYTECODE: "1",
	PYTHONPATH: new URL("../../python", import.meta.url).pathname } });
writeFileSync(join(folder, "cell.html"), `<!doctype html><meta charset="utf-8"><script>window.secret = 1</script>${shown}`);

const browser = await openBrowser({ width: 1100, height: 800 });
const page = await newPage(browser.context);
const errors = [], asked = [];
page.on("pageerror", (error) => errors.push(String(error)));
page.on("request", (request) => asked.push(request.url()));
await page.goto(`file://${folder}/cell.html`);
const frame = page.frames()[1];
await frame.waitForFunction(() => window.headway?.timeline.frames.length > 1);

function check(holds, sentence) {
	console.log(`${holds ? "ok" : "FAILED"}: ${sentence}`);
	if (!holds)
		process.exitCode = 1;
}
check(await frame.evaluate(() => window.headway.state.traces.length) === 1, "the page in the cell has the recording");
check((await frame.evaluate(() => document.body.innerText)).includes("the CPU waits for the GPU"), "the page in the cell has the findings");
await frame.locator("canvas").first().hover();
await page.keyboard.down("Control");
await page.mouse.wheel(0, -400);
await page.keyboard.up("Control");
await later(frame, 500); // the address would follow the view after 200 ms
check(errors.length === 0, `zooming in the cell raises nothing: ${errors.slice(0, 2)}`);
check(asked.every((url) => url.startsWith("file://") || url.startsWith("about:") || url.startsWith("data:")),
	`nothing is asked of any server: ${asked.filter((url) => url.startsWith("http"))}`);
check(!await frame.evaluate(() => {
	try {
		return !!window.parent.secret;
	} catch {
		return false;
	}
}), "the page in the cell cannot reach the notebook");
await page.locator("summary").first().click();
await until(async () => (await page.locator("details").first().innerText()).includes("Keep the value on the GPU"), "a finding opens with its advice, line by line");
await browser.close();
