/* SPDX-License-Identifier: Apache-2.0 */
/* dark.ts - whether the page is dark: the switch decides, else the system. */
import { useEffect, useState } from "preact/hooks";
import { useStore, type Theme } from "../state/store";

const system = matchMedia("(prefers-color-scheme: dark)");

const isDark = (theme: Theme): boolean => theme === "dark" || (theme === "auto" && system.matches);

export function useDark(): boolean {
	const theme = useStore((s) => s.theme);
	const [, again] = useState({});
	useEffect(() => {
		const changed = (): void => again({});
		system.addEventListener("change", changed);
		return () => system.removeEventListener("change", changed);
	}, []);
	return isDark(theme);
}
