/* SPDX-License-Identifier: Apache-2.0 */
/* readout.ts - what a span's answer says in a line or two: when it started after its launch, how it was launched, what it moved. Pure text. */
import { Look, type Lead, type SpanDetails } from "../data/protocol";
import { endName, spanName } from "../data/span_names";
import { tr } from "../lang";
import { count, duration, exact, withPrefix } from "../timeline/units";
import { plain, shorten } from "../timeline/text";

export const placeText = (f: { file: string; line: number | null }): string => (f.file ? `${f.file}${f.line ? `:${f.line}` : ""}` : "");

const ahead = ({ count: n, work }: Lead): string => (n ? tr(n === 1 ? "{n} operation, {time}" : "{n} operations, {time}", { n: count(n), time: duration(work) }) : tr("none"));

/** Of device work: how long after its launch it started, and what was ahead of it. */
export function launchText(span: SpanDetails): string {
	if (!span.launch)
		return "";
	const time = duration(span.start - span.launch.start);
	return span.headway ? tr("started {time} after its launch; headway then {ahead}", { time, ahead: ahead(span.headway) }) : tr("started {time} after its launch", { time });
}

/** Of a call: what it launched, and when that started. */
export function workText(span: SpanDetails): string {
	const first = span.work[0];
	if (!first)
		return "";
	const name = shorten(plain(spanName(first.name, first.look)));
	const work = span.work_count > 1 ? tr("{name} and {n} more", { name, n: count(span.work_count - 1) }) : name;
	return tr("launched {work}, which started {later} later and took {time}", { work, later: duration(first.start - span.start), time: duration(first.dur) });
}

/** Of a range: where the work that was launched inside it stands on the device. */
export function projectedText(span: SpanDetails): string {
	const there = span.projected?.[0];
	return there ? tr("its device work begins {later} after it and lasts {time}", { later: duration(there.start - span.start), time: duration(there.dur) }) : "";
}

/** Where a copy comes from and goes to, and in which memory. */
const ENDS = new Set(["direction", "source-memory", "target-memory", "memory"]);

const fieldOf = (span: SpanDetails, key: string): string => span.fields.find((f) => f.key === key)?.value ?? "";

const bytesText = (text: string): string => withPrefix(Number(text), "B");

/** A field's value with its unit, as people read it, and all its digits. Moments count from the first event, as on the ruler. */
export function fieldText({ key, value, unit }: SpanDetails["fields"][number], begin: number): { text: string; whole: string } {
	const n = Number(value);
	if (!value || Number.isNaN(n))
		return { text: ENDS.has(key) ? endName(value) : value, whole: "" };
	if (unit === "ns")
		return { text: exact(n - begin), whole: "" };
	if (unit?.startsWith("bytes"))
		return { text: withPrefix(n, unit.replace("bytes", "B")), whole: unit === "bytes" ? tr("{n} bytes", { n: count(n) }) : `${count(n)} B/s` };
	// What a 64-bit number has behind its sixth digit is mostly how it was stored.
	return /\.\d{6,}/.test(value) ? { text: String(Number(n.toPrecision(6))), whole: value } : { text: unit ? `${value} ${unit}` : value, whole: "" };
}

function kernelLines(span: SpanDetails): string[] {
	const of = (key: string): string => fieldOf(span, key);
	const shared = Number(of("static shared memory") || 0) + Number(of("dynamic shared memory") || 0);
	const small = (text: string): string => text.replace(/( x 1)+$/, "");
	return [
		[of("grid") && tr("grid {size}", { size: small(of("grid")) }), of("block") && tr("block {size}", { size: small(of("block")) })].filter(Boolean).join(tr(", ")),
		[of("registers a thread") && tr("{n} registers", { n: of("registers a thread") }), shared > 0 && tr("{bytes} shared memory", { bytes: bytesText(String(shared)) })].filter(Boolean).join(tr(", ")),
		of("theoretical occupancy") && `${tr("theoretical occupancy")} ${of("theoretical occupancy")}`,
	].filter((line): line is string => !!line);
}

function copyLines(span: SpanDetails): string[] {
	const of = (key: string): string => fieldOf(span, key);
	const kinds = [of("source-memory"), of("target-memory")].filter(Boolean).map((kind) => endName(kind).toLowerCase());
	return [
		[of("bytes") && bytesText(of("bytes")), of("throughput") && `${bytesText(of("throughput"))}/s`].filter(Boolean).join(tr(", ")),
		[endName(of("direction")), kinds.length > 1 ? tr("{from} to {to} memory", { from: kinds[0]!, to: kinds[1]! }) : kinds.length && tr("{kinds} memory", { kinds: kinds[0]! })].filter(Boolean).join(tr(", ")),
	].filter(Boolean);
}

/** What a tooltip adds once the pointer stands still. */
export function tipLines(span: SpanDetails): string[] {
	const look = span.look ?? -1;
	const place = span.place;
	return [
		...(look === Look.kernel || look === Look.comm ? kernelLines(span) : look === Look.copy || look === Look.fill ? copyLines(span) : []),
		launchText(span), workText(span), projectedText(span),
		place?.module ? `${tr("module")} ${plain(place.module)}` : "",
		place?.operator ? `${tr("operator")} ${plain(place.operator)}` : "",
		place ? plain([placeText(place), place.function].filter(Boolean).join(" ")) : "",
	].filter(Boolean);
}
