/* SPDX-License-Identifier: Apache-2.0 */
/* Dock.tsx - the drawer under the timeline: a line of tabs, and the open panel over it. A press on the open tab closes it. */
import { useRef } from "preact/hooks";
import { tr } from "../lang";
import { toggleDock } from "../state/layout";
import { set, useStore } from "../state/store";
import type { Timeline } from "../timeline/timeline";
import { DOCK, shownInDock } from "./registry";
import { Splitter } from "./Splitter";

const LEAST = 120;
const SHARE = 0.8;

function Tabs() {
	const open = useStore(shownInDock);
	// One string, so that the tabs are drawn again only when others are there.
	const ids = useStore((s) => DOCK.filter((p) => p.available?.(s) ?? true).map((p) => p.id).join());
	const line = useRef<HTMLDivElement>(null);
	const there = DOCK.filter((p) => ids.split(",").includes(p.id));
	const move = (e: KeyboardEvent, i: number): void => {
		const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: there.length - 1 }[e.key];
		if (to === undefined)
			return;
		e.preventDefault();
		line.current?.querySelectorAll("button")[(to + there.length) % there.length]?.focus();
	};
	return <div class="tabs" role="tablist" aria-label={tr("panels under the timeline")} ref={line}>{there.map((p, i) =>
		<button key={p.id} role="tab" id={`tab-${p.id}`} aria-selected={p === open} aria-controls={p === open ? "dock" : undefined}
			tabIndex={p === (open ?? there[0]) ? 0 : -1} title={p.keys ? `${p.title} (${p.keys[0]})` : p.title} onClick={() => toggleDock(p.id)} onKeyDown={(e) => move(e, i)}>{p.title}</button>)}</div>;
}

export function Dock({ timeline }: { timeline: Timeline }) {
	const open = useStore(shownInDock);
	const height = useStore((s) => s.sizes.dock);
	const Open = open?.component;
	return <>
		{open && !open.ownHeight && <Splitter part="dock" title={tr("height of the panel under the timeline")} side="below" least={LEAST} most={() => innerHeight * SHARE} />}
		{open && Open && <div class={open.ownHeight ? "dock own" : "dock"} id="dock" role="tabpanel" aria-labelledby={`tab-${open.id}`} tabIndex={0}
			style={height && !open.ownHeight ? { height: `${height}px` } : {}}><Open timeline={timeline} /></div>}
		<div class="dock-line"><Tabs />{open && <button class="close" aria-label={tr("close {panel}", { panel: open.title })} title={tr("close")} onClick={() => set({ dock: null })}>×</button>}</div>
	</>;
}
