/* SPDX-License-Identifier: Apache-2.0 */
/* main.tsx - starts the page: chooses where the data comes from, loads, draws. */
import { render } from "preact";
import { httpSource } from "./data/http";
import type { Source } from "./data/source";
import { App } from "./panels/App";
import { keepLink, readLink } from "./state/link";
import { pause } from "./state/connection";
import { follow, load } from "./state/load";
import { late, lateNow } from "./state/later";
import { keepHistory } from "./state/history";
import { listenToKeys } from "./state/keys";
import { restoreLooks } from "./state/layout";
import { setUp } from "./state/page";
import { set, state, subscribe } from "./state/store";
import { Timeline } from "./timeline/timeline";

declare global {
	/** For tests and the console. */
	interface Window { headway: { state: typeof state; timeline: Timeline; source: Source; lateNow: typeof lateNow } }
}

/** So often one looks whether the first picture is complete. */
const PICTURE_MS = 100;

/** Whether the page shows what it has loaded: what fails from then on must not take that away. */
let shown = false;

const app = document.getElementById("app")!;

/** The rest of the page comes when the first picture is complete and nothing else is to do, or when a panel needs it. */
async function lateWhenDrawn(timeline: Timeline): Promise<void> {
	while (!timeline.frames.length || timeline.tiles.waiting)
		await pause(PICTURE_MS);
	// For bench/page.mjs: what came before this is what the picture took.
	performance.mark("headway picture");
	await pause(PICTURE_MS);
	// What needs it says what is wrong with it.
	await late().catch(() => null);
}

/** What the page said last is over when somebody does something else. Escape takes it back by itself. */
function forgetMessages(): void {
	const forget = (e: Event): void => {
		const key = e instanceof KeyboardEvent ? e.key : "";
		const reads = e.target instanceof Element && e.target.closest(".note");
		if (state.message && !reads && !/^(Escape|Shift|Control|Alt|Meta)$/.test(key))
			set({ message: "" });
	};
	for (const kind of ["keydown", "pointerdown", "wheel"])
		addEventListener(kind, forget, { capture: true, passive: true });
}

async function start(): Promise<void> {
	const source = window.HEADWAY_INLINE ? (await late()).inlineSource(window.HEADWAY_INLINE) : httpSource;
	const timeline = new Timeline(source);
	setUp(source, timeline);
	await load(source);
	window.headway = { state, timeline, source, lateNow };
	subscribe(() => timeline.invalidate());
	restoreLooks();
	readLink();
	render(<App timeline={timeline} />, app);
	shown = true;
	forgetMessages();
	listenToKeys();
	keepLink();
	keepHistory();
	void lateWhenDrawn(timeline);
	await follow(source, timeline);
}

start().catch((e: unknown) => {
	const why = e instanceof Error ? e.message : String(e);
	if (shown)
		set({ message: why });
	else
		app.textContent = `Headway: ${why}`;
});
