/* SPDX-License-Identifier: Apache-2.0 */
/* firefox.mjs - Debian's Firefox, driven by WebDriver BiDi through puppeteer-core; tests skip where one of them is absent. */
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { settled, skip } from "./common.mjs";

const BROWSERS = [process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"];

function puppeteer() {
	try {
		return createRequire(new URL("../../web/package.json", import.meta.url))("puppeteer-core");
	} catch {
		return skip("no puppeteer-core (npm --prefix web ci)");
	}
}

export async function openFirefox() {
	const executablePath = BROWSERS.find((path) => path && existsSync(path)) ?? skip("no Firefox (Debian: firefox-esr)");
	return puppeteer().launch({ browser: "firefox", executablePath, headless: true, defaultViewport: { width: 1280, height: 800 } });
}

/** Opens an address; what goes wrong in the page fails the test. */
export async function openFirefoxPage(firefox, url) {
	const page = await firefox.newPage();
	page.on("pageerror", (error) => {
		console.error(error.stack);
		process.exitCode = 1;
	});
	await page.goto(url);
	await page.waitForFunction(() => window.headway?.timeline.frames.length > 1);
	await settled(page);
	return page;
}
