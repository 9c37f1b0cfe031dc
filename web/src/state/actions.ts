/* SPDX-License-Identifier: Apache-2.0 */
/* actions.ts - what a person can do. Each changes the state, or asks the source and then changes it. */
import { withPoints } from "../data/leads";
import { findingsOf, type At, type Group, type Headway, type Metric, type NextHit, type Search, type Selection, type Span, type SpanDetails, type WhatIf } from "../data/protocol";
import { tr } from "../lang";
import { queryError } from "../query/parse";
import { laneKey, levelsAtFirst } from "../timeline/layout";
import { keep } from "./kept";
import { source, timeline } from "./page";
import { dropPart } from "./selection";
import { set, state, type Theme } from "./store";
import { inTurn } from "./turns";

const LEAST_WINDOW = 20;
/** The share of the window that may be void before the first event, and after the last. */
const MARGIN = 0.01;

/** The whole of it, all runs. */
export function bounds(): { from: number; to: number } {
	const from = Math.min(...state.traces.map((t) => t.info.start - t.shift));
	const to = Math.max(...state.traces.map((t) => t.info.end - t.shift));
	return { from, to: Math.max(to, from + 1) };
}

/** Where two runs stand beside each other is known once both were diagnosed. */
export const isAligned = (): boolean => state.traces.length < 2 || state.traces.every((t) => t.diagnosis || t.failed || t.info.diagnosis === "none");

/** The part of a stretch of time in which something can have been recorded, in whole ns; null: none of it. */
export function recorded(from: number, to: number): { from: number; to: number } | null {
	const all = isAligned() ? bounds() : { from: -Infinity, to: Infinity };
	if (!(from <= all.to && to >= all.from))
		return null;
	const begin = Math.floor(Math.max(all.from, Math.min(from, all.to - 1)));
	return { from: begin, to: Math.max(Math.ceil(Math.min(to, all.to)), begin + 1) };
}

/** Shows a stretch of time: never wider than the recording with its margins, and never beyond them. */
export function show(from: number, to: number): void {
	const all = bounds();
	const whole = (all.to - all.from) / (1 - 2 * MARGIN);
	const width = Math.min(whole, Math.max(LEAST_WINDOW, to - from));
	const side = width * MARGIN;
	const begin = Math.max(all.from - side, Math.min(all.to + side - width, (from + to) / 2 - width / 2));
	set({ from: begin, to: begin + width });
}

export function zoom(factor: number, at = (state.from + state.to) / 2): void {
	const all = bounds();
	const least = LEAST_WINDOW / (state.to - state.from);
	const most = (all.to - all.from) / (1 - 2 * MARGIN) / (state.to - state.from);
	const f = Math.min(most, Math.max(least, factor));
	show(at - (at - state.from) * f, at + (state.to - at) * f);
}

export function pan(share: number): void {
	const by = (state.to - state.from) * share;
	show(state.from + by, state.to + by);
}

export function showAll(): void {
	const { from, to } = bounds();
	const margin = (to - from) * MARGIN;
	show(from - 2 * margin, to + 2 * margin);
}

/** Shows the selected span; without one, the interval. */
export function zoomToSelection(): void {
	const { selected } = state;
	if (!selected)
		return zoomToRange();
	const shift = state.traces[selected.trace]!.shift;
	const { start, dur } = selected.span;
	const margin = Math.max(200, dur * 0.4);
	show(start - shift - margin, start + dur - shift + margin);
}

export function zoomToRange(): void {
	const { range } = state;
	if (range)
		show(range.from, range.to);
}

export const scrollLanes = (pixels: number): void => timeline.setScroll(timeline.scroll + pixels);
export const scrollPages = (by: 1 | -1): void => scrollLanes(by * timeline.viewHeight);

/** Shows all levels of a lane, or only the first ones. */
export function deepen(key: string): void {
	const deep = new Set(state.deep);
	if (!deep.delete(key))
		deep.add(key);
	set({ deep });
}

/** Unfolds the groups a lane stands in, and the lane itself where the level is deeper than it shows. */
function unfold(trace: number, lane: number, level = 0): void {
	const at = state.traces[trace]!.lanes.lanes.find((l) => l.lane === lane);
	if (at && level >= levelsAtFirst(at))
		set({ deep: new Set(state.deep).add(laneKey(trace, lane)) });
	const folded = new Set(state.folded);
	const visit = (groups: Group[]): boolean => groups.some((g) => {
		const inside = g.lanes.includes(lane) || visit(g.groups);
		if (inside)
			folded.delete(`${trace}/${g.id}`);
		return inside;
	});
	visit(state.traces[trace]!.lanes.groups);
	set({ folded });
}

/** Brings a lane onto the screen: unfolded, and not filtered away. */
export function laneInView(trace: number, lane: number): void {
	unfold(trace, lane);
	const key = laneKey(trace, lane);
	if (!timeline.layout.byLane.has(key))
		set({ filter: "" });
	requestAnimationFrame(() => timeline.reveal(key));
}

/** Brings a span onto the screen: a tenth of it wide, unless it is well visible already. */
function goTo(trace: number, span: Span): void {
	const shift = state.traces[trace]!.shift;
	const start = span.start - shift;
	const end = start + span.dur;
	const width = state.to - state.from;
	const visible = start >= state.from && end <= state.to;
	if (!visible || (end - start) < width / 400) {
		const wide = span.dur > width ? span.dur * 1.5 : (end - start) < width / 400 ? Math.max(1000, span.dur * 20) : width;
		show((start + end) / 2 - wide / 2, (start + end) / 2 + wide / 2);
	}
	unfold(trace, span.lane, span.row);
	requestAnimationFrame(() => timeline.reveal(laneKey(trace, span.lane), span.row));
}

/** Follows the arrow of the selected span: from work to its launch, from a launch to its work. Where both are on the screen the window stays; else
 * it shows both, where they are not further apart than it is wide. */
export const followLink = (): Promise<void> => inTurn(toLink);

async function toLink(): Promise<void> {
	const at = state.selected;
	const target = at && (at.span.launch ?? at.span.work[0]);
	if (!at || !target)
		return;
	const { shift } = state.traces[at.trace]!;
	const from = Math.min(at.span.start, target.start) - shift;
	const to = Math.max(at.span.start + at.span.dur, target.start + target.dur) - shift;
	const width = state.to - state.from;
	if (to - from > width * 0.95)
		return select(at.trace, target.id, true);
	if (from < state.from || to > state.to)
		show((from + to - width) / 2, (from + to + width) / 2);
	unfold(at.trace, target.lane, target.row);
	await select(at.trace, target.id);
	requestAnimationFrame(() => timeline.reveal(laneKey(at.trace, target.lane), target.row));
}

/** Counts what was selected: an answer about a span is not wanted once another one was asked for. */
let choice = 0;

/** Selects a span; `stay` leaves the panel as it is. */
export async function select(trace: number, id: number, go = false, stay = false): Promise<void> {
	const mine = ++choice;
	const { panel } = state;
	const span = await source.get<SpanDetails>(`span?t=${trace}&id=${id}`).catch(() => null);
	if (mine !== choice)
		return;
	if (!span) {
		set({ message: source.inline ? tr("The details of this span were left out of this page.") : tr("The server does not know this span.") });
		return;
	}
	// Another panel that was opened meanwhile stays.
	set({ selected: { trace, span }, focus: null, panel: stay || state.panel !== panel ? state.panel : "details", message: "" });
	if (go)
		goTo(trace, span);
}

export async function selectAt(trace: number, lane: number, from: number, to: number): Promise<void> {
	const mine = ++choice;
	const at = await standingAt(trace, lane, from, to);
	if (at?.longest && mine === choice)
		await select(trace, at.longest.id);
}

/** What stands on a lane in a stretch of time. */
export const standingAt = (trace: number, lane: number, from: number, to: number): Promise<At | null> =>
	source.get<At>(`at?t=${trace}&lane=${lane}&from=${from}&to=${to}`).catch(() => null);

/** What happened on a lane in a stretch of time, without selecting it. */
export const happenedOn = (trace: number, lane: number, from: number, to: number): Promise<Selection | null> =>
	source.get<Selection>(`selection?t=${trace}&from=${Math.floor(from)}&to=${Math.ceil(to)}&lanes=${lane}`).catch(() => null);

/** Everything known of a span, without selecting it. */
export const detailsOf = (trace: number, id: number): Promise<SpanDetails | null> => source.get<SpanDetails>(`span?t=${trace}&id=${id}`).catch(() => null);

export const selectNext = (dir: 1 | -1): Promise<void> => inTurn(() => toNext(dir));

async function toNext(dir: 1 | -1): Promise<void> {
	const at = state.selected;
	if (!at)
		return;
	const next = await source.get<{ span: Span | null }>(`next?t=${at.trace}&id=${at.span.id}&dir=${dir}`).catch(() => null);
	if (next?.span)
		await select(at.trace, next.span.id, true, state.panel === "search");
	else
		set({ message: next ? tr(dir > 0 ? "No later span of that name on this lane." : "No earlier span of that name on this lane.") : tr("Left out of this page.") });
}

/** What the counters of a span's device said while it ran. Asks nothing where the recording has no counters. */
export async function metricsOf(trace: number, span: Span): Promise<Metric[]> {
	const { lanes } = state.traces[trace]!.lanes;
	const device = lanes.find((l) => l.lane === span.lane)?.device;
	const mine = new Set(lanes.filter((l) => l.type === "counter" && l.device === device && device !== undefined).map((l) => l.lane));
	if (!mine.size)
		return [];
	const table = await source.get<Selection>(`selection?t=${trace}&from=${Math.floor(span.start)}&to=${Math.ceil(span.start + span.dur)}`).catch(() => null);
	return (table?.counters ?? []).filter((m) => mine.has(m.lane));
}

/** The CPU's lead in a window, at this number of points; null where the page carries no more than it has. */
export const headwayOf = (trace: number, from: number, to: number, points: number): Promise<Headway | null> =>
	source.get<Headway>(`headway?t=${trace}&from=${from}&to=${to}&n=${points}`).then((answer) => answer && withPoints(answer), () => null);

/** A text that is SQL, not a query of the language. */
export const isSql = (text: string): boolean => /^\s*(select|with)\s/i.test(text);

let searching: AbortController | null = null;
const SEARCH_MARKS = 400;

export async function search(query: string, open = true): Promise<void> {
	searching?.abort();
	searching = new AbortController();
	const { signal } = searching;
	const error = isSql(query) ? "" : queryError(query);
	set({ ask: { text: query, error } });
	if (!query.trim())
		return clearSearch();
	// While it is wrong, everything else keeps what it had; SQL waits for Enter.
	if (error || isSql(query))
		return;
	set(open ? { query, panel: "search", hit: null } : { query, hit: null });
	const found = await Promise.all(state.traces.map((t, i) =>
		source.get<Search>(`search?t=${i}&q=${encodeURIComponent(query.trim())}&from=${t.info.start}&to=${t.info.end}&n=${SEARCH_MARKS}`, signal)
			.catch((e: Error) => {
				if (!signal.aborted)
					set({ ask: { ...state.ask, error: e.message } });
				return null;
			})));
	if (!signal.aborted)
		set({ found });
}

/** More hits of a lane than were listed at first. */
export async function searchMore(trace: number, lane: number): Promise<void> {
	const found = state.found[trace];
	const listed = found?.lanes.find((l) => l.lane === lane);
	if (!found || !listed)
		return;
	const { start, end } = state.traces[trace]!.info;
	const more = await source.get<Search>(`search?t=${trace}&q=${encodeURIComponent(found.q)}&from=${start}&to=${end}&n=1&lane=${lane}&skip=${listed.first.length}`).catch(() => null);
	const next = more?.lanes[0]?.first ?? [];
	if (state.found[trace] !== found || !next.length)
		return;
	const lanes = found.lanes.map((l) => (l.lane === lane ? { ...l, first: [...l.first, ...next] } : l));
	set({ found: state.found.map((one, t) => (t === trace ? { ...found, lanes } : one)) });
}

/** Goes to the next hit of the search in time, whatever its lane; from the selected span, or from where the window begins. */
export const goToHit = (dir: 1 | -1): Promise<void> => inTurn(() => toHit(dir));

async function toHit(dir: 1 | -1): Promise<void> {
	const query = state.query.trim();
	if (!query)
		return;
	const at = state.selected;
	const trace = at?.trace ?? 0;
	const from = at ? `&id=${at.span.id}` : `&from=${Math.max(0, Math.floor(state.from + state.traces[trace]!.shift))}`;
	const next = await source.get<NextHit>(`hit?t=${trace}&q=${encodeURIComponent(query)}${from}&dir=${dir}`).catch(() => null);
	if (!next?.span)
		return set({ message: next?.hits ? tr(dir > 0 ? "No later hit." : "No earlier hit.") : tr("Nothing is like this.") });
	await select(trace, next.span.id, true, true);
	set({ hit: { number: next.number, hits: next.hits } });
}

let lighting = 0;

/** Lights up a finding's evidence and goes to the first piece of it, with a step around; without `go` the window stays. */
export async function light(trace: number, finding: number, go = true): Promise<void> {
	const found = state.traces[trace]!.diagnosis;
	const item = findingsOf(found)[finding];
	if (!item)
		return;
	const mine = ++lighting;
	const spans = (await Promise.all(item.evidence.slice(0, 32).map((id) =>
		source.get<SpanDetails>(`span?t=${trace}&id=${id}`).catch(() => null)))).filter((s) => s !== null);
	if (mine !== lighting)
		return;
	const total = Math.max(item.evidence.length, item.places?.reduce((n, p) => n + (p.count ?? 0), 0) ?? 0);
	set({ lit: { trace, finding, spans, at: 0, total, names: new Set(spans.map((s) => s.name)), lanes: new Set(spans.map((s) => s.lane)),
		looks: new Set(spans.map((s) => s.look ?? -1)) } });
	spans.forEach((s) => unfold(trace, s.lane, s.row));
	showEvidence(go);
}

/** Shows the piece of evidence one is at and selects it; without `go` only its lane. */
function showEvidence(go = true): void {
	const { lit } = state;
	const span = lit?.spans[lit.at];
	if (!lit || !span)
		return;
	const { shift, diagnosis } = state.traces[lit.trace]!;
	const item = findingsOf(diagnosis)[lit.finding];
	const step = diagnosis?.phases[item?.phase ?? -1]?.step_ns || diagnosis?.job?.step_ns || diagnosis?.summary.step_ns || span.dur * 6;
	const width = Math.max(step * 2.2, span.dur * 2.5);
	const middle = span.start + span.dur / 2 - shift;
	if (go) {
		choice++;
		set({ selected: { trace: lit.trace, span }, focus: null });
		show(middle - width / 2, middle + width / 2);
	}
	requestAnimationFrame(() => timeline.reveal(laneKey(lit.trace, span.lane), span.row));
}

export function nextEvidence(by: 1 | -1): void {
	const { lit } = state;
	if (!lit?.spans.length)
		return;
	set({ lit: { ...lit, at: (lit.at + by + lit.spans.length) % lit.spans.length } });
	showEvidence();
}

let predicting: AbortController | null = null;
export const asking = (): boolean => state.asking;

/** Replays a run with these edits. */
export async function predict(edits: string[], trace = state.whatIfTrace): Promise<void> {
	predicting?.abort();
	predicting = new AbortController();
	const { signal } = predicting;
	set({ edits, asking: true, ...(trace === state.whatIfTrace ? {} : { whatIfTrace: trace, whatIf: null }) });
	try {
		const answer = await source.whatIf<WhatIf>(trace, edits.join(","), signal);
		if (signal.aborted)
			return;
		if (!answer)
			set({ whatIf: null, whatIfError: source.inline ? tr("This prediction was left out of this page.") : tr("Still diagnosing."), asking: false });
		else if (answer.error)
			set({ whatIf: null, whatIfError: `${edits.join(tr(", "))}${tr(": ")}${answer.error}`, asking: false });
		else
			set({ whatIf: answer, whatIfError: "", asking: false });
	} catch (e) {
		if (!signal.aborted)
			set({ whatIf: null, whatIfError: `${edits.join(tr(", "))}${tr(": ")}${e instanceof Error ? e.message : tr("no answer")}`, asking: false });
	}
}

/** Goes to step k of the main phase; a second run is aligned there. */
export function showStep(k: number, trace = 0): void {
	const steps = state.traces[trace]?.steps;
	const list = steps?.phases[steps.main]?.steps;
	const step = list?.[k];
	if (!step)
		return;
	align(k);
	const from = step[0] - state.traces[trace]!.shift;
	const width = step[1] - step[0];
	set({ step: k });
	show(from - width * 0.1, from + width * 1.1);
}

export function moveStep(by: 1 | -1): void {
	const steps = state.traces[0]?.steps;
	const list = steps?.phases[steps.main]?.steps;
	if (!list?.length)
		return;
	const middle = (state.from + state.to) / 2;
	const now = state.step >= 0 ? state.step : list.findIndex((s) => s[1] > middle);
	showStep(Math.min(list.length - 1, Math.max(0, now + by)));
}

/** Lets step k of every run begin at the same place. */
export function align(k: number): void {
	if (state.traces.length < 2)
		return;
	const begin = (t: number): number => {
		const steps = state.traces[t]!.steps;
		const phase = steps?.phases[steps.main];
		return phase?.steps[Math.min(k, phase.steps.length - 1)]?.[0] ?? state.traces[t]!.info.start;
	};
	const base = begin(0);
	state.traces.forEach((trace, t) => { trace.shift = begin(t) - base; });
	set({ traces: [...state.traces] });
}

export function fold(key: string): void {
	const folded = new Set(state.folded);
	if (!folded.delete(key))
		folded.add(key);
	set({ folded });
}

export function pin(key: string): void {
	const pinned = new Set(state.pinned);
	if (!pinned.delete(key))
		pinned.add(key);
	set({ pinned });
}

/** Puts a group before one of its siblings; others are not moved by it. */
export function moveGroup(key: string, before: string): void {
	const [t] = key.split("/");
	const siblings = (groups: Group[]): string[] | null => {
		const keys = groups.map((g) => `${t}/${g.id}`);
		return keys.includes(key) ? keys : groups.reduce<string[] | null>((found, g) => found ?? siblings(g.groups), null);
	};
	const keys = siblings(state.traces[Number(t)]?.lanes.groups ?? []);
	if (!keys?.includes(before) || key === before)
		return;
	const known = keys.every((k) => state.order.includes(k)) ? state.order.filter((k) => keys.includes(k)) : keys;
	const rest = known.filter((k) => k !== key);
	rest.splice(rest.indexOf(before), 0, key);
	set({ order: [...state.order.filter((k) => !keys.includes(k)), ...rest] });
}

/** Whether the selected span is the piece of evidence that is shown: it came with the finding, and goes with it. */
const isShownEvidence = (): boolean => {
	const { lit, selected } = state;
	return lit !== null && lit.spans[lit.at]?.id === selected?.span.id && lit.trace === selected?.trace;
};

/** Takes back one thing: what covers most first, what took most to choose last. */
export function clear(): void {
	if (state.message)
		set({ message: "" });
	else if (state.selected && !isShownEvidence())
		set({ selected: null });
	else if (state.kin)
		set({ kin: null });
	else if (state.query)
		clearSearch();
	else if (state.lit)
		set(isShownEvidence() ? { lit: null, selected: null } : { lit: null });
	else
		void dropPart();
}

export function clearSearch(): void {
	searching?.abort();
	set({ ask: { text: "", error: "" }, query: "", found: [], hit: null });
}

export function setTheme(theme: Theme): void {
	set({ theme });
	keep("theme", theme);
}
