/* SPDX-License-Identifier: Apache-2.0 */
/* flame_test.mjs - flame graphs of real recordings: their sums are those of the commands, and the panel leads from a frame to its spans. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { checkAxe } from "./axe.mjs";
import { cacheHere, check, openBrowser, openPage, run, skip, stateOf, until, view } from "./common.mjs";
import { data, makeFolder, pick } from "./recordings.mjs";

const headway = process.env.HEADWAY ?? skip("no headway binary");
const say = (...words) => execFileSync(headway, words, { env: cacheHere(), maxBuffer: 1 << 28 }).toString();
const resnet = `${data}/operators/resnet.hwy`;
const decode = `${data}/operators/decode.hwy`;
const folder = makeFolder();
const browser = await openBrowser();
const server = await view([resnet, decode], ["--stay"]);

const sum = (list) => list.reduce((a, b) => a + b, 0);
async function ask(url, query) {
	for (;;) {
		const answer = await fetch(`${url}flame?${query}`);
		if (answer.status !== 202)
			return answer.json();
		await new Promise((done) => setTimeout(done, 100));
	}
}
/** The paths of a trie with what is counted at each, the merged ones left out. */
function pathsOf({ nodes, texts, self }, weight) {
	const names = nodes.outer.map((_, i) => texts[nodes.name[i]]);
	const total = [...self[weight]];
	for (let i = total.length - 1; i > 0; i--)
		total[nodes.outer[i]] += total[i];
	return { names, total };
}
async function withFlame(test, options = "", files = "") {
	const page = await openPage(browser.context, `${server.url}#from=0&to=1&dock=flame&flame=${encodeURIComponent(options || "operators|all|down|graph||0|share||||")}${files}`);
	try {
		await page.waitForSelector(".flame-frame");
		await test(page);
	} finally {
		await page.close();
	}
}
const flame = (page) => stateOf(page, "flame");
const pressed = (page, name) => page.locator(".flame-bar button", { hasText: new RegExp(`^${name}$`) }).click();

await run([
	["operators have the times of `headway tree`, node by node, and stacks all GPU time", async () => {
		const tree = JSON.parse(say("tree", "--format", "json", resnet));
		const answer = await ask(server.url, "t=0&kind=operators");
		const root = tree.tree;
		for (const [key, weight] of [["gpu_ns", "gpu"], ["cpu_ns", "cpu"], ["idle_ns", "idle"]])
			check(sum(answer.self[weight]) === root[key], `${weight}: ${sum(answer.self[weight])} is ${root[key]}`);
		const { names, total } = pathsOf(answer, "gpu");
		for (const one of root.inner.slice(0, 3)) {
			const at = names.findIndex((name, i) => name === one.name && answer.nodes.outer[i] === 0 && i > 0);
			check(at > 0 && total[at] === one.gpu_ns, `${one.name}: ${total[at]} is ${one.gpu_ns}`);
		}
		const stacks = await ask(server.url, "t=0&kind=stacks&python=1");
		check(sum(stacks.self.gpu) === root.gpu_ns, "stacks hold the same work");
		const sql = say("sql", "--format", "csv", resnet, "select sum(duration) from kernel union all select sum(duration) from copy union all select sum(duration) from fill").trim().split("\n").slice(1);
		check(sum(sql.map(Number)) === sum(stacks.self.gpu), `as in SQL: ${sql}`);
	}],
	["samples are those of `headway stats -r cpu_sample_sum`, function by function", async () => {
		const packed = pick("mlp_backtrace");
		if (!packed)
			return;
		const file = folder.unpack(packed);
		const one = await view([file], ["--stay"]);
		const answer = await ask(one.url, "t=0&kind=samples");
		const rows = say("stats", "-r", "cpu_sample_sum", "--format", "csv", file).split("\n").slice(1).map((l) => l.split(","));
		const all = Number(say("sql", "--format", "csv", file, "select count(*) from sample").trim().split("\n")[1]);
		check(sum(answer.self.samples) === all && answer.nodes.count[0] === all, `${all} samples`);
		check(answer.merged > 0 && answer.nodes.outer.length <= 8192, "bounded, and says so");
		const listed = new Map();
		answer.nodes.name.forEach((name, i) => answer.nodes.kind[i] !== 16 && listed.set(answer.texts[name], (listed.get(answer.texts[name]) ?? 0) + answer.self.samples[i]));
		const blas = rows.find((r) => r[4] === "blas_thread_server");
		check(blas && listed.get("blas_thread_server") === Number(blas[1]), `${listed.get("blas_thread_server")} is ${blas}`);
		await one.close();
	}],
	["a click zooms into a frame, a double click goes to its longest span, and the arrows to the others", () => withFlame(async (page) => {
		const box = await page.locator(".flame-canvas").boundingBox();
		await page.mouse.move(box.x + 200, box.y + 25);
		await page.waitForSelector(".flame .tip");
		await until(async () => /Net/.test(await page.locator(".flame .tip").textContent()), "the tooltip names the frame");
		await page.mouse.click(box.x + 200, box.y + 25);
		await page.locator(".flame-frame b", { hasText: "Net" }).waitFor();
		await page.getByRole("button", { name: "all frames" }).waitFor();
		await page.mouse.dblclick(box.x + 200, box.y + 25 + 18);
		await page.waitForFunction(() => window.headway.state.selected);
		const first = (await stateOf(page, "selected")).span.id;
		await page.getByRole("button", { name: "longest span" }).click();
		await page.locator(".flame-frame output").waitFor();
		await until(async () => (await stateOf(page, "selected")).span.id === first, "the longest");
		await page.getByRole("button", { name: "next span of this frame" }).click();
		await page.waitForFunction((id) => window.headway.state.selected.span.id !== id, first);
	})],
	["bottom-up and sandwich keep the sums, and what is highlighted has a share", () => withFlame(async (page) => {
		const all = await page.locator(".flame-frame").textContent();
		await pressed(page, "bottom-up");
		await page.waitForFunction(() => window.headway.state.flame.view === "up");
		await until(async () => (await page.locator(".flame-frame").textContent()).startsWith(all.slice(0, 12)), "the same whole");
		await page.locator(".flame-bar input").fill("convolution");
		await page.locator(".flame-bar output", { hasText: "%" }).waitFor();
		await pressed(page, "top-down");
		const box = await page.locator(".flame-canvas").boundingBox();
		await page.mouse.click(box.x + 200, box.y + 25 + 36);
		await page.getByRole("button", { name: "callers and callees" }).click();
		await page.waitForFunction(() => window.headway.state.flame.view === "sandwich");
		await page.waitForFunction(() => /flame=.*sandwich/.test(decodeURIComponent(location.hash)));
	})],
	["the table opens with the arrow keys, and Enter shows a frame's longest span", () => withFlame(async (page) => {
		const rows = page.locator(".flame-table tbody tr");
		await page.locator(".flame-table tbody tr[tabindex='0']").focus();
		await until(async () => await page.locator("[role=treegrid]").count() === 1, "a treegrid");
		const before = await rows.count();
		await page.keyboard.press("ArrowLeft");
		await page.waitForFunction((n) => document.querySelectorAll(".flame-table tbody tr").length < n, before);
		await page.keyboard.press("ArrowRight");
		await page.waitForFunction((n) => document.querySelectorAll(".flame-table tbody tr").length === n, before);
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => window.headway.state.selected);
		await until(async () => await page.evaluate(() => document.activeElement.matches(".flame-table tr")), "the row keeps the keyboard");
		await page.keyboard.press("1");
		await checkAxe(page, "the table of frames");
		await pressed(page, "graph");
		await checkAxe(page, "the flame graph");
		await page.locator(".flame-canvas").focus();
		await page.keyboard.press("Home");
		await page.keyboard.press("ArrowDown");
		await page.locator(".flame-frame b", { hasText: "Net" }).waitFor();
		await page.keyboard.press("ArrowUp");
		await page.locator(".flame-frame b", { hasText: "all" }).waitFor();
	}, "operators|all|down|table||0|share||||")],
	["a selection and a thread have their own flame", () => withFlame(async (page) => {
		const whole = sum((await flame(page)).answers[0].self.gpu);
		const range = await page.evaluate(() => {
			const phase = window.headway.state.traces[0].steps.phases[0];
			return [phase.from, phase.from + (phase.to - phase.from) / 2];
		});
		const other = await openPage(browser.context, `${server.url}#from=0&to=1&dock=flame&range=${range.map(Math.round)}&flame=${encodeURIComponent("operators|selection|down|graph||0|share||||")}`);
		await other.waitForFunction(() => window.headway.state.flame.answers.length);
		const part = sum((await flame(other)).answers[0].self.gpu);
		check(part > 0 && part < whole, `${part} of ${whole}`);
		await other.close();
		const threads = await page.locator(".flame-bar select option").evaluateAll((list) => list.filter((o) => /tid/.test(o.textContent)).map((o) => o.value));
		await page.locator(".flame-bar select").selectOption(threads[0]);
		await page.waitForFunction((w) => window.headway.state.flame.answers[0]?.self.gpu.reduce((a, b) => a + b, 0) < w, whole);
	})],
	["two runs lie on top of each other: what grew and what shrank, by share or a step", () => withFlame(async (page) => {
		await pressed(page, "A → B");
		await page.waitForFunction(() => window.headway.state.flame.answers.length === 2);
		await page.locator(".flame-bar .bounds", { hasText: "shrank" }).waitFor();
		await pressed(page, "a step");
		await page.waitForFunction(() => window.headway.state.flame.answers.every((a) => a.steps > 0) && window.headway.state.flame.scope === "steps");
		await until(async () => /A .* → B .* a step/.test(await page.locator(".flame-frame").textContent()), "both runs' times");
	})],
	["operators of a recording without device work are weighed by their time on the CPU", async () => {
		const file = folder.path("operators.json");
		const op = (name, ts, dur) => ({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts, dur });
		writeFileSync(file, JSON.stringify({ traceEvents: [op("aten::mm", 0, 30), op("aten::relu", 40, 10)] }));
		const alone = await view([file]);
		const page = await openPage(browser.context, `${alone.url}#from=0&to=1&dock=flame`);
		await page.waitForSelector(".flame-bar [aria-label=weight]");
		await until(async () => await page.locator(".flame .pad").count() === 0, "something is drawn");
		await until(async () => /^CPU/.test(await page.locator(".flame-bar [aria-label=weight] .on").textContent()), "by the CPU");
		await page.close();
		await alone.close();
	}],
	["of functions of one name, the sandwich is around the one that was chosen", async () => {
		const file = folder.path("forward.json");
		const call = (name, ts, dur, tid = 1) => ({ ph: "X", cat: "python_function", name, pid: 1, tid, ts, dur });
		const events = [call("run.py(3): main", 0, 1000)];
		for (const [i, [place, dur]] of [["nn/linear.py(9): forward", 30], ["nn/conv.py(9): forward", 50]].entries())
			events.push(call(place, 100 * i + 100, 50), { ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: 100 * i + 110, dur: 5, args: { correlation: i + 1 } },
				{ ph: "X", cat: "kernel", name: `k${i}`, pid: 0, tid: 7, ts: 100 * i + 120, dur, args: { correlation: i + 1, device: 0, stream: 7 } });
		writeFileSync(file, JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: "GPU" }], traceEvents: events }));
		const served = await view([file]);
		const page = await openPage(browser.context, `${served.url}#from=0&to=1&dock=flame&flame=${encodeURIComponent("stacks|all|down|table||0|share||||")}`);
		for (const [mine, other] of [["30.0 µs", "50.0 µs"], ["50.0 µs", "30.0 µs"]]) {
			await pressed(page, "top-down");
			await page.locator(".flame-table tr", { hasText: "forward" }).filter({ hasText: mine }).click();
			await page.getByRole("button", { name: "callers and callees" }).click();
			await until(async () => (await flame(page)).view === "sandwich" && await page.locator(".flame-table tr", { hasText: mine }).count() > 0, `around that of ${mine}`);
			check(await page.locator(".flame-table tr", { hasText: other }).count() === 0, `and not that of ${other}`);
		}
		await page.close();
		await served.close();
	}],
	["a page from file:// has the flames of the whole run and of its steps, and says what it lacks", async () => {
		const out = folder.path("page.html");
		say("view", resnet, "--html", out);
		const page = await openPage(browser.context, pathToFileURL(out).href);
		await page.keyboard.press("8");
		await page.waitForSelector(".flame-frame");
		const tree = JSON.parse(say("tree", "--format", "json", resnet));
		await until(async () => sum((await flame(page)).answers[0].self.gpu) === tree.gpu_ns, "the same sum");
		await pressed(page, "steady steps");
		await page.waitForFunction(() => window.headway.state.flame.answers[0]?.steps > 0);
		await page.locator(".flame-bar select").selectOption({ index: 1 });
		await page.locator(".flame .pad", { hasText: "This page carries" }).waitFor();
		await page.close();
	}],
]);
await server.close();
await browser.close();
folder.remove();
