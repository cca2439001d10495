# SPDX-License-Identifier: Apache-2.0
# The set-up of .venv, with a stand-in for the interpreter that answers as pip does.
import json
import os
import pty
import re
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from etprof import bootstrap, errors, packages
from support import ROOT, command

FAKE = '''#!{python}
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
lock = open(sys.argv[sys.argv.index("-r") + 1]).read() if "-r" in sys.argv else ""
with open(os.path.join(here, "log"), "a") as log:
    log.write(json.dumps(sys.argv[1:] + [lock]) + chr(10))
if sys.argv[1] == "-c":
    sys.exit(0 if os.path.exists(os.path.join(here, "installed")) else 3)
place = [w for w in ("--index-url", "--find-links") if w in sys.argv]
if "+cpu" in lock and not (place or os.path.exists(os.path.join(here, "cpu"))):
    sys.exit("ERROR: No matching distribution found for torch==2.13.0+cpu")
if "executorch==" in lock:
    open(os.path.join(here, "installed"), "w").close()
'''


class Reasons(unittest.TestCase):
    def test_a_conflict_is_said_by_its_reason(self):
        said = ("ERROR: Cannot install a==1 and b==2 because these versions conflict.\n\n"
                "ERROR: ResolutionImpossible: for help visit ADDRESS\n")
        self.assertIn("Cannot install a==1 and b==2", packages.last_error(said))
        missing = "ERROR: Could not find\nERROR: No matching distribution found for a==1\n[notice] a new pip\n"
        self.assertEqual(packages.last_error(missing), "No matching distribution found for a==1")


class FakeInterpreter(unittest.TestCase):
    """An environment whose interpreter notes how it is called."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.venv = Path(folder.name) / "venv"
        self.bin = self.venv / "bin"
        self.bin.mkdir(parents=True)
        python = self.bin / "python"
        python.write_text(FAKE.format(python=sys.executable))
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        self.named = os.environ.pop("ETPROF_TORCH_INDEX", None)
        system = mock.patch.object(packages.sys, "platform", "linux")
        system.start()
        self.addCleanup(system.stop)

    def calls(self):
        log = self.bin / "log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def installs(self):
        return [c for c in self.calls() if "pip" in c]

    def torch(self):
        """The lock files with torch that pip was given, in order."""
        return [c[-1] for c in self.installs() if re.search(r"^torch==", c[-1], re.M)]

    def export_env(self):
        """That of an export where nothing but our own environment could have the packages."""
        return {**os.environ, "PYTHONPATH": str(ROOT / "python"), "ETPROF_VENV": str(self.venv), "VIRTUAL_ENV": ""}

    def offer_cpu(self):
        (self.bin / "cpu").touch()

    def at_a_terminal(self, typed, words=None):
        """(exit code, what it printed) of WORDS, the set-up, at a terminal where TYPED is typed."""
        ours, theirs = pty.openpty()
        child = subprocess.Popen(
            [sys.executable, *(words or ("-m", "etprof.bootstrap", "--venv", str(self.venv)))], stdin=theirs,
            stderr=theirs, stdout=subprocess.DEVNULL, close_fds=True, env=self.export_env())
        os.close(theirs)
        os.write(ours, typed.encode())
        said = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break  # what Linux says at the end of a terminal
            if not piece:
                break
            said += piece
        os.close(ours)
        return child.wait(), said.decode().replace("\r\n", "\n")


class FakeVenv(FakeInterpreter):
    def test_only_pinned_packages_with_hashes(self):
        self.offer_cpu()
        self.assertEqual(bootstrap.make_venv(self.venv), self.bin / "python")
        for call in self.installs():
            self.assertLessEqual({"--require-hashes", "--no-deps", "--no-build-isolation"}, set(call))
            self.assertNotIn("--extra-index-url", call)
            for line in call[-1].splitlines():
                self.assertRegex(line, r"^[a-z0-9.-]+==|^    --hash=sha256:[0-9a-f]{64}")
        text = "".join(c[-1] for c in self.installs())
        for package in ("torch==2.13.0+cpu", "executorch==1.5.1", "torchao==0.18.0", "numpy==", "sympy=="):
            self.assertTrue(package in text, package)
        self.assertFalse("nvidia" in text)

    @unittest.skipUnless(sys.platform == "linux", "a Mac's only build of torch has no CUDA")
    def test_without_a_cpu_build_and_nobody_to_ask(self):
        with open(os.devnull) as nobody, mock.patch.object(packages.sys, "stdin", nobody), \
                self.assertRaises(errors.EnvironmentProblem) as caught:
            bootstrap.make_venv(self.venv)
        text = str(caught.exception)
        for word in ("ETPROF_TORCH_INDEX", "--allow-cuda", packages.TORCH_CPU, packages.TORCH_DEFAULT):
            self.assertIn(word, text)
        self.assertEqual(caught.exception.exit_code, 5)
        self.assertEqual([t[:20] for t in self.torch()], ["torch==2.13.0+cpu ; "])  # asked for, not there

    @unittest.skipUnless(sys.platform == "linux", "a Mac's only build of torch has no CUDA")
    def test_one_question(self):
        code, said = self.at_a_terminal("y\n")
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count("? [y/N"), 1, said)
        self.assertIn(packages.TORCH_DEFAULT, said)
        self.assertTrue("nvidia-cublas" in self.torch()[-1])

    @unittest.skipUnless(sys.platform == "linux", "a Mac's only build of torch has no CUDA")
    def test_no_is_no(self):
        for answer in ("n\n", "\n"):
            code, said = self.at_a_terminal(answer)
            self.assertEqual(code, 5, said)
            self.assertFalse("nvidia" in "".join(self.torch()))
        self.assertFalse((self.bin / "installed").exists())

    @unittest.skipUnless(sys.platform == "linux", "a Mac's only build of torch has no CUDA")
    def test_a_place_is_an_answer(self):
        code, said = self.at_a_terminal("https://example.invalid/cpu\n")
        self.assertEqual(code, 0, said)
        place = next(c for c in self.installs() if "--index-url" in c)
        self.assertIn("https://example.invalid/cpu", place)
        self.assertIn("torch==2.13.0+cpu", place[-1])
        (self.bin / "installed").unlink()
        (self.bin / "log").unlink()
        code, said = self.at_a_terminal(f"{self.bin}\n")
        self.assertEqual(code, 0, said)
        self.assertTrue(any("--no-index" in c and str(self.bin) in c for c in self.installs()))
        (self.bin / "installed").unlink()
        code, said = self.at_a_terminal("maybe\n")
        self.assertEqual(code, 2, said)
        self.assertIn("neither", said)

    # An export by a Python that has no packages of others; that of our environment notes what it is told.
    EXPORT = ("-S", "-c", "import sys; from etprof import bootstrap; from etprof.export import cli; "
              "print(bootstrap.find_python(cli.parse(sys.argv[1:])))", "toy_cnn")

    def test_an_export_installs_nothing_unasked(self):
        """Where PyTorch's CPU build is at hand, too."""
        self.offer_cpu()
        done = command(*self.EXPORT, env=self.export_env())
        self.assertIn("EnvironmentProblem", done.stderr)
        for word in ("nothing was installed", bootstrap.NEEDS, str(self.venv), "--install"):
            self.assertIn(word, done.stderr)
        self.assertEqual(self.installs(), [])
        self.assertEqual(command(*self.EXPORT, "--install", env=self.export_env()).stdout, f"{self.bin}/python\n")
        self.assertTrue(self.installs())

    def test_an_export_asks_at_a_terminal(self):
        self.offer_cpu()
        for answer, code in (("n\n", 1), ("\n", 1), ("y\n", 0)):
            found, said = self.at_a_terminal(answer, self.EXPORT)
            self.assertEqual(found, code, said)
            self.assertEqual((said.count("? [y/N"), bool(self.installs())), (1, code == 0), said)

    def test_setting_up_asks_at_a_terminal_and_says_the_command_without_one(self):
        self.offer_cpu()
        words = ("-m", "etprof.bootstrap", "--ask", "--venv", str(self.venv))
        done = command(*words, env=self.export_env())
        self.assertEqual((done.returncode, self.installs()), (0, []), done.stderr)
        for word in (bootstrap.NEEDS, str(self.venv), "etprof export MODEL --install"):
            self.assertIn(word, done.stderr)
        for answer, installed in (("n\n", False), ("y\n", True)):
            code, said = self.at_a_terminal(answer, words)
            self.assertEqual((code, said.count("? [y/N"), bool(self.installs())), (0, 1, installed), said)

    def test_allow_cuda_asks_nothing(self):
        bootstrap.make_venv(self.venv, allow_cuda=True)
        self.assertTrue("nvidia-cublas" in self.torch()[-1])

    def test_allow_cuda_takes_the_cpu_build_where_it_is(self):
        self.offer_cpu()
        bootstrap.make_venv(self.venv, allow_cuda=True)
        self.assertFalse("nvidia" in "".join(self.torch()))

    def test_a_mac_is_asked_nothing(self):
        with mock.patch.object(packages.sys, "platform", "darwin"):
            bootstrap.make_venv(self.venv)
        self.assertEqual(len(self.torch()), 1)
        self.assertRegex(self.torch()[0], r"(?m)^torch==2\.13\.0 ")

    def test_options_reach_pip(self):
        self.offer_cpu()
        bootstrap.make_venv(self.venv, ["--no-cache-dir"], str(self.venv))
        for call in self.installs():
            for word in ("--no-cache-dir", "--find-links"):
                self.assertIn(word, call)

    def test_named_index_takes_the_place_of_the_others_for_torch_alone(self):
        os.environ["ETPROF_TORCH_INDEX"] = "https://example.invalid/cpu"
        self.addCleanup(os.environ.pop, "ETPROF_TORCH_INDEX", None)
        bootstrap.make_venv(self.venv)
        for call in self.installs():
            self.assertEqual("--index-url" in call, bool(re.search(r"^torch==", call[-1], re.M)), call[:-1])

    def test_ready_environment_is_left_alone(self):
        (self.bin / "installed").touch()
        bootstrap.make_venv(self.venv)
        self.assertEqual(self.installs(), [])

    def test_wheel_folder_must_exist(self):
        with self.assertRaises(errors.UsageError):
            bootstrap.make_venv(self.venv, wheel_dir="/dev/null/absent")

    def test_what_models_need_is_pinned_too(self):
        known = packages.entries("export", "models")
        for module in packages.EXTRAS:
            self.assertLessEqual(set(packages.packages_for([module])), set(known), module)
        packages.install_for_model(str(self.bin / "python"), ["hydra", "torchvision"])
        call = self.installs()[-1]
        self.assertIn("--require-hashes", call)
        for name in ("hydra-core==", "omegaconf==", "torchvision=="):
            self.assertIn(name, call[-1])
        self.assertNotIn("torch==", call[-1])

    def test_a_module_that_nobody_pinned_is_not_installed(self):
        with self.assertRaises(errors.EnvironmentProblem) as caught:
            packages.install_for_model(str(self.bin / "python"), ["surely_evil"])
        self.assertIn("no version is pinned", str(caught.exception))
        self.assertEqual(self.installs(), [])


class RealPip(unittest.TestCase):
    """What pip itself makes of the lock files."""

    @unittest.skipUnless(sys.platform == "linux", "the lock file of CPU builds is for Linux")
    def test_another_file_of_the_same_name_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
            tag = f"cp3{sys.version_info.minor}"
            info = "torch-2.13.0+cpu.dist-info"
            files = {
                "torch/__init__.py": "raise SystemExit('not torch')",
                f"{info}/METADATA": "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0+cpu\n",
                f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n"
                                        f"Tag: {tag}-{tag}-linux_{os.uname().machine}\n",
                f"{info}/RECORD": "",
            }
            wheel = folder / f"torch-2.13.0+cpu-{tag}-{tag}-linux_{os.uname().machine}.whl"
            with zipfile.ZipFile(wheel, "w") as out:
                for path, text in files.items():
                    out.writestr(path, text)
            python = str(folder / "venv/bin/python")
            alone = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}  # not what this machine offers besides
            with mock.patch.dict(os.environ, alone), self.assertRaises(errors.EnvironmentProblem) as caught:
                packages.install(python, packages.whole("torch-cpu"), packages.place_options(str(folder)))
            self.assertRegex(str(caught.exception), "(?i)hash|expected sha256|got")
            self.assertEqual(list(folder.glob("venv/lib/python3*/site-packages/torch")), [])


class GoesOn(unittest.TestCase):
    """A script that needs the packages goes on in an interpreter that has them, with its own words."""

    def attempt(self, here, there, **how):
        with mock.patch.object(bootstrap, "have_packages", lambda: here), \
                mock.patch.object(bootstrap, "present_python", lambda: there), \
                mock.patch.object(sys, "argv", ["started as", "a b", "c"]), \
                mock.patch.object(bootstrap.os, "execv") as execv:
            bootstrap.with_packages("/folder/script.py", **how)
        return [call.args for call in execv.call_args_list]

    def test_here(self):
        self.assertEqual(self.attempt(True, "/other/python"), [])

    def test_elsewhere(self):
        python = "/other/python"
        self.assertEqual(self.attempt(False, python), [(python, [python, "/folder/script.py", "a b", "c"])])

    def test_nowhere(self):
        with self.assertRaisesRegex(errors.EtprofError, "has the executorch package"):
            self.attempt(False, None)
        with self.assertRaisesRegex(SystemExit, "etprof export"):
            self.attempt(False, None, missing=SystemExit)


class Interpreter(unittest.TestCase):
    def test_named_interpreter_without_the_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "python"
            python.write_text(FAKE.format(python=sys.executable))
            python.chmod(0o755)
            done = command("-m", "etprof.export", "toy_cnn", "--python", python, cwd=ROOT)
            self.assertEqual(done.returncode, 5)
            self.assertIn("lacks torch", done.stderr)

    def test_unknown_model_is_refused_before_anything_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            # An interpreter without the packages, and an environment that would have to be made first.
            done = command("-S", ROOT / "python/etprof/start.py", "export", "surely_absent", cwd=folder,
                           env={"ETPROF_VENV": f"{folder}/venv", "VIRTUAL_ENV": ""}, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("no model 'surely_absent'", done.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_named_interpreter_that_is_none(self):
        done = command("-m", "etprof.export", "toy_cnn", "--python", "/dev/null/absent", cwd=ROOT)
        self.assertEqual(done.returncode, 5)
        self.assertIn("/dev/null/absent", done.stderr)

    def test_option_does_not_loop(self):
        self.assertEqual(bootstrap.without_python_option(["a", "--python", "p", "--python=q", "b"]),
                         ["a", "b"])


if __name__ == "__main__":
    unittest.main()
