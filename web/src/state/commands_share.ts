/* SPDX-License-Identifier: Apache-2.0 */
/* commands_share.ts - what a person keeps and shares: windows to go back to, notes, links. */
import { tr } from "../lang";
import type { Command } from "./commands";
import { redoWindow, undoWindow } from "./history";
import { addNote, exportNotes, nextNote } from "./notes";
import { savePiece, savePng, saveSvg } from "./save";
import { copyLink } from "./share";
import { state } from "./store";

const hasNotes = (): boolean => state.notes.all.some((notes) => notes.length > 0);

export const SHARE: Command[] = [
	{ id: "window.undo", title: tr("Take back a zoom or move"), group: tr("View"), keys: ["u", "Backspace"], run: undoWindow },
	{ id: "window.redo", title: tr("Do it again"), group: tr("View"), keys: ["U", "Shift+Backspace"], run: redoWindow },
	{ id: "note.add", title: tr("Note on the interval, the span or the pointer"), group: tr("Notes"), keys: ["m"], run: () => addNote() },
	{ id: "note.pointer", title: tr("Note at the pointer"), group: tr("Notes"), keys: ["M"], run: () => addNote(true) },
	{ id: "note.next", title: tr("Next note"), group: tr("Notes"), keys: ["}"], run: () => nextNote(1), enabled: hasNotes },
	{ id: "note.previous", title: tr("Previous note"), group: tr("Notes"), keys: ["{"], run: () => nextNote(-1), enabled: hasNotes },
	{ id: "note.save", title: tr("Save the notes as a file"), group: tr("Notes"), run: exportNotes, enabled: hasNotes },
	{ id: "save.report", title: tr("Save a report of the selection, or of what is on the screen"), group: tr("Save"), run: () => savePiece("hwy") },
	{ id: "save.perfetto", title: tr("Save that for Perfetto"), group: tr("Save"), run: () => savePiece("perfetto") },
	{ id: "save.png", title: tr("Save the timeline as PNG"), group: tr("Save"), run: savePng },
	{ id: "save.svg", title: tr("Save the timeline as SVG, names as text"), group: tr("Save"), run: saveSvg },
	{ id: "link.copy", title: tr("Copy a link to what is on the screen"), group: tr("Page"), keys: ["y"], run: copyLink },
];
