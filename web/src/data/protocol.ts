/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.ts - the answers of docs/view-protocol.md as types. Nothing here computes. */

import { keys } from "../lang";
export const Look = {
	kernel: 0, comm: 1, copy: 2, fill: 3, graph: 4, api: 5, launch: 6, wait: 7, alloc: 8, apiCopy: 9, range: 10, op: 11, call: 12,
	os: 13, running: 14, stopped: 15, memory: 16, sample: 17, event: 18, sync: 19, overhead: 20, counter: 21,
} as const;

/** Kinds of spans, causes of idle time, classes of the critical path: ids in files and queries, which panels show through tr(). */
export const LOOK_NAMES: readonly string[] = keys("kernel", "communication", "copy", "fill", "graph", "call", "launch", "wait", "allocation", "copy call", "range",
	"operator", "function", "OS call", "running", "not running", "memory", "sample", "event", "driver wait", "profiler", "counter");

/** The states of a thread by name, where Headway recorded them. */
export const STATE_NAMES: readonly string[] = keys("running", "runnable", "waiting", "preempted", "starting");
export const CAUSES = keys("blocked", "launch", "input", "os", "cpu", "dependency", "alloc", "module", "drain", "unknown", "first-use", "missing", "comm", "gc", "gil");
export const PATH_KINDS = keys("cpu", "launch", "call", "wait", "compute", "comm", "copy", "next", "other");
/** What bounds a predicted step: as PATH_KINDS, in the words of `headway path`. */
keys("calls", "waits", "copies", "between-ops");

export const HARDWARE = 2 ** 31;
/** From this number on lanes are not of the recording: ranges projected onto a device, and unions of streams. */
export const VIRTUAL = 2 ** 30;
export const WARM_UP = 1;
export const OUTLIER = 2;

export type DiagnosisState = "pending" | "ready" | "failed" | "none";

export interface TraceInfo {
	/** The same whenever this recording is opened. */
	id: string; file: string; title: string; origin: string; start: number; end: number; spans: number; source: string; diagnosis: DiagnosisState;
}
export interface Info { protocol: number; version: string; inline: boolean; kept?: boolean; traces: TraceInfo[]; left_out?: string[] }

export interface Lane {
	lane: number; type: string; title: string; device?: number; process?: number; thread?: number; rank?: number;
	/** The numbers by which people call them. */
	stream?: number; gpu?: number; pid?: number; spans: number; nests: boolean; marks: boolean;
	start: number; end: number; looks: number[]; detail: number; unit?: string; min?: number | null; max?: number | null;
	/** Of projected ranges: the lane that these stand on. */
	of?: number;
	/** Of a counter: the one that says most at a glance. */
	main?: boolean;
	/** Of a counter that is a set: a word for each bit of its values. */
	flags?: string[];
}
export interface Group {
	id: string; kind: string; title: string; device?: number; thread?: number; rank?: number; lanes: number[]; groups: Group[];
	/** Of a rank: the lanes on which most of its messages stand. */
	messages?: number[];
}
export interface Lanes { groups: Group[]; lanes: Lane[] }
/** A rank whose device other ranks use, too: its own streams stand in a group by themselves (docs/view-protocol.md, "lanes"). */
export const sharesDevice = (rank: Group): boolean => rank.groups.some((g) => g.kind === "streams") && !rank.groups.some((g) => g.kind === "device");
/** The number under which gaps and headway of a union of streams come. */
export const unionOf = (lane: Lane): number => lane.lane - HARDWARE;

export interface Span { id: number; lane: number; name: string; start: number; dur: number; look?: number; row?: number }
export interface Frame { function: string; file: string; line: number | null; module: string }
export interface Place {
	file: string; line: number | null; function: string; range: string; api: string; operator?: string; module?: string; count?: number; cost_ns_per_step?: number;
}
export interface SpanDetails extends Span {
	kind: string; fields: { key: string; value: string; unit?: string }[]; place?: Place | null; stack: Frame[]; around: Span[];
	launch: Span | null; work: Span[]; work_count: number;
	/** Of device work: what was enqueued on its device and not finished when its call began. */
	headway?: Lead | null;
	/** Of a range: where the device work that was launched inside it stands. */
	projected?: { lane: number; start: number; dur: number; row: number }[];
	/** Recorded relations with other spans; from this one where it leaves. */
	edges?: { kind: string; leaves: boolean; span: Span }[];
	/** The self-contained page has no room for its columns. */
	partial?: boolean;
}
export interface At { count: number; busy: number[]; longest: Span | null; spans: Span[] }
export interface Search {
	q: string; names: number; hits: number; more: boolean; lanes: { lane: number; count: number; first: Span[] }[]; marks: number[];
}
/** By lane: first part and number of parts of the window in which hits begin, and so on. */
export interface Marks { q: string; lanes: { lane: number; runs: number[] }[] }
export interface NextHit { span: Span | null; number: number; hits: number }
export interface TableRow { name: string; name_id: number; count: number; total: number; max: number; look: number }
/** What a counter said in an interval; the mean is by time, and rests on so many samples. */
export interface Metric { lane: number; mean: number; least: number; most: number; last: number; samples?: number }
/** Names by time: the first of them, and what all of them come to. */
export interface NameTable { names: number; count: number; total: number; rows: TableRow[] }
/** Work of a device that is enqueued and not finished: operations, and ns of work left in them. */
export interface Lead { count: number; work: number }
export interface DeviceTimes {
	device: number; title: string;
	/** All of its streams are chosen. */
	whole: boolean;
	busy: number; idle: number; compute: number; comm: number; memory: number; causes: Record<string, number> | null;
	headway: { begin: Lead; end: Lead; least: Lead | null } | null;
}
export interface Copies { direction: string; count: number; bytes: number; total: number }
export interface ThreadStates { lane: number; title: string; states: { name: string; look: number; count: number; total: number }[] }
export interface Wakes { from_thread: number; to_thread: number; from: string; to: string; count: number }
export interface SampledFunctions { count: number; names: number; rows: { function: string; module: string; count: number }[] }
export const NAME_TABLES = ["kernels", "calls", "ranges", "operators", "functions", "os"] as const;
/** What happened in a stretch of time on chosen lanes. */
export interface Selection extends Record<(typeof NAME_TABLES)[number], NameTable> {
	from: number; to: number; devices: DeviceTimes[]; counters: Metric[]; copies: Copies[]; launches: { count: number; total: number };
	waits: { count: number; total: number }; threads: ThreadStates[]; thread_count: number; wakes: Wakes[] | null; samples: SampledFunctions;
}
/** Device begin and end, CPU begin and end, busy, flags, name. */
export type Step = [number, number, number, number, number, number, string];
export interface Phase { name: string; process?: number; source: string; mean: number; median: number; from: number; to: number; first_steady: number;
	n_steady: number; steps: Step[] }
export interface Steps { main: number; phases: Phase[];
	/** Of a job: idle gaps are those of each rank, by its own recording. */
	by_rank?: boolean }
export interface Headway { devices: { device: number; phase: number; points: [number, number, number][]; max_count: number; max_work: number;
	/** A value is the largest within so many ns. */
	within: number }[] }
export interface Predicted { edits: string[]; before_ns: number; step_ns: number; p10_ns: number; p90_ns: number; speedup: number; bound: string;
	tipping_ns?: number }
export interface Finding {
	id: string; title: string; phase: number; side: string; cost_ns_per_step: number; share: number; confidence: string; says: string;
	places: Place[]; evidence: number[]; advice?: string; predicted?: Predicted;
}
export interface DiagnosedPhase {
	name: string; source: string; steps: number; steady_steps: number; step_ns: number; median_ns: number; p10_ns: number; p90_ns: number; bursty: boolean;
	window: { start_ns: number; end_ns: number };
	headway: { max_ns: number; mean_ns: number; empty_ns: number; steps: number }[];
	outliers: { step: number; name: string; step_ns: number; differs_by: string; excess_ns: number; because_of: string }[];
}
export interface DeviceTime {
	device: number | null; name: string; window_ns: number; busy_ns: number; idle_ns: number; causes: Record<string, number>;
	states: { compute_ns: number; exposed_comm_ns: number; exposed_copy_ns: number; fill_ns: number; idle_ns: number };
}
/** What a rank of a job does with a step; the parts add up to step_ns. */
export interface JobRank {
	rank: number; host: string; judged: boolean; step_ns: number; compute_ns: number; transfer_ns: number; wait_ns: number; start_ns: number; copy_ns: number; idle_ns: number;
	costs_others_ns: number; late_steps: number;
}
export interface JobFinding {
	id: string; title: string; ranks: number[]; cost_ns_per_step: number; least_ns: number; most_ns: number; worst_rank: number; says: string; file: string; line: number | null;
	function: string; predicted_step_ns: number | null; advice: string; evidence: number[]; predicted?: Predicted; phase?: undefined; places?: undefined;
}
/** The ranks of a job as one answer: the member "job" of docs/analyze-json.md. */
export interface Job {
	verdict: string; says: string; step_ns: number; steps: number; lateness: { kind: string; says: string; ranks: number[] }; ranks: JobRank[];
	/** By rank and step: how much later than the first one, ns. */
	late_ns: number[][]; findings: JobFinding[]; problems: string[];
}
export interface Diagnosis {
	job?: Job;
	/** verdict: one word for what holds the program back (docs/verdict.md); verdict_says: the same in a sentence. */
	summary: { verdict: string; verdict_says: string; verdict_opaque?: boolean; coverage: number; program: string; phase: number | null; step_ns: number; steps: number; busy: number; healthy: boolean; reachable: number;
		own_cost_ns_per_step: number | null; lost_records: number; records_say: string; ncu: string | null; kernels_command?: string | null;
		top_kernels: { name: string; ns_per_step: number; share_of_kernels: number; count: number; bound?: string | null; of_roof?: number | null }[];
		runs: { file: string; rank: number | null; step_ns: number | null; shown: boolean }[] };
	phases: DiagnosedPhase[]; gpu: DeviceTime[];
	/** What the recording lacks, then what therefore cannot be told. */
	trust: { check?: string; effect?: string; says?: string; cannot_tell?: string; because?: string }[]; findings: Finding[]; acquitted: Finding[];
}
/** The findings as the panel has them, in its order: those of a job where it is one. */
export const findingsOf = (diagnosis: Diagnosis | null | undefined): (Finding | JobFinding)[] => (!diagnosis ? [] : diagnosis.job?.findings ?? [...diagnosis.findings, ...diagnosis.acquitted]);
export interface Edit { id: string; arguments: string; about: string;
	/** Why it would change nothing; null where it would, and missing where that is not known yet. */
	why?: string | null }
export interface Applicable { phase: number; edits: { id: string; why: string | null }[] }
export interface Edits { edits: Edit[]; suggested: { finding: string; edits: string; step: number; speedup: number }[] }
/** Id, lane, look, name, start and duration recorded, then predicted. */
export type Op = [number, number, number, number, number, number, number, number];
export interface WhatIf {
	edits: string; recorded: number; base: number; step: number; p10: number; p90: number; speedup: number; bound: string; note: string;
	shown_step: number; ops: Op[]; left_out: number; error?: string;
}
export interface Piece { from: number; to: number; span: number; cause: number; device: number; count: number;
	/** How much of it is covered, 0 … 1: less where several were merged. */
	share: number }
/** Id, lane, look, index into names, start, duration, step, latency, bytes, line. */
export type EventRow = [number, number, number, number, number, number, number | null, number | null, number | null, string];
/** Name, the term that asks for its spans, count, total, min, max, mean, p50, p90, p99, deviation. */
export type EventGroup = [string, string | null, number, number, number, number, number, number, number, number, number];
export interface EventTable { q: string; rows: number; total: number; min: number; max: number; skip: number; at?: number | null; list: EventRow[]; names: string[] }
export interface EventGroups { q: string; rows: number; total: number; min: number; max: number; skip: number; groups: number; list: EventGroup[] }
