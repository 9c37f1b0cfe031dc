/* SPDX-License-Identifier: Apache-2.0 */
/* http.ts - answers from `headway view`, by addresses relative to the page's own. */
import { tr } from "../lang";
import type { Source, TileKey } from "./source";
import { decodePieces, decodeTiles } from "./tile";

const MOST_TILES = 2048;

let recordings = "";

/** From now on the server is told which recordings the page shows: one that has others refuses (409), so that nothing wrong is drawn. */
export function showsRecordings(ids: string[]): void {
	recordings = ids.join(".");
}

/** An answer that is none, in words; `status` is 0 where nobody answered. */
export class NoAnswer extends Error {
	constructor(readonly status: number, sentence: string) {
		super(sentence);
	}
}

/** Given up by the page itself, or by the network. */
const isAbort = (e: unknown): boolean => e instanceof DOMException && e.name === "AbortError";

async function ask(request: string, init: RequestInit = {}): Promise<Response> {
	try {
		return await fetch(request, recordings ? { ...init, headers: { "X-Headway-Recordings": recordings } } : init);
	} catch (e) {
		throw isAbort(e) ? e : new NoAnswer(0, tr("The server does not answer: look whether 'headway view' still runs, and try again."));
	}
}

/** What to do about an answer without a sentence of its own. */
function adviceOn(request: string, status: number): string {
	switch (status) {
	case 409: return tr("The server has another recording by now: reload the page to see it.");
	case 413: return tr("This is too much for one request: choose less time, or fewer lanes.");
	case 503: return tr("The server had no time for this: wait until other questions are answered, choose less time or fewer lanes, and try again.");
	default: return tr("The server cannot answer this ({what}, status {status}): reload the page, or start 'headway view' again.", { what: request.split("?")[0]!, status });
	}
}

/** What the server says is wrong with a request, as a sentence; else what one can do. */
async function wrongWith(answer: Response, request: string): Promise<NoAnswer> {
	const told = await answer.json().catch(() => null) as { error?: unknown } | null;
	return new NoAnswer(answer.status, typeof told?.error === "string" && told.error ? told.error : adviceOn(request, answer.status));
}

async function bytesOf(request: string, init: RequestInit): Promise<Uint8Array> {
	const answer = await ask(request, init);
	if (!answer.ok)
		throw await wrongWith(answer, request);
	return new Uint8Array(await answer.arrayBuffer());
}

function tilesBody(keys: TileKey[]): ArrayBuffer {
	const body = new DataView(new ArrayBuffer(4 + 20 * keys.length));
	body.setUint32(0, keys.length, true);
	keys.forEach((key, i) => {
		const at = 4 + 20 * i;
		body.setUint8(at, key.trace);
		body.setUint8(at + 1, key.level);
		body.setUint32(at + 4, key.lane, true);
		body.setBigInt64(at + 8, BigInt(key.index), true);
	});
	return body.buffer;
}

/** A file that the server makes; fails with its sentence. */
export async function fileOf(request: string): Promise<Blob> {
	const answer = await ask(request);
	if (!answer.ok)
		throw await wrongWith(answer, request);
	return answer.blob();
}

/** A part of the page's own script. */
export async function scriptOf(request: string): Promise<string> {
	return new TextDecoder().decode(await bytesOf(request, {}));
}

export const httpSource: Source = {
	inline: false,

	async get<T>(request: string, signal?: AbortSignal): Promise<T | null> {
		const answer = await ask(request, { signal: signal ?? null });
		if (answer.status === 202)
			return null;
		if (!answer.ok)
			throw await wrongWith(answer, request);
		const value = await answer.json() as T & { state?: string; error?: string };
		if (value.state === "failed")
			throw new Error(value.error ?? tr("failed"));
		return value;
	},

	async tiles(keys, signal) {
		const parts: Promise<Uint8Array>[] = [];
		for (let i = 0; i < keys.length; i += MOST_TILES)
			parts.push(bytesOf("tiles", { method: "POST", body: tilesBody(keys.slice(i, i + MOST_TILES)), signal: signal ?? null }));
		return (await Promise.all(parts)).flatMap(decodeTiles);
	},

	async names(trace, ids) {
		const answer = await ask("names", { method: "POST", body: new Uint32Array([trace, ...ids]) });
		return answer.ok ? await answer.json() as string[] : [];
	},

	async pieces(kind, trace, from, to, pixels, signal) {
		const answer = await ask(`${kind}?t=${trace}&from=${Math.floor(from)}&to=${Math.ceil(to)}&n=${pixels}`, { signal: signal ?? null });
		if (!answer.ok || answer.status === 202 || answer.headers.get("content-type")?.includes("json"))
			return null;
		return decodePieces(new Uint8Array(await answer.arrayBuffer()));
	},

	whatIf(trace, edits, signal) {
		return this.get(`whatif?t=${trace}&edits=${encodeURIComponent(edits)}`, signal);
	},
};
