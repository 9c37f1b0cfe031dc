/* SPDX-License-Identifier: Apache-2.0 */
/* flame_trie.ts - call paths as a trie: top-down as it was recorded, bottom-up, or around one function; of one run or of two on top of each other.
 *
 * A trie has columns of own weights. Everything made from a trie is linear in them: sums stay what they were. A node's caller has a smaller index. */
import { FrameKind, type FlameAnswer } from "../data/flame";

export interface Frame { kind: number; name: string; place: string }

/** Where a node comes from: the run, the node of the server's answer, and its longest span (-1: none). */
export interface Origin { run: number; node: number; span: number }

const DEEPEST = 200;

export class Trie {
	readonly outer: number[] = [0];
	readonly frame: number[] = [0];
	readonly inner: number[][] = [[]];
	readonly origin: (Origin | null)[] = [null];
	readonly merged: number[] = [0];
	/** By column, then by node. Columns are the weights of the runs, then the counts of the runs. */
	readonly self: number[][];
	readonly total: number[][] = [];
	/** Bottom-up: frames in the root are where time is spent, those inside of them are their callers. */
	isUp = false;
	private known = new Map<number, number>();
	private heaviest: number[] = [0];

	constructor(readonly frames: Frame[], readonly runs: number) {
		this.self = Array.from({ length: 2 * runs }, () => [0]);
	}

	get n(): number {
		return this.outer.length;
	}

	put(outer: number, frame: number): number {
		const key = outer * this.frames.length + frame;
		const found = this.known.get(key);
		if (found !== undefined)
			return found;
		const node = this.outer.push(outer) - 1;
		this.known.set(key, node);
		this.frame.push(frame);
		this.inner.push([]);
		this.inner[outer]!.push(node);
		this.origin.push(null);
		this.merged.push(0);
		this.heaviest.push(-1);
		for (const column of this.self)
			column.push(0);
		return node;
	}

	/** Adds own weights to a node; the heaviest says where the node comes from. */
	add(node: number, weights: number[], origin: Origin | null, merged = 0): void {
		weights.forEach((w, c) => { this.self[c]![node]! += w; });
		this.merged[node]! += merged;
		const weight = weights.slice(0, this.runs).reduce((a, b) => a + b, 0);
		if (origin && weight > this.heaviest[node]!) {
			this.heaviest[node] = weight;
			this.origin[node] = origin;
		}
	}

	/** Adds up, and sorts what is inside of each node: the widest first. */
	finish(): this {
		for (const own of this.self) {
			const total = [...own];
			for (let i = this.n - 1; i > 0; i--)
				total[this.outer[i]!]! += total[i]!;
			this.total.push(total);
		}
		for (const list of this.inner)
			list.sort((a, b) => this.width(b) - this.width(a));
		return this;
	}

	/** How wide a node is drawn: the mean of the runs. */
	width(node: number): number {
		let sum = 0;
		for (let c = 0; c < this.runs; c++)
			sum += this.total[c]![node]!;
		return sum / this.runs;
	}
	/** What is spent in the function itself; of callers of a function, bottom-up, nothing. */
	own(node: number): number {
		if (this.isUp)
			return node && !this.outer[node] ? this.width(node) : 0;
		let sum = 0;
		for (let c = 0; c < this.runs; c++)
			sum += this.self[c]![node]!;
		return sum / this.runs;
	}
	/** By how much a node grew from the first run to the second. */
	change(node: number): number {
		return this.runs > 1 ? this.total[1]![node]! - this.total[0]![node]! : 0;
	}
	count(node: number, run: number): number {
		return this.total[this.runs + run]![node]!;
	}
	at(node: number): Frame {
		return this.frames[this.frame[node]!]!;
	}
	/** The callers of a node, the outermost first, and the node itself. */
	path(node: number): number[] {
		const path = [node];
		while (path[0] !== 0)
			path.unshift(this.outer[path[0]!]!);
		return path;
	}
	selfs(node: number): number[] {
		return this.self.map((column) => column[node]!);
	}
	totals(node: number): number[] {
		return this.total.map((column) => column[node]!);
	}
	/** The index of a frame, or -1. Of two runs frames have places without folders, and older links name no place. */
	find(key: string): number {
		const [name, place] = key.split("\n");
		const same = this.frames.findIndex((f) => keyOf(f) === key);
		return same >= 0 ? same : this.frames.findIndex((f) => nameOf(f) === name && (place === undefined || lastOf(f.place) === lastOf(place)));
	}
}

const nameOf = (f: Frame): string => `${f.kind}:${f.name}`;
const lastOf = (place: string): string => place.slice(place.lastIndexOf("/") + 1);

/** A frame as a link names it: functions of several files have the same name. */
export const keyOf = (f: Frame): string => (f.place ? `${nameOf(f)}\n${f.place}` : nameOf(f));

/** Two runs have other numbers of processes and threads, and other folders. */
const alike = (f: Frame): Frame => ({ kind: f.kind, name: f.name.replace(/ \((pid|tid) \d+\)$/, ""), place: lastOf(f.place) });

/** One run, or two on top of each other, each with its scale. */
export function trieOf(answers: FlameAnswer[], weight: string, scales: number[]): Trie {
	const frames: Frame[] = [];
	const known = new Map<string, number>();
	const frameOf = ({ nodes, texts }: FlameAnswer, i: number): number => {
		const one = { kind: nodes.kind[i]!, name: texts[nodes.name[i]!] ?? "", place: texts[nodes.place[i]!] ?? "" };
		const frame = answers.length > 1 ? alike(one) : one;
		const key = `${frame.kind}\n${frame.name}\n${frame.place}`;
		const found = known.get(key) ?? frames.push(frame) - 1;
		known.set(key, found);
		return found;
	};
	const of = answers.map((answer) => answer.nodes.outer.map((_, i) => frameOf(answer, i)));
	const trie = new Trie(frames, answers.length);
	answers.forEach((answer, run) => {
		const { nodes } = answer;
		const own = answer.self[weight] ?? [];
		const counts = [...nodes.count];
		for (let i = nodes.outer.length - 1; i > 0; i--)
			counts[nodes.outer[i]!]! -= nodes.count[i]!;
		const at: number[] = [0];
		for (let i = 0; i < nodes.outer.length; i++) {
			if (i)
				at[i] = trie.put(at[nodes.outer[i]!]!, of[run]![i]!);
			const weights = new Array<number>(2 * answers.length).fill(0);
			weights[run] = (own[i] ?? 0) * scales[run]!;
			weights[answers.length + run] = counts[i]!;
			trie.add(at[i]!, weights, { run, node: i, span: nodes.span[i]! }, nodes.merged[i]!);
		}
	});
	return trie.finish();
}

/** Who called the functions in which time is spent: leaves at the top, their callers below. */
export function bottomUp(trie: Trie): Trie {
	const up = new Trie(trie.frames, trie.runs);
	up.isUp = true;
	for (let i = 1; i < trie.n; i++) {
		const weights = trie.selfs(i);
		if (weights.every((w) => w === 0))
			continue;
		let node = 0;
		for (let at = i, depth = 0; at && depth < DEEPEST; at = trie.outer[at]!, depth++)
			node = up.put(node, trie.frame[at]!);
		up.add(node, weights, trie.origin[i]!);
		for (let at = up.outer[node]!; at; at = up.outer[at]!)
			up.add(at, weights.map(() => 0), trie.origin[i]!);
	}
	up.add(0, trie.selfs(0), null);
	return up.finish();
}

export interface Sandwich { callers: Trie; callees: Trie }

/** Everything around one function: who calls it, and what it calls. Inside of itself it counts once. */
export function sandwich(trie: Trie, frame: number): Sandwich {
	const callers = new Trie(trie.frames, trie.runs);
	const callees = new Trie(trie.frames, trie.runs);
	/** By node: its node among the callees; 0 of what is not inside of the function. */
	const within = new Array<number>(trie.n).fill(0);
	const head = callees.put(0, frame);
	const foot = callers.put(0, frame);
	for (let i = 1; i < trie.n; i++) {
		const outer = within[trie.outer[i]!]!;
		if (!outer && trie.frame[i] !== frame)
			continue;
		within[i] = outer ? callees.put(outer, trie.frame[i]!) : head;
		callees.add(within[i]!, trie.selfs(i), trie.origin[i]!, trie.merged[i]!);
		if (outer)
			continue;
		let node = foot;
		for (let at = trie.outer[i]!, depth = 0; at && depth < DEEPEST; at = trie.outer[at]!, depth++)
			node = callers.put(node, trie.frame[at]!);
		callers.add(node, trie.totals(i), trie.origin[i]!);
	}
	return { callers: callers.finish(), callees: callees.finish() };
}

/** How much of all is in frames that match, each counted at its outermost place. */
export function matched(trie: Trie, hits: Set<number>): number {
	let sum = 0;
	const inside = new Uint8Array(trie.n);
	for (let i = 1; i < trie.n; i++) {
		inside[i] = inside[trie.outer[i]!] ? 1 : 0;
		if (!inside[i] && hits.has(trie.frame[i]!)) {
			inside[i] = 1;
			sum += trie.width(i);
		}
	}
	return sum;
}

/** Nodes from which there is a way to one span at least. */
export const leads = (origin: Origin | null): origin is Origin => origin !== null && origin.span >= 0;

export const isMerged = (f: Frame): boolean => f.kind === FrameKind.merged;
