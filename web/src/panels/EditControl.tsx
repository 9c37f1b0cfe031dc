/* SPDX-License-Identifier: Apache-2.0 */
/* EditControl.tsx - one edit as a switch; with a slider where it takes a number, and a list where it can be limited to a place. An edit
 * that would change nothing says why and cannot be switched on. */
import { useState } from "preact/hooks";
import type { Edit } from "../data/protocol";
import { tr } from "../lang";
import { plain, shorten } from "../timeline/text";
import { numbersOf, readEdit, takesWhat, writeEdit, type Parts } from "./edit_text";

export interface Choices { places: string[]; kernels: string[]; ranges: string[] }
interface Props { edit: Edit; on: string | null; choices: Choices; change: (text: string | null) => void }

const MOST_TEXT = 60;
const cut = (text: string): string => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT / 2)}…${text.slice(-MOST_TEXT / 2)}` : text);

function Options({ title, texts }: { title: string; texts: string[] }) {
	return texts.length ? <optgroup label={title}>{texts.map((t) => <option key={t} value={t}>{cut(shorten(plain(t)))}</option>)}</optgroup> : null;
}

function What({ edit, what, choices, change }: { edit: Edit; what: string; choices: Choices; change: (what: string) => void }) {
	const takes = takesWhat(edit);
	const lists = { any: [...choices.kernels, ...choices.ranges, "gpu", "cpu"], place: choices.places, kernel: choices.kernels }[takes ?? "place"];
	const other = what && !lists.includes(what) ? what : "";
	return <select value={what} aria-label={takes === "place" ? tr("where, for {edit}", { edit: edit.id }) : tr("what, for {edit}", { edit: edit.id })} onChange={(e) => change(e.currentTarget.value)}>
		{takes === "any" ? <><option value="gpu">GPU</option><option value="cpu">CPU</option></> : <option value="">{takes === "place" ? tr("everywhere") : tr("every kernel")}</option>}
		{other && <option value={other}>{cut(plain(other))}</option>}
		{takes === "place" && <Options title={tr("Places")} texts={choices.places} />}
		{takes !== "place" && <Options title={tr("Kernels")} texts={choices.kernels} />}
		{takes === "any" && <Options title={tr("Ranges")} texts={choices.ranges} />}
	</select>;
}

export function EditControl({ edit, on, choices, change }: Props) {
	const numbers = numbersOf(edit);
	const given: Parts = on === null ? { number: numbers?.first ?? null, what: takesWhat(edit) === "any" ? "gpu" : "" } : readEdit(edit, on);
	const [sliding, setSliding] = useState<number | null>(null);
	const number = sliding ?? given.number;
	const set = (parts: Partial<Parts>): void => change(writeEdit(edit, { ...given, ...parts }));
	// One kernel, as fast as its device allows: the roofline asks for it.
	const atRoof = on !== null && takesWhat(edit) === "any" && given.number === null;
	const off = on === null && typeof edit.why === "string";
	return <div class={`edit ${on !== null ? "on" : ""} ${off ? "off" : ""}`} data-edit={edit.id}>
		<label><input type="checkbox" checked={on !== null} disabled={off} onChange={(e) => change(e.currentTarget.checked ? writeEdit(edit, given) : null)} />
			<b>{edit.id}</b> <span>{tr(edit.about)}</span></label>
		{off && <p class="why">{edit.why}</p>}
		{on !== null && atRoof && <div class="slide"><small>{tr("{kernel}: at its roof", { kernel: plain(given.what) })}</small></div>}
		{on !== null && !atRoof && takesWhat(edit) && <div class="slide"><What edit={edit} what={given.what} choices={choices} change={(what) => set({ what })} /></div>}
		{on !== null && !atRoof && numbers && <div class="slide">
			<input type="range" min={numbers.least} max={numbers.most} value={number ?? numbers.first} aria-label={edit.id}
				onInput={(e) => setSliding(Number(e.currentTarget.value))} onChange={(e) => {
					setSliding(null);
					set({ number: Number(e.currentTarget.value) });
				}} />
			<output>{number}{numbers.unit}</output></div>}
	</div>;
}
