/* SPDX-License-Identifier: Apache-2.0 */
/* commands_share.ts - what a person keeps and shares: windows to go back to, notes, links. */
import type { Command } from "./commands";
import { redoWindow, undoWindow } from "./history";
import { addNote, exportNotes, nextNote } from "./notes";
import { savePiece, savePng, saveSvg } from "./save";
import { copyLink } from "./share";
import { state } from "./store";

const hasNotes = (): boolean => state.notes.all.some((notes) => notes.length > 0);

export const SHARE: Command[] = [
	{ id: "window.undo", title: "Take back a zoom or move", group: "View", keys: ["u", "Backspace"], run: undoWindow },
	{ id: "window.redo", title: "Do it again", group: "View", keys: ["U", "Shift+Backspace"], run: redoWindow },
	{ id: "note.add", title: "Note on the interval, the span or the pointer", group: "Notes", keys: ["m"], run: () => addNote() },
	{ id: "note.pointer", title: "Note at the pointer", group: "Notes", keys: ["M"], run: () => addNote(true) },
	{ id: "note.next", title: "Next note", group: "Notes", keys: ["}"], run: () => nextNote(1), enabled: hasNotes },
	{ id: "note.previous", title: "Previous note", group: "Notes", keys: ["{"], run: () => nextNote(-1), enabled: hasNotes },
	{ id: "note.save", title: "Save the notes as a file", group: "Notes", run: exportNotes, enabled: hasNotes },
	{ id: "save.report", title: "Save a report of the selection, or of what is on the screen", group: "Save", run: () => savePiece("hwy") },
	{ id: "save.perfetto", title: "Save that for Perfetto", group: "Save", run: () => savePiece("perfetto") },
	{ id: "save.png", title: "Save the timeline as PNG", group: "Save", run: savePng },
	{ id: "save.svg", title: "Save the timeline as SVG, names as text", group: "Save", run: saveSvg },
	{ id: "link.copy", title: "Copy a link to what is on the screen", group: "Page", keys: ["y"], run: copyLink },
];
