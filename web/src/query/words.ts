/* SPDX-License-Identifier: Apache-2.0 */
/* words.ts - the words of the language in which one asks for spans: kinds, groups of kinds, fields. src/serve/query_words.c has the same tables. */
import { Look } from "../data/protocol";

const CALLS = [Look.api, Look.launch, Look.wait, Look.alloc, Look.apiCopy];
const KINDS: Record<string, readonly number[]> = {
	kernel: [Look.kernel, Look.comm], copy: [Look.copy], fill: [Look.fill], graph: [Look.graph], api: CALLS, sync: [Look.sync], event: [Look.event], range: [Look.range],
	op: [Look.op], call: [Look.call], os: [Look.os], state: [Look.running, Look.stopped], memory: [Look.memory], sample: [Look.sample], counter: [Look.counter], overhead: [Look.overhead],
	work: [Look.kernel, Look.comm, Look.copy, Look.fill, Look.graph], comm: [Look.comm], launch: [Look.launch], wait: [Look.wait], alloc: [Look.alloc],
};
export const KIND_WORDS = Object.keys(KINDS);

/** The looks of a kind or group of kinds. */
export const looksOf = (word: string): readonly number[] | null => (Object.hasOwn(KINDS, word.toLowerCase()) ? KINDS[word.toLowerCase()]! : null);

export type Unit = "plain" | "time" | "bytes" | "rate" | "text" | "words";
export type Field = "kind" | "name" | "lane" | "thread" | "line" | "module" | "id" | "start" | "end" | "dur" | "latency" | "rate" | "step" | "phase" | "gpu" | "stream" | "rank" | "pid" | "shape" | "column";
export interface Word { field: Field; part: string; unit: Unit }

const FIELDS: Record<string, [Field, Unit]> = {
	kind: ["kind", "words"], name: ["name", "text"], lane: ["lane", "text"], thread: ["thread", "text"], line: ["line", "text"], module: ["module", "text"], id: ["id", "plain"],
	start: ["start", "time"], end: ["end", "time"], dur: ["dur", "time"], duration: ["dur", "time"], latency: ["latency", "time"], rate: ["rate", "rate"], step: ["step", "plain"],
	phase: ["phase", "plain"], gpu: ["gpu", "plain"], device: ["gpu", "plain"], stream: ["stream", "plain"], rank: ["rank", "plain"], pid: ["pid", "plain"],
};
const list = (names: string, unit: Unit): Record<string, Unit> => Object.fromEntries(names.split(" ").map((n) => [n, unit]));
const SHAPE = {
	...list("grid_x grid_y grid_z block_x block_y block_z cluster_x cluster_y cluster_z registers", "plain"),
	...list("static_shared dynamic_shared executed_shared local_per_thread local_total", "bytes"),
};
const COLUMNS = {
	...list("correlation graph graph_exec graph_node channel channel_type source_device target_device count value result waited_stream event event_sync payload end_thread row external sequence cpu nesting "
		+ "source_context target_context weight parent", "plain"),
	...list("queued submitted", "time"), ...list("bytes", "bytes"),
	...list("direction source_memory target_memory operation sync_type category style args reason cause launch_type", "text"),
};
export const FIELD_WORDS = [...Object.keys(FIELDS), ...Object.keys(SHAPE), ...Object.keys(COLUMNS)];

export function fieldOf(name: string): Word | null {
	const word = name.toLowerCase().replaceAll("-", "_");
	const find = <T>(table: Record<string, T>): T | undefined => (Object.hasOwn(table, word) ? table[word] : undefined);
	const own = find(FIELDS);
	if (own)
		return { field: own[0], part: "", unit: own[1] };
	const shape = find<Unit>(SHAPE);
	if (shape)
		return { field: "shape", part: word, unit: shape };
	const column = find<Unit>(COLUMNS);
	return column ? { field: "column", part: word, unit: column } : null;
}
