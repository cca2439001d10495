# SPDX-License-Identifier: Apache-2.0
# Real exports: eight models in three precisions, and what the written files hold.
import hashlib
import json
import struct
import unittest
import zipfile

from support import HAVE_TORCH, NEEDS_TORCH, ROOT, SLOW, ExportCase, command

MODELS = ("toy_cnn", "image_encoder", "squeeze_sam_like", "edgetam_like", "mobilenet_v3_small",
          "torchvision:squeezenet1_1", "ds_cnn", "executorch:deep_autoencoder")


def have_torchvision():
    import importlib.util

    return importlib.util.find_spec("torchvision") is not None


@NEEDS_TORCH
class Matrix(ExportCase):
    def check(self, source, dtype):
        if ("torchvision" in source or "mobilenet" in source) and not have_torchvision():
            self.skipTest("torchvision is not installed")
        run = self.exported(source, "--dtype", dtype, *(
            ("--calibrate", "2") if dtype == "int8" else ()))
        entry = run.entry
        self.assertEqual(entry["state"], "ok")
        self.assertTrue(entry["file"].endswith(f"_xnnpack_{dtype}.pte"))
        pte = (self.out / entry["file"]).read_bytes()
        self.assertEqual(pte[4:8], b"ET12")
        self.assertEqual(hashlib.sha256(pte).hexdigest(), entry["sha256"])
        self.assertTrue(zipfile.is_zipfile(self.out / (entry["file"] + ".etrecord")))
        figures = entry["checks"][0]
        self.assertGreater(figures["against_fp32"]["cosine"], 0.95)
        self.assertGreaterEqual(entry["delegation"]["partitions"], 1)
        self.assertGreater(entry["delegation"]["macs_share"], 0.9)
        quantised = [o for o in entry["delegation"]["operators"] if "dequantize" in o["operator"]]
        self.assertEqual(bool(quantised), dtype == "int8", "the tag tells the truth")
        halves = entry["methods"][0]["inputs"][0]["dtype"] == "float16"
        self.assertEqual(halves, dtype == "fp16")


for _model in MODELS:
    for _dtype in ("fp32", "fp16", "int8"):
        def _test(self, source=_model, dtype=_dtype):
            self.check(source, dtype)

        _name = _model.replace(":", "_")
        setattr(Matrix, f"test_{_name}_{_dtype}", _test)


@NEEDS_TORCH
class Examples(ExportCase):
    def test_bare_names_are_those_of_executorch(self):
        from etprof.export import source
        from executorch.examples.models import MODEL_NAME_TO_MODEL

        self.assertEqual(source.EXAMPLES, set(MODEL_NAME_TO_MODEL))
        self.assertEqual(source.resolve("mv2").spec, "executorch:mv2")
        self.assertEqual(source.resolve("efficient_sam").kind, "folder", "a folder of ours comes first")


@NEEDS_TORCH
class Large(ExportCase):
    @SLOW
    def test_resnet18(self):
        self.exported("torchvision:resnet18", "--dtype", "int8", "--calibrate", "1")

    @SLOW
    def test_efficient_sam(self):
        self.exported("efficient_sam")
        self.exported("efficient_sam", "--dtype", "int8")
        run = self.export("efficient_sam", "--dtype", "fp16")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn("range of float16", run.err)


@NEEDS_TORCH
class Files(ExportCase):
    def test_inputs_are_the_raw_bytes_that_the_program_takes(self):
        path = self.model_file("""
            class Two:
                def get_eager_model(self):
                    class M(nn.Module):
                        def forward(self, ids, x):
                            return x[:, ids].sum(1) * 2.0
                    return M()
                def get_example_inputs(self):
                    return (torch.tensor([2, 0]), torch.tensor([[1.0, 2.0, 4.0]]))
        """)
        run = self.exported(f"{path}:Two")
        folder = self.out / (run.entry["file"] + ".inputs")
        listed = json.loads((folder / "inputs.json").read_text())
        self.assertEqual(listed["schema"], "etprof.inputs/1")
        inputs = listed["methods"][0]["inputs"]
        self.assertEqual([i["dtype"] for i in inputs], ["int64", "float32"])
        self.assertEqual((folder / inputs[0]["file"]).read_bytes(), struct.pack("<2q", 2, 0))
        self.assertEqual((folder / inputs[1]["file"]).read_bytes(), struct.pack("<3f", 1, 2, 4))

    def test_constants_that_nothing_reads_stay_out(self):
        """What a module remembers is in the trace, also when its answer is thrown away; 3 x 64 x 62 x 62
        floats would be 2.9 MB. A buffer that is written is state and stays."""
        path = self.model_file("""
            class Remembers(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.conv = nn.Conv2d(3, 8, 3)
                    self.spare = nn.Linear(500, 500)
                    self.register_buffer("count", torch.zeros(1))
                    self.cache = {}
                def forward(self, x):
                    y = self.conv(x)
                    key = tuple(y.shape[-2:])
                    if key not in self.cache:
                        self.cache[key] = torch.rand(3, 64, *key)
                    position = self.cache[key][None].repeat(x.shape[0], 1, 1, 1, 1)
                    self.count.add_(1.0)
                    return (y, position)[0] + self.count

            class Cached:
                def get_eager_model(self):
                    return Remembers()
                def get_example_inputs(self):
                    return (torch.rand(1, 3, 64, 64),)
        """)
        import torch
        from etprof.export import leftovers

        space = {}
        exec(path.read_text(), space)
        net, x = space["Remembers"]().eval(), torch.rand(1, 3, 64, 64)
        net(x)
        program = torch.export.export(net, (x,))
        dropped = leftovers.drop_unused(program)
        self.assertEqual(sorted(d for d in dropped if "spare" in d), ["spare.bias", "spare.weight"])
        self.assertEqual(len(dropped), 3, dropped)
        answers = []
        for module in (program.module(), net):
            module.count.zero_()
            answers.append(module(x))
        torch.testing.assert_close(*answers)

        path.write_text(path.read_text().replace("self.count.add_(1.0)", "pass"))
        run = self.exported(f"{path}:Cached")
        self.assertLess(run.entry["bytes"], 20_000)

    def test_names_of_files_tell_models_apart(self):
        one, two = (self.model_file(self.tiny(k), f"{name}.py") for k, name in ((1, "one"), (2, "two")))
        files = [self.exported(f"{path}:Model").entry["file"] for path in (one, two)]
        self.assertEqual(files, ["one_Model_xnnpack_fp32.pte", "two_Model_xnnpack_fp32.pte"])
        listed = json.loads((self.out / "export.json").read_text())["artifacts"]
        self.assertEqual([e["file"] for e in listed], files)

    def test_a_model_of_the_same_name_does_not_take_the_files(self):
        (self.folder / "b").mkdir()
        one, two = self.model_file(self.tiny(1), "m.py"), self.model_file(self.tiny(2), "b/m.py")
        kept = self.exported(f"{one}:Model").entry["sha256"]
        run = self.export(f"{two}:Model")
        self.assertEqual(run.code, 2, run.err)
        self.assertIn("--name", run.err)
        pte = self.out / "m_Model_xnnpack_fp32.pte"
        self.assertEqual(hashlib.sha256(pte.read_bytes()).hexdigest(), kept)
        self.exported(f"{one}:Model")
        entry = self.exported(f"{two}:Model", "--name", "other").entry
        self.assertEqual(entry["file"], "other_xnnpack_fp32.pte")
        for bad in ("../up", "", "a b", ".hidden"):
            self.assertEqual(self.export(f"{two}:Model", f"--name={bad}").code, 2, bad)

    @staticmethod
    def tiny(width):
        return f"""
            class Model:
                def get_eager_model(self):
                    return nn.Linear(4, {width})
                def get_example_inputs(self):
                    return (torch.randn(2, 4),)
        """

    def test_a_file_may_import_torchvision(self):
        if not have_torchvision():
            self.skipTest("torchvision is not installed")
        path = self.model_file("""
            import torchvision
            from torchvision.ops import nms

            class Net:
                def get_eager_model(self):
                    return torchvision.models.squeezenet1_1(weights=None)
                def get_example_inputs(self):
                    return (torch.randn(1, 3, 64, 64),)
        """)
        # A process of its own: in this one another test may have declared the operators.
        done = command("-m", "etprof.export", f"{path}:Net", "--quiet", "--outdir", self.out, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_export_json_keeps_one_entry_for_each_file(self):
        self.exported("toy_cnn")
        self.exported("toy_cnn", "--dtype", "fp16")
        self.exported("toy_cnn")
        document = json.loads((self.out / "export.json").read_text())
        self.assertEqual(document["schema"], "etprof.export/1")
        self.assertEqual([e["file"] for e in document["artifacts"]],
                         ["toy_cnn_xnnpack_fp16.pte", "toy_cnn_xnnpack_fp32.pte"])
        self.assertEqual(document["tool"]["executorch"], "1.5.1")

    def test_same_command_same_bytes(self):
        if not HAVE_TORCH:
            self.skipTest("needs torch")
        digests = set()
        for name in ("a", "b"):
            done = command("-m", "etprof.export", "toy_cnn", "--dtype", "int8", "--quiet",
                           "--outdir", self.folder / name, "--format", "json", cwd=ROOT)
            self.assertEqual(done.returncode, 0, done.stderr)
            digests.add(json.loads(done.stdout)["artifacts"][0]["sha256"])
        self.assertEqual(len(digests), 1)

    def test_macs_of_toy_cnn_by_hand(self):
        entry = self.exported("toy_cnn").entry
        by_hand = (48 * 48 * 32 * 3 + 24 * 24 * 64 * 32 + 12 * 12 * 128 * 64) * 9 + 128 * 1000
        self.assertEqual(entry["delegation"]["macs"], by_hand)

    def test_graph_json(self):
        self.exported("toy_cnn", "--save-graph")
        graph = json.loads((self.out / "toy_cnn_xnnpack_fp32.pte.graph.json").read_text())
        self.assertEqual(graph["model_info"]["sample_input_shapes"], [[1, 3, 96, 96]])
        self.assertEqual(graph["graph_info"]["num_nodes"], len(graph["nodes"]))
        self.assertIn("aten.conv2d.default", {n["target"] for n in graph["nodes"]})

    def test_inline_delegates(self):
        a = self.exported("toy_cnn", out=self.folder / "a")
        b = self.exported("toy_cnn", "--inline-delegates", out=self.folder / "b")
        self.assertNotEqual(a.entry["sha256"], b.entry["sha256"])

    def test_external_weights(self):
        for backend in ("xnnpack", "portable"):
            out = self.folder / backend
            run = self.exported("toy_cnn", "--external-weights", "--backend", backend, out=out)
            data = out / f"toy_cnn_{backend}_fp32.ptd"
            self.assertEqual(data.read_bytes()[4:8], b"FT01")
            self.assertGreater(data.stat().st_size, 800_000)
            self.assertLess(run.entry["bytes"], 100_000)

    def test_portable_delegates_nothing(self):
        delegation = self.exported("toy_cnn", "--backend", "portable").entry["delegation"]
        self.assertEqual((delegation["partitions"], delegation["macs_share"]), (0, 0.0))
        self.assertTrue(all("portable" in u["reason"] for u in delegation["undelegated"]))

    def test_undelegated_operators_have_a_line_and_a_reason(self):
        entry = self.exported("image_encoder", "--dtype", "fp16").entry
        left = {u["operator"]: u for u in entry["delegation"]["undelegated"]}
        gelu = left["aten.gelu.default"]
        self.assertIn("fp16", gelu["reason"])
        self.assertTrue(gelu["file"].endswith("image_encoder/model.py"))
        source = open(gelu["file"]).read().splitlines()[gelu["line"] - 1]
        self.assertIn("gelu", source)
        self.assertIn("--apply layer-norm", left["aten.native_layer_norm.default"]["hint"])


if __name__ == "__main__":
    unittest.main()
