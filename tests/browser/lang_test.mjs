/* SPDX-License-Identifier: Apache-2.0 */
/* lang_test.mjs - the page in Chinese: every panel, served and self-contained. No English is left but names of the recording and what people
 * type, nothing is wider than its box; and an English page has nothing of it. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { builtPage, cacheHere, check, newPage, openBrowser, openPage, run, settled, skip, stateOf, until, view } from "./common.mjs";
import { data, makeFolder } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const built = builtPage();
const folder = makeFolder();
const browser = await openBrowser({ width: 1280, height: 860 });
const CHINESE = ["--lang", "zh"];
const recording = join(data, "nsys/mlp_sync.hwy");
const runs = [join(data, "nsys/mlp_sync.hwy"), join(data, "nsys/mlp_async.hwy")];

/** Elements whose text is of the recording, of a query or a command, or typed: names, ids, code, keys, what SQL answers. */
const TYPED = "code, pre, textarea, input.query, kbd, dt, option[value], .name, .kind, .fields td, .span-link, .places, .rows .text, .stack, .yours, .run, .lanes, .offers li, .sql-rows, .suggestion b, .edit b, .flame-frame b, .flame-tree .text, "
	+ ".flame-table .text, .grid-lines, .roofline-table .text, .compare-table .text, .trust b, .roof-name, .point-name, select option, .flame-frame > .faint, .thread-states, .evidence";
/** Words that stay as they are in Chinese sentences (lang/glossary.md), units and names. */
const KEPT = /\b(GPU|CPU|SM|SQL|CSV|JSON|PNG|SVG|Perfetto|Headway|headway|kernel|dur|step|name|gemm|span|Span|rank|wave|warp|stream|Ctrl|Shift|Enter|Esc|Home|End|Page|Backspace|Tensor|Core|CUDA|NVTX|PyTorch|Python|Nsight|Compute|torch|profiler|analyze|docs|gaps|md|python3?|mlp|mlp_sync|mlp_async|hwy|py|GIL|NVIDIA|H200|FLOP|TFLOP|PFLOP|ms|ns|us|µs|MB|kB|GB|TB|B|s|W|MHz|p10|p50|p90|p99|A|B|N|X|M|fp\d+|tf32|TF32|bf16|int8|tensor|tid|pid|step_\w*|view|TABLE|schema)\b/g;

/** Columns of the model, as queries call them. */
const COLUMN = /^(correlation|[a-z]+(-[a-z]+)+)$/;

/** What is on the page in Latin letters, a text or an attribute that is read aloud or shown as a tip each. */
async function englishOf(page) {
	const texts = await page.evaluate((typed) => {
		const found = [];
		const visible = (e) => e.checkVisibility?.() ?? true;
		const walk = document.createTreeWalker(document.querySelector("#app"), NodeFilter.SHOW_TEXT);
		for (let node = walk.nextNode(); node; node = walk.nextNode())
			if (visible(node.parentElement) && !node.parentElement.closest(typed))
				found.push(node.data);
		for (const e of document.querySelectorAll("#app [title], #app [aria-label], #app [placeholder]"))
			if (visible(e) && !e.closest(typed))
				found.push(...["title", "aria-label", "placeholder"].map((a) => e.getAttribute(a) ?? ""));
		return found;
	}, TYPED);
	const isEnglish = (text) => /[A-Za-z]{3,}/.test(text) && (!/\p{Script=Han}/u.test(text) || /[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}/.test(text));
	return [...new Set(texts)].filter((t) => !COLUMN.test(t) && isEnglish(t.replace(KEPT, "")));
}

/** Buttons, tabs and headings whose text is wider than they are. */
const tooWide = (page) => page.evaluate(() => [...document.querySelectorAll("header button, .tabs button, .buttons button, .flame-bar button, .table-bar button, .sql-bar button, aside h2, aside h3, .dock h3, dialog h2, dialog h3")]
	.filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1).map((e) => `${e.className} ${e.textContent}`));

async function checkPage(page, where) {
	const english = await englishOf(page);
	check(!english.length, `${where} is Chinese: ${JSON.stringify(english.slice(0, 8))}`);
	const wide = await tooWide(page);
	check(!wide.length, `${where} fits: ${JSON.stringify(wide.slice(0, 8))}`);
}

/** Everything chosen that a panel may show: a finding with its evidence, a span, an interval, a search, a note. */
async function fill(page) {
	await page.locator("[data-finding] .show").first().click();
	await page.keyboard.press("r");
	await page.keyboard.press("m");
	await page.keyboard.type("一条笔记");
	await page.keyboard.press("Enter");
	await page.fill("input[type=search]", "gemm");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => window.headway.state.selected && window.headway.state.found.length);
	await page.locator("canvas.timeline").focus();
}

async function openEach(page, what, isOpen, where) {
	for (const button of await page.locator(what).all()) {
		if (await button.getAttribute(isOpen) !== "true")
			await button.click();
		await page.waitForTimeout(150);
		await page.waitForFunction(() => !window.headway.state.asking && !window.headway.state.flame.asking && !document.querySelector(".empty[role=status]"));
		await settled(page);
		await checkPage(page, `${await button.textContent()}, ${where},`);
	}
}

async function checkEverything(page, where) {
	check(await page.evaluate(() => document.documentElement.lang) === "zh", "<html lang> says so");
	await checkPage(page, `the first picture, ${where},`);
	await fill(page);
	await openEach(page, ".panels button", "aria-pressed", where);
	await openEach(page, ".tabs button", "aria-selected", where);
	for (const [key, name] of [["?", "help"], ["Control+k", "palette"]]) {
		await page.keyboard.press(key);
		await page.waitForSelector(`dialog.${name}`);
		await checkPage(page, `the ${name}, ${where},`);
		await page.keyboard.press("Escape");
		await page.waitForSelector(`dialog.${name}`, { state: "detached" });
	}
}

/** On a served page of these files. */
async function onServed(files, test, options = CHINESE) {
	const server = await view(files, options);
	const page = await openPage(browser.context, server.url);
	await test(page, server);
	await page.close();
	await server.close();
}

const commands = (page) => page.evaluate(() => [...document.querySelectorAll(".offers li")].map((li) => li.textContent));

await run([
	["every panel is Chinese, and fits, at 1280 pixels", () => onServed([recording], (page) => checkEverything(page, "1280 pixels"))],
	["every panel is Chinese, and fits, at 800 pixels", () => onServed([recording], async (page) => {
		await page.setViewportSize({ width: 800, height: 860 });
		await checkEverything(page, "800 pixels");
	})],
	["the comparison of two runs is Chinese", () => onServed(runs, async (page) => {
		await page.locator("#tab-compare").click();
		await page.waitForFunction(() => window.headway.state.compare.answer);
		await checkPage(page, "the comparison");
	})],
	["copies, fills and waits without a recorded name have a Chinese one where they are shown, and an English one in files and queries", () => onServed([recording], async (page) => {
		await page.keyboard.press("9");
		for (const [query, name] of [["name=\"copy host to device\"", "拷贝：主机到设备"], ["name=\"wait for a stream\"", "等待流"]]) {
			await page.locator(".table-bar .query").fill(query);
			await page.locator(".table-bar .query").press("Enter");
			await until(async () => await page.locator(".grid-line [role=gridcell]:first-child").first().textContent() === name, `${query}: ${name}`);
		}
		const names = await page.locator(".grid-line [role=gridcell]:first-child").allTextContents();
		check(names.length > 1 && names.every((name) => name === "等待流"), `${names}`);
		await page.locator(".grid-line").first().click();
		await page.waitForFunction(() => window.headway.state.selected);
		await page.keyboard.press("2");
		await until(async () => await page.locator(".details .name").textContent() === "等待流", "and in its details");
		await page.locator("input[type=search]").fill("copy direction:device");
		await page.locator(".search .span-link", { hasText: "拷贝：" }).first().click();
		await page.keyboard.press("2");
		await until(async () => /^(主机|设备)到(主机|设备)$/.test(await page.locator(".details .fields tr", { hasText: "direction" }).or(page.locator(".details .fields tr", { hasText: "方向" })).locator("td").textContent()), "the direction");
	})],
	["a self-contained page is Chinese without a server", async () => {
		const html = folder.path("run.html");
		const done = spawnSync(process.env.HEADWAY, ["view", ...CHINESE, recording, "--html", html], { encoding: "utf8", env: cacheHere() });
		check(done.status === 0, done.stderr);
		const page = await openPage(browser.context, pathToFileURL(html).href);
		await checkEverything(page, "from a file");
		await page.close();
	}],
	["commands are found by their Chinese and by their English names, and what is typed stays English", () => onServed([recording], async (page) => {
		for (const query of ["最长 空隙", "longest idle"]) {
			await page.keyboard.press("Control+k");
			await page.keyboard.type(query);
			check((await commands(page))[0]?.startsWith("GPU 最长的空闲空隙及其原因"), `${query}: ${(await commands(page))[0]}`);
			await page.keyboard.press("Escape");
		}
		await page.fill("input[type=search]", 'kernel dur>50us lane:"stream 7"');
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => window.headway.state.found[0]?.hits > 0);
		check((await stateOf(page, "ask")).error === "", "the query is understood");
	})],
	["the page needs no further request for its sentences, and runs no markup of theirs", () => onServed([recording], async (page, server) => {
		const document = await (await fetch(server.url)).text();
		const late = await (await fetch(`${server.url}late`)).text();
		const [first, second] = [document, late].map((text) => JSON.parse(/window\.HEADWAY_LANG=(\{.*?\});(?:<\/script>|window\.headwayLate)/.exec(text)[1]));
		check(first["Nothing was recorded"] && Object.keys(first).length > 300, "they stand in it");
		check(second["Click a span to see everything known about it."] && Object.keys(second).length > 100, "those of later panels come with their script");
		check(!Object.keys(second).some((key) => key in first), "none is sent twice");
		check(!/HEADWAY_LANG=[^\n]*<[^/]/.test(document), "no '<' stands in them as it is");
	})],
	["the first picture takes at most 150 kB in any language, the diagnosis included, and the later panels come behind it", async () => {
		for (const lang of ["en", "zh"]) {
			const server = await view([recording], ["--lang", lang]);
			const page = await newPage(browser.context);
			const session = await browser.context.newCDPSession(page);
			const seen = { bytes: 0, until: 0, late: "" };
			await session.send("Network.enable");
			session.on("Network.requestWillBeSent", ({ requestId, request }) => {
				if (request.url.endsWith("/late"))
					Object.assign(seen, { until: seen.bytes, late: requestId });
			});
			session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
				seen.bytes += encodedDataLength;
				seen.came ||= requestId === seen.late;
			});
			await page.goto(server.url);
			await until(() => seen.came, "the later panels come by themselves");
			check(seen.until > 50_000 && seen.until < 150_000, `${lang}: ${seen.until} bytes until the picture was there`);
			await page.keyboard.press("8");
			await page.waitForSelector(".dock .flame");
			await page.close();
			await server.close();
		}
	}],
	["an English page has none of it", () => onServed([recording], async (page, server) => {
		const document = await (await fetch(server.url)).text();
		check(document.startsWith('<!doctype html>\n<html lang="en">') && !/HEADWAY_LANG=\{/.test(document), "neither language nor sentences");
		const late = await (await fetch(`${server.url}late`)).text();
		check(document === built.replace(/<!--HEADWAY_LATE-->.*<!--HEADWAY_LATE_END-->/s, "") && built.includes(`<script>${late}</script>`), "it is the page as it was built, in two parts");
		check(await page.evaluate(() => !/\p{Script=Han}/u.test(document.querySelector("#app").textContent)), "and shows no Chinese");
	}, ["--lang", "en"])],
]);
await browser.close();
folder.remove();
