# SPDX-License-Identifier: Apache-2.0
"""Types every command line of the kit's pages (seed_lines.py) in a clean workspace with the tree's
model_profiling in it. usage: test_lines.py ETPROF; 77 = skipped, no runner is built.

`etprof export` is stood in for by a recorder unless ETPROF_TEST_EXPORT=1: tests/python runs exports."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from seed_lines import ELSEWHERE, HOST, LINES, PLACEHOLDERS, READ, REFUSED

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
MODEL = "toy_cnn_xnnpack_fp16.pte"
COMMANDS = ("python", "bash", "git", "adb", "cp", "cat", "cd", "mkdir", "source")
failures = []


def normal(line):
    return re.sub(r"\s+", " ", line.strip())


def lines_of(text):
    """Command lines in a page: continued ones joined; a command without its flags is a mention in prose."""
    for line in text.replace("\\\n", " ").splitlines():
        line = normal(line)
        words = line.split(" ")
        if words[0] in COMMANDS and len(words) > 1 and not line.endswith(":"):
            yield line


def completeness(folder):
    known = {normal(line) for _, line, _ in LINES}
    found = [x for p in sorted(pathlib.Path(folder).glob("*.txt")) for x in lines_of(p.read_text())]
    if len(found) < 30:
        failures.append(f"{folder}: only {len(found)} command lines found")
    failures.extend(f"not in the table: {x}" for x in found if x not in known)
    failures.extend(f"not in the pages: {x}" for x in known - set(found))


def recorder(tmp):
    """etprof, but export is only shown and leaves the bundled model."""
    path = tmp / "etprof-recorder"
    path.write_text(f"""#!/bin/bash
if [ "$1" = export ]; then
  echo "$@"; while [ $# -gt 0 ]; do [ "$1" = --outdir ] && out=$2; shift; done
  mkdir -p "$out"; exec cp {ROOT}/examples/models/{MODEL} "$out"
fi
exec {ETPROF} "$@"
""")
    path.chmod(0o755)
    return str(path)


def type_line(cwd, env, line):
    for word, value in PLACEHOLDERS.items():
        line = line.replace(word, value)
    done = subprocess.run(["bash", "-c", line], cwd=cwd, env=env, capture_output=True, text=True, timeout=600,
                          check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def fill_in(cwd):
    """What the page tells the reader to edit: two keys."""
    path = cwd / "model_profiling/configs/my_experiment.json"
    config = json.loads(path.read_text())
    config["model"], config["output_root"] = f"out_toy_cnn/artifacts/{MODEL}", f"out_toy_cnn/runs/{HOST}"
    path.write_text(json.dumps(config))


def main(tmp):
    cwd, shims = tmp / "kit", tmp / "bin"
    shutil.copytree(ROOT / "model_profiling", cwd / "model_profiling",
                    ignore=shutil.ignore_patterns("out_*", "__pycache__"))
    (cwd / "examples/models").mkdir(parents=True)
    shutil.copy(ROOT / "examples/models" / MODEL, cwd / "examples/models")
    shims.mkdir()
    (shims / "python").symlink_to(sys.executable)
    env = {**os.environ, "PATH": f"{shims}:{os.environ['PATH']}", "HOME": str(tmp), "ETPROF": recorder(tmp)}
    probe = subprocess.run([ETPROF, "ab", ROOT / "examples/models" / MODEL, "--blocks", "1"], cwd=tmp,
                           capture_output=True, text=True, timeout=600, check=False)
    if "no runner for" in probe.stdout + probe.stderr:
        print("skipped: no runner for this machine is built (scripts/build-runner native)")
        return 77
    for script in ("setup_repo", "build_runners"):
        code, text = type_line(cwd, env, f"bash -n model_profiling/scripts/{script}.sh")
        failures.extend([f"{script}.sh: {text}"] * (code != 0))
    ran = 0
    for page, line, want in LINES:
        if isinstance(want, str):
            continue
        want, words = want if isinstance(want, tuple) else (want, "")
        if (
            "--run-dir" in line and "runs/android" in line
        ):  # there is no phone: the run it would have left, measured here
            shutil.copytree(cwd / f"model_profiling/out_toy_cnn/runs/{HOST}",
                            cwd / "model_profiling/out_toy_cnn/runs/android")
        if HOST != "mac" and any(word in line for word in ELSEWHERE):
            code, text = type_line(cwd, env, line)
            if (
                "mac_pipeline" in line
                and "my_experiment" not in line
                and (code != REFUSED[0] or REFUSED[1] not in text)
            ):
                failures.append(
                    f"page {page}: {line}\n  as printed: exit code {code}, expected {REFUSED}:\n{text[-1500:]}"
                )
            for printed, read in READ:
                line = line.replace(printed, read)
        code, text = type_line(cwd, env, line)
        ran += 1
        if line.startswith("cp "):
            fill_in(cwd)
        if code != want or (words and not re.search(words, text)):
            failures.append(f"page {page}: {line}\n  exit code {code}, expected {want} and {words!r}:\n{text[-1500:]}")
    # What the pages say is there afterwards.
    for name in ("manifest.json", "metrics.json", "analysis_summary.json", "report.md", "toy_cnn_comparison.csv",
                 "toy_cnn_xnnpack_fp16_pipeline_summary.json", "toy_cnn_xnnpack_fp16_pipeline_summary.md",
                 f"{HOST}_sme2_on/toy_cnn_xnnpack_fp16_{HOST}_sme2_on_t1.etdump",
                 f"{HOST}_sme2_off/toy_cnn_xnnpack_fp16_{HOST}_sme2_off_t1.log"):
        if not (cwd / "out_toy_cnn/runs" / HOST / name).is_file():
            failures.append(f"out_toy_cnn/runs/{HOST}/{name} is missing")
    print(f"{ran} of {len(LINES)} lines typed; not typed:")
    for page, line, want in LINES:
        if isinstance(want, str):
            print(f"  page {page}: {line}: {want}")
    return 0


if os.environ.get("ETPROF_SEEDS"):
    completeness(os.environ["ETPROF_SEEDS"])
with tempfile.TemporaryDirectory() as folder:
    result = main(pathlib.Path(folder))
print("\n".join(failures))
sys.exit(1 if failures else result)
