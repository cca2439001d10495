# SPDX-License-Identifier: Apache-2.0
"""A model that is planted: the fake runner's programs, and in place of PyTorch an exporter that makes them. What an
export takes and what a program takes is what the test says."""
import hashlib
import json
import os
import pathlib
import shlex
import stat
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from etprof import made

DUMPS = ROOT / "tests/data/fixes"
ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
LEVEL = "neon"
# In place of `python3 -I start.py export WORDS`; every other verb is the real one's.
EXPORTER = """#!{python}
import hashlib, json, os, pathlib, sys
if sys.argv[3] != "export":
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
here = pathlib.Path({here!r})
words = [w for w in sys.argv[4:] if w not in ("--quiet", "--no-install")]
at = words.index("--outdir")
out = pathlib.Path(words[at + 1])
del words[at:at + 2]
with open(here / "exports.log", "a") as log:
    print(*words, file=log)
changes = [words[i + 1] for i, w in enumerate(words) if w in ("--apply", "--dtype")]
name = words[words.index("--name") + 1] if "--name" in words else "planted"
plan = json.loads((here / "plan.json").read_text())
told = plan.get("+".join(changes) or "plain", 1)
if isinstance(told, list):
    print("etprof export:", told[1], file=sys.stderr)
    sys.exit(told[0])
file = "_".join([name, "xnnpack", "int8" if "int8" in changes else "fp32", *(c for c in changes if c != "int8")])
data = b"\\x10\\0\\0\\0ET12" + told.encode()
out.mkdir(parents=True, exist_ok=True)
(out / (file + ".pte")).write_bytes(data)
entry = {{"file": file + ".pte", "kept_as": file + ".pte", "state": "ok", "bytes": len(data),
          "sha256": hashlib.sha256(data).hexdigest(), "command": ["etprof", "export", *words],
          "recipes": plan["recipes"]}}
(out / "export.json").write_text(json.dumps({{"schema": "etprof.export/1", "tool": {{}}, "artifacts": [entry]}}))
"""


class Planted:
    """A folder with a program, a session of it, and what further exports make."""

    def __init__(self, folder, dump="layer_norm", before="base neon 1000000\nnoise 2\n", recipes=("layer-norm", )):
        self.folder = pathlib.Path(folder)
        self.program = self.folder / "out_planted/artifacts/planted_xnnpack_fp32.pte"
        self.program.parent.mkdir(parents=True)
        self.data = b"\x10\0\0\0ET12" + before.encode()
        self.program.write_bytes(self.data)
        self.plan = {"recipes": [{"name": r, "places": 1} for r in recipes], "plain": before}
        python = self.folder / "python"
        python.write_text(EXPORTER.format(python=sys.executable, here=str(self.folder)))
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        self.environment = {**os.environ, "ETPROF_PYTHON": str(python), "ETPROF_NO_WAIT": "1", "LC_ALL": "C.UTF-8",
                            "ETPROF_RUNNER": FAKE, f"FAKE_ETDUMP_{LEVEL}": str(DUMPS / f"{dump}.etdump")}
        self.told()

    def told(self, command=("etprof", "export", "planted"), ours=True, **options):
        """Its export.json; OURS: as an export on this machine leaves it."""
        if ours:
            made.note(hashlib.sha256(self.data).hexdigest(), command)
        entry = {"file": self.program.name, "kept_as": self.program.name, "state": "ok", "bytes": len(self.data),
                 "sha256": hashlib.sha256(self.data).hexdigest(), "command": list(command),
                 "options": options, "recipes": self.plan["recipes"]}
        (self.program.parent / "export.json").write_text(
            json.dumps({"schema": "etprof.export/1", "tool": {}, "artifacts": [entry]}))

    def exports(self, **made):
        """What exports make, by their changes: the fake runner's words, or an exit code and what is said."""
        self.plan.update({key.replace("__", "+").replace("_", "-"): value for key, value in made.items()})
        (self.folder / "plan.json").write_text(json.dumps(self.plan))

    def started(self, *words, **more):
        return subprocess.Popen([ETPROF, *map(str, words)], cwd=self.folder, env={**self.environment, **more},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words, **more):
        process = self.started(*words, **more)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def measured(self):
        done = self.run("ab", self.program.relative_to(self.folder), "--levels", LEVEL, "--blocks", 6, "--iterations",
                        4, "--seed", 1)
        assert done.returncode == 0, done.stderr
        return "out_planted/runs/linux"

    def fix(self, *words, blocks=6, **more):
        return self.run("fix", *words, "--blocks", blocks, "--iterations", 4, "--quiet", **more)

    def exported(self):
        """The exports so far, as they were typed."""
        log = self.folder / "exports.log"
        return [shlex.split(line) for line in log.read_text().splitlines()] if log.exists() else []
