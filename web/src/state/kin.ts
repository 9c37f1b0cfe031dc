/* SPDX-License-Identifier: Apache-2.0 */
/* kin.ts - spans that belong to the selected one are lit: those of the same name, or those of its chain (launch and work, forward and
 * backward, a range and its device work, the thread that woke it). */
import { tr } from "../lang";
import { plain, shorten } from "../timeline/text";
import { source } from "./page";
import { set, state, type Kin } from "./store";

/** A query for exactly this name. */
export const exactName = (name: string): string => `name="${name.replace(/["\\]/g, "\\$&")}"`;

/** Whether these are lit already. A title is cut and names no run: it says nothing of that. */
const isOn = (kin: Pick<Kin, "trace" | "name" | "of">): boolean => state.kin?.trace === kin.trace && state.kin.name === kin.name && state.kin.of === kin.of;

function light(kin: Kin): void {
	set({ kin, message: "" });
}

/** All spans of the selected one's name, or no longer. */
export function lightSame(): void {
	const { selected } = state;
	if (!selected?.span.name)
		return;
	const title = tr("all of the name {name}", { name: shorten(plain(selected.span.name)) });
	const kin = { trace: selected.trace, name: selected.span.name, of: null };
	if (isOn(kin))
		return set({ kin: null });
	light({ ...kin, query: exactName(selected.span.name), ids: new Set(), title });
}

/** The chain of the selected span, or no longer. */
export async function lightChain(): Promise<void> {
	const { selected } = state;
	if (!selected)
		return;
	const title = tr("what belongs to span {id}", { id: selected.span.id });
	const kin = { trace: selected.trace, name: null, of: selected.span.id };
	if (isOn(kin))
		return set({ kin: null });
	const chain = await source.get<{ ids: number[]; more: boolean }>(`chain?t=${selected.trace}&id=${selected.span.id}`).catch(() => null);
	if (!chain || chain.ids.length < 2)
		return set({ message: chain ? tr("Nothing else belongs to this span.") : tr("No answer.") });
	light({ ...kin, query: `id:${chain.ids.join(",")}`, ids: new Set(chain.ids), title });
	if (chain.more)
		set({ message: tr("The first {n} spans of its chain are lit.", { n: chain.ids.length }) });
}
