/* SPDX-License-Identifier: Apache-2.0 */
/* Spoken.tsx - what the keyboard is at on the timeline, as a sentence that screen readers speak. */
import { useEffect, useState } from "preact/hooks";
import { LOOK_NAMES, type SpanDetails } from "../data/protocol";
import { spanName } from "../data/span_names";
import { tr } from "../lang";
import { focusedRow, isLooking, onTimeline, wasLookedAt } from "../state/focus";
import { beginOf, state, subscribe } from "../state/store";
import { plain, shorten } from "../timeline/text";
import { RULER, type Timeline } from "../timeline/timeline";
import type { Row } from "../timeline/layout";
import { duration } from "../timeline/units";
import { tipAt } from "./tips";

const PAUSE_MS = 60;

function spanText(row: Row, span: SpanDetails): string {
	const shift = state.traces[row.trace]?.shift ?? 0;
	const what = tr(LOOK_NAMES[span.look ?? -1] ?? span.kind);
	const name = shorten(plain(spanName(span.name, span.look) || span.stack[0]?.function || what));
	const where = { name, what, at: duration(span.start - shift - beginOf(state)), lane: plain(row.title) };
	return span.dur ? tr("{name}, {what}, {time} at {at} on {lane}", { ...where, time: duration(span.dur) }) : tr("{name}, {what}, at {at} on {lane}", where);
}

/** What stands at the cursor on a row without spans. */
function reading(timeline: Timeline, row: Row): string {
	const y = row.y + row.h / 2 + RULER + (row.pinned ? 0 : timeline.layout.pinnedHeight - timeline.scroll);
	const x = ((state.cursor ?? state.from) - state.from) / (state.to - state.from) * timeline.viewWidth;
	const tip = tipAt(timeline, x, y);
	const at = duration((state.cursor ?? state.from) - beginOf(state));
	const said = tip ? `${plain(row.title)}${tr(": ")}${[tip.head, tip.line].filter(Boolean).join(tr(", "))}` : plain(row.title);
	return tr("{said}, at {at}", { said, at });
}

function textOf(timeline: Timeline): string {
	const row = focusedRow();
	if (!row)
		return "";
	const { selected } = state;
	if (selected && row.lane && selected.trace === row.trace && selected.span.lane === row.lane.lane && row.kind === "lane")
		return spanText(row, selected.span);
	if (row.folds && row.kind !== "device" && row.kind !== "rank")
		return tr(row.folded ? "{name}, group, folded" : "{name}, group, unfolded", { name: plain(row.title) });
	const looked = wasLookedAt(row);
	return row.kind === "lane" ? tr(looked ? "{name}, nothing here" : "{name}, a lane: arrows lead to its spans", { name: plain(row.title) }) : reading(timeline, row);
}

export function Spoken({ timeline }: { timeline: Timeline }) {
	const [text, setText] = useState("");
	useEffect(() => {
		let timer = 0;
		const stop = subscribe(() => {
			clearTimeout(timer);
			// Empty while the keyboard is elsewhere: only a change is spoken when it comes back.
			timer = window.setTimeout(() => (onTimeline() ? isLooking() || setText(state.message || textOf(timeline)) : setText("")), PAUSE_MS);
		});
		return () => {
			clearTimeout(timer);
			stop();
		};
	}, [timeline]);
	return <p class="spoken" id="spoken" role="status" aria-live="polite">{text}</p>;
}
