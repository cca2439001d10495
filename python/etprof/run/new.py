# SPDX-License-Identifier: Apache-2.0
"""A first config for a model: two experiments whose names are true where they will be measured."""
from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from etprof.errors import EnvironmentProblem, UsageError
from etprof.run.config import RUNS
from etprof.run.experiments import HERE, PLATFORMS
from etprof.verbs import error_of, program
from etprof.whole import opened


def _words(platform: str) -> tuple[str, str]:
    """SME2 is in the names where this machine has it. Of another platform nothing is known yet; there they mean "the
    best level" and "plain SIMD", and the report says what ran."""
    names = ("sme2_on", "sme2_off")
    if platform != HERE:
        return names
    words = [program(), "doctor", "levels", "--format", "json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise error_of(done.returncode)(done.stderr.strip())
    best, plain = (json.loads(done.stdout)["default"][key] for key in ("candidate", "baseline"))
    if not best or not plain:
        raise EnvironmentProblem("this CPU has one level only: nothing to compare with ('etprof doctor levels')")
    return names if best == "sme2" else (best, plain)


def _root(model: str, name: str) -> str:
    """Where `etprof ab` puts its runs: …/out_<model>/artifacts/x.pte has them beside artifacts/."""
    found = re.match(r"((?:(?!out_)[^/]*/)*out_[^/]*)/", model)
    stem = re.sub(r"(?<=.)_(?:xnnpack|portable)_.*", "", os.path.basename(model).removesuffix(".pte"))
    return f"{found[1] if found else 'out_' + stem}/runs/{name}"


def write(model: str, platform: str | None, path: str | None, trace: bool) -> str:
    """Writes a new config and returns its path; the same once more is fine: scripts may repeat themselves."""
    place = platform or HERE
    if place not in PLATFORMS:
        raise UsageError(f"--platform is mac, android or linux, not '{place}'")
    if not os.path.isfile(model):
        raise EnvironmentProblem(f"model {model} does not exist")
    name = place + "_trace" * trace
    path = path or f"{os.path.basename(model).removesuffix('.pte')}_{name}.json"
    config: dict[str, object] = {"model": model, "output_root": _root(model, name)}
    words = _words(place)
    if place == "android" and HERE != place:
        config["device"] = "adb"
    mode = "xnntrace" if trace else "timing"
    config["experiments"] = [{"name": f"{place}_{word}", "mode": mode, "runs": RUNS, "threads": [1]} for word in words]
    text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    text = re.sub(r"\[\s+1\s+\]", "[1]", text)
    if os.path.isfile(path) or os.path.isdir(path):
        if not os.path.isfile(path) or Path(path).read_bytes() != text.encode():
            raise UsageError(f"{path} is there already; name another file")
        return path
    try:
        with opened(path) as file:
            file.write(text.encode())
    except OSError as e:
        raise EnvironmentProblem(f"writing {path}: {e.strerror}") from e
    return path
