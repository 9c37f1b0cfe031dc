/* SPDX-License-Identifier: Apache-2.0 */
/* compare_test.mjs - run A against run B in the page: the numbers are those of `headway diff`, and every row leads into both timelines. */
import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { checkAxe } from "./axe.mjs";
import { cacheHere, check, newPage, openBrowser, openPage, run, skip, stateOf, until, view, when } from "./common.mjs";
import { data, makeFolder } from "./recordings.mjs";

const headway = process.env.HEADWAY ?? skip("no headway binary");
const files = [`${data}/nsys/mlp_sync.hwy`, `${data}/nsys/mlp_async.hwy`];
/** Exit status 1 says that it became slower. */
function say(...words) {
	try {
		return execFileSync(headway, words, { env: cacheHere(), maxBuffer: 1 << 28 }).toString();
	} catch (e) {
		return e.stdout.toString();
	}
}
const folder = makeFolder();
const browser = await openBrowser();
const server = await view(files, ["--stay"]);
const diff = say("diff", "--format", "json", ...files);
const known = JSON.parse(diff);

async function answerOf(url) {
	for (;;) {
		const answer = await fetch(`${url}compare`);
		if (answer.status !== 202)
			return answer;
		await new Promise((done) => setTimeout(done, 100));
	}
}
async function withCompare(test) {
	const page = await openPage(browser.context, `${server.url}#from=0&to=1&dock=compare`);
	try {
		await page.waitForSelector(".compare-verdict");
		await test(page);
	} finally {
		await page.close();
	}
}
const wayOf = (page, row, name) => page.locator(".compare-table tr", { hasText: row }).getByRole("button", { name }).first();

await run([
	["the server answers with the bytes of `headway diff --format json`", async () => {
		check(await (await answerOf(server.url)).text() === diff, "the same bytes");
	}],
	["two recordings that cannot be compared are answered with the reason, and one alone has no comparison", async () => {
		const alone = await view([files[0]], ["--stay"]);
		check((await fetch(`${alone.url}compare`)).status === 400, "one recording");
		await alone.close();
		const odd = await view([files[0], `${data}/ncu/mlp_raw.csv`], ["--stay"]);
		const { state, error } = await (await answerOf(odd.url)).json();
		check(state === "failed" && error.length > 10 && !/ended early/.test(error), `${error}`);
		await odd.close();
	}],
	["the panel says the verdict, its interval, and what the change is made of", () => withCompare(async (page) => {
		const text = await page.locator(".compare-verdict").textContent();
		check(known.verdict === "faster" && /B is faster/.test(text) && /−7\.3 %/.test(text) && /−10\.1 % … −4\.3 %/.test(text), text);
		const parts = page.locator(".compare-table").filter({ hasText: "part" });
		await until(async () => /blocked.*−811 µs/.test(await parts.textContent()), "the largest part");
		await until(async () => /step11\.2 ms10\.4 ms−812 µs/.test(await parts.textContent()), "the sum");
		await until(async () => /waits10/.test(await page.locator(".compare-table").filter({ hasText: "launches" }).textContent()), "waits a step");
		await until(async () => await page.locator(".compare-plot path").count() === 2, "two distributions");
		await checkAxe(page, "the comparison");
		await until(async () => /gone/.test(await page.locator(".compare-table tr", { hasText: "sync-in-loop" }).textContent()), "a finding that is gone");
	})],
	["rows lead to spans in both runs, findings to their evidence, and idle time to a gap", () => withCompare(async (page) => {
		const row = known.calls.find((r) => r.before_span !== null && r.after_span !== null);
		const buttons = page.locator(".compare-table").last().getByRole("button", { name: /in run [AB]$/ });
		await until(async () => await buttons.count() >= 2 && row, "there are ways");
		for (const [t, name] of [[0, /in run A$/], [1, /in run B$/]]) {
			await wayOf(page, row.before, name).click();
			await page.waitForFunction((want) => window.headway.state.selected?.trace === want, t);
			const { span } = await stateOf(page, "selected");
			check(span.id === [row.before_span, row.after_span][t], "the span that diff names");
			check(span.name.startsWith(row.before.slice(0, 10)), `${span.name} is ${row.before}`);
		}
		await wayOf(page, "sync-in-loop", /in run A$/).click();
		await page.waitForFunction(() => window.headway.state.lit?.trace === 0);
		await page.keyboard.press("0");
		const before = await stateOf(page, "window");
		await wayOf(page, "blocked", /in run A$/).click();
		await page.waitForFunction((width) => window.headway.state.to - window.headway.state.from < width / 10, before.to - before.from);
	})],
	["the control lays step k of B over step k of A", () => withCompare(async (page) => {
		await page.getByRole("button", { name: "next step of both runs" }).click();
		await page.waitForFunction(() => window.headway.state.step >= 0);
		const [begins, step] = await page.evaluate(() => {
			const { traces, step: k } = window.headway.state;
			return [traces.map((t) => t.steps.phases[t.steps.main].steps[k][0] - t.shift), k];
		});
		check(begins[0] === begins[1], `step ${step} begins at one place in both: ${begins}`);
		// By the name that it has in both, and by no other number.
		const names = await page.evaluate((k) => window.headway.state.traces.map((t) => t.steps.phases[t.steps.main].steps[k][6]), step);
		await when(() => page.locator(".compare-step").textContent(), (text) => names[0] === names[1] && text.split(names[0]).length === 2 && !text.includes(`step ${step}`), (text) => `${names}, once: ${text}`);
		await page.getByRole("button", { name: "previous step of both runs" }).click();
		await page.waitForFunction((k) => window.headway.state.step === k - 1, step);
	})],
	["a link's finding and edits are there, however late the answers about one of the runs come", async () => {
		const page = await newPage(browser.context);
		await page.route(/diagnosis\?t=0/, async (route) => {
			await page.waitForFunction(() => window.headway?.state.traces[1].diagnosis);
			await route.continue();
		});
		await page.goto(`${server.url}#from=0&to=1&lit=0.0&whatif=${encodeURIComponent("0.remove-wait")}`);
		await page.waitForFunction(() => window.headway?.state.traces.every((t) => t.diagnosis));
		await until(async () => (await stateOf(page, "lit"))?.finding === 0, "the finding");
		await until(async () => (await stateOf(page, "edits")).join() === "remove-wait", "the edits");
		await page.close();
	}],
	["a self-contained page of two recordings has the comparison inside", async () => {
		const out = folder.path("two.html");
		say("view", ...files, "--html", out);
		const page = await openPage(browser.context, pathToFileURL(out).href);
		await page.keyboard.press("c");
		await page.waitForSelector(".compare-verdict");
		await until(async () => JSON.stringify((await stateOf(page, "compare")).answer) === JSON.stringify(known), "the same numbers");
		await page.close();
	}],
]);
await server.close();
await browser.close();
folder.remove();
