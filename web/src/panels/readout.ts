/* SPDX-License-Identifier: Apache-2.0 */
/* readout.ts - what a span's answer says in a line or two: when it started after its launch, how it was launched, what it moved. Pure text. */
import { Look, type Lead, type SpanDetails } from "../data/protocol";
import { count, duration, withPrefix } from "../timeline/units";
import { plain, shorten } from "../timeline/text";

export const placeText = (f: { file: string; line: number | null }): string => (f.file ? `${f.file}${f.line ? `:${f.line}` : ""}` : "");

const ahead = ({ count: n, work }: Lead): string => (n ? `${count(n)} operation${n === 1 ? "" : "s"}, ${duration(work)}` : "none");

/** Of device work: how long after its launch it started, and what was ahead of it. */
export function launchText(span: SpanDetails): string {
	if (!span.launch)
		return "";
	const headway = span.headway ? `; headway then ${ahead(span.headway)}` : "";
	return `started ${duration(span.start - span.launch.start)} after its launch${headway}`;
}

/** Of a call: what it launched, and when that started. */
export function workText(span: SpanDetails): string {
	const first = span.work[0];
	if (!first)
		return "";
	const more = span.work_count > 1 ? ` and ${count(span.work_count - 1)} more` : "";
	return `launched ${shorten(plain(first.name))}${more}, which started ${duration(first.start - span.start)} later and took ${duration(first.dur)}`;
}

/** Of a range: where the work that was launched inside it stands on the device. */
export function projectedText(span: SpanDetails): string {
	const there = span.projected?.[0];
	return there ? `its device work begins ${duration(there.start - span.start)} after it and lasts ${duration(there.dur)}` : "";
}

const fieldOf = (span: SpanDetails, key: string): string => span.fields.find((f) => f.key === key)?.value ?? "";

const bytesText = (text: string): string => withPrefix(Number(text), "B");

function kernelLines(span: SpanDetails): string[] {
	const of = (key: string): string => fieldOf(span, key);
	const shared = Number(of("static shared memory") || 0) + Number(of("dynamic shared memory") || 0);
	const small = (text: string): string => text.replace(/( x 1)+$/, "");
	return [
		[of("grid") && `grid ${small(of("grid"))}`, of("block") && `block ${small(of("block"))}`].filter(Boolean).join(", "),
		[of("registers a thread") && `${of("registers a thread")} registers`, shared > 0 && `${bytesText(String(shared))} shared memory`].filter(Boolean).join(", "),
		of("theoretical occupancy") && `theoretical occupancy ${of("theoretical occupancy")}`,
	].filter((line): line is string => !!line);
}

function copyLines(span: SpanDetails): string[] {
	const of = (key: string): string => fieldOf(span, key);
	const kinds = [of("source-memory"), of("target-memory")].filter(Boolean).map((kind) => kind.toLowerCase()).join(" to ");
	return [
		[of("bytes") && bytesText(of("bytes")), of("throughput") && `${bytesText(of("throughput"))}/s`].filter(Boolean).join(", "),
		[of("direction"), kinds && `${kinds} memory`].filter(Boolean).join(", "),
	].filter(Boolean);
}

/** What a tooltip adds once the pointer stands still. */
export function tipLines(span: SpanDetails): string[] {
	const look = span.look ?? -1;
	const place = span.place;
	return [
		...(look === Look.kernel || look === Look.comm ? kernelLines(span) : look === Look.copy || look === Look.fill ? copyLines(span) : []),
		launchText(span), workText(span), projectedText(span),
		place?.module ? `module ${plain(place.module)}` : "",
		place?.operator ? `operator ${plain(place.operator)}` : "",
		place ? plain([placeText(place), place.function].filter(Boolean).join(" ")) : "",
	].filter(Boolean);
}
