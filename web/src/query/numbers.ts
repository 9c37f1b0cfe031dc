/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.ts - numbers with units, exactly: "1.1us" is 1100 ns. As src/serve/query_numbers.c. */
import type { Unit } from "./words";

const TIME: Record<string, bigint> = { ns: 1n, us: 1000n, "\u00b5s": 1000n, "\u03bcs": 1000n, ms: 1000000n, s: 1000000000n, min: 60000000000n, h: 3600000000000n };
const BYTES: Record<string, bigint> = { b: 1n, kb: 1000n, mb: 1000000n, gb: 1000000000n, tb: 1000000000000n, kib: 1n << 10n, mib: 1n << 20n, gib: 1n << 30n, tib: 1n << 40n };
const MOST_DIGITS = 18;
const NUMBER = /^(-?)(\d*)(?:\.(\d+))?([A-Za-z\u0080-\uffff]*)/;

/** A number times its unit; the whole numbers beside it; how many characters it took. */
export interface Quantity { floor: number; ceiling: number; real: number; length: number }

/** The number that a text begins with, or null. */
export function readQuantity(text: string, unit: Unit): Quantity | null {
	const found = NUMBER.exec(text);
	const [whole, sign, digits = "", parts = "", letters = ""] = found ?? [""];
	if (!found || digits.length + parts.length === 0 || digits.length + parts.length > MOST_DIGITS)
		return null;
	const sizes = unit === "time" ? TIME : unit === "bytes" || unit === "rate" ? BYTES : {};
	const name = letters.replace(/[A-Z]/g, (c) => c.toLowerCase());
	const size = letters ? (Object.hasOwn(sizes, name) ? sizes[name] : undefined) : 1n;
	if (size === undefined)
		return null;
	const scale = 10n ** BigInt(parts.length);
	const value = BigInt(digits + parts) * size * (sign ? -1n : 1n);
	const rest = value % scale;
	const floor = value / scale - (rest < 0n ? 1n : 0n);
	const second = unit === "rate" && letters && text.slice(whole.length).startsWith("/s") ? 2 : 0;
	return { floor: Number(floor), ceiling: Number(floor + (rest ? 1n : 0n)), real: Number(value) / Number(scale), length: whole.length + second };
}
