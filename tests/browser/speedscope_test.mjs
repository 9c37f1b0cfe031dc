/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope_test.mjs - speedscope opens what `headway export -t folded` writes, and shows its names and times.
 *
 * speedscope is npm's speedscope 1.25.0 (MIT); scripts/setup test puts it into build/speedscope. What it shows is
 * held against the same recording as `headway export -t csv` tells it. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, newPage, openBrowser, run, skip } from "./common.mjs";
import { makeFolder, pick } from "./recordings.mjs";

const SCRIPT = "speedscope-Y2522XSH.js";
const SUM = "12b7fcfa95b1f07633886569903e0117043d810c83951ac9084e34c689ef1044";

const home = process.env.SPEEDSCOPE ?? new URL("../../build/speedscope/package/dist/release", import.meta.url).pathname;
const headway = process.env.HEADWAY ?? skip("no headway binary");
const recording = pick("power_base") ?? skip("no recording power_base");
if (!existsSync(join(home, SCRIPT)))
	skip("no speedscope (npm's speedscope 1.25.0 in build/speedscope: scripts/setup test)");
const sum = createHash("sha256").update(readFileSync(join(home, SCRIPT))).digest("hex");
check(sum === SUM, `speedscope is the one this test was written for, not one of checksum ${sum}`);

const browser = await openBrowser();
const folder = makeFolder();
const source = folder.unpack(recording);

/** Cells of a kind's CSV, by column. */
function spansOf(kind) {
	const out = folder.path("csv");
	execFileSync(headway, ["export", "-t", "csv", "--kinds", kind, "-f", "-o", out, source]);
	const [head, ...lines] = readFileSync(join(out, `${kind}.csv`), "utf8").trimEnd().split("\n")
		.map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(,|$)/g)].map((cell) => cell[1].replace(/^"|"$/g, "").replaceAll('""', '"')));
	return lines.map((line) => Object.fromEntries(head.map((name, i) => [name, line[i]])));
}

/** What speedscope's table shows once a file is opened: the largest first, as many as there is room for. */
async function shownOf(fold, column) {
	const file = folder.path(`${fold}.folded`);
	execFileSync(headway, ["export", "-t", "folded", "--fold", fold, "-f", "-o", file, source]);
	const page = await newPage(browser.context);
	await page.goto(pathToFileURL(join(home, "index.html")).href);
	await page.setInputFiles("input[type=file]", file);
	await page.getByText("Sandwich").click();
	await page.locator("th", { hasText: column }).click();
	await page.locator("tr").nth(5).waitFor();
	const rows = (await page.locator("tr").allInnerTexts()).slice(1).map((row) => row.split("\t").map((cell) => cell.trim()));
	await page.close();
	return rows.map(([total, self, name]) => ({ name, total: number(total), self: number(self) }));
}
const number = (cell) => Number(/^[\d,]+/.exec(cell)[0].replaceAll(",", ""));

await run([
	["device time is shown under the kernels' names, to the nanosecond", async () => {
		const times = new Map();
		for (const span of spansOf("kernel"))
			times.set(span.demangled, (times.get(span.demangled) ?? 0) + Number(span.duration));
		const rows = await shownOf("gpu", "Self");
		check(rows.length > 5, `there are rows, not ${rows.length}`);
		for (const [name, ns] of times) {
			const row = rows.find((r) => r.name === name);
			check(row && row.self === ns, `${name} takes ${ns} ns, not ${row?.self}`);
		}
	}],
	["ranges and calls stand around their work", async () => {
		const rows = await shownOf("gpu", "Total");
		const inside = rows.find((row) => row.name === "Step #");
		check(inside && inside.self === 0 && inside.total > 0, "a range has the time of what it encloses");
		check(rows.some((row) => row.name === "cuLaunchKernel" && row.self === 0), "so has a call");
	}],
	["every CPU sample is counted under its process", async () => {
		const rows = await shownOf("cpu", "Total");
		const samples = spansOf("sample").length;
		const all = rows.filter((row) => /^python3 \d+$/.test(row.name) && row.self === 0);
		check(samples > 0 && all[0]?.total === samples, `${samples} samples, not ${all[0]?.total}`);
	}],
]);
await browser.close();
folder.remove();
