/* SPDX-License-Identifier: Apache-2.0 */
/* FlameFrame.tsx - the line about the chosen frame: its numbers, the way to its spans in the timeline, and to its callers and callees. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { tr } from "../lang";
import { goToSpan, setFlame, spansOfFrame } from "../state/flame";
import { plain, shorten } from "../timeline/text";
import { count } from "../timeline/units";
import { titleOfNode } from "./flame_draw";
import type { Picked } from "./FlameCanvas";
import { isMerged, keyOf, leads } from "./flame_trie";
import { linesOf, type Values } from "./flame_values";

interface Props { picked: Picked; how: Values; zoomed: boolean; reset: () => void }
interface Found { run: number; spans: number[]; count: number; at: number }

export function FlameFrame({ picked, how, zoomed, reset }: Props) {
	const { trie, node } = picked;
	const origin = trie.origin[node] ?? null;
	const [found, setFound] = useState<Found | null>(null);
	/** The frame that is chosen now: answers about another one come too late. */
	const frameNow = useRef(picked);
	useLayoutEffect(() => {
		frameNow.current = { trie, node };
		setFound(null);
	}, [trie, node]);
	const show = async (by: 1 | -1 | 0): Promise<void> => {
		if (!leads(origin))
			return;
		let list = found;
		if (!list) {
			const answer = await spansOfFrame(origin.run, origin.node, origin.span);
			if (frameNow.current.trie !== trie || frameNow.current.node !== node)
				return;
			list = { run: origin.run, ...answer, at: Math.max(0, answer.spans.indexOf(origin.span)) };
		} else {
			list = { ...list, at: by === 0 ? Math.max(0, list.spans.indexOf(origin.span)) : (list.at + by + list.spans.length) % list.spans.length };
		}
		setFound(list);
		await goToSpan(list.run, list.spans[list.at]!);
	};
	const frame = trie.at(node);
	return <div class="flame-frame">
		<b title={plain(titleOfNode(trie, node), 400)}>{shorten(plain(titleOfNode(trie, node)))}</b>
		<span class="faint">{linesOf(trie, node, how).join(tr("; "))}{frame.place && ` · ${plain(frame.place)}`}</span>
		<span class="push" />
		{leads(origin) && <span class="group hits">
			<button aria-label={tr("previous span of this frame")} disabled={!found || found.spans.length < 2} onClick={() => void show(-1)}>‹</button>
			<button title={tr("the longest span of this frame, in the timeline")} onClick={() => void show(0)}>{tr("longest span")}</button>
			{found && <output title={found.count > found.spans.length ? tr("the longest {n} of {all}", { n: found.spans.length, all: count(found.count) }) : ""}>{tr("{n} of {all}", { n: found.at + 1, all: found.spans.length })}{found.count > found.spans.length ? ` (${count(found.count)})` : ""}</output>}
			<button aria-label={tr("next span of this frame")} disabled={!found || found.spans.length < 2} onClick={() => void show(1)}>›</button></span>}
		{node !== 0 && !isMerged(frame) && <button title={tr("this function with its callers over it and what it calls below")} onClick={() => setFlame({ focus: keyOf(frame), view: "sandwich" })}>{tr("callers and callees")}</button>}
		{zoomed && <button onClick={reset}>{tr("all frames")}</button>}
	</div>;
}
