/* SPDX-License-Identifier: Apache-2.0 */
/* flame_values.ts - the numbers of a frame for people: of one run, or of two beside each other. */
import { count, duration, percent, withPrefix } from "../timeline/units";
import type { Trie } from "./flame_trie";

export interface Values { weight: string; by: "share" | "step"; runs: number }

export const WEIGHT_NAMES: Record<string, string> = { gpu: "GPU time", cpu: "CPU time", idle: "idle GPU", samples: "samples", period: "period" };

/** A weight: a time, a number of samples; of two runs a share of the run, or a time a step. */
export function shown(value: number, { weight, by, runs }: Values): string {
	if (runs > 1 && by === "share")
		return percent(value);
	return weight === "samples" ? count(Math.round(value * 100) / 100) : weight === "period" ? withPrefix(value, "") : duration(value);
}

export const signed = (value: number, how: Values): string => (value > 0 ? `+${shown(value, how)}` : value < 0 ? `−${shown(-value, how)}` : "±0");

export const shareOf = (part: number, whole: number): string => (whole > 0 ? percent(part / whole) : "–");

/** What the runs' pieces are called. */
export const piecesOf = (weight: string): string => (weight === "samples" || weight === "period" ? "samples" : "launches");

/** The lines of a tooltip. */
export function linesOf(trie: Trie, node: number, how: Values): string[] {
	const whole = trie.width(0);
	if (how.runs > 1) {
		const [a, b] = [trie.total[0]![node]!, trie.total[1]![node]!];
		return [`A ${shown(a, how)} → B ${shown(b, how)}: ${signed(b - a, how)}${how.by === "share" ? " of the run" : " a step"}`,
			`itself ${shown(trie.self[0]![node]!, how)} → ${shown(trie.self[1]![node]!, how)}; ${count(trie.count(node, 0))} → ${count(trie.count(node, 1))} ${piecesOf(how.weight)}`];
	}
	return [`${shown(trie.width(node), how)}, ${shareOf(trie.width(node), whole)} of all`,
		`itself ${shown(trie.own(node), how)}, ${shareOf(trie.own(node), whole)}; ${count(trie.count(node, 0))} ${piecesOf(how.weight)}`];
}
