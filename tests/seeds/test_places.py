# SPDX-License-Identifier: Apache-2.0
"""Where a config of Arm's kit is measured, and which run its fixed paths mean afterwards. The kit's configs have no
device: what names a phone or a Mac is measured there or not at all, and leaves no folder behind when it is not.
usage: test_places.py ETPROF FAKE_RUNNER (whose durations are exact)"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish, new_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
HOST, OTHER = ("mac", "linux") if sys.platform == "darwin" else ("linux", "mac")


def run(cwd, *words):
    env = {k: v for k, v in os.environ.items() if k != "ANDROID_SERIAL"}
    env |= {"ETPROF": ETPROF, "ETPROF_RUNNER": FAKE, "PATH": str(cwd / "bin"), "HOME": str(cwd),
            "ETPROF_PYTHON": sys.executable}
    return execute(*words, cwd=cwd, env=env, stdin=subprocess.DEVNULL)


def config(cwd, names, output_root, **more):
    experiments = [{"name": n, "runs": 8, "warmup": 3, "threads": [1]} for n in names]
    (cwd / "config.json").write_text(json.dumps({"model": "m_xnnpack_fp16.pte", "output_root": output_root, "blocks": 6,
                                                 "experiments": experiments, **more}))


def model(cwd, factor):
    (cwd / "m_xnnpack_fp16.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon %d000000\n" % factor)


def refused(cwd, what, code, words, *more):
    before = sorted(cwd.rglob("*"))
    ended(run(cwd, ETPROF, "run", "config.json", *more), code, says=words)
    made = [p for p in sorted(cwd.rglob("*")) if p not in before and ".etprof" not in p.parts]
    expect(not made, what, f"left {made}")


def places(cwd):
    sides = ("sme2_on", "sme2_off")
    config(cwd, [f"android_{s}" for s in sides], "out_m/runs/android")
    refused(cwd, "the kit's Android config", 5, "adb")
    refused(cwd, "an Android config on this machine", 5, "names android", "--device", "local")
    config(cwd, sides, "out_m/runs/android_trace")
    refused(cwd, "a folder that names Android", 5, "adb")
    config(cwd, [f"{OTHER}_{s}" for s in sides], f"out_m/runs/{OTHER}")
    refused(cwd, "another machine's config", 5, f"names {OTHER}")
    config(cwd, [f"android_{s}" for s in sides], f"out_m/runs/{OTHER}")
    refused(cwd, "two platforms", 4, "one session is measured on one device")
    config(cwd, [f"{OTHER}_{s}" for s in sides], "out_m/runs/x", device="adb")
    refused(cwd, "a device of another platform", 4, "one session is measured on one device")
    done = run(cwd, ETPROF, "ab", "m_xnnpack_fp16.pte", "--out", "out_m/runs/android")
    expect(done.returncode == 5 and "names android" in done.stderr and not (cwd / "out_m").exists(), "ab --out",
           done.stderr)
    for names, root in (([f"{HOST}_{s}" for s in sides], f"out_m/runs/{HOST}"), (sides, "machine_model/x")):
        config(cwd, names, root)
        ended(run(cwd, ETPROF, "run", "config.json"), 0)
        expect(json.loads((cwd / root / "manifest.json").read_text())["device"]["platform"] == HOST, root,
               "the platform")
    config(cwd, ("a=sme2_on", "b off_off"), "out_m/runs/named")
    done = run(cwd, ETPROF, "run", "config.json")
    made = [(cwd / "out_m/runs/named" / name).is_dir() for name in ("a=sme2_on", "b off_off")]
    expect(done.returncode == 0 and made == [True, True], "names with other letters", made, done.stderr)
    config(cwd, ("a,sme2_on", "sme2_off"), "out_m/runs/comma")
    refused(cwd, "a name that would be two levels", 4, 'experiment name "a,sme2_on" cannot name a folder')
    shutil.rmtree(cwd / "out_m")
    done = run(cwd, ETPROF, "run", "--init", "m_xnnpack_fp16.pte", "--platform", "android")
    made = json.loads((cwd / "m_xnnpack_fp16_android.json").read_text())
    expect(done.returncode == 0 and made["device"] == "adb", "--init for a phone names its device", made)


def scripts(cwd):
    """The same lines typed twice: the folder that is named is read and written, a newer one is said; a config, which
    names no run, means the newest."""
    script = [sys.executable, str(ROOT / "model_profiling/scripts") + "/"]
    config(cwd, [f"{HOST}_sme2_on", f"{HOST}_sme2_off"], f"out_m/runs/{HOST}")
    for factor in (3, 6):
        model(cwd, factor)
        ended(run(cwd, script[0], script[1] + "mac_pipeline.py", "--config", "config.json"), 0)
    folder = f"out_m/runs/{HOST}"
    old = {p: p.read_bytes() for p in (cwd / folder).rglob("*") if p.is_file()}
    for line, gain in ((["analyze_results.py", "--run-dir", folder], "3.00×"),
                       (["generate_report.py", "--run-dir", folder, "--out", "r.md"], "3.00×"),
                       (["generate_report.py", "--run-dir", folder], None),
                       (["validate_results.py", "--results", folder], None),
                       (["generate_report.py", "--run-dir", f"{folder}.2", "--out", "r.md"], "6.00×"),
                       (["generate_report.py", "--run-dir", "out_m/runs", "--out", "r.md"], "6.00×"),
                       (["mac_pipeline.py", "--config", "config.json", "--analysis-only"], "6.00×")):
        done = run(cwd, script[0], script[1] + line[0], *line[1:])
        text = (cwd / "r.md").read_text() if "--out" in line else done.stdout
        other = {"3.00×": "6.00×", "6.00×": "3.00×"}.get(gain, "\0")
        fine = done.returncode == 0 or line[0] == "validate_results.py"  # dumps of the tests' runner are none
        expect(fine and (gain or "") in text and other not in text, line, done.returncode,
               done.stderr + text[:800])
        named = f"--run-dir {folder} " in " ".join(line) + " " or line[0] == "validate_results.py"
        expect(named or f"{folder}.2" in done.stderr, line, f"says which run it read: {done.stderr}")
    expect(old == {p: p.read_bytes() for p in old} , "the earlier run", "is as it was")
    ended(run(cwd, ETPROF, "verify", folder), 0)
    ended(run(cwd, script[0], script[1] + "android_pipeline.py", "--config", "config.json"),
          4, says="one session is measured on one device")
    config(cwd, ["sme2_on", "sme2_off"], "plain")
    android = run(cwd, script[0], script[1] + "android_pipeline.py", "--config", "config.json")
    expect(android.returncode == 5 and "adb" in android.stderr and not (cwd / "plain").exists(), "android_pipeline.py",
           "does not measure this machine: " + android.stderr)


tmp = new_folder()
(tmp / "bin").mkdir()  # no adb in PATH, wherever this runs
model(tmp, 3)
places(tmp)
scripts(tmp)
finish()
