/* SPDX-License-Identifier: Apache-2.0 */
/* alone_test.mjs - the self-contained page where its size limit bites: it starts and says what it lacks, or is not written. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { cacheHere, check, openBrowser, openPage, run, skip } from "./common.mjs";
import { makeFolder, pick } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const folder = makeFolder();
const browser = await openBrowser();

/** A recording of so many threads, whose names do not compress. */
function threads(n) {
	const file = folder.path(`threads${n}.json`);
	const events = [{ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 7, tid: 1, ts: 10, dur: 5, args: { correlation: 1 } },
		{ ph: "X", cat: "kernel", name: "k", pid: 0, tid: 7, ts: 20, dur: 60, args: { correlation: 1, device: 0, stream: 7 } }];
	for (let t = 2; t < n; t++) {
		events.push({ ph: "M", name: "thread_name", pid: 7, tid: t, args: { name: createHash("sha512").update(String(t)).digest("hex") } });
		events.push({ ph: "X", cat: "cpu_op", name: "op", pid: 7, tid: t, ts: t, dur: 5 });
	}
	writeFileSync(file, JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: "GPU" }], traceEvents: events }));
	return file;
}

const write = (recording, html, size) =>
	spawnSync(process.env.HEADWAY, ["view", recording, "--html", html, `--max-size=${size}`], { encoding: "utf8", env: cacheHere() });

await run([
	["a page that is too small for all of a recording starts, and says what was left out", async () => {
		const html = folder.path("small.html");
		const done = write(folder.unpack(pick("starve_0", "streams_pinned4", "power_base") ?? skip("no recordings")), html, 1);
		check(done.status === 0 && statSync(html).size <= 1_000_000, `it is written, within its limit: ${done.stderr}`);
		const lines = done.stderr.trim().split("\n");
		check(new Set(lines).size === lines.length, `each thing that was left out is said once: ${done.stderr}`);
		const page = await openPage(browser.context, pathToFileURL(html).href);
		check(await page.locator(".title").count() > 3, "its lanes are there");
		await page.close();
	}],
	["a page that cannot hold even its lanes is not written, and the command says how large it must be", async () => {
		const recording = threads(12_000);
		const html = folder.path("threads.html");
		const done = write(recording, html, 1);
		check(done.status === 2 && !existsSync(html), `exit status ${done.status}, no file`);
		const size = /--max-size=(\d+)/.exec(done.stderr)?.[1];
		check(done.stderr.trim().split("\n").length === 1 && size, `one sentence: ${done.stderr}`);
		check(write(recording, html, size).status === 0, `it fits into ${size} MB`);
		const page = await openPage(browser.context, pathToFileURL(html).href);
		check(await page.evaluate(() => window.headway.state.traces[0].lanes.lanes.length) >= 12_000, "and has its lanes");
		await page.close();
	}],
]);
await browser.close();
folder.remove();
