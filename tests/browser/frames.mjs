/* SPDX-License-Identifier: Apache-2.0 */
/* frames.mjs - how long a frame of 1920 pixels and 40 lanes takes. By itself it prints "median p90 lanes" for bench/run. */
import { builtPage, openBrowser, openPage, settled } from "./common.mjs";
import { serve } from "./fixture_server.mjs";
import { makeTrace } from "./fixture_trace.mjs";

const STREAMS = 32;
const MOVES = 90;
const LANES_COLUMN = 227;

export async function measureFrames(context, html) {
	const server = await serve([makeTrace(1, false, STREAMS)], html);
	const page = await openPage(context, `${server.url}#from=40000000&to=95000000&panel=no`);
	await page.setViewportSize({ width: 1920 + LANES_COLUMN, height: 1400 });
	await settled(page);
	let answers = 0;
	page.on("response", () => answers++);
	const { times, lanes, width, drawn } = await page.evaluate(async (moves) => {
		const { timeline, state } = window.headway;
		timeline.frames.length = 0;
		for (let i = 0; i < moves; i++) {
			state.from += 30_000;
			state.to += 10_000;
			timeline.invalidate();
			timeline.invalidate(); // a second change before the frame costs nothing
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		}
		return { times: timeline.frames.slice(-60).sort((a, b) => a - b), lanes: timeline.layout.rows.filter((r) => r.lane).length,
			width: document.querySelector("canvas.timeline").width, drawn: timeline.frames.length };
	}, MOVES);
	await page.close();
	server.close();
	return { median: times[30], p90: times[54], lanes, width, moves: MOVES, drawn, answers };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
	const html = builtPage();
	const browser = await openBrowser();
	const { median, p90, lanes } = await measureFrames(browser.context, html);
	console.log(median.toFixed(1), p90.toFixed(1), lanes);
	await browser.close();
}
