/* SPDX-License-Identifier: Apache-2.0 */
/* palette.ts - what the palette (Ctrl-K) offers: every command, lane, finding and step, and the search; what was used last stands first.
 *
 * Whoever has more to go to adds a function to SOURCES. */
import { findingsOf, type Group } from "../data/protocol";
import { inEnglish, tr } from "../lang";
import { duration } from "../timeline/units";
import { laneTitle } from "../timeline/lane_title";
import { plain } from "../timeline/text";
import { laneInView, light, search, showStep } from "./actions";
import { COMMANDS, type Command } from "./commands";
import { fuzzy } from "./fuzzy";
import { keep, kept } from "./kept";
import { showPanel } from "./layout";
import { set, state } from "./store";

const MOST_RECENT = 8;
/** More than these nobody reads; typing on makes them fewer. */
const MOST_SHOWN = 60;

const prefixOf = (trace: number): string => (state.traces.length > 1 ? `${trace ? "B" : "A"}${tr(": ")}` : "");

/** Lanes with the thread or device that they stand in. */
function lanes(): Command[] {
	return state.traces.flatMap((trace, t) => {
		const titles = new Map(trace.lanes.lanes.filter((l) => l.type !== "hardware").map((l) => [l.lane, l.title]));
		const visit = (groups: Group[]): Command[] => groups.flatMap((g) => [
			...g.lanes.filter((n) => titles.has(n)).map((n): Command => ({ id: `lane.${t}.${n}`, title: `${prefixOf(t)}${plain(laneTitle(titles.get(n)!))} – ${plain(g.title)}`, group: tr("Lane"), run: () => laneInView(t, n) })),
			...visit(g.groups)]);
		return visit(trace.lanes.groups);
	});
}

function findings(): Command[] {
	return state.traces.flatMap((trace, t) => findingsOf(trace.diagnosis).map((f, i): Command => ({
		id: `finding.${t}.${f.id}.${i}`, title: `${prefixOf(t)}${plain(f.title)} (${f.id})`, group: tr("Finding"), run: () => {
			showPanel("findings");
			return light(t, i);
		} })));
}

/** The step with the number that was typed, by its number or its name. */
function steps(query: string): Command[] {
	const number = new RegExp(`^\\s*(?:(?:step|${tr("step")})\\s*)?#?(\\d+)\\s*$`, "i").exec(query)?.[1];
	const known = state.traces[0]?.steps;
	const list = known?.phases[known.main]?.steps ?? [];
	return number === undefined ? [] : list.flatMap(([from, to, , , , , name], k): Command[] => (k === Number(number) || /\d+$/.exec(name)?.[0] === number
		? [{ id: `step.${k}`, title: tr("Step {step}: {time}", { step: name && name !== String(k) ? tr("{name}, number {k}", { name: plain(name), k }) : k, time: duration(to - from) }), group: tr("Step"), run: () => showStep(k) }] : []));
}

const searchFor = (query: string): Command[] => (query.trim() ? [{ id: "search.typed", title: tr("Search spans for “{text}”", { text: plain(query.trim()) }), group: tr("Search"), run: () => search(query) }] : []);

/** What there is besides commands; each gets what was typed, and may answer with what does not look like it. */
export const SOURCES: ((query: string) => Command[])[] = [lanes, findings];

const recent = (): string[] => {
	const list = kept("recent");
	return Array.isArray(list) ? list.filter((id): id is string => typeof id === "string") : [];
};

/** The best first; without a query what was used last, then the questions that a newcomer would not find by a key, then the commands in their order. */
export function offers(query: string): Command[] {
	const used = recent();
	const rank = (c: Command): number => (used.includes(c.id) ? used.length - used.indexOf(c.id) : 0);
	const there = [...COMMANDS, ...SOURCES.flatMap((more) => more(query))].filter((c) => c.id !== "palette" && (c.enabled?.() ?? true));
	const first = (c: Command): number => rank(c) || (c.id.startsWith("ask.") ? 0.5 : 0);
	if (!query.trim())
		return there.sort((a, b) => first(b) - first(a)).slice(0, MOST_SHOWN);
	const scored = there.flatMap((command) => {
		const score = fuzzy(query, [command.title, command.group, inEnglish(command.title), inEnglish(command.group)].filter(Boolean).join(" "));
		return score === null ? [] : [{ command, score: score + (rank(command) ? 20 + rank(command) : 0) }];
	});
	return [...steps(query), ...scored.sort((a, b) => b.score - a.score).map((s) => s.command).slice(0, MOST_SHOWN), ...searchFor(query)];
}

export function runOffer(command: Command): void {
	set({ palette: false });
	keep("recent", [command.id, ...recent().filter((id) => id !== command.id)].slice(0, MOST_RECENT));
	void command.run();
}
