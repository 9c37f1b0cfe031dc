/* SPDX-License-Identifier: Apache-2.0 */
/* note.ts - a flag with a text at a place of a recording: how it is read, packed for a link and written as JSON.
 *
 * Notes come from links and files that anybody may have written: what does not look like a note is left out, and texts are cut. */

import { plain } from "../timeline/text";

export interface Note {
	id: string;
	/** In the recording's own time, whole ns; a moment has no length. */
	from: number; to: number; text: string;
	/** The span that the note was put on. */
	span?: number;
	/** When it was last changed, ms of Unix time: of two notes with one id the later one holds. */
	changed: number;
	/** Of somebody's link or file: shown, and not kept until a person wants it. No part of what is written. */
	foreign?: boolean;
}

/** A note as it is written. */
export const written = ({ foreign: _, ...note }: Note): Note => note;

export const MOST_NOTES = 500;
const MOST_TEXT = 2000;
/** A longer link is cut by mail programs and chats. */
export const MOST_PACKED = 6000;

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function noteOf(value: unknown): Note | null {
	if (!value || typeof value !== "object")
		return null;
	const { id, from, to, text, span, changed } = value as Record<string, unknown>;
	if (typeof id !== "string" || !/^[0-9a-z]{1,24}$/.test(id) || !isTime(from) || !isTime(to) || to < from || typeof text !== "string")
		return null;
	return { id, from, to, text: plain(text, MOST_TEXT), changed: isTime(changed) ? changed : 0, ...(isTime(span) && span < 2 ** 32 ? { span } : {}) };
}

export const notesOf = (value: unknown, most = MOST_NOTES): Note[] => (Array.isArray(value) ? value.slice(0, most).flatMap((one: unknown) => noteOf(one) ?? []) : []);

const inOrder = (notes: Note[]): Note[] => notes.sort((a, b) => a.from - b.from || a.to - b.to);

/** Both lists, all of them; of two notes with one id the later one. In order of time. */
export function joined(one: Note[], other: Note[]): Note[] {
	const notes = new Map(one.map((n) => [n.id, n]));
	for (const note of other)
		if ((notes.get(note.id)?.changed ?? -1) < note.changed)
			notes.set(note.id, note);
	return inOrder([...notes.values()]);
}

/** One's own notes, and beside them as many of others as there is room for. A note of one's own is never replaced by one of others. */
export function beside(own: Note[], others: Note[]): Note[] {
	const mine = new Set(own.map((n) => n.id));
	const free = Math.max(0, MOST_NOTES - own.length);
	return inOrder([...own, ...others.filter((n) => !mine.has(n.id)).slice(0, free).map((n) => ({ ...n, foreign: true }))]);
}

async function through(bytes: Uint8Array<ArrayBuffer>, by: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array<ArrayBuffer>> {
	const reader = new Blob([bytes]).stream().pipeThrough(by).getReader();
	const parts: Uint8Array[] = [];
	for (let size = 0;;) {
		const { done, value } = await reader.read();
		if (done)
			return new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
		size += value.length;
		// A few bytes of a link may unpack to gigabytes.
		if (size > most)
			throw new Error("too large");
		parts.push(value);
	}
}

/** Notes of each recording as a short text for a link; "" where there are none, or too many for one. */
export async function pack(all: Note[][]): Promise<string> {
	if (!all.some((notes) => notes.length))
		return "";
	const bytes = await through(new TextEncoder().encode(JSON.stringify(all)), new CompressionStream("deflate-raw"), Infinity);
	const text = btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
	return text.length > MOST_PACKED ? "" : text;
}

export async function unpack(text: string): Promise<Note[][]> {
	try {
		const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
		const value: unknown = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"), 4e6)));
		return Array.isArray(value) ? value.slice(0, 2).map((notes) => notesOf(notes)) : [];
	} catch {
		return [];
	}
}
