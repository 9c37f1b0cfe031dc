/* SPDX-License-Identifier: Apache-2.0 */
/* Splitter.tsx - the edge of a part of the page: drag it, or move it with the arrows, and the part gets larger. A double click takes that back. */
import { useRef } from "preact/hooks";
import { resize } from "../state/layout";
import { useStore, type Sizes } from "../state/store";

interface Props {
	part: keyof Sizes; title: string;
	/** Where the part is, seen from its edge. */
	side: "left" | "right" | "below";
	least: number; most: () => number;
}

const BY_KEY = 16;

/** How much larger a part gets by a key. */
const GROWS: Record<Props["side"], Record<string, number>> = {
	left: { ArrowRight: BY_KEY, ArrowLeft: -BY_KEY, Home: -Infinity, End: Infinity },
	right: { ArrowLeft: BY_KEY, ArrowRight: -BY_KEY, Home: -Infinity, End: Infinity },
	below: { ArrowUp: BY_KEY, ArrowDown: -BY_KEY, Home: -Infinity, End: Infinity },
};

export function Splitter({ part, title, side, least, most }: Props) {
	const size = useStore((s) => s.sizes[part]);
	const edge = useRef<HTMLDivElement>(null);
	const down = useRef<{ at: number; size: number } | null>(null);
	const upright = side !== "below";
	const now = (): number => {
		const box = (side === "left" ? edge.current?.previousElementSibling : edge.current?.nextElementSibling)?.getBoundingClientRect();
		return Math.round((upright ? box?.width : box?.height) ?? 0);
	};
	const make = (pixels: number): void => resize(part, Math.round(Math.min(Math.max(least, most()), Math.max(least, pixels))));
	const at = (e: PointerEvent): number => (upright ? e.clientX : e.clientY);
	return <div ref={edge} class={`splitter ${upright ? "upright" : "flat"}`} role="separator" tabIndex={0} aria-label={title} title={title}
		aria-orientation={upright ? "vertical" : "horizontal"} aria-valuemin={least} aria-valuemax={Math.round(most())} aria-valuenow={size ?? (now() || least)}
		onPointerDown={(e) => {
			down.current = { at: at(e), size: now() };
			edge.current?.setPointerCapture(e.pointerId);
		}} onPointerMove={(e) => {
			if (down.current)
				make(down.current.size + (at(e) - down.current.at) * (side === "left" ? 1 : -1));
		}} onPointerUp={() => { down.current = null; }} onMouseDown={(e) => {
			// Else the browser begins to drag the title that lies under the edge.
			e.preventDefault();
			edge.current?.focus();
		}} onDblClick={() => resize(part, null)}
		onKeyDown={(e) => {
			const by = GROWS[side][e.key];
			if (by === undefined)
				return;
			e.preventDefault();
			make(now() + by);
		}} />;
}
