# SPDX-License-Identifier: Apache-2.0
"""Labels that say what did not run: what ran stands in every file beside them, also in copies that lie elsewhere.

usage: labels.py ETPROF FAKE_RUNNER DATA"""
import csv
import io
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
from checks import ended, execute, expect, finish, new_folder
from run_folders import cut_short

ETPROF, FAKE, DATA = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
HEAD = "experiment,block,launch,iteration,phase,start_ns,duration_ns"


def call(tmp, *args):
    done = ended(execute(ETPROF, *args, cwd=tmp), 0)
    return done.stdout


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def samples(tmp):
    call(tmp, "ab", fake_sessions.model(tmp / "model.pte"), *fake_sessions.words(iterations=3, warmup=1), "--no-trace",
         "--runner", FAKE)
    table = (tmp / "run" / "samples.csv").read_text()
    ran = {(r["experiment"], r["level"]) for r in rows(table)}
    expect(ran == {("linux_sme2_on", "sme2"), ("linux_sme2_off", "neon")}, "samples.csv", table[:300])
    # The same figures under labels that were exchanged, in a file that lies elsewhere.
    table = table.replace("sme2_on", "x").replace("sme2_off", "sme2_on").replace("_x", "_sme2_off")
    (tmp / "copy.csv").write_text(table)
    arms = {a["name"]: a.get("level") for a in json.loads(call(tmp, "stats", "copy.csv", "-f", "json"))["arms"]}
    expect(arms == {"linux_sme2_on": "neon", "linux_sme2_off": "sme2"}, "stats: json", arms)
    (row,) = rows(call(tmp, "stats", "copy.csv", "-f", "csv"))
    expect((row["baseline_level"], row["candidate_level"]) == ("sme2", "neon"), "stats: csv", row)
    for form in ("text", "md"):
        text = " ".join(call(tmp, "stats", "copy.csv", "-f", form).split())
        expect("linux_sme2_on (neon)" in text, "stats", form, text)


def mixed(tmp):
    """A table that says several levels of one experiment tells them, one that says none tells none."""
    for levels, said in ((["neon", "sme2"], "sme2 + neon"), (["", "sme2"], "sme2 + unknown"),
                         (["avx2", "sse", "vnni"], "sse + vnni + avx2"),
                         (["unknown"], None), ([""], None), (["a, b"], "a, b")):
        lines = [f'e{x},{b},{b},{i},timed,{i},{100 + i + x},"{levels[(b + i) % len(levels)]}"'
                 for b in range(1, 7) for x in (0, 1) for i in range(2)]
        (tmp / "mixed.csv").write_text("\n".join([HEAD + ",level", *lines]) + "\n")
        arms = json.loads(call(tmp, "stats", "mixed.csv", "-f", "json"))["arms"]
        expect({a["level"] for a in arms} == {said}, levels, arms)


def of_before(tmp):
    """A session that was begun by an older etprof goes on in its columns."""
    run = tmp / "run"
    table = (run / "samples.csv").read_text()
    (run / "samples.csv").write_text("".join(line.rsplit(",", 1)[0] + "\n" for line in table.splitlines()))
    cut_short(run, 3)
    call(tmp, "ab", "--resume", "run", "--runner", FAKE, "--quiet")
    table = (run / "samples.csv").read_text().splitlines()
    expect(table[0] == HEAD and {line.count(",") for line in table} == {6}, "columns", table[0], table[-1])
    answer = json.loads(call(tmp, "stats", "run", "-f", "json"))
    expect(answer["blocks"] == 6 and [a["level"] for a in answer["arms"]] == ["sme2", "neon"], "answer", answer["arms"])
    call(tmp, "validate", "run")


def timelines(tmp):
    on, off = (pathlib.Path(DATA) / f"kit_{side}_exec_all_runs_timeline.csv" for side in ("on", "off"))
    for path, name, level in ((off, "SME2-Off_timeline.csv", "sse"), (on, "SME2-On_timeline.csv", "avx2")):
        lines = path.read_text().splitlines()
        (tmp / name).write_text("\n".join([lines[0] + ",level", *(f"{x},{level}" for x in lines[1:])]) + "\n")
    pair = ["SME2-Off_timeline.csv", "SME2-On_timeline.csv"]
    first = rows(call(tmp, "compare", *pair, "-f", "csv"))[0]
    expect((first.get("SME2-Off_level"), first.get("SME2-On_level")) == ("sse", "avx2"), "compare: csv", first)
    levels = [r.get("level") for r in rows(call(tmp, "stats", *pair, "--out", "kept", "-f", "csv"))]
    expect(levels == ["sse", "avx2"], "stats of timelines", levels)
    kept = {p.name: json.loads(p.read_text()) for p in (tmp / "kept").glob("*.json")}
    both = kept.pop("SME2-Off_timeline_vs_SME2-On_timeline_robust_comparison.json")
    expect((both["config1"].get("level"), both["config2"].get("level")) == ("sse", "avx2"), "comparison", both)
    expect({n[:8].rstrip("_"): k.get("level") for n, k in kept.items()} == {"SME2-Off": "sse", "SME2-On": "avx2"}, kept)


tmp = new_folder()
samples(tmp)
mixed(tmp)
of_before(tmp)
timelines(tmp)
finish()
