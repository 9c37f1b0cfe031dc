/* SPDX-License-Identifier: Apache-2.0 */
/* common.mjs - what the browser tests share: a browser, `headway view`, the sentences of a test.
 *
 * A test is a sentence and a function; check() ends the run at the first that does not hold. What follows an action on the page is
 * waited for with until(), never for a time; check() is for what is known already, and for what an action must not change.
 * HEADWAY_BROWSER_SLOW=6 makes Chromium's pages six times as slow: what a test takes for granted fails there. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SKIP = 77;
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync"];
const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function skip(why) {
	console.log(`skipped: ${why}`);
	process.exit(SKIP);
}

const web = new URL("../../web/", import.meta.url);

function playwright() {
	try {
		return createRequire(new URL("package.json", web))("playwright-core");
	} catch {
		return skip("no playwright-core (npm --prefix web ci)");
	}
}

/** The page as it was built last, where it was. */
export function builtPage() {
	const path = [process.env.HEADWAY_BUILD && join(process.env.HEADWAY_BUILD, "web/page.html"), new URL("dist/page.html", web).pathname]
		.find((p) => p && existsSync(p)) ?? skip("the page was not built");
	const html = readFileSync(path, "utf8");
	// Without npm a few lines stand in for it.
	return html.includes("<!--HEADWAY_INLINE-->") && html.length > 20_000 ? html : skip("the page was not built (npm --prefix web ci)");
}

/** A browser with a profile of its own, gone with it. */
export async function openBrowser(viewport = { width: 1600, height: 900 }, more = {}) {
	const executablePath = BROWSERS.find((path) => path && existsSync(path)) ?? skip("no browser (Debian: chromium)");
	const profile = mkdtempSync(join(tmpdir(), "headway-browser-"));
	const context = await playwright().chromium.launchPersistentContext(profile, { executablePath, args: FLAGS, viewport, ...more });
	return { context, close: async () => {
		await context.close();
		rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
	} };
}

/** How many times as slow as it is Chromium runs the pages. */
const SLOW = Math.max(1, Number(process.env.HEADWAY_BROWSER_SLOW ?? 1) || 1);
/** So long a state of the page may take: an end for what never comes. */
const PATIENCE_MS = 20_000 * SLOW;

/** A new page, as slow as the environment wants it. */
export async function newPage(context) {
	const page = await context.newPage();
	if (SLOW > 1) {
		page.setDefaultTimeout(30_000 * SLOW);
		await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: SLOW });
	}
	return page;
}

let cache = "";

/** The environment with a cache folder of the test's own, gone at its end. */
export function cacheHere() {
	if (!cache) {
		cache = mkdtempSync(join(tmpdir(), "headway-cache-"));
		process.on("exit", () => rmSync(cache, { recursive: true, force: true }));
	}
	return { ...process.env, XDG_CACHE_HOME: cache };
}

// A test that fails ends at once: the servers that run then end with it.
const servers = new Set();
process.on("exit", () => servers.forEach((server) => server.kill("SIGINT")));

/** `headway view` on these files: its address and how to end it. */
export async function view(files, options = []) {
	const headway = process.env.HEADWAY ?? skip("no headway binary");
	const child = spawn(headway, ["view", "--no-browser", ...options, ...files], { stdio: ["ignore", "pipe", "pipe"], env: cacheHere() });
	const url = await new Promise((found, failed) => {
		let said = "";
		const hear = (bytes) => {
			said += bytes;
			const address = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(said);
			if (address)
				found(address[0]);
		};
		child.stdout.on("data", hear);
		child.stderr.on("data", hear);
		child.on("exit", () => (/libmicrohttpd/.test(said) ? skip(said.trim()) : failed(new Error(`headway view: ${said}`))));
	});
	servers.add(child);
	return { url, close: () => new Promise((done) => {
		servers.delete(child);
		child.on("exit", done);
		child.kill("SIGINT");
	}) };
}

/** The page that asks, or null where that is not known yet (a page that is being opened). */
export function pageOf(request) {
	try {
		return request.frame().page();
	} catch {
		return null;
	}
}

/** Opens an address; what goes wrong in the page fails the test. */
export async function openPage(context, url) {
	const page = await newPage(context);
	page.on("pageerror", (error) => {
		console.error(error.stack);
		process.exitCode = 1;
	});
	await page.goto(url);
	await page.waitForFunction(() => window.headway?.timeline.frames.length > 1);
	await settled(page);
	return page;
}

/** Runs a test on the page of these files: with the page and its server, both gone afterwards. */
export async function onPage(browser, files, test, hash = "") {
	const server = await view(files);
	const page = await openPage(browser.context, server.url + hash);
	try {
		await test(page, server);
	} finally {
		await page.close();
		await server.close();
	}
}

/** Until the diagnosis and all panels are there, nothing is left to draw, and no tile is under way. */
export async function settled(page) {
	await page.waitForFunction(() => window.headway);
	const there = await page.evaluate(async (slow) => {
		const pause = (ms) => new Promise((done) => setTimeout(done, ms));
		const end = performance.now() + 60_000 * slow;
		while (!window.headway && performance.now() < end)
			await pause(20);
		const { state, timeline } = window.headway;
		while (!state.traces.every((t) => t.diagnosis || t.failed || t.info.diagnosis === "none")) {
			if (performance.now() > end)
				return false;
			await pause(20);
		}
		// Panels that come behind the first picture open at once from here on.
		while (!window.headway.lateNow() && performance.now() < end)
			await pause(20);
		for (let quiet = 0; quiet < 3;) {
			await pause(40);
			// What is to be drawn may ask for tiles yet.
			quiet = timeline.queued || timeline.tiles.waiting ? 0 : quiet + 1;
		}
		return true;
	}, SLOW);
	check(there, "the diagnosis is there within a minute");
}

/** Where the middle of a lane's row is on the screen, by its kind or lane type; `time` adds a place along it. */
export async function pointOf(page, what, time) {
	const box = await page.locator("canvas.timeline").boundingBox();
	const at = await page.evaluate(([wanted, when]) => {
		const { timeline, state } = window.headway;
		const row = timeline.layout.rows.find((r) => r.kind === wanted || r.lane?.type === wanted && r.kind === "lane");
		const y = 26 + row.y + Math.min(row.h, row.level) / 2 + (row.pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll);
		return { y, share: when === undefined ? 0.5 : (when - state.from) / (state.to - state.from) };
	}, [what, time]);
	return { x: box.x + at.share * box.width, y: box.y + at.y };
}

export const stateOf = (page, part) => page.evaluate((key) => {
	const { state } = window.headway;
	return key === "window" ? { from: state.from, to: state.to } : JSON.parse(JSON.stringify(state[key]));
}, part);

export function check(holds, what) {
	if (!holds)
		throw new Error(`does not hold: ${what}`);
}

/** Waits until it holds, and no longer; what is not there yet does not hold. `what` may be a function, for what there is instead. */
export async function until(holds, what) {
	const end = performance.now() + PATIENCE_MS;
	for (let pause = 5; ; pause = Math.min(2 * pause, 100)) {
		let error = null;
		if (await Promise.resolve().then(holds).catch((e) => { error = e; }))
			return;
		if (performance.now() > end)
			throw new Error(`does not hold: ${typeof what === "function" ? await what() : what}`, { cause: error });
		await new Promise((done) => { setTimeout(done, pause); });
	}
}

/** The value of `ask` once it holds for it. */
export async function when(ask, holds, what) {
	let value;
	await until(async () => holds(value = await ask()), () => (typeof what === "function" ? what(value) : what));
	return value;
}

/** Until what the page does so many ms after an action is done: a timer of its own is behind those that it has set, however slow it is. */
export const later = (page, ms) => page.evaluate((n) => new Promise((done) => { setTimeout(done, n); }), ms);

/** Until the page was drawn as it is now. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => done())); }));

/** Runs the tests in order, with ONLY=TEXT those whose sentence has the text; the first failure ends the run. */
export async function run(tests) {
	for (const [sentence, test] of tests.filter(([one]) => one.includes(process.env.ONLY ?? ""))) {
		const begin = performance.now();
		try {
			await test();
		} catch (error) {
			console.error(`FAILED ${sentence}\n${error.stack}`);
			process.exit(1);
		}
		console.log(`ok ${sentence} (${Math.round(performance.now() - begin)} ms)`);
	}
}
