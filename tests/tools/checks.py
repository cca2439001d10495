# SPDX-License-Identifier: Apache-2.0
"""What the tests in Python share: all checks of a test are made before it fails, and a skip is one for ctest."""
import atexit
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

FAILURES = []

# What programs under test note for their user goes away with the test, and the user's own notes play no part.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="etp-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)


def unpack(archive, folder):
    """An archive of this tree; Python before 3.11.4 has no filter."""
    archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def hear_signals():
    """For tests that send signals: nohup and `&` in a script start us with some ignored, and children inherit that,
    so that `etprof` does not end by them (which is what the user meant)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def in_python_with(*modules):
    """Goes on in the Python that scripts/check installed packages into (ETPROF_TESTS_PYTHON) when this one lacks
    MODULES; ctest may have started another, as where a shim puts its own first."""
    other = os.environ.get("ETPROF_TESTS_PYTHON")
    inside = "ETPROF_TESTS_PYTHON_INSIDE"
    if other and not os.environ.get(inside) and not all(importlib.util.find_spec(m) for m in modules):
        os.environ[inside] = "1"
        os.execv(other, [other, *sys.argv])


def validating(etprof):
    """validate(path) -> etprof.validate/1, asked of the package in this process: a damaged file is one of hundreds.
    Skips without jsonschema."""
    in_python_with("jsonschema", "referencing")
    if not importlib.util.find_spec("jsonschema"):
        skip("no Python package jsonschema")
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
    from etprof.validate import folder

    return lambda path: folder.validate(str(path), etprof, lambda: None)


def expect(ok, *what):
    """Notes a failure, and prints it at once, unless OK."""
    if not ok:
        FAILURES.append(": ".join(map(str, what)))
        print(FAILURES[-1], flush=True)


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(77)


def execute(*words, **options):
    """A program that ran to its end, with what it printed. OPTIONS are those of subprocess.run."""
    return subprocess.run([w if isinstance(w, bytes) else str(w) for w in words],
                          **{"capture_output": True, "text": True, "timeout": 600, "check": False, **options})


def new_folder():
    """An empty folder, which goes away with the test."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="etp-")).resolve()
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def in_folders(*parts):
    """Runs each of PARTS with an empty folder of its own: a function, or one with what else it is handed."""
    for part in parts:
        function, *more = part if isinstance(part, tuple) else (part,)
        with tempfile.TemporaryDirectory(prefix="etp-") as folder:
            function(pathlib.Path(folder).resolve(), *more)


def ended(done, *codes, says=(), of=""):
    """DONE, a program that has to end with one of CODES and to say SAYS, a text or several; OF is the case."""
    said = [done.stdout, done.stderr]
    wanted = [says] if isinstance(says, (str, bytes)) else says
    expect(done.returncode in codes and all(any(text in part for part in said if part) for text in wanted),
           of, *done.args, f"exit {done.returncode}, not {codes}, saying {wanted}",
           *(part[-600:] for part in said if part))
    return done


def plain_session(etprof, model, out, names, *words, runs, warmup):
    """`etprof run --plain`: recordings and samples as they are, for who reads them here. NAMES of experiments say their
    levels. Returns the finished process."""
    config = pathlib.Path(f"{out}.json")
    config.write_text(json.dumps({"model": str(model), "output_root": str(out), "experiments": [
        {"name": n, "runs": runs, "warmup": warmup} for n in names]}))
    return subprocess.run([etprof, "run", config, "--plain", "--quiet", *map(str, words)], capture_output=True,
                          text=True, timeout=900, check=False)


def finish(fine="all as expected", code=0):
    """Ends the test: 1 after a failure, else CODE (77: a part was skipped, which was said when it was)."""
    print(f"{len(FAILURES)} failures" if FAILURES else fine)
    sys.exit(1 if FAILURES else code)
