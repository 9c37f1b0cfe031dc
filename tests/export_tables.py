#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the tables of `headway stats` for two files: all 20 that nsys has too, cell by cell.

Rows may swap only where the cells they are sorted by are equal. Prints every difference in short and exits with
1 if any table differs.
"""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader("compare_nsys", os.path.join(here, "compare_nsys"))
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare_nsys", loader))
sys.dont_write_bytecode = True
loader.exec_module(compare)


def table(headway, path, report):
    run = subprocess.run([headway, "stats", "-r", report, "--format", "csv", path], capture_output=True, check=False)
    return run.returncode, compare.rows_of(run.stdout.decode("utf-8", "replace")), run.stderr.decode("utf-8", "replace")


def main():
    headway, want_path, got_path = sys.argv[1:4]
    bad = 0
    for report, keys in compare.REPORTS.items():
        want, got = table(headway, want_path, report), table(headway, got_path, report)
        differs = (f"exit status {got[0]}, not {want[0]}: {got[2].strip()}" if got[0] != want[0]
                   else compare.difference(got[1], want[1], keys))
        if differs:
            print(f"{report}: {differs}")
            bad += 1
    print(f"{len(compare.REPORTS) - bad} of {len(compare.REPORTS)} tables equal")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
