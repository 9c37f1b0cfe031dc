/* SPDX-License-Identifier: Apache-2.0 */
/* shown.ts - names as they are shown, so that what one reads can be asked for. As src/serve/query_shown.c. */

/** Where a demangled name begins behind its return type: after the last space outside of brackets before the parameters. The words before it
 * are a type only where they have a '<' or a "::": ranges are named with words, too. A '>' closes a '<' only where no other bracket was opened
 * after it: in "f<(8>0)>" the first one compares. */
function afterReturnType(name: string): number {
	let begin = 0;
	const open: string[] = [];
	for (let i = 0; i < name.length; i++) {
		const c = name[i]!;
		if (c === "(" && open.length === 0)
			return i > begin && /<|::/.test(name.slice(0, begin)) ? begin : 0;
		if (c === " " && open.length === 0)
			begin = i + 1;
		else if ("<([{".includes(c))
			open.push(c);
		else if (c === ">" && open.at(-1) === "<")
			open.pop();
		else if (")]}".includes(c)) {
			while (open.at(-1) === "<")
				open.pop();
			open.pop();
		}
	}
	return 0;
}

/** Without return type, namespaces and the version of a call: "cudaLaunchKernel" of "cudaLaunchKernel_v7000". */
export function shownName(text: string): string {
	const whole = text.replace(/^void /, "").replace(/\(anonymous namespace\)::/g, "").replace(/_v\d{4,5}$/, "");
	const head = whole.slice(afterReturnType(whole));
	const stop = head.search(/[<(]/);
	const name = stop > 0 ? head.slice(0, stop) : head;
	const scope = name.lastIndexOf("::");
	return (scope >= 0 && stop > 0 ? name.slice(scope + 2) + head.slice(stop) : head) || text;
}
