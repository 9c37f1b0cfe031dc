#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_steps.py ROOT FOLDER <STEPS - runs the scripts of the action as GitHub's runner does, one after the other, in the working folder.

STEPS is what read_action.mjs prints; files that the runner provides are in FOLDER. The exit status is that of the first step that fails.
"""
import json
import os
import re
import subprocess
import sys

root, folder = sys.argv[1:3]
files = {name: f"{folder}/{name.lower()}" for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
for path in files.values():
    open(path, "w").close()
outputs = {}
for line in sys.stdin:
    step = json.loads(line)
    if step["if"] != "true":
        continue
    env = {name: re.sub(r"\$\{\{ steps\.gate\.outputs\.(\w+) \}\}", lambda match: outputs.get(match.group(1), ""), value)
           for name, value in step["env"].items()}
    script = f"{folder}/step.sh"
    with open(script, "w") as file:
        file.write(step["script"])
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
                          env={**os.environ, **files, "GITHUB_ACTION_PATH": root, **env})
    with open(files["GITHUB_OUTPUT"]) as file:
        outputs = dict(pair.rstrip("\n").split("=", 1) for pair in file)
    if done.returncode != 0:
        print(f"step {step['name']}: status {done.returncode}")
        sys.exit(done.returncode)
