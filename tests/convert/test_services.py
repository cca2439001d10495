# SPDX-License-Identifier: Apache-2.0
"""The lines of docs/gate.md, run as they stand there: PyTorch's benchmark database (types of its table, written
down from pytorch/test-infra, clickhouse_db_schema/oss_ci_benchmark_v3), github-action-benchmark (what its
src/extract.ts takes), OpenMetrics (prometheus_client's parser where it is there), Otava's tables. Values are held
against the planted durations of the fake runner.

usage: test_services.py ETPROF FAKE_RUNNER"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, in_python_with, new_folder, skip

if not shutil.which("jq"):
    skip("THERE IS NO jq HERE: NO LINE OF docs/gate.md WAS RUN")
in_python_with("prometheus_client")
try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

ETPROF, FAKE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
TREE = pathlib.Path(__file__).resolve().parents[2]
PLANTED = {"linux_sme2_on": 1000000, "linux_sme2_off": 3000000}
PART = (TREE / "docs/gate.md").read_text().split("\n## Services of others\n")[1]
LINES = re.findall(r"^```\n(.+?)\n```$", PART, re.M | re.S)
# A tuple's members; a list is an array of one kind, (str, kind) a map.
TEXTS = (str, str)
TABLE = {
    "benchmark": {"name": str, "mode": str, "dtype": str, "extra_info": TEXTS},
    "model": {"name": str, "type": str, "backend": str, "origins": [str], "extra_info": TEXTS},
    "runners": [{"name": str, "type": str, "cpu_info": str, "cpu_count": int, "mem_info": str, "extra_info": TEXTS}],
    "inputs": (str, {"dtype": str, "extra_info": TEXTS}),
    "dependencies": (str, {"repo": str, "branch": str, "sha": str, "version": str, "extra_info": TEXTS}),
    "metric": {"name": str, "benchmark_values": [float], "target_value": float, "extra_info": TEXTS},
}


def fits(value, kind, where):
    if kind is float:
        expect(isinstance(value, (int, float)) and abs(value) < 3.4e38, where, "no Float32", value)
    elif isinstance(kind, type):
        expect(type(value) is kind, where, kind, value)
    elif isinstance(kind, list):
        for i, item in enumerate(value):
            fits(item, kind[0], f"{where}[{i}]")
    elif isinstance(kind, tuple):
        for key, item in value.items():
            fits(item, kind[1], f"{where}.{key}")
    else:
        expect(set(value) <= set(kind), where, "keys that the table has not", set(value) - set(kind))
        for key, item in value.items():
            fits(item, kind.get(key, str), f"{where}.{key}")


def run(line, folder):
    """What LINE prints in FOLDER; of the folder's series the candidate's time."""
    line = line.replace("FOLDER...", ".").replace("NAME", "model_linux_sme2_on_t1_ns")
    done = execute("bash", "-e", "-o", "pipefail", "-c", line, cwd=folder,
                   env={**os.environ, "PATH": f"{ETPROF.parent}:{os.environ['PATH']}"})
    expect(done.returncode == 0, line[:40], done.stderr)
    return done.stdout


def near(value, planted):
    return abs(value / planted - 1) < 0.01


def github(latency, speedup, given):
    for entry in latency + speedup:
        expect(set(entry) == {"name", "unit", "value", "range"} and type(entry["value"]) in (int, float), entry)
        expect(all(isinstance(entry[k], str) for k in ("name", "unit", "range")), entry)
        low, high = json.loads(entry["range"])
        expect(low <= entry["value"] <= high, entry)
    expect({e["name"].split("/")[0] for e in latency} == set(PLANTED), latency)
    expect(all(near(e["value"], PLANTED[e["name"].split("/")[0]]) for e in latency), latency)
    expect(len(speedup) == given and all(near(e["value"], 3) for e in speedup), speedup)


def openmetrics(text, given):
    if not text_string_to_metric_families:
        print("skipped: reading with prometheus_client (none here)")
        return
    read = {(s.name, s.labels["arm"]): s.value for f in text_string_to_metric_families(text) for s in f.samples}
    for arm, planted in PLANTED.items():
        expect(near(read["etprof_latency_seconds", arm], planted / 1e9), arm, read)
        expect(read["etprof_peak_memory_bytes", arm] > 0 and read["etprof_load_seconds", arm] > 0, arm, read)
    expect(len(read) == 6 + given and near(read.get(("etprof_speedup_ratio", "linux_sme2_on"), 3), 3), read)


def hud(records, given):
    for i, record in enumerate(records):
        fits(record, TABLE, f"record {i}")
        expect({"benchmark", "model", "metric", "runners"} <= set(record), i, sorted(record))
    by = {(r["model"]["extra_info"]["arm"], r["metric"]["name"]): r["metric"]["benchmark_values"][0] for r in records}
    expect(len(by) == len(records) == 6 + given, "three metrics of two arms and a speedup", sorted(by))
    for arm, planted in PLANTED.items():
        expect(near(by[arm, "avg_inference_latency(ms)"], planted / 1e6), arm, by)
    expect(near(by.get(("linux_sme2_on", "speedup"), 3), 3) and ("linux_sme2_off", "speedup") not in by, by)


expect(len(LINES) == 5, "lines of the page", len(LINES))
TMP = new_folder()
for out, line in (("run", ""), ("differs", "on neon * * other_output\n")):
    (TMP / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\nnoise 4\n" +
                                    line.encode())
    subprocess.run([ETPROF, "ab", TMP / "model.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "4",
                    "--warmup", "1", "--seed", "1", "--quiet", "--runner", FAKE, "--out", TMP / out],
                   check=out == "run", stdout=subprocess.DEVNULL, timeout=600)
    GIVEN = 1 if out == "run" else 0  # the other's speedup is withheld, its latencies are not
    github(*(json.loads(run(line, TMP / out)) for line in LINES[:2]), GIVEN)
    openmetrics(run(LINES[2], TMP / out), GIVEN)
    hud(json.loads(run(LINES[3], TMP / out)), GIVEN)
    ROWS = list(csv.reader(run(LINES[4], TMP / out).splitlines()))
    expect(ROWS[0] == ["time", "model_linux_sme2_on_t1_ns"] and near(float(ROWS[1][1]), 1e6), ROWS)
# From an emulator: report.json says so, and the lines write nothing.
REPORT = TMP / "run/report.json"
answer = json.loads(REPORT.read_text())
answer["device"]["emulated"] = True
REPORT.write_text(json.dumps(answer))
expect([run(line, TMP / "run") for line in LINES[:4]] == [""] * 4, "lines of an emulated session")
finish()
