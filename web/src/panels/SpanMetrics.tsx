/* SPDX-License-Identifier: Apache-2.0 */
/* SpanMetrics.tsx - what the counters said while a span of device work ran. */
import { useEffect, useState } from "preact/hooks";
import { Look, type Metric, type Span } from "../data/protocol";
import { tr } from "../lang";
import { metricsOf } from "../state/actions";
import { Metrics } from "./Metrics";

export function SpanMetrics({ trace, span }: { trace: number; span: Span }) {
	const [known, setKnown] = useState<{ id: number; metrics: Metric[] }>({ id: -1, metrics: [] });
	const isWork = (span.look ?? Look.api) <= Look.graph && span.dur > 0;
	useEffect(() => {
		let stale = false;
		if (isWork)
			void metricsOf(trace, span).then((metrics) => stale || setKnown({ id: span.id, metrics }));
		return () => { stale = true; };
	}, [trace, span.id]);
	return known.id === span.id ? <Metrics trace={trace} metrics={known.metrics} title={tr("The GPU while it ran")} /> : null;
}
