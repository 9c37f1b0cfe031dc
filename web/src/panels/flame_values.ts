/* SPDX-License-Identifier: Apache-2.0 */
/* flame_values.ts - the numbers of a frame for people: of one run, or of two beside each other. */
import { tr } from "../lang";
import { count, duration, percent, withPrefix } from "../timeline/units";
import type { Trie } from "./flame_trie";

export interface Values { weight: string; by: "share" | "step"; runs: number }

export const WEIGHT_NAMES: Record<string, string> = { gpu: tr("GPU time"), cpu: tr("CPU time"), idle: tr("idle GPU"), samples: tr("samples"), period: tr("period") };

/** A weight: a time, a number of samples; of two runs a share of the run, or a time a step. */
export function shown(value: number, { weight, by, runs }: Values): string {
	if (runs > 1 && by === "share")
		return percent(value);
	return weight === "samples" ? count(Math.round(value * 100) / 100) : weight === "period" ? withPrefix(value, "") : duration(value);
}

export const signed = (value: number, how: Values): string => (value > 0 ? `+${shown(value, how)}` : value < 0 ? `−${shown(-value, how)}` : "±0");

export const shareOf = (part: number, whole: number): string => (whole > 0 ? percent(part / whole) : "–");

/** What the runs' pieces are called. */
export const piecesOf = (weight: string): string => (weight === "samples" || weight === "period" ? tr("samples") : tr("launches"));

/** The lines of a tooltip. */
export function linesOf(trie: Trie, node: number, how: Values): string[] {
	const whole = trie.width(0);
	if (how.runs > 1) {
		const [a, b] = [trie.total[0]![node]!, trie.total[1]![node]!];
		return [tr(how.by === "share" ? "A {a} → B {b}: {change} of the run" : "A {a} → B {b}: {change} a step", { a: shown(a, how), b: shown(b, how), change: signed(b - a, how) }),
			tr("itself {a} → {b}; {n} → {m} {pieces}", { a: shown(trie.self[0]![node]!, how), b: shown(trie.self[1]![node]!, how), n: count(trie.count(node, 0)), m: count(trie.count(node, 1)), pieces: piecesOf(how.weight) })];
	}
	return [tr("{value}, {share} of all", { value: shown(trie.width(node), how), share: shareOf(trie.width(node), whole) }),
		tr("itself {value}, {share}; {n} {pieces}", { value: shown(trie.own(node), how), share: shareOf(trie.own(node), whole), n: count(trie.count(node, 0)), pieces: piecesOf(how.weight) })];
}
