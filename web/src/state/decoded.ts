/* SPDX-License-Identifier: Apache-2.0 */
/* decoded.ts - a part of an address that was encoded for itself. An address may be cut off or damaged: what cannot be read is null. */
export function decoded(text: string): string | null {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
}
