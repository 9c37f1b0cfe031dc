#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package over libheadway: its examples, its columns as NumPy and a reader of Arrow in C see them, and the
# program and libraries found in each of the places that the package looks in.
set -euo pipefail

if [ -n "${HEADWAY_SANITIZED:-}" ]; then
	echo "SKIP: Python cannot load a sanitized library"
	exit 77
fi
python=/usr/bin/python3
[ -x "$python" ] || python=python3
for tool in "$python" "${CC:=cc}" cmake; do
	command -v "$tool" >/dev/null || {
		echo "SKIP: needs $tool"
		exit 77
	}
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
here=$(pwd)
package=$(cd .. && pwd)/python

"$CC" -std=c11 -Wall -Wextra -Werror -shared -fPIC -o "$work/consumer.so" cli/arrow_consumer.c
export HEADWAY_HOME=$HEADWAY_BUILD PYTHONPATH=$package
"$python" cli/python_check.py "$DATA/gpu/mlp_sync.hwy" "$work/consumer.so" >"$work/said" || {
	cat "$work/said"
	exit 1
}
grep -q '^duration l 1228 0 184720359$' "$work/said" || {
	echo "the reader in C did not see the durations of 1228 kernels:"
	cat "$work/said"
	exit 1
}

# found WHAT: the program that the package finds must be this one.
found() {
	local says
	says=$(cd "$work" && "$python" -c 'from headway import _places; print(_places.find().program)')
	[ "$says" = "$1" ] || {
		echo "expected $1, the package found $says"
		exit 1
	}
}
found "$HEADWAY_BUILD/headway"
[ "$("$python" -m headway --version)" = "$("$HEADWAY_BUILD/headway" --version)" ] || {
	echo "python -m headway is not the command"
	exit 1
}
unset HEADWAY_HOME

# An installation prefix: the package beside it finds the program without being told.
cmake --install "$HEADWAY_BUILD" --prefix "$work/usr" >"$work/log"
site=$work/usr/lib/python3/dist-packages
mkdir -p "$site"
cp -r "$package/headway" "$site"
PYTHONPATH=$site found "$work/usr/bin/headway"

# A wheel has everything in the package.
mkdir -p "$work/site"
cp -r "$package/headway" "$work/site"
mkdir "$work/site/headway/_bin" "$work/site/headway/_lib"
cp "$HEADWAY" "$work/site/headway/_bin"
cp "$HEADWAY_BUILD"/libheadway*.so "$work/site/headway/_lib"
PYTHONPATH=$work/site found "$work/site/headway/_bin/headway"
cd "$work"
PYTHONPATH=$work/site "$python" - "$DATA/gpu/mlp_sync.hwy" <<'PYTHON'
import sys
import headway
recording = headway.open(sys.argv[1])
assert len(recording) == sum(recording.kinds.values())
assert recording.findings[0].id == "sync-in-loop"
with headway.record("own.hwy", quiet=True) as run:
    with headway.range("a part"):
        pass
assert [span.name for span in run.recording.spans("range")] == ["a part"]
PYTHON
cd "$here"

# Types are part of the package.
[ -e "$package/headway/py.typed" ]
if command -v mypy >/dev/null; then
	mypy --strict --no-error-summary "$package/headway"
fi
