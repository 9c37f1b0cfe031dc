/* SPDX-License-Identifier: Apache-2.0 */
/* job_test.mjs - `headway view` on the ranks of a job, made by tests/cli/job_make.py: the last rank is late in every step. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cacheHere, check, onPage, openBrowser, openPage, run, settled, skip, stateOf, until, view } from "./common.mjs";
import { data } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const ask = (args) => JSON.parse(execFileSync(process.env.HEADWAY, args, { encoding: "utf8", env: cacheHere(), maxBuffer: 1 << 26 }));
const RANKS = 4;
const folder = mkdtempSync(join(tmpdir(), "headway-job-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const job = join(folder, "late");
try {
	execFileSync("python3", [new URL("../cli/job_make.py", import.meta.url).pathname, job, "slow-gpu", String(RANKS), "12"]);
} catch {
	skip("no python3");
}
const browser = await openBrowser();
const server = await view([job]);
const page = await openPage(browser.context, server.url);

/** The rows of the timeline, as the page lays them out. */
const rows = () => page.evaluate(() => window.headway.timeline.layout.rows.map((r) => (
	{ kind: r.kind, key: r.key, title: r.title, rank: r.rank, depth: r.depth, y: r.y, h: r.h, strips: r.strips.length, lane: r.lane?.type ?? "" })));

await run([
	["the panel has the job's answer: the late rank, what each rank does, and when it is late", async () => {
		await page.waitForSelector("[data-job-finding]");
		const said = await page.locator(".findings").innerText();
		check(said.includes("Rank 3 makes the others wait"), `the verdict: ${said.slice(0, 200)}`);
		await until(async () => await page.locator("[data-job-finding]").first().getAttribute("data-job-finding") === "rank-straggler", "the first finding");
		await until(async () => await page.locator(".job-ranks tr").count() === RANKS && await page.locator(".job-ranks tr.shown").innerText().then((text) => text.includes("rank 3")), "a row for each rank");
		await until(async () => await page.locator(".late-row").nth(3).locator(".late-3, .late-4").count() > 5, "the late rank's row is hot");
		await until(async () => await page.locator(".late-row").nth(0).locator(".late-3, .late-4").count() === 0, "a punctual rank's row is not");
	}],
	["ranks are groups in order, a line each, with their streams' time and their messages", async () => {
		const ranks = (await rows()).filter((r) => r.kind === "rank");
		check(ranks.map((r) => r.rank).join() === "0,1,2,3", `ranks in order: ${ranks.map((r) => r.rank)}`);
		check(ranks.every((r) => r.title.startsWith(`rank ${r.rank}`) && r.title.includes(`GPU ${r.rank}`)), "a rank's title names its GPU");
		check(ranks.every((r) => r.strips > 0 && r.lane === "hardware"), "a chart and messages");
		await until(async () => (await rows()).every((r) => r.kind !== "lane"), "ranks start folded");
	}],
	["a rank that is unfolded has its GPU and its threads inside", async () => {
		await page.locator(".title.rank").nth(2).click();
		await settled(page);
		const inside = (await rows()).filter((r) => r.rank === 2 && r.depth > 0);
		check(inside.some((r) => r.kind === "device"), "its GPU");
		check(inside.some((r) => r.kind === "lane" && r.lane === "api"), "its calls");
		check((await rows()).filter((r) => r.depth > 0).every((r) => r.rank === 2 || r.rank === null), "nothing of other ranks");
		await page.locator(".title.rank").nth(2).click();
		await settled(page);
		check((await stateOf(page, "message")) === "", "nothing went wrong");
	}],
	["names of messages that several threads of a rank wait for do not stand over one another", () => onPage(browser, [join(data, "jobs/ddp_late")], async (other) => {
		await other.keyboard.press("]");
		await settled(other);
		const texts = await other.evaluate(async () => {
			const seen = [];
			const proto = CanvasRenderingContext2D.prototype;
			const { fillText } = proto;
			proto.fillText = function draw(text, x, y) {
				seen.push({ text, x, y, w: this.measureText(text).width });
				return fillText.call(this, text, x, y);
			};
			for (const end = performance.now() + 20_000; performance.now() < end && !seen.some((t) => t.text.startsWith("gloo:"));) {
				seen.length = 0;
				window.headway.timeline.invalidate();
				await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			}
			proto.fillText = fillText;
			return seen.filter((t) => t.text.startsWith("gloo:"));
		});
		check(texts.length > 1, "messages have names");
		for (const a of texts)
			for (const b of texts)
				check(a === b || a.y !== b.y || a.x + a.w <= b.x + 1 || b.x + b.w <= a.x + 1 || (a.text === b.text && a.x === b.x), `"${a.text}" at ${a.x} and "${b.text}" at ${b.x} stand apart`);
	})],
	["a hit of the search has the step of its own rank, as the table has", () => onPage(browser, [join(data, "jobs/halo_late")], async (other) => {
		await other.locator(".span-link .at").first().waitFor();
		const steps = new Map((await other.evaluate(() => window.headway.source.get("table?t=0&q=kernel&n=10000"))).list.map((row) => [row[0], row[6]]));
		const ids = await other.evaluate(() => window.headway.state.found[0].lanes.flatMap((l) => l.first.map((s) => s.id)));
		const said = await other.locator(".span-link .at").allTextContents();
		check(said.length === ids.length && ids.length > 100, `${said.length} hits`);
		const wrong = said.flatMap((text, i) => ((/step (\d+)/.exec(text)?.[1] ?? "none") === String(steps.get(ids[i]) ?? "none") ? [] : [`${text} for step ${steps.get(ids[i])}`]));
		check(!wrong.length, `${wrong.length} of ${said.length}: ${wrong.slice(0, 3).join("; ")}`);
	}, "#from=0&to=1&panel=search&q=kernel")],
	["idle time by cause is that of each rank by its own recording, on its row and in the selection, in a self-contained page too", () => onPage(browser, [join(data, "jobs/ddp_late")], async (other) => {
		const causes = [0, 1].map((rank) => Object.fromEntries(ask(["sql", join(data, `jobs/ddp_late/rank${rank}.hwy`), "--format", "json", "select cause, sum(duration) as ns from gaps group by 1"]).map((r) => [r.cause, r.ns])));
		check(causes[1].input > 4e8 && causes[0].input < 1e6, `rank 1 waits for input, rank 0 does not: ${JSON.stringify(causes)}`);
		const rowsOfGaps = () => other.evaluate(() => window.headway.timeline.layout.rows.filter((r) => r.kind === "gaps").map((r) => ({ rank: r.rank, device: r.device, y: 26 + r.y + r.h / 2 + (r.pinned ? 0 : window.headway.timeline.layout.pinnedHeight) })));
		const gaps = await rowsOfGaps();
		check(gaps.map((r) => r.rank).join() === "0,1", `a row of each rank, none of the GPU that they share: ${JSON.stringify(gaps)}`);
		await other.keyboard.press("]");
		await settled(other);
		const box = await other.locator("canvas.timeline").boundingBox();
		await other.mouse.move(box.x + box.width / 2, box.y + (await rowsOfGaps())[1].y);
		await until(async () => (await other.locator(".tip").allInnerTexts()).join().includes("idle: input"), async () => `the tip: ${await other.locator(".tip").allInnerTexts()}; ${JSON.stringify([box, await rowsOfGaps(), await stateOf(other, "window")])}`);
		const html = join(folder, "ddp_late.html");
		execFileSync(process.env.HEADWAY, ["view", join(data, "jobs/ddp_late"), "--html", html], { env: cacheHere() });
		const alone = await openPage(browser.context, pathToFileURL(html).href);
		for (const one of [other, alone]) {
			await one.evaluate(() => { const { start, end } = window.headway.state.traces[0].info; location.hash = `#from=${start}&to=${end}&range=${start},${end}&panel=selection`; });
			await one.waitForFunction(() => window.headway.state.intervals[0]?.devices.length > 1);
			const devices = await one.evaluate(() => window.headway.state.intervals[0].devices);
			check(devices[0].causes === null && devices.length === 3, "the GPU itself has no causes");
			for (const [rank, wanted] of causes.entries())
				check(Object.entries(wanted).every(([cause, ns]) => Math.abs((devices[rank + 1].causes[cause] ?? 0) - ns) <= (one === alone ? ns / 100 + 1e4 : 0)), `rank ${rank}: ${JSON.stringify(devices[rank + 1].causes)} is ${JSON.stringify(wanted)}`);
			check(devices[2].title.startsWith("rank 1"), devices[2].title);
		}
		await alone.close();
	})],
	["cards of a job show their evidence and lead to what if, whose numbers are those of the command; bar and text are one number", () => onPage(browser, [join(data, "jobs/ddp_late")], async (other) => {
		const told = ask(["analyze", join(data, "jobs/ddp_late"), "--format", "json"]).job;
		const [worth] = ask(["whatif", join(data, "jobs/ddp_late"), "--apply", "straggler:1", "--format", "json"]).predictions;
		const ms = (ns) => `${(ns / 1e6).toFixed(ns < 1e7 ? 2 : 1)} ms`;
		const card = (id) => other.locator(`[data-job-finding=${id}]`);
		const text = await card("rank-straggler").locator(".gain").textContent();
		const { predicted } = told.findings[0];
		check(text.includes(`${ms(predicted.before_ns)} → ${ms(worth.step_ns)}`) && text.includes(`${worth.speedup.toFixed(2)}×`), `as the command says: ${text}`);
		const starved = told.findings[1];
		const wide = await card("input-starved").locator(".bar").evaluate((bar) => parseFloat(bar.style.width));
		check((await card("input-starved").locator(".gain").textContent()).includes(ms(starved.most_ns)) && Math.abs(wide - starved.most_ns / told.step_ns * 100) < 0.01, `${wide} % of the card is ${ms(starved.most_ns)} of a step`);
		await card("input-starved").locator("button.show").click();
		await other.locator(".evidence", { hasText: `of ${starved.evidence.length}` }).waitFor();
		const { span } = await stateOf(other, "selected");
		check(/rank 1/.test(await other.evaluate((lane) => window.headway.timeline.layout.rows.find((r) => r.lane?.lane === lane)?.rank === 1 ? "rank 1" : "", span.lane)), "the evidence is of the rank that waits");
		await card("rank-straggler").locator("button.try").click();
		await other.locator(".prediction .big", { hasText: `${worth.speedup.toFixed(2)}×` }).waitFor();
		const answer = await stateOf(other, "whatIf");
		check(answer.step === worth.step_ns && answer.ops.some((op) => op[5] > 1e6 && op[7] < op[5] / 2), "the step of the command, in which rank 0 waits less");
		await until(async () => await other.locator("[data-edit=straggler] input[type=checkbox]").isEnabled(), "the edit can be switched");
	})],
	["what is said of a job stands there whole, however long its sentences are", async () => {
		for (const name of ["ddp_turns", "ddp_late"])
			await onPage(browser, [join(data, "jobs", name)], async (other) => {
				await other.waitForSelector("[data-job-finding]");
				const { says, lateness, findings, problems } = await other.evaluate(() => window.headway.state.traces[0].diagnosis.job);
				const shown = (await other.locator(".findings").textContent()).replace(/\s+/g, " ");
				const sentences = [says, lateness.says, ...findings.map((f) => f.says), ...problems].filter(Boolean);
				check(sentences.some((text) => text.length > 200), `${name} says something long`);
				for (const text of sentences)
					check(shown.includes(text.replace(/\s+/g, " ")), `whole: ${text}`);
			});
	}],
]);
await browser.close();
await server.close();
