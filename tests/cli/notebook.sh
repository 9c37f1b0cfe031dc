#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The notebook of examples/ runs from beginning to end in Debian's Jupyter, and shows what it says.
source "$(dirname "$0")/common.bash"
if [ -n "${HEADWAY_SANITIZED:-}" ]; then
	echo "SKIP: Python cannot load a sanitized library"
	exit 77
fi
python=/usr/bin/python3
"$python" -c 'import nbclient, ipykernel, nbformat' 2>/dev/null || {
	echo "SKIP: needs python3-nbclient and python3-ipykernel"
	exit 77
}
[ -s "$HEADWAY_BUILD/web/page.html" ] || {
	echo "SKIP: the page of headway view is not built"
	exit 77
}
top=$(cd .. && pwd)
export HEADWAY_HOME=$HEADWAY_BUILD PYTHONPATH=$top/python PYTHONDONTWRITEBYTECODE=1
# Nothing of the person who runs the test: neither settings nor kernels.
export HOME=$work/home JUPYTER_CONFIG_DIR=$work/config IPYTHONDIR=$work/ipython JUPYTER_RUNTIME_DIR=$work/runtime
mkdir -p "$HOME" "$JUPYTER_CONFIG_DIR" "$IPYTHONDIR" "$JUPYTER_RUNTIME_DIR"
cd "$top/examples" || exit 1
timeout 240 "$python" "$top/tests/cli/notebook_run.py" notebook.ipynb "$work/done.ipynb" >"$work/out" 2>"$work/err" ||
	fail "$(tail -n 25 "$work/err")"
if grep -q '"outputs": \[[^]]' notebook.ipynb; then
	fail "examples/notebook.ipynb is kept without outputs"
fi
cat "$work/out"
exit $bad
