/* SPDX-License-Identifier: Apache-2.0 */
/* edit_text.ts - an edit as `headway whatif --apply` takes it, taken apart and put together: wait-every:10:train.py:18, faster:gpu:50. */
import type { Edit } from "../data/protocol";

export interface Parts {
	/** N, X or PERCENT; null where the edit takes none, or stands without. */
	number: number | null;
	/** What is faster, and where an edit is made; "" is everywhere. */
	what: string;
}

/** Which numbers an edit takes: least, most, at first, what stands behind it. */
export interface Numbers { least: number; most: number; first: number; unit: string }

const LIMITS: Record<string, [number, number, number]> = {
	"wait-every": [2, 100, 10], streams: [1, 8, 4], workers: [1, 16, 4], bucket: [2, 16, 4], "faster-link": [2, 16, 2], faster: [5, 95, 50],
};

export function numbersOf(edit: Edit): Numbers | null {
	const percent = edit.arguments.includes("PERCENT");
	if (!percent && !/^:[NX]/.test(edit.arguments))
		return null;
	const [least, most, first] = LIMITS[edit.id] ?? [1, 16, 4];
	return { least, most, first, unit: percent ? " %" : edit.id === "faster-link" ? "×" : "" };
}

/** Whether an edit can be limited to a place, a kernel, or must say what it is about. */
export const takesWhat = (edit: Edit): "place" | "kernel" | "any" | null =>
	(edit.arguments.includes("WHAT") ? "any" : edit.arguments.includes("PLACE") ? "place" : edit.arguments.includes("KERNEL") ? "kernel" : null);

export function readEdit(edit: Edit, text: string): Parts {
	const rest = text.slice(edit.id.length + 1);
	if (takesWhat(edit) === "any") {
		// Names of kernels have colons in them.
		const found = /^(.*):(\d+)%?$/s.exec(rest);
		return found ? { what: found[1]!, number: Number(found[2]) } : { what: rest, number: null };
	}
	if (!numbersOf(edit))
		return { number: null, what: rest };
	const [, number, what] = /^(\d*):?(.*)$/s.exec(rest)!;
	return { number: number ? Number(number) : null, what: what! };
}

export function writeEdit(edit: Edit, { number, what }: Parts): string {
	const parts = takesWhat(edit) === "any" ? [what, number] : [number, what];
	return [edit.id, ...parts.filter((part) => part !== null && part !== "")].join(":");
}

/** The edits of a list. Only a comma before the name of an edit ends the one before it: places may have commas. */
export function splitEdits(list: string, edits: Edit[]): string[] {
	const known = new Set(edits.map((e) => e.id));
	return list.split(",").reduce<string[]>((all, part) => {
		if (all.length && !known.has(part.split(":")[0]!))
			all[all.length - 1] += `,${part}`;
		else if (part)
			all.push(part);
		return all;
	}, []);
}
