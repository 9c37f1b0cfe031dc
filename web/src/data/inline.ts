/* SPDX-License-Identifier: Apache-2.0 */
/* inline.ts - answers that stand inside the page (`headway view --html`): a table of base64 of gzip'ed answers.
 *
 * No request leaves the page. What has no answer in the table is looked up in its spans (inline_index.ts), else null; tiles
 * that are not there are answered with nothing, so that the nearest coarser one stays on the screen. */
import { InlineIndex, type RowDetails, type Stacks } from "./inline_index";
import type { Info, Lanes, Steps } from "./protocol";
import type { Source } from "./source";
import { decodePieces, decodeTiles, type Tile } from "./tile";

type Table = Record<string, string>;

declare global {
	interface Window { HEADWAY_INLINE?: Table }
}

async function unpack(text: string): Promise<Uint8Array> {
	const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function inlineSource(table: Table): Source {
	const unpacked = new Map<string, Promise<Uint8Array>>();
	const bytes = (key: string): Promise<Uint8Array> | null => {
		const text = Object.hasOwn(table, key) ? table[key] : undefined;
		if (text === undefined)
			return null;
		let answer = unpacked.get(key);
		if (!answer)
			unpacked.set(key, answer = unpack(text));
		return answer;
	};
	const json = async <T>(key: string): Promise<T | null> => {
		const answer = await bytes(key);
		return answer && JSON.parse(new TextDecoder().decode(answer)) as T;
	};
	/** The columns of a span: in the entry with the last first id that is not behind it. */
	const rowsOf = (t: number): (id: number) => Promise<RowDetails | null> => {
		const prefix = `rows/${t}/`;
		const firsts = Object.keys(table).filter((key) => key.startsWith(prefix)).map((key) => Number(key.slice(prefix.length))).sort((a, b) => b - a);
		type Entry = { kind: string; rows: Omit<RowDetails, "kind">[] } | null;
		// A query looks at every row of an entry: it is read once.
		const read = new Map<number, Promise<Entry>>();
		return async (id) => {
			const first = firsts.find((f) => f <= id);
			if (first === undefined)
				return null;
			if (!read.has(first))
				read.set(first, json<Entry>(`${prefix}${first}`));
			const entry = await read.get(first);
			const row = entry?.rows[id - first];
			return row ? { kind: entry!.kind, ...row } : null;
		};
	};
	const indexes: Promise<InlineIndex>[] = [];
	const indexOf = (t: number): Promise<InlineIndex> => indexes[t] ??= (async () => {
		const keys = Object.keys(table).filter((key) => key.startsWith(`tile/${t}/`));
		const tiles = (await Promise.all(keys.map(async (key) => decodeTiles((await bytes(key))!)))).flat();
		const gaps = await bytes(`gaps/${t}`);
		const info = (await json<Info>("info"))?.traces[t];
		return new InlineIndex({
			tiles, begin: info?.start ?? 0, end: info?.end ?? Infinity, steps: await json<Steps>(`steps?t=${t}`), row: rowsOf(t), gaps: gaps ? decodePieces(gaps) : [],
			names: await json<Record<string, string>>(`names/${t}`) ?? {},
			lanes: await json<Lanes>(`lanes?t=${t}`) ?? { groups: [], lanes: [] },
			links: await json<number[][]>(`links/${t}`) ?? [],
			stacks: await json<Stacks>(`stacks/${t}`) ?? { frames: [], stacks: [] },
		});
	})();
	/** As a server would answer, from the spans of the page. */
	const lookUp = async (request: string): Promise<unknown> => {
		const [name, query] = request.split("?");
		const of = new URLSearchParams(query);
		const number = (key: string): number => Number(of.get(key));
		if (!["span", "next", "at", "search", "marks", "hit", "table", "selection", "chain"].includes(name ?? ""))
			return null;
		const index = await indexOf(number("t"));
		switch (name) {
		case "span": return index.span(number("id"));
		case "chain": return index.chain(number("id"));
		case "next": return index.next(number("id"), number("dir"), number("any") === 1);
		case "at": return index.at(number("lane"), number("from"), number("to"));
		case "search": return index.search(of.get("q") ?? "", number("from"), number("to"), number("n"), of.has("lane") ? number("lane") : null, number("skip"));
		case "marks": return index.marks(of.get("q") ?? "", number("from"), number("to"), number("n"));
		case "hit": return index.hit(of.get("q") ?? "", of.has("id") ? number("id") : -1, number("from"), number("dir"));
		case "table": return index.table({
			q: of.get("q") ?? "", sort: of.get("sort") ?? (of.get("group") ? "total" : "start"), down: number("dir") < 0, group: of.get("group") ?? "", skip: number("skip"), n: of.has("n") ? number("n") : 100,
			at: of.has("at") ? number("at") : null,
		}, number("from"), of.has("to") ? number("to") : Infinity, of.get("lanes") ?? "");
		default: return index.selection(number("from"), number("to"), of.get("lanes") ?? "");
		}
	};
	const get = async <T>(request: string): Promise<T | null> => await json<T>(request) ?? await lookUp(request) as T | null;
	return {
		inline: true,
		get,
		async tiles(keys) {
			const found: Promise<Tile[]>[] = [];
			for (const key of keys) {
				const answer = bytes(`tile/${key.trace}/${key.lane}/${key.level}/${key.index}`);
				if (answer)
					found.push(answer.then(decodeTiles));
			}
			return (await Promise.all(found)).flat();
		},
		async names(trace, ids) {
			const all = await json<Record<string, string>>(`names/${trace}`) ?? {};
			return ids.map((id) => all[id] ?? "");
		},
		async pieces(kind, trace) {
			const answer = await bytes(`${kind}/${trace}`);
			return answer && decodePieces(answer);
		},
		whatIf: (trace, edits) => json(`whatif/${trace}/${edits}`),
	};
}
