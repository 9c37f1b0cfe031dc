/* SPDX-License-Identifier: Apache-2.0 */
/* EditControl.tsx - one edit as a switch, with a slider where it takes a number. */
import { useState } from "preact/hooks";
import type { Edit } from "../data/protocol";
import { plain } from "../timeline/text";

interface Props { edit: Edit; on: string | null; change: (text: string | null) => void }

const LIMITS: Record<string, [number, number, number]> = { "wait-every": [2, 100, 10], streams: [1, 8, 4], workers: [1, 16, 4], faster: [5, 95, 50] };

/** `faster:gpu:50` → 50; `wait-every:10:train.py:18` → 10. */
function numberOf(text: string | null, percent: boolean): number | null {
	const part = text?.split(":")[percent ? 2 : 1];
	return part && /^\d+$/.test(part) ? Number(part) : null;
}

export function EditControl({ edit, on, change }: Props) {
	const percent = edit.arguments.includes("PERCENT");
	const slides = percent || edit.arguments.startsWith(":N");
	const [least, most, first] = LIMITS[edit.id] ?? [1, 16, 4];
	const [number, setNumber] = useState(numberOf(on, percent) ?? first);
	const [what, setWhat] = useState(on?.split(":")[1] ?? "gpu");
	// One kernel, as fast as its device allows: the roofline asks for it.
	const atRoof = percent && on !== null && !/[:=][\d.]+%?$/.test(on);
	const text = (n: number, of: string): string => (percent ? `${edit.id}:${of}:${n}` : slides ? `${edit.id}:${n}` : edit.id);
	return <div class={`edit ${on !== null ? "on" : ""}`} data-edit={edit.id}>
		<label><input type="checkbox" checked={on !== null} onChange={(e) => change(e.currentTarget.checked ? text(number, what) : null)} />
			<b>{edit.id}</b> <span>{edit.about}</span></label>
		{atRoof && <div class="slide"><small>{plain(on.slice(edit.id.length + 1))}: at its roof</small></div>}
		{slides && !atRoof && on !== null && <div class="slide">
			{percent && <select value={what} aria-label="what" onChange={(e) => {
				setWhat(e.currentTarget.value);
				change(text(number, e.currentTarget.value));
			}}><option value="gpu">GPU</option><option value="cpu">CPU</option></select>}
			<input type="range" min={least} max={most} value={number} aria-label={edit.id}
				onInput={(e) => setNumber(Number(e.currentTarget.value))} onChange={(e) => change(text(Number(e.currentTarget.value), what))} />
			<output>{number}{percent ? " %" : ""}</output></div>}
	</div>;
}
