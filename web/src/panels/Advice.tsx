/* SPDX-License-Identifier: Apache-2.0 */
/* Advice.tsx - what to do: lines that begin with two spaces are code, the others points. */
import { tr } from "../lang";
import { sentence } from "../timeline/text";

export function Advice({ text, code }: { text: string; code: boolean }) {
	const parts: { code: boolean; lines: string[] }[] = [];
	for (const line of sentence(text).split("\n").filter(Boolean)) {
		const isCode = line.startsWith("  ");
		const last = parts.at(-1);
		if (last && last.code === isCode)
			last.lines.push(line);
		else
			parts.push({ code: isCode, lines: [line] });
	}
	return <div class="advice">{parts.map((p, i) => (p.code
		? code && <pre key={i} tabIndex={0} role="group" aria-label={tr("example")}>{p.lines.map((line) => line.slice(2)).join("\n")}</pre>
		: p.lines.map((line) => <p key={`${i}${line}`}>▸ {line}</p>)))}</div>;
}
