/* SPDX-License-Identifier: Apache-2.0 */
/* lane_title.ts - what a lane is called on the screen. Lanes without a recorded name get an English one from the server
 * (src/serve/lane_titles.c), which queries and files use in every language: `lane:"OS calls"`. */
import { keys, tr } from "../lang";

keys("API calls", "operators", "functions", "OS calls", "state", "samples", "memory", "profiler", "ranges", "ranges, start to end", "counter", "other", "all streams", "its streams", "the device");
keys("waits for {where}", "ranges on {where}", "overhead of {where}");

export function laneTitle(title: string): string {
	const [, lane, owner] = /^(.+) of ((?:pid|rank) \d+)$/s.exec(title) ?? [];
	if (lane && owner)
		return tr("{lane} of {owner}", { lane: laneTitle(lane), owner });
	const [, ranges, , thread] = /^(.+) on the GPU( \((.*)\))?$/s.exec(title) ?? [];
	if (ranges)
		return thread ? tr("{what} on the GPU ({thread})", { what: tr(ranges), thread }) : tr("{what} on the GPU", { what: tr(ranges) });
	const [, what, where] = /^(waits for|ranges on|overhead of) (.+)$/s.exec(title) ?? [];
	return what && where ? tr(`${what} {where}`, { where: tr(where) }) : tr(title);
}
