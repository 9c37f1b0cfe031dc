/* SPDX-License-Identifier: Apache-2.0 */
/* page.mjs REPORT... - how fast the page of `headway view` works in a real browser, a column for each report.
 *
 * HEADWAY names the binary. Times are ms: until the address, the complete picture and the diagnosis are there; between animation frames and of
 * drawing alone while one zooms and pans; from a jump to the complete picture. No threshold: bench/run has those. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { cacheHere, openBrowser } from "../tests/browser/common.mjs";

const MOVES = 60;
const JUMPS = 40;
/** So long the diagnosis of a large report is waited for. */
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 240_000);

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
const spread = (times) => {
	const sorted = [...times].sort((a, b) => a - b);
	return `${at(sorted, 0.5).toFixed(1)}, ${at(sorted, 0.95).toFixed(1)}, ${sorted.at(-1)?.toFixed(1)}`;
};

/** `headway view` on a report: its address, the ms until it was there, its process. */
async function start(report) {
	const begin = performance.now();
	const child = spawn(process.env.HEADWAY, ["view", "--no-browser", report], { stdio: ["ignore", "pipe", "inherit"], env: cacheHere() });
	const url = await new Promise((found) => {
		let said = "";
		child.stdout.on("data", (bytes) => {
			said += bytes;
			const address = /http:\/\/127\.0\.0\.1:\d+\/[^/\s]+\//.exec(said);
			if (address)
				found(address[0]);
		});
	});
	return { child, url, ms: performance.now() - begin };
}

/** Until no tile is under way and a frame was drawn after the last one came. */
const complete = (page) => page.evaluate(async () => {
	const { timeline } = window.headway;
	for (let quiet = 0; quiet < 2;) {
		await new Promise((done) => requestAnimationFrame(done));
		quiet = timeline.tiles.waiting ? 0 : quiet + 1;
	}
});

/** What the browser received so far, compressed as it came. */
async function countBytes(context, page) {
	const session = await context.newCDPSession(page);
	const seen = { bytes: 0 };
	await session.send("Network.enable");
	session.on("Network.loadingFinished", (event) => { seen.bytes += event.encodedDataLength; });
	return seen;
}

/** What came until the page itself found its first picture complete (web/src/main.tsx): later panels come right behind it. */
const bytesOfPicture = (page) => page.waitForFunction(() => {
	const picture = performance.getEntriesByName("headway picture")[0]?.startTime;
	const came = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
	return picture && came.filter((one) => one.responseEnd <= picture).reduce((sum, one) => sum + one.transferSize, 0);
}).then((bytes) => bytes.jsonValue());

/** Turns the wheel or presses a key so many times, one a frame; times between frames and of drawing. */
async function moving(page, act) {
	await page.evaluate(() => {
		const seen = { frames: [], last: 0, on: true };
		window.seen = seen;
		const tick = (now) => {
			if (seen.last)
				seen.frames.push(now - seen.last);
			seen.last = now;
			if (seen.on)
				requestAnimationFrame(tick);
		};
		requestAnimationFrame(tick);
		window.headway.timeline.frames.length = 0;
	});
	for (let i = 0; i < MOVES; i++) {
		await act(i);
		await page.waitForTimeout(16);
	}
	const { frames, drawing } = await page.evaluate(() => {
		window.seen.on = false;
		return { frames: window.seen.frames, drawing: [...window.headway.timeline.frames] };
	});
	return `${spread(frames)}; ${spread(drawing)}`;
}

async function jumps(page) {
	const times = [];
	for (let i = 0; i < JUMPS; i++)
		times.push(await page.evaluate(async (seed) => {
			const { state, timeline } = window.headway;
			const { start, end } = state.traces[0].info;
			const share = (seed * 0.6180339887) % 1;
			const width = (end - start) * 10 ** -(1 + (seed % 5));
			const begin = performance.now();
			state.from = start + (end - start - width) * share;
			state.to = state.from + width;
			timeline.invalidate();
			for (let quiet = 0; quiet < 2;) {
				await new Promise((done) => requestAnimationFrame(done));
				quiet = timeline.tiles.waiting ? 0 : quiet + 1;
			}
			return performance.now() - begin;
		}, i + 1));
	return spread(times);
}

const memoryOf = (pid) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

async function measure(context, report) {
	const { child, url, ms: untilAddress } = await start(report);
	const rows = [["address printed", untilAddress.toFixed(0)]];
	const page = await context.newPage();
	const seen = await countBytes(context, page);
	const begin = performance.now();
	await page.goto(url);
	await page.waitForFunction(() => window.headway?.timeline.frames.length > 0);
	await complete(page);
	const ms = performance.now() - begin;
	rows.push(["to the complete picture", ms.toFixed(0)], ["  kB until then", (await bytesOfPicture(page) / 1e3).toFixed(0)]);
	const diagnosed = await page.waitForFunction(() => window.headway.state.traces.every((t) => t.diagnosis || t.failed || t.info.diagnosis === "none"), null, { timeout: PATIENCE_MS, polling: 20 })
		.then(() => (performance.now() - begin).toFixed(0), () => `not within ${PATIENCE_MS / 1000} s`);
	rows.push(["diagnosis in the page", diagnosed]);
	await page.waitForTimeout(1500);
	rows.push(["  kB until then", (seen.bytes / 1e3).toFixed(0)]);
	await page.keyboard.press("0");
	await complete(page);
	const box = await page.locator("canvas.timeline").boundingBox();
	await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.4);
	rows.push(["zoom in: frames p50, p95, most; drawing", await moving(page, () => page.mouse.wheel(0, -120))]);
	rows.push(["pan", await moving(page, (i) => page.keyboard.press(i % 20 < 10 ? "d" : "a"))]);
	rows.push(["zoom out", await moving(page, () => page.mouse.wheel(0, 120))]);
	rows.push(["jump to complete picture", await jumps(page)]);
	rows.push(["server's own memory, MB", memoryOf(child.pid).toFixed(0)]);
	const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize / 1e6);
	rows.push(["page's heap, MB", heap.toFixed(0)]);
	await page.close();
	const ended = new Promise((done) => child.on("exit", done));
	child.kill("SIGINT");
	await ended;
	return rows;
}

const browser = await openBrowser({ width: 1920, height: 1080 });
for (const report of process.argv.slice(2)) {
	console.log(report.split("/").at(-1));
	for (const [what, value] of await measure(browser.context, report))
		console.log(`  ${what.padEnd(42)} ${value}`);
}
await browser.close();
