/* SPDX-License-Identifier: Apache-2.0 */
/* units.ts - times for people, and round steps for the ruler. */

const UNITS: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** Three significant digits: 11.2 ms, 811 µs. */
export function duration(ns: number): string {
	const size = Math.abs(ns);
	const [unit, name] = UNITS.find(([u]) => size >= u) ?? [1, "ns"];
	const value = ns / unit;
	const digits = unit === 1 ? 0 : Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
	return `${value.toFixed(digits)} ${name}`;
}

/** All digits there are: 1.234567891 s. */
export function exact(ns: number): string {
	const [unit, name] = UNITS.find(([u]) => Math.abs(ns) >= u) ?? [1, "ns"];
	return `${(ns / unit).toFixed(Math.round(Math.log10(unit)))} ${name}`;
}

export const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 || (share >= 0.995 && share < 0.9995) ? 1 : 0)} %`;

/** A share that is known in steps of 1/255, of which the least stands for anything above 0 (docs/view-protocol.md, form 0): no digit that it has not. */
export const coarsePercent = (share: number): string => (share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(share * 100)} %`);

export const count = (n: number): string => n.toLocaleString("en").replaceAll(",", "\u2009");

/** 1, 2 or 5 times a power of ten, at least `least`. */
export function roundStep(least: number): number {
	const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= least) ?? power * 10;
}

/** A tick's text with as many digits as its neighbours need. */
export function tick(ns: number, step: number): string {
	const [unit, name] = UNITS.find(([u]) => Math.abs(ns) >= u || step >= u) ?? [1, "ns"];
	const digits = Math.max(0, Math.ceil(Math.log10(unit / step)));
	return `${(ns / unit).toFixed(digits)} ${name}`;
}

/** A moment with as many digits as a pixel is worth: 1.204317 s at a microsecond a pixel. */
export function momentText(ns: number, perPixel: number): string {
	return tick(Math.round(ns), Math.min(1e9, Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, perPixel))))));
}

/** A distance with its sign: + 1.2 ms. */
export const signed = (ns: number): string => `${ns < 0 ? "−" : "+"} ${duration(Math.abs(ns))}`;

const PREFIXES: [number, string][] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
/** Counts without a unit stay whole longer: 9999 is easier to read than 10 k. */
const COUNT_PREFIXES: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]];

/** Units that take a prefix. */
const SI = /^(Hz|W|J|B|b|s|V|A|FLOP)(\b|\/)/;
const LONGEST_UNIT = 8;

/** Three significant digits, no zeros at the end: 2.1, 63.2, 612. */
const three = (value: number): string => String(Number(value.toPrecision(3)));

/** A value with a prefix before its unit: 2.1 TB/s, 612 W, 494 TFLOP/s. */
export function withPrefix(value: number, unit: string): string {
	const size = Math.abs(value);
	const at = Math.max(0, PREFIXES.findIndex(([least]) => size >= least));
	const [by, prefix] = size < 1 ? [1, ""] : PREFIXES[at]!;
	const shown = Math.abs(value / by) >= 100 ? String(Math.round(value / by)) : three(value / by);
	return `${shown} ${prefix}${unit}`;
}

/** A counter's value for people: 1,980 MHz, 612 W, 63.2 %, 2.1 TB/s. */
export function amount(value: number, named: string): string {
	const unit = named.replace(/^bytes?\b/i, "B");
	if (Number.isNaN(value))
		return "–";
	if (unit === "%")
		return `${Math.abs(value) >= 10 ? Number(value.toFixed(1)) : three(value)} %`;
	// People compare clocks in MHz, whatever their size.
	if (unit === "Hz" && Math.abs(value) >= 1e6)
		return `${Math.round(value / 1e6).toLocaleString("en")} MHz`;
	if (SI.test(unit))
		return withPrefix(value, unit);
	// "Avg" and the like say how a value was made, not what it is of.
	const shown = unit.length < LONGEST_UNIT && !/^(avg|sum|min|max|ratio|count)\b/i.test(unit) ? unit : "";
	const [size, prefix] = COUNT_PREFIXES.find(([s]) => Math.abs(value) >= s) ?? [1, ""];
	const by = prefix === "k" ? 1e3 : size;
	return `${Math.abs(value) >= 100 && Math.abs(value) < 1e4 ? Math.round(value) : three(value / by)} ${prefix}${prefix && shown ? " " : ""}${shown}`.trimEnd();
}

/** A little more than `most`, round: the top of a chart that begins at 0. */
export function roundTop(most: number): number {
	if (!(most > 0))
		return 1;
	const power = 10 ** Math.floor(Math.log10(most));
	return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((f) => f * power).find((top) => top >= most * 0.9999) ?? power * 10;
}
