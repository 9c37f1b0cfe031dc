/* SPDX-License-Identifier: Apache-2.0 */
/* load.ts - the first answers, and those of the diagnosis once it is there. */
import type { Diagnosis, DiagnosisState, Edits, Headway, Info, Lanes, Steps } from "../data/protocol";
import { showsRecordings } from "../data/http";
import { withPoints } from "../data/leads";
import type { Roofline } from "../data/roofline";
import type { Source } from "../data/source";
import { tr } from "../lang";
import type { Timeline } from "../timeline/timeline";
import { align, show, showAll } from "./actions";
import { askAlive, pause } from "./connection";
import { readLater, toldWindow } from "./link";
import { isEmpty, runTitle, set, state, type Trace } from "./store";

const ALIVE_MS = 5000;
const PENDING_MS = 500;
/** While the server is not there. */
const AGAIN_MS = 2000;

type Group = Lanes["groups"][number];
type Lane = Lanes["lanes"][number];
const TELLING = new Set(["api", "op", "range"]);
const OPEN_THREADS = 4;
const OPEN_OF_RANK = 2;
const MANY_STREAMS = 6;
const QUIET_LEAST = 3;
const LEAST_COUNTERS = 2;
const MANY_COUNTERS = 6;
const MANY_WAITS = 2;
const MANY_PROJECTED = 3;
const MANY_ELSEWHERE = 3;
const ELSEWHERE = "elsewhere";
/** Fewer are nothing to look at by themselves. */
const LEAST_STEPS = 3;
const GATHERED = /-(quiet|counters|waits|projected)$/;

/** Changes groups wherever they stand: those of a rank too. */
const everywhere = (groups: Group[], change: (g: Group) => Group): Group[] =>
	groups.map((g) => change(g.kind === "rank" ? { ...g, groups: everywhere(g.groups, change) } : g));

/** Threads that never call the device, have no ranges and no operators go into one group of their process. */
function gatherQuiet(lanes: Lanes): Lanes {
	const types = new Map(lanes.lanes.map((l) => [l.lane, l.type]));
	const isQuiet = (g: Group): boolean => g.kind === "thread" && !g.groups.length && !g.lanes.some((n) => TELLING.has(types.get(n) ?? ""));
	const groups = everywhere(lanes.groups, (g): Group => {
		const quiet = g.groups.filter((inner) => isQuiet(inner) && inner.lanes.some((n) => types.has(n)));
		if ((g.kind !== "process" && g.kind !== "rank") || quiet.length < QUIET_LEAST)
			return g;
		const rest = g.groups.filter((inner) => !quiet.includes(inner));
		return { ...g, groups: [...rest, { id: `${g.id}-quiet`, kind: "other", title: tr("{n} other threads", { n: quiet.length }), lanes: [], groups: quiet }] };
	});
	return { ...lanes, groups };
}

/** Lanes of a device that would hide the others are one group, as long as nobody asks for them. */
function gatherOf(lanes: Lanes, name: string, title: (n: number) => string, least: number, isOne: (lane: Lane) => boolean): Lanes {
	const chosen = new Set(lanes.lanes.filter(isOne).map((l) => l.lane));
	const groups = everywhere(lanes.groups, (g): Group => {
		const mine = g.lanes.filter((n) => chosen.has(n));
		if ((g.kind !== "device" && g.kind !== "streams") || mine.length < least)
			return g;
		const inner: Group = { id: `${g.id}-${name}`, kind: "other", title: title(mine.length), lanes: mine, groups: [] };
		return { ...g, lanes: g.lanes.filter((n) => !chosen.has(n)), groups: [...g.groups, inner] };
	});
	return { ...lanes, groups };
}

function gather(lanes: Lanes): Lanes {
	const ranges = gatherOf(lanes, "projected", (n) => tr("ranges on the GPU ({n})", { n }), MANY_PROJECTED, (l) => l.type === "projected");
	const waits = gatherOf(ranges, "waits", (n) => tr("the driver's waits ({n})", { n }), MANY_WAITS, (l) => l.type === "sync");
	return gatherQuiet(gatherOf(waits, "counters", () => tr("GPU metrics"), LEAST_COUNTERS, (l) => l.type === "counter" && !(l.min === 0 && l.max === 0)));
}

/** Streams that have no work in the steps would push what has some below the screen. Where all are so, none is. */
function gatherElsewhere(t: number): void {
	const { lanes, steps } = state.traces[t]!;
	const phase = steps?.phases[steps.main];
	if (!phase || phase.steps.length < LEAST_STEPS)
		return;
	const streams = lanes.lanes.filter((l) => l.type === "stream");
	const works = new Set(streams.filter((l) => l.start <= phase.to && l.end >= phase.from).map((l) => l.device));
	const gathered = gatherOf(lanes, ELSEWHERE, (n) => tr("{n} other streams, no work in the steps", { n }), MANY_ELSEWHERE,
		(l) => l.type === "stream" && works.has(l.device) && (l.start > phase.to || l.end < phase.from));
	const folded = new Set(state.folded);
	everywhere(gathered.groups, (g) => ({ ...g, groups: g.groups.map((inner) => {
		// What a link says of its groups counts.
		if (inner.id.endsWith(`-${ELSEWHERE}`) && !toldWindow())
			folded.add(`${t}/${inner.id}`);
		return inner;
	}) }));
	Object.assign(state.traces[t]!, { lanes: gathered });
	set({ folded });
}

/** The first threads that have something to tell start unfolded, the others folded. Ranks start folded, a line each. */
function foldAtFirst(traces: Trace[]): Set<string> {
	const folded = new Set<string>();
	traces.forEach((trace, t) => {
		const types = new Map(trace.lanes.lanes.map((l) => [l.lane, l.type]));
		const job = trace.lanes.groups.some((g) => g.kind === "rank");
		let open = 0;
		const visit = (groups: Group[]): void => groups.forEach((g) => {
			const tells = g.lanes.some((n) => TELLING.has(types.get(n) ?? ""));
			if (g.kind === "rank")
				open = OPEN_THREADS - OPEN_OF_RANK;
			const few = g.id.endsWith("-counters") && g.lanes.length <= MANY_COUNTERS && !job;
			if (g.kind === "rank" || (g.kind === "streams" && g.lanes.length > MANY_STREAMS) || (GATHERED.test(g.id) && !few) || (g.kind === "thread" && (!tells || open++ >= (traces.length > 1 ? 1 : OPEN_THREADS))))
				folded.add(`${t}/${g.id}`);
			visit(g.groups);
		});
		visit(trace.lanes.groups);
	});
	return folded;
}

/** Before anybody has moved, the steps are what to look at: start-up often takes most of a run. */
function showSteps(): void {
	const steps = state.traces[0]?.steps;
	const phase = steps?.phases[steps.main];
	if (!phase || phase.steps.length < LEAST_STEPS || toldWindow() || state.from !== untouched.from || state.to !== untouched.to)
		return;
	const width = phase.to - phase.from;
	if (width > 0 && width < (state.to - state.from) / 2)
		show(phase.from - width * 0.08, phase.to + width * 0.08);
}

const untouched = { from: 0, to: 0 };

export async function load(source: Source): Promise<void> {
	const info = await source.get<Info>("info");
	if (!info)
		throw new Error(tr("no answer"));
	const traces = await Promise.all(info.traces.map(async (one, t): Promise<Trace> => ({
		info: one, lanes: gather(await source.get<Lanes>(`lanes?t=${t}`) ?? { groups: [], lanes: [] }), steps: null, headway: null, diagnosis: null,
		edits: null, roofline: null, failed: "", shift: 0,
	})));
	showsRecordings(info.traces.map((one) => one.id));
	set({ info, traces, folded: foldAtFirst(traces), notes: { ...state.notes, all: traces.map(() => []) } });
	if (traces.every((t) => t.info.spans === 0))
		set({ panel: null, dock: traces.every(isEmpty) ? null : "roofline" });
	showAll();
	Object.assign(untouched, { from: state.from, to: state.to });
}

async function loadDiagnosis(source: Source, t: number): Promise<void> {
	const ask = <T>(what: string): Promise<T | null> => source.get<T>(`${what}?t=${t}`).catch((e: Error) => {
		state.traces[t]!.failed = e.message;
		return null;
	});
	const [diagnosis, steps, headway, edits, roofline] = await Promise.all([
		ask<Diagnosis>("diagnosis"), ask<Steps>("steps"), ask<Headway>("headway"), ask<Edits>("edits"), ask<Roofline>("roofline")]);
	Object.assign(state.traces[t]!, { diagnosis, steps, headway: headway && withPoints(headway), edits, roofline: roofline?.devices ? roofline : { devices: [], points: [] } });
	gatherElsewhere(t);
	document.title = `${state.traces.map((t) => runTitle(t)).join(" · ")} – Headway`;
	set({ traces: [...state.traces] });
}

/** Asks until every trace has its diagnosis, tells the server that the page is there. */
export async function follow(source: Source, timeline: Timeline): Promise<void> {
	const open = new Set(state.traces.keys());
	let left = open.size;
	const settle = async (t: number, now: DiagnosisState): Promise<void> => {
		if (now === "pending" || !open.delete(t))
			return;
		state.traces[t]!.info = { ...state.traces[t]!.info, diagnosis: now };
		if (now === "none") {
			left--;
			return set({ traces: [...state.traces] });
		}
		await loadDiagnosis(source, t);
		timeline.gaps.forget();
		timeline.path.forget();
		// The answers about one run may come long before those about the other.
		if (--left === 0) {
			const steps = state.traces[0]?.steps;
			align(state.step >= 0 ? state.step : steps?.phases[steps.main]?.first_steady ?? 0);
			showSteps();
			readLater();
		}
	};
	await Promise.all(state.traces.map((trace, t) => settle(t, trace.info.diagnosis)));
	if (source.inline)
		return;
	addEventListener("pagehide", () => navigator.sendBeacon("bye"));
	for (;;) {
		await pause(state.gone ? AGAIN_MS : open.size ? PENDING_MS : ALIVE_MS);
		await Promise.all((await askAlive(source) ?? []).map((now, t) => settle(t, now)));
	}
}
