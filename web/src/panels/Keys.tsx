/* SPDX-License-Identifier: Apache-2.0 */
/* Keys.tsx - the keys of a command as people know them: Ctrl + K, ←, Esc. */

const WORDS: Record<string, string> = {
	ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", PageUp: "Page ↑", PageDown: "Page ↓",
};

/** One press: what is held with it first. */
function textOf(key: string): string {
	const held = /^((?:Ctrl\+|Alt\+|Shift\+)*)(.+)$/.exec(key);
	const last = held?.[2] ?? key;
	const word = WORDS[last] ?? (held?.[1] && last.length === 1 ? last.toUpperCase() : last);
	return [...(held?.[1] ?? "").split("+").filter(Boolean), word].join(" + ");
}

export function Keys({ keys }: { keys: string[] }) {
	return <>{keys.map((key) => <kbd key={key}>{textOf(key)}</kbd>)}</>;
}
