/* SPDX-License-Identifier: Apache-2.0 */
/* compare.ts - the answer of the request `compare`: `headway diff --format json` as types (docs/ci.md). Nothing here computes. */

import { keys } from "../lang";
export interface CompareSide {
	program: string; gpu: string; step_ns: number; step_without_recorder_ns: number; steady_steps: number; marks: string; verdict: string;
}
export interface CompareRow {
	change: string; before: string | null; after: string | null; renamed: boolean; before_ns_per_step: number; after_ns_per_step: number;
	before_count_per_step: number; after_count_per_step: number; before_mean_ns: number; after_mean_ns: number; before_span: number | null; after_span: number | null;
}
export interface CompareFinding {
	id: string; title: string; change: "gone" | "new" | "changed" | "same"; place: string; before_ns: number | null; after_ns: number | null;
	predicted: { edits: string; speedup: number; low: number; high: number; measured: number; grade: string } | null;
}
export const TABLES = keys("kernels", "calls", "ranges", "modules");
/** How findings and rows changed, how a prediction came true, what two recordings differ in. */
keys("gone", "new", "changed", "same", "slower", "faster", "added", "removed", "more", "fewer");
keys("as predicted", "less than predicted", "more than predicted", "not told apart from the others", "not checked, as the program became slower", "within the noise, so not checked");
keys("GPU clock while busy", "GPUs used", "GPU clock (MHz)", "driver", "program", "command", "recorded by", "recorded", "graphs recorded by", "kernels of graphs", "not recorded", "marks of steps", "records lost",
	"both sides are one recording", "runs before are not alike", "runs after are not alike", "the comparison says little");
export type TableName = typeof TABLES[number];
export interface Comparison extends Record<TableName, CompareRow[]> {
	verdict: "faster" | "slower" | "same" | "unknown"; other_program: boolean; kernels_alike: number;
	not_alike: { what: string; before: string; after: string; so: string }[];
	before: CompareSide; after: CompareSide;
	change: { ns: number; share: number; low: number | null; high: number | null; speedup: number; method: string; why: string };
	split: { part: string; before_ns: number; after_ns: number; change_ns: number }[];
	per_step: Record<string, { before: number; after: number }>;
	findings: CompareFinding[];
	error?: string;
}
