/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.ts - the cache of tiles, and what to ask for next.
 *
 * cover() says what to draw for a lane and a window with what is at hand, exact or coarser, and notes what is missing;
 * flush() asks for that in one request. A request that answers no tile the newest frame wants is aborted. */
import { TILE_BITS, type Tile } from "./tile";
import { HARDWARE } from "./protocol";
import type { Source, TileKey } from "./source";

const LEVELS = 41;
const MOST_KEPT = 20_000;
const AGAIN_MS = 1000;

/** A tile and the part of the window it is drawn for. */
export interface Cover { tile: Tile; from: number; to: number }

interface LaneTiles { levels: Map<number, Tile>[];
	/** The lowest level at which a summary was seen. Tiles above it hold more spans: some of them are summaries, too. */
	summed: number }

const keyOf = (key: TileKey): string => `${key.trace}/${key.lane}/${key.level}/${key.index}`;

export class Tiles {
	private lanes = new Map<number, LaneTiles>();
	private wanted = new Map<string, TileKey>();
	private answered = new Set<string>();
	private asked = new Map<string, AbortController>();
	private kept = 0;

	constructor(private source: Source, private arrived: () => void) {}

	private laneOf(trace: number, lane: number): LaneTiles {
		const key = trace * 2 ** 33 + lane;
		let tiles = this.lanes.get(key);
		if (!tiles)
			this.lanes.set(key, tiles = { summed: LEVELS, levels: Array.from({ length: LEVELS }, () => new Map<number, Tile>()) });
		return tiles;
	}

	/** The tile to draw for one cell of the grid: itself, or the nearest coarser; whether that is good enough. */
	private best(tiles: LaneTiles, level: number, index: number): { tile: Tile | null; good: boolean } {
		const exact = tiles.levels[level]!.get(index);
		if (exact)
			return { tile: exact, good: true };
		let at = index;
		for (let up = level + 1; up < LEVELS; up++) {
			at = Math.floor(at / 2);
			const tile = tiles.levels[up]!.get(at);
			// Spans are exact at any level; an empty stretch stays empty.
			if (tile)
				return { tile, good: tile.form === "spans" || tile.form === "empty" };
		}
		return { tile: null, good: false };
	}

	cover(trace: number, lane: number, from: number, to: number, level: number, detail: number): Cover[] {
		const tiles = this.laneOf(trace, lane);
		const width = 2 ** (level + TILE_BITS);
		const covers: Cover[] = [];
		for (let index = Math.floor(from / width); index * width < to; index++) {
			const { tile, good } = this.best(tiles, level, index);
			if (!good)
				this.want(tiles, { trace, lane, level, index }, detail);
			if (!tile)
				continue;
			const begin = Math.max(from, index * width);
			const end = Math.min(to, (index + 1) * width);
			const last = covers.at(-1);
			if (last && last.tile === tile)
				last.to = end;
			else
				covers.push({ tile, from: begin, to: end });
		}
		return covers;
	}

	/** Where all is spans anyway, one coarse tile answers many cells. */
	private want(tiles: LaneTiles, key: TileKey, detail: number): void {
		let ask = key;
		if (detail > key.level) {
			const up = Math.min(detail, key.level + 3);
			const coarse = { ...key, level: up, index: Math.floor(key.index / 2 ** (up - key.level)) };
			if (!tiles.levels[up]!.has(coarse.index) && !this.answered.has(keyOf(coarse)))
				ask = coarse;
		}
		const name = keyOf(ask);
		if (!this.answered.has(name))
			this.wanted.set(name, ask);
		if (this.source.inline)
			this.wantCoarser(tiles, key);
	}

	/** The self-contained page may have left a tile out: a coarser one is then what there is. */
	private wantCoarser(tiles: LaneTiles, key: TileKey): void {
		for (let level = key.level + 1; level < Math.min(LEVELS, key.level + 16); level++) {
			const coarse = { ...key, level, index: Math.floor(key.index / 2 ** (level - key.level)) };
			if (tiles.levels[level]!.has(coarse.index))
				return;
			const name = keyOf(coarse);
			if (!this.answered.has(name)) {
				this.wanted.set(name, coarse);
				return;
			}
		}
	}

	/** Whether a lane has summaries at a level, on the screen or beside it. */
	isDense(trace: number, lane: number, level: number): boolean {
		return this.laneOf(trace, lane).summed <= level;
	}

	get waiting(): number {
		return this.asked.size;
	}

	/** Call after a frame: asks for what it lacked, drops requests for what it no longer wants. */
	flush(): void {
		const useless = new Set(this.asked.values());
		for (const [name, controller] of this.asked)
			if (this.wanted.has(name))
				useless.delete(controller);
		for (const controller of useless)
			controller.abort();
		for (const [name, controller] of this.asked)
			if (useless.has(controller))
				this.asked.delete(name);
		const keys = [...this.wanted].filter(([name]) => !this.asked.has(name));
		this.wanted.clear();
		if (keys.length)
			void this.ask(keys);
	}

	private async ask(keys: [string, TileKey][]): Promise<void> {
		const controller = new AbortController();
		for (const [name] of keys)
			this.asked.set(name, controller);
		let tiles: Tile[] | null = null;
		try {
			tiles = await this.source.tiles(keys.map(([, key]) => key), controller.signal);
		} catch {
			// Aborted, or the server is gone: alive.ts says so.
		}
		for (const [name] of keys)
			if (this.asked.get(name) === controller)
				this.asked.delete(name);
		if (!tiles)
			return;
		for (const [name] of keys)
			this.answered.add(name);
		for (const tile of tiles)
			this.keep(tile);
		this.arrived();
	}

	private keep(tile: Tile): void {
		if (this.kept++ > MOST_KEPT) {
			this.lanes.clear();
			this.answered.clear();
			this.kept = 0;
		}
		const lane = this.laneOf(tile.trace, tile.lane);
		const level = lane.levels[tile.level]!;
		if (tile.form === "summary")
			lane.summed = Math.min(lane.summed, tile.level);
		level.set(tile.index, tile);
		if (tile.lane >= HARDWARE && tile.rows === 0)
			setTimeout(() => this.askAgain(tile, level), AGAIN_MS);
	}

	/** The server had no time yet for the whole of it: what it sent is drawn until then. */
	private askAgain(tile: Tile, level: Map<number, Tile>): void {
		if (level.get(tile.index) !== tile)
			return;
		const key = { trace: tile.trace, lane: tile.lane, level: tile.level, index: tile.index };
		void this.ask([[keyOf(key), key]]);
	}
}
