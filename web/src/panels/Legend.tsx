/* SPDX-License-Identifier: Apache-2.0 */
/* Legend.tsx - what the colours and patterns mean, and whether they go by kind or by name. */
import { Look, LOOK_NAMES, CAUSES, PATH_KINDS } from "../data/protocol";
import { tr } from "../lang";
import { set, useStore } from "../state/store";
import { css, Palette } from "../timeline/theme";
import { CAUSE_WORDS } from "./Breakdown";
import { useDark } from "./dark";

const SHOWN = Object.values(Look);
const HATCH: Record<string, string> = {
	stripes: "repeating-linear-gradient(-45deg,#0006 0 1px,transparent 1px 5px)", hatch: "repeating-linear-gradient(45deg,#0006 0 1px,transparent 1px 5px)",
	line: "linear-gradient(transparent 65%,#0006 65% 78%,transparent 78%)", dots: "repeating-linear-gradient(90deg,#0006 0 1px,transparent 1px 4px)", plain: "none",
};

export function Legend() {
	const palette = new Palette(useDark());
	const byName = useStore((s) => s.byName);
	return <div class="legend">
		<label title="(k)"><input type="checkbox" checked={byName} onChange={() => set({ byName: !byName })} /> {tr("Kernels, ranges, operators and functions have a colour by their name")}</label>
		<h4>{tr("Spans")}</h4>
		<ul>{SHOWN.map((look) => <li key={look}><i style={{ backgroundColor: css(palette.look(look)), backgroundImage: HATCH[palette.pattern(look)] ?? "none" }} />
			{tr(LOOK_NAMES[look]!)}</li>)}</ul>
		<h4>{tr("Idle because of")}</h4>
		<ul class="wide">{CAUSES.map((name, i) => <li key={name}><i style={{ backgroundColor: css(palette.cause(i)) }} /><b>{tr(name)}</b> <small>{CAUSE_WORDS[name]}</small></li>)}
			<li><i style={{ backgroundColor: "var(--band)", backgroundImage: HATCH["hatch"]! }} />{tr("not judged: outside of the steady steps")}</li></ul>
		<h4>{tr("On the critical path")}</h4>
		<ul>{PATH_KINDS.map((name, i) => <li key={name}><i style={{ backgroundColor: css(palette.path(i)) }} />{tr(name)}</li>)}</ul>
	</div>;
}
