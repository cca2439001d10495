# SPDX-License-Identifier: Apache-2.0
"""What programs of others are built with, from a prefix with another folder for libraries: pkg-config and find_package,
the shared library and the static one, C and C++; which versions go together.

usage: test_developer.py SOURCE_DIR BUILD_DIR CMAKE"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
CMAKE = sys.argv[3]
LIB = "lib/of-this-system"
EXAMPLES = ("read_etdump", "compare_dumps", "measure_model")
VERSION = re.search(r'ETP_VERSION "([0-9]+)\.([0-9]+)\.([0-9]+)"', (SOURCE / "include/etprof/version.h").read_text())
MAJOR, MINOR, PATCH = map(int, VERSION.groups())
DUMP = SOURCE / "tests/data/mixed_xnnpack_fp32.etdump"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(etprof {version} REQUIRED {components})
add_executable(user {source})
target_link_libraries(user PRIVATE etprof::{target})
"""


def run(*words, code=0, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
    if code is not None and done.returncode != code:
        raise AssertionError(f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


class Developer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="etprof developer ")
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        # Configured anew, with what the build at hand made: nothing is compiled.
        made = cls.top / "made"
        cache = dict(re.findall(r"^(CMAKE_BUILD_TYPE|CMAKE_C_COMPILER|CMAKE_C_FLAGS|ETPROF_SANITIZE):\w+=(.+)$",
                                (BUILD / "CMakeCache.txt").read_text(), re.M))
        run(CMAKE, "-G", "Ninja", "-S", SOURCE, "-B", made, "-DETPROF_TESTS=OFF", f"-DCMAKE_INSTALL_LIBDIR={LIB}",
            *(f"-D{name}={value}" for name, value in cache.items()))
        for path in (*BUILD.glob("libetprof.*"), *(BUILD / "bin").glob("etprof*")):
            target = made / path.relative_to(BUILD)
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)
        run(CMAKE, "--install", made, "--prefix", cls.top / "first")
        cls.prefix = cls.top / "moved"
        (cls.top / "first").rename(cls.prefix)
        cls.lib = cls.prefix / LIB
        cls.env = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(cls.lib / "pkgconfig")}

    def words(self, package):
        return shlex.split(run("pkg-config", "--cflags", "--libs", package, env=self.env).stdout)

    def needs(self, program):
        return re.findall(r"NEEDED +(\S+)", run("objdump", "-p", program).stdout)

    def test_libraries_lie_where_they_were_wanted(self):
        self.assertTrue((self.lib / "libetprof.a").is_file())
        self.assertEqual([p.name for p in (self.prefix / "lib").iterdir()], [pathlib.Path(LIB).name])
        for package in ("etprof", "etprof-static"):
            self.assertEqual(run("pkg-config", "--modversion", package, env=self.env).stdout.strip(),
                             f"{MAJOR}.{MINOR}.{PATCH}")

    @unittest.skipUnless(sys.platform == "linux", "names of libraries as Linux has them")
    def test_each_minor_version_has_a_name_of_its_own(self):
        name = re.search(r"SONAME +(\S+)", run("objdump", "-p", self.lib / "libetprof.so").stdout)[1]
        self.assertEqual(name, f"libetprof.so.{MAJOR}.{MINOR}" if MAJOR == 0 else f"libetprof.so.{MAJOR}")

    @unittest.skipUnless(sys.platform == "linux", "names of libraries as Linux has them")
    def test_examples_as_c_and_as_cpp_shared_and_static(self):
        for package in ("etprof", "etprof-static"):
            for example in EXAMPLES:
                for compiler, words in (("cc", ["-std=c17"]), ("c++", ["-x", "c++", "-std=c++17"])):
                    program = self.top / "program"
                    run(compiler, *words, "-Wall", "-Werror", "-pedantic", SOURCE / f"examples/{example}.c",
                        "-x", "none", "-o", program, *self.words(package))
                    self.assertEqual(any("etprof" in n for n in self.needs(program)), package == "etprof", example)
        program = self.top / "reader"
        run("cc", SOURCE / "examples/read_etdump.c", "-o", program, *self.words("etprof-static"))
        self.assertIn("Execute: 3 executions of 7 events",
                      run(program, DUMP).stdout)

    def project(self, version, components="", target="etprof", code=0):
        folder = self.top / f"project-{version}-{target}"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(PROJECT.format(
            version=version, components=components, target=target,
            source=(SOURCE / "examples/read_etdump.c").as_posix()))
        done = run(CMAKE, "-G", "Ninja", "-S", folder, "-B", folder / "build",
                   f"-Detprof_DIR={self.lib / 'cmake/etprof'}", code=None)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return folder / "build"

    def test_find_package(self):
        for components, target in (("", "etprof"), ("COMPONENTS static", "etprof_static")):
            build = self.project(f"{MAJOR}.{MINOR}", components, target)
            run(CMAKE, "--build", build)
            said = run(build / "user", DUMP).stdout
            self.assertIn("3 executions", said)

    def test_another_minor_version_is_another_package(self):
        self.project(f"{MAJOR}.{MINOR}.{PATCH}")
        for other in (f"{MAJOR}.{MINOR + 1}", f"{MAJOR}.{MINOR - 1}" if MINOR else "99"):
            self.project(other, code=1)

    def test_the_oldest_cmake_configures_it_without_a_network(self):
        wanted = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", (SOURCE / "CMakeLists.txt").read_text())[1]
        found = [f"{folder}/cmake" for folder in os.environ["PATH"].split(":")
                 if os.access(f"{folder}/cmake", os.X_OK) and
                 f" {wanted}." in run(f"{folder}/cmake", "--version", code=None).stdout]
        alone = ["unshare", "-rn"]
        if not found or not shutil.which("unshare") or run(*alone, "true", code=None).returncode != 0:
            self.skipTest(f"no cmake {wanted} in PATH, or no network of one's own")
        run(*alone, found[0], "-S", SOURCE, "--preset", "release", "-B", self.top / "oldest")
        self.assertTrue((self.top / "oldest/build.ninja").is_file())


if __name__ == "__main__":
    for tool in ("pkg-config", "cc", "c++", "objdump", "ninja"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    result = unittest.main(argv=[sys.argv[0], *sys.argv[4:]], exit=False).result
    for test, reason in result.skipped:
        print(f"left out: {test}: {reason}")
    sys.exit(0 if result.wasSuccessful() else 1)
