#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway mcp: messages, tools, what may be read, and what names out of a recording cannot do; without a client's library.
source "$(dirname "$0")/common.bash"
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

run mcp --root "$work/nothing"
expect_refusal "a root that is not there" "$work/nothing: No such file or directory"
run mcp --source "$0"
expect_refusal "a source that is no folder" "not a folder"
run mcp --help
expect_status 0 "help"

cd "$work" || exit 2
python3 "$here/mcp_check.py" "$HEADWAY" "$DATA" "$here/../.." || bad=1
exit $bad
