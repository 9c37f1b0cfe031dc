/* SPDX-License-Identifier: Apache-2.0 */
/* lane_list.ts - lanes as requests name them: "4-9,12" (docs/view-protocol.md, "lanes"). */

/** Numbers that follow one another become a run. */
export function writeLanes(lanes: Iterable<number>): string {
	const runs: [number, number][] = [];
	for (const lane of [...new Set(lanes)].sort((a, b) => a - b)) {
		const last = runs.at(-1);
		if (last && last[1] === lane - 1)
			last[1] = lane;
		else
			runs.push([lane, lane]);
	}
	return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

/** Whether a list names a lane. */
export function readLanes(text: string): (lane: number) => boolean {
	const runs = text.split(",").filter(Boolean).map((part) => part.split("-").map(Number));
	return (lane) => runs.some(([first, last]) => lane >= first! && lane <= (last ?? first!));
}
