/* SPDX-License-Identifier: Apache-2.0 */
/* keys.ts - the keyboard: a press runs the command that has the key.
 *
 * Whoever handles a key itself (a list, a separator, a dialog) prevents its default; then it is nobody else's. */
import { clearSearch } from "./actions";
import { commandOf } from "./commands";
import { state } from "./store";
import { isMoving } from "./turns";

const isTyping = (target: EventTarget | null): target is HTMLInputElement | HTMLTextAreaElement =>
	target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "checkbox" && target.type !== "range");

/** A slider and a list move by the arrows themselves. */
const slides = (target: EventTarget | null): boolean => (target instanceof HTMLInputElement && target.type === "range") || target instanceof HTMLSelectElement;

/** Escape leaves the box one types in; the search goes with it. */
function leave(box: HTMLInputElement | HTMLTextAreaElement): void {
	box.blur();
	if (box.type === "search")
		clearSearch();
}

function press(e: KeyboardEvent): void {
	if (e.defaultPrevented || (slides(e.target) && /^(Arrow|Page|Home$|End$)/.test(e.key)))
		return;
	// A dialog has the keyboard to itself.
	if (state.help || state.palette)
		return;
	const chord = e.ctrlKey || e.metaKey || e.altKey;
	if (isTyping(e.target) && !chord) {
		if (e.key === "Escape") {
			e.preventDefault();
			leave(e.target);
		}
		return;
	}
	const command = commandOf(e);
	// A key of a command that cannot be done now is the browser's: Enter presses the button that has the keyboard.
	if (!command || !(command.enabled?.() ?? true))
		return;
	e.preventDefault();
	if (!e.repeat || !isMoving())
		void command.run();
}

export const listenToKeys = (): void => addEventListener("keydown", press);
