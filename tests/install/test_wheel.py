# SPDX-License-Identifier: Apache-2.0
"""`scripts/wheel`, then what a stranger does with its file: pip in an empty environment and HOME, `etprof ab`. Where
scripts/wheel has not been run (cold it takes minutes), the wheel is packed from an installation of this build, and what
a build for this machine alone cannot show is left out.

usage: test_wheel.py SOURCE_DIR BUILD_DIR CMAKE
ETPROF_OLD_GLIBC names a folder with the libraries of an old glibc (its libc.so.6, ld-linux-x86-64.so.2, libm.so.6 and
so on): the wheel's programs are then run in a root that has these and nothing else."""
import base64
import csv
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import wheel_audit

SOURCE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
CMAKE = sys.argv[3]
TRIPLE = "x86_64-linux-gnu"
HOME = SOURCE / "build/wheel" / TRIPLE
# Made by scripts/wheel, against the C library of 2018 and with static libraries.
PORTABLE = (HOME / "prefix").is_dir()
OLD_GLIBC = os.environ.get("ETPROF_OLD_GLIBC")
LOAD = """#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
int main(int n, char **names)
{
    void *library = n == 2 ? dlopen(names[1], RTLD_NOW) : NULL;
    const char *(*version)(void) = library ? (const char *(*)(void))dlsym(library, "etp_version") : NULL;
    return printf("%s %s\\n", gnu_get_libc_version(), version ? version() : dlerror()) < 0;
}
"""
ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
TAG = "manylinux_2_28_x86_64"
MODEL = "share/etprof/models/toy_cnn_xnnpack_fp32.pte"


def run(*words, code=0, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900, stdin=subprocess.DEVNULL,
                          **options)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


portable = unittest.skipUnless(PORTABLE, "the wheel is of this build; scripts/wheel has not been run here")


def empty_environment(folder):
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin"


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="etprof-wheel-", dir="/tmp")
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        cls.home, cls.elsewhere = cls.top / "home", cls.top / "elsewhere"
        for place in (cls.home, cls.elsewhere):
            place.mkdir()
        cls.prefix = HOME / "prefix"
        if PORTABLE:
            made = subprocess.run([SOURCE / "scripts/wheel", cls.top / "first"], capture_output=True, text=True,
                                  check=False)
            if made.returncode == 77:
                raise unittest.SkipTest(made.stderr.splitlines()[-1])
            if made.returncode != 0:
                raise AssertionError(made.stderr)
        else:
            cls.prefix = cls.top / "installed"
            run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
            made = cls.pack(cls.prefix, cls.top / "first")
        cls.wheel = pathlib.Path(made.stdout.strip())
        cls.env = {**ENV, "HOME": str(cls.home)}
        cls.bin = empty_environment(cls.top / "venv")
        run(cls.bin / "pip", "--isolated", "install", "--no-index", "--no-cache-dir", cls.wheel, env=cls.env)
        cls.package = next((cls.top / "venv/lib").glob("python3.*")) / "site-packages/etprof"

    @staticmethod
    def pack(prefix, folder, **options):
        return run(sys.executable, SOURCE / "python/wheel/pack.py", prefix, folder, "--triple", TRIPLE,
                   "--glibc", "2.28", "--macos", "14.0", **options)

    def etprof(self, *words, code=0):
        return run(self.bin / "etprof", *words, code=code, cwd=self.elsewhere, env=self.env)

    def test_its_name_and_size(self):
        self.assertRegex(self.wheel.name, rf"^etprof-[0-9.]+-py3-none-{TAG}\.whl$")
        self.assertLessEqual(self.wheel.stat().st_size, 25_000_000)
        info = next(self.package.parent.glob("etprof-*.dist-info"))
        self.assertIn(f"\nTag: py3-none-{TAG}\n", (info / "WHEEL").read_text())

    def test_the_command(self):
        version = self.wheel.name.split("-")[1]
        self.assertEqual(self.etprof("--version").stdout, f"etprof {version}\n")
        module = run(self.bin / "python", "-m", "etprof", "--version", cwd=self.elsewhere, env=self.env)
        self.assertEqual(module.stdout, f"etprof {version}\n")
        self.assertEqual(self.etprof("no-such-verb", code=2).stdout, "")

    def test_the_job(self):
        self.etprof("ab", self.package / "tree" / MODEL, "--blocks", "2", "--iterations", "5", "--warmup", "2",
                    "--out", "run")
        self.assertIn("toy_cnn", self.etprof("analyze", "--full", "--renew", "run", "--format", "md").stdout)
        self.etprof("verify", "run")
        self.assertEqual(list(self.home.rglob("*.pte")), [])

    def test_the_python_part_and_the_models_are_found(self):
        self.assertIn("toy_cnn", self.etprof("export", "--list").stdout)

    def test_the_python_part_is_in_it_once(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            self.assertEqual([name for name in wheel.namelist() if name.endswith("/start.py")], ["etprof/start.py"])
        # Another Python that carries out a verb sees nothing of what this one has installed.
        other, trap = empty_environment(self.top / "other Python"), self.package.parent / "argparse.py"
        trap.write_text("raise SystemExit('of the Python that the wheel was installed for')")
        self.addCleanup(trap.unlink)
        env = {**self.env, "ETPROF_PYTHON": str(other / "python")}
        self.assertIn("04_run_profiling", run(self.bin / "etprof", "skills", cwd=self.elsewhere, env=env).stdout)

    def test_the_sdist_has_the_tree(self):
        for name in ("sources", "sources again"):
            (self.top / name).mkdir()
            path = run(sys.executable, SOURCE / "python/wheel/backend.py", self.top / name).stdout.strip()
        with tarfile.open(path) as sources:
            top, names = pathlib.Path(path).name.removesuffix(".tar.gz"), set(sources.getnames())
            about = sources.extractfile(f"{top}/PKG-INFO").read().decode()
        for name in run("git", "-C", SOURCE, "ls-files", "-z").stdout.split("\0"):
            self.assertTrue(f"{top}/{name}" in names or not (SOURCE / name).is_file(), name)
        self.assertFalse([name for name in names if name.startswith((f"{top}/build/", f"{top}/.venv/"))])
        self.assertRegex(about, r"^Metadata-Version: 2\.4\nName: etprof\nVersion: " + top.rpartition("-")[2])
        first = self.top / "sources" / pathlib.Path(path).name
        self.assertTrue(first.read_bytes() == pathlib.Path(path).read_bytes(), "other bytes")

    def test_the_library_loads(self):
        run(self.bin / "python", "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1]).etp_version",
            self.package / "tree/lib/libetprof.so", env=self.env)

    def test_the_package(self):
        code = ("import sys, etprof; run = etprof.ab(sys.argv[1], blocks=2, iterations=5, warmup=2, out='of python', "
                "progress=False); print(run.summary.state, len(run.operators), etprof.__file__)")
        done = run(self.bin / "python", "-c", code, self.package / "tree" / MODEL, cwd=self.elsewhere, env=self.env)
        state, operators, file = done.stdout.strip().split(" ", 2)
        self.assertEqual((state, file), ("finished", str(self.package / "__init__.py")))
        self.assertGreater(int(operators), 3)
        self.assertTrue((self.package / "py.typed").is_file())

    @portable
    def test_the_library_shows_no_names_of_others(self):
        if not shutil.which("nm"):
            self.skipTest("no nm")
        names = run("nm", "-D", "--defined-only", self.package / "tree/lib/libetprof.so").stdout.split("\n")
        names = [line.split()[-1] for line in names if line]
        self.assertGreater(len(names), 100)
        self.assertEqual([n for n in names if not n.startswith("etp_")], [])

    @portable
    def test_every_library_inside_has_its_licence(self):
        # What the linker was given, with its path; the archive of etprof itself is of this tree and has none.
        build = (HOME / "etprof.build/build.ninja").read_text()
        lines = re.findall(r"^  LINK_LIBRARIES = (.*)$", build, re.M)
        linked = {pathlib.Path(word).name for line in lines for word in line.split() if re.search(r"/.*\.a$", word)}
        self.assertGreaterEqual(len(linked), 5, lines)
        loose = {word for line in lines for word in line.split() if word.startswith("-l")}
        self.assertLessEqual(loose, {"-ldl", "-lm", "-lpthread"}, "no part of the C library")
        info = next(self.package.parent.glob("etprof-*.dist-info"))
        for place in (info / "licenses/copyright", self.package / "tree/share/doc/etprof/copyright"):
            parts = re.split(r"^---- (\S+): .*$", place.read_text(), flags=re.M)[1:]
            texts = dict(zip(parts[::2], parts[1::2], strict=True))
            self.assertEqual(set(texts), linked, place)
            for name, text in texts.items():
                self.assertRegex(text, r"(?i)copyright( \(c\))? ", name)
                self.assertRegex(" ".join(text.split()), r"(?i)(as is''|\"as is\"|'as-is')", name)

    def test_record_names_every_file(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            names = [i.filename for i in wheel.infolist()]
            rows = list(csv.reader(io.StringIO(wheel.read(names[-1]).decode())))
            self.assertEqual(sorted(names), sorted(row[0] for row in rows))
            self.assertEqual(names[:-1], sorted(names[:-1]))
            for name, digest, size in rows[:-1]:
                data = wheel.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), (f"sha256={found}", len(data)), name)

    def test_twice_the_same_bytes(self):
        # Another umask and moment, and a tree whose files another program copied in another order.
        prefix = self.top / "prefix"
        run("cp", "-r", self.prefix, prefix, preexec_fn=lambda: os.umask(0o077))
        self.pack(prefix, self.top / "second", preexec_fn=lambda: os.umask(0o077))
        again = (self.top / "second" / self.wheel.name).read_bytes()
        self.assertTrue(again == self.wheel.read_bytes(), "other bytes") # 15 MB are no message

    def test_no_file_knows_the_tree(self):
        for path in (self.package / "tree").rglob("*"):
            if path.is_file():
                self.assertNotIn(os.fsencode(SOURCE), path.read_bytes(), path)

    def test_a_tree_with_blanks_in_its_path_is_told(self):
        tree = self.top / "with blanks"
        shutil.copytree(SOURCE / "scripts", tree / "scripts")
        done = run(tree / "scripts/wheel", self.top / "never", code=77)
        self.assertEqual(done.stderr, f"wheel: needs a source tree without blanks in its path: {tree.resolve()}\n")

    def test_it_says_whose_it_is(self):
        """Fields, licences and their texts: of every library in the bundle and of those that are linked in."""
        show = ("import importlib.metadata as m, json; d = m.distribution('etprof'); "
                "print(json.dumps([list(d.metadata.items()), [str(f) for f in d.files if '/licenses/' in str(f)]]))")
        fields, files = json.loads(run(self.bin / "python", "-c", show, env=self.env).stdout)
        found = {}
        for name, value in fields:
            found.setdefault(name, []).append(value)
        self.assertEqual(found["Metadata-Version"], ["2.4"])
        self.assertEqual(found["Author"], ["the etprof authors"])
        self.assertNotIn("License", found) # the older field, which the other one forbids
        self.assertTrue({"Typing :: Typed", "Programming Language :: Python :: 3.13",
                         "Operating System :: POSIX :: Linux"} <= set(found["Classifier"]), found["Classifier"])
        self.assertFalse([c for c in found["Classifier"] if c.startswith("License ::")])
        info = self.package.parent / files[0].partition("/")[0]
        self.assertEqual(sorted(found["License-File"]), sorted(f.partition("/licenses/")[2] for f in files))
        texts = {name: (info / "licenses" / name).read_text() for name in found["License-File"]}
        whose = dict(re.findall(r"^---- (?:lib[a-z]+\.a: )?([\w-]+), (.+), https://", texts["copyright"], re.M))
        for part in ("ExecuTorch", "XNNPACK", "pthreadpool", "cpuinfo", "FXdiv", "FP16", "KleidiAI", "flatcc",
                     "FlatBuffers", "Jansson", "libzip", "zlib", "Zstandard", "Capstone"):
            self.assertIn(part, whose)
        expression = found["License-Expression"][0]
        for license in whose.values():
            for each in re.findall(r"\b(?:Apache-2\.0|BSD-[23]-Clause|MIT|Zlib|NCSA)\b", license):
                self.assertIn(each, expression.split(" AND "))
        for name, title, each in (("LGPL-2.1", "GNU LESSER GENERAL PUBLIC LICENSE", "LGPL-2.1-or-later"),
                                  ("GPL-3.0", "GNU GENERAL PUBLIC LICENSE", "GPL-3.0-or-later WITH GCC-exception-3.1"),
                                  ("GCC-exception-3.1", "GCC RUNTIME LIBRARY EXCEPTION", "GPL-3.0-or-later WITH")):
            self.assertIn(title, texts[f"licenses/{name}.txt"])
            self.assertIn(each, expression)
        told = texts["copyright"].partition("----")[0]
        for file in json.loads((self.package / f"tree/libexec/etprof/{TRIPLE}/bundle.json").read_text())["files"]:
            name = re.match(r"etprof|ld-linux|libexecutorch|[^.]+", pathlib.PurePath(file["path"]).name)[0]
            self.assertIn(name, told)

    def test_it_links_to_the_projects_place_once_it_has_one(self):
        tree, told = self.top / "with a place", []
        for name in ("python", "cmake", "include/etprof", "LICENSE", "README.md", "CMakeLists.txt"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (SOURCE / name).is_dir() else shutil.copy)(SOURCE / name, tree / name)
        build = (tree / "CMakeLists.txt").read_text()
        for home in ("", ' HOMEPAGE_URL "https://example.org/etprof"'):
            (tree / "CMakeLists.txt").write_text(re.sub(r'^(project[(].*)[)]$', rf"\1{home})", build, flags=re.M))
            told.append(run(sys.executable, "-c",
                            "import pack, sys; print(pack.metadata(*pack.project(), sys.argv[1]))", TRIPLE,
                            cwd=tree / "python/wheel").stdout)
        self.assertNotIn("Project-URL:", told[0])
        self.assertEqual(re.findall(r"^Project-URL: (.*)$", told[1], re.M), [
            "Homepage, https://example.org/etprof", "Source, https://example.org/etprof",
            "Changelog, https://example.org/etprof/blob/HEAD/CHANGELOG.md", "Issues, https://example.org/etprof/issues"])

    def test_a_registry_would_take_it(self):
        if not importlib.util.find_spec("twine"):
            self.skipTest("no twine")
        run(sys.executable, "-m", "twine", "check", "--strict", self.wheel)

    def test_extras_are_declared(self):
        show = ("import importlib.metadata as m, json; d = m.metadata('etprof'); "
                "print(json.dumps([d.get_all('Provides-Extra'), m.requires('etprof')]))")
        extras, lines = json.loads(run(self.bin / "python", "-c", show, env=self.env).stdout)
        self.assertEqual(sorted(extras), ["export", "fleet", "mcp", "parquet", "spark", "validate"])
        needs = {name: set() for name in extras}
        for line in lines:
            needs[re.search(r'extra == "(\w+)"$', line)[1]].add(re.match(r"[\w-]+", line)[0])
        self.assertEqual(needs["export"], {"torch", "executorch", "torchao"})
        self.assertEqual(needs["fleet"], {"duckdb", "pyarrow"})
        self.assertEqual(needs["spark"], {"pyspark", "pandas", "pyarrow"})
        # What pip finds under the bare name on Linux is the build with CUDA.
        torch = [line for line in lines if line.startswith("torch==")]
        torch = [re.sub(r"[0-9.]+", "N", line.partition(" and ")[0]).replace('"', "'") for line in torch]
        self.assertEqual(sorted(torch), ["torch==N ; sys_platform != 'linux'",
                                         "torch==N+cpu ; sys_platform == 'linux'"])
        self.assertFalse([line for line in lines if re.match(r"pandas\b.*<", line)], "a cap on pandas")

    def test_pip_refuses_other_platforms(self):
        for platform in ("macosx_11_0_arm64", "manylinux_2_28_aarch64", "manylinux_2_17_x86_64", "win_amd64"):
            done = run(self.bin / "pip", "--isolated", "install", "--no-index", "--no-deps", "--only-binary=:all:",
                       "--platform", platform, "--target", self.top / "never", self.wheel, code=1, env=self.env)
            self.assertIn("not a supported wheel on this platform", done.stderr)
        run(self.bin / "pip", "--isolated", "install", "--no-index", "--no-deps", "--only-binary=:all:", "--platform",
            TAG, "--target", self.top / "other", self.wheel, env=self.env)

    def test_where_it_cannot_run_it_says_a_sentence(self):
        start = "import os, platform, sys, etprof.command; {}; sys.exit(etprof.command.command())"
        for change, says in (
                ("os.confstr = lambda name: 'glibc 2.17'", "needs glibc 2.28 or newer; this system has 2.17"),
                ("os.confstr = lambda name: None", "this system has another C library"),
                ("platform.machine = lambda: 'aarch64'", "is for x86_64 Linux; this is aarch64 Linux"),
                ("etprof.command.PROGRAM += '.gone'", "No such file or directory; install the wheel again")):
            done = run(self.bin / "python", "-c", start.format(change), code=5, env=self.env)
            self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
            self.assertIn(says, done.stderr)

    def test_the_runner_brings_all_it_needs(self):
        bundle = self.package / "tree/libexec/etprof/x86_64-linux-gnu"
        listed = run("./ld-linux-x86-64.so.2", "--library-path", ".", "--list", "./etprof-runner", cwd=bundle).stdout
        found = [line.split(" => ")[1].split(" (")[0] for line in listed.splitlines() if " => " in line]
        self.assertGreater(len(found), 8)
        for place in found:
            self.assertTrue((bundle / place).resolve().is_relative_to(bundle.resolve()), place)

    @portable
    def test_auditwheel_agrees_with_the_tag(self):
        # A C library of the wheel's own is no part of what a tag can promise; what it may be is told below.
        self.assertLessEqual(wheel_audit.least_tag(self, self.top, self.wheel), 28)

    @portable
    def test_each_program_finds_what_it_needs(self):
        wheel_audit.judge(self, self.top, self.package, TRIPLE, TAG)

    @portable
    @unittest.skipUnless(OLD_GLIBC, "no ETPROF_OLD_GLIBC to run with")
    def test_with_an_old_glibc(self):
        if os.getuid() != 0 or not shutil.which("unshare"):
            self.skipTest("a root of its own needs root and unshare")
        root = self.top / "old"
        for place in ("lib64", "lib/x86_64-linux-gnu"): # where Fedora's loader looks, and Debian's
            shutil.copytree(OLD_GLIBC, root / place)
        shutil.copytree(self.package / "tree", root / "etprof")
        for place in ("proc", "tmp", "home"):
            (root / place).mkdir()
        (root / "load.c").write_text(LOAD)
        zig = run(SOURCE / "scripts/zig").stdout.strip()
        run(zig, "cc", "-target", f"{TRIPLE}.2.17", "-o", root / "load", root / "load.c", "-ldl",
            env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(SOURCE / ".cache/zig")})

        def entered(*words):
            return run("unshare", "-m", "-p", "-n", "--fork", f"--mount-proc={root / 'proc'}", "chroot", root, *words,
                       env={**ENV, "PATH": "/usr/sbin:/usr/bin", "HOME": "/home"}, cwd="/").stdout

        glibc, version = entered("/load", "/etprof/lib/libetprof.so").split()
        print(f"with glibc {glibc}", flush=True)
        self.assertEqual(version, self.wheel.name.split("-")[1])
        self.assertLessEqual(tuple(map(int, glibc.split("."))), (2, 28), "is no old one")
        entered("/etprof/bin/etprof", "ab", f"/etprof/{MODEL}", "--blocks", "2", "--iterations", "5", "--warmup", "2",
                "--out", "/home/run")
        self.assertIn("toy_cnn", entered("/etprof/bin/etprof", "analyze", "/home/run", "--format", "md"))
        entered("/etprof/bin/etprof", "verify", "/home/run")


if __name__ == "__main__":
    if not (SOURCE / "build/bundle" / TRIPLE / "etprof-runner").is_file() or os.uname().machine != "x86_64":
        print(f"skipped: no runner bundle to pack (scripts/build-runner {TRIPLE})")
        sys.exit(77)
    result = unittest.main(argv=[sys.argv[0], *sys.argv[4:]], exit=False, verbosity=1).result
    for test, reason in result.skipped:
        print(f"left out: {test}: {reason}")
    sys.exit(1 if not result.wasSuccessful() else 77 if not result.testsRun else 0)
