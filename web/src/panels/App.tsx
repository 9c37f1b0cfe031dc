/* SPDX-License-Identifier: Apache-2.0 */
/* App.tsx - the page: toolbar, lanes and canvas, the panel beside them. */
import { useEffect } from "preact/hooks";
import { useStore } from "../state/store";
import type { Timeline } from "../timeline/timeline";
import { Palette } from "../timeline/theme";
import { Canvas } from "./Canvas";
import { useDark } from "./dark";
import { Details } from "./Details";
import { Findings } from "./Findings";
import { Help } from "./Help";
import { Interval } from "./Interval";
import { Lanes } from "./Lanes";
import { MiniMap } from "./MiniMap";
import { Prediction } from "./Prediction";
import { Roofline } from "./Roofline";
import { SearchPanel } from "./SearchPanel";
import { Toolbar } from "./Toolbar";
import { WhatIf } from "./WhatIf";

function Side() {
	const panel = useStore((s) => s.panel);
	switch (panel) {
	case "findings": return <aside><Findings /></aside>;
	case "details": return <aside><Details /></aside>;
	case "interval": return <aside><Interval /></aside>;
	case "search": return <aside><SearchPanel /></aside>;
	case "whatif": return <aside><WhatIf /></aside>;
	default: return null;
	}
}

function Notes() {
	const gone = useStore((s) => s.gone);
	const message = useStore((s) => s.message);
	const info = useStore((s) => s.info);
	return <>
		{gone && <p class="note error">The server has ended. What is on the screen stays; start `headway view` again for more.</p>}
		{message && <p class="note">{message}</p>}
		{info?.left_out?.length ? <p class="note faint">Left out of this page: {info.left_out.join("; ")}.</p> : null}
	</>;
}

export function App({ timeline }: { timeline: Timeline }) {
	const dark = useDark();
	// A file of counters alone has nothing to draw but its roofline.
	const bare = useStore((s) => s.panel === "roofline" && s.traces.every((t) => t.info.spans === 0));
	useEffect(() => {
		document.documentElement.dataset["theme"] = dark ? "dark" : "light";
		timeline.palette = new Palette(dark);
		timeline.invalidate();
	}, [dark]);
	return <>
		<Toolbar />
		<main>
			<div class={bare ? "work bare" : "work"}>
				<div class="upper">
					<div class="left"><div class="corner" /><Lanes timeline={timeline} /></div>
					<div class="middle"><MiniMap timeline={timeline} /><Canvas timeline={timeline} /></div>
				</div>
				<Prediction timeline={timeline} /><Roofline /><Notes />
			</div>
			<Side />
		</main>
		<Help />
	</>;
}
