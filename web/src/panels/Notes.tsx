/* SPDX-License-Identifier: Apache-2.0 */
/* Notes.tsx - the notes of the recording: write, go to, delete, save and read as a file, share as a link. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Note } from "../data/note";
import { phrase, tr } from "../lang";
import { addNote, deleteNote, exportNotes, goToNote, importNotes, keepNotes, listed, nextNote, writeNote } from "../state/notes";
import { savePiece, savePng, saveSvg } from "../state/save";
import { copyLink } from "../state/share";
import { useStore } from "../state/store";
import { plain } from "../timeline/text";
import { duration } from "../timeline/units";

/** Of the frame of the field, which its height counts and its scrollHeight does not. */
const BORDERS = 2;

/** A note has one line, which the panel wraps. */
const oneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, " ");

function Entry({ trace, note, begin }: { trace: number; note: Note; begin: number }) {
	const at = useStore((s) => s.notes.at === note.id);
	const writing = useStore((s) => s.notes.writing === note.id);
	const both = useStore((s) => s.traces.length > 1);
	const box = useRef<HTMLTextAreaElement>(null);
	// What is being typed must survive that the panel is drawn again meanwhile.
	const [draft, setDraft] = useState(note.text);
	useLayoutEffect(() => setDraft(note.text), [note.text]);
	// Before the next key: what is typed after m belongs to the note.
	useLayoutEffect(() => {
		if (writing)
			box.current?.focus();
	}, [writing]);
	// As high as its text is, however wide the panel was made.
	useLayoutEffect(() => {
		let width = 0;
		const watch = new ResizeObserver(([entry]) => {
			const now = entry!.contentRect.width;
			if (now === width || !box.current)
				return;
			width = now;
			box.current.style.height = "auto";
			box.current.style.height = `${box.current.scrollHeight + BORDERS}px`;
		});
		watch.observe(box.current!.parentElement!);
		return () => watch.disconnect();
	}, [draft]);
	const name = plain(note.text) || tr("note");
	return <li class={at ? "on" : ""}>
		<textarea ref={box} rows={1} value={draft} placeholder={tr("what is here?")} aria-label={tr("text of the note")} maxLength={2000}
			onInput={(e) => setDraft(oneLine(e.currentTarget.value))} onChange={(e) => void writeNote(note.id, oneLine(e.currentTarget.value))}
			onKeyDown={(e) => {
				if (e.key === "Enter") {
					e.preventDefault();
					e.currentTarget.blur();
				}
			}} />
		<span class="line"><small>{both && <b class={trace ? "ab of-b" : "ab of-a"}>{trace ? "B" : "A"}</b>}{duration(note.from - begin)}{note.to > note.from && ` · ${duration(note.to - note.from)}`}
			{note.span !== undefined && ` · ${tr("span")}`}</small>
			<button aria-label={tr("go to {name}", { name })} onClick={() => void goToNote(note.id)}>{tr("go to")}</button>
			{note.foreign && <button class="keep" title={tr("it came with a link or a file")} aria-label={tr("keep {name}", { name })} onClick={() => void keepNotes(note.id)}>{tr("keep")}</button>}
			<button aria-label={tr("delete {name}", { name })} onClick={() => void deleteNote(note.id)}>{tr("delete")}</button></span>
	</li>;
}

function Import() {
	const box = useRef<HTMLInputElement>(null);
	return <>
		<button onClick={() => box.current?.click()}>{tr("read from file")}</button>
		<input ref={box} type="file" accept="application/json,.json" hidden aria-label={tr("file of notes")} onChange={(e) => {
			const file = e.currentTarget.files?.[0];
			e.currentTarget.value = "";
			void file?.text().then(importNotes);
		}} />
	</>;
}

export function Notes() {
	const notes = useStore((s) => s.notes);
	const traces = useStore((s) => s.traces);
	const list = listed(notes);
	const inline = useStore((s) => s.info?.inline ?? false);
	const pieceHint = inline ? tr("this page holds no recording") : tr("of at most two million spans");
	return <div class="notes"><h2>{tr("Notes")}</h2>
		<div class="buttons">
			<button title="m" onClick={() => void addNote()}>{tr("add")}</button>
			<button aria-label={tr("previous note")} title={tr("previous note ({)")} disabled={!list.length} onClick={() => void nextNote(-1)}>‹</button>
			<button aria-label={tr("next note")} title={tr("next note (})")} disabled={!list.length} onClick={() => void nextNote(1)}>›</button>
			<button title="y" onClick={() => void copyLink()}>{tr("copy link")}</button>
			<button disabled={!list.length} onClick={exportNotes}>{tr("save as file")}</button><Import />
		</div>
		{!list.length && <p class="empty">{phrase("None yet. {m} sets a flag on the interval or the selected span, else at the pointer; {M} always at the pointer.", { m: <kbd>m</kbd>, M: <kbd>M</kbd> })}</p>}
		{list.some(({ note }) => note.foreign) && <p class="empty">{tr("Notes of a link or a file are shown, and not kept by this browser until you want it.")} <button class="keep-all" onClick={() => void keepNotes()}>{tr("keep all")}</button></p>}
		<ul>{list.map(({ trace, note }) => <Entry key={note.id} trace={trace} note={note} begin={traces[trace]?.info.start ?? 0} />)}</ul>
		{list.length > 0 && <p class="empty">{notes.packed ? tr("This browser keeps them for this recording, and a link takes them along.") : tr("This browser keeps them for this recording; they are too long for a link.")}</p>}
		<h3>{tr("Save the selection, or what is on the screen")}</h3>
		<div class="buttons">
			<button disabled={inline} title={pieceHint} onClick={() => void savePiece("hwy")}>{tr("report")}</button>
			<button disabled={inline} title={pieceHint} onClick={() => void savePiece("perfetto")}>Perfetto</button>
			<button title={tr("the timeline as a picture")} onClick={() => void savePng()}>PNG</button>
			<button title={tr("the timeline as a drawing, names as text")} onClick={() => void saveSvg()}>SVG</button>
		</div>
	</div>;
}
