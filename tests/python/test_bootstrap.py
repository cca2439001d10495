# SPDX-License-Identifier: Apache-2.0
# The set-up of .venv, with a stand-in for the interpreter that answers as pip does.
import json
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT, SLOW, command

from etprof import bootstrap, errors

CPU = [("torch", "2.13.0+cpu"), ("executorch", "1.5.1"), ("torchao", "0.18.0"), ("numpy", "2.4.6")]
CUDA = [("torch", "2.13.0"), ("executorch", "1.5.1"), ("nvidia-cublas-cu13", "13.0"),
        ("nvidia-cudnn-cu13", "9.1"), ("triton", "3.6")]

FAKE = '''#!{python}
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "log"), "a") as log:
    log.write(json.dumps(sys.argv[1:]) + chr(10))
if sys.argv[1] == "-c":
    sys.exit(0 if os.path.exists(os.path.join(here, "installed")) else 3)
if "--dry-run" in sys.argv:
    report = sys.argv[sys.argv.index("--report") + 1]
    packages = json.load(open(os.path.join(here, "plan")))
    json.dump({{"install": [{{"metadata": {{"name": n, "version": v}}}} for n, v in packages]}},
              open(report, "w"))
else:
    open(os.path.join(here, "installed"), "w").close()
'''


class FakeVenv(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.venv = Path(folder.name) / "venv"
        self.bin = self.venv / "bin"
        self.bin.mkdir(parents=True)
        python = self.bin / "python"
        python.write_text(FAKE.format(python=sys.executable))
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        os.environ.pop("ETPROF_TORCH_INDEX", None)

    def plan(self, packages):
        (self.bin / "plan").write_text(json.dumps(packages))

    def calls(self):
        log = self.bin / "log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def installs(self):
        return [c for c in self.calls() if "pip" in c and "--dry-run" not in c]

    def test_cpu_build_is_installed_after_the_dry_run(self):
        self.plan(CPU)
        self.assertEqual(bootstrap.make_venv(self.venv), self.bin / "python")
        kinds = ["dry" if "--dry-run" in c else "real" for c in self.calls() if "pip" in c]
        self.assertEqual(kinds, ["dry", "real"])
        self.assertIn("torch==2.13.0", self.installs()[0])

    def test_cuda_build_is_refused_and_nothing_installed(self):
        self.plan(CUDA)
        with self.assertRaises(errors.EnvironmentProblem) as caught:
            bootstrap.make_venv(self.venv)
        self.assertIn("ETPROF_TORCH_INDEX", str(caught.exception))
        self.assertEqual(caught.exception.exit_code, 5)
        self.assertEqual(self.installs(), [])

    def test_allow_cuda(self):
        self.plan(CUDA)
        bootstrap.make_venv(self.venv, allow_cuda=True)
        self.assertEqual(len(self.installs()), 1)

    def test_options_reach_pip(self):
        self.plan(CPU)
        os.environ["ETPROF_TORCH_INDEX"] = "https://example.invalid/cpu"
        self.addCleanup(os.environ.pop, "ETPROF_TORCH_INDEX", None)
        bootstrap.make_venv(self.venv, ["--no-cache-dir"], str(self.venv))
        for call in (c for c in self.calls() if "pip" in c):
            for word in ("--no-cache-dir", "--find-links", "https://example.invalid/cpu"):
                self.assertIn(word, call)

    def test_ready_environment_is_left_alone(self):
        (self.bin / "installed").touch()
        bootstrap.make_venv(self.venv)
        self.assertEqual([c for c in self.calls() if "pip" in c], [])

    def test_wheel_folder_must_exist(self):
        with self.assertRaises(errors.UsageError):
            bootstrap.make_venv(self.venv, wheel_dir="/nonexistent")


class Interpreter(unittest.TestCase):
    def test_named_interpreter_without_the_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "python"
            python.write_text(FAKE.format(python=sys.executable))
            python.chmod(0o755)
            done = command("-m", "etprof.export", "toy_cnn", "--python", python, cwd=ROOT)
            self.assertEqual(done.returncode, 5)
            self.assertIn("lacks torch", done.stderr)

    def test_named_interpreter_that_is_none(self):
        done = command("-m", "etprof.export", "toy_cnn", "--python", "/nonexistent", cwd=ROOT)
        self.assertEqual(done.returncode, 5)
        self.assertIn("/nonexistent", done.stderr)

    def test_option_does_not_loop(self):
        self.assertEqual(bootstrap.without_python_option(["a", "--python", "p", "--python=q", "b"]),
                         ["a", "b"])


class RealPip(unittest.TestCase):
    @SLOW
    def test_dry_run_of_this_machine(self):
        report = bootstrap.dry_run(sys.executable, ["--ignore-installed"])
        names = [name for name, _ in bootstrap.planned(report)]
        self.assertLessEqual({"torch", "executorch", "torchao"}, set(names))


if __name__ == "__main__":
    unittest.main()
