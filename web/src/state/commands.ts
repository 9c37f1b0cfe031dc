/* SPDX-License-Identifier: Apache-2.0 */
/* commands.ts - the one list of what a person can do. The keyboard, the palette and the help are made from it.
 *
 * A key is what KeyboardEvent.key says ("w", "N", "ArrowLeft"), with "Ctrl+" or "Alt+" before it; "Shift+" only before keys that have a name.
 * Panels import nothing from here: registry.ts, which this file reads, imports them. */
import { tr } from "../lang";
import { DOCK, SIDE } from "../panels/registry";
import * as act from "./actions";
import { FLAME } from "./commands_flame";
import { KIN } from "./commands_kin";
import { QUESTIONS } from "./commands_go";
import { SELECTION } from "./commands_selection";
import { SHARE } from "./commands_share";
import { focusAlong, focusEnd, focusOpen, focusTimeline, focusUp, onTimeline } from "./focus";
import { TABLE } from "./commands_table";
import { togglePanel, toggleDock } from "./layout";
import { set, state } from "./store";

export interface Command { id: string; title: string; group: string; keys?: string[]; run: () => void | Promise<void>; enabled?: () => boolean }

const ZOOM_KEY = 0.75;
const PAN_KEY = 0.2;

const hasSelected = (): boolean => state.selected !== null;

const nextOf = (dir: 1 | -1): void => void (state.query ? act.goToHit(dir) : act.nextEvidence(dir));

const VIEW: Command[] = [
	{ id: "zoom.in", title: tr("Zoom in"), group: tr("View"), keys: ["w", "+", "="], run: () => act.zoom(ZOOM_KEY, state.cursor ?? undefined) },
	{ id: "zoom.out", title: tr("Zoom out"), group: tr("View"), keys: ["s", "-"], run: () => act.zoom(1 / ZOOM_KEY, state.cursor ?? undefined) },
	{ id: "zoom.all", title: tr("Show all of it"), group: tr("View"), keys: ["0"], run: act.showAll },
	{ id: "zoom.selection", title: tr("Zoom to the span or the interval"), group: tr("View"), keys: ["f"], run: act.zoomToSelection, enabled: () => hasSelected() || state.range !== null },
	{ id: "pan.left", title: tr("Earlier"), group: tr("View"), keys: ["a"], run: () => act.pan(-PAN_KEY) },
	{ id: "pan.right", title: tr("Later"), group: tr("View"), keys: ["d"], run: () => act.pan(PAN_KEY) },
	{ id: "scroll.page.up", title: tr("Scroll a page of lanes up"), group: tr("View"), keys: ["PageUp"], run: () => act.scrollPages(-1) },
	{ id: "scroll.page.down", title: tr("Scroll a page of lanes down"), group: tr("View"), keys: ["PageDown"], run: () => act.scrollPages(1) },
	{ id: "show.gaps", title: tr("Idle time by cause, on and off"), group: tr("View"), keys: ["g"], run: () => set({ gaps: !state.gaps }) },
	{ id: "show.path", title: tr("Critical path, on and off"), group: tr("View"), keys: ["p"], run: () => set({ path: !state.path }) },
];

const GO: Command[] = [
	{ id: "focus.left", title: tr("On the timeline the span before; else earlier"), group: tr("Go"), keys: ["ArrowLeft"], run: () => focusAlong(-1) },
	{ id: "focus.right", title: tr("On the timeline the span after; else later"), group: tr("Go"), keys: ["ArrowRight"], run: () => focusAlong(1) },
	{ id: "focus.up", title: tr("On the timeline the level or lane above; else scroll"), group: tr("Go"), keys: ["ArrowUp"], run: () => focusUp(-1) },
	{ id: "focus.down", title: tr("On the timeline the level or lane below; else scroll"), group: tr("Go"), keys: ["ArrowDown"], run: () => focusUp(1) },
	{ id: "focus.first", title: tr("On the timeline the first span of the lane; else all of it"), group: tr("Go"), keys: ["Home"], run: () => focusEnd(-1) },
	{ id: "focus.last", title: tr("On the timeline the last span of the lane; else all of it"), group: tr("Go"), keys: ["End"], run: () => focusEnd(1) },
	{ id: "focus.open", title: tr("On the timeline details of the span, or fold the group"), group: tr("Go"), keys: ["Enter"], run: focusOpen, enabled: onTimeline },
	{ id: "focus.timeline", title: tr("Keyboard to the timeline"), group: tr("Go"), keys: ["i"], run: focusTimeline },
	{ id: "span.link", title: tr("Follow the arrow between launch and work"), group: tr("Go"), keys: ["l"], run: act.followLink, enabled: hasSelected },
	{ id: "span.previous", title: tr("Previous span of the same name"), group: tr("Go"), keys: [","], run: () => act.selectNext(-1), enabled: hasSelected },
	{ id: "span.next", title: tr("Next span of the same name"), group: tr("Go"), keys: ["."], run: () => act.selectNext(1), enabled: hasSelected },
	{ id: "hit.next", title: tr("Next hit, or piece of evidence"), group: tr("Go"), keys: ["n"], run: () => nextOf(1) },
	{ id: "hit.previous", title: tr("Previous hit, or piece of evidence"), group: tr("Go"), keys: ["N"], run: () => nextOf(-1) },
	{ id: "step.previous", title: tr("Previous step"), group: tr("Go"), keys: ["["], run: () => act.moveStep(-1) },
	{ id: "step.next", title: tr("Next step"), group: tr("Go"), keys: ["]"], run: () => act.moveStep(1) },
	{ id: "search", title: tr("Search"), group: tr("Go"), keys: ["/"], run: () => document.querySelector<HTMLInputElement>("input[type=search]")?.focus() },
];

const PANELS: Command[] = [
	...SIDE.map((p): Command => ({ id: `panel.${p.id}`, title: p.title, group: tr("Panels"), keys: p.keys, run: () => togglePanel(p.id), enabled: () => p.available?.(state) ?? true })),
	...DOCK.map((p): Command => ({ id: `dock.${p.id}`, title: p.title, group: tr("Panels"), keys: p.keys, run: () => toggleDock(p.id), enabled: () => p.available?.(state) ?? true })),
];

const PAGE: Command[] = [
	{ id: "theme.light", title: tr("Light colours"), group: tr("Page"), run: () => act.setTheme("light") },
	{ id: "theme.dark", title: tr("Dark colours"), group: tr("Page"), run: () => act.setTheme("dark") },
	{ id: "theme.auto", title: tr("Colours of the system"), group: tr("Page"), run: () => act.setTheme("auto") },
	{ id: "palette", title: tr("What to do, or where to go"), group: tr("Page"), keys: ["Ctrl+k", ":"], run: () => set({ palette: true }) },
	{ id: "back", title: tr("Take back one thing"), group: tr("Page"), keys: ["Escape"], run: act.clear },
	{ id: "help", title: tr("Keys"), group: tr("Page"), keys: ["?"], run: () => set({ help: true }) },
];

export const COMMANDS: Command[] = [...VIEW, ...GO, ...QUESTIONS, ...SELECTION, ...KIN, ...TABLE, ...SHARE, ...FLAME, ...PANELS, ...PAGE];

/** The command that a press of keys stands for. */
export function commandOf(e: KeyboardEvent): Command | undefined {
	const held = `${e.ctrlKey || e.metaKey ? "Ctrl+" : ""}${e.altKey ? "Alt+" : ""}${e.shiftKey && e.key.length > 1 ? "Shift+" : ""}`;
	const find = (key: string): Command | undefined => COMMANDS.find((c) => c.keys?.includes(held + key));
	// A keyboard that writes capitals means the same keys.
	return find(e.key) ?? (e.key.length === 1 ? find(e.key.toLowerCase()) : undefined);
}
