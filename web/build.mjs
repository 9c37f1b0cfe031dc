/* SPDX-License-Identifier: Apache-2.0 */
/* build.mjs [OUT.html] - bundles src/ into one file (dist/page.html): scripts and style inside, nothing to load.
 *
 * There are two scripts: what the first picture needs (src/main.tsx), and the rest (src/late.ts), which `headway view` sends when the picture is
 * there. esbuild finds what both need; that belongs to the first script, which gives it to the second one as window.headwayShared.
 * The rest stands before the first script, as a function that runs nothing yet, between the marks HEADWAY_LATE and HEADWAY_LATE_END: the server
 * cuts it out. The line <!--HEADWAY_INLINE--> stays in the file: `headway view --html` puts the data there. */
import { build } from "esbuild";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";

const here = new URL("./", import.meta.url);
const common = { absWorkingDir: here.pathname, bundle: true, write: false, outdir: "dist", target: "es2022", charset: "utf8", legalComments: "none" };

/** The modules, divided: main.js, late.js, a chunk that both import, and the style. */
const divided = await build({
	...common,
	entryPoints: ["src/main.tsx", "src/late.ts", "src/style.css"],
	splitting: true,
	minify: true,
	format: "esm",
	jsx: "automatic",
	jsxImportSource: "preact",
});
const texts = new Map(divided.outputFiles.map((file) => [basename(file.path), file.text]));
const chunk = [...texts.keys()].find((name) => name.startsWith("chunk-"));

const GIVE = "give", SHARED = "shared";
/** Joins the divided modules again. The chunk is run by one of the scripts alone, so the other one takes what it made. */
function joined(entry, takes) {
	const from = (path) => ({ path: basename(path), namespace: "divided" });
	return { name: "joined", setup(on) {
		on.onResolve({ filter: /.*/ }, ({ path }) => (takes && basename(path) === chunk ? { path: SHARED, namespace: "divided" } : from(path)));
		on.onLoad({ filter: /.*/, namespace: "divided" }, ({ path }) => ({ loader: "js", contents: {
			[SHARED]: "module.exports = globalThis.headwayShared",
			[GIVE]: `import * as shared from "./${chunk}"; globalThis.headwayShared = shared;`,
			[entry]: takes ? texts.get(entry) : `import "./${GIVE}"; ${texts.get(entry)}`,
		}[path] ?? texts.get(path) }));
	} };
}

async function script(entry, takes, more = {}) {
	const { outputFiles } = await build({ ...common, ...more, entryPoints: [entry], minify: true, format: "iife", plugins: [joined(entry, takes)] });
	// A script ends at the first "</script", whatever stands around it.
	return outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
}

const main = await script("main.js", false);
const late = `window.headwayLate=function(){${await script("late.js", true, { globalName: "late" })}return late}`;
const page = readFileSync(new URL("src/page.html", here), "utf8")
	.replace("/*style*/", () => texts.get("style.css").trim())
	.replace("/*late*/", () => late)
	.replace("/*script*/", () => main);
const out = process.argv[2] ?? new URL("dist/page.html", here).pathname;
mkdirSync(dirname(out), { recursive: true });
writeFileSync(`${out}.new`, page);
renameSync(`${out}.new`, out);
