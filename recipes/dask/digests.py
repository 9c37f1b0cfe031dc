#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""digests.py - the digests of a job's reports and, with --parquet, their Parquet, made by the workers of a Dask cluster.

    digests.py --scheduler tcp://host:8786 JOB [--parquet LAKE]

The workers must see JOB and LAKE under the same paths as this process, and have headway in their PATH (or --headway PATH). Each report is one task: it
runs headway in a process of its own. What is there and later than its report is left alone, so this can be run again, and only what is missing is
made. Where a worker dies, Dask gives its tasks to another one; a report whose workers die again and again is left out and named.
In the end all digests are joined as JOB.hwd, and what is missing is named.

Exit status 0: all is there, 1: something is missing, 2: nothing could be done.
"""
import argparse
import glob
import os
import subprocess
import sys

from distributed import Client, KilledWorker, TimeoutError, wait


def run(command):
    """Runs a command; yields None, or the reason why it failed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode == 0:
        return None
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return said[-1] if said else f"{command[0]} ended with status {done.returncode}"


def answer(headway, report, lake):
    """What a worker does for one report; yields None, or the reason why something is missing."""
    try:
        failed = run([headway, "digest", "-q", report])
        if not failed and lake:
            failed = run([headway, "export", "-t", "parquet", "--missing", report, "-o", lake])
        return failed
    except OSError as error:
        return str(error)


def answers(client, reports, options):
    """Yields each report that failed, the reason, and whether its workers died.

    Only a few tasks for each thread are with the cluster at a time: when a worker dies, Dask suspects all tasks that it was given.
    """
    rest, pending = list(reversed(reports)), {}
    while rest or pending:
        threads = sum(client.nthreads().values()) or 1
        while rest and len(pending) < 2 * threads:
            report = rest.pop()
            pending[client.submit(answer, options.headway, report, options.parquet, pure=False)] = report
        try:
            done = wait(list(pending), timeout=options.patience, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            client.cancel(list(pending))
            for report in [*pending.values(), *rest]:
                yield report, f"no worker finished anything for {options.patience:g} s", False
            return
        for task in done:
            report = pending.pop(task)
            if task.status != "finished":
                killed = isinstance(task.exception(), KilledWorker) if task.status == "error" else False
                yield report, "the workers that read it died" if killed else f"its task is {task.status}", killed
            elif task.result():
                yield report, task.result(), False


def all_answers(client, reports, options):
    """Yields each report that failed, with the reason. Those whose workers died are tried again one by one: most died with another one's worker."""
    for report, why, killed in list(answers(client, reports, options)):
        for _, why, _ in answers(client, [report], options) if killed else [(report, why, killed)]:
            yield report, why


def join(job, headway):
    """Joins the digests that are there; yields whether any are missing, None where there is none at all."""
    digests = sorted(glob.glob(os.path.join(glob.escape(job), "*.hwd")))
    if not digests:
        return None
    status = subprocess.run([headway, "digest", "-f", "-o", job + ".hwd", *digests], check=False).returncode
    return status != 0


def read_options():
    parser = argparse.ArgumentParser(description="Digests, and Parquet, of a job's reports, by the workers of a Dask cluster.")
    parser.add_argument("job", help="the folder with the reports (*.hwy)")
    parser.add_argument("--scheduler", required=True, help="the address of the cluster's scheduler, tcp://host:8786")
    parser.add_argument("--parquet", metavar="LAKE", help="also add the reports to this folder of Parquet files")
    parser.add_argument("--headway", default="headway", help="the headway of the workers, and of this process")
    parser.add_argument("--patience", type=float, default=600, metavar="SECONDS", help="give up where no report is finished for so long (600)")
    options = parser.parse_args()
    options.job = os.path.abspath(options.job)
    options.parquet = os.path.abspath(options.parquet) if options.parquet else None
    return options


def main():
    options = read_options()
    reports = sorted(glob.glob(os.path.join(glob.escape(options.job), "*.hwy")))
    if not reports:
        print(f"digests: {options.job}: no reports (*.hwy) there", file=sys.stderr)
        return 2
    try:
        client = Client(options.scheduler, timeout=options.patience)
        client.wait_for_workers(1, timeout=options.patience)
    except (OSError, TimeoutError) as error:
        print(f"digests: {options.scheduler}: {error}", file=sys.stderr)
        return 2
    failed = sorted(all_answers(client, reports, options))
    client.close()
    for report, why in failed:
        print(f"digests: {report} is missing: {why}", file=sys.stderr)
    missing = join(options.job, options.headway)
    if missing is None:
        print(f"digests: {options.job}: not one digest was made", file=sys.stderr)
        return 2
    if failed or missing:
        print("digests: something is missing: run this again, and only that is made", file=sys.stderr)
        return 1
    print(f"digests: {len(reports)} reports are done  next: headway analyze {options.job}.hwd")
    return 0


if __name__ == "__main__":
    sys.exit(main())
