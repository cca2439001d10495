# SPDX-License-Identifier: Apache-2.0
"""Defects of Arm's kit that a real session here must not show; names as in docs/from-the-kit.md.
usage: test_defects.py ETPROF; 77 = skipped, no runner is built."""
import csv
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
CONFIG = {
    "model": str(ROOT / "examples/models/toy_cnn_xnnpack_fp16.pte"), "output_root": "out", "blocks": 1,
    "experiments": [{"name": "sme2_on", "threads": [1, 2]}, {"name": "sme2_off", "threads": [1, 2]},
                    {"name": "sme2_on", "mode": "xnntrace", "threads": [1, 2]}],
}


def rows(path):
    with path.open(newline="") as f:
        return list(csv.DictReader(f))


def d4_threads_are_kept_apart(out):
    arms = {a["name"]: a["threads"] for a in json.loads((out / "report.json").read_text())["arms"]}
    expect(arms == {"sme2_on_t1": 1, "sme2_on_t2": 2, "sme2_off_t1": 1, "sme2_off_t2": 2}, f"D4: {arms}")


def d17_the_whole_is_one_inference(out):
    paths = list(out.glob("*/*_exec_all_runs_timeline.csv"))
    expect(len(paths) == 4, f"D17: {len(paths)} timelines")
    for path in paths:
        shares = {float(r["pct_total"]) for r in rows(path) if r["name"] == "Method::execute"}
        expect(shares == {100.0}, f"D17: Method::execute is {shares} of {path.name}")


def d32_a_trace_of_the_same_name_is_evidence(out):
    phases = {(r["experiment"], r["phase"]) for r in rows(out / "samples.csv")}
    expect(("sme2_on_t1", "sampled") in phases and ("sme2_on_t1", "timed") in phases, f"D32: {phases}")


def d35_json_is_json(out):
    def refuse(word):
        raise ValueError(word)

    paths = list(out.rglob("*.json"))
    expect(len(paths) > 8, f"D35: {len(paths)} JSON files")
    for path in paths:
        try:
            json.loads(path.read_text(), parse_constant=refuse)
        except ValueError as e:
            expect(False, f"D35: {path.name}: {e}")


def d28_only_leaves_the_earlier_run_alone(cwd, out, run):
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    done = run("config.json", "--only", "sme2_off")  # without the trace: nothing is sampled for seconds once more
    expect(done.returncode == 0 and (cwd / "out.2/manifest.json").is_file(), f"D28: {done.stderr}")
    expect(before == {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}, "D28: files changed")


def main(cwd):
    def run(*words):
        return execute(ETPROF, "run", *words, cwd=cwd)

    (cwd / "config.json").write_text(json.dumps(CONFIG))
    done = run("config.json", "--plain")  # with the timelines that D17 is about
    if "no runner for" in done.stderr:
        print("skipped:", done.stderr.strip())
        return 77
    if done.returncode != 0:
        print(done.stderr)
        return 1
    out = cwd / "out"
    d4_threads_are_kept_apart(out)
    d17_the_whole_is_one_inference(out)
    d32_a_trace_of_the_same_name_is_evidence(out)
    d35_json_is_json(out)
    d28_only_leaves_the_earlier_run_alone(cwd, out, run)
    return 0


tmp = new_folder()
code = main(tmp)
finish(code=code)
