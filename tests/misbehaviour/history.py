# SPDX-License-Identifier: Apache-2.0
"""etprof history over measured folders: eight sessions, from the fifth on another program that is 10 % slower at one
level, beside folders that are no history. The fake runner's durations are planted.

usage: history.py ETPROF FAKE_RUNNER"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])


def model(sme2_ns):
    return b"\x10\0\0\0ET12base sme2 %d\nbase neon 3000000\nnoise 4\n" % sme2_ns


def measure(folder, out, seed):
    subprocess.run([ETPROF, "ab", "model.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "4",
                    "--warmup",
                    "3", "--no-trace", "--seed", str(seed), "--quiet", "--out", out, "--runner", FAKE], cwd=folder,
                   check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def history(folder, *args):
    return subprocess.run([ETPROF, "history", *args], cwd=folder, capture_output=True, text=True, timeout=600,
                          check=False)


with tempfile.TemporaryDirectory() as name:
    tmp = pathlib.Path(name)
    for number in range(8):
        (tmp / "model.pte").write_bytes(model(1000000 if number < 4 else 1100000))
        measure(tmp, f"nightly/run{number}", number + 1)
    (tmp / "nightly/empty").mkdir()
    (tmp / "nightly/torn").mkdir()
    (tmp / "nightly/torn/manifest.json").write_text("{}")
    done = history(tmp, "nightly", "--format", "json")
    expect(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    document = json.loads(done.stdout) if done.stdout else {"series": [], "runs": []}
    expect(document.get("schema") == "etprof.history/1" and len(document["runs"]) == 8, len(document["runs"]))
    changes = {s["name"]: s["changes"] for s in document["series"]}
    expect(sorted(changes) == ["model_linux_sme2_off_t1_ns", "model_linux_sme2_on_t1_ns",
                               "model_linux_sme2_on_t1_speedup"], sorted(changes))
    for series, factor in (("model_linux_sme2_on_t1_ns", 1.1), ("model_linux_sme2_on_t1_speedup", 1 / 1.1)):
        found = changes.get(series, [])
        expect([c["run"] for c in found] == [4], f"{series}: {found}")
        expect(found and abs(found[0]["after"] / found[0]["before"] / factor - 1) < 0.02, f"{series}: {found}")
        expect(found and found[0]["also_changed"] == "program", f"{series}: {found}")
    expect(changes.get("model_linux_sme2_off_t1_ns") == [], "a change where none was planted")
    table = history(tmp, "nightly", "--format", "csv")
    (tmp / "nightly.csv").write_text(table.stdout)
    again = history(tmp, "nightly.csv", "--format", "csv")
    expect(again.stdout == table.stdout and len(table.stdout.splitlines()) == 9,
           "the table does not read back the same")
    same = history(tmp, "nightly.csv", "--format", "json")
    expect(json.loads(same.stdout)["series"] == document["series"], "the table gives other changes than the folders")
    none = history(tmp, "nightly/empty")
    expect(none.returncode == 4 and "no finished session" in none.stderr, f"{none.returncode} {none.stderr}")
    # A session whose outputs differ has times, and no speedup.
    shutil.copytree(tmp / "nightly/run0", tmp / "wrong")
    outputs = sorted((tmp / "wrong").glob("*_on/outputs/*.bin"))
    expect(bool(outputs), f"no outputs kept in {sorted(str(p.relative_to(tmp)) for p in (tmp / 'wrong').rglob('*'))}")
    for path in outputs:
        path.write_bytes(bytes(b ^ 0x40 for b in path.read_bytes()))
    wrong = json.loads(history(tmp, "wrong", "--format", "json").stdout)
    expect(sorted(s["name"] for s in wrong["series"]) == ["model_linux_sme2_off_t1_ns", "model_linux_sme2_on_t1_ns"],
           wrong)
    coarse = history(tmp, "nightly", "--min-change", "20%", "--format", "json")
    expect(all(s["changes"] == [] for s in json.loads(coarse.stdout)["series"]), "--min-change 20% changes nothing")
    # Two changes: the newest comes first, in figures without exponents, on days as people write them.
    days = [f"2026-01-{day + 1:02d}T06:00:00Z,{(1000000, 1200000, 900000)[day // 6] + day % 3 * 1000}"
            for day in range(18)]
    (tmp / "days.csv").write_text("\n".join(["time,cycles", *days]) + "\n")
    shown = history(tmp, "days.csv").stdout
    first = shown.split("Changes")[0]
    expect("25.0 % less  cycles since 2026-01-13 06:00\n901000, 1201000 before" in first and "20.0 %" not in first,
           shown)
    expect(re.search(r"\d[eE][+-]?\d|T06", shown) is None, "exponents, or days for programs", shown)
finish()
