/* SPDX-License-Identifier: Apache-2.0 */
/* main.tsx - starts the page: chooses where the data comes from, loads, draws. */
import { render } from "preact";
import { httpSource } from "./data/http";
import { inlineSource } from "./data/inline";
import type { Source } from "./data/source";
import { App } from "./panels/App";
import { keepLink, readLink } from "./state/link";
import { follow, load } from "./state/load";
import { keepHistory } from "./state/history";
import { listenToKeys } from "./state/keys";
import { restoreLooks } from "./state/layout";
import { setUp } from "./state/page";
import { set, state, subscribe } from "./state/store";
import { Timeline } from "./timeline/timeline";

declare global {
	/** For tests and the console. */
	interface Window { headway: { state: typeof state; timeline: Timeline; source: Source } }
}

/** Whether the page shows what it has loaded: what fails from then on must not take that away. */
let shown = false;

const app = document.getElementById("app")!;

async function start(): Promise<void> {
	const source = window.HEADWAY_INLINE ? inlineSource(window.HEADWAY_INLINE) : httpSource;
	const timeline = new Timeline(source);
	setUp(source, timeline);
	await load(source);
	window.headway = { state, timeline, source };
	subscribe(() => timeline.invalidate());
	restoreLooks();
	readLink();
	render(<App timeline={timeline} />, app);
	shown = true;
	listenToKeys();
	keepLink();
	keepHistory();
	await follow(source, timeline);
}

start().catch((e: unknown) => {
	const why = e instanceof Error ? e.message : String(e);
	if (shown)
		set({ message: why });
	else
		app.textContent = `Headway: ${why}`;
});
