/* SPDX-License-Identifier: Apache-2.0 */
/* page.ts - where answers come from, and the canvas: set once by main.tsx, before anything is done. */
import type { Source } from "../data/source";
import type { Timeline } from "../timeline/timeline";

export let source: Source;
export let timeline: Timeline;

export function setUp(from: Source, on: Timeline): void {
	source = from;
	timeline = on;
}
