/* SPDX-License-Identifier: Apache-2.0 */
/* build.mjs [OUT.html] - bundles src/ into one file (dist/page.html): script and style inside, nothing to load.
 *
 * The line <!--HEADWAY_INLINE--> stays in it: `headway view --html` puts the data there. */
import { build } from "esbuild";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const here = new URL("./", import.meta.url);
const result = await build({
	absWorkingDir: here.pathname,
	entryPoints: ["src/main.tsx", "src/style.css"],
	bundle: true,
	minify: true,
	write: false,
	outdir: "dist",
	format: "iife",
	target: "es2022",
	charset: "utf8",
	jsx: "automatic",
	jsxImportSource: "preact",
	legalComments: "none",
});
const text = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
// A script ends at the first "</script", whatever stands around it.
const script = text(".js").replaceAll("</script", "<\\/script");
const page = readFileSync(new URL("src/page.html", here), "utf8")
	.replace("/*style*/", () => text(".css"))
	.replace("/*script*/", () => script);
const out = process.argv[2] ?? new URL("dist/page.html", here).pathname;
mkdirSync(dirname(out), { recursive: true });
writeFileSync(`${out}.new`, page);
renameSync(`${out}.new`, out);
