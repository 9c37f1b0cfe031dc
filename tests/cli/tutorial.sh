#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the tutorial shows, in each language, is what headway prints: the blocks marked for it are run, here, without a GPU.
#
# Blocks of recordings made on a GPU are checked too where there is such a recording in tests/data/gpu, or in the folder
# that RECORDINGS names. With UPDATE=1 the lines shown are replaced by those printed now.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
top=$(realpath "$(dirname "$0")/../..")
for language in en zh; do
	mkdir "$work/$language"
	python3 "$(dirname "$0")/tutorial_check.py" "$top" "$HEADWAY" "$work/$language" "${RECORDINGS:-$DATA/gpu}" "$language" ${UPDATE:+--update} || bad=1
done
finish
