/* SPDX-License-Identifier: Apache-2.0 */
/* open_page.mjs FILE [PICTURE] - opens a recording by HEADWAY's view in a browser: the page draws, and has a finding. tests/package_roots uses it with
 * a HEADWAY that runs in a fresh system. */
import { openBrowser, openPage, settled, skip, view } from "./common.mjs";

const file = process.argv[2] ?? skip("usage: open_page.mjs FILE [PICTURE]");
const browser = await openBrowser({ width: 1440, height: 860 });
const server = await view([file]);
const page = await openPage(browser.context, server.url);
await page.waitForSelector("[data-finding]");
await settled(page);
if (process.argv[3])
	await page.screenshot({ path: process.argv[3] });
console.log(`the page shows ${await page.locator("[data-finding]").count()} findings`);
await page.close();
await server.close();
await browser.close();
