/* SPDX-License-Identifier: Apache-2.0 */
/* SpanTree.tsx - the spans around a span, the outermost first, each further in than the one before. */
import type { Span } from "../data/protocol";
import { SpanLink } from "./SpanLink";

const INDENT = 9;
const MOST_INDENT = 12;

export function SpanTree({ trace, spans }: { trace: number; spans: Span[] }) {
	return <ul class="span-tree">{spans.map((s, depth) => <li key={s.id} style={{ paddingLeft: `${Math.min(depth, MOST_INDENT) * INDENT}px` }}><SpanLink trace={trace} span={s} /></li>)}</ul>;
}
