/* SPDX-License-Identifier: Apache-2.0 */
/* CommandPalette.tsx - Ctrl-K: type a few letters of what is wanted, Enter does it. A combobox over a list, as WAI-ARIA describes it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { tr } from "../lang";
import { offers, runOffer } from "../state/palette";
import { set, useStore } from "../state/store";
import { Dialog } from "./Dialog";
import { Keys } from "./Keys";

const PAGE = 10;

function Box() {
	const [query, setQuery] = useState("");
	const [at, setAt] = useState(0);
	const input = useRef<HTMLInputElement>(null);
	const list = useRef<HTMLUListElement>(null);
	const found = offers(query);
	const chosen = found[Math.min(at, found.length - 1)];
	useEffect(() => input.current?.focus(), []);
	useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at, query]);
	const move = (e: KeyboardEvent): void => {
		const n = found.length;
		const to = { ArrowDown: (at + 1) % n, ArrowUp: (at + n - 1) % n, PageDown: Math.min(n - 1, at + PAGE), PageUp: Math.max(0, at - PAGE) }[e.key];
		if (e.key === "Enter" && chosen) {
			e.preventDefault();
			runOffer(chosen);
		} else if (to !== undefined && n) {
			e.preventDefault();
			setAt(to);
		}
	};
	return <>
		<input ref={input} type="text" role="combobox" aria-expanded="true" aria-controls="offers" aria-autocomplete="list" aria-label={tr("what to do or where to go")} autocomplete="off"
			aria-activedescendant={chosen ? `offer-${found.indexOf(chosen)}` : undefined} placeholder={tr("What to do, or where to go: a panel, a lane, a finding, step 12 …")} spellcheck={false}
			value={query} onInput={(e) => {
				setQuery(e.currentTarget.value);
				setAt(0);
			}} onKeyDown={move} />
		<ul class="offers" id="offers" role="listbox" aria-label={tr("commands")} ref={list}>{found.map((command, i) =>
			<li key={command.id} id={`offer-${i}`} role="option" aria-selected={command === chosen} onMouseMove={() => i !== at && setAt(i)} onClick={() => runOffer(command)}>
				<span class="what" title={command.title}>{command.title}</span><small>{command.group}</small>{command.keys && <Keys keys={command.keys.slice(0, 1)} />}</li>)}
		</ul>
		{!found.length && <p class="empty">{tr("Nothing is called so.")}</p>}
	</>;
}

export function CommandPalette() {
	const open = useStore((s) => s.palette);
	return open ? <Dialog name="palette" title={tr("commands")} close={() => set({ palette: false })}><Box /></Dialog> : null;
}
