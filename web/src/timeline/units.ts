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

export const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

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

const PREFIXES: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]];

/** Units that take a prefix. */
const SI = /^(Hz|W|J|B|b|s|V|A)(\b|\/)/;

/** A counter's value: 1.98 GHz, 512 W. */
export function amount(value: number, unit: string): string {
	const [size, prefix] = PREFIXES.find(([s]) => Math.abs(value) >= s) ?? [1, ""];
	const by = prefix === "k" ? 1e3 : size;
	const shown = unit.length < 8 ? unit : "";
	return `${Number((value / by).toPrecision(3))} ${prefix}${prefix && !SI.test(shown) ? " " : ""}${shown}`.trimEnd();
}
