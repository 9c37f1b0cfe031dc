/* SPDX-License-Identifier: Apache-2.0 */
/* share_test.mjs - what one has found is kept and shared: notes, links, windows to go back to, servers that end and come back, proxies. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, later, openBrowser, openPage, run, settled, skip, stateOf, until, view, when } from "./common.mjs";

const data = process.env.DATA ?? skip("no recordings");
const sync = join(data, "nsys/mlp_sync.hwy");
const other = join(data, "nsys/mlp_async.hwy");
const folder = mkdtempSync(join(tmpdir(), "headway-share-"));
const browser = await openBrowser({ width: 1400, height: 800 }, { permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true });
const server = await view([sync], ["--token-file", join(folder, "token")]);

async function withPage(test, hash = "") {
	const page = await openPage(browser.context, server.url + hash);
	try {
		await test(page);
	} finally {
		await page.evaluate(() => localStorage.clear());
		await page.close();
	}
}

const window_ = (page) => stateOf(page, "window");
const notes = (page) => page.evaluate(() => window.headway.state.notes.all[0]);
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

/** Selects the first kernel of the window and sets a note on it. */
async function noteOnKernel(page, text) {
	await page.evaluate(async () => {
		const { state } = window.headway;
		const lane = state.traces[0].lanes.lanes.find((l) => l.type === "stream").lane;
		const answer = await (await fetch(`at?t=0&lane=${lane}&from=${Math.floor(state.from)}&to=${Math.ceil(state.to)}`)).json();
		location.hash = `${location.hash}&span=0.${answer.longest.id}`;
	});
	await page.waitForFunction(() => window.headway.state.selected);
	await page.keyboard.press("m");
	await page.keyboard.type(text);
	await page.keyboard.press("Enter");
	await page.waitForFunction((t) => window.headway.state.notes.all[0].some((n) => n.text === t) && window.headway.state.notes.packed, text);
}

await run([
	["a link that names a panel and no time opens it", () => withPage(async (page) => {
		await page.waitForFunction(() => window.headway.state.panel === "notes" && window.headway.state.dock === "sql");
		await page.locator(".sql-bar textarea").waitFor();
		const { from, to } = await window_(page);
		check(to > from, "the window is as without a link");
	}, "#panel=notes&dock=sql")],
	["a note is set by a key, written, renamed, gone to, and deleted", () => withPage(async (page) => {
		await noteOnKernel(page, "the longest <b>kernel</b>");
		const [note] = await notes(page);
		const { span } = await stateOf(page, "selected");
		check(note.span === span.id && note.from === span.start && note.to === span.start + span.dur, "it is the span's");
		check(await page.locator(".notes li b").count() === 0, "its text is no markup");
		await page.keyboard.press("0");
		await page.locator("canvas.timeline").hover({ position: { x: 200, y: 300 } });
		await page.keyboard.press("M");
		await page.keyboard.type("here");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => window.headway.state.notes.all[0].length === 2);
		await page.keyboard.press("{");
		await page.keyboard.press("}");
		const at = await page.evaluate(() => window.headway.state.notes.at);
		await until(async () => (await notes(page)).some((n) => n.id === at), "one goes from note to note");
		await page.locator(".notes li button", { hasText: "go to" }).nth((await notes(page)).findIndex((n) => n.id === note.id)).click();
		await when(() => window_(page), ({ from, to }) => from < note.from && to > note.to && to - from < (note.to - note.from) * 4,
			({ from, to }) => `the note is on the screen, ${note.from} to ${note.to} in ${from} to ${to}`);
		await page.locator(".notes li textarea").first().fill("renamed");
		await page.locator(".notes li textarea").first().press("Enter");
		await until(async () => (await notes(page))[0].text === "renamed", "renamed");
		await page.locator(".notes li button", { hasText: "delete" }).first().click();
		await until(async () => (await notes(page)).length === 1, "deleted");
	})],
	["a press on a flag of the ruler shows its note", () => withPage(async (page) => {
		await noteOnKernel(page, "flag");
		const [note] = await notes(page);
		await page.keyboard.press("1");
		const box = await page.locator("canvas.timeline").boundingBox();
		const { from, to } = await window_(page);
		await page.mouse.click(box.x + box.width * (note.from - from) / (to - from) + 5, box.y + 6);
		await until(async () => await stateOf(page, "panel") === "notes", "the panel is open");
	})],
	["notes stay over a reload, and a link takes them to another browser", () => withPage(async (page) => {
		await noteOnKernel(page, "kept");
		await page.goto(server.url);
		await settled(page);
		await page.waitForFunction(() => window.headway.state.notes.all[0].length === 1 && window.headway.state.notes.packed);
		await page.keyboard.press("y");
		await page.waitForFunction(() => window.headway.state.message.startsWith("Link copied"));
		const link = await clipboard(page);
		await page.evaluate(() => localStorage.clear());
		await page.goto("about:blank");
		await page.goto(link);
		await settled(page);
		await page.waitForFunction(() => window.headway.state.notes.all[0][0]?.text === "kept");
	})],
	["notes are saved as a file and read back; those of another recording are refused", () => withPage(async (page) => {
		await noteOnKernel(page, "in a file");
		const [download] = await Promise.all([page.waitForEvent("download"), page.locator("button", { hasText: "save as file" }).click()]);
		const path = join(folder, "notes.json");
		await download.saveAs(path);
		await page.locator(".notes li button", { hasText: "delete" }).click();
		await page.locator("input[type=file]").setInputFiles(path);
		await page.waitForFunction(() => window.headway.state.notes.all[0][0]?.text === "in a file");
		const text = readFileSync(path, "utf8");
		writeFileSync(path, text.replace(/"id": "[0-9a-f]{16}"/, '"id": "0000000000000000"'));
		await page.locator("input[type=file]").setInputFiles(path);
		await page.waitForFunction(() => /another recording/.test(window.headway.state.message));
		writeFileSync(path, "garbage");
		await page.locator("input[type=file]").setInputFiles(path);
		await page.waitForFunction(() => /no notes/.test(window.headway.state.message));
		check((await notes(page)).length === 1, "and nothing was added");
	})],
	["notes of a link or a file take no place of one's own, and are kept when a person wants it", () => withPage(async (page) => {
		await noteOnKernel(page, "mine");
		const [mine] = await notes(page);
		const stored = () => page.evaluate(() => JSON.parse(localStorage.getItem(`headway.notes.${window.headway.state.traces[0].info.id}`) ?? "[]").map((n) => n.text).sort());
		const { id } = await page.evaluate(() => window.headway.state.traces[0].info);
		const path = join(folder, "theirs.json");
		const theirs = [{ ...mine, text: "theirs, with my id", changed: mine.changed + 1e9 }, ...Array.from({ length: 499 }, (_, i) => ({ id: `t${i}`, from: i, to: i, text: `their ${i}`, changed: i }))];
		writeFileSync(path, JSON.stringify({ headway_notes: 1, recordings: [{ id, notes: theirs }] }));
		await page.locator("input[type=file]").setInputFiles(path);
		await page.waitForFunction(() => window.headway.state.notes.all[0].length === 500);
		check((await notes(page)).some((n) => n.text === "mine") && JSON.stringify(await stored()) === '["mine"]', "mine is there as it was, theirs are not stored");
		await page.locator(".notes li button.keep").first().click();
		await until(async () => (await stored()).length === 2, "one of theirs is kept");
		await page.reload();
		await settled(page);
		await until(async () => (await notes(page)).filter((n) => !n.foreign).length === 2, "after a reload both are there");
	})],
	["a note that was deleted does not come back with an older address", () => withPage(async (page) => {
		await noteOnKernel(page, "gone");
		await page.waitForFunction(() => location.hash.includes("notes="));
		const before = await page.evaluate(() => location.hash);
		await page.keyboard.press("w");
		await page.locator(".notes li button", { hasText: "delete" }).first().click();
		await page.waitForFunction(() => !location.hash.includes("notes="));
		await page.evaluate((hash) => { location.hash = hash; }, before);
		await page.waitForFunction((hash) => location.hash === hash || !location.hash.includes("notes="), before);
		await settled(page);
		await later(page, 500);
		check((await notes(page)).length === 0, "it stays deleted");
	})],
	["u takes back a zoom, U does it again, and neither fills the browser's history", () => withPage(async (page) => {
		// A window counts for u once it has stood still for 350 ms.
		await later(page, 500);
		const first = await window_(page);
		const zoomIn = async () => {
			await page.keyboard.press("w");
			await later(page, 500);
			return window_(page);
		};
		const second = await zoomIn();
		const third = await zoomIn();
		const entries = await page.evaluate(() => history.length);
		const same = (a, b) => Math.abs(a.from - b.from) < 1 && Math.abs(a.to - b.to) < 1;
		await page.keyboard.press("u");
		await until(async () => same(await window_(page), second), "one back");
		await page.keyboard.press("Backspace");
		await until(async () => same(await window_(page), first), "two back");
		await page.keyboard.press("U");
		await page.keyboard.press("U");
		await until(async () => same(await window_(page), third), "and again");
		await later(page, 400);
		check(await page.evaluate(() => history.length) === entries, "no entry was added");
	})],
	["the link holds how far the lanes are scrolled", () => withPage(async (page) => {
		await page.setViewportSize({ width: 1000, height: 260 });
		await page.waitForFunction(() => window.headway.timeline.mostScroll > 0);
		await page.keyboard.press("PageDown");
		await page.waitForFunction(() => /scroll=\d/.test(location.hash));
		const [link, scroll] = await page.evaluate(() => [location.href, window.headway.timeline.scroll]);
		await page.goto("about:blank");
		await page.goto(link);
		await settled(page);
		await until(async () => await page.evaluate(() => window.headway.timeline.scroll) === Math.round(scroll), "it is there again");
	})],
	["what of a link cannot be read is left out, and the page stays", async () => {
		for (const broken of ["flame=%2525E0%25|a|b|c|d|e|f|g|h|i|%25", "dock=flame&flame=stacks%7C%25", "whatif=0.%25E0%25A4+pin", "notes=%25", "range=a,b&lanes=%25&table=%25;%25&span=%25&q=%25", "from=1e400&to=Infinity"])
			await withPage(async (page) => {
				check((await page.locator("canvas.timeline").count()) === 1, `the page is there: ${broken}`);
				await page.evaluate((text) => { location.hash = text; }, broken);
				await settled(page);
				await page.keyboard.press("7");
				await until(async () => await page.locator(".notes h2").count() === 1, `and answers: ${broken}`);
			}, `#${broken}`);
	}],
	["the timeline is saved as PNG and as SVG, in which names are texts", () => withPage(async (page) => {
		await noteOnKernel(page, "<script>alert(1)</script> & \"quoted\"");
		const saved = async (name) => {
			const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".notes button", { hasText: name }).click()]);
			const path = join(folder, download.suggestedFilename());
			await download.saveAs(path);
			return path;
		};
		const png = readFileSync(await saved("PNG"));
		check(png.subarray(1, 4).toString() === "PNG" && png.readUInt32BE(16) > 1000, "a PNG as wide as the screen");
		const svg = readFileSync(await saved("SVG"), "utf8");
		const told = await page.evaluate((text) => {
			const tree = new DOMParser().parseFromString(text, "image/svg+xml");
			return { wrong: tree.querySelector("parsererror")?.textContent, scripts: tree.querySelectorAll("script").length, groups: tree.querySelectorAll("g").length,
				texts: [...tree.querySelectorAll("text")].map((t) => t.textContent), shapes: tree.querySelectorAll("path,rect").length };
		}, svg);
		check(!told.wrong && told.scripts === 0, `well-formed, nothing to run: ${told.wrong}`);
		check(told.texts.includes("stream 7") && told.texts.some((t) => t.startsWith("<script>")) && told.texts.some((t) => t.includes("step")), `names are texts: ${told.texts.slice(0, 20)}`);
		check(told.shapes > 20 && svg.length < 3e6, `${told.shapes} shapes, ${svg.length} bytes`);
	})],
	["the selection is saved as a report that holds it and nothing else", () => withPage(async (page) => {
		const range = await page.evaluate(() => {
			const { state } = window.headway;
			const [from] = state.traces[0].steps.phases[0].steps[4];
			location.hash = `${location.hash}&range=${from},${from + 10_000_000}`;
			return { from, to: from + 10_000_000 };
		});
		await page.waitForFunction(() => window.headway.state.range);
		await page.keyboard.press("7");
		const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".notes button", { hasText: "report" }).click()]);
		const path = join(folder, "piece.hwy");
		await download.saveAs(path);
		const kernels = (file) => Number(execFileSync(process.env.HEADWAY, ["sql", "--format", "csv", file, `select count(*) from kernel where start < ${range.to} and start + duration > ${range.from}`],
			{ encoding: "utf8" }).trim().split("\n").at(-1));
		const all = Number(execFileSync(process.env.HEADWAY, ["sql", "--format", "csv", path, "select count(*) from kernel"], { encoding: "utf8" }).trim().split("\n").at(-1));
		check(all > 0 && all === kernels(path) && all === kernels(sync), `${all} kernels`);
		await until(async () => /Saved: \S+ spans/.test(await stateOf(page, "message")), "and says how many");
	})],
	["a page goes on when its server is back, and tells another recording from its own", async () => {
		const port = ["--port", new URL(server.url).port];
		let mine = await view([sync], ["--token-file", join(folder, "token2")]);
		const again = ["--token-file", join(folder, "token2"), "--port", new URL(mine.url).port];
		const page = await openPage(browser.context, mine.url);
		await mine.close();
		await page.waitForFunction(() => window.headway.state.gone === "ended");
		await until(async () => await page.locator(".note.error").textContent().then((t) => /does not answer/.test(t)), "it says so");
		mine = await view([other], again);
		await page.waitForFunction(() => window.headway.state.gone === "other");
		const lane = await page.evaluate(() => window.headway.state.traces[0].lanes.lanes.length);
		await page.keyboard.press("w");
		check(await page.evaluate(() => fetch("lanes?t=0", { headers: { "X-Headway-Recordings": window.headway.state.info.traces[0].id } }).then((a) => a.status)) === 409 && lane > 0,
			"the other recording is not asked");
		await mine.close();
		mine = await view([sync], again);
		await page.waitForFunction(() => window.headway.state.gone === "");
		await page.keyboard.press("0");
		await settled(page);
		await page.close();
		await mine.close();
		check(port.length === 2, "the first server was left alone");
	}],
	["behind a proxy with a path and a name of its own the page works", async () => {
		const behind = await view([sync], ["--allow-host", "hub.example.org"]);
		const target = new URL(behind.url);
		const proxy = createServer((asked, answer) => {
			const path = asked.url.replace(/^\/user\/me\/proxy\/\d+/, "");
			const passed = request({ host: "127.0.0.1", port: target.port, path, method: asked.method, headers: { ...asked.headers, host: "hub.example.org" } }, (got) => {
				answer.writeHead(got.statusCode, got.headers);
				got.pipe(answer);
			});
			passed.on("error", () => answer.destroy());
			asked.pipe(passed);
		});
		await new Promise((done) => { proxy.listen(0, "127.0.0.1", done); });
		// The browser's own name for the proxy is 127.0.0.1, so its Origin is not that of the Host: as a proxy does, it is sent as the name outside.
		proxy.prependListener("request", (asked) => {
			if (asked.headers.origin)
				asked.headers.origin = "https://hub.example.org";
		});
		const page = await openPage(browser.context, `http://127.0.0.1:${proxy.address().port}/user/me/proxy/${target.port}${target.pathname}`);
		await until(async () => await page.evaluate(() => window.headway.state.traces[0].diagnosis !== null), "the diagnosis came");
		await page.keyboard.press("w");
		await settled(page);
		await page.waitForFunction(() => location.hash.includes("from="));
		await until(async () => await page.evaluate(() => location.pathname.startsWith("/user/me/proxy/") && window.headway.state.gone === ""), "the address stays behind the path");
		await page.close();
		proxy.closeAllConnections();
		proxy.close();
		await behind.close();
	}],
]);

await browser.close();
await server.close();
rmSync(folder, { recursive: true, force: true });
