/* SPDX-License-Identifier: Apache-2.0 */
/* Help.tsx - the keys. */
import { set, useStore } from "../state/store";

const KEYS: [string, string][] = [
	["w  s", "zoom in, out, at the pointer"], ["a  d", "earlier, later"], ["←  →", "the span's neighbours; without one, earlier and later"], ["n  N", "next, previous hit or piece of evidence"], ["↑  ↓", "scroll the lanes"], ["Ctrl + wheel", "zoom at the pointer"],
	["Shift + wheel", "earlier, later"], ["drag", "move"], ["Shift + drag, or drag on the ruler", "choose an interval"], ["click", "select a span"], ["drag a group's title", "move the group"],
	["l", "follow the arrow between launch and work"], [",  .", "previous, next of the same name"], ["f", "zoom to the selection"], ["0", "all of it"],
	["[  ]", "previous, next step"], ["g", "idle time by cause"], ["p", "critical path"], ["/", "search"], ["1 … 6", "panels"], ["Esc", "take back one thing"], ["?", "this"]];

export function Help() {
	const help = useStore((s) => s.help);
	if (!help)
		return null;
	return <div class="veil" onClick={() => set({ help: false })}><div class="help" role="dialog" aria-modal="true" aria-label="keys" onClick={(e) => e.stopPropagation()}>
		<h2>Keys</h2><table><tbody>{KEYS.map(([key, what]) => <tr key={key}><th>{key.split("  ").map((k) => <kbd key={k}>{k}</kbd>)}</th><td>{what}</td></tr>)}</tbody></table>
		<button ref={(b) => b?.focus()} onClick={() => set({ help: false })} onKeyDown={(e) => e.key === "Tab" && e.preventDefault()}>close</button></div></div>;
}
