/* SPDX-License-Identifier: Apache-2.0 */
/* Toolbar.tsx - the top line: what is open, search, filter, overlays, panels, theme. */
import { useRef, useState } from "preact/hooks";
import { keys, tr } from "../lang";
import { goToHit, isSql, search, setTheme, showAll, zoom } from "../state/actions";
import { togglePanel } from "../state/layout";
import { runSql } from "../state/sql";
import { runTitle, set, state, useStore, type Theme } from "../state/store";
import { count, duration } from "../timeline/units";
import { SIDE } from "./registry";

keys("auto", "dark", "light");
const NEXT: Record<Theme, Theme> = { auto: "dark", dark: "light", light: "auto" };
const WAIT_MS = 180;

/** How many letters two names share at their begin. */
function alike(names: string[]): number {
	let n = 0;
	while (names.length > 1 && n < names[0]!.length && names[0]![n] === names[1]![n])
		n++;
	return n;
}

function Title() {
	const traces = useStore((s) => s.traces);
	const names = traces.map((t) => runTitle(t, traces).replace(/\.(hwy|sqlite|json|json\.gz)$/, ""));
	// Where there is little room, what tells them apart stays.
	const same = alike(names);
	const size = (t: typeof traces[number]): string => `${duration(t.info.end - t.info.start)} · ${tr("{n} spans", { n: count(t.info.spans) })}`;
	return <div class={traces.length > 1 ? "run two" : "run"}>{traces.map((t, i) => <span key={i} title={`${t.info.file}\n${size(t)}`}>
		{traces.length > 1 && <b class={i ? "ab of-b" : "ab of-a"}>{i ? "B" : "A"}</b>}{traces.length > 1 ? <>{same > 0 && <span class="head">{names[i]!.slice(0, same)}</span>}<span class="tail">{names[i]!.slice(same)}</span></> : names[i]}
		<small>{size(t)}</small></span>)}</div>;
}

function Switch({ on, name, keys, flip }: { on: boolean; name: string; keys: string; flip: () => void }) {
	return <button class={on ? "on" : ""} aria-pressed={on} title={keys ? `${name} (${keys})` : name} onClick={flip}>{name}</button>;
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
		<button aria-label={tr("previous hit")} title={tr("previous hit (N, Shift + Enter)")} disabled={!hits} onClick={() => void goToHit(-1)}>‹</button>
		<output>{hit ? tr("{n} of {all}", { n: count(hit.number), all: count(hit.hits) }) : count(hits)}</output>
		<button aria-label={tr("next hit")} title={tr("next hit (n, Enter)")} disabled={!hits} onClick={() => void goToHit(1)}>›</button>
	</span>;
}

export function Toolbar() {
	const panel = useStore((s) => s.panel);
	const theme = useStore((s) => s.theme);
	const gaps = useStore((s) => s.gaps);
	const path = useStore((s) => s.path);
	const query = useStore((s) => s.query);
	const ask = useStore((s) => s.ask);
	const filter = useStore((s) => s.filter);
	const timer = useRef(0);
	const [open, setOpen] = useState(false);
	const colours = tr("colours: {theme}", { theme: tr(theme) });
	return <header class={open ? "open" : ""}>
		<svg class="logo" viewBox="0 0 16 16" aria-hidden="true"><path d="M2 4.5h7M5 8h6M8 11.5h6" /></svg>
		<Title />
		<span class="ask"><input type="search" placeholder={tr("Ask: kernel dur>50us  ( / )")} value={ask.text} aria-label={tr("search spans")} aria-invalid={ask.error !== ""} aria-describedby="ask-error" spellcheck={false} onInput={(e) => {
			const text = e.currentTarget.value;
			clearTimeout(timer.current);
			// What is typed stays, whatever draws this line again meanwhile; Escape takes it back, before it was searched for, too.
			set({ ask: { ...state.ask, text } });
			timer.current = window.setTimeout(() => void (state.ask.text === text && search(text)), WAIT_MS);
		}} onKeyDown={(e) => {
			if (e.key !== "Enter")
				return;
			clearTimeout(timer.current);
			const text = e.currentTarget.value;
			if (isSql(text))
				return void runSql(text);
			const dir = e.shiftKey ? -1 : 1;
			void (text.trim() === query.trim() ? goToHit(dir) : search(text).then(() => (state.ask.error ? undefined : goToHit(dir))));
		}} />{ask.error && <span class="ask-error error" id="ask-error" role="alert">{ask.error}</span>}</span>
		<Hits />
		<input class="filter fold" type="text" placeholder={tr("Filter lanes")} value={filter} aria-label={tr("filter lanes")}
			onInput={(e) => set({ filter: e.currentTarget.value })} />
		<span class="group fold">
			<button title={tr("zoom out (s)")} aria-label={tr("zoom out")} onClick={() => zoom(1.6)}>−</button>
			<button title={tr("all of it (0)")} onClick={showAll}>{tr("all")}</button>
			<button title={tr("zoom in (w)")} aria-label={tr("zoom in")} onClick={() => zoom(1 / 1.6)}>+</button>
		</span>
		<span class="group fold">
			<Switch on={gaps} name={tr("idle causes")} keys="g" flip={() => set({ gaps: !gaps })} />
			<Switch on={path} name={tr("critical path")} keys="p" flip={() => set({ path: !path })} />
		</span>
		<span class="group panels" role="group" aria-label={tr("panels")}>{SIDE.map(({ id, title, keys }) =>
			<Switch key={id} on={panel === id} name={title} keys={keys?.[0] ?? ""} flip={() => togglePanel(id)} />)}</span>
		<span class="group">
			<button class="theme" title={colours} aria-label={colours} onClick={() => setTheme(NEXT[theme])}>
				{theme === "auto" ? "◐" : theme === "dark" ? "☾" : "☀"}</button>
			<button class="commands" title={tr("what to do, or where to go (Ctrl + K)")} aria-label={tr("commands")} onClick={() => set({ palette: true })}>☰</button>
			<button title={tr("keys (?)")} aria-label={tr("keys")} onClick={() => set({ help: true })}>?</button>
			<button class="rest" title={tr("filter, zoom, overlays")} aria-label={tr("filter, zoom, overlays")} aria-expanded={open} onClick={() => setOpen(!open)}>⋯</button>
		</span>
	</header>;
}
