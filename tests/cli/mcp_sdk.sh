#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The SDK of the Model Context Protocol as a client of `headway mcp`: by calls of tools alone it finds the cause and the line of three
# recordings. What is said is compared with the transcripts in tests/mcp/; UPDATE=1 writes them anew.
source "$(dirname "$0")/common.bash"
root=$(cd "$(dirname "$0")/../.." && pwd)
modules=$root/build/mcp-sdk
command -v node >/dev/null || { echo "SKIP: no node"; exit 77; }
[ -d "$modules/node_modules/@modelcontextprotocol/sdk" ] || { echo "SKIP: no SDK in build/mcp-sdk (scripts/setup test)"; exit 77; }

# What an expert says: the recording, the finding, the place, and what the line must hold.
while read -r recording finding place code; do
	{
		echo "# What a client finds in $recording.hwy"
		echo
		echo "Calls of tools by tests/mcp/find_cause.mjs, and what it takes from each answer."
		node "$root/tests/mcp/find_cause.mjs" "$modules" "$HEADWAY" "$root" "$recording" 2>"$work/err" || fail "$recording: $(head -c 800 "$work/err")"
	} >"$work/$recording.md"
	grep -qF "The cause: $finding at $place: " "$work/$recording.md" || fail "$recording: $(tail -1 "$work/$recording.md"), not $finding at $place"
	grep "^The cause: " "$work/$recording.md" | grep -qF "$code" || fail "$recording: the line does not hold $code"
	if [ -n "${UPDATE:-}" ]; then
		cp "$work/$recording.md" "$root/tests/mcp/$recording.md"
	fi
	diff -u "$root/tests/mcp/$recording.md" "$work/$recording.md" || fail "$recording: not what the transcript says (UPDATE=1 writes it anew)"
done <<'TRUTH'
inmodel_if sync-in-model examples/inmodel.py:36 if peak > LIMIT:
starve_0 input-starved examples/starve.py:30 time.sleep(
roundtrip_cpu copy-roundtrip examples/roundtrip.py:30 x.cpu()
TRUTH
exit $bad
