/* SPDX-License-Identifier: Apache-2.0 */
/* App.tsx - the page: toolbar, lanes and canvas, the panel beside them. */
import { useLayoutEffect } from "preact/hooks";
import { tr } from "../lang";
import { isEmpty, set, useStore } from "../state/store";
import type { Timeline } from "../timeline/timeline";
import { Palette } from "../timeline/theme";
import { Canvas } from "./Canvas";
import { CommandPalette } from "./CommandPalette";
import { useDark } from "./dark";
import { Dock } from "./Dock";
import { Empty } from "./Empty";
import { Lanes } from "./Lanes";
import { later } from "./Later";
import { MiniMap } from "./MiniMap";
import { SIDE } from "./registry";
import { Spoken } from "./Spoken";
import { Splitter } from "./Splitter";
import { Toolbar } from "./Toolbar";

const Help = later("Help");
const LEAST_WIDTH = 120;
const MOST_SHARE = 0.6;
const mostWidth = (): number => innerWidth * MOST_SHARE;
const wide = (pixels: number | null): Record<string, string> => (pixels ? { width: `${pixels}px` } : {});

function Side({ timeline }: { timeline: Timeline }) {
	const open = useStore((s) => SIDE.find((p) => p.id === s.panel));
	const width = useStore((s) => s.sizes.side);
	if (!open)
		return null;
	const Open = open.component;
	return <>
		<Splitter part="side" title={tr("width of the panel beside the timeline")} side="right" least={LEAST_WIDTH} most={mostWidth} />
		<aside aria-label={open.title} tabIndex={0} style={wide(width)}><button class="close-side" aria-label={tr("close {panel}", { panel: open.title })} title={tr("close")} onClick={() => set({ panel: null })}>×</button><Open timeline={timeline} /></aside>
	</>;
}

const GONE = {
	ended: tr("The server does not answer. What is on the screen stays; the page goes on as soon as 'headway view' is back at this address (--keep-address)."),
	other: tr("Another recording is served at this address now. What is on the screen stays; reload the page to see the other one."),
};

function Messages() {
	const gone = useStore((s) => s.gone);
	const message = useStore((s) => s.message);
	const info = useStore((s) => s.info);
	return <>
		{gone && <p class="note error" role="alert">{GONE[gone]}</p>}
		{message && <p class="note" role="status">{message}</p>}
		{info?.left_out?.length ? <p class="note faint">{tr("Left out of this page: {what}.", { what: info.left_out.join(tr("; ")) })}</p> : null}
	</>;
}

export function App({ timeline }: { timeline: Timeline }) {
	const dark = useDark();
	const width = useStore((s) => s.sizes.lanes);
	const help = useStore((s) => s.help);
	// A file of counters alone has nothing to draw but its roofline.
	const bare = useStore((s) => s.dock === "roofline" && s.traces.every((t) => t.info.spans === 0));
	// Before the page is drawn: no picture has the colours of before.
	useLayoutEffect(() => {
		document.documentElement.dataset["theme"] = dark ? "dark" : "light";
		timeline.palette = new Palette(dark);
		timeline.invalidate();
	}, [dark]);
	const empty = useStore((s) => s.traces.length > 0 && s.traces.every(isEmpty));
	return <>
		<Toolbar />
		<main>
			<div class={bare ? "work bare" : empty ? "work bare nothing" : "work"}>
				{empty && <Empty />}
				<div class="upper">
					<div class="left" style={wide(width)}><div class="corner" /><Lanes timeline={timeline} /></div>
					<Splitter part="lanes" title={tr("width of the lanes' names")} side="left" least={LEAST_WIDTH} most={mostWidth} />
					<div class="middle"><MiniMap timeline={timeline} /><Canvas timeline={timeline} /></div>
				</div>
				<Dock timeline={timeline} /><Messages />
			</div>
			<Side timeline={timeline} />
		</main>
		{help && <Help timeline={timeline} />}<CommandPalette /><Spoken timeline={timeline} />
	</>;
}
