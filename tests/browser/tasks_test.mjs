/* SPDX-License-Identifier: Apache-2.0 */
/* tasks_test.mjs - ten things that people want to know, done with mouse and keyboard as a person would: no more than six actions each, and the answer is right.
 *
 * An action is a click, a chord of keys, a text that is typed, or a drag. The truth comes from `headway sql` and `headway diff` on the same recording. */
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheHere, check, openBrowser, openPage, pointOf, run, settled, skip, stateOf, until, view, when } from "./common.mjs";

const MOST_ACTIONS = 6;
const data = process.env.DATA ?? new URL("../data", import.meta.url).pathname;
const headway = process.env.HEADWAY ?? skip("no headway binary");
const web = new URL("../../web/", import.meta.url);
const [mlp, lines, counters, before, after] = ["gpu/mlp_sync.hwy", "programs/frames_cupy.hwy", "nsys/streams_metrics.hwy", "nsys/mlp_sync.hwy", "nsys/mlp_async.hwy"].map((file) => join(data, file));
if (!existsSync(mlp))
	skip("no recordings");

/** Numbers as the page writes them. */
async function units() {
	const { outputFiles } = await createRequire(new URL("package.json", web))("esbuild").build({ entryPoints: [new URL("src/timeline/units.ts", web).pathname], bundle: true, write: false, format: "esm" });
	return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
const { amount, count, duration, exact, withPrefix } = await units();

const ask = (args) => JSON.parse(execFileSync(headway, args, { encoding: "utf8", env: cacheHere(), maxBuffer: 1 << 26 }));
const sql = (file, query) => ask(["sql", file, "--format", "json", query]);

/** The line of the program that each stack was called from: its innermost frame that is not a library's. */
const MINE = `with recursive walk(origin, id, file, line, depth) as (select id, id, file, line, 0 from stacks
	union all select w.origin, s.parent, p.file, p.line, w.depth + 1 from walk w join stacks s on s.id = w.id join stacks p on p.id = s.parent),
	mine as (select origin, file || ':' || line as place, min(depth) from walk where file like '%.py' and file not like '%site-packages%' and file not like '%lib/python%' group by origin)`;

const browser = await openBrowser({ width: 1600, height: 1000 });
const counted = [];

/** A page and a person who counts what they do. */
async function task(name, files, before, walk) {
	const server = await view(files);
	const page = await openPage(browser.context, server.url);
	let actions = 0;
	const does = {
		press: async (key) => { actions++; await page.keyboard.press(key); },
		type: async (text) => { actions++; await page.keyboard.type(text); },
		click: async (what) => { actions++; await (typeof what === "string" ? page.locator(what).first().click() : page.mouse.click(what.x, what.y)); },
		drag: async (from, to) => {
			actions++;
			await page.mouse.move(from.x, from.y);
			await page.mouse.down();
			await page.mouse.move(to.x, to.y, { steps: 5 });
			await page.mouse.up();
		},
		command: async (text) => {
			await does.press("Control+k");
			await page.waitForSelector("dialog.palette");
			await does.type(text);
			await does.press("Enter");
		},
		reads: (what, ...texts) => page.waitForFunction(([selector, wanted]) => [...document.querySelectorAll(selector)].some((e) => wanted.every((t) => e.textContent.includes(t))), [what, texts])
			.catch(async () => { throw new Error(`${what} does not say ${texts.join(", ")}: ${(await page.locator(what).allTextContents()).join(" | ").slice(0, 600)}`); }),
	};
	try {
		await walk(page, does);
	} finally {
		await page.close();
		await server.close();
	}
	check(actions <= MOST_ACTIONS, `${name}: ${actions} actions`);
	counted.push([name, before, actions]);
}

const NOT = "not possible";

await run([
	["the longest idle gap and its cause", () => task("the longest idle gap and its cause", [mlp], NOT, async (page, does) => {
		const [gap] = sql(mlp, `select start, duration, cause from gaps order by duration desc limit 1`);
		await does.command("longest idle gap");
		await does.reads(".note", duration(gap.duration), gap.cause, "inside the steady steps");
		const { range, origin } = await page.evaluate(() => ({ range: window.headway.state.range, origin: window.headway.state.traces[0].info.origin }));
		check(range.from + Number(origin) === gap.start && range.to - range.from === gap.duration, "its time is selected, to the ns");
		// No part of the task: the answer is over when one does something else.
		await page.keyboard.press("+");
		await until(async () => await page.locator(".note[role=status]").count() === 0, "the answer is gone");
	})],
	["the kernel that varies most", () => task("the kernel that varies most", [mlp], NOT, async (page, does) => {
		const [most] = sql(mlp, "select name, count(*) as n, sqrt((sum(1.0 * duration * duration) - 1.0 * sum(duration) * sum(duration) / count(*)) / (count(*) - 1)) as sd from kernel group by name having count(*) > 1 order by sd desc limit 1");
		await does.command("vary most");
		await page.waitForFunction(() => document.querySelectorAll(".dock [role=row]").length > 2);
		await when(() => page.locator(".dock [role=row]").nth(1).textContent(), (first) => first.includes(duration(most.sd)) && first.includes(count(most.n)),
			(first) => `the first row is ${most.name}, ${duration(most.sd)}: ${first}`);
	})],
	["all launches from one line", () => task("all launches from one line", [lines], NOT, async (page, does) => {
		const [{ n }] = sql(lines, `${MINE} select count(*) as n from api a join mine m on m.origin = a.stack_id where a.role = 'launch' and m.place = 'frames_cupy.py:23'`);
		check(n > 10, `the line has launches: ${n}`);
		await does.press("9");
		await does.click(".dock input.query");
		await does.type("launch line:frames_cupy.py:23");
		await page.waitForFunction((all) => window.headway.state.table.sums?.rows === all, n);
		await until(async () => (await page.locator(".dock [role=row]").nth(1).textContent()).includes("frames_cupy.py:23"), "and lists them");
	})],
	["bytes copied in an interval", () => task("bytes copied in an interval", [counters], NOT, async (page, does) => {
		const box = await page.locator("canvas.timeline").boundingBox();
		await does.drag({ x: box.x + box.width * 0.3, y: box.y + 8 }, { x: box.x + box.width * 0.6, y: box.y + 8 });
		await page.waitForSelector("aside .copies");
		const { range, origin } = await page.evaluate(() => ({ range: window.headway.state.range, origin: Number(window.headway.state.traces[0].info.origin) }));
		// A copy that the interval cuts counts with the bytes of its time inside.
		const [from, to] = [range.from + origin, range.to + origin];
		const rows = sql(counters, `select direction, count(*) as n, sum(bytes * (min("end", ${to}) - start) / duration - bytes * (max(start, ${from}) - start) / duration) as bytes, sum(bytes) as whole,
			sum(min("end", ${to}) - max(start, ${from})) as ns from copy where start < ${to} and "end" > ${from} group by direction`);
		check(rows.length === 2, "copies of both directions");
		check(rows.some((row) => withPrefix(row.whole, "B") !== withPrefix(row.bytes, "B")), "the interval cuts a copy");
		for (const row of rows)
			await does.reads("aside .copies tr", `${count(row.n)}×`, withPrefix(row.bytes, "B"), withPrefix(row.bytes / row.ns * 1e9, "B/s"));
	})],
	["the headway lost after one wait", () => task("the headway lost after one wait", [mlp], "3: the chart, pointed at twice", async (page, does) => {
		await does.click("[data-finding=sync-in-loop] .show");
		await page.waitForFunction(() => window.headway.state.lit?.spans.length > 0);
		await settled(page);
		const wait = await page.evaluate(() => {
			const { state, timeline } = window.headway;
			const span = state.lit.spans[state.lit.at];
			const row = timeline.layout.byLane.get(`0/${span.lane}`);
			const box = document.querySelector("canvas.timeline").getBoundingClientRect();
			return { id: span.id, start: span.start, end: span.start + span.dur, x: box.x + (span.start + span.dur / 2 - state.from) / (state.to - state.from) * box.width,
				y: box.y + 26 + row.y + 2 + ((span.row ?? 0) + 0.5) * row.level + (row.pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll) };
		});
		await does.click(wait);
		await page.waitForFunction((id) => window.headway.state.selected?.span.id === id, wait.id);
		await does.press("e");
		const lead = (time) => sql(mlp, `select count(*) as n from (select call, "end" from kernel union all select call, "end" from copy union all select call, "end" from fill) w join api a on a.id = w.call where a.start <= ${time} and w."end" > ${time}`)[0].n;
		const origin = Number(await page.evaluate(() => window.headway.state.traces[0].info.origin));
		const text = (n) => (n ? `${count(n)} operation` : "nothing");
		await does.reads("aside .headway tr", "at the begin", text(lead(wait.start + origin)));
		await does.reads("aside .headway tr", "at the end", text(lead(wait.end + origin)));
		check(lead(wait.start + origin) > lead(wait.end + origin), "the wait ate headway");
	})],
	["a counter's mean over a step", () => task("a counter's mean over a step", [counters], NOT, async (page, does) => {
		const step = await page.evaluate(() => window.headway.state.traces[0].steps.phases[window.headway.state.traces[0].steps.main].steps[2]);
		await does.click(await pointOf(page, "steps", (step[0] + step[1]) / 2));
		await does.press("E");
		await page.waitForSelector("aside .metrics");
		const range = await stateOf(page, "range");
		check(range.from === step[0] && range.to === step[1], "the time of the step");
		const origin = Number(await page.evaluate(() => window.headway.state.traces[0].info.origin));
		const [from, to] = [range.from + origin, range.to + origin];
		// A value holds until the next one.
		const [{ mean }] = sql(counters, `select sum(v * part) / sum(part) as mean from (select v, 1.0 * (min(till, ${to}) - max(start, ${from})) as part from
			(select c.value as v, c.start as start, lead(c.start) over (order by c.start) as till from counter c join counters n on n.lane_id = c.lane_id where n.name like '%SMs Active%')
			where start < ${to} and till > ${from})`);
		await does.reads("aside .metrics tr", "SMs Active", amount(mean, "%"));
	})],
	["the slowest step and why", () => task("the slowest step and why", [mlp], "18: a bar a step, not why", async (page, does) => {
		const [step] = sql(mlp, "select name, duration, busy from steps where steady = 1 order by duration desc limit 1");
		const steps = sql(mlp, "select duration - busy as idle, busy from steps where steady = 1");
		const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
		const idle = step.duration - step.busy - median(steps.map((s) => s.idle));
		await does.command("slowest step");
		await does.reads(".note", `${step.name}, ${duration(step.duration)}`, `idles ${duration(idle)} longer`);
	})],
	["what changed most between two runs", () => task("what changed most between two runs", [before, after], NOT, async (page, does) => {
		const told = ask(["diff", before, after, "--format", "json"]);
		const most = told.split.sort((a, b) => Math.abs(b.change_ns) - Math.abs(a.change_ns))[0];
		await does.press("c");
		await page.waitForSelector(".compare-table");
		const first = await page.locator(".compare-table tbody tr").first().textContent();
		check(first.includes(most.part.replace("idle_", "")) && first.includes(duration(Math.abs(most.change_ns))), `${most.part} stands first: ${first}`);
	})],
	["the Python line that costs most GPU time", () => task("the Python line that costs most GPU time", [lines], NOT, async (page, does) => {
		const work = "(select duration, call from kernel union all select duration, call from copy union all select duration, call from fill)";
		const [line] = sql(lines, `${MINE} select m.place as place, count(*) as n, sum(k.duration) as ns from ${work} k join api a on a.id = k.call join mine m on m.origin = a.stack_id group by 1 order by 3 desc limit 1`);
		await does.command("lines cost most");
		await page.waitForFunction(() => document.querySelectorAll(".dock [role=row]").length > 2);
		await when(() => page.locator(".dock [role=row]").nth(1).textContent(), (first) => first.startsWith(line.place) && first.includes(duration(line.ns)),
			(first) => `${line.place}, ${duration(line.ns)}: ${first}`);
	})],
	["a kernel's launch latency and its grid", () => task("a kernel's launch latency and its grid", [mlp], "2, and a subtraction", async (page, does) => {
		const [longest] = sql(mlp, "select k.start + k.duration / 2 as middle from kernel k join steps s on s.start < k.start and s.\"end\" > k.start where s.number = 9 order by k.duration desc limit 1");
		const origin = Number(await page.evaluate(() => window.headway.state.traces[0].info.origin));
		await does.click(await pointOf(page, "stream", longest.middle - origin));
		await page.waitForFunction(() => window.headway.state.selected?.span.kind === "kernel");
		const { span } = await stateOf(page, "selected");
		const [truth] = sql(mlp, `select k.start - a.start as latency, k.grid_x as x, k.grid_y as y, k.grid_z as z from kernel k join api a on a.id = k.call where k.id = ${span.id}`);
		await page.waitForSelector("aside .details .fields");
		const text = await page.locator("aside .details").textContent();
		const near = [exact(truth.latency), duration(truth.latency)].some((t) => text.includes(t));
		check(near, `the latency ${exact(truth.latency)}: ${text.slice(0, 900)}`);
		check(new RegExp(`${truth.x}\\D{1,5}${truth.y}\\D{1,5}${truth.z}`).test(text), `the grid ${truth.x} ${truth.y} ${truth.z}: ${text.slice(0, 900)}`);
	})],
]);
await browser.close();
if (!process.exitCode) {
	console.log("\n| task | before | now |\n|---|---|---|");
	for (const [name, old, now] of counted)
		console.log(`| ${name} | ${old} | ${now} |`);
}
