/* SPDX-License-Identifier: Apache-2.0 */
/* ask_test.mjs - the field in which one asks: the language and SQL. Hits are marked wherever they stand, Enter goes from one to the next, and the search, the marks and the
 * table are of the same spans. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkAxe } from "./axe.mjs";
import { cacheHere, check, openBrowser, openPage, pointOf, run, settled, skip, stateOf, until, view } from "./common.mjs";
import { data, makeFolder } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const folder = makeFolder();
const recording = join(data, "nsys/mlp_sync.hwy");
const browser = await openBrowser({ width: 1440, height: 900 });
const server = await view([recording]);
const sql = (query) => JSON.parse(spawnSync(process.env.HEADWAY, ["sql", recording, query, "--format", "json"], { encoding: "utf8", env: cacheHere(), maxBuffer: 1 << 28 }).stdout);

async function open(url = server.url) {
	const page = await openPage(browser.context, url);
	await page.waitForFunction(() => window.headway.state.traces[0].diagnosis);
	return page;
}
const field = (page) => page.locator("input[type=search]");
async function ask(page, query) {
	await field(page).fill(query);
	await page.waitForFunction((q) => window.headway.state.query === q && window.headway.state.found[0]?.q === q, query);
}

await run([
	["a name as it is shown finds its spans, and names that no span has are not counted, in a self-contained page too", async () => {
		const html = folder.path("shown.html");
		check(spawnSync(process.env.HEADWAY, ["view", recording, "--html", html], { env: cacheHere() }).status === 0, "the page is written");
		const [{ n }] = sql("select count(*) as n from api where name like 'cudaLaunchKernel_v%'");
		check(n > 100 && sql("select count(*) as n from api where name = 'cudaLaunchKernel'")[0].n === 0, "the recording has a version behind the name");
		for (const url of [server.url, pathToFileURL(html).href]) {
			const page = await open(url);
			const answer = async (query) => {
				await ask(page, query);
				const { hits, names } = (await stateOf(page, "found"))[0];
				return { hits, names };
			};
			for (const query of ["name=cudaLaunchKernel", "name~^cudaLaunchKernel$"]) {
				const { hits, names } = await answer(query);
				check(hits === n && names === 1, `${query}: ${hits} hits of ${names} names instead of ${n}`);
			}
			const none = await answer("name=cudaLaunchKernel kind:kernel");
			check(none.hits === 0 && none.names === 0, `no hit has no name: ${JSON.stringify(none)}`);
			await page.close();
		}
	}],
	["a search marks its hits in what is summed up too, for every step alike", async () => {
		const page = await open();
		const steps = await page.evaluate(() => {
			const { state } = window.headway;
			const all = state.traces[0].steps;
			const list = all.phases[all.main].steps.slice(2, -1);
			Object.assign(state, { from: list[0][0], to: list.at(-1)[1] });
			window.headway.timeline.invalidate();
			return list.map((s) => [s[0], s[1]]);
		});
		const shoot = async () => {
			await settled(page);
			const parts = [];
			for (const [from, to] of steps) {
				const [left, right] = [await pointOf(page, "stream", from + (to - from) * 0.1), await pointOf(page, "stream", from + (to - from) * 0.5)];
				parts.push(await page.screenshot({ clip: { x: left.x, y: left.y - 14, width: Math.max(2, right.x - left.x), height: 46 } }));
			}
			return parts;
		};
		// Names come a moment later: what counts is what stays.
		const picture = async () => {
			for (let last = await shoot(); ;) {
				const parts = await shoot();
				if (parts.every((part, i) => part.equals(last[i])))
					return parts;
				last = parts;
			}
		};
		const before = await picture();
		await ask(page, "gemm");
		await page.waitForFunction(() => window.headway.timeline.marks.held[0]?.query === "gemm");
		const after = await picture();
		steps.forEach((_, i) => check(!before[i].equals(after[i]), `step ${i + 2} of ${steps.length} is marked`));
		await page.close();
	}],
	["Enter goes to a hit of plain words, and to the next", async () => {
		const page = await open();
		await ask(page, "cuda synchronize");
		const [{ n }] = sql("select count(*) as n from spans where lower(name) like '%cuda%' and lower(name) like '%synchronize%'");
		await until(async () => (await stateOf(page, "found"))[0].hits === n, `${n} names have both words`);
		await field(page).press("Enter");
		await page.waitForFunction(() => window.headway.state.selected);
		await until(async () => /synchronize/i.test((await stateOf(page, "selected")).span.name) && (await page.locator(".hits output").textContent()).includes("of"), "it is selected, and numbered");
		await page.close();
	}],
	["Enter goes from hit to hit and says which one of how many it is", async () => {
		const page = await open();
		await ask(page, "wait dur>1us");
		const [{ n }] = sql("select count(*) as n from api where role = 'sync' and duration > 1000");
		await until(async () => (await stateOf(page, "found"))[0].hits === n, `${n} waits, as sql says`);
		await field(page).press("Enter");
		await page.waitForFunction(() => window.headway.state.hit);
		const first = await stateOf(page, "hit");
		await field(page).press("Enter");
		await page.waitForFunction((k) => window.headway.state.hit.number === k + 1, first.number);
		await until(async () => first.hits === n && (await page.locator(".hits output").textContent()).includes("of"), "number and count are shown");
		await page.close();
	}],
	["search, marks and table are of the same spans", async () => {
		const page = await open();
		for (const q of ["kernel name~gemm dur>50us", "kernel step:3..5", "copy -dur<2us", "launch latency<1s", "\"gemm\" step:4"]) {
			const { info } = await page.evaluate(() => window.headway.state.traces[0]);
			const [found, table] = await page.evaluate(([query, i]) => Promise.all([
				window.headway.source.get(`search?t=0&q=${encodeURIComponent(query)}&from=${i.start}&to=${i.end}&n=100`), window.headway.source.get(`table?t=0&q=${encodeURIComponent(query)}&n=10000`)]), [q, info]);
			check(found.hits === table.rows && found.marks.reduce((a, b) => a + b, 0) === table.rows, `${q}: ${found.hits} hits, ${table.rows} rows`);
		}
		await ask(page, "kernel step:4");
		await page.locator("main").click({ position: { x: 600, y: 300 } });
		await page.keyboard.press("t");
		await page.waitForFunction(() => window.headway.state.table.sums);
		await until(async () => (await stateOf(page, "table")).sums.rows === (await stateOf(page, "found"))[0].hits, "t makes a table of them");
		await page.close();
	}],
	["a query that is wrong is said under the field, and everything else keeps what it had", async () => {
		const page = await open();
		await ask(page, "gemm");
		const before = (await stateOf(page, "found"))[0].hits;
		await field(page).fill("gemm durr>5us");
		await until(async () => (await page.locator("#ask-error").textContent()).startsWith("character 6: there is no field 'durr'"), "the sentence");
		check(await stateOf(page, "query") === "gemm" && (await stateOf(page, "found"))[0].hits === before, "the last query is in force");
		await checkAxe(page, "a query that is wrong");
		await page.close();
	}],
	["a text that begins with select is SQL, answered as headway sql does, and its rows go to their spans", async () => {
		const page = await open();
		const query = "select id, name, start, duration from kernel order by duration desc limit 5";
		await field(page).fill(query);
		await field(page).press("Enter");
		await page.waitForFunction(() => window.headway.state.sql.answer);
		const { answer } = await stateOf(page, "sql");
		const wanted = sql(query);
		check(JSON.stringify(answer.rows) === JSON.stringify(wanted.map((r) => [r.id, r.name, r.start, r.duration])), "the same rows");
		await page.locator(".sql-rows tbody tr").nth(1).click();
		await page.waitForFunction((id) => window.headway.state.selected?.span.id === id, wanted[1].id);
		await page.getByRole("button", { name: "mark them" }).click();
		await page.waitForFunction(() => window.headway.state.found[0]?.hits === 5);
		await checkAxe(page, "SQL");
		await page.getByRole("textbox", { name: "SQL" }).fill("select id, start from spans");
		await page.getByRole("button", { name: "run", exact: true }).click();
		const some = page.getByRole("button", { name: /mark the first \d+/ });
		await some.waitFor();
		const first = Number((await some.textContent()).replace(/\D/g, ""));
		await some.click();
		await page.waitForFunction((n) => window.headway.state.found[0]?.hits === n, first);
		await page.getByRole("textbox", { name: "SQL" }).fill("select id, start, duration from steps");
		await page.getByRole("button", { name: "run", exact: true }).click();
		await page.waitForFunction(() => !window.headway.state.sql.running && window.headway.state.sql.text.includes("from steps"));
		check(await page.getByRole("button", { name: /^mark/ }).count() === 0, "ids of steps are not marked as spans");
		await page.getByLabel("ready questions").selectOption("top-kernels");
		await page.waitForFunction(() => window.headway.state.sql.text.startsWith("-- ") && !window.headway.state.sql.running && window.headway.state.sql.answer.rows.length > 1);
		await page.close();
	}],
	["the tables and their columns can be asked for where SQL is asked", async () => {
		const page = await open();
		const rows = async () => {
			await page.waitForFunction(() => window.headway.state.sql.answer && !window.headway.state.sql.running);
			return (await stateOf(page, "sql")).answer.rows;
		};
		await field(page).fill("select nmae from kernel");
		await field(page).press("Enter");
		await page.waitForFunction(() => window.headway.state.sql.error.includes(".schema"));
		await page.getByRole("button", { name: "tables", exact: true }).click();
		await until(async () => (await rows()).some(([table]) => table === "kernel"), "kernel is a table");
		await page.getByRole("textbox", { name: "SQL" }).fill(".schema kernel");
		await page.getByRole("textbox", { name: "SQL" }).press("Control+Enter");
		await page.waitForFunction(() => window.headway.state.sql.answer?.columns[0] === "columns");
		await until(async () => (await rows()).some(([line]) => /duration INTEGER/.test(line)), "it has a duration");
		await page.close();
	}],
	["SQL that writes, opens or never ends is refused in a sentence, and tiles are answered meanwhile", async () => {
		const page = await open();
		const refused = async (query) => {
			await page.evaluate(() => Object.assign(window.headway.state.sql, { error: "" }));
			await field(page).fill(query);
			await field(page).press("Enter");
			await page.waitForFunction(() => window.headway.state.sql.error);
			return (await stateOf(page, "sql")).error;
		};
		check(/SELECT|modified|read/.test(await refused("with x as (select 1) delete from kernel")), "it only reads");
		check((await refused("select load_extension('x')")).length > 10, "no function that loads");
		check((await refused("select 1; select 2")).includes("one query"), "a second query is not left out in silence");
		const endless = page.evaluate(() => window.headway.source.get(`sql?t=0&q=${encodeURIComponent("with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c")}`));
		const lanes = await page.evaluate(() => window.headway.source.get("lanes?t=0"));
		check(lanes.lanes.length > 3, "others are answered while it runs");
		check((await endless).error.includes("stopped"), "it is stopped");
		await page.close();
	}],
	["a self-contained page says that SQL needs headway view", async () => {
		const html = folder.path("alone.html");
		check(spawnSync(process.env.HEADWAY, ["view", recording, "--html", html], { env: cacheHere() }).status === 0, "written");
		const page = await open(pathToFileURL(html).href);
		await field(page).fill("select 1");
		await field(page).press("Enter");
		await until(async () => (await page.locator(".sql-none").textContent()).includes("headway view"), "it says so");
		await page.close();
	}],
]);
await browser.close();
await server.close();
folder.remove();
