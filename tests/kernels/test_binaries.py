# SPDX-License-Identifier: Apache-2.0
"""etprof kernels on the published libraries of one ExecuTorch release: names and id as LLVM's tools list
them, and the same kernels in the Linux and in the macOS build."""
import json
import pathlib
import re
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
MAC = ROOT / "build/bundle/arm64-macos"
LINUX = ROOT / "build/bundle/aarch64-linux-gnu"
X86 = ROOT / "build/bundle/x86_64-linux-gnu"


def kernels(path):
    done = execute(ETPROF, "kernels", path, "--format", "json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    answer = json.loads(done.stdout)["files"][0]
    answer["of"] = {row["isa"]: row["functions"] for row in answer["isa"]}
    return answer


def output(*words):
    return execute(*words).stdout


class Binaries(unittest.TestCase):
    def test_names_and_id_as_llvm_lists_them(self):
        if not shutil.which("llvm-nm") or not shutil.which("llvm-objdump"):
            self.skipTest("no llvm-nm and llvm-objdump")
        for path in (MAC / "sdk/libexecutorch_backend_xnnpack.dylib", MAC / "sdk/libexecutorch.dylib",
                     MAC / "libetprof-mask.dylib"):
            with self.subTest(path.name):
                found = kernels(path)
                names = {line.split()[0] for line in output("llvm-nm", "--defined-only", path).splitlines()
                         if re.search(r" [tT] ", line)}
                self.assertEqual(found["format"], "Mach-O")
                self.assertEqual(found["machine"], "aarch64")
                self.assertEqual(found["named"], len(names))  # addresses
                uuid = re.search(r"uuid ([0-9A-F-]+)", output("llvm-objdump", "--macho", "--private-headers", path))
                self.assertEqual(found["build_id"], uuid.group(1).replace("-", "").lower())
                self.assertEqual(found["undecoded"], 0)

    def test_one_release_two_systems(self):
        mac = kernels(MAC / "sdk/libexecutorch_backend_xnnpack.dylib")
        linux = kernels(LINUX / "sdk/libexecutorch_backend_xnnpack.so")
        for isa in ("sme2", "sme", "sve", "i8mm"):
            self.assertEqual(mac["of"][isa], linux["of"][isa], isa)
        self.assertGreater(mac["of"]["sme2"], 0)
        def names(answer):
            return {k["kernel_name"] for k in answer["kernels"] if re.match(r"kai_.*_sme", k["kernel_name"])}
        self.assertEqual(names(mac), names(linux))
        self.assertGreater(len(names(mac)), 50)

    def test_x86_has_what_its_levels_need(self):
        if not X86.is_dir():
            self.skipTest("no x86-64 bundle")
        of = kernels(X86 / "sdk/libexecutorch_backend_xnnpack.so")["of"]
        for isa in ("avx512-vnni", "avx512", "avx2", "sse"):
            self.assertGreater(of.get(isa, 0), 10, isa)
        self.assertNotIn("neon", of)


if __name__ == "__main__":
    for folder in (MAC, LINUX):
        if not (folder / "sdk").is_dir():
            skip(f"no bundle {folder.name} (scripts/build-runner {folder.name})")
    unittest.main(argv=sys.argv[:1])
