# SPDX-License-Identifier: Apache-2.0
"""A small fleet for tests, and what its rows have to be by others: the official Inspector's tables and flatc's reading
of the same files, the run's own report and manifest."""
import csv
import gzip
import json
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA, RUN = SOURCE / "tests/data", SOURCE / "examples/runs/image_encoder_int8_qemu"
# What a lake's folder names have to stand: engines escape each in a way of their own.
DUMPS = {"linear_portable_fp32": "pixel9", "linear_xnnpack_fp32": "pixel9", "mixed_xnnpack_fp32": "d %2=é:*",
         "mixed_xnnpack_fp32_load": None}
CALLS = ("Method::execute", "DELEGATE_CALL", "OPERATOR_CALL")


def make(folder, etprof):
    """Run folders, dumps and what is damaged; {path: what is wrong} of the damaged."""
    for name, device in DUMPS.items():
        place = folder / "bench/day=2026-11-20" / (f"device={device}" if device else "none") / "build=abc/level=avx2"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(DATA / f"{name}.etdump", place / f"{name}.etdump")
    shutil.copytree(RUN, folder / "sessions/one")
    other = folder / "sessions/other"
    shutil.copytree(RUN, other)
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["generated_at"] = "2026-11-22T10:00:00Z"
    manifest["files"] = []
    (other / "manifest.json").write_text(json.dumps(manifest))
    return damage(folder)


def damage(folder):
    bad = folder / "bench/day=2026-11-20/device=pixel9/damaged"
    bad.mkdir(parents=True)
    whole = (DATA / "mixed_xnnpack_fp32.etdump").read_bytes()
    (bad / "cut.etdump").write_bytes(whole[:-200])
    for name in ("aaa.etdump", "empty.etdump", "empty2.etdump"): # copies of what is damaged are errors too
        (bad / name).write_bytes(b"")
    (bad / "other.etdump").write_bytes(b"no dump at all" * 50)
    (bad / "nowhere.etdump").symlink_to("not-there")
    torn = bad / "run" # rows of operators and sessions come before what is damaged
    shutil.copytree(RUN, torn)
    rows = (torn / "samples.csv").read_text().splitlines(keepends=True)
    rows[len(rows) // 2] = "linux_sme2_on,1,x,y,timed,1,1\n"
    (torn / "samples.csv").write_text("".join(rows))
    unfinished = bad / "unfinished"
    shutil.copytree(RUN, unfinished)
    manifest = json.loads((unfinished / "manifest.json").read_text())
    manifest["state"] = "running"
    (unfinished / "manifest.json").write_text(json.dumps(manifest))
    noise = bad / "nothing"
    noise.mkdir()
    (noise / "manifest.json").write_text("{")
    return {str(p) for p in bad.iterdir()}


def operators(name):
    """[(name, mean ns)] of the Inspector."""
    with (DATA / f"{name}.etdump.tsv").open(newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    return sorted((r["event_name"], round(float(r["avg (ms)"]) * 1e6)) for r in rows
                  if r["event_block_name"] == "Execute" and r["event_name"] not in CALLS)


def executions(name):
    """[(start, duration)] of flatc."""
    with gzip.open(DATA / f"{name}.etdump.json.gz", "rt", encoding="utf-8") as f:
        found = json.load(f)
    events = [e["profile_event"] for run in found["run_data"] for e in run.get("events", []) if e.get("profile_event")]
    return [(int(e["start_time"]), int(e["end_time"]) - int(e["start_time"])) for e in events
            if e.get("name") == "Method::execute"]


def comparisons(etprof, folder):
    """{candidate: its comparison} of the run's report."""
    done = subprocess.run([etprof, "analyze", folder, "--format", "json"], check=True, capture_output=True, timeout=300)
    return {c["candidate"]: c for c in json.loads(done.stdout)["comparisons"]}
