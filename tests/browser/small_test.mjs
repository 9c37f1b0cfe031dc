/* SPDX-License-Identifier: Apache-2.0 */
/* small_test.mjs - real recordings in small windows, and at 200 %: nothing is squeezed to nothing, nothing that tells things apart is cut. */
import { join } from "node:path";
import { check, drawn, openBrowser, openPage, run, settled, skip, until, view, when } from "./common.mjs";
import { data } from "./recordings.mjs";

if (!process.env.HEADWAY)
	skip("no headway binary");
const browser = await openBrowser();
const servers = new Map();

/** The page of these recordings in a window of this size. */
async function withPage(files, [width, height], test) {
	const key = files.join();
	if (!servers.has(key))
		servers.set(key, await view(files.map((f) => join(data, f)), ["--stay"]));
	const page = await openPage(browser.context, servers.get(key).url);
	try {
		await page.setViewportSize({ width, height });
		await page.waitForFunction(([w, h]) => innerWidth === w && innerHeight === h, [width, height]);
		await settled(page);
		await drawn(page);
		await test(page);
	} finally {
		await page.evaluate(() => localStorage.clear());
		await page.close();
	}
}

const FINETUNE = ["programs/finetune.hwy"];
const TWO = ["nsys/mlp_sync.hwy", "nsys/mlp_async.hwy"];
/** A window of 1280 x 800 at 200 %. */
const ZOOMED = [640, 400];

/** Pixels of the ruler, the pinned rows and the first two that are left of the timeline, and those that they need. */
const laneRoom = (page) => page.evaluate(() => {
	const { timeline } = window.headway;
	const rows = timeline.layout.rows.filter((r) => !r.pinned).slice(0, 2);
	return { has: document.querySelector("canvas.timeline").clientHeight, needs: 26 + timeline.layout.pinnedHeight + rows.reduce((h, r) => h + r.h, 0) };
});

await run([
	...[[FINETUNE, ""], [TWO, "A → B"]].map(([files, run]) => [`at 200 % the flame graph${run ? " of two runs" : ""} can be seen`, () => withPage(files, ZOOMED, async (page) => {
		await page.keyboard.press("8");
		await page.waitForSelector(".flame-frame");
		if (run)
			await page.locator(".flame-bar button", { hasText: run }).click();
		await page.waitForSelector(".flame-canvas");
		await page.locator(".flame-canvas").scrollIntoViewIfNeeded();
		await when(() => page.locator(".flame-stage").evaluate((stage) => {
			const [inner, outer] = [stage, stage.closest(".dock")].map((one) => one.getBoundingClientRect());
			return Math.min(inner.bottom, outer.bottom) - Math.max(inner.top, outer.top);
		}), (height) => height >= 60, (height) => `${height} pixels of the graph are on the screen`);
	})]),
	...["9", "K", "8", "6"].map((key) => [`at 200 % the panel of key ${key} leaves the ruler and two lanes, and scrolls`, () => withPage(FINETUNE, ZOOMED, async (page) => {
		await page.keyboard.press(key);
		await page.waitForSelector(".dock");
		await settled(page);
		await when(() => laneRoom(page), ({ has, needs }) => has >= needs, (room) => JSON.stringify(room));
		// What does not fit can be scrolled to.
		const below = () => page.evaluate(() => {
			const [dock, line] = [".dock", ".dock-line"].map((what) => document.querySelector(what).getBoundingClientRect());
			return dock.bottom <= line.top + 1 && line.bottom <= innerHeight + 1;
		});
		await until(below, "the panel ends above its tabs");
	})]),
	["at 200 % the table has rows, and the comparison scrolls by keys", () => withPage(TWO, ZOOMED, async (page) => {
		await page.keyboard.press("9");
		await when(() => page.evaluate(() => {
			const edge = document.querySelector(".dock").getBoundingClientRect().bottom;
			return [...document.querySelectorAll(".grid-line")].filter((line) => line.getBoundingClientRect().bottom <= edge + 1).length;
		}), (rows) => rows >= 4, (rows) => `${rows} rows`);
		await page.keyboard.press("c");
		await page.waitForSelector(".compare-table");
		await page.locator(".dock").focus();
		await page.keyboard.press("End");
		await when(() => page.locator(".dock").evaluate((dock) => dock.scrollTop), (top) => top > 100, (top) => `scrolled to ${top}`);
	})],
	["two runs of one program are told apart in the first line, however narrow", async () => {
		for (const size of [[1280, 800], [800, 700], ZOOMED])
			await withPage(TWO, size, async (page) => {
				await when(() => page.locator("header .run > span").allTextContents(), ([a, b]) => a.startsWith("Amlp_sync") && b.startsWith("Bmlp_async"), (names) => names.join());
				const letters = await page.locator("header .run").evaluate((box) => [...box.querySelectorAll(".ab")].map((letter) => {
					const [inner, outer] = [letter, box].map((one) => one.getBoundingClientRect());
					return inner.width > 4 && inner.right <= outer.right;
				}));
				check(letters.join() === "true,true", `${size}: both letters are there: ${letters}`);
			});
	}],
	["directions of copies are broken between their words, never inside of one", () => withPage(["nsys/mlp_sync.hwy"], [800, 700], async (page) => {
		await page.keyboard.press("0");
		await page.keyboard.press("r");
		await page.waitForSelector(".copies td.text");
		// A line that is as wide as the longest part of the word needs no other break.
		await until(() => page.locator(".copies td.text").evaluateAll((cells) => cells.every((cell) => {
			const on = document.createElement("canvas").getContext("2d");
			on.font = getComputedStyle(cell).font;
			return cell.clientWidth >= Math.max(...cell.textContent.split(/(?<=-)|\s/).map((part) => on.measureText(part).width)) - 1;
		})), async () => `room for the words: ${await page.locator(".copies td.text").evaluateAll((cells) => cells.map((cell) => `${cell.textContent} ${cell.clientWidth}`).join())}`);
	})],
	["streams that have no work in the steps are one folded group, and processes are on the screen", () => withPage(["programs/jax_input.hwy"], [1280, 800], async (page) => {
		await page.locator(".title.group", { hasText: "16 other streams" }).waitFor();
		const rows = await page.evaluate(() => {
			const { layout, scroll, viewHeight } = window.headway.timeline;
			return { streams: layout.rows.filter((r) => r.kind === "lane" && r.lane.type === "stream").map((r) => r.title), calls: layout.rows.some((r) => r.lane?.type === "api" && r.y + r.h < scroll + viewHeight) };
		});
		check(rows.streams.length === 2 && rows.calls, JSON.stringify(rows));
		// A link says which groups are folded: none, here.
		await page.evaluate(() => { location.hash = location.hash.replace(/fold=[^&]*/, "fold="); });
		await until(() => page.evaluate(() => window.headway.timeline.layout.rows.filter((r) => r.kind === "lane" && r.lane.type === "stream").length === 18), "unfolded by the link");
	})],
	["names in the roofline's plot touch neither each other nor an edge", async () => {
		for (const size of [[1280, 800], [800, 700]])
			await withPage(FINETUNE, size, async (page) => {
				await page.keyboard.press("6");
				await page.waitForSelector(".roof-name");
				await settled(page);
				const texts = await page.locator(".roofline-plot svg").evaluate((svg) => {
					const all = svg.getBoundingClientRect();
					return [...svg.querySelectorAll(".tick, .roof-name:not([transform])")].map((text) => {
						const { left, right, top, bottom } = text.getBoundingClientRect();
						return { text: text.textContent, left, right, top: top + 2, bottom: bottom - 2, inside: left >= all.left && right <= all.right, opacity: getComputedStyle(text).opacity };
					});
				});
				check(texts.length > 5 && texts.every((t) => t.inside && t.opacity === "1"), JSON.stringify(texts));
				const touch = texts.flatMap((a, i) => texts.slice(i + 1).filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).map((b) => `${a.text} / ${b.text}`));
				check(!touch.length, `${size}: ${touch}`);
			});
	}],
	["the help can be closed however far it is scrolled", () => withPage(FINETUNE, ZOOMED, async (page) => {
		await page.keyboard.press("?");
		await page.waitForSelector("dialog.help");
		await page.locator(".help .inside").evaluate((inside) => { inside.scrollTop = inside.scrollHeight; });
		await until(() => page.locator(".help-head button").evaluate((button) => {
			const { left, top, width, height } = button.getBoundingClientRect();
			return document.elementFromPoint(left + width / 2, top + height / 2) === button;
		}), "its button is on top");
	})],
	["a long note is shown whole, and times stay readable beside its flag", () => withPage(FINETUNE, [1280, 800], async (page) => {
		await page.keyboard.press("]");
		await page.keyboard.press("m");
		await page.keyboard.type("why is this step so much slower than the others, and what does the GPU wait for?");
		await page.keyboard.press("Enter");
		await until(() => page.locator(".notes textarea").evaluate((box) => box.clientHeight > 30 && box.scrollHeight <= box.clientHeight + 1 && document.activeElement !== box), "the whole text");
		const written = await page.evaluate(() => {
			const { fillText } = CanvasRenderingContext2D.prototype;
			const seen = [];
			CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
				if (this.canvas.matches("canvas.timeline") && y < 26)
					seen.push({ text, y, flag: / /.test(text) && !/^[\d.]+ [mµ]?s$/.test(text) });
				fillText.call(this, text, x, y, ...more);
			};
			window.headway.timeline.draw();
			CanvasRenderingContext2D.prototype.fillText = fillText;
			return seen;
		});
		const [flag, times] = [written.find((w) => w.flag), written.filter((w) => /^[\d.]+ [mµ]?s$/.test(w.text))];
		check(flag && times.length > 1 && times.every((t) => t.y - flag.y >= 11), JSON.stringify(written));
	})],
	["what a cause of idle time means can be read, also in a narrow panel", () => withPage(FINETUNE, [800, 700], async (page) => {
		await page.waitForSelector(".part small");
		const cut = await page.locator(".part").evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
		check(!cut.length, `cut: ${cut}`);
	})],
]);
await browser.close();
for (const server of servers.values())
	await server.close();
