/* inline.ts - answers that stand inside the page (`headway view --html`): a table of base64 of gzip'ed answers.
 *
 * No request leaves the page. What was left out is answered with null; tiles that are not there with nothing, so that
 * the nearest coarser one stays on the screen. */
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
	const get = async <T>(key: string): Promise<T | null> => {
		const answer = await bytes(key);
		return answer && JSON.parse(new TextDecoder().decode(answer)) as T;
	};
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
			const all = await get<Record<string, string>>(`names/${trace}`) ?? {};
			return ids.map((id) => all[id] ?? "");
		},
		async pieces(kind, trace) {
			const answer = await bytes(`${kind}/${trace}`);
			return answer && decodePieces(answer);
		},
		whatIf: (trace, edits) => get(`whatif/${trace}/${edits}`),
	};
}
