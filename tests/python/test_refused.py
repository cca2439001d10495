# SPDX-License-Identifier: Apache-2.0
# What the exporter must refuse, how it says so, and that a failed or interrupted export leaves
# no file under the final name.
import os
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

from support import NEEDS_TORCH, ROOT, ExportCase, hidden

sys.path.insert(0, str(ROOT / "tests/tools"))
from checks import hear_signals

LINEAR = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            return self.fc(x)

    class Base:
        def get_eager_model(self):
            return Net()
        def get_example_inputs(self):
            return (torch.randn(2, 4),)
"""


FETCHES = """
    from urllib.error import URLError

    class Net(nn.Module):
        pass

    class Base:
        def get_eager_model(self):
            raise URLError("no network")
        def get_example_inputs(self):
            return (torch.randn(2, 4),)
"""


@NEEDS_TORCH
class Refused(ExportCase):
    def test_weights_that_cannot_be_fetched(self):
        self.refused(5, "no network; try again with a network, or put the file into",
                     f"{self.model_file(FETCHES)}:Base")

    def test_unknown_model(self):
        self.refused(2, "did you mean toy_cnn", "toy_cn")
        self.refused(2, "no model 'zzz'", "zzz")
        self.refused(2, "no such file", "missing.py:Class")
        self.refused(2, "no such folder", "./missing")
        self.refused(2, "names no class", str(self.model_file(LINEAR)))
        self.refused(2, "did you mean Base", f"{self.model_file(LINEAR)}:Bas")
        self.refused(2, "no example model", "executorch:mobilnet")

    def test_module_that_names_no_inputs(self):
        path = self.model_file("import torch\n\nclass Net(torch.nn.Module):\n    pass\n\nclass Half:\n"
                               "    def get_eager_model(self):\n        return torch.nn.ReLU()\n")
        self.refused(4, "a torch.nn.Module without get_eager_model and get_example_inputs: give it", f"{path}:Net")
        self.refused(4, "a class without get_example_inputs: give it", f"{path}:Half")

    def test_missing_optional_package(self):
        with hidden("timm"):
            self.refused(5, "pip install --no-deps timm==", "timm:resnet10t")

    def test_import_error_inside_the_model_says_where(self):
        path = self.model_file("import surely_not_installed\n")
        run = self.refused(4, "surely_not_installed", f"{path}:Any")
        self.assertIn("model.py:3", run.err)

    def test_error_in_the_constructor_says_where(self):
        path = self.model_file("""
            class Broken:
                def get_eager_model(self):
                    raise KeyError("weights")
                def get_example_inputs(self):
                    return ()
        """)
        self.assertIn("model.py:6", self.refused(4, "KeyError", f"{path}:Broken").err)

    def test_not_a_module(self):
        path = self.model_file(LINEAR + """
    class Odd(Base):
        def get_eager_model(self):
            return lambda x: x
        """)
        self.refused(4, "expected a torch.nn.Module", f"{path}:Odd")

    def test_wrong_shapes_fail_in_eager_first(self):
        path = self.model_file(LINEAR + """
    class Wrong(Base):
        def get_example_inputs(self):
            return (torch.randn(2, 5),)
        """)
        run = self.refused(4, "fails on its own example inputs", f"{path}:Wrong")
        self.assertIn("model.py:", run.err)

    def test_data_dependent_control_flow(self):
        path = self.own_model("""
            class Model(Own):
                def forward(self, x):
                    if x.sum() > 0:
                        return x + 1
                    return x - 1
                def get_example_inputs(self):
                    return (torch.ones(3),)
        """)
        run = self.refused(4, "cannot be exported", f"{path}:Model")
        self.assertIn("model.py:10", run.err)

    def test_unwritable_folder(self):
        blocker = self.folder / "file"
        blocker.write_text("")
        run = self.export("toy_cnn", out=blocker / "artifacts")
        self.assertEqual(run.code, 5, run.err)
        self.assertIn("cannot write in", run.err)
        self.assertNotIn("Traceback", run.err)

    def test_fallback_is_loud_and_truthful(self):
        with hidden("timm"):
            run = self.exported("timm:resnet10t", "--fallback", "toy_cnn")
        self.assertIn("warning", run.err)
        self.assertEqual(run.entry["file"], "toy_cnn_xnnpack_fp32.pte")
        self.assertEqual(run.entry["model"]["source"], "toy_cnn")


@NEEDS_TORCH
class FailedCheck(ExportCase):
    def tracing(self):
        """A module that computes something else where it is traced."""
        return self.own_model("""
            class Model(Own):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(4, 4)

                def forward(self, x):
                    return self.fc(x) + (1.0 if torch.compiler.is_compiling() else 0.0)
                def get_example_inputs(self):
                    return (torch.randn(2, 4),)
        """)

    def test_failed_check_marks_the_file_and_exits_1(self):
        run = self.export(f"{self.tracing()}:Model")
        self.assertEqual(run.code, 1, run.err)
        names = {p.name for p in self.out.iterdir()}
        self.assertIn("model_Model_xnnpack_fp32.pte.failed", names)
        self.assertNotIn("model_Model_xnnpack_fp32.pte", names)
        self.assertEqual(run.entry["state"], "failed")
        self.assertIn("does not agree", run.err)
        self.assertIn("; --tolerance 0.", run.err)

    def test_a_module_that_keeps_a_state_is_not_deterministic(self):
        path = self.own_model("""
            class Model(Own):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(4, 4)
                    self.calls = 0

                def forward(self, x):
                    self.calls += 1
                    return self.fc(x) + self.calls
                def get_example_inputs(self):
                    return (torch.randn(2, 4),)
        """)
        run = self.export(f"{path}:Model")
        self.assertEqual((run.code, run.entry["state"]), (3, "unproven"), run.err)
        self.assertIn("the module keeps a state", run.err)

    def test_a_model_that_leaves_the_range_of_float16_is_told_so(self):
        """300² = 90,000 > 65,504 in eager PyTorch too: the precision is the reason, not the export."""
        path = self.own_model("""
            class Model(Own):
                def forward(self, x):
                    return x * x
                def get_example_inputs(self):
                    return (torch.full((1, 4), 300.0),)
        """)
        run = self.export(f"{path}:Model", "--dtype", "fp16")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn("eager PyTorch in fp16 is as far from fp32", run.err)
        self.assertIn("range of float16", run.err)

    def test_failed_export_takes_the_old_good_file_away(self):
        good = LINEAR + "\n    class Model(Base): pass\n"
        kept = self.out / "model_Model_xnnpack_fp32.pte"
        self.exported(f"{self.model_file(good)}:Model")
        self.assertTrue(kept.exists())
        self.assertEqual(self.export(f"{self.tracing()}:Model").code, 1)
        self.assertFalse(kept.exists())
        self.exported(f"{self.model_file(good)}:Model")
        self.assertFalse(kept.with_name(kept.name + ".failed").exists())

    def test_damaged_program_is_noticed(self):
        from etprof.export import job

        real = job.write_files

        def flip(options, scratch, names, lowered, verify):
            files = real(options, scratch, names, lowered, verify)
            pte = scratch / names.pte
            data = bytearray(pte.read_bytes())
            for i in range(len(data) * 3 // 4, len(data)):  # weights
                data[i] ^= 0x15
            pte.write_bytes(data)
            return files

        with mock.patch.object(job, "write_files", flip):
            run = self.export("toy_cnn")
        self.assertEqual(run.code, 1, run.err)
        self.assertEqual(run.entry["state"], "failed")

    def test_truncated_program_is_noticed(self):
        from etprof.export import job

        real = job.write_files

        def cut(options, scratch, names, lowered, verify):
            files = real(options, scratch, names, lowered, verify)
            pte = scratch / names.pte
            pte.write_bytes(pte.read_bytes()[:2000])
            return files

        with mock.patch.object(job, "write_files", cut):
            run = self.export("toy_cnn")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn("cannot load", run.err)

    def test_comparison_itself(self):
        import torch
        from etprof.export.verify import compare

        ones = torch.ones(4)
        limits = (1e-3, 0.999)
        self.assertTrue(compare([ones], [ones], limits).ok)
        nan = torch.tensor([1.0, float("nan"), 1.0, 1.0])
        for got in ([ones * 1.01], [-ones], [nan], [torch.ones(5)], [], [ones, ones],
                    [torch.tensor([1.0, 1.0, 1.0, 1.1])]):
            self.assertFalse(compare(got, [ones], limits).ok, got)
        whole = torch.arange(4)
        self.assertTrue(compare([whole], [whole], limits).ok)
        self.assertFalse(compare([whole + 1], [whole], limits).ok)


@NEEDS_TORCH
class Interrupted(ExportCase):
    def setUp(self):
        super().setUp()
        hear_signals()

    def start(self, **how):
        path = self.model_file(LINEAR + """
    class Slow(Base):
        def get_eager_model(self):
            import time
            print("building", flush=True)
            time.sleep(60)
        """)
        return subprocess.Popen(
            [sys.executable, "-m", "etprof.export", f"{path}:Slow", "--outdir", str(self.out)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **how)

    def test_signal_that_nohup_ignores_stays_ignored(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        with self.start(preexec_fn=ignore) as child:
            for line in child.stderr:
                if line.startswith("building"):
                    break
            child.send_signal(signal.SIGHUP)
            time.sleep(0.2)
            child.terminate()
            text = child.stderr.read()
            child.wait(30)
        self.assertEqual(child.returncode, 128 + signal.SIGTERM, text)

    def test_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.start() as child:
                for line in child.stderr:
                    if line.startswith("building"):
                        break
                child.send_signal(number)
                text = child.stderr.read()
                child.wait(30)
            self.assertEqual(child.returncode, 128 + number, text)
            self.assertIn("nothing was written", text)
            self.assertNothingLeft(self.out)

    def test_kill_leaves_scratch_that_the_next_export_removes(self):
        self.out.mkdir()
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        (self.out / f".etprof-export-{dead.pid}").mkdir()
        mine = self.out / f".etprof-export-{os.getppid()}"
        mine.mkdir()
        self.exported("toy_cnn")
        left = [p.name for p in self.out.iterdir() if p.name.startswith(".")]
        self.assertEqual(left, [mine.name])

    def test_signal_while_lowering(self):
        """The scratch folder goes as well, and no half file stays."""
        done = subprocess.Popen(
            [sys.executable, "-m", "etprof.export", "image_encoder", "--outdir", str(self.out)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, cwd=ROOT,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with done as child:
            for line in child.stderr:
                if "exporting" in line:
                    break
            time.sleep(0.5)
            child.terminate()
            text = child.stderr.read()
            child.wait(60)
        self.assertEqual(child.returncode, 128 + signal.SIGTERM, text)
        self.assertNothingLeft(self.out)


if __name__ == "__main__":
    unittest.main()
