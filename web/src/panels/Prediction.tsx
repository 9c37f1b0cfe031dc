/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction.tsx - the drawer under the timeline: a typical step as recorded, and as it would be. */
import { useEffect, useRef } from "preact/hooks";
import { tr } from "../lang";
import { state, useStore } from "../state/store";
import { drawStep, stepHeight } from "../timeline/draw_step";
import type { Timeline } from "../timeline/timeline";

export function Prediction({ timeline }: { timeline: Timeline }) {
	const answer = useStore((s) => s.whatIf);
	const trace = useStore((s) => s.whatIfTrace);
	const theme = useStore((s) => s.theme);
	const canvas = useRef<HTMLCanvasElement>(null);
	useEffect(() => {
		if (!canvas.current || !answer)
			return undefined;
		const draw = (): void => void (canvas.current && drawStep(canvas.current, answer, trace, state.traces[trace]!.lanes.lanes, timeline.names, timeline.palette));
		draw();
		// Names come later than the numbers.
		return timeline.onFrame(draw);
	}, [answer, theme]);
	if (!answer)
		return null;
	return <div class="drawer"><canvas ref={canvas} style={{ height: `${stepHeight(answer)}px` }} aria-label={tr("a step, recorded and predicted")} />
		{answer.left_out > 0 && <small>{tr("{n} short operations are not drawn", { n: answer.left_out })}</small>}</div>;
}
