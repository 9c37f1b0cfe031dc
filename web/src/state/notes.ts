/* SPDX-License-Identifier: Apache-2.0 */
/* notes.ts - flags and notes: kept by the browser for each recording, in the link, and as a JSON file.
 *
 * The server is told nothing of them and writes nothing. The browser keeps the notes that a person wrote or chose to keep; those of somebody's link
 * or file stand beside them, and never take their place. A note that was deleted does not come back with an older address. */
import { beside, joined, MOST_NOTES, notesOf, pack, unpack, written, type Note } from "../data/note";
import { tr } from "../lang";
import { select, show } from "./actions";
import { saveText } from "./files";
import { keep, kept } from "./kept";
import { showPanel } from "./layout";
import { set, state } from "./store";

export interface NotesState {
	/** By trace, in order of time. */
	all: Note[][];
	/** The note that was gone to, by id; and the one whose text is to be written now. */
	at: string | null; writing: string | null;
	/** As they stand in the link; "" where they are none, or too long for one. */
	packed: string;
}

const keyOf = (trace: number): string => `notes.${state.traces[trace]?.info.id ?? ""}`;

const isOwn = (note: Note): boolean => !note.foreign;
const isForeign = (note: Note): boolean => Boolean(note.foreign);

const deletedKey = (trace: number): string => `deleted.${state.traces[trace]?.info.id ?? ""}`;
/** So many notes that were deleted are known as such. */
const MOST_DELETED = 1000;

function deletedOf(trace: number): string[] {
	const ids = kept(deletedKey(trace));
	return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === "string") : [];
}

let packing = 0;

async function change(all: Note[][], more: Partial<NotesState> = {}): Promise<void> {
	set({ notes: { ...state.notes, ...more, all } });
	all.forEach((notes, t) => {
		const own = notes.filter(isOwn);
		keep(keyOf(t), own.length ? own.map(written) : null);
	});
	const mine = ++packing;
	const packed = await pack(all.map((notes) => notes.map(written)));
	if (mine === packing)
		set({ notes: { ...state.notes, packed } });
}

/** Those that this browser kept for the recordings, and those of the link. */
export async function restoreNotes(link: string): Promise<void> {
	const given = link ? await unpack(link) : [];
	const all = state.traces.map((_, t) => {
		const gone = new Set(deletedOf(t));
		const shown = state.notes.all[t] ?? [];
		const is = (note: Note): boolean => !gone.has(note.id);
		return beside(joined(shown.filter(isOwn), notesOf(kept(keyOf(t)), Infinity)).filter(is), joined(shown.filter(isForeign), given[t] ?? []).filter(is));
	});
	if (all.some((notes) => notes.length))
		await change(all);
}

/** Where a new note belongs: the interval, else the selected span, else the pointer, else the middle of the window. */
function placeOf(atPointer: boolean): { trace: number; from: number; to: number; span?: number } {
	const { range, selected } = state;
	if (!atPointer && range)
		return { trace: 0, from: range.from + state.traces[0]!.shift, to: range.to + state.traces[0]!.shift };
	if (!atPointer && selected)
		return { trace: selected.trace, from: selected.span.start, to: selected.span.start + selected.span.dur, span: selected.span.id };
	const at = (state.cursor ?? (state.from + state.to) / 2) + state.traces[0]!.shift;
	return { trace: 0, from: at, to: at };
}

export async function addNote(atPointer = false): Promise<void> {
	const { trace, from, to, ...rest } = placeOf(atPointer);
	const id = crypto.getRandomValues(new Uint32Array(2)).reduce((text, n) => text + n.toString(36), "");
	if (state.notes.all[trace]!.filter(isOwn).length >= MOST_NOTES)
		return set({ message: tr("{n} notes are the most that a recording can have.", { n: MOST_NOTES }) });
	const note: Note = { id, from: Math.max(0, Math.round(from)), to: Math.max(0, Math.round(to)), text: "", changed: Date.now(), ...rest };
	showPanel("notes");
	await change(state.notes.all.map((notes, t) => (t === trace ? beside([...notes.filter(isOwn), note], notes.filter(isForeign)) : notes)), { at: id, writing: id });
}

const edited = (id: string, by: (note: Note) => Note[]): Note[][] => state.notes.all.map((notes) => notes.flatMap((n) => (n.id === id ? by(n) : [n])));

/** What a person has written into is the person's own. */
export const writeNote = (id: string, text: string): Promise<void> => change(edited(id, (n) => [{ ...written(n), text, changed: Date.now() }]), { writing: null });

export function deleteNote(id: string): Promise<void> {
	state.notes.all.forEach((notes, t) => {
		if (notes.some((n) => n.id === id))
			keep(deletedKey(t), [...deletedOf(t).filter((one) => one !== id), id].slice(-MOST_DELETED));
	});
	return change(edited(id, () => []), { at: null });
}

/** Notes of others become one's own: all of them, or the one of an id. */
export function keepNotes(id?: string): Promise<void> {
	const wanted = (n: Note): boolean => id === undefined || n.id === id;
	state.notes.all.forEach((notes, t) => {
		const back = new Set(notes.filter((n) => n.foreign && wanted(n)).map((n) => n.id));
		keep(deletedKey(t), deletedOf(t).filter((one) => !back.has(one)));
	});
	return change(state.notes.all.map((notes) => notes.map((n) => (wanted(n) ? written(n) : n))));
}

/** The notes of all runs, in the order of the window's time. */
export const listed = (notes: NotesState): { trace: number; note: Note }[] => notes.all.flatMap((list, trace) => list.map((note) => ({ trace, note })))
	.sort((a, b) => a.note.from - (state.traces[a.trace]?.shift ?? 0) - b.note.from + (state.traces[b.trace]?.shift ?? 0));

/** Shows a note: a window three times as long, or around a moment the width that there is. */
export async function goToNote(id: string): Promise<void> {
	const found = listed(state.notes).find(({ note }) => note.id === id);
	if (!found)
		return;
	const { trace, note } = found;
	const { shift } = state.traces[trace]!;
	const length = note.to - note.from;
	const width = length ? length * 3 : state.to - state.from;
	const middle = (note.from + note.to) / 2 - shift;
	set({ notes: { ...state.notes, at: id } });
	// Not after the answer: by then one may have gone on to another note.
	show(middle - width / 2, middle + width / 2);
	if (note.span !== undefined)
		await select(trace, note.span, false, true);
}

/** A press on a flag: its text, in the panel. */
export function showNote(id: string): void {
	showPanel("notes");
	set({ notes: { ...state.notes, at: id } });
}

export async function nextNote(by: 1 | -1): Promise<void> {
	const list = listed(state.notes);
	if (!list.length)
		return set({ message: tr("No notes yet: m sets one.") });
	const now = list.findIndex(({ note }) => note.id === state.notes.at);
	await goToNote(list[now < 0 ? (by > 0 ? 0 : list.length - 1) : (now + by + list.length) % list.length]!.note.id);
}

/** One file for all recordings that are open. */
export function exportNotes(): void {
	const recordings = state.traces.map(({ info }, t) => ({ id: info.id, file: info.file, notes: state.notes.all[t] ?? [] }));
	saveText("headway-notes.json", "application/json", `${JSON.stringify({ headway_notes: 1, recordings }, null, 2)}\n`);
}

/** Takes the notes of a file that are about the recordings on the screen; says what it did. */
export async function importNotes(text: string): Promise<void> {
	let recordings: unknown = null;
	try {
		const value: unknown = JSON.parse(text);
		recordings = value && typeof value === "object" ? Reflect.get(value, "recordings") : null;
	} catch {
		// Said below.
	}
	if (!Array.isArray(recordings))
		return set({ message: tr("This file holds no notes of Headway.") });
	const of = (id: string): Note[] => recordings.flatMap((r: unknown) =>
		(r && typeof r === "object" && Reflect.get(r, "id") === id ? notesOf(Reflect.get(r, "notes")) : []));
	const given = state.traces.map(({ info }) => of(info.id));
	const n = given.reduce((sum, notes) => sum + notes.length, 0);
	await change(state.notes.all.map((notes, t) => beside(notes.filter(isOwn), joined(notes.filter(isForeign), given[t] ?? []))));
	set({ message: n ? tr(n > 1 ? "{n} notes read." : "{n} note read.", { n }) : tr("The notes of this file are about another recording.") });
}
