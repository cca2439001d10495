# SPDX-License-Identifier: Apache-2.0
"""etprof fix where it cannot go on: what is missing is said, and an interrupted session goes on. The exporter is
planted, as PyTorch is not here.

usage: test_refused.py ETPROF FAKE_RUNNER"""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, expect, finish, hear_signals
from planted import Planted

OUT = "out_planted/fixes"


def refused(done, code, *said):
    lines = [line for line in done.stderr.splitlines() if line.startswith("etprof fix: ")]
    expect(done.returncode == code and len(lines) == 1 and all(word in lines[0] for word in said) and
           "Traceback" not in done.stderr and not done.stdout, said, done.returncode, done.stderr, done.stdout)


def questions(folder):
    p = Planted(folder)
    p.exports(layer_norm="base neon 800000\nnoise 2\n")
    run = p.measured()
    refused(p.fix(run, "N9"), 2, "no fix N9", "N1, N2")
    refused(p.fix(run, "N3"), 2, "etprof fix cannot apply N3", "fewer, larger partitions")
    refused(p.fix(run, "N1", "--all"), 2, "--all")
    refused(p.fix("nowhere"), 5, "nowhere", "no such file or folder")
    refused(p.fix("plan.json"), 2, "neither a run folder nor a .pte")
    refused(p.fix(run, "--out", "out_planted/artifacts"), 2, "not empty")
    refused(p.run("fix", run, "--levels", "neon"), 2, "--levels")
    p.exports(layer_norm=[1, "the program does not agree with eager PyTorch"])
    ended(p.fix(run), 1, says="not exported: the program does not agree")
    p.exports(layer_norm=[5, "no Python here has torch"])
    refused(p.fix(run), 5, "no Python here has torch")
    refused(p.fix(run, XDG_STATE_HOME=str(p.folder / "other")), 2, "was not measured by you", "--trust")
    p.exports(layer_norm="base neon 800000\nnoise 2\n")
    refused(p.fix(run, "--out", "there", "--device", "nowhere"), 2, "measuring", "nowhere")
    ended(p.fix(run, "--trust", XDG_STATE_HOME=str(p.folder / "other")), 0)
    for broken in ("{", "[]", '{"schema": "etprof.fix/1", "asked": 1, "state": "running", "steps": [{}]}'):
        there = p.folder / "broken"
        there.mkdir(exist_ok=True)
        (there / "fix.json").write_text(broken)
        refused(p.fix(run, "--out", "broken"), 2, "broken is not empty")
    p.program.write_bytes(p.data + b"\n")
    refused(p.fix(run), 4, "another SHA-256", "etprof fix")
    p.program.unlink()
    refused(p.fix(run), 4, "is not there any more")


def unknown_source(folder):
    p = Planted(folder)
    p.exports(layer_norm="base neon 800000\nnoise 2\n")
    (p.program.parent / "export.json").unlink()
    run = p.measured()
    refused(p.fix(run), 2, "no export.json beside", "--source MODEL")
    ended(p.fix(run, "--source", "planted"), 0, says="kept: etprof export planted --apply layer-norm")


def hostile_export(folder):
    """An export.json that names an interpreter of its own is not believed, and nothing of it is run."""
    p = Planted(folder)
    p.exports(layer_norm="base neon 800000\nnoise 2\n")
    evil = p.folder / "evil"
    evil.write_text("#!/bin/sh\ntouch ran\n")
    evil.chmod(0o755)
    p.told(command=("etprof", "export", "planted", "--python", str(evil)))
    refused(p.fix(p.measured()), 2, "no export.json beside", "--source MODEL")
    expect(not (p.folder / "ran").exists() and not p.exported(), "it was run")


def foreign_export(folder):
    """A program and its export.json from elsewhere, measured here: the Python code that it names is not run."""
    p = Planted(folder)
    p.exports(layer_norm="base neon 800000\nnoise 2\n")
    for source in ("./evil.py:Evil", "../evil", "other", "executorch:../x", "hf:/evil/config.json"):
        shutil.rmtree(p.folder / "out_planted/runs", ignore_errors=True)
        p.told(command=("etprof", "export", source), ours=False)
        refused(p.fix(p.measured()), 2, f"names the model {source},", "--trust", "--source MODEL")
    expect(not p.exported(), "it was exported", p.exported())
    for more in (("--trust", ), ("--source", "mine")):
        ended(p.fix("out_planted/runs/linux", *more, "--out", "fixes" + more[0]), 0, 3)
    shutil.rmtree(p.folder / "out_planted/runs")
    p.told(command=("etprof", "export", "torchvision:resnet18"), ours=False)
    ended(p.fix(p.measured(), "--out", "packaged"), 0, 3)
    expect({w[0] for w in p.exported()} == {"hf:/evil/config.json", "mine", "torchvision:resnet18"}, p.exported())


def hostile_record(folder):
    """Steps that somebody else prepared: nothing waits for ever, is written outside, or taken from there."""
    p = Planted(folder)
    p.exports(layer_norm="base neon 800000\nnoise 2\n")
    run, there = p.measured(), p.folder / "out_planted/fixes"
    outside = p.folder / "outside"
    outside.mkdir()
    (outside / "other.pte").write_bytes(p.data)
    done = p.fix(run)
    record = json.loads((there / "fix.json").read_text()) | {"state": "running"}
    (there / "fix.json").write_text(json.dumps(record))
    shutil.rmtree(there / "again")
    (there / "again").symlink_to(outside)
    done = p.fix(run)
    expect((p.folder / "out_planted/fixes.2/fix.json").exists(), "a link among the steps", done.stderr)
    expect([f.name for f in outside.iterdir()] == ["other.pte"], "written outside", list(outside.iterdir()))
    (there / "again").unlink()
    (there / "again").mkdir()
    for kept in (str(outside / "other.pte"), "../../../outside/other.pte"):
        (there / "again/export.json").write_text(json.dumps({"artifacts": [
            {"file": kept, "kept_as": kept, "sha256": hashlib.sha256(p.data).hexdigest(), "bytes": 1}]}))
        (there / "fix.json").write_text(json.dumps(record))
        before = len(p.exported())
        done = p.fix(run)
        expect(p.exported()[before][-1] == "planted_again", "taken from outside", kept, p.exported()[before:])
    def nested(path):
        path.write_text(200000 * "[")

    for name, spoil in (("fix.json", os.mkfifo), ("fix.json", nested), ("again/export.json", nested)):
        (there / "fix.json").unlink()
        (there / "fix.json").write_text(json.dumps(record))
        (there / name).unlink()
        spoil(there / name)
        done = p.fix(run)
        expect("Traceback" not in done.stderr and done.returncode in (0, 1, 3), name, done.returncode, done.stderr)


def of_a_program(folder):
    """A .pte is measured first. Its operators' names say that SME2 did not run, so nothing is given."""
    p = Planted(folder, before="base sme2 1000000\nnoise 2\n")
    p.exports(layer_norm="base sme2 800000\nnoise 2\n")
    dump = p.environment["FAKE_ETDUMP_neon"]
    done = p.fix(p.program.relative_to(p.folder), FAKE_ETDUMP_sme2=dump)
    expect(done.returncode == 3 and ", no result: " in done.stdout and "     left out: " in done.stdout and
           (p.folder / OUT / "before/manifest.json").exists(), done.stdout, done.stderr)


def stops(folder, number):
    """Ended while the new program is measured: what was exported and every whole block stay."""
    p = Planted(folder)
    p.exports(layer_norm="base neon 800000\nnoise 2\nwall timed 4 60000\n")
    run = p.measured()
    process = p.started("fix", run, "--blocks", 6, "--iterations", 4)
    session = p.folder / OUT / "1-layer-norm/run"
    samples = session / "samples.csv"
    end = time.monotonic() + 120
    while time.monotonic() < end and not (samples.exists() and ",2," in samples.read_text()):
        time.sleep(0.05)
    time.sleep(0.5)  # into the launch of block 3 that takes a minute
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    expect(process.returncode == 128 + number and f"stopped by {number.name}; the same command goes on" in err, err)
    expect(json.loads((p.folder / OUT / "fix.json").read_text())["state"] == "interrupted", "its state")
    exported, blocks = p.exported(), json.loads((session / "manifest.json").read_text())["blocks_done"]
    expect(blocks >= 1, "blocks that stay", blocks)
    begun = samples.read_text()
    done = p.fix(run, "--format", "json")
    expect(done.returncode == 0 and json.loads(done.stdout)["steps"][0]["measured"]["blocks"] == 6, done.stderr)
    expect(p.exported() == exported, "nothing is exported again", p.exported())
    expect(samples.read_text().startswith(begun[:begun.rindex("\n")][:2000]), "no block is measured again")
    expect(not (p.folder / f"{OUT}.2").exists(), "the same folder")


def main():
    hear_signals()
    for case in (questions, unknown_source, hostile_export, foreign_export, hostile_record,
                 of_a_program,
                 lambda f: stops(f, signal.SIGINT), lambda f: stops(f, signal.SIGTERM)):
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
    finish()


main()
