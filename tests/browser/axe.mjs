/* SPDX-License-Identifier: Apache-2.0 */
/* axe.mjs - what axe-core has to say about a page, where it is serious. */
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { check, skip } from "./common.mjs";

function source() {
	try {
		return readFileSync(createRequire(new URL("../../web/package.json", import.meta.url)).resolve("axe-core/axe.min.js"), "utf8");
	} catch {
		return skip("no axe-core (npm --prefix web ci)");
	}
}

const script = source();

/** Fails the test where axe finds something serious or critical; names the rule and the elements. */
export async function checkAxe(page, where) {
	if (!await page.evaluate(() => typeof window.axe === "object"))
		await page.evaluate(script);
	const found = await page.evaluate(async () => {
		const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
		return violations.filter((v) => v.impact === "serious" || v.impact === "critical")
			.map((v) => `${v.id}: ${v.nodes.slice(0, 4).map((n) => `${n.target.join(" ")} (${n.any[0]?.message ?? n.all[0]?.message ?? n.none[0]?.message ?? ""})`).join("; ")}${v.nodes.length > 4 ? ` and ${v.nodes.length - 4} more` : ""}`);
	});
	check(!found.length, `${where} can be used by everybody:\n  ${found.join("\n  ")}`);
}
