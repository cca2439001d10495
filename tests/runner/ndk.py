# SPDX-License-Identifier: Apache-2.0
"""runner/ against an ExecuTorch that its user built and installed, as with Android's NDK. There is no NDK
here: a toolchain file that says what the NDK's would say stands in for it, and an install folder with the
targets that ExecuTorch's own build exports. So this tests the CMake logic, not bionic. One build is real:
the published aarch64 libraries behind those targets, linked by the cross compiler.

usage: ndk.py"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHOLE = ["xnnpack_backend", "optimized_native_cpu_ops_lib", "quantized_ops_lib"]
PLAIN = ["etdump", "extension_module_static", "extension_tensor", "extension_data_loader", "extension_threadpool",
         "executorch"]
# The published shared library that stands for a target.
REAL = {"xnnpack_backend": "_backend_xnnpack", "optimized_native_cpu_ops_lib": "_kernels_optimized",
        "quantized_ops_lib": "_kernels_quantized", "etdump": "_etdump", "extension_threadpool": "_threadpool"}
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Android)
set(CMAKE_SYSTEM_VERSION 1)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ANDROID_ABI %(abi)s)
foreach(l IN ITEMS C CXX)
  set(CMAKE_${l}_COMPILER_ID_RUN 1)
  set(CMAKE_${l}_COMPILER_ID %(id)s)
  set(CMAKE_${l}_COMPILER_VERSION %(version)s)
  set(CMAKE_${l}_COMPILER_FORCED ON)
  set(CMAKE_${l}_STANDARD_COMPUTED_DEFAULT 17)
endforeach()
set(CMAKE_C_COMPILE_FEATURES c_std_17)
set(CMAKE_CXX_COMPILE_FEATURES cxx_std_17)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
"""
# What the two generations of installs look like: newer ones ask for whole archives themselves.
TARGET = (
    "add_library(%(name)s STATIC IMPORTED)\nset_target_properties(%(name)s PROPERTIES IMPORTED_LOCATION %(file)s)\n"
)
ASKS = ("target_link_options(%(name)s INTERFACE \"SHELL:LINKER:--whole-archive $<TARGET_FILE:%(name)s> "
        "LINKER:--no-whole-archive\")\n")


def cmake():
    for candidate in (str(ROOT / ".venv/bin/cmake"), "cmake"):
        found = shutil.which(candidate)
        text = execute(found, "--version").stdout if found else ""
        m = re.match(r"cmake version (\d+)\.(\d+)", text)
        if m and (int(m[1]), int(m[2])) >= (3, 28):
            return found
    skip("no cmake 3.28 or newer")
    return None


class Ndk(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.dir = pathlib.Path(tmp.name)

    def install(self, without=(), asks=False, files=None):
        folder = self.dir / "executorch"
        package = folder / "lib/cmake/ExecuTorch"
        package.mkdir(parents=True)
        text = ""
        for name in WHOLE + PLAIN:
            if name not in without:
                file = files[name] if files else folder / "lib" / ("lib%s.a" % name)
                pathlib.Path(file).touch()
                text += TARGET % {"name": name, "file": file}
                text += ASKS % {"name": name} if asks and name in WHOLE else ""
        (package / "executorch-config.cmake").write_text(text)
        return folder

    def configure(self, sdk, compiler="Clang", version="18.0.1", abi="arm64-v8a", android=True, more=()):
        shutil.rmtree(self.dir / "build", ignore_errors=True)
        words = [CMAKE, "-S", ROOT / "runner", "-B", self.dir / "build", "-G", "Ninja", "-DETPROF_SDK=%s" % sdk, *more]
        if android:
            file = self.dir / "toolchain.cmake"
            file.write_text(TOOLCHAIN % {"abi": abi, "id": compiler, "version": version})
            words.append("-DCMAKE_TOOLCHAIN_FILE=%s" % file)
        done = execute(*words)
        self.said = " ".join((done.stdout + done.stderr).split())
        return done.returncode

    def read(self, name):
        return (self.dir / "build" / name).read_text()

    def link_line(self):
        text = self.read("build.ninja")
        block = re.search(r"^build etprof-runner: .*?\n\n", text, re.S | re.M).group(0)
        return " ".join(line for line in block.splitlines() if "LINK_" in line)

    def test_what_is_refused(self):
        sdk = self.install()
        for options, text in (({"version": "17.0.2"}, "Clang 17.0.2 knows no SME2"),
                              ({"version": "17.0.2"}, "NDK r27"),
                              ({"compiler": "GNU", "version": "13.2"}, "NDK's Clang"),
                              ({"abi": "x86_64"}, "ANDROID_ABI=arm64-v8a")):
            with self.subTest(options):
                self.assertNotEqual(self.configure(sdk, **options), 0)
                self.assertIn(text, self.said)
        self.assertNotEqual(self.configure(self.dir), 0)
        self.assertIn("is not an ExecuTorch", self.said)

    def test_an_install_without_a_part_says_which_option(self):
        for part, option in (("xnnpack_backend", "EXECUTORCH_BUILD_XNNPACK"), ("etdump", "EXECUTORCH_BUILD_DEVTOOLS")):
            with self.subTest(part):
                shutil.rmtree(self.dir / "executorch", ignore_errors=True)
                self.assertNotEqual(self.configure(self.install(without=[part])), 0)
                self.assertIn("-D%s=ON" % option, self.said)

    def test_archives_are_taken_whole_once(self):
        for asks in (False, True):
            with self.subTest(asks=asks):
                shutil.rmtree(self.dir / "executorch", ignore_errors=True)
                self.assertEqual(self.configure(self.install(asks=asks)), 0, self.said)
                # Ours are bracketed by --push-state and --pop-state, theirs by --no-whole-archive.
                whole = re.findall(r"--whole-archive(.*?)--(?:pop-state|no-whole-archive)", self.link_line())
                for name in WHOLE:
                    self.assertEqual(" ".join(whole).count("lib%s.a" % name), 1, self.link_line())
                for name in PLAIN:
                    self.assertNotIn("lib%s.a" % name, " ".join(whole))
                    self.assertIn("lib%s.a" % name, self.link_line())
                self.assertIn("ETPROF_EXECUTORCH_VERSION", self.said) # it does not say its version
                self.assertIn('"triple": "aarch64-linux-android"', self.read("bundle.cmake").replace("\\", ""))

    def test_a_real_one(self):
        sdk = execute(ROOT / "scripts/sdk", "aarch64-linux-gnu")
        if sdk.returncode != 0:
            self.skipTest(sdk.stderr.strip().splitlines()[-1])
        package = pathlib.Path(sdk.stdout.strip())
        folder = self.install(files={n: package / ("lib/libexecutorch%s.so" % REAL.get(n, "")) for n in WHOLE + PLAIN})
        (folder / "include").symlink_to(package / "include")
        more = ["-DCMAKE_BUILD_TYPE=Release", "-DETPROF_EXECUTORCH_VERSION=1.5.1", "-DCMAKE_SYSTEM_NAME=Linux",
                "-DCMAKE_SYSTEM_PROCESSOR=aarch64", "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc",
                "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++", "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--no-as-needed",
                "-DCMAKE_C_FLAGS_RELEASE=-O0 -DNDEBUG", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"]
        self.assertEqual(self.configure(folder, android=False, more=more), 0, self.said)
        for words in (["--build", self.dir / "build", "--parallel", "2"],
                      ["--install", self.dir / "build", "--prefix", self.dir / "bundle"]):
            done = execute(CMAKE, *words)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        bundle = json.loads((self.dir / "bundle/bundle.json").read_text())
        self.assertEqual((bundle["triple"], bundle["executorch"]["version"]), ("aarch64-linux-gnu", "1.5.1"))
        self.assertEqual([f["path"] for f in bundle["files"]], ["etprof-launch", "etprof-runner", "libetprof-level.so"])
        for f in bundle["files"]:
            data = (self.dir / "bundle" / f["path"]).read_bytes()
            self.assertEqual((f["bytes"], f["sha256"]), (len(data), hashlib.sha256(data).hexdigest()))
        qemu = execute(ROOT / "scripts/qemu")
        if qemu.returncode == 0:
            done = execute(qemu.stdout.strip(), "-cpu", "max,sve=off,sme512=on", "-L", "/usr/aarch64-linux-gnu", "-E",
                           "LD_LIBRARY_PATH=%s/lib:/usr/aarch64-linux-gnu/lib" % package,
                           self.dir / "bundle/etprof-runner", "--probe")
            self.assertEqual(json.loads(done.stdout.splitlines()[0])["executorch"], "1.5.1", done.stderr)


LINUX = """set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,--no-as-needed)
set(CMAKE_C_FLAGS_RELEASE "-O0 -DNDEBUG" CACHE STRING "how it is built is tested here, not how fast it is")
set(CMAKE_CXX_FLAGS_RELEASE "-O0 -DNDEBUG" CACHE STRING "")
"""
# A checkout whose build does nothing but note its options and install what lies in it.
CHECKOUT = """cmake_minimum_required(VERSION 3.28)
project(executorch LANGUAGES NONE)
get_cmake_property(names VARIABLES)
foreach(n IN LISTS names)
  if(n MATCHES "^(EXECUTORCH_|ANDROID_|CMAKE_BUILD_TYPE)")
    file(APPEND ${CMAKE_BINARY_DIR}/options "${n}=${${n}}\n")
  endif()
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/made/ DESTINATION .)
"""


class Script(Ndk):
    """build_runners.sh with ANDROID_NDK, in a tree of its own whose other runners are only noted."""

    # Not those of the class above again.
    test_what_is_refused = test_an_install_without_a_part_says_which_option = None
    test_archives_are_taken_whole_once = test_a_real_one = None

    def setUp(self):
        super().setUp()
        self.tree = self.dir / "tree"
        for name in ("runner", "bench/runner", "src", "roofs", "include", "cmake",
                     "model_profiling/scripts", "scripts"):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        noted = self.tree / "scripts/build-runner"
        noted.write_text('#!/bin/sh\necho "$*" >>"$(dirname "$0")/noted"\n')
        (self.tree / ".venv/bin").mkdir(parents=True)
        (self.tree / ".venv/bin/python").symlink_to(sys.executable)
        (self.tree / ".venv/bin/activate").write_text(f'VIRTUAL_ENV="{self.tree}/.venv"\n')
        (self.tree / ".venv/bin/cmake").symlink_to(CMAKE)
        ninja = ROOT / ".venv/bin/ninja"
        (self.tree / ".venv/bin/ninja").symlink_to(ninja if ninja.exists() else shutil.which("ninja"))
        self.ndk = self.dir / "ndk"
        (self.ndk / "build/cmake").mkdir(parents=True)
        (self.ndk / "build/cmake/android.toolchain.cmake").write_text(LINUX)

    def build(self, **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("ANDROID_", "ETPROF_"))}
        (self.tree / "scripts/noted").unlink(missing_ok=True)
        done = execute("bash", self.tree / "model_profiling/scripts/build_runners.sh",
                       env=clean | {k: str(v) for k, v in env.items()}, timeout=900)
        self.noted = (self.tree / "scripts/noted").read_text().split("\n")[:-1]
        return done

    def real_install(self):
        sdk = execute(ROOT / "scripts/sdk", "aarch64-linux-gnu")
        if sdk.returncode != 0:
            self.skipTest(sdk.stderr.strip().splitlines()[-1])
        package = pathlib.Path(sdk.stdout.strip())
        folder = self.install(files={n: package / ("lib/libexecutorch%s.so" % REAL.get(n, "")) for n in WHOLE + PLAIN})
        (folder / "include").symlink_to(package / "include")
        return folder

    def bundle(self):
        bundle = self.tree / "build/bundle/aarch64-linux-android"
        document = json.loads((bundle / "bundle.json").read_text())
        self.assertEqual(document["executorch"]["version"], "1.5.1")
        self.assertEqual((bundle / "etprof-runner").read_bytes()[18:20], b"\xb7\x00")  # an aarch64 program

    def test_without(self):
        done = self.build()
        self.assertEqual((done.returncode, self.noted), (0, ["native"]), done.stderr)

    def test_what_is_none_is_said(self):
        done = self.build(ANDROID_NDK=self.dir)
        self.assertEqual(done.returncode, 5)
        self.assertIn("is no NDK", done.stderr)
        done = self.build(ANDROID_NDK=self.ndk, ETPROF_EXECUTORCH=self.dir)
        self.assertEqual(done.returncode, 5)
        self.assertIn("neither a checkout", done.stderr)

    def test_without_an_executorch_it_says_what_it_builds_instead(self):
        for name in ("ANDROID_NDK", "ANDROID_NDK_HOME"):
            done = self.build(**{name: self.ndk})
            self.assertEqual((done.returncode, self.noted), (0, ["native", "aarch64-linux-gnu"]), done.stderr)
            self.assertIn("ETPROF_EXECUTORCH", done.stderr)
            self.assertIn("needs no NDK", done.stderr)

    def test_against_an_install(self):
        done = self.build(ANDROID_NDK=self.ndk, ETPROF_EXECUTORCH=self.real_install(),
                          ETPROF_EXECUTORCH_VERSION="1.5.1")
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertEqual(self.noted, ["native"])
        self.assertIn("--runner build/bundle/aarch64-linux-android", done.stderr)
        self.bundle()

    def test_against_a_checkout(self):
        checkout = self.dir / "checkout"
        checkout.mkdir()
        shutil.move(self.real_install(), checkout / "made")
        (checkout / "CMakeLists.txt").write_text(CHECKOUT)
        (checkout / "version.txt").write_text("1.5.1\n")
        done = self.build(ANDROID_NDK=self.ndk, ETPROF_EXECUTORCH=checkout)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        options = (self.tree / "build/ndk/executorch-build/options").read_text().split()
        for part in ("XNNPACK", "KERNELS_OPTIMIZED", "KERNELS_QUANTIZED", "DEVTOOLS", "EXTENSION_MODULE"):
            self.assertIn("EXECUTORCH_BUILD_%s=ON" % part, options)
        for option in ("ANDROID_ABI=arm64-v8a", "CMAKE_BUILD_TYPE=Release", "EXECUTORCH_ENABLE_EVENT_TRACER=ON"):
            self.assertIn(option, options)
        self.bundle()


if __name__ == "__main__":
    if shutil.which("aarch64-linux-gnu-g++") is None:
        skip("no aarch64-linux-gnu-g++")
    if shutil.which("ninja") is None and not (ROOT / ".venv/bin/ninja").exists():
        skip("no ninja")
    CMAKE = cmake()
    result = unittest.main(exit=False).result
    for test, reason in result.skipped:
        print("left out: %s: %s" % (test, reason))
    sys.exit(0 if result.wasSuccessful() else 1)
