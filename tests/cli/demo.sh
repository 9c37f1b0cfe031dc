#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make demo: live where something can be recorded, with shipped recordings where nothing can, and never silent
# about which.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"
export LC_ALL=C.UTF-8 HEADWAY DEMO_OUT="$work/the demo"
demo=$(realpath "$(dirname "$0")/../../scripts/demo")
HEADWAY=$(realpath "$HEADWAY")

# What the demo says how to call depends on whether the shell finds a headway: once without one, once with one.
path_without_headway=
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
	[ -x "$folder/headway" ] || path_without_headway+=${path_without_headway:+:}$folder
done

# No OpenCL platform, and no library to record CUDA with.
PATH=$path_without_headway OCL_ICD_VENDORS=$work/nowhere HEADWAY_LIB=$work "$demo" >"$work/out" 2>"$work/err"
status=$?
expect_status 0 "nothing can be recorded"
grep -q 'Nothing can be recorded live here' "$work/out" || fail "it does not say so: $(head -5 "$work/out")"
for part in before.hwy after.hwy 'GPU 0' 'headway: ' 'sync-in-loop' 'faster  ' "open: file://$work/the%20demo/before.html"; do
	grep -qF "$part" "$work/out" || fail "shipped recordings: no '$part'"
done

[ -s "$DEMO_OUT/before.html" ] || fail "the page that it tells to open is not there"
grep -qF "next: export PATH=$(dirname "$HEADWAY"):\$PATH, headway view '$DEMO_OUT/before.hwy' '$DEMO_OUT/after.hwy'," "$work/out" ||
	fail "it does not say how to call what was built: $(tail -1 "$work/out")"
mkdir "$work/bin"
ln -s "$HEADWAY" "$work/bin/headway"
PATH=$work/bin:$path_without_headway OCL_ICD_VENDORS=$work/nowhere HEADWAY_LIB=$work "$demo" >"$work/out" 2>"$work/err"
status=$?
expect_status 0 "headway is a command already"
grep -q '^next: headway view' "$work/out" ||
	fail "it says how to call what can be called already: $(tail -1 "$work/out")"

# Where headway view lacks its library, the last line offers the page that was made.
cat >"$work/bin/unserved" <<END
#!/bin/sh
if [ "\$1" = doctor ]; then
	"$HEADWAY" "\$@" | sed '/^    "viewer": {/,/}/s/"can": "[a-z]*"/"can": "no"/'
else
	exec "$HEADWAY" "\$@"
fi
END
chmod +x "$work/bin/unserved"
HEADWAY=$work/bin/unserved PATH=$work/bin:$path_without_headway OCL_ICD_VENDORS=$work/nowhere HEADWAY_LIB=$work "$demo" >"$work/out" 2>"$work/err"
status=$?
expect_status 0 "without the viewer's library"
grep -q "^next: open $DEMO_OUT/before.html in a browser" "$work/out" ||
	fail "it offers a viewer that cannot start: $(tail -1 "$work/out")"

# A second version that is slower is an answer, too: the demo goes on to its page and its last line.
mkdir "$work/slower"
cp "$demo" "$work/slower"
cp "$DATA/nsys/mlp_sync.hwy" "$work/slower/mlp_async.hwy"
cp "$DATA/nsys/mlp_async.hwy" "$work/slower/mlp_sync.hwy"
PATH=$work/bin:$path_without_headway OCL_ICD_VENDORS=$work/nowhere HEADWAY_LIB=$work "$work/slower/demo" >"$work/out" 2>"$work/err"
status=$?
expect_status 0 "the second version is slower"
grep -q 'slower  ' "$work/out" && grep -q '^open: ' "$work/out" && grep -q '^next: headway view' "$work/out" ||
	fail "the second version is slower: $(tail -3 "$work/out")"

"$demo" "$DATA/nsys/power_base.sqlite.xz" >"$work/out" 2>"$work/err"
status=$?
expect_status 0 "a recording of one's own"
grep -q '^power_base.sqlite' "$work/out" || fail "a recording of one's own: $(head -3 "$work/out")"

# The command runs the same script, from the build folder too.
(cd "$work" && PATH=$path_without_headway OCL_ICD_VENDORS=$work/nowhere HEADWAY_LIB=$work "$HEADWAY" demo -o "$work/told") >"$work/out" 2>"$work/err"
status=$?
expect_status 0 "headway demo"
[ -s "$work/told/after.hwy" ] || fail "headway demo leaves no recording: $(cat "$work/out" "$work/err")"

if ! "$HEADWAY" doctor --format json | tr -d ' \n' | grep -qE '"opencl":\{"can":"(yes|partly)"' ||
	[ ! -e "$(dirname "$demo")/../examples/mlp_cl.c" ]; then
	echo "SKIP (in part): no OpenCL to record live"
	finish
fi
# Where the OpenCL program is not part of the package, as in a wheel, that is the reason, not the machine.
mkdir "$work/package"
cp "$demo" "$DATA"/nsys/mlp_{sync,async}.hwy "$work/package"
"$work/package/demo" >"$work/out" 2>"$work/err"
status=$?
expect_status 0 "a package without the OpenCL program"
grep -q 'This package has no OpenCL program of its own' "$work/out" || fail "a package without the program: $(head -3 "$work/out")"

# A wheel has the program's source, and builds it where that can be.
if printf '#include <CL/cl.h>\n' | cc -E -x c - >"$work/cl.i" 2>&1 && ! is_sanitized; then
	cp "$(dirname "$demo")"/../examples/{mlp_cl.c,example_cl.h} "$work/package"
	DEMO_OUT=$work/built "$work/package/demo" >"$work/out" 2>"$work/err"
	status=$?
	expect_status 0 "a package with the source of the OpenCL program"
	[ "$(grep -c 'ms/step' "$work/out")" = 2 ] || fail "the program is not built and recorded: $(head -5 "$work/out"; cat "$work"/built/*.log)"
	[ ! -e "$work/built/run.log" ] || fail "an empty run.log is left"
fi

"$demo" >"$work/out" 2>"$work/err"
status=$?
expect_status 0 "live"
[ "$(grep -c '^  GPU 0 ' "$work/out")" = 2 ] || fail "two pictures: $(cat "$work/out" "$DEMO_OUT/run.log")"
[ "$(grep -c 'ms/step' "$work/out")" = 2 ] || fail "two times: $(cat "$work/out")"

# A second program that is slower by more than noise is called slower. The programs change their places, so that it
# usually is; what 'diff' says decides.
cat >"$work/bin/swapped" <<END
#!/bin/bash
args=("\$@")
for i in "\${!args[@]}"; do
	case \$1-\${args[i]} in
	profile-sync) args[i]=async ;;
	profile-async) args[i]=sync ;;
	esac
done
exec "$HEADWAY" "\${args[@]}"
END
chmod +x "$work/bin/swapped"
HEADWAY=$work/bin/swapped DEMO_OUT=$work/swapped "$demo" >"$work/swapped.out" 2>"$work/err"
if "$HEADWAY" diff "$work/swapped/before.hwy" "$work/swapped/after.hwy" >/dev/null 2>&1 || [ $? != 1 ]; then
	grep -q 'is slower here, by more than noise' "$work/swapped.out" && fail "what is not slower is called slower"
else
	grep -q 'is slower here, by more than noise' "$work/swapped.out" || fail "a slower second program is not called slower"
	grep -q 'hardly differs' "$work/swapped.out" && fail "a slower second program is said to hardly differ"
fi

# Where OpenCL's device is the CPU, no sentence calls it a GPU; the recordings of an H200 above are of a GPU.
run sql --format csv "$DEMO_OUT/before.hwy" "select value from properties where name = 'opencl.device.0.type'"
type=$(tail -1 "$work/out")
for language in en zh; do
	for command in "analyze --format brief" diff; do
		files=("$DEMO_OUT/before.hwy")
		[ "$command" = diff ] && files+=("$DEMO_OUT/after.hwy")
		run $command --lang $language "${files[@]}"
		case $type in
		cpu) ! grep 'GPU' "$work/out" || fail "$command --lang $language: the CPU is called a GPU" ;;
		gpu) grep -q 'GPU' "$work/out" || fail "$command --lang $language: the GPU is called something else" ;;
		*) fail "the type of OpenCL's device is not recorded: '$type'" ;;
		esac
	done
done
run analyze --format brief "$DATA/nsys/mlp_sync.hwy"
grep -q 'GPU' "$work/out" || fail "the GPU of a recording is not called one"
finish
