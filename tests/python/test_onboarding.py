# SPDX-License-Identifier: Apache-2.0
# The examples of docs/export.md run as printed, and the EdgeTAM loader with a stand-in checkout.
import os
import re
import sys
import textwrap
import types
import unittest
from unittest import mock

from support import NEEDS_TORCH, ROOT, ExportCase, hidden, operators

GUIDE = ROOT / "docs" / "export.md"


def examples():
    """{file name: code} of the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    return dict(re.findall(r"^`(\w+\.py)`\n\n```python\n(.*?)^```$", text, re.M | re.S))


@NEEDS_TORCH
class Guide(ExportCase):
    def setUp(self):
        super().setUp()
        for name, code in examples().items():
            (self.folder / name).write_text(code)

    def source(self, name, cls="Model"):
        return f"{self.folder / name}:{cls}"

    def test_all_examples_are_found(self):
        self.assertEqual(set(examples()), {"wrapper.py", "replace.py", "shapes.py", "control.py",
                                           "half.py"})

    def test_wrapper(self):
        entry = self.exported(self.source("wrapper.py")).entry
        shapes = [o["shape"] for o in entry["methods"][0]["outputs"]]
        self.assertEqual(shapes, [[1, 8, 32, 32], [1, 8]])

    def test_replace(self):
        before = self.exported(self.source("replace.py", "Before")).entry
        after = self.exported(self.source("replace.py")).entry
        self.assertGreater(before["delegation"]["nodes_undelegated"], 0)
        self.assertEqual(after["delegation"]["nodes_undelegated"], 0)

    def test_replacement_is_the_same_function(self):
        import torch

        space = {}
        exec(examples()["replace.py"], space)
        x = torch.linspace(-30, 30, 601)
        difference = (space["Mish"]()(x) - space["MishInBackendOperators"]()(x)).abs().max()
        self.assertLess(difference.item(), 1e-5)

    def test_shapes(self):
        # Rows that depend on values: the runtime can, no backend takes it, and nothing breaks here.
        before = self.exported(self.source("shapes.py", "Before")).entry["delegation"]
        self.assertEqual((before["partitions"], before["nodes_delegated"]), (0, 0))
        gathered = [u for u in before["undelegated"] if u["operator"] == "aten.index.Tensor"]
        self.assertEqual([u["shape"] for u in gathered], [[None, 4]])
        self.exported(self.source("shapes.py"))
        entry = self.exported(self.source("shapes.py", "Batches")).entry
        rows = [s["inputs"][0][0] for s in entry["checks"][0]["other_shapes"]]
        self.assertEqual(rows, [2, 64])

    def test_half(self):
        run = self.refused(4, "float32 tensors of its own", self.source("half.py", "Before"),
                           "--dtype", "fp16")
        code = examples()["half.py"].splitlines()
        line = int(re.search(r"half\.py:(\d+)", run.err).group(1))
        self.assertIn("torch.bmm", code[line - 1])
        self.exported(self.source("half.py"), "--dtype", "fp16")

    def test_control_flow(self):
        run = self.refused(4, "cannot be exported", self.source("control.py", "Before"))
        code = examples()["control.py"].splitlines()
        line = int(re.search(r"control\.py:(\d+)", run.err).group(1))
        self.assertIn("if x.mean()", code[line - 1])
        self.exported(self.source("control.py"))


@NEEDS_TORCH
class NewModel(ExportCase):
    def test_a_new_model_exports_as_it_is(self):
        from etprof import models

        models.new_model("fresh", self.folder)
        with mock.patch.dict(os.environ, {"ETPROF_MODELS": str(self.folder)}):
            entry = self.exported("fresh").entry
        self.assertEqual(entry["model"]["kind"], "folder")
        self.assertEqual(entry["file"], "fresh_xnnpack_fp32.pte")

    def test_an_import_error_in_a_folder_is_shown(self):
        from etprof import models

        models.new_model("bad", self.folder)
        (self.folder / "bad" / "model.py").write_text("import surely_not_installed\n")
        self.refused(4, "surely_not_installed", str(self.folder / "bad"))


ENCODER = """
    import torch
    from torch import nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk = nn.Conv2d(3, 4, 16, stride=16)

        def forward(self, x):
            y = self.trunk(x)
            return {"backbone_fpn": [y, y[:, :, ::2, ::2]], "vision_pos_enc": []}
"""


@NEEDS_TORCH
class EdgeTam(ExportCase):
    """The loader's own steps; hydra is replaced by something that builds a small encoder."""

    def setUp(self):
        super().setUp()
        import torch

        root = self.folder / "EdgeTAM"
        (root / "sam2" / "configs").mkdir(parents=True)
        (root / "sam2" / "build_sam.py").write_text("")
        (root / "LICENSE").write_text("")
        space = {}
        exec(textwrap.dedent(ENCODER), space)
        self.encoder = space["Encoder"]
        self.checkpoint = self.folder / "edgetam.pt"
        self.weights = {f"image_encoder.{k}": v for k, v in self.encoder().state_dict().items()}
        torch.save({"model": self.weights}, self.checkpoint)
        self.environment = {"EDGETAM_ROOT": str(root), "EDGETAM_CHECKPOINT": str(self.checkpoint)}
        self.created, self.fails_with = [], None

    def hydra(self):
        """Stand-ins for hydra and timm; the encoder asks timm for weights, as the real one does."""
        timm, models = types.ModuleType("timm"), types.ModuleType("timm.models")
        timm.__path__ = []
        timm.models = models
        models.create_model = lambda name, **how: self.created.append(how)
        vision = types.ModuleType("torchvision")
        package = types.ModuleType("hydra")
        package.__path__ = []
        core = types.ModuleType("hydra.core")
        core.__path__ = []
        search = types.ModuleType("hydra.core.global_hydra")
        utils = types.ModuleType("hydra.utils")
        package.compose = lambda name: types.SimpleNamespace(
            model=types.SimpleNamespace(image_encoder=name))
        package.initialize_config_dir = mock.MagicMock()
        search.GlobalHydra = mock.MagicMock()
        utils.instantiate = self.instantiate
        return {"timm": timm, "timm.models": models, "torchvision": vision,
                "hydra": package, "hydra.core": core, "hydra.core.global_hydra": search,
                "hydra.utils": utils, "omegaconf": types.ModuleType("omegaconf")}

    def instantiate(self, *_, **__):
        sys.modules["timm.models"].create_model("backbone", pretrained=True, in_chans=3)
        self.assertEqual(os.environ.get("HF_HUB_OFFLINE"), "1")
        if self.fails_with:
            raise self.fails_with
        return self.encoder()

    def run_with(self, check, **environment):
        # Only these names: what an export imports meanwhile must stay imported.
        saved = {name: sys.modules.get(name) for name in self.hydra()}
        sys.modules.update(self.hydra())
        try:
            with mock.patch.dict(os.environ, {**self.environment, **environment}):
                return check()
        finally:
            for name, module in saved.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module

    def test_exports_with_the_weights_of_the_checkpoint(self):
        run = self.run_with(lambda: self.exported("edgetam_image_encoder"))
        self.assertIn("Apache", run.err)
        self.assertIn("sha256", run.err)
        self.assertEqual([o["shape"] for o in run.entry["methods"][0]["outputs"]],
                         [[1, 4, 64, 64], [1, 4, 32, 32]])
        self.assertIn("aten.convolution.default", operators(run.entry))
        self.assertEqual(self.created, [{"pretrained": False, "in_chans": 3}])

    def test_random_weights_when_asked_for(self):
        run = self.run_with(lambda: self.exported("edgetam_image_encoder"), EDGETAM_CHECKPOINT="seeded")
        self.assertIn("random weights", run.err)

    def test_random_weights_are_calibrated_with_seeded_images(self):
        run = self.run_with(lambda: self.exported("edgetam_image_encoder", "--dtype", "int8"),
                            EDGETAM_CHECKPOINT="seeded")
        self.assertEqual(run.entry["calibration"], {"source": "model", "samples": 4})
        self.assertFalse(any("--calibrate" in w for w in run.entry["warnings"]), run.entry["warnings"])

    def test_a_checkpoint_asks_for_samples(self):
        run = self.run_with(lambda: self.exported("edgetam_image_encoder", "--dtype", "int8"))
        self.assertEqual(run.entry["calibration"], {"source": "example-inputs", "samples": 1})
        self.assertTrue(any("--calibrate FILE.npz" in w for w in run.entry["warnings"]), run.entry["warnings"])

    def test_needs_are_said_at_once(self):
        with hidden("hydra", "omegaconf", "timm", "torchvision"), mock.patch.dict(os.environ, self.environment):
            run = self.refused(5, "hydra, omegaconf, timm, torchvision", "edgetam_image_encoder")
        for package in ("timm==", "torchvision==", "hydra-core=="):
            self.assertIn(package, run.err)

    def test_errors_of_hydra_are_unfolded(self):
        """InstantiationException from ImportError from the reason, as hydra 1.3 chains them."""
        wrapper = type("InstantiationException", (Exception,), {"__module__": "hydra.errors"})

        def chained(reason):
            middle = ImportError(f"Error loading 'sam2.modeling':\n{reason!r}")
            middle.__cause__ = reason
            outer = wrapper("Error locating target 'sam2.modeling', set env var HYDRA_FULL_ERROR=1")
            outer.__cause__ = middle
            return outer

        self.fails_with = chained(ValueError("d_model must be 256"))
        run = self.run_with(lambda: self.refused(4, "ValueError: d_model must be 256",
                                                 "edgetam_image_encoder"))
        self.assertNotIn("HYDRA_FULL_ERROR", run.err)
        self.fails_with = chained(ModuleNotFoundError("No module named 'timm'", name="timm.layers"))
        self.run_with(lambda: self.refused(5, "needs the package timm", "edgetam_image_encoder"))

    def test_missing_checkout_and_checkpoint(self):
        self.run_with(lambda: self.refused(5, "EDGETAM_ROOT", "edgetam_image_encoder"),
                      EDGETAM_ROOT="/dev/null/absent")
        self.run_with(lambda: self.refused(5, "EDGETAM_CHECKPOINT", "edgetam_image_encoder"),
                      EDGETAM_CHECKPOINT="/dev/null/absent")

    def test_wrong_hash(self):
        self.run_with(lambda: self.refused(4, "expected 00", "edgetam_image_encoder"),
                      EDGETAM_CHECKPOINT_SHA256="00" * 32)

    def test_missing_weight_is_an_error(self):
        import torch

        del self.weights["image_encoder.trunk.bias"]
        torch.save({"model": self.weights}, self.checkpoint)
        run = self.run_with(lambda: self.export("edgetam_image_encoder"))
        self.assertEqual(run.code, 4, run.err)
        self.assertIn("trunk.bias", run.err)

    def test_not_a_checkpoint(self):
        self.checkpoint.write_bytes(b"<html>not found</html>")
        run = self.run_with(lambda: self.export("edgetam_image_encoder"))
        self.assertEqual(run.code, 4, run.err)
        self.assertIn("not a checkpoint", run.err)


@NEEDS_TORCH
@unittest.skipUnless(os.environ.get("ETPROF_EDGETAM"),
                     "set ETPROF_EDGETAM to a checkout of facebookresearch/EdgeTAM")
class RealEdgeTam(ExportCase):
    """The checkout itself, random weights. It takes minutes."""

    def setUp(self):
        super().setUp()
        environment = mock.patch.dict(os.environ, EDGETAM_ROOT=os.environ["ETPROF_EDGETAM"],
                                      EDGETAM_CHECKPOINT="seeded")
        environment.start()
        self.addCleanup(environment.stop)

    def test_exports_without_a_download_and_without_encodings(self):
        import urllib.request

        from etprof.export.torchvision_ops import declare_operators

        declare_operators()  # timm imports torchvision, whose own may not load beside this torch
        import timm.models._builder as builder

        fetch = mock.Mock(side_effect=AssertionError("fetches"))
        with mock.patch.object(builder, "load_pretrained", fetch), \
                mock.patch.object(urllib.request, "urlopen", fetch):
            run = self.exported("edgetam_image_encoder")
        fetch.assert_not_called()
        self.assertEqual([o["shape"] for o in run.entry["methods"][0]["outputs"]],
                         [[1, 256, 256, 256], [1, 256, 128, 128], [1, 256, 64, 64]])
        # 4.85 M weights in float32 are 19.4 MB; the three encodings would be 88 MB more.
        self.assertLess(run.entry["bytes"], 21_000_000)
        self.assertGreater(run.entry["bytes"], 19_000_000)

    def test_int8_is_as_near_to_float32_as_eager(self):
        """XNNPACK and eager round this depth apart (0.973 between them), each about 0.98 from float32."""
        run = self.exported("edgetam_image_encoder", "--dtype", "int8")
        self.assertEqual(run.entry["calibration"]["samples"], 4)
        self.assertGreater(run.entry["checks"][0]["against_fp32"]["cosine"], 0.975)


if __name__ == "__main__":
    unittest.main()
