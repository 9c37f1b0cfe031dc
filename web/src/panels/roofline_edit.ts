/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_edit.ts - the edit of `headway whatif` that takes one kernel to its roof: faster:KERNEL. */
import type { RooflinePoint } from "../data/roofline";

const LONGEST = 300;

/** A comma ends an edit, a number behind a colon or an equals sign is by how much: a part of the name without these, that no other
 * kernel's name has. Null: there is none, or there is nothing to gain. */
export function editOf(point: RooflinePoint, all: RooflinePoint[]): string | null {
	if (point.kind !== "kernel" || point.of_peak === null || point.gain_ns <= 0)
		return null;
	const others = new Set(all.filter((p) => p.kind === "kernel" && p.name !== point.name).map((p) => p.name));
	const isOk = (part: string): boolean => part.length > 3 && part.length <= LONGEST && !/[:=][\d.]+%?$/.test(part) && !/[\r\n]/.test(part)
		&& ![...others].some((name) => name.includes(part));
	const part = point.name.split(",").map((p) => p.trim()).find(isOk);
	return part ? `faster:${part}` : null;
}
