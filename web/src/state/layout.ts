/* SPDX-License-Identifier: Apache-2.0 */
/* layout.ts - which panels are open, and how large the parts of the page are. */
import { keep, kept } from "./kept";
import { set, state, type Dock, THEMES, type Panel, type Sizes } from "./store";

const isSize = (value: unknown): value is number => typeof value === "number" && value > 0 && value < 1e4;

/** A panel of the side that has a part of its own in the dock opens both. */
const withDock = (panel: Panel): { panel: Panel; dock: Dock | null } => ({ panel, dock: panel === "whatif" ? "prediction" : state.dock });

export const showPanel = (panel: Panel): void => set(withDock(panel));
export const togglePanel = (panel: Panel): void => set(state.panel === panel ? { panel: null } : withDock(panel));
export const showDock = (dock: Dock): void => set({ dock });
export const toggleDock = (dock: Dock): void => set({ dock: state.dock === dock ? null : dock });

/** Makes a part of the page so many pixels large; null: as large as the page makes it. */
export function resize(part: keyof Sizes, pixels: number | null): void {
	const sizes = { ...state.sizes, [part]: pixels };
	set({ sizes });
	keep("sizes", sizes);
}

/** The sizes and the colours of the last time. */
export function restoreLooks(): void {
	const old = kept("sizes");
	const size = (part: keyof Sizes): number | null => {
		const value: unknown = old && typeof old === "object" ? Reflect.get(old, part) : null;
		return isSize(value) ? value : null;
	};
	const theme = THEMES.find((t) => t === kept("theme"));
	set({ theme: theme ?? state.theme, sizes: { lanes: size("lanes"), side: size("side"), dock: size("dock") } });
}
