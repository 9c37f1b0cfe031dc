/* SPDX-License-Identifier: Apache-2.0 */
/* flame.ts - the answer of the request `flame` as types (docs/view-protocol.md). Nothing here computes. */

import { keys } from "../lang";
export const FLAME_KINDS = ["operators", "stacks", "samples"] as const;
export type FlameKind = typeof FLAME_KINDS[number];

/** What a frame is. */
export const FrameKind = {
	root: 0, module: 1, scope: 2, line: 3, operator: 4, kernel: 5, copy: 6, fill: 7, graph: 8, unknown: 9, process: 10, thread: 11, python: 12, library: 13, native: 14, os: 15, merged: 16,
} as const;
export const FRAME_NAMES: readonly string[] = keys("all", "module", "scope", "line", "operator", "kernel", "copy", "fill", "graph", "not known", "process", "thread", "Python, the program's", "Python, a package's",
	"native", "operating system", "small frames");

export interface FlameAnswer {
	kind: FlameKind; steps: number; frames: number; merged: number; unknown: number; texts: string[];
	nodes: { outer: number[]; kind: number[]; name: number[]; place: number[]; count: number[]; merged: number[]; span: number[] };
	self: Record<string, number[]>;
	error?: string;
}

/** The longest spans of a frame, in order of time, of `count`. */
export interface FlameSpans { count: number; spans: number[]; error?: string }
