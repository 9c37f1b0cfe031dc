/* SPDX-License-Identifier: Apache-2.0 */
/* fixture_server.mjs - speaks docs/view-protocol.md for the invented traces, on a free port of 127.0.0.1.
 *
 * serve(traces, page) gives {url, requests, close}; inlined(traces, page) the self-contained page as text. */
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import * as answers from "./fixture_answers.mjs";
import { tile } from "./fixture_tiles.mjs";

const TOKEN = "0123456789abcdef0123456789abcdef";
const json = (value) => Buffer.from(JSON.stringify(value));

function tiles(traces, body) {
	const parts = [];
	for (let i = 0; i < body.readUInt32LE(0); i++) {
		const o = 4 + 20 * i;
		const t = body[o];
		parts.push(tile(traces[t], t, body.readUInt32LE(o + 4), body[o + 1], Number(body.readBigInt64LE(o + 8))));
	}
	return Buffer.concat(parts);
}

function answer(traces, name, query, body) {
	const t = Number(query.get("t") ?? 0);
	const number = (key, otherwise) => Number(query.get(key) ?? otherwise);
	const trace = traces[t];
	switch (name) {
	case "info": return json(answers.info(traces));
	case "alive": return json({ diagnosis: traces.map(() => "ready") });
	case "lanes": return json(answers.lanes(trace));
	case "tiles": return tiles(traces, body);
	case "names": {
		const list = [];
		for (let o = 4; o < body.length; o += 4)
			list.push(traces[body.readUInt32LE(0)].names[body.readUInt32LE(o)] ?? "");
		return json(list);
	}
	case "span": return json(answers.span(trace, number("id")));
	case "at": return json(answers.at(trace, number("lane"), number("from"), number("to")));
	case "next": return json(answers.next(trace, number("id"), number("dir", 1), number("any", 0) === 1));
	case "search": return json(answers.search(trace, query.get("q"), number("from", trace.begin), number("to", trace.end), number("n", 100)));
	case "marks": return json(answers.marks(trace, query.get("q"), number("from"), number("to"), number("n")));
	case "hit": return json(answers.hit(trace, query.get("q"), number("id", -1), number("from", 0), number("dir", 1)));
	case "selection": return json(answers.selection(trace, number("from"), number("to"), query.get("lanes")));
	case "diagnosis": return json(answers.diagnosis(trace));
	case "steps": return json(answers.steps(trace));
	case "headway": return json(answers.headway(trace));
	case "gaps": case "path": return answers.pieces(trace, name);
	case "edits": return json(answers.edits(trace));
	case "roofline": return json(answers.roofline(trace));
	case "applicable": return json(answers.applicable(trace));
	case "whatif": return json(answers.whatif(trace, query.get("edits") ?? ""));
	default: return null;
	}
}

export async function serve(traces, page, port = 0) {
	const requests = [];
	const server = createServer((request, response) => {
		const url = new URL(request.url, "http://x");
		const chunks = [];
		request.on("data", (chunk) => chunks.push(chunk));
		request.on("end", () => {
			const [, token, name] = url.pathname.split("/");
			requests.push(name + url.search);
			if (token !== TOKEN || name === undefined)
				return response.writeHead(404).end();
			if (name === "")
				return response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
			if (name === "bye")
				return response.writeHead(204).end();
			const bytes = answer(traces, name, url.searchParams, Buffer.concat(chunks));
			return bytes ? response.writeHead(200).end(bytes) : response.writeHead(404).end();
		});
	});
	await new Promise((done) => { server.listen(port, "127.0.0.1", done); });
	return { url: `http://127.0.0.1:${server.address().port}/${TOKEN}/`, requests, close: () => { server.closeAllConnections(); server.close(); } };
}

/** The page with its answers inside, as `headway view --html` writes it. */
export function inlined(traces, page) {
	const table = {};
	const put = (key, bytes) => { table[key] = gzipSync(bytes).toString("base64"); };
	put("info", json(answers.info(traces, true)));
	traces.forEach((trace, t) => {
		for (const name of ["lanes", "diagnosis", "steps", "headway", "edits", "roofline"])
			put(`${name}?t=${t}`, answer(traces, name, new URLSearchParams({ t }), null));
		put(`names/${t}`, json(Object.fromEntries(trace.names.map((text, id) => [id, text]))));
		put(`gaps/${t}`, answers.pieces(trace, "gaps"));
		put(`path/${t}`, answers.pieces(trace, "path"));
		put(`whatif/${t}/remove-wait:train.py:18`, json(answers.whatif(trace, "remove-wait:train.py:18")));
		for (let level = 12; level <= 22; level++)
			for (let index = 0; index * 2 ** (level + 8) < trace.end; index++)
				for (const lane of answers.lanes(trace).lanes)
					put(`tile/${t}/${lane.lane}/${level}/${index}`, tile(trace, t, lane.lane, level, index));
		for (const id of answers.diagnosis(trace).findings.flatMap((f) => f.evidence))
			put(`span?t=${t}&id=${id}`, json(answers.span(trace, id)));
	});
	const inline = `<script>window.HEADWAY_INLINE=${JSON.stringify(table)}</script>`;
	return page.replace("<!--HEADWAY_INLINE-->", () => inline);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
	const { readFileSync } = await import("node:fs");
	const { makeTrace } = await import("./fixture_trace.mjs");
	const page = () => readFileSync(new URL("../../web/dist/page.html", import.meta.url));
	const traces = process.argv.includes("--two") ? [makeTrace(1), makeTrace(0.8)] : [makeTrace()];
	console.log((await serve(traces, page(), 8123)).url);
}
