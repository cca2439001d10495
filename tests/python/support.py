# SPDX-License-Identifier: Apache-2.0
# What the Python tests share: running an export in this process, and models made of a few lines.
import contextlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

HAVE_TORCH = all(importlib.util.find_spec(m) for m in ("torch", "executorch", "torchao"))
NEEDS_TORCH = unittest.skipUnless(
    HAVE_TORCH, "torch, executorch and torchao are not installed in this interpreter")
SLOW = unittest.skipUnless(os.environ.get("ETPROF_SLOW") == "1", "slow: set ETPROF_SLOW=1")


@contextlib.contextmanager
def hidden(*modules):
    """As if these were not installed. Only these names change: what is imported meanwhile stays (torch
    cannot be imported twice)."""
    saved = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(dict.fromkeys(modules))
    try:
        yield
    finally:
        for name, module in saved.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


class Run:
    def __init__(self, code, out, err, folder):
        self.code, self.out, self.err, self.folder = code, out, err, Path(folder)

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def entry(self):
        return self.json["artifacts"][0]


class ExportCase(unittest.TestCase):
    """Each test has a folder of its own; exports run in this process, torch is loaded once."""

    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="etprof-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "artifacts"

    def model_file(self, text, name="model.py"):
        path = self.folder / name
        path.write_text("import torch\nfrom torch import nn\n" + textwrap.dedent(text))
        return path

    def own_model(self, text):
        """A file of models that are `Own`: modules which bring their inputs along."""
        return self.model_file("""
class Own(nn.Module):
    def get_eager_model(self):
        return self
""" + textwrap.dedent(text))

    def export(self, source, *options, out=None, install=False):
        from etprof.export import cli

        out = out or self.out
        argv = [str(source), "--outdir", str(out), "--format", "json", "--quiet",
                *([] if install else ["--no-install"]), *options]
        captured = io.StringIO()
        error = io.StringIO()
        keep = cli.keep_stdout_clean
        cli.keep_stdout_clean = lambda: KeepOpen(captured)
        try:
            with contextlib.redirect_stderr(error):
                code = cli.main(argv)
        finally:
            cli.keep_stdout_clean = keep
        return Run(code, captured.getvalue(), error.getvalue(), out)

    def exported(self, source, *options, out=None):
        run = self.export(source, *options, out=out)
        self.assertEqual(run.code, 0, run.err)
        return run

    def refused(self, code, needle, source, *options, out=None):
        """The export fails with CODE and one line that says NEEDLE, and leaves nothing behind."""
        run = self.export(source, *options, out=out)
        self.assertEqual(run.code, code, run.err)
        lines = [line for line in run.err.splitlines() if line.startswith("etprof export:")]
        self.assertEqual(len(lines), 1, run.err)
        self.assertIn(needle, lines[0])
        self.assertNotIn("Traceback", run.err)
        self.assertNothingLeft(out or self.out)
        return run

    def assertNothingLeft(self, folder):
        folder = Path(folder)
        left = [p.name for p in folder.iterdir()] if folder.is_dir() else []
        self.assertEqual(left, [])


class KeepOpen:
    """A stream whose close leaves the text readable."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        self._stream.write(text)

    def close(self):
        pass

    def fileno(self):
        return 1


def operators(entry):
    """{operator: (inside delegates, outside)} of an export.json entry."""
    return {o["operator"]: (o["delegated"], o["undelegated"])
            for o in entry["delegation"]["operators"]}


def runtime_events(pte, inputs):
    """The operator events that a real run of the program records, in order."""
    from etprof.export.verify import native_messages
    from executorch.devtools import Inspector
    from executorch.runtime import Runtime

    with native_messages():
        program = Runtime.get().load_program(str(pte), enable_etdump=True)
        program.load_method("forward").execute(inputs)
        with tempfile.TemporaryDirectory() as folder:
            dump = os.path.join(folder, "run.etdump")
            program.write_etdump_result_to_file(dump, os.path.join(folder, "debug.bin"))
            inspector = Inspector(etdump_path=dump)
    skipped = ("OPERATOR_CALL", "DELEGATE_CALL", "Method::execute")
    return [event.name for block in inspector.event_blocks if block.name == "Execute"
            for event in block.events if event.name not in skipped]


def command(*argv, cwd=None, env=None, python=sys.executable, timeout=300):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **(env or {})}
    return subprocess.run([python, *map(str, argv)], cwd=cwd, env=environment, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout)
