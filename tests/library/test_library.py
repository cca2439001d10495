# SPDX-License-Identifier: Apache-2.0
"""Builds the examples and a test of the public functions from an installed prefix, once with the words of pkg-config
and once with find_package(etprof), and runs both. usage: test_library.py SOURCE_DIR BUILD_DIR CMAKE [FLAG...]"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
CMAKE, FLAGS = sys.argv[3], sys.argv[4:]
DATA, RUN = SOURCE / "tests/data", SOURCE / "examples/runs/image_encoder_int8_qemu"
MODEL = SOURCE / "examples/models/toy_cnn_xnnpack_fp32.pte"
EXAMPLES = sorted((SOURCE / "examples").glob("*.c"))
CC = os.environ.get("CC", "cc")
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(stranger LANGUAGES C)
find_package(etprof 0.1 REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
foreach(source {sources})
  get_filename_component(name ${{source}} NAME_WE)
  add_executable(${{name}} ${{source}})
  target_link_libraries(${{name}} PRIVATE etprof::etprof)
endforeach()
target_link_libraries(test_api PRIVATE PkgConfig::CMOCKA Threads::Threads m)
"""


def run(*words, code=0, **named):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, timeout=600, **named)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="etprof-library-")
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        cls.prefix = cls.top / "prefix"
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
        cls.sources = [*EXAMPLES, SOURCE / "tests/library/test_api.c"]
        cls.built = {"pkg-config": cls.by_pkg_config(), "find_package": cls.by_find_package()}
        lib = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
        cls.env = {**os.environ, lib: str(cls.prefix / "lib")}

    @classmethod
    def by_pkg_config(cls):
        out = cls.top / "by-words"
        out.mkdir()
        env = {**os.environ, "PKG_CONFIG_PATH": str(cls.prefix / "lib/pkgconfig")}
        words = run("pkg-config", "--cflags", "--libs", "etprof", env=env).split()
        cmocka = run("pkg-config", "--cflags", "--libs", "cmocka").split()
        for source in cls.sources:
            more = ["-Wno-unused-parameter", *cmocka, "-pthread", "-lm"] if source.stem == "test_api" else []
            run(CC, "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
                "-Wpedantic", "-Werror", *FLAGS,
                source, *words, *more, "-o", out / source.stem)
        return out

    @classmethod
    def by_find_package(cls):
        tree, out = cls.top / "stranger", cls.top / "by-package"
        tree.mkdir()
        (tree / "CMakeLists.txt").write_text(PROJECT.format(sources=" ".join(map(str, cls.sources))))
        run(CMAKE, "-S", tree, "-B", out, f"-DCMAKE_PREFIX_PATH={cls.prefix}", f"-DCMAKE_C_FLAGS={' '.join(FLAGS)}",
            f"-DCMAKE_C_COMPILER={CC}")
        run(CMAKE, "--build", out)
        return out

    def each(self, name, *words, code=0):
        """What the program NAME prints, the same however it was built."""
        texts = [run(folder / name, *words, code=code, env=self.env) for folder in self.built.values()]
        self.assertEqual(texts[0], texts[1])
        return texts[0]

    def test_examples_are_short(self):
        for path in EXAMPLES:
            self.assertLessEqual(len(path.read_text().splitlines()), 40, path.name)

    def test_only_the_prefix_is_needed(self):
        for source in self.sources:
            lines = re.findall(r"#include [<\"](\S+)[>\"]", source.read_text())
            self.assertIn("etprof/etprof.h", lines)
            self.assertFalse([x for x in lines if "/" in x and x != "etprof/etprof.h"], source.name)

    def test_every_header_is_in_the_umbrella(self):
        headers = {p.name for p in (self.prefix / "include/etprof").glob("*.h")} - {"etprof.h"}
        text = (self.prefix / "include/etprof/etprof.h").read_text()
        self.assertEqual(set(re.findall(r"<etprof/(\w+\.h)>", text)), headers)

    def test_read_a_dump(self):
        text = self.each("read_etdump", DATA / "mixed_xnnpack_fp32.etdump")
        self.assertIn("Execute: 3 executions of 7 events", text)
        # ExecuTorch's Inspector: mixed_xnnpack_fp32.etdump.tsv
        self.assertRegex(text, r"0\.227 us  native_call_cumsum\.out")
        self.each("read_etdump", DATA / "no such dump", code=5)
        self.each("read_etdump", DATA / "samples.csv", code=4)
        self.each("read_etdump", code=2)

    def test_compare_dumps(self):
        dump, page = DATA / "mixed_xnnpack_fp32.etdump", self.top / "report.html"
        text = self.each("compare_dumps", dump, dump, page)
        self.assertIn("1.00x, grade D", text)
        self.assertRegex(text, r"0\.227 us +0\.227 us  .*cumsum")
        self.assertIn("</html>", page.read_text())
        self.each("compare_dumps", dump, DATA / "no such dump", page, code=5)
        self.each("compare_dumps", code=2)

    def test_public_functions(self):
        for name, folder in self.built.items():
            scratch = self.top / f"scratch-{name}"
            scratch.mkdir()
            print(run(folder / "test_api", DATA, RUN, scratch, MODEL, "runner" if self.has_runner() else "none",
                      env=self.env, cwd=scratch), end="")

    def has_runner(self):
        return any(self.prefix.glob("libexec/etprof/*/bundle.json"))

    def test_measure_a_model(self):
        self.each("measure_model", code=2)
        if not self.has_runner():
            self.skipTest("no runner bundle (scripts/build-runner native)")
        for name, folder in self.built.items():
            model = shutil.copy(MODEL, self.top)
            beside = self.top / f"{MODEL.name}.inputs/forward"  # as an export leaves them
            beside.mkdir(parents=True, exist_ok=True)
            (beside / "0.bin").write_bytes(bytes(1 * 3 * 96 * 96 * 4))
            told = run(folder / "measure_model", model, self.top / f"measured-{name}", env=self.env, cwd=self.top)
            self.assertRegex(told, r"^(faster|slower|same|unknown): ")
            manifest = json.loads((self.top / f"measured-{name}/manifest.json").read_text())
            self.assertEqual((manifest["state"], manifest["blocks_done"]), ("finished", 2))
            self.assertEqual(manifest["plan"]["inputs"], str((beside / "0.bin").resolve()))

    def test_a_folder_is_renewed_as_the_tool_does(self):
        etprof = self.prefix / "bin/etprof"
        folder, again = self.top / "run", self.top / "run-by-tool"
        shutil.copytree(RUN, folder)
        shutil.copytree(RUN, again)
        program = self.top / "renew.c"
        program.write_text("""#include <etprof/etprof.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    etp_analysis *a = NULL;
    etp_buffer json = {0};
    etp_status st = etp_analysis_open_run(argv[argc - 1], NULL, &a, NULL);
    st = st == ETP_OK ? etp_analysis_renew_folder(a, NULL) : st;
    st = st == ETP_OK ? etp_analysis_json(a, &json, NULL) : st;
    fwrite(json.ptr, 1, json.len, stdout);
    etp_buffer_dispose(&json);
    etp_analysis_close(a);
    return etp_status_exit_code(st);
}
""")
        env = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        words = run("pkg-config", "--cflags", "--libs", "etprof", env=env).split()
        run(CC, "-std=c17", *FLAGS, program, *words, "-o", self.top / "renew")
        document = run(self.top / "renew", folder, env=self.env)
        self.assertEqual(json.loads(document)["schema"], "etprof.ab/1")
        told = subprocess.run([etprof, "analyze", again, "--renew", "--format", "json"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(document, told.stdout)
        files = sorted(p.relative_to(again) for p in again.rglob("*") if p.is_file())
        self.assertIn(pathlib.Path("report.html"), files)
        self.assertEqual(files, sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file()))
        for path in files:
            self.assertEqual((folder / path).read_bytes(), (again / path).read_bytes(), path)

    def test_the_python_of_the_guide(self):
        if FLAGS or sys.platform != "linux":
            self.skipTest("a sanitizer's run time, or the library's name")
        code, = re.findall(r"```python\n(import ctypes.*?)```", (SOURCE / "docs/library.md").read_text(), re.S)
        code = code.replace("out_model/runs/linux", str(RUN)) + "print(document)"
        document = run(sys.executable, "-c", code, env=self.env)
        self.assertEqual([a["name"] for a in json.loads(document)["arms"]],
                         [a["name"] for a in json.loads((RUN / "manifest.json").read_text())["plan"]["arms"]])


if __name__ == "__main__":
    for tool in (CC, "pkg-config"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])
