/* SPDX-License-Identifier: Apache-2.0 */
/* Spoken.tsx - what the keyboard is at on the timeline, as a sentence that screen readers speak. */
import { useEffect, useState } from "preact/hooks";
import { LOOK_NAMES, type SpanDetails } from "../data/protocol";
import { focusedRow, isLooking, onTimeline } from "../state/focus";
import { beginOf, state, subscribe } from "../state/store";
import { plain, shorten } from "../timeline/text";
import { RULER, type Timeline } from "../timeline/timeline";
import type { Row } from "../timeline/layout";
import { duration } from "../timeline/units";
import { tipAt } from "./tips";

const PAUSE_MS = 60;

function spanText(row: Row, span: SpanDetails): string {
	const shift = state.traces[row.trace]?.shift ?? 0;
	const what = LOOK_NAMES[span.look ?? -1] ?? span.kind;
	const name = shorten(plain(span.name || span.stack[0]?.function || what));
	return `${name}, ${what}, ${span.dur ? `${duration(span.dur)} ` : ""}at ${duration(span.start - shift - beginOf(state))} on ${plain(row.title)}`;
}

/** What stands at the cursor on a row without spans. */
function reading(timeline: Timeline, row: Row): string {
	const y = row.y + row.h / 2 + RULER + (row.pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll);
	const x = ((state.cursor ?? state.from) - state.from) / (state.to - state.from) * timeline.viewWidth;
	const tip = tipAt(timeline, x, y);
	const at = duration((state.cursor ?? state.from) - beginOf(state));
	return tip ? `${plain(row.title)}: ${tip.head}${tip.line ? `, ${tip.line}` : ""}, at ${at}` : `${plain(row.title)}, at ${at}`;
}

function textOf(timeline: Timeline): string {
	const row = focusedRow();
	if (!row)
		return "";
	const { selected } = state;
	if (selected && row.lane && selected.trace === row.trace && selected.span.lane === row.lane.lane && row.kind === "lane")
		return spanText(row, selected.span);
	if (row.folds && row.kind !== "device" && row.kind !== "rank")
		return `${plain(row.title)}, group, ${row.folded ? "folded" : "unfolded"}`;
	return row.kind === "lane" ? `${plain(row.title)}, nothing here` : reading(timeline, row);
}

export function Spoken({ timeline }: { timeline: Timeline }) {
	const [text, setText] = useState("");
	useEffect(() => {
		let timer = 0;
		const stop = subscribe(() => {
			clearTimeout(timer);
			timer = window.setTimeout(() => onTimeline() && !isLooking() && setText(state.message || textOf(timeline)), PAUSE_MS);
		});
		return () => {
			clearTimeout(timer);
			stop();
		};
	}, [timeline]);
	return <p class="spoken" id="spoken" role="status" aria-live="polite">{text}</p>;
}
