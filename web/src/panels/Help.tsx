/* SPDX-License-Identifier: Apache-2.0 */
/* Help.tsx - the keys of all commands, and what the mouse does. */
import { useEffect, useRef } from "preact/hooks";
import { tr } from "../lang";
import { COMMANDS } from "../state/commands";
import { set } from "../state/store";
import { Dialog } from "./Dialog";
import { Keys } from "./Keys";

const MOUSE: [string, string][] = [
	[tr("Ctrl + wheel"), tr("zoom at the pointer")], [tr("Shift + wheel"), tr("earlier, later")], [tr("wheel"), tr("scroll the lanes")], [tr("drag"), tr("move")],
	[tr("drag on the ruler, or Shift + drag"), tr("choose an interval")], [tr("click"), tr("select a span")], [tr("double click"), tr("zoom to it")], [tr("drag a group's title"), tr("move the group")], [tr("drag an edge"), tr("make a part larger")]];

function Content() {
	const close = useRef<HTMLButtonElement>(null);
	useEffect(() => close.current?.focus(), []);
	const groups = [...new Set(COMMANDS.filter((c) => c.keys?.length).map((c) => c.group))];
	return <>
		<div class="help-head"><h2>{tr("Keys")}</h2><button ref={close} onClick={() => set({ help: false })}>{tr("close")}</button></div>
		<div class="help-groups">{groups.map((group) => <section key={group}><h3>{group}</h3><table><tbody>
			{COMMANDS.filter((c) => c.group === group && c.keys?.length).map((c) => <tr key={c.id}><th scope="row"><Keys keys={c.keys!} /></th><td>{c.title}</td></tr>)}</tbody></table></section>)}
			<section><h3>{tr("Mouse")}</h3><table><tbody>{MOUSE.map(([what, does]) => <tr key={what}><th scope="row">{what}</th><td>{does}</td></tr>)}</tbody></table></section></div>
	</>;
}

export function Help() {
	return <Dialog name="help" title={tr("keys")} close={() => set({ help: false })}><Content /></Dialog>;
}
