/* load.ts - the first answers, and those of the diagnosis once it is there. */
import type { Diagnosis, DiagnosisState, Edits, Headway, Info, Lanes, Steps } from "../data/protocol";
import type { Source } from "../data/source";
import type { Timeline } from "../timeline/timeline";
import { align, showAll } from "./actions";
import { set, state, type Trace } from "./store";

const ALIVE_MS = 5000;
const PENDING_MS = 500;

/** Threads beyond the first few, and processes without device work, start folded. */
function foldAtFirst(traces: Trace[]): Set<string> {
	const folded = new Set<string>();
	traces.forEach((trace, t) => {
		const lanes = new Map(trace.lanes.lanes.map((l) => [l.lane, l]));
		const busy = (ids: number[]): boolean => ids.some((n) => lanes.get(n)?.type === "api" || lanes.get(n)?.type === "op" || lanes.get(n)?.type === "range");
		let open = 0;
		const visit = (groups: Trace["lanes"]["groups"]): void => groups.forEach((g) => {
			if (g.kind === "thread" && (!busy(g.lanes) || open++ >= 4))
				folded.add(`${t}/${g.id}`);
			visit(g.groups);
		});
		visit(trace.lanes.groups);
	});
	return folded;
}

export async function load(source: Source): Promise<void> {
	const info = await source.get<Info>("info");
	if (!info)
		throw new Error("no answer");
	const traces = await Promise.all(info.traces.map(async (one, t): Promise<Trace> => ({
		info: one, lanes: await source.get<Lanes>(`lanes?t=${t}`) ?? { groups: [], lanes: [] }, steps: null, headway: null, diagnosis: null,
		edits: null, failed: "", shift: 0,
	})));
	set({ info, traces, folded: foldAtFirst(traces) });
	document.title = `${info.traces.map((t) => t.title).join(" · ")} – Headway`;
	showAll();
}

async function loadDiagnosis(source: Source, t: number): Promise<void> {
	const ask = <T>(what: string): Promise<T | null> => source.get<T>(`${what}?t=${t}`).catch((e: Error) => {
		state.traces[t]!.failed = e.message;
		return null;
	});
	const [diagnosis, steps, headway, edits] = await Promise.all([
		ask<Diagnosis>("diagnosis"), ask<Steps>("steps"), ask<Headway>("headway"), ask<Edits>("edits")]);
	Object.assign(state.traces[t]!, { diagnosis, steps, headway, edits });
	set({ traces: [...state.traces] });
}

/** Asks until every trace has its diagnosis, tells the server that the page is there. */
export async function follow(source: Source, timeline: Timeline): Promise<void> {
	const open = new Set(state.traces.keys());
	const settle = async (t: number, now: DiagnosisState): Promise<void> => {
		if (now === "pending" || !open.delete(t))
			return;
		state.traces[t]!.info = { ...state.traces[t]!.info, diagnosis: now };
		if (now === "none")
			return set({ traces: [...state.traces] });
		await loadDiagnosis(source, t);
		timeline.gaps.forget();
		timeline.path.forget();
		if (!open.size) {
			const steps = state.traces[0]?.steps;
			align(state.step >= 0 ? state.step : steps?.phases[steps.main]?.first_steady ?? 0);
		}
	};
	await Promise.all(state.traces.map((trace, t) => settle(t, trace.info.diagnosis)));
	if (source.inline)
		return;
	addEventListener("pagehide", () => navigator.sendBeacon("bye"));
	for (;;) {
		await new Promise((done) => setTimeout(done, open.size ? PENDING_MS : ALIVE_MS));
		const alive = await source.get<{ diagnosis: DiagnosisState[] }>("alive").catch(() => null);
		if (state.gone !== !alive)
			set({ gone: !alive });
		await Promise.all((alive?.diagnosis ?? []).map((now, t) => settle(t, now)));
	}
}
