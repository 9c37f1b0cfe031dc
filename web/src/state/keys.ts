/* SPDX-License-Identifier: Apache-2.0 */
/* keys.ts - the keyboard: a press runs the command that has the key.
 *
 * Whoever handles a key itself (a list, a separator, a dialog) prevents its default; then it is nobody else's. A panel that scrolls keeps the keys that scroll it. */
import { clearSearch } from "./actions";
import { commandOf } from "./commands";
import { state } from "./store";
import { isMoving } from "./turns";

const isTyping = (target: EventTarget | null): target is HTMLInputElement | HTMLTextAreaElement =>
	target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "checkbox" && target.type !== "range");

/** A slider and a list move by the arrows themselves. */
const slides = (target: EventTarget | null): boolean => (target instanceof HTMLInputElement && target.type === "range") || target instanceof HTMLSelectElement;

const UPRIGHT = /^(Arrow(Up|Down)|Page(Up|Down)|Home|End)$/;
const FLAT = /^Arrow(Left|Right)$/;

/** Whether the key scrolls what has the keyboard: a panel, or a part of one, that is larger than its room. */
function scrolls(target: EventTarget | null, key: string): boolean {
	const [upright, flat] = [UPRIGHT.test(key), FLAT.test(key)];
	if (!upright && !flat)
		return false;
	for (let at = target instanceof Element ? target.closest("aside, .dock") && target : null; at; at = at.matches("aside, .dock") ? null : at.parentElement) {
		const { overflowX, overflowY } = getComputedStyle(at);
		if (upright ? at.scrollHeight > at.clientHeight && /auto|scroll/.test(overflowY) : at.scrollWidth > at.clientWidth && /auto|scroll/.test(overflowX))
			return true;
	}
	return false;
}

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
	if (scrolls(e.target, e.key))
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
