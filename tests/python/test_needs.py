# SPDX-License-Identifier: Apache-2.0
# What models need beside PyTorch: said all at once, and installed on first use where that is ours to do.
import contextlib
import io
import unittest
from unittest import mock

from etprof import bootstrap, errors, restart
from support import NEEDS_TORCH, ExportCase, hidden
from test_bootstrap import FakeInterpreter

LATER = """
    class Later:
        def get_eager_model(self):
            import timm.layers
        def get_example_inputs(self):
            return ()
"""


class Install(FakeInterpreter):
    """With a stand-in for the interpreter of our own environment, which notes how pip is called."""

    def test_what_is_installed_is_said(self):
        (self.bin / "installed").touch()  # what it answers with when it is asked what it has
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            bootstrap.add_packages(str(self.bin / "python"), ["timm", "hydra"], ["--no-cache-dir"])
        call, = self.installs()
        self.assertIn("--no-cache-dir", call)
        for package in ("timm==", "torchvision==", "hydra-core=="):
            self.assertIn(package, said.getvalue())
            self.assertIn(package, call[-1])

    def test_what_is_still_missing_afterwards_is_an_error(self):
        with mock.patch.object(bootstrap, "lacking", lambda _, modules: list(modules)):
            with self.assertRaisesRegex(errors.EnvironmentProblem, "still cannot import timm"):
                bootstrap.add_packages(str(self.bin / "python"), ["timm"])

    def test_our_environment(self):
        with mock.patch.dict("os.environ", ETPROF_VENV=str(self.venv)):
            self.assertEqual(bootstrap.own_environment(), self.venv)
            self.assertTrue(bootstrap.is_own(str(self.bin / "python")))
            self.assertFalse(bootstrap.is_own("/usr/bin/python3"))


class Anew(Exception):
    """Stands for the process that takes this one's place."""


@NEEDS_TORCH
class Export(ExportCase):
    """The export's side: when it installs, when it does not, and that it begins anew only once."""

    def attempt(self, source, *options, own=True, fails=None, added=""):
        from etprof.export import cli

        self.added = []

        def add(_python, modules, *_):
            self.added += modules
            if fails:
                raise errors.EnvironmentProblem(fails)

        environment = {cli.ADDED: added} if added else {}
        with mock.patch.object(bootstrap, "is_own", lambda _: own), \
                mock.patch.object(bootstrap, "add_packages", add), \
                mock.patch.object(restart, "again", mock.Mock(side_effect=Anew)), \
                mock.patch.object(cli.os, "dup2"), mock.patch.dict("os.environ", environment), \
                hidden("timm", "torchvision"):
            return self.export(source, *options, install=True)

    def test_is_installed_and_begins_anew(self):
        run = self.attempt("timm:resnet10t")
        self.assertIn("Anew", run.err)
        self.assertEqual(self.added, ["timm"])

    def test_import_in_the_middle_of_a_model(self):
        run = self.attempt(f"{self.model_file(LATER)}:Later")
        self.assertIn("Anew", run.err)
        self.assertEqual(self.added, ["timm"])

    def test_once(self):
        run = self.attempt("timm:resnet10t", added="timm")
        self.assertEqual((run.code, self.added), (5, []), run.err)

    def test_an_interpreter_of_the_user_is_left_alone(self):
        run = self.attempt("timm:resnet10t", own=False)
        self.assertEqual((run.code, self.added), (5, []), run.err)
        self.assertIn("pip install --no-deps timm==", run.err)

    def test_no_install(self):
        run = self.attempt("timm:resnet10t", "--no-install")
        self.assertEqual((run.code, self.added), (5, []), run.err)

    def test_failure_says_both(self):
        run = self.attempt("timm:resnet10t", fails="no route to the index")
        self.assertEqual(run.code, 5, run.err)
        self.assertIn("needs the package timm", run.err)
        self.assertIn("no route to the index", run.err)

    def test_failure_with_a_fallback(self):
        run = self.attempt("timm:resnet10t", "--fallback", "toy_cnn", fails="no route to the index")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(run.entry["model"]["source"], "toy_cnn")


if __name__ == "__main__":
    unittest.main()
