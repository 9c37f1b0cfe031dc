/* SPDX-License-Identifier: Apache-2.0 */
/* Dialog.tsx - a dialog that has the keyboard to itself: Tab stays inside, Escape or a press outside closes it, then the keyboard is where it was. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const STOPS = "button:not([disabled]), input, select, textarea, a[href], [tabindex='0']";

/** Tab goes from the last to the first. */
function cycle(e: KeyboardEvent, dialog: HTMLElement): void {
	const stops = [...dialog.querySelectorAll<HTMLElement>(STOPS)];
	const at = stops.indexOf(document.activeElement as HTMLElement);
	e.preventDefault();
	stops[(at + (e.shiftKey ? -1 : 1) + stops.length) % stops.length]?.focus();
}

export function Dialog({ name, title, close, children }: { name: string; title: string; close: () => void; children: ComponentChildren }) {
	const dialog = useRef<HTMLDialogElement>(null);
	useLayoutEffect(() => {
		const before = document.activeElement;
		dialog.current?.showModal();
		return () => {
			dialog.current?.close();
			if (before instanceof HTMLElement)
				before.focus({ preventScroll: true });
		};
	}, []);
	return <dialog ref={dialog} class={name} aria-label={title} onCancel={(e) => {
		e.preventDefault();
		close();
	}} onMouseDown={(e) => e.target === dialog.current && close()} onKeyDown={(e) => {
		if (e.key === "Tab")
			cycle(e, e.currentTarget);
		else if (e.key === "Escape") {
			e.preventDefault();
			close();
		}
	}}><div class="inside">{children}</div></dialog>;
}
