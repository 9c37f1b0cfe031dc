/* SPDX-License-Identifier: Apache-2.0 */
/* flame_colours.ts - a colour for each kind of frame, a little different by name; of two runs red for what grew and blue for what shrank. */
import { FrameKind } from "../data/flame";
import type { Frame, Trie } from "./flame_trie";

/** Light and dark. */
const TONES: Record<number, [number, number]> = {
	[FrameKind.root]: [0xdfe5ec, 0x2f3843], [FrameKind.process]: [0xd3dae3, 0x37424f], [FrameKind.thread]: [0xc7d1dc, 0x3e4b5a], [FrameKind.module]: [0xc5b3e6, 0x5b4a85],
	[FrameKind.scope]: [0xb9c4d2, 0x46566b], [FrameKind.line]: [0xe8cf9a, 0x6e5a2a], [FrameKind.operator]: [0xa9c5c9, 0x3c6168], [FrameKind.kernel]: [0x86b2ea, 0x2f68b3],
	[FrameKind.copy]: [0x8fd0ab, 0x2b7a52], [FrameKind.fill]: [0xb5dcc3, 0x2c6b4b], [FrameKind.graph]: [0x8fabd6, 0x37598c], [FrameKind.unknown]: [0xdcdcdc, 0x444444],
	[FrameKind.python]: [0xf2bd72, 0x8f6320], [FrameKind.library]: [0xf3e0bd, 0x574a33], [FrameKind.native]: [0xe5b6ab, 0x6d453b], [FrameKind.os]: [0xcdb79c, 0x5f4f3a],
	[FrameKind.merged]: [0xeceff3, 0x262d35],
};
const NEUTRAL: [number, number] = [0xe3e7ec, 0x353d47];
const GREW: [number, number] = [0xe05a50, 0xd0463d];
const SHRANK: [number, number] = [0x4d86dc, 0x3f78cf];
const TWISTS = 4;
/** Shared objects differ in their tone. */
const OBJECTS: [number, number][] = [[0xe5b6ab, 0x6d453b], [0xe7c3a0, 0x6b5335], [0xe0b3c4, 0x6b4155], [0xd6c49b, 0x5c5636], [0xd5b8d8, 0x5a4565]];

function mix(a: number, b: number, share: number): number {
	const part = (shift: number): number => Math.round(((a >> shift) & 255) * (1 - share) + ((b >> shift) & 255) * share) << shift;
	return part(16) | part(8) | part(0);
}

const hashOf = (text: string): number => {
	let hash = 0;
	for (let i = 0; i < Math.min(text.length, 60); i++)
		hash = Math.imul(hash, 31) + text.charCodeAt(i) | 0;
	return hash >>> 0;
};

export function colourOfKind(kind: number, dark: boolean): number {
	return (TONES[kind] ?? NEUTRAL)[dark ? 1 : 0];
}

export function colourOfFrame(frame: Frame, dark: boolean): number {
	const c = frame.kind === FrameKind.native ? OBJECTS[hashOf(frame.place) % OBJECTS.length]![dark ? 1 : 0] : colourOfKind(frame.kind, dark);
	return frame.kind === FrameKind.merged || frame.kind === FrameKind.root ? c : mix(c, dark ? 0x000000 : 0xffffff, hashOf(frame.name) % TWISTS * 0.07);
}

/** By how much of itself a node changed; what all runs have the same is neutral. */
export function colourOfChange(trie: Trie, node: number, dark: boolean): number {
	const theme = dark ? 1 : 0;
	const most = Math.max(trie.total[0]![node]!, trie.total[1]![node]!);
	const share = most > 0 ? trie.change(node) / most : 0;
	return mix(NEUTRAL[theme], (share > 0 ? GREW : SHRANK)[theme], Math.sqrt(Math.abs(share)));
}

export const changeColours = (dark: boolean): { grew: number; same: number; shrank: number } => {
	const theme = dark ? 1 : 0;
	return { grew: GREW[theme], same: NEUTRAL[theme], shrank: SHRANK[theme] };
};

/** Nearer to the background. */
export const faded = (c: number, dark: boolean): number => mix(c, dark ? 0x14181e : 0xffffff, 0.62);

export const inkOn = (c: number): string => ((c >> 16) * 0.3 + ((c >> 8) & 255) * 0.59 + (c & 255) * 0.11 > 128 ? "#10161d" : "#ffffff");
