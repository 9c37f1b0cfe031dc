#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Libraries that come and go: the program is not disturbed, whatever its threads and signal handlers do meanwhile;
# stacks lead through libraries that were loaded late; and nothing is left behind for each of them.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?folder of the test programs}" "${OS_OF:?prints the OS calls of a report}"
target=$COLLECT/loader_target
late=$COLLECT/liblate-library.so
cd "$work" || exit 1

profile() {
	timeout 100 "$HEADWAY" profile -q -t osrt -f -o "$work/run" "$@" >out 2>err </dev/null
	status=$?
}

# A library that brings others along is unloaded longest; libdw is among what the tests need.
library=$late
for name in libdw.so.1 libsqlite3.so.0; do
	"$target" handler "$name" >out 2>&1 && library=$name && break
done

profile "$target" handler "$library"
expect_status 0 "a handler that waits inside dlclose"
expect_line out "handled" "a handler that waits inside dlclose"
profile "$target" allocator "$library"
expect_status 0 "a handler that waits inside malloc while a library is unloaded"
expect_line out "allocated" "a handler that waits inside malloc while a library is unloaded"
profile "$target" loop "$library"
expect_line out "as large as before" "the memory of a program that loads and unloads"

profile "$target" stacks "$late"
expect_status 0 "stacks in a library that was loaded late"
"$OS_OF" run.hwy >calls
for place in late_library_waits late_library_waits_elsewhere; do
	got=$(awk -v place="$place" '$4 == "poll" && $11 == place && / < (wait_in|main) /' calls | wc -l)
	want=3
	[ $place = late_library_waits ] && want=6
	[ "$got" = $want ] || fail "$place: $got stacks, not $want: $(grep ' poll ' calls | head -7)"
done
finish
