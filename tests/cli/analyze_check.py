# SPDX-License-Identifier: Apache-2.0
"""Checks what `headway analyze --format json` printed: what holds always, and the conditions of analyze_table.txt.

    analyze_check.py OUT.json [CONDITION …]
"""
import json
import re
import sys

said = json.load(open(sys.argv[1]))
bad = []


def expect(holds, text):
    if not holds:
        bad.append(text)


def always():
    keys = ["summary", "trust", "phases", "gpu", "findings", "acquitted"]
    expect(list(said) in (keys, [*keys, "job"]), f"keys {list(said)}")
    for gpu in said["gpu"]:
        expect(sum(gpu["causes"].values()) == gpu["idle_ns"], "causes do not add up to idle")
        expect(sum(gpu["states"].values()) == gpu["window_ns"], "states do not add up to the window")
        expect(gpu["busy_ns"] + gpu["idle_ns"] == gpu["window_ns"], "busy and idle do not add up to the window")
    for number, phase in enumerate(said["phases"]):
        costs = sum(f["cost_ns_per_step"] for f in said["findings"] if f["phase"] == number)
        expect(costs <= phase["step_ns"], f"costs of phase {number} exceed its step: {costs}")
    for finding in said["findings"] + said["acquitted"]:
        expect(finding["says"] and finding["confidence"] in ("low", "medium", "high"), f"{finding['id']} says nothing")
        expect(sum(p["cost_ns_per_step"] for p in finding["places"]) <= finding["cost_ns_per_step"] + len(finding["places"]),
               f"places of {finding['id']} cost more than it does")
    for finding in said["findings"]:
        expect(finding["advice"], f"{finding['id']} has no advice")
        expect(finding["side"] == "device" or finding["share"] >= 0.02, f"{finding['id']} is not worth it")
    for finding in said["acquitted"]:
        expect(finding["share"] < 0.02, f"{finding['id']} is acquitted of {finding['share']}")


main = said["summary"]["phase"]
found = [f for f in said["findings"] if f["phase"] == main]
everything = found + [f for f in said["acquitted"] if f["phase"] == main]
ids = [f["id"] for f in found]


def finding(name):
    return next((f for f in found if f["id"] == name), None)


def near(value, wanted, percent):
    return abs(value - wanted) <= wanted * percent / 100


def check(condition):
    if condition == "none":
        return not said["findings"]
    if condition == "apart":
        return said["phases"][main]["first_told_apart"]
    if match := re.fullmatch(r"step=([\d.]+)(?:~([\d.]+))?", condition):
        return near(said["phases"][main]["step_ns"] / 1e6, float(match[1]), float(match[2] or 1))
    if match := re.fullmatch(r"first=(.*)", condition):
        return ids[:1] and ids[0] in match[1].split("|")
    if match := re.fullmatch(r"(has|not)=(.*)", condition):
        return (match[2] in ids) == (match[1] == "has")
    if match := re.fullmatch(r"share:(.*)([<>])=([\d.]+)", condition):
        share = 100 * (finding(match[1]) or {"share": -1})["share"]
        return share >= float(match[3]) if match[2] == ">" else 0 <= share <= float(match[3])
    if match := re.fullmatch(r"cost:(.*)=([\d.]+)~([\d.]+)", condition):
        return finding(match[1]) and near(finding(match[1])["cost_ns_per_step"] / 1e6, float(match[2]), float(match[3]))
    if match := re.fullmatch(r"cpu<([\d.]+)", condition):
        return all(f["side"] == "device" or 100 * f["share"] < float(match[1]) for f in found)
    if match := re.fullmatch(r"idle:(.*)>=([\d.]+)", condition):
        idle = sum(g["idle_ns"] for g in said["gpu"])
        return 100 * sum(g["causes"][match[1]] for g in said["gpu"]) >= float(match[2]) * idle
    if match := re.fullmatch(r"acquitted=(.*)", condition):
        return any(f["id"] == match[1] for f in said["acquitted"] if f["phase"] == main)
    if match := re.fullmatch(r"(api|range|function):(.*)=(.*)", condition):
        about = [f for f in everything if f["id"] == match[2]]
        return not about and match[2] == "staircase" or any(match[3] in p[match[1]] for f in about for p in f["places"])
    if match := re.fullmatch(r"rank:(.*)=(\d+)", condition):
        return finding(match[1]) and finding(match[1])["rank"] == int(match[2])
    sys.exit(f"unknown condition {condition}")


always()
for condition in sys.argv[2:]:
    expect(check(condition), condition)
if bad:
    step = said["phases"][main]["step_ns"] / 1e6 if main is not None else None
    print("; ".join(bad), "| step", step, "| findings",
          [(f["id"], round(f["share"], 3)) for f in found], "| acquitted", [f["id"] for f in said["acquitted"]])
    sys.exit(1)
