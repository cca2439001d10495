# SPDX-License-Identifier: Apache-2.0
"""Stopping by precision with the real runner and a small model; the same samples through a pipe.

usage: precision.py ETPROF SOURCE_DIR; 77 = no runner here"""
import json
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish, skip

ETPROF, SOURCE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
MODEL = str(SOURCE / "examples/models/toy_cnn_xnnpack_fp32.pte")


def etprof(tmp, *args, stdin=None):
    return execute(ETPROF, *args, cwd=tmp, input=stdin)


def measure(tmp, out, *args):
    done = etprof(tmp, "ab", MODEL, "--iterations", "20", "--warmup", "5", "--no-trace", "--quiet", "--out", out,
                  "--format",
                  "json", *args)
    if done.returncode == 5 and "no runner" in done.stderr:
        skip(done.stderr.strip().splitlines()[0])
    expect(done.returncode == 0, f"{out}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def half_width(tmp, out, names, session):
    """The interval of samples.csv through a pipe, without a session around it; of the folder it is the session's."""
    text = (pathlib.Path(tmp) / out / "samples.csv").read_text()
    done = ended(etprof(tmp, "stats", "-", "--baseline", names[0], "--format", "json", stdin=text), 0)
    again = etprof(tmp, "stats", out, "--baseline", names[0], "--format", "json")
    piped, folder = json.loads(done.stdout), json.loads(again.stdout)
    for key in ("estimate", "blocks"):
        expect(piped["speedup"][key] == folder["speedup"][key],
               f"stats -: {piped['speedup']}, of the folder {folder['speedup']}")
    medians = [{arm["name"]: arm["median_ns"] for arm in document["arms"]} for document in (piped, folder)]
    expect(medians[0] == medians[1], medians)
    for key in ("lo", "hi", "widening"):
        expect(folder["speedup"][key] == session[key], f"of the folder {folder['speedup']}, of the session {session}")
    return piped["speedup"]


with tempfile.TemporaryDirectory() as tmp:
    # A target that is reached at an early look, on a busy machine too.
    answer = measure(tmp, "wide", "--precision", "30%", "--blocks", "40")
    if answer:
        c = answer["comparisons"][0]
        s, target = c["speedup"], math.log1p(answer["stop"]["precision"])
        expect(answer["stop"]["reason"] == "precision" and answer["stop"]["precision"] == 0.3, answer["stop"])
        expect(s["blocks"] >= 6 and s["blocks"] % 2 == 0, s)
        expect(abs(s["widening"] - (1 + 1.5 / s["blocks"])) < 1e-5, s)
        if c["withheld"] is None:
            half = math.log(s["hi"] / s["lo"]) / 2
            expect(half <= target, f"stopped at ± {half}, wanted {target}")
            plain = half_width(tmp, "wide", (c["baseline"], c["candidate"]), s)
            if plain["lo"]:
                # both ends have six digits, so that little is left of them in a narrow interval
                narrow = math.log(plain["hi"] / plain["lo"]) / 2
                expect(abs(half / narrow / s["widening"] - 1) < 6e-6 / narrow,
                       f"{half} against {narrow}, widened by {s['widening']}")
    # One that is not: the number of blocks ends it, and the interval still pays for the looks.
    answer = measure(tmp, "narrow", "--precision", "0.001%", "--blocks", "6")
    if answer:
        s = answer["comparisons"][0]["speedup"]
        expect(answer["stop"]["reason"] == "blocks" and s["blocks"] == 6 and s["widening"] == 1.25, (answer["stop"], s))
    # A budget that is over before the second block.
    answer = measure(tmp, "short", "--precision", "0.001%", "--budget", "0.01s")
    if answer:
        expect(answer["stop"]["reason"] == "budget" and answer["comparisons"][0]["verdict"] == "unknown",
               answer["stop"])
finish()
