/* SPDX-License-Identifier: Apache-2.0 */
/* RooflinePlot.tsx - operations a second over operations a byte: the roofs of a device, and a point for each kernel or operator.
 *
 * A point's area is its share of the time; its colour and shape say what bounds it. Arrow keys go from point to point. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { RooflineDevice, RooflinePoint } from "../data/roofline";
import { tr } from "../lang";
import { FONT, plain, shorten } from "../timeline/text";
import { duration, percent, withPrefix } from "../timeline/units";
import { axisOf, extentOf, isPlaced, placeTexts, radiusOf, roofAt, roofsOf, shapeOf, type Axis, type Box, type Placed, type Roof } from "./roofline_scale";

interface Props {
	device: RooflineDevice; points: RooflinePoint[]; chosen: RooflinePoint | null; hovered: RooflinePoint | null;
	hover: (p: RooflinePoint | null) => void; choose: (p: RooflinePoint) => void; go: (p: RooflinePoint) => void;
}
interface Size { w: number; h: number }

const EDGE = { left: 62, right: 16, top: 12, bottom: 34 };
const MOST_NAMES = 7;
const LEAST_NAMED = 0.02;
const MOST_CHARACTERS = 26;
const ruler = document.createElement("canvas").getContext("2d")!;

function widthOf(text: string): number {
	ruler.font = FONT;
	return ruler.measureText(text).width + 2;
}

function useSize(): [RefObject<HTMLDivElement | null>, Size] {
	const box = useRef<HTMLDivElement>(null);
	const [size, setSize] = useState<Size>({ w: 480, h: 320 });
	useEffect(() => {
		const watch = new ResizeObserver(() => {
			if (box.current)
				setSize({ w: Math.max(220, box.current.clientWidth), h: Math.max(180, box.current.clientHeight) });
		});
		watch.observe(box.current!);
		return () => watch.disconnect();
	}, []);
	return [box, size];
}

/** 0.1, 1, 10, 1,000, then powers. */
const power = (value: number): string => (value >= 1e5 || value < 1e-3 ? `1e${Math.round(Math.log10(value))}` : Number(value.toPrecision(1)).toLocaleString("en"));

function Axes({ x, y, size }: { x: Axis; y: Axis; size: Size }) {
	const bottom = size.h - EDGE.bottom;
	const right = size.w - EDGE.right;
	// The last one ends at the edge; one that would touch the next is left out.
	let edge = Infinity;
	const labels = [...x.ticks].reverse().map((t) => {
		const w = widthOf(power(t));
		const left = Math.min(x.at(t) - w / 2, right - w);
		const fits = left + w + 6 <= edge;
		edge = fits ? left : edge;
		return { t, left, fits };
	});
	return <g class="axes">
		{labels.map(({ t, left, fits }) => <g key={t}><line x1={x.at(t)} x2={x.at(t)} y1={EDGE.top} y2={bottom} />{fits && <text class="tick" x={left} y={bottom + 13}>{power(t)}</text>}</g>)}
		{y.ticks.map((t) => <g key={t}><line x1={EDGE.left} x2={right} y1={y.at(t)} y2={y.at(t)} /><text x={EDGE.left - 5} y={y.at(t) + 3.5} text-anchor="end">{withPrefix(t, "")}</text></g>)}
		<rect x={EDGE.left} y={EDGE.top} width={right - EDGE.left} height={bottom - EDGE.top} />
		<text class="title" x={(EDGE.left + right) / 2} y={size.h - 5} text-anchor="middle">{tr("FLOP per byte of memory traffic")}</text>
		<text class="title" x={14} y={(EDGE.top + bottom) / 2} text-anchor="middle" transform={`rotate(-90 14 ${(EDGE.top + bottom) / 2})`}>FLOP/s</text>
	</g>;
}

/** The memory's roof is a slope that the roofs of the units cut off. */
function Roofs({ device, roofs, x, y }: { device: RooflineDevice; roofs: Roof[]; x: Axis; y: Axis }) {
	const inside = roofs.filter((r) => r.flop >= y.from && r.flop <= y.to);
	const used = inside.some((r) => r.used) ? inside.filter((r) => r.used) : inside;
	const top = Math.min(y.to, Math.max(...used.map((r) => r.flop), 0) || y.to);
	const slope = device.bytes_per_s;
	const from = slope ? Math.max(x.from, y.from / slope) : x.from;
	const until = slope ? Math.min(x.to, top / slope) : x.to;
	return <g class="roofs">
		{slope && until > from && <line class="memory used" x1={x.at(from)} y1={y.at(slope * from)} x2={x.at(until)} y2={y.at(slope * until)} />}
		{inside.map((r) => {
			const begin = Math.max(x.from, Math.min(x.to, r.ridge ?? x.from));
			return <line key={r.flop} class={r.used || !inside.some((o) => o.used) ? "used" : ""} x1={x.at(begin)} x2={x.at(x.to)} y1={y.at(r.flop)} y2={y.at(r.flop)} />;
		})}
	</g>;
}

interface Text { text: string; x: number; y: number; used: boolean; turn: number; w: number }

/** The memory's name along its slope, at the first place of it where neither a point nor another name is, else where no name is. */
function slopeText(slope: number, top: number, x: Axis, y: Axis, points: Box[], names: Box[]): Text {
	const taken = [...points, ...names];
	const [from, to] = [Math.max(x.from, y.from / slope), Math.min(x.to, top / slope)];
	const angle = Math.atan2(y.at(slope * 10) - y.at(slope), x.at(10) - x.at(1));
	const text = `${tr("memory")}  ${withPrefix(slope, "B/s")}`;
	const w = widthOf(text);
	const places = [0.05, 0.3, 0.5, 0.7, 0.15, 0.4].map((share) => {
		const at = from * (to / from) ** share;
		const [left, bottom] = [x.at(at), y.at(slope * at) - 5];
		return { x: left, y: bottom + w * Math.sin(angle) - 10, w: w * Math.cos(angle), h: -w * Math.sin(angle) + 12 };
	});
	const box = placeTexts([{ of: 0, places }], taken)[0]?.box ?? placeTexts([{ of: 0, places }], names)[0]?.box ?? places[0]!;
	return { text, x: box.x, y: box.y + box.h - 2, used: true, turn: angle * 180 / Math.PI, w };
}

/** Names of the roofs at the right end of each, those in use first; the others only where no point is. */
function roofTexts(device: RooflineDevice, roofs: Roof[], x: Axis, y: Axis, points: Box[]): Text[] {
	const right = x.at(x.to) - 4;
	const inside = roofs.filter((r) => r.flop >= y.from && r.flop <= y.to);
	const wanted = (used: boolean): { of: { roof: Roof; text: string }; places: Box[] }[] => inside.filter((r) => r.used === used).map((roof) => {
		const text = `${roof.title}  ${withPrefix(roof.flop, "FLOP/s")}`;
		const w = widthOf(text);
		return { of: { roof, text }, places: [-4, 12].map((dy) => ({ x: right - w, y: y.at(roof.flop) + dy - 10, w, h: 12 })).filter((b) => b.y >= EDGE.top) };
	});
	const strong = placeTexts(wanted(true), []);
	const placed = [...strong, ...placeTexts(wanted(false), [...points, ...strong.map((s) => s.box)])]
		.map(({ of, box }) => ({ text: of.text, x: right, y: box.y + 10, used: of.roof.used, turn: 0, w: box.w }));
	const top = Math.max(...(strong.length ? strong.map((s) => s.of.roof.flop) : inside.map((r) => r.flop)), y.from * 2);
	return device.bytes_per_s ? [...placed, slopeText(device.bytes_per_s, Math.min(top, y.to), x, y, points, placed.map((p) => ({ x: p.x - p.w, y: p.y - 10, w: p.w, h: 12 })))] : placed;
}

export function RooflinePlot({ device, points, chosen, hovered, hover, choose, go }: Props) {
	const [box, size] = useSize();
	const [told, tell] = useState<Placed | null>(null);
	const placed = points.filter(isPlaced).sort((a, b) => b.share - a.share);
	const roofs = roofsOf(device, points);
	const extent = extentOf(device, placed, roofs);
	const x = axisOf(...extent.x, EDGE.left, size.w - EDGE.right);
	const y = axisOf(...extent.y, size.h - EDGE.bottom, EDGE.top);
	const taken = placed.map((p): Box => ({ x: x.at(p.intensity) - radiusOf(p.share), y: y.at(p.flop_per_s) - radiusOf(p.share), w: 2 * radiusOf(p.share), h: 2 * radiusOf(p.share) }));
	const texts = roofTexts(device, roofs, x, y, taken);
	const names = placeTexts(placed.filter((p) => p.share >= LEAST_NAMED).slice(0, MOST_NAMES).map((p) => {
		const full = shorten(plain(p.name));
		const text = full.length > MOST_CHARACTERS ? `${full.slice(0, MOST_CHARACTERS - 1)}…` : full;
		const r = radiusOf(p.share);
		const [px, py, w] = [x.at(p.intensity), y.at(p.flop_per_s), widthOf(text)];
		const places = [{ x: px + r + 4, y: py - 6, w, h: 12 }, { x: px - r - 4 - w, y: py - 6, w, h: 12 }, { x: px - w / 2, y: py + r + 2, w, h: 12 }, { x: px - w / 2, y: py - r - 14, w, h: 12 }];
		return { of: { p, text }, places: places.filter((b) => b.x > EDGE.left && b.x + b.w < size.w - EDGE.right && b.y > EDGE.top && b.y + b.h < size.h - EDGE.bottom) };
	}), [...taken, ...texts.map((t): Box => (t.turn ? { x: t.x, y: t.y + t.w * Math.sin(t.turn * Math.PI / 180) - 10, w: t.w * Math.cos(t.turn * Math.PI / 180), h: 12 - t.w * Math.sin(t.turn * Math.PI / 180) }
		: { x: t.x - t.w, y: t.y - 10, w: t.w, h: 12 }))]);
	const shown = (hovered ?? chosen) as Placed | null;
	const roof = shown && isPlaced(shown) ? roofAt(device, shown) : null;
	const keys = (e: KeyboardEvent): void => {
		const order = [...placed].sort((a, b) => a.intensity - b.intensity || a.flop_per_s - b.flop_per_s);
		const by = e.key === "ArrowRight" || e.key === "ArrowDown" ? 1 : e.key === "ArrowLeft" || e.key === "ArrowUp" ? -1 : 0;
		if (by) {
			const now = order.findIndex((p) => p === chosen);
			const next = order[now < 0 ? (by > 0 ? 0 : order.length - 1) : Math.min(order.length - 1, Math.max(0, now + by))];
			if (next)
				choose(next);
		} else if (e.key === "Enter" && chosen)
			go(chosen);
		else
			return;
		e.preventDefault();
		e.stopPropagation();
	};
	return <div class="roofline-plot" ref={box}>
		<svg width={size.w} height={size.h} tabindex={0} role="application" onKeyDown={keys}
			aria-label={tr("Roofline of {device}: {n} points; the table has the same numbers. Arrow keys go from point to point, Enter shows one in the timeline.", { device: plain(device.name), n: placed.length })}>
			<Axes x={x} y={y} size={size} />
			<Roofs device={device} roofs={roofs} x={x} y={y} />
			{texts.map((t) => <text key={t.text} class={`roof-name ${t.used ? "used" : ""}`} x={t.x} y={t.y} text-anchor={t.turn ? "start" : "end"}
				transform={t.turn ? `rotate(${t.turn.toFixed(1)} ${t.x} ${t.y})` : undefined}>{t.text}</text>)}
			{roof && shown && <line class="to-roof" x1={x.at(shown.intensity)} x2={x.at(shown.intensity)} y1={y.at(shown.flop_per_s)} y2={y.at(roof)} />}
			{placed.map((p) => <path key={`${p.kind}${p.name}${p.device}${p.intensity}`} class={`point ${p.bound} ${p === chosen ? "chosen" : ""} ${p === hovered ? "over" : ""}`}
				d={shapeOf(p.bound, x.at(p.intensity), y.at(p.flop_per_s), radiusOf(p.share))} onClick={() => go(p)} onMouseEnter={() => {
					hover(p);
					tell(p);
				}} onMouseLeave={() => {
					hover(null);
					tell(null);
				}} />)}
			{names.map(({ of, box: b }) => <text key={of.text + b.x} class="point-name" x={b.x} y={b.y + 10}>{of.text}</text>)}
		</svg>
		{told && <div class="tip" style={{
			left: `${Math.max(4, Math.min(x.at(told.intensity) + 14, size.w - 250))}px`, top: `${Math.max(4, Math.min(y.at(told.flop_per_s) + 16, size.h - 118))}px` }}>
			<b>{plain(told.name)}</b><span>{withPrefix(told.flop_per_s, "FLOP/s")}{tr(", ")}{withPrefix(told.bytes_per_s ?? 0, "B/s")}{tr("; ")}{duration(told.ns)}{tr(", ")}{percent(told.share)}</span><span>{plain(told.says)}</span></div>}
	</div>;
}
