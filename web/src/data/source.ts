/* SPDX-License-Identifier: Apache-2.0 */
/* source.ts - where answers come from: a server (http.ts) or the page itself (inline.ts).
 *
 * `get` yields the JSON of a request of docs/view-protocol.md, or null where there is no answer (yet). */
import type { Piece } from "./protocol";
import type { Tile } from "./tile";

export interface TileKey { trace: number; lane: number; level: number; index: number }

export interface Source {
	readonly inline: boolean;
	get<T>(request: string, signal?: AbortSignal): Promise<T | null>;
	tiles(keys: TileKey[], signal?: AbortSignal): Promise<Tile[]>;
	names(trace: number, ids: number[]): Promise<string[]>;
	pieces(kind: "gaps" | "path", trace: number, from: number, to: number, pixels: number, signal?: AbortSignal): Promise<Piece[] | null>;
	whatIf<T>(trace: number, edits: string, signal?: AbortSignal): Promise<T | null>;
}
