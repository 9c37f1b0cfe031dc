/* SPDX-License-Identifier: Apache-2.0 */
/* SpanLink.tsx - a span in a list; a press goes there. */
import type { Span } from "../data/protocol";
import { spanName } from "../data/span_names";
import { select } from "../state/actions";
import { plain, shorten, withoutFolders } from "../timeline/text";
import { duration } from "../timeline/units";

/** `at`: when it was, after the first event, and in which step. */
export function SpanLink({ trace, span, stay, at }: { trace: number; span: Span; stay?: boolean; at?: string }) {
	return <button class="span-link" title={plain(spanName(span.name, span.look))} onClick={() => void select(trace, span.id, true, stay ?? false)}>
		<span>{withoutFolders(shorten(plain(spanName(span.name, span.look))))}</span>{at && <small class="at">{at}</small>}<small>{duration(span.dur)}</small></button>;
}
