/* SPDX-License-Identifier: Apache-2.0 */
/* query_test.mjs - the page reads the language in which one asks for spans as the server does: every line of tests/query_cases.txt. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { check, run, skip } from "./common.mjs";

const web = new URL("../../web/", import.meta.url);
const require = createRequire(new URL("package.json", web));
if (!existsSync(new URL("node_modules/esbuild", web)))
	skip("no esbuild (npm --prefix web ci)");

async function load(file) {
	const { outputFiles } = await require("esbuild").build({ entryPoints: [new URL(file, web).pathname], bundle: true, write: false, format: "esm" });
	return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
const { parseQuery } = await load("src/query/parse.ts");
const { compilePattern } = await load("src/query/pattern.ts");
const { shownName } = await load("src/query/shown.ts");
const lines = readFileSync(new URL("../query_cases.txt", import.meta.url), "utf8").split("\n").filter((l) => l && !l.startsWith("#")).map((l) => l.split("\t"));

const end = (n) => (Number.isFinite(n) ? String(n === 0 ? 0 : n) : "");
function said(term) {
	const what = `${term.negated ? "-" : ""}${term.field}${term.part ? ` ${term.part}` : ""}`;
	if (term.field === "kind")
		return `${what} ${term.looks.join()}`;
	const value = term.test === "in" ? term.bounds.map((b) => `${end(b.low)}..${end(b.high)}`).join("|") : term.text;
	return `${what} ${term.test} ${value}${term.line ? ` at ${term.line}` : ""}`;
}
function understand(text) {
	try {
		return parseQuery(text).map(said).join(" & ");
	} catch (e) {
		return `! ${e.message}`;
	}
}

await run([
	["every query is understood as the table of cases says", () => {
		for (const [query, wanted] of lines.filter(([q]) => q !== "~" && q !== "="))
			check(understand(query) === wanted, `${query}: ${understand(query)} instead of ${wanted}`);
		check(lines.length > 200, "the table is there");
	}],
	["a name is shown as the server takes it for", () => {
		const names = lines.filter(([q]) => q === "=");
		for (const [, name, wanted] of names)
			check(shownName(name) === wanted, `${name} is shown as ${shownName(name)}, not ${wanted}`);
		check(names.length > 15, "names are there");
	}],
	["a regular expression finds what the server's finds", () => {
		for (const [, pattern, name, found] of lines.filter(([q]) => q === "~"))
			check(compilePattern(pattern).test(name.toLowerCase()) === (found === "1"), `${pattern} in ${name}`);
	}],
]);
