/* SPDX-License-Identifier: Apache-2.0 */
/* late_test.mjs - the page on a slow machine or behind a slow server: keys and clicks that come before an answer count, and answers that come too late do not.
 *
 * Nothing here hopes for a race: answers are held back until the next thing was done, and keys are sent before the page has drawn. */
import { join } from "node:path";
import { check, later, newPage, openBrowser, openPage, run, settled, skip, stateOf, until, view, when } from "./common.mjs";
import { data } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const browser = await openBrowser();
const mlp = await view([join(data, "nsys/mlp_sync.hwy")], ["--stay"]);
const resnet = await view([join(data, "operators/resnet.hwy")], ["--stay"]);

async function withPage(test, url = mlp.url) {
	const page = await openPage(browser.context, url);
	try {
		await test(page);
	} finally {
		await page.evaluate(() => localStorage.clear());
		await page.close();
	}
}

/** Keeps answers back, those that `which` chooses; release() lets them go, and waits until the page has them. */
async function hold(page, path, which = () => true) {
	const held = [];
	let holding = true;
	await page.route(path, (route) => (holding && which(route.request()) ? held.push(route) : route.continue()));
	return { held, release: async () => {
		holding = false;
		await Promise.all(held.map(async (route) => {
			const there = page.waitForResponse((answer) => answer.request() === route.request());
			await route.continue();
			await (await there).finished();
		}));
		await later(page, 50);
		await settled(page);
	} };
}

/** The longest kernel that is on the screen, selected by its address. */
async function selectKernel(page) {
	await page.evaluate(async () => {
		const { state } = window.headway;
		const { lane } = state.traces[0].lanes.lanes.find((l) => l.type === "stream");
		const answer = await (await fetch(`at?t=0&lane=${lane}&from=${Math.floor(state.from)}&to=${Math.ceil(state.to)}`)).json();
		location.hash = `${location.hash}&span=0.${answer.longest.id}`;
	});
	await page.waitForFunction(() => window.headway.state.selected);
}

await run([
	["keys that come faster than the answers each go one span further", () => withPage(async (page) => {
		await page.keyboard.press("i");
		await page.waitForFunction(() => window.headway.state.selected);
		const { span } = await stateOf(page, "selected");
		const third = await page.evaluate(async (id) => {
			for (let i = 0; i < 3; i++)
				id = (await window.headway.source.get(`next?t=0&id=${id}&dir=1&any=1`)).span.id;
			return id;
		}, span.id);
		const spans = await hold(page, "**/next?*");
		for (let i = 0; i < 3; i++)
			await page.keyboard.press("ArrowRight");
		await spans.release();
		await until(async () => (await stateOf(page, "selected")).span.id === third, async () => `three spans further is ${third}, not ${(await stateOf(page, "selected")).span.id}`);
	})],
	["Enter opens what the keys before it lead to, however late the answers are", () => withPage(async (page) => {
		const spans = await hold(page, "**/at?*");
		await page.keyboard.press("i");
		await page.keyboard.press("Enter");
		await spans.release();
		await until(async () => await stateOf(page, "panel") === "details", "details are open");
	})],
	["a panel that is opened before the answer about a span stays open", () => withPage(async (page) => {
		await selectKernel(page);
		const { held, release } = await hold(page, "**/span?*");
		await page.keyboard.press(".");
		await until(() => held.length > 0, "the next span is asked for");
		await page.keyboard.press("7");
		await release();
		check(await stateOf(page, "panel") === "notes", "the answer does not take it away");
	})],
	["of two spans that were chosen the second one stays, whichever answer is there first", () => withPage(async (page) => {
		await page.locator("input[type=search]").fill("kernel");
		await page.locator(".search .span-link").nth(1).waitFor();
		let n = 0;
		const first = await hold(page, "**/span?*", () => n++ === 0);
		await page.locator(".search .span-link").nth(0).click();
		await until(() => first.held.length === 1, "the first one is asked for");
		await page.locator(".search .span-link").nth(1).click();
		await page.waitForFunction(() => window.headway.state.selected);
		const { span } = await stateOf(page, "selected");
		await first.release();
		check((await stateOf(page, "selected")).span.id === span.id, "the first one came too late");
	})],
	["one who goes on to the next note stays there when the span of the one before is known", () => withPage(async (page) => {
		await selectKernel(page);
		await page.keyboard.press("m");
		await page.keyboard.type("kernel");
		await page.keyboard.press("Enter");
		await page.keyboard.press("0");
		await page.locator("canvas.timeline").hover({ position: { x: 200, y: 300 } });
		await page.keyboard.press("M");
		await page.keyboard.type("here");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => window.headway.state.notes.all[0].some((n) => n.text === "here"));
		const spans = await hold(page, "**/span?*");
		await page.keyboard.press("{");
		await page.keyboard.press("}");
		await until(() => spans.held.length === 1, "the span of one note is asked for");
		const { all, at } = await stateOf(page, "notes");
		const here = all[0].find((n) => n.id === at);
		await spans.release();
		const { from, to } = await stateOf(page, "window");
		check(here.text === "here" && Math.abs((from + to) / 2 - here.from) < 2, `${here.text} at ${here.from} is in the middle of ${from} to ${to}`);
	})],
	["what is typed stays when the page is drawn again before it was asked for", () => withPage(async (page) => {
		await page.keyboard.press("9");
		await page.waitForSelector(".table-bar .query");
		for (const [box, key] of [["input[type=search]", "p"], [".table-bar .query", "r"]]) {
			const text = await page.evaluate(async ([selector, press]) => {
				const input = document.querySelector(selector);
				input.value = "kernel";
				input.dispatchEvent(new Event("input", { bubbles: true }));
				dispatchEvent(new KeyboardEvent("keydown", { key: press }));
				await new Promise((done) => { queueMicrotask(() => queueMicrotask(() => queueMicrotask(done))); });
				return input.value;
			}, [box, key]);
			check(text === "kernel", `"${text}" is left in ${box}`);
		}
	})],
	["a question in SQL stays while the ready ones arrive", () => withPage(async (page) => {
		const ready = await hold(page, "**/questions");
		await page.keyboard.press("Control+k");
		await page.keyboard.type("sql");
		await page.keyboard.press("Enter");
		const box = page.getByRole("textbox", { name: "SQL" });
		await box.fill("select 1");
		await ready.release();
		await until(async () => await page.getByLabel("ready questions").locator("option").count() > 1, "they are there");
		check(await box.inputValue() === "select 1", "what was typed stays");
	})],
	["Escape takes back what was typed before it is searched for", () => withPage(async (page) => {
		await page.evaluate(() => {
			const input = document.querySelector("input[type=search]");
			input.value = "gemm";
			input.dispatchEvent(new Event("input", { bubbles: true }));
			input.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
		});
		await later(page, 400);
		check(await stateOf(page, "query") === "" && await page.locator("input[type=search]").inputValue() === "", "nothing is searched for");
	})],
	["a finding of the link is lit without taking back where one has gone meanwhile", () => withPage(async (page) => {
		const spans = await hold(page, "**/span?*");
		const { from, to } = await stateOf(page, "window");
		await page.evaluate(([a, b]) => { location.hash = `from=${Math.round(a)}&to=${Math.round(b)}&lit=0.0`; }, [from, to]);
		await until(() => spans.held.length > 0, "its spans are asked for");
		await page.keyboard.press("w");
		const near = await stateOf(page, "window");
		await spans.release();
		await page.waitForFunction(() => window.headway.state.lit?.spans.length > 0);
		await later(page, 50);
		const now = await stateOf(page, "window");
		check(near.to - near.from < (to - from) * 0.9 && now.from === near.from && now.to === near.to, `the window stays: ${JSON.stringify([near, now])}`);
	})],
	["a click on a flame graph that was just turned around is of the frame that is there now", () => withPage(async (page) => {
		await page.waitForSelector(".flame-frame");
		await page.locator(".flame-bar button", { hasText: /^bottom-up$/ }).click();
		await settled(page);
		const clicked = await page.evaluate(async () => {
			const canvas = document.querySelector(".flame-canvas");
			[...document.querySelectorAll(".flame-bar button")].find((b) => b.textContent === "top-down").click();
			await new Promise((done) => { queueMicrotask(() => queueMicrotask(() => queueMicrotask(done))); });
			const box = canvas.getBoundingClientRect();
			canvas.dispatchEvent(new MouseEvent("click", { clientX: box.x + 200, clientY: box.y + 25, bubbles: true }));
			return window.headway.state.flame.view;
		});
		check(clicked === "down", "it is turned around");
		await when(() => page.locator(".flame-frame b").textContent(), (name) => /Net/.test(name), (name) => `the outermost module, not ${name}`);
		await page.getByRole("button", { name: "callers and callees" }).waitFor();
	}, `${resnet.url}#from=0&to=1&dock=flame&flame=${encodeURIComponent("operators|all|down|graph||0|share||||")}`)],
	["the table of frames opens and closes with the first key", () => withPage(async (page) => {
		await page.waitForSelector(".flame-frame");
		const [before, now] = await page.evaluate(async () => {
			const soon = () => new Promise((done) => { queueMicrotask(() => queueMicrotask(() => queueMicrotask(done))); });
			[...document.querySelectorAll(".flame-bar button")].find((b) => b.textContent === "table").click();
			await soon();
			const rows = () => document.querySelectorAll(".flame-table tbody tr").length;
			const was = rows();
			document.querySelector(".flame-table tbody tr").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
			await new Promise((done) => { setTimeout(done, 300); });
			return [was, rows()];
		});
		check(before > 1 && now === 1, `${before} rows, then ${now}`);
	}, `${resnet.url}#from=0&to=1&dock=flame&flame=${encodeURIComponent("operators|all|down|graph||0|share||||")}`)],
	...[[1, ""], [1, "9"], [2, ""]].map(([runs, key]) => [`the steps of ${runs === 1 ? "a recording" : "two recordings"} are shown however late they are known${key ? ", also when a panel was opened meanwhile" : ""}`, async () => {
		const files = (runs === 1 ? ["programs/finetune.hwy"] : ["nsys/mlp_sync.hwy", "nsys/mlp_async.hwy"]).map((f) => join(data, f));
		const server = await view(files);
		const page = await newPage(browser.context);
		try {
			const answers = await hold(page, "**/steps?*");
			await page.goto(server.url);
			await page.waitForFunction(() => window.headway?.timeline.frames.length > 1);
			const whole = await stateOf(page, "window");
			if (key)
				await page.keyboard.press(key);
			await until(() => answers.held.length > 0, "the steps are asked for");
			// Another change of what is on the screen: the address follows it before the steps are there.
			await page.evaluate(() => document.querySelector("button.theme").click());
			await page.waitForFunction(() => location.hash.includes("from="));
			await answers.release();
			await when(() => stateOf(page, "window"), ({ from, to }) => to - from < (whole.to - whole.from) / 2, (now) => `the steps, not the whole: ${JSON.stringify([whole, now])}`);
		} finally {
			await page.evaluate(() => localStorage.clear());
			await page.close();
			await server.close();
		}
	}]),
	["the colours are changed by the press itself", () => withPage(async (page) => {
		const theme = await page.evaluate(async () => {
			document.querySelector("button.theme").click();
			await new Promise((done) => { queueMicrotask(() => queueMicrotask(() => queueMicrotask(done))); });
			return [document.documentElement.dataset.theme, window.headway.timeline.palette.dark];
		});
		check(theme.join() === "dark,true", `${theme}`);
	})],
]);
await browser.close();
await mlp.close();
await resnet.close();
