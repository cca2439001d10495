# SPDX-License-Identifier: Apache-2.0
# etprof's Inspector beside ExecuTorch's own, which runs here: cell for cell and type for type, tuples included.
import io
import os
import unittest
from pathlib import Path

from support import NEEDS_TORCH, ROOT

LIBRARY = ROOT / "build/release/libetprof.so"
DATA = ROOT / "tests/data"
CORPUS = Path(os.environ.get("ETPROF_CORPUS") or ROOT.parent / "shared/corpus")


def typed(value):
    """A cell with the types of everything in it; of a logged tensor that it is one."""
    if isinstance(value, dict) and set(value) == {"tensor"} or type(value).__name__ == "Tensor":
        return "tensor"
    if isinstance(value, (list, tuple)):
        return type(value), [typed(v) for v in value]
    if isinstance(value, dict):
        return [(typed(k), typed(v)) for k, v in value.items()]
    if value is None or value != value:
        return None
    return type(value), value


def pairs():
    yield DATA / "mixed_xnnpack_fp32.etdump", DATA / "mixed_xnnpack_fp32.etrecord"
    for record in sorted(CORPUS.glob("models/*.etrecord")):
        for dump in sorted(CORPUS.glob(f"dumps/{record.stem}.x86_full*.etdump")):
            # The official one reads neither records of two methods nor dumps without their first bytes.
            if "two_methods" not in dump.name and "stripped" not in dump.name and "plain" not in dump.name:
                yield dump, record


@NEEDS_TORCH
@unittest.skipUnless(LIBRARY.is_file(), "no libetprof.so in build/release")
class BesideTheOfficialOne(unittest.TestCase):
    def test_with_an_etrecord(self):
        os.environ["ETPROF_LIBRARY"] = str(LIBRARY)
        from etprof import Inspector
        from executorch.devtools import Inspector as Official

        for dump, record in pairs():
            files = {"etdump_path": str(dump), "etrecord": str(record)}
            official, ours = Official(**files), Inspector(**files)
            theirs, frame = official.to_dataframe(), ours.to_dataframe()
            self.assertEqual((list(frame), list(frame.dtypes)), (list(theirs), list(theirs.dtypes)), dump.name)
            for column in theirs:
                self.assertEqual([typed(v) for v in frame[column]], [typed(v) for v in theirs[column]],
                                 f"{dump.name}: {column}")
            events = [[(i, b.name, e.name, e.start_time, e.op_types, e.delegate_debug_identifier, e.stack_traces,
                        e.module_hierarchy, e.is_delegated_op, e.delegate_backend_name,
                        e.perf_data and e.perf_data.raw) for i, b in enumerate(of.event_blocks) for e in b.events]
                      for of in (ours, official)]
            self.assertEqual(*events)
            printed = [io.StringIO(), io.StringIO()]
            for of, file in zip((ours, official), printed):
                of.print_data_tabular(file)
            self.assertEqual(*(file.getvalue() for file in printed))
            for module in ("L__self__", "c1", "no such module"):
                self.assertEqual(ours.find_total_for_module(module), official.find_total_for_module(module), dump.name)

    def test_what_pytorch_answers(self):
        """The official Inspector of the same files."""
        os.environ["ETPROF_LIBRARY"] = str(LIBRARY)
        from etprof import Inspector
        from executorch.devtools import Inspector as Official

        record = CORPUS / "models/toy_cnn_xnnpack_fp32.etrecord"
        dump = CORPUS / "dumps/toy_cnn_xnnpack_fp32.x86_full_debug.etdump"
        if not dump.is_file():
            self.skipTest("no reference corpus")
        files = {"etdump_path": str(dump), "etrecord": str(record), "debug_buffer_path": f"{dump}.debug.bin"}
        official, ours = Official(**files), Inspector(**files)
        self.assertEqual(str(ours.get_exported_program().graph), str(official.get_exported_program().graph))
        # No record of the corpus has the inputs that it computes the gap for.
        self.assertIsInstance(ours.calculate_numeric_gap.__self__, Official)


if __name__ == "__main__":
    unittest.main()
