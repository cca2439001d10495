# SPDX-License-Identifier: Apache-2.0
# Model list, model folders and everything else that works without torch.
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from etprof import bootstrap, errors, models, registry
from support import ROOT, command

IN_TREE = {"toy_cnn", "image_encoder", "squeeze_sam_like", "edgetam_like", "mobilenet_v3_small",
           "efficient_sam", "edgetam_image_encoder"}


class Listing(unittest.TestCase):
    def test_in_tree_models_are_listed_with_licence_and_inputs(self):
        done = command("-m", "etprof.export", "--list", "--format", "json", cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {r["name"]: r for r in json.loads(done.stdout)["models"]}
        self.assertLessEqual(IN_TREE, set(rows))
        for name in IN_TREE:
            self.assertTrue(rows[name]["license"], name)
            self.assertTrue(rows[name]["inputs"], name)
        self.assertEqual(rows["toy_cnn"]["missing"], [])

    def test_the_list_keeps_within_the_terminal(self):
        for width in (60, 80, 120, 200):
            done = command("-m", "etprof.export", "--list", cwd=ROOT, env={"COLUMNS": str(width)})
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line for line in done.stdout.splitlines() if " -m pip " not in line]
            self.assertLessEqual(max(map(len, lines)), width)
            self.assertIn("1x3x1024x1024", done.stdout.split())

    def test_missing_checkout_is_said(self):
        environment = {"EDGETAM_ROOT": "/dev/null/absent"}
        done = command("-m", "etprof.export", "--list", "--format", "json", cwd=ROOT, env=environment)
        row = [r for r in json.loads(done.stdout)["models"] if r["name"] == "edgetam_image_encoder"]
        self.assertTrue(any("EDGETAM_ROOT" in step for step in row[0]["missing"]))

    def test_missing_packages_are_shown_with_what_installs_them(self):
        folder = registry.ModelFolder("m", Path("."), {"needs": ["timm", "torch"]})
        for python in (None, str(bootstrap.own_environment() / "bin/python")):
            step, = models.missing_for(folder, {"timm"}, python)
            self.assertRegex(step, r"^timm, which the first export installs: .*\btimm==[0-9.]+")
        step, = models.missing_for(folder, {"timm"}, "/usr/bin/python3")
        self.assertRegex(step, r"^/usr/bin/python3 -m pip install --no-deps .*\btimm==[0-9.]+")
        self.assertEqual(models.missing_for(folder, set(), "/usr/bin/python3"), [])

    def test_nothing_here_imports_torch(self):
        code = ("import sys; from etprof import models, registry, bootstrap; models.listing(); "
                "import etprof.export.cli; sys.exit('torch' in sys.modules)")
        self.assertEqual(command("-c", code, cwd=ROOT).returncode, 0)

    def test_damaged_model_json(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "broken"
            model.mkdir()
            (model / "__init__.py").write_text("")
            (model / "model.json").write_text("{")
            done = command("-m", "etprof.export", "--list", env={"ETPROF_MODELS": folder})
            self.assertEqual(done.returncode, 4)
            self.assertIn("model.json", done.stderr)


class NewModel(unittest.TestCase):
    def test_new_writes_the_kit_shape_and_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            done = command("-m", "etprof.export", "--new", "my_net", cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            model = Path(folder) / "model_profiling" / "models" / "my_net"
            for file in ("__init__.py", "model.py", "vendor"):
                self.assertTrue((model / file).exists(), file)
            self.assertIn('register_model("my_net"', (model / "__init__.py").read_text())
            rows = json.loads(command("-m", "etprof.export", "--list", "--format", "json", cwd=folder).stdout)
            self.assertIn("my_net", [r["name"] for r in rows["models"]])

    def test_new_touches_nothing_that_exists(self):
        with tempfile.TemporaryDirectory() as folder:
            parent = Path(folder)
            models.new_model("net", parent)
            (parent / "net" / "model.py").write_text("mine")
            with self.assertRaises(errors.UsageError):
                models.new_model("net", parent)
            self.assertEqual((parent / "net" / "model.py").read_text(), "mine")

    def test_names_that_are_no_names(self):
        for name in ("../up", "Upper", "9lives", "a-b", ""):
            with self.assertRaises(errors.UsageError):
                models.new_model(name, Path(tempfile.gettempdir()))


class Registry(unittest.TestCase):
    def make(self, folder, text):
        model = Path(folder) / "m"
        model.mkdir()
        (model / "__init__.py").write_text(text)
        return model

    def test_folder_that_registers_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(errors.UsageError, "registers a model"):
                registry.load_folder(self.make(folder, ""))

    def test_registered_in_the_list_of_models(self):
        """As the learning path prints it: two lines in model_profiling/models/__init__.py, none in the folder."""
        for own in ("", None):
            with tempfile.TemporaryDirectory() as folder:
                model = self.make(folder, "")
                (model / "model.py").write_text("class YourModelClass: pass\n")
                if own is None:
                    (model / "__init__.py").unlink()
                (Path(folder) / "__init__.py").write_text(
                    "from etprof.registry import register_model\nfrom . import m\n"
                    "from .m.model import YourModelClass\nregister_model('m', YourModelClass)\n")
                self.assertEqual(registry.load_folder(model).cls.__name__, "YourModelClass")

    def test_the_list_is_not_run_for_a_folder_that_registers(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "__init__.py").write_text("raise SystemExit('never run')\n")
            model = self.make(folder, "from .. import register_model\nclass C: pass\nregister_model('m', C)\n")
            self.assertEqual(registry.load_folder(model).name, "m")

    def test_kit_style_relative_import(self):
        with tempfile.TemporaryDirectory() as folder:
            text = "from .. import register_model\nclass C: pass\nregister_model('m', C)\n"
            self.assertEqual(registry.load_folder(self.make(folder, text)).name, "m")

    def test_kit_style_base_class(self):
        with tempfile.TemporaryDirectory() as folder:
            text = ("from .. import register_model\nfrom ..model_base import EagerModelBase\n"
                    "class C(EagerModelBase):\n    def get_eager_model(self): pass\n"
                    "    def get_example_inputs(self): pass\n"
                    "class Half(EagerModelBase):\n    def get_eager_model(self): pass\n"
                    "register_model('m', C)\n")
            cls = registry.load_folder(self.make(folder, text)).cls
            self.assertIsNone(cls().get_dynamic_shapes())
            with self.assertRaises(TypeError):
                sys.modules[cls.__module__].Half()

    def test_a_base_class_of_the_folder_s_own_wins(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model_base.py").write_text("class EagerModelBase: mine = True\n")
            text = ("from .. import register_model\nfrom ..model_base import EagerModelBase\n"
                    "register_model('m', EagerModelBase)\n")
            self.assertTrue(registry.load_folder(self.make(folder, text)).cls.mine)

    def test_error_inside_is_not_hidden_and_not_remembered(self):
        with tempfile.TemporaryDirectory() as folder:
            model = self.make(folder, "import surely_not_installed\n")
            for _ in range(2):
                with self.assertRaises(ModuleNotFoundError):
                    registry.load_folder(model)

    def test_search_path_order(self):
        with tempfile.TemporaryDirectory() as folder:
            old = os.environ.get("ETPROF_MODELS")
            os.environ["ETPROF_MODELS"] = folder
            try:
                self.assertEqual(registry.search_path()[0], Path(folder))
            finally:
                os.environ.pop("ETPROF_MODELS")
                if old is not None:
                    os.environ["ETPROF_MODELS"] = old


class Usage(unittest.TestCase):
    """Usage errors are found before torch is loaded, so they cost nothing."""

    def check(self, needle, *argv):
        done = command("-m", "etprof.export", *argv, cwd=ROOT)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(needle, done.stderr)

    def test_usage(self):
        self.check("no model given")
        self.check("two models", "toy_cnn", "--model", "image_encoder")
        self.check("--dtype", "toy_cnn", "--dtype", "int3")
        self.check("needs --backend xnnpack", "toy_cnn", "--dtype", "int8", "--backend", "portable")
        self.check("--calibrate is for", "toy_cnn", "--calibrate", "4")
        self.check("exclude each other", "toy_cnn", "--static", "--dynamic-shape", "x:0=1..2")
        self.check("unrecognized", "toy_cnn", "--no-such-option")

    def test_help_names_the_exit_codes_and_the_grammar(self):
        done = command("-m", "etprof.export", "--help")
        self.assertEqual(done.returncode, 0)
        for needle in ("torchvision:NAME", "FILE.py:Class", "exit codes", "--calibrate"):
            self.assertIn(needle, done.stdout)

    def test_recipe_list(self):
        done = command("-m", "etprof.export", "--apply", "list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("layer-norm", done.stdout)


if __name__ == "__main__":
    unittest.main()
