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

const ask = (request: string, init: RequestInit = {}): Promise<Response> => fetch(request, recordings ? { ...init, headers: { "X-Headway-Recordings": recordings } } : init);

/** What the server says is wrong with a request, if it says anything. */
async function sentenceOf(answer: Response): Promise<string> {
	const said = await answer.json().catch(() => null) as { error?: unknown } | null;
	return typeof said?.error === "string" ? said.error : "";
}

async function bytesOf(request: string, init: RequestInit): Promise<Uint8Array> {
	const answer = await ask(request, init);
	if (!answer.ok)
		throw new Error(`${request.split("?")[0]}: ${answer.status}`);
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
		throw new Error(answer.status === 400 ? (await answer.json() as { error: string }).error : `${request.split("?")[0]}: ${answer.status}`);
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
			throw new Error(await sentenceOf(answer) || `${request.split("?")[0]}: ${answer.status}`);
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
