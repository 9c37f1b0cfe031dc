/* SPDX-License-Identifier: Apache-2.0 */
/* Help.tsx - the keys of all commands, and what the mouse does. */
import { useEffect, useRef } from "preact/hooks";
import { COMMANDS } from "../state/commands";
import { set, useStore } from "../state/store";
import { Dialog } from "./Dialog";
import { Keys } from "./Keys";

const MOUSE: [string, string][] = [
	["Ctrl + wheel", "zoom at the pointer"], ["Shift + wheel", "earlier, later"], ["wheel", "scroll the lanes"], ["drag", "move"],
	["drag on the ruler, or Shift + drag", "choose an interval"], ["click", "select a span"], ["double click", "zoom to it"], ["drag a group's title", "move the group"], ["drag an edge", "make a part larger"]];

function Content() {
	const close = useRef<HTMLButtonElement>(null);
	useEffect(() => close.current?.focus(), []);
	const groups = [...new Set(COMMANDS.filter((c) => c.keys?.length).map((c) => c.group))];
	return <>
		<div class="help-head"><h2>Keys</h2><button ref={close} onClick={() => set({ help: false })}>close</button></div>
		<div class="help-groups">{groups.map((group) => <section key={group}><h3>{group}</h3><table><tbody>
			{COMMANDS.filter((c) => c.group === group && c.keys?.length).map((c) => <tr key={c.id}><th scope="row"><Keys keys={c.keys!} /></th><td>{c.title}</td></tr>)}</tbody></table></section>)}
			<section><h3>Mouse</h3><table><tbody>{MOUSE.map(([what, does]) => <tr key={what}><th scope="row">{what}</th><td>{does}</td></tr>)}</tbody></table></section></div>
	</>;
}

export function Help() {
	const open = useStore((s) => s.help);
	return open ? <Dialog name="help" title="keys" close={() => set({ help: false })}><Content /></Dialog> : null;
}
