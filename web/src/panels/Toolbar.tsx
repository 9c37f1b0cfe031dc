/* SPDX-License-Identifier: Apache-2.0 */
/* Toolbar.tsx - the top line: what is open, search, filter, overlays, panels, theme. */
import { useRef } from "preact/hooks";
import { goToHit, search, setPanel, setTheme, showAll, zoom } from "../state/actions";
import { set, titleOf, useStore, type Panel, type Theme } from "../state/store";
import { count, duration } from "../timeline/units";

const PANELS: [Panel, string][] = [["findings", "Findings"], ["details", "Details"], ["interval", "Interval"], ["search", "Search"], ["whatif", "What if"], ["roofline", "Roofline"]];
const NEXT: Record<Theme, Theme> = { auto: "dark", dark: "light", light: "auto" };
const WAIT_MS = 180;

function Title() {
	const traces = useStore((s) => s.traces);
	return <div class="run">{traces.map((t, i) => <span key={i} title={t.info.file}>
		{traces.length > 1 && <b class="ab">{i ? "B" : "A"}</b>}{titleOf(t)}
		<small>{duration(t.info.end - t.info.start)} · {count(t.info.spans)} spans</small></span>)}</div>;
}

function Switch({ on, name, keys, flip }: { on: boolean; name: string; keys: string; flip: () => void }) {
	return <button class={on ? "on" : ""} aria-pressed={on} title={`${name} (${keys})`} onClick={flip}>{name}</button>;
}

/** Which hit of the search one is at; goes to the next. */
function Hits() {
	const query = useStore((s) => s.query);
	const found = useStore((s) => s.found);
	const hit = useStore((s) => s.hit);
	if (!query.trim() || !found.length)
		return null;
	const hits = found.reduce((n, f) => n + (f?.hits ?? 0), 0);
	return <span class="group hits">
		<button aria-label="previous hit" title="previous hit (N, Shift + Enter)" disabled={!hits} onClick={() => void goToHit(-1)}>‹</button>
		<output>{hit ? `${count(hit.number)} of ${count(hit.hits)}` : count(hits)}</output>
		<button aria-label="next hit" title="next hit (n, Enter)" disabled={!hits} onClick={() => void goToHit(1)}>›</button>
	</span>;
}

export function Toolbar() {
	const panel = useStore((s) => s.panel);
	const theme = useStore((s) => s.theme);
	const gaps = useStore((s) => s.gaps);
	const path = useStore((s) => s.path);
	const query = useStore((s) => s.query);
	const filter = useStore((s) => s.filter);
	const timer = useRef(0);
	return <header>
		<svg class="logo" viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4.5h7M5 8h6M8 11.5h6" /></svg>
		<Title />
		<input type="search" placeholder="Search spans  ( / )" value={query} aria-label="search spans" onInput={(e) => {
			const text = e.currentTarget.value;
			clearTimeout(timer.current);
			timer.current = window.setTimeout(() => void search(text), WAIT_MS);
		}} onKeyDown={(e) => {
			if (e.key !== "Enter")
				return;
			clearTimeout(timer.current);
			const text = e.currentTarget.value;
			const dir = e.shiftKey ? -1 : 1;
			void (text.trim() === query.trim() ? goToHit(dir) : search(text).then(() => goToHit(dir)));
		}} />
		<Hits />
		<input class="filter" type="text" placeholder="Filter lanes" value={filter} aria-label="filter lanes"
			onInput={(e) => set({ filter: e.currentTarget.value })} />
		<span class="group">
			<button title="zoom out (s)" aria-label="zoom out" onClick={() => zoom(1.6)}>−</button>
			<button title="all of it (0)" onClick={showAll}>all</button>
			<button title="zoom in (w)" aria-label="zoom in" onClick={() => zoom(1 / 1.6)}>+</button>
		</span>
		<span class="group">
			<Switch on={gaps} name="idle causes" keys="g" flip={() => set({ gaps: !gaps })} />
			<Switch on={path} name="critical path" keys="p" flip={() => set({ path: !path })} />
		</span>
		<span class="group panels" role="group" aria-label="panels">{PANELS.map(([id, name], i) =>
			<Switch key={id} on={panel === id} name={name} keys={String(i + 1)} flip={() => setPanel(id)} />)}</span>
		<span class="group">
			<button class="theme" title={`colours: ${theme}`} aria-label={`colours: ${theme}`} onClick={() => setTheme(NEXT[theme])}>
				{theme === "auto" ? "◐" : theme === "dark" ? "☾" : "☀"}</button>
			<button title="keys (?)" aria-label="keys" onClick={() => set({ help: true })}>?</button>
		</span>
	</header>;
}
