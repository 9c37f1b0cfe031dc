/* SPDX-License-Identifier: Apache-2.0 */
/* FlameCanvas.tsx - the flame graph as a picture: a click or the arrow keys zoom, a double click or Enter goes to the longest span. FlameTree.tsx has the same as rows. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { FRAME_NAMES } from "../data/flame";
import { tr } from "../lang";
import { plain } from "../timeline/text";
import { Palette } from "../timeline/theme";
import { useDark } from "./dark";
import { boxAt, draw, layOut, layOutSandwich, ROW, titleOfNode, type Box, type Picture } from "./flame_draw";
import type { Sandwich, Trie } from "./flame_trie";
import { linesOf, type Values } from "./flame_values";

export interface Picked { trie: Trie; node: number }
interface Props {
	trie: Trie; around: Sandwich | null; zoom: number; hits: Set<number> | null; how: Values; picked: Picked | null;
	pick: (picked: Picked) => void; go: (picked: Picked) => void;
}

const TIP_WIDTH = 380;

function Tip({ picture, over, x, y, how, width }: { picture: Picture; over: Box; x: number; y: number; how: Values; width: number }) {
	const trie = picture.tries[over.part]!;
	const frame = trie.at(over.node);
	const kind = over.node ? tr(FRAME_NAMES[frame.kind] ?? "") : "";
	return <div class="tip" style={{ left: `${Math.max(4, Math.min(x + 14, width - TIP_WIDTH))}px`, top: `${y + 18}px` }}>
		<b>{plain(titleOfNode(trie, over.node), 400)}</b>
		{(kind || frame.place) && <span>{kind}{frame.place && ` · ${plain(frame.place)}`}</span>}
		{linesOf(trie, over.node, how).map((line) => <span key={line}>{line}</span>)}
	</div>;
}

export function FlameCanvas({ trie, around, zoom, hits, how, picked, pick, go }: Props) {
	const dark = useDark();
	const canvas = useRef<HTMLCanvasElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const picture = useRef<Picture | null>(null);
	const [width, setWidth] = useState(0);
	const [over, setOver] = useState<{ box: Box; x: number; y: number } | null>(null);
	useEffect(() => {
		const watch = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
		watch.observe(box.current!);
		return () => watch.disconnect();
	}, []);
	// At once: what a click finds is what was asked for last, not the picture before.
	useLayoutEffect(() => {
		if (!canvas.current || !width)
			return;
		const now = around ? layOutSandwich(around.callers, around.callees, width) : layOut(trie, zoom, width);
		picture.current = now;
		// The function of a sandwich is in the middle, however deep its callers are.
		const middle = around ? now.boxes.find((b) => b.part === 0)?.row ?? 0 : 0;
		canvas.current.style.height = `${now.rows * ROW}px`;
		box.current!.scrollTop = Math.max(0, middle * ROW - box.current!.clientHeight / 2);
		setOver(null);
	}, [trie, around, zoom, width]);
	useLayoutEffect(() => {
		const now = picture.current;
		if (!now || !canvas.current || !width)
			return;
		const palette = new Palette(dark);
		const chosen = picked && now.boxes.find((b) => now.tries[b.part] === picked.trie && b.node === picked.node && !b.above);
		draw(canvas.current, now, width, { dark, hits, over: over?.box ?? null, picked: chosen ?? null, ink: palette.ink, accent: palette.accent });
	}, [trie, around, zoom, width, dark, hits, over, picked]);
	const at = (e: MouseEvent): Picked | null => {
		const found = picture.current && boxAt(picture.current, e.offsetX, e.offsetY);
		return found ? { trie: picture.current!.tries[found.part]!, node: found.node } : null;
	};
	/** Up to the caller, down to the widest callee, sideways to its siblings; Enter shows the longest span. */
	const keys = (e: KeyboardEvent): void => {
		const now = picked ?? { trie: around?.callees ?? trie, node: around ? 1 : zoom };
		const { trie: of, node } = now;
		const siblings = of.inner[of.outer[node]!]!;
		const to = { ArrowUp: of.outer[node], ArrowDown: of.inner[node]![0], ArrowLeft: siblings[siblings.indexOf(node) - 1], ArrowRight: siblings[siblings.indexOf(node) + 1], Home: 0 }[e.key];
		if (to !== undefined)
			pick({ trie: of, node: to });
		else if (e.key === "Enter")
			go(now);
		else if (!e.key.startsWith("Arrow"))
			return;
		e.preventDefault();
	};
	const scroll = box.current?.scrollTop ?? 0;
	return <div class="flame-stage" ref={box}>
		<canvas class="flame-canvas" ref={canvas} tabIndex={0} role="img" aria-label={tr("flame graph: arrow keys go to callers, callees and siblings, Enter shows the longest span; the table has the same in rows")} onKeyDown={keys} onMouseLeave={() => setOver(null)} onMouseMove={(e) => {
			const found = picture.current && boxAt(picture.current, e.offsetX, e.offsetY);
			setOver(found ? { box: found, x: e.offsetX, y: e.offsetY } : null);
		}} onClick={(e) => {
			const found = at(e);
			if (found)
				pick(found);
		}} onDblClick={(e) => {
			const found = at(e);
			if (found)
				go(found);
		}} />
		{over && picture.current && <Tip picture={picture.current} over={over.box} x={over.x} y={Math.min(over.y, scroll + (box.current?.clientHeight ?? 0) - 5 * ROW)} how={how} width={width} />}
	</div>;
}
