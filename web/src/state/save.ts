/* SPDX-License-Identifier: Apache-2.0 */
/* save.ts - the selection, or what is on the screen, as a file: a report, for Perfetto, a picture. */
import { fileOf } from "../data/http";
import { tr } from "../lang";
import { count } from "../timeline/units";
import { saveBlob, saveText } from "./files";
import { late } from "./later";
import { source, timeline } from "./page";
import { hasSelection, selectionOf } from "./selection";
import { set, state } from "./store";

const ENDINGS = { hwy: "hwy", perfetto: "pftrace" };
const stem = (trace: number): string => (state.traces[trace]?.info.file ?? "recording").replace(/\.(hwy|sqlite|json|gz)+$/, "");

/** What to save of a trace, as a request names it: the selection, else the window. */
function partOf(trace: number): string | null {
	if (hasSelection())
		return selectionOf(trace);
	const { shift } = state.traces[trace]!;
	return `from=${Math.max(0, Math.floor(state.from + shift))}&to=${Math.max(1, Math.ceil(state.to + shift))}`;
}

async function saveTrace(trace: number, type: keyof typeof ENDINGS): Promise<void> {
	const part = partOf(trace);
	if (part === null)
		return;
	const size = await source.get<{ spans: number; most: number }>(`export-size?t=${trace}&${part}`);
	if (size && size.spans <= size.most)
		set({ message: tr(hasSelection() ? "Saving {n} spans of the selection…" : "Saving {n} spans of what is on the screen…", { n: count(size.spans) }) });
	saveBlob(`${stem(trace)}-piece.${ENDINGS[type]}`, await fileOf(`export?t=${trace}&${part}&type=${type}`));
	set({ message: tr("Saved: {n} spans.", { n: count(size?.spans ?? 0) }) });
}

/** Saves a file for each recording that is open. */
export async function savePiece(type: keyof typeof ENDINGS): Promise<void> {
	if (source.inline)
		return set({ message: tr("This page holds no recording to take a piece of: 'headway view' does.") });
	try {
		for (const trace of state.traces.keys())
			await saveTrace(trace, type);
	} catch (e) {
		set({ message: e instanceof Error ? e.message : tr("Nothing was saved.") });
	}
}

const theCanvas = (): HTMLCanvasElement | null => document.querySelector("canvas.timeline");

export async function savePng(): Promise<void> {
	const canvas = theCanvas();
	// The pointer is not of the recording. What is on the screen is drawn once a frame.
	set({ cursor: null });
	await new Promise(requestAnimationFrame);
	const blob = canvas && await (await late()).pngOf(timeline, canvas);
	if (blob)
		saveBlob(`${stem(0)}.png`, blob);
}

export async function saveSvg(): Promise<void> {
	const canvas = theCanvas();
	set({ cursor: null });
	const text = canvas && (await late()).svgOf(timeline, canvas);
	if (text)
		saveText(`${stem(0)}.svg`, "image/svg+xml", text);
	else
		set({ message: tr("There is too much on the screen for SVG: zoom in, fold lanes, or save PNG.") });
}
