/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.ts - the answer `roofline` of docs/view-protocol.md as types. Nothing here computes. */

import { keys } from "../lang";
export const BOUNDS = keys("compute", "memory", "latency", "occupancy", "unknown");
export type Bound = (typeof BOUNDS)[number];

export interface Peak { precision: string; tensor: boolean; flop_per_s: number; source: string | null }
export interface RooflineDevice {
	device: number; name: string; bytes_per_s: number | null; bytes_source?: string | null; peaks: Peak[];
	/** Time of all its kernels, and of those that have a point. */
	kernel_ns?: number; known_ns?: number;
}
/** All launches of one kernel, or all calls of one operator. Null: not known. */
export interface RooflinePoint {
	kind: "kernel" | "operator"; name: string; device: number; count: number; ns: number; share: number; flop: number | null; bytes: number | null;
	precision: string; tensor: boolean; intensity: number | null; flop_per_s: number | null; bytes_per_s: number | null; of_peak: number | null;
	occupancy?: number | null; waves?: number | null; bound: Bound; gain_ns: number; source: string; says: string; advice?: string[]; span: number | null;
}
export interface Roofline { devices: RooflineDevice[]; points: RooflinePoint[] }
