#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whoever is killed, the program, headway or both: what was recorded before is in the report. `make kills` kills more.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}"
command -v python3 >/dev/null || { echo "SKIP: python3 is not installed"; exit 77; }

"$(dirname "$0")/../kills" "${KILLS:-15}" "${KILLS_SEED:-1}" || fail "tests/kills: exit status $?"
finish
