/* SPDX-License-Identifier: Apache-2.0 */
/* table_test.mjs - the table of spans under the timeline: what it holds is what `headway sql` counts, and it can be sorted, grouped, opened, copied, and driven by keys.
 * The self-contained page answers as the server does. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkAxe } from "./axe.mjs";
import { cacheHere, check, onPage, openBrowser, openPage, run, settled, skip, stateOf, until, view } from "./common.mjs";
import { data, makeFolder, pick } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const folder = makeFolder();
const recording = folder.unpack(pick("itemloop_item", "graphs_node", "mlp_sync") ?? skip("no recordings"));
const browser = await openBrowser({ width: 1440, height: 900 });
const server = await view([recording]);

const sql = (query) => JSON.parse(spawnSync(process.env.HEADWAY, ["sql", recording, query, "--format", "json"], { encoding: "utf8", env: cacheHere(), maxBuffer: 1 << 28 }).stdout);
async function open(query = "", url = server.url) {
	const page = await openPage(browser.context, url);
	await page.waitForFunction(() => window.headway.state.traces[0].diagnosis);
	await page.keyboard.press("9");
	await ask(page, query);
	return page;
}
async function ask(page, query) {
	const before = await page.evaluate(() => window.headway.state.table.version);
	await page.locator(".table-bar .query").fill(query);
	await page.locator(".table-bar .query").press("Enter");
	await shown(page, before);
}
/** Waits until what was asked for after this version is on the screen. */
const shown = (page, before = -1) => page.waitForFunction((old) => {
	const { table } = window.headway.state;
	return table.version > old && table.sums && (!table.sums.lines || document.querySelector(".grid-line [role=gridcell]")?.textContent);
}, before);
const cells = (page, column) => page.locator(`.grid-line [role=gridcell]:nth-child(${column})`).allTextContents();
const sums = (page) => stateOf(page, "table").then((t) => t.sums);
const version = (page) => page.evaluate(() => window.headway.state.table.version);
async function sort(page, title) {
	const before = await version(page);
	await page.locator("[role=columnheader] button", { hasText: title }).click();
	await shown(page, before);
}
/** A request of the page, answered by the server or by the page itself. */
const answer = (page, request) => page.evaluate((r) => window.headway.source.get(r), request);

await run([
	["the table holds the spans that headway sql counts", async () => {
		const page = await open("kernel");
		for (const [query, where] of [["kernel", "kernel"], ["kernel dur>3us", "kernel where duration > 3000"], ["copy", "copy"], ["api name~^cuda", "api where lower(name) like 'cuda%'"],
			["kernel block_x>=128", "kernel where block_x >= 128"], ["copy bytes>1kB", "copy where bytes > 1000"], ["kernel stream:7", "kernel where stream = 7"]]) {
			await ask(page, query);
			const [{ n, total }] = sql(`select count(*) as n, coalesce(sum(duration), 0) as total from ${where}`);
			const found = await sums(page);
			check(found.rows === n && found.total === total, `${query}: ${found.rows} spans of ${found.total} ns, sql says ${n} of ${total}`);
		}
		await page.close();
	}],
	["at 1280 pixels lanes are readable, columns can be made wider by hand and by key, and stay so", async () => {
		const page = await open("kernel");
		await page.setViewportSize({ width: 1280, height: 800 });
		const widthOf = (title) => page.locator("[role=columnheader]", { hasText: title }).evaluate((head) => head.getBoundingClientRect().width);
		await until(async () => await page.locator(".grid").evaluate((grid) => grid.scrollWidth <= grid.clientWidth), "the table fits");
		const cut = await page.locator(".grid-line [role=gridcell]:nth-child(5)").evaluateAll((list) => list.filter((cell) => cell.scrollWidth > cell.clientWidth && !cell.title).length);
		check(await widthOf("lane") >= 150 && cut === 0, `the column of lanes has ${await widthOf("lane")} pixels; ${cut} without a tip are cut`);
		const before = await widthOf("kind");
		const edge = await page.locator("[role=columnheader]", { hasText: "kind" }).locator(".edge").boundingBox();
		await page.mouse.move(edge.x + 4, edge.y + 8);
		await page.mouse.down();
		await page.mouse.move(edge.x + 44, edge.y + 8, { steps: 3 });
		await page.mouse.up();
		await until(async () => Math.abs(await widthOf("kind") - before - 40) < 3, "as wide as it was made");
		await page.locator("[role=columnheader] button", { hasText: "kind" }).focus();
		await page.keyboard.press("Shift+ArrowLeft");
		await until(async () => Math.abs(await widthOf("kind") - before - 24) < 3, "narrower by a key");
		await page.goto("about:blank");
		await page.goto(server.url);
		await settled(page);
		await page.keyboard.press("9");
		await page.waitForSelector(".grid");
		await until(async () => Math.abs(await widthOf("kind") - before - 24) < 3, "and so it is kept");
		await page.locator("[role=columnheader]", { hasText: "kind" }).locator(".edge").dblclick();
		await until(async () => Math.abs(await widthOf("kind") - before) < 3, "a double click takes it back");
		await page.close();
	}],
	["the button that copies or saves keeps the keyboard", async () => {
		const page = await open("kernel");
		for (const name of ["copy CSV", "JSON", "download"]) {
			const button = page.locator(".table-bar button", { hasText: name });
			await button.focus();
			await page.evaluate(() => { window.headway.state.message = ""; });
			await page.keyboard.press("Enter");
			await page.waitForFunction(() => window.headway.state.message !== "");
			check(await button.evaluate((b) => document.activeElement === b), `${name} has it`);
		}
		await page.close();
	}],
	["a press on a head sorts all rows, and a second one turns them around", async () => {
		const page = await open("kernel");
		const rows = sql("select name, duration from kernel order by duration desc, id desc limit 1");
		await sort(page, "duration");
		const longest = (await answer(page, "table?t=0&q=kernel&sort=dur&dir=-1&n=3")).list[0][5];
		check(longest === rows[0].duration, `the longest is first: ${longest}`);
		const head = page.locator("[role=columnheader]", { hasText: "duration" });
		await until(async () => await head.getAttribute("aria-sort") === "descending", "longest first");
		const down = await cells(page, 4);
		await sort(page, "duration");
		await until(async () => await head.getAttribute("aria-sort") === "ascending" && (await cells(page, 4))[0] !== down[0], "then shortest first");
		await page.close();
	}],
	["groups have the numbers of headway sql, and open into their rows", async () => {
		const page = await open("kernel");
		let before = await version(page);
		await page.locator(".table-bar select").selectOption("name");
		await shown(page, before);
		const wanted = sql("select name, count(*) as n, sum(duration) as total, min(duration) as low, max(duration) as high from kernel group by name order by total desc");
		const kernels = sql("select name, duration from kernel order by duration");
		const median = (name) => {
			const list = kernels.filter((k) => k.name === name).map((k) => k.duration);
			return (list[Math.ceil(list.length / 2) - 1] + list[Math.floor(list.length / 2)]) / 2;
		};
		const { list, groups } = await answer(page, "table?t=0&q=kernel&group=name&sort=total&dir=-1&n=1000");
		check(groups === wanted.length, `${groups} groups`);
		for (const w of wanted) {
			const g = list.find(([name]) => name === w.name);
			check(g && g[2] === w.n && g[3] === w.total && g[4] === w.low && g[5] === w.high && g[7] === median(w.name), `${w.name}: ${g?.slice(2)}`);
		}
		before = await version(page);
		await page.locator(".grid-line").first().click();
		await shown(page, before);
		await until(async () => (await sums(page)).rows === wanted[0].n && (await stateOf(page, "table")).group === "", "the group's rows");
		before = await version(page);
		await page.getByRole("button", { name: "‹ name" }).click();
		await shown(page, before);
		await until(async () => (await sums(page)).lines === wanted.length, "and back");
		await page.close();
	}],
	["a row that is pressed is selected and shown, and a span that is selected elsewhere marks its row", async () => {
		const page = await open("kernel");
		await page.locator(".grid-line").nth(2).click();
		await page.waitForFunction(() => window.headway.state.selected);
		const { span } = await stateOf(page, "selected");
		const { from, to, dock } = await page.evaluate(() => ({ from: window.headway.state.from, to: window.headway.state.to, dock: window.headway.state.dock }));
		check(span.start >= from && span.start <= to && dock === "table", "it is on the screen, under the table");
		await until(async () => await page.locator(".grid-line.selected").count() === 1, "its row is marked");
		await page.keyboard.press("Escape");
		await page.locator(".grid-line[tabindex='0']").focus();
		await page.keyboard.press("Home");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		await page.waitForFunction((id) => window.headway.state.selected && window.headway.state.selected.span.id !== id, span.id);
		await until(async () => (await page.locator(".grid-line.selected").getAttribute("aria-rowindex")) === "3", "by keys: the second row");
		await page.keyboard.press("End");
		await page.waitForFunction(() => window.headway.state.table.active === window.headway.state.table.sums.lines - 1);
		await page.waitForSelector(".grid-line.active:focus");
		await page.close();
	}],
	["only the rows on the screen are drawn, wherever one scrolls", async () => {
		const page = await open("");
		const { lines } = await sums(page);
		await until(async () => lines > 1000 && await page.locator(".grid-line").count() < 60, async () => `${await page.locator(".grid-line").count()} of ${lines}`);
		await page.locator(".grid-box").evaluate((box) => { box.scrollTop = box.scrollHeight / 2; });
		await page.waitForFunction(() => Number(document.querySelector(".grid-line").getAttribute("aria-rowindex")) > 400 && document.querySelector(".grid-line [role=gridcell]:nth-child(3)").textContent);
		const index = Number(await page.locator(".grid-line").first().getAttribute("aria-rowindex")) - 2;
		const [row] = (await answer(page, `table?t=0&q=&skip=${index}&n=1`)).list;
		await until(async () => (await cells(page, 4))[0].length > 0 && row[4] >= 0, "the middle of it");
		await page.close();
	}],
	["a query that is wrong is said with its place, and the table keeps what it had", async () => {
		const page = await open("kernel");
		const before = await sums(page);
		await page.locator(".table-bar .query").fill("kernel dur>");
		await page.locator(".table-bar .query").press("Enter");
		await until(async () => (await page.locator("#table-error").textContent()).startsWith("character 12: a time"), "the sentence");
		check((await sums(page)).rows === before.rows && await page.locator(".grid-line").count() > 3, "the rows stay");
		await page.close();
	}],
	["the selection limits the table, and what is copied is all of it", async () => {
		const page = await open("kernel");
		const kernels = (await answer(page, "table?t=0&q=kernel&n=1000")).list;
		const [from, to] = [kernels[100][4] + 1, kernels[150][4]];
		await page.goto(`${server.url}#from=${from}&to=${to}&range=${from},${to}&dock=table&table=0;1;;dur;kernel`);
		await page.reload();
		await page.waitForFunction(() => window.headway?.state.table.sums?.rows >= 0);
		const [{ n }] = sql(`select count(*) as n from kernel where start < ${to} and start + duration > ${from}`);
		const found = await sums(page);
		check(found.rows === n && n >= 49, `${found.rows} kernels in the selection from the link, sql says ${n}`);
		const saving = page.waitForEvent("download");
		await page.getByRole("button", { name: "download" }).click();
		const text = readFileSync(await (await saving).path(), "utf8");
		check(text.split("\n").length === n + 2 && text.startsWith("name,kind,start_ns,duration_ns,"), `${text.split("\n").length - 2} lines of CSV`);
		await page.close();
	}],
	["the table can be used by everybody", async () => {
		const page = await open("kernel");
		await checkAxe(page, "rows");
		const before = await version(page);
		await page.locator(".table-bar select").selectOption("lane");
		await shown(page, before);
		await settled(page);
		await checkAxe(page, "groups");
		await page.close();
	}],
	["the self-contained page finds, sorts and groups as the server does", async () => {
		const html = folder.path("alone.html");
		const done = spawnSync(process.env.HEADWAY, ["view", recording, "--html", html, "--max-size=60"], { encoding: "utf8", env: cacheHere() });
		check(done.status === 0, done.stderr);
		const [live, alone] = [await open("kernel"), await open("kernel", pathToFileURL(html).href)];
		const { info } = await live.evaluate(() => window.headway.state.traces[0]);
		const span = `from=${info.start}&to=${info.end}`;
		for (const q of ["kernel dur>3us", "wait", "launch step:3..5", "copy bytes>100", "kernel grid_x>1 -name~gemm", "latency>20us", "api result:0", "lane:\"stream 7\"", "gpu:0 work", "end<3s kernel", "rate>1MB/s", "thread:python3 os", "registers>16"]) {
			for (const more of ["sort=dur&dir=-1", "sort=name", "sort=latency", "group=name&sort=count", "group=step&sort=start"]) {
				const request = `table?t=0&q=${encodeURIComponent(q)}&${span}&${more}&n=200`;
				const [a, b] = [await answer(live, request), await answer(alone, request)];
				check(a.rows === b.rows && a.total === b.total, `${q}: ${b.rows} instead of ${a.rows}`);
				const key = (x) => ("groups" in x ? x.list.map((g) => [g[1], g[2], g[3], g[8]]) : x.list.map((r) => [r[0], r[6], r[7], r[8]]));
				check(more === "sort=name" || more.includes("count") || JSON.stringify(key(a)) === JSON.stringify(key(b)), `${q} ${more}: ${JSON.stringify(key(b)).slice(0, 300)} instead of ${JSON.stringify(key(a)).slice(0, 300)}`);
			}
			const hits = `search?t=0&q=${encodeURIComponent(q)}&${span}&n=50`;
			const [a, b] = [await answer(live, hits), await answer(alone, hits)];
			check(a.hits === b.hits && String(a.marks) === String(b.marks), `${q}: the marks`);
			const first = (x) => JSON.stringify(x.lanes.map((l) => [l.lane, l.count, l.first.map((s) => s.id)]).sort((one, two) => one[0] - two[0]));
			check(first(a) === first(b), `${q}: the earliest hits of each lane`);
			check(a.lanes.every((l) => l.first.every((s, i) => !i || s.start >= l.first[i - 1].start)), `${q}: they are in order of time`);
		}
		check((await alone.evaluate(() => window.headway.source.get("table?t=0&q=module:x").catch((e) => e.message))).includes("headway view"), "modules need the server");
		await live.close();
		await alone.close();
	}],
	["so does that of a job, of lines that operators tell, of several phases; and both know its ranks", async () => {
		for (const [file, questions] of [["operators/resnet.hwy", ["q=work&group=line", "q=api&group=line&sort=name", "q=kernel%20line~%3A5&sort=dur"]],
			["jobs/ddp_late", ["q=work&group=step&sort=start", "q=kernel&sort=step", "q=kernel&sort=step&dir=-1"]]]) {
			const html = folder.path(`${file.replace("/", "_")}.html`);
			const done = spawnSync(process.env.HEADWAY, ["view", join(data, file), "--html", html], { encoding: "utf8", env: cacheHere() });
			check(done.status === 0, done.stderr);
			await onPage(browser, [join(data, file)], async (live) => {
				const alone = await openPage(browser.context, pathToFileURL(html).href);
				for (const question of questions) {
					const [a, b] = [await answer(live, `table?t=0&${question}&n=300`), await answer(alone, `table?t=0&${question}&n=300`)];
					// Means are rounded by the server.
					const key = (x) => JSON.stringify([x.rows, x.list.map((row) => ("groups" in x ? [...row.slice(0, 6), row[8]] : [row[0], ...row.slice(4)]))]);
					check(a.list.length > 3 && key(a) === key(b), `${file} ${question}: ${key(b).slice(0, 300)} instead of ${key(a).slice(0, 300)}`);
				}
				const [a, b] = [await answer(live, "diagnosis?t=0"), await answer(alone, "diagnosis?t=0")];
				check(JSON.stringify(a) === JSON.stringify(b), `${file}: the diagnosis, with what it says of a job`);
				await alone.close();
			});
		}
		await onPage(browser, [join(data, "jobs/ddp_late/rank1.hwy")], async (page) => {
			check((await answer(page, "diagnosis?t=0")).summary.runs[0].rank === 1, "the rank of a recording");
		});
	}],
	["the span beside another one is of whatever kind, with a server and without", async () => {
		const html = folder.path("beside.html");
		check(spawnSync(process.env.HEADWAY, ["view", recording, "--html", html, "--max-size=60"], { env: cacheHere() }).status === 0, "written");
		const [live, alone] = [await open("kernel"), await open("kernel", pathToFileURL(html).href)];
		const { lane } = await live.evaluate(() => window.headway.state.traces[0].lanes.lanes.filter((l) => l.type === "stream").sort((a, b) => b.spans - a.spans)[0]);
		const { list } = await answer(live, `table?t=0&q=lane:%23${lane}&n=10000`);
		const ids = list.map((row) => ({ id: row[0], start: row[4] })).sort((a, b) => a.start - b.start || a.id - b.id).map((row) => row.id);
		check(new Set(list.map((row) => row[2])).size > 1, "the stream has work of several kinds");
		for (const page of [live, alone])
			for (const dir of [1, -1]) {
				const wanted = dir > 0 ? ids.slice(0, 60) : ids.slice(-60).reverse();
				const went = await page.evaluate(async ([id, way, n]) => {
					const seen = [];
					for (let at = id; at !== undefined && seen.length < n; at = (await window.headway.source.get(`next?t=0&id=${at}&dir=${way}&any=1`)).span?.id)
						seen.push(at);
					return seen;
				}, [wanted[0], dir, wanted.length]);
				check(String(went) === String(wanted), `${dir}: ${went} instead of ${wanted}`);
			}
		await live.close();
		await alone.close();
	}],
]);
await browser.close();
await server.close();
folder.remove();
