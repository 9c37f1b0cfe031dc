/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_scale.ts - where roofs and points stand in the plot of the roofline: both axes are logarithmic. Nothing here draws. */
import type { RooflineDevice, RooflinePoint } from "../data/roofline";
import { tr } from "../lang";

export interface Axis { from: number; to: number; at: (value: number) => number; ticks: number[] }
export interface Roof { flop: number; title: string; used: boolean; ridge: number | null }
/** A point that has a place: operations and bytes are known and not 0. */
export type Placed = RooflinePoint & { intensity: number; flop_per_s: number };

const THIRD = 1 / 3;
const MOST_RADIUS = 24;
const LEAST_RADIUS = 3.5;

export const isPlaced = (p: RooflinePoint): p is Placed => (p.intensity ?? 0) > 0 && (p.flop_per_s ?? 0) > 0;

/** An axis over [from, to], pixels from `low` to `high`, that begins and ends at a third of a decade. What is outside stands at its end. */
export function axisOf(from: number, to: number, low: number, high: number): Axis {
	const first = Math.floor(Math.log10(from) / THIRD) * THIRD;
	const last = Math.max(first + 1, Math.ceil(Math.log10(to) / THIRD) * THIRD);
	const ticks: number[] = [];
	for (let power = Math.ceil(first - 1e-9); power <= last + 1e-9; power++)
		ticks.push(10 ** power);
	const share = (value: number): number => Math.min(1, Math.max(0, (Math.log10(value) - first) / (last - first)));
	return { from: 10 ** first, to: 10 ** last, ticks, at: (value) => low + share(value) * (high - low) };
}

const CLOSE = 0.01;

/** The roofs of a device, the highest first; precisions of the same rate share one. */
export function roofsOf(device: RooflineDevice, points: RooflinePoint[]): Roof[] {
	const roofs: (Roof & { names: string[] })[] = [];
	for (const peak of [...device.peaks].sort((a, b) => b.flop_per_s - a.flop_per_s)) {
		const name = `${peak.precision}${peak.tensor ? " tensor" : ""}`;
		const used = points.some((p) => isPlaced(p) && p.precision === peak.precision && p.tensor === peak.tensor);
		const same = roofs.find((r) => Math.abs(r.flop - peak.flop_per_s) <= CLOSE * r.flop);
		if (same) {
			same.names.push(name);
			same.used ||= used;
		} else
			roofs.push({ flop: peak.flop_per_s, title: "", names: [name], used, ridge: device.bytes_per_s ? peak.flop_per_s / device.bytes_per_s : null });
	}
	for (const roof of roofs) {
		const tensor = roof.names.filter((n) => n.endsWith(" tensor")).map((n) => n.slice(0, -7));
		const plain = roof.names.filter((n) => !n.endsWith(" tensor"));
		roof.title = [plain.join(tr(", ")), tensor.length ? tr("{precisions} tensor", { precisions: tensor.join(tr(", ")) }) : ""].filter(Boolean).join(tr("; "));
	}
	return roofs;
}

/** The roof over a point: what its device could do at the point's intensity and precision. Null: not known. */
export function roofAt(device: RooflineDevice | undefined, point: Placed): number | null {
	const peak = device?.peaks.find((p) => p.precision === point.precision && p.tensor === point.tensor)?.flop_per_s;
	const memory = device?.bytes_per_s ? device.bytes_per_s * point.intensity : undefined;
	return peak !== undefined && memory !== undefined ? Math.min(peak, memory) : peak ?? memory ?? null;
}

const MATTERS = 0.995;

/** The points that take nearly all of the time: a kernel of a microsecond must not stretch the axes. */
function mattering(points: Placed[]): Placed[] {
	const sorted = [...points].sort((a, b) => b.ns - a.ns);
	const all = sorted.reduce((sum, p) => sum + p.ns, 0);
	let sum = 0;
	return sorted.filter((p) => (sum += p.ns) - p.ns < MATTERS * all);
}

/** What both axes must hold: the points that matter, the roofs in use and a decade around them. */
export function extentOf(device: RooflineDevice, all: Placed[], roofs: Roof[]): { x: [number, number]; y: [number, number] } {
	const points = mattering(all);
	const used = roofs.some((r) => r.used) ? roofs.filter((r) => r.used) : roofs;
	const ridges = used.flatMap((r) => r.ridge ?? []);
	const xs = [...points.map((p) => p.intensity), ...ridges];
	const least = xs.length ? Math.min(...xs, ...ridges.map((r) => r / 10)) : 0.1;
	const most = xs.length ? Math.max(...xs, ...ridges.map((r) => r * 8)) : 1000;
	const top = Math.max(1, ...used.map((r) => r.flop), ...points.map((p) => p.flop_per_s)) * 1.6;
	const floor = device.bytes_per_s ? device.bytes_per_s * least : top / 1e4;
	const lowest = Math.min(floor, top / 100, ...points.map((p) => p.flop_per_s)) / 1.6;
	return { x: [least / 1.5, most * 1.5], y: [Math.max(lowest, top / 1e9), top] };
}

/** Its area is its share of the time. */
export const radiusOf = (share: number): number => Math.min(MOST_RADIUS, Math.max(LEAST_RADIUS, Math.sqrt(Math.max(0, share)) * MOST_RADIUS * 1.2));

/** Each bound has a shape of its own, for those who cannot tell the colours apart. All have the area of the circle. */
export function shapeOf(bound: string, x: number, y: number, r: number): string {
	const points = (list: [number, number][]): string => `M${list.map(([dx, dy]) => `${(x + dx).toFixed(1)} ${(y + dy).toFixed(1)}`).join("L")}Z`;
	const s = r * 0.886;
	switch (bound) {
	case "memory": return points([[-s, -s], [s, -s], [s, s], [-s, s]]);
	case "latency": return points([[0, -r * 1.45], [r * 1.26, r * 0.82], [-r * 1.26, r * 0.82]]);
	case "occupancy": return points([[0, -r * 1.253], [r * 1.253, 0], [0, r * 1.253], [-r * 1.253, 0]]);
	default: return `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
	}
}

export interface Box { x: number; y: number; w: number; h: number }

const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** The first places for texts that touch neither each other nor what is taken. */
export function placeTexts<T>(wanted: { of: T; places: Box[] }[], taken: Box[]): { of: T; box: Box }[] {
	const used = [...taken];
	return wanted.flatMap(({ of, places }) => {
		const box = places.find((p) => !used.some((u) => overlap(p, u)));
		if (!box)
			return [];
		used.push(box);
		return [{ of, box }];
	});
}
