/* SPDX-License-Identifier: Apache-2.0 */
/* SpanLink.tsx - a span in a list; a press goes there. */
import type { Span } from "../data/protocol";
import { select } from "../state/actions";
import { plain, shorten } from "../timeline/text";
import { duration } from "../timeline/units";

export function SpanLink({ trace, span, stay }: { trace: number; span: Span; stay?: boolean }) {
	return <button class="span-link" title={plain(span.name)} onClick={() => void select(trace, span.id, true, stay ?? false)}>
		<span>{shorten(plain(span.name))}</span><small>{duration(span.dur)}</small></button>;
}
