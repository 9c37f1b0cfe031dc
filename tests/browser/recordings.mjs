/* SPDX-License-Identifier: Apache-2.0 */
/* recordings.mjs - where the recordings of the tests are, unpacked into a folder that goes away. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** The recordings of the repository. */
export const data = process.env.DATA ?? new URL("../data", import.meta.url).pathname;
const folders = [join(data, "nsys"), process.env.SHARED ? join(process.env.SHARED, "data/nsys") : ""];

/** Paths of packed recordings, those of the repository first, one a name. */
export function packed() {
	const found = new Map();
	for (const folder of folders.filter((f) => f && existsSync(f)))
		for (const file of readdirSync(folder).filter((f) => f.endsWith(".sqlite.xz")))
			if (!found.has(file))
				found.set(file, join(folder, file));
	return [...found.values()];
}

/** Unpacks what is asked for; remove() deletes all of it. */
export function makeFolder() {
	const folder = mkdtempSync(join(tmpdir(), "headway-view-"));
	return {
		unpack(path) {
			const out = join(folder, basename(path, ".xz"));
			if (!existsSync(out))
				writeFileSync(out, execFileSync("xz", ["-dc"], { input: readFileSync(path), maxBuffer: 1 << 30 }));
			return out;
		},
		path: (name) => join(folder, name),
		remove: () => rmSync(folder, { recursive: true, force: true }),
	};
}

/** The first of these names that is at hand. */
export const pick = (...names) => names.map((name) => packed().find((p) => basename(p) === `${name}.sqlite.xz`)).find(Boolean);
