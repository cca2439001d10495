# SPDX-License-Identifier: Apache-2.0
"""etprof history of a lake says what it says of the run folders that the lake was made of, in both engines.

usage: test_lake.py ETPROF SOURCE_DIR duckdb|spark"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools"), str(HERE.parent / "fleet")]
import engines
import phase_folders
from checks import expect, finish, new_folder

ENGINE = sys.argv[3]
engines.need(ENGINE)
from asked import document, history


def main(tmp):
    times = {"prefill 16": (1000000, 3000000), "decode @0": (500000, 1000000), "decode @32": (800000, 1000000)}
    for n in range(9):
        def time_ns(phase, level, _threads, _model, n=n):
            slow = 1.25 if n >= 5 and phase == "decode @0" and level == "avx2" else 1
            return int(times[phase][level == "sse"] * slow) + n % 3 * 50
        phase_folders.make(tmp / f"nights/{n}", time_ns, dumps=False, at=f"2026-11-{n + 10}T09:00:00Z")
    (tmp / "nights/torn").mkdir()
    (tmp / "nights/torn/manifest.json").write_text('{"schema": "etprof.run/1"')
    package = {**os.environ, "PYTHONPATH": str(pathlib.Path(sys.argv[2]) / "python")}
    subprocess.run([sys.executable, "-m", "etprof.fleet", tmp / "nights", "--out", tmp / "lake"], check=True, cwd=tmp,
                   stdout=subprocess.DEVNULL, env=package)
    words = ("--engine", ENGINE)
    folders, lake = document(tmp, "nights"), document(tmp, "lake", *words)
    expect(len(folders["runs"]) == 9, len(folders["runs"]))
    expect([r["time"] for r in lake["runs"]] == [r["time"] for r in folders["runs"]], [r["time"] for r in lake["runs"]])
    for one, other in zip(folders["runs"], lake["runs"]):
        expect(one["attributes"] == other["attributes"], one["attributes"], other["attributes"])
    expect(lake["series"] == folders["series"], [s for s in lake["series"] if s not in folders["series"]][:1])
    changed = {s["name"]: [c["run"] for c in s["changes"]] for s in lake["series"] if s["changes"]}
    expect(changed == {f"m0_linux_avx2_decode0_t1_{what}": [5] for what in
                        ("ns", "over_linux_sse_decode0_speedup", "tokens_per_s")}, changed)
    expect(len(lake["errors"]) == len(folders["errors"]) == 1, lake["errors"], folders["errors"])
    listed = document(tmp, "list", "lake", *words, "--since", "2026-11-15")["sessions"]
    expect([s["generated_at"][:10] for s in listed] == [f"2026-11-{n}" for n in range(18, 14, -1)], listed)
    expect(listed == [{**s, "device": listed[0]["device"], "cpu": listed[0]["cpu"], "folder": f"{tmp}/{s['folder']}"}
                      for s in document(tmp, "list", "nights", "--since", "2026-11-15")["sessions"]], listed[:1])
    evil = "' OR 1=1 --"
    expect(history(tmp, "lake", *words, "--of", evil).returncode == 4, "--of", evil)
    expect(history(tmp, "lake", "nights", *words).returncode == 2, "a lake is read alone")
    expect(history(tmp, "nights", "--engine", "spark").returncode == 2, "Spark asks lakes")


made = new_folder()
main(made)
finish("a lake is asked as folders are")
