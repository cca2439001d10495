# SPDX-License-Identifier: Apache-2.0
"""The wheels that `scripts/wheel --for TRIPLE` makes for other systems: that of arm64 Linux installed by pip for its
platform and run by QEMU; that of macOS read, since nothing here runs it.

usage: test_wheel_cross.py SOURCE_DIR [CLASS...]"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import wheel_audit

SOURCE = pathlib.Path(sys.argv[1]).resolve()
MODEL = SOURCE / "examples/models/toy_cnn_xnnpack_fp32.pte"
# What a Python for arm64 consists of, as Debian splits it.
PYTHON = ("libpython{v}-minimal", "libpython{v}-stdlib", "python{v}-minimal", "libffi8", "libexpat1", "zlib1g", "libc6",
          "libgcc-s1", "libcrypt1")
LIBETPROF = """#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **names)
{
    void *library = n == 2 ? dlopen(names[1], RTLD_NOW) : NULL;
    const char *(*version)(void) = library ? (const char *(*)(void))dlsym(library, "etp_version") : NULL;
    return puts(version ? version() : dlerror()) < 0;
}
"""


def run(*words, code=0, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900, stdin=subprocess.DEVNULL,
                          **options)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Wheel(unittest.TestCase):
    triple = platform = ""

    @classmethod
    def setUpClass(cls):
        if not (SOURCE / f"build/wheel/{cls.triple}/prefix").is_dir():
            raise unittest.SkipTest(f"scripts/wheel --for {cls.triple} has not been run here")
        folder = tempfile.TemporaryDirectory(prefix="etprof-wheel-", dir="/tmp")
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        made = subprocess.run([SOURCE / "scripts/wheel", "--for", cls.triple, cls.top / "first"], capture_output=True,
                              text=True, check=False)
        if made.returncode == 77:
            raise unittest.SkipTest(made.stderr.splitlines()[-1])
        if made.returncode != 0:
            raise AssertionError(made.stderr)
        cls.wheel = pathlib.Path(made.stdout.strip())
        run(sys.executable, "-m", "venv", cls.top / "venv")
        cls.place = cls.top / "target"
        cls.pip = [cls.top / "venv/bin/pip", "--isolated", "install", "--no-index", "--no-deps", "--only-binary=:all:"]
        run(*cls.pip, "--platform", cls.platform, "--target", cls.place, cls.wheel)
        cls.tree = cls.place / "etprof/tree"

    def about(self):
        return next(self.place.glob("etprof-*.dist-info"))

    def its_name_and_size(self):
        self.assertRegex(self.wheel.name, rf"^etprof-[0-9.]+-py3-none-{self.platform}\.whl$")
        self.assertLessEqual(self.wheel.stat().st_size, 25_000_000)
        self.assertIn(f"\nTag: py3-none-{self.platform}\n", (self.about() / "WHEEL").read_text())
        self.assertEqual([p.name for p in (self.tree / "libexec/etprof").iterdir()], [self.triple])
        done = run(*self.pip, "--target", self.top / "never", self.wheel, code=1)
        self.assertIn("not a supported wheel on this platform", done.stderr)
        # Here it says a sentence, the command and the library alike.
        for code in ("from etprof.command import command; raise SystemExit(command())",
                     "import etprof\ntry:\n    etprof.ops('x')\n"
                     "except Exception as e:\n    raise SystemExit(f'etprof: {e}')"):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                                  env={"PYTHONPATH": str(self.place), "PATH": os.environ["PATH"]})
            self.assertIn(done.returncode, (1, 5))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertRegex(done.stderr, rf"^etprof: this package is for {self.says}; this is ")

    def twice_the_same_bytes(self):
        prefix = self.top / "prefix"
        run("cp", "-r", SOURCE / f"build/wheel/{self.triple}/prefix", prefix)
        run(sys.executable, SOURCE / "python/wheel/pack.py", prefix, self.top / "second", "--triple", self.triple,
            "--glibc", "2.28", "--macos", "14.0", preexec_fn=lambda: os.umask(0o077))
        second = (self.top / "second" / self.wheel.name).read_bytes()
        self.assertTrue(second == self.wheel.read_bytes(), "other bytes")

    def no_file_knows_the_tree(self):
        for path in self.tree.rglob("*"):
            if path.is_file():
                self.assertFalse(os.fsencode(SOURCE) in path.read_bytes(), path)


class Arm64Linux(Wheel):
    triple, platform, says = "aarch64-linux-gnu", "manylinux_2_28_aarch64", "aarch64 Linux"
    test_its_name_and_size, test_twice = Wheel.its_name_and_size, Wheel.twice_the_same_bytes
    test_no_file_knows_the_tree = Wheel.no_file_knows_the_tree

    def qemu(self, *words, root="/usr/aarch64-linux-gnu", code=0, **options):
        found = subprocess.run([SOURCE / "scripts/qemu"], capture_output=True, text=True, check=False)
        if found.returncode != 0:
            self.skipTest(found.stderr.strip().splitlines()[-1])
        if not pathlib.Path(root).is_dir():
            self.skipTest(f"no C library for arm64 in {root} (apt-get install libc6-arm64-cross)")
        return run(found.stdout.strip(), "-L", root, *words, code=code, **options).stdout

    def test_the_command(self):
        program = self.tree / "bin/etprof"
        self.assertEqual(self.qemu(program, "--version"), f"etprof {self.wheel.name.split('-')[1]}\n")
        there = json.loads(self.qemu(program, "inspect", MODEL, "--format", "json"))
        here = SOURCE / "build/release/bin/etprof"
        if here.exists():
            self.assertEqual(there, json.loads(run(here, "inspect", MODEL, "--format", "json").stdout))
        self.assertEqual(there["schema"].split("/")[0], "etprof.pte" if "pte" in there["schema"] else "etprof.inspect")

    def test_the_library_loads(self):
        if not shutil.which("aarch64-linux-gnu-gcc"):
            self.skipTest("no aarch64-linux-gnu-gcc")
        (self.top / "load.c").write_text(LIBETPROF)
        run("aarch64-linux-gnu-gcc", "-o", self.top / "load", self.top / "load.c", "-ldl")
        said = self.qemu(self.top / "load", self.tree / "lib/libetprof.so")
        self.assertEqual(said.strip(), self.wheel.name.split("-")[1])

    def test_the_runner_starts_with_what_it_brings(self):
        bundle = self.tree / "libexec/etprof" / self.triple
        listed = self.qemu("./ld-linux-aarch64.so.1", "--library-path", ".", "--list", "./etprof-runner", cwd=bundle)
        found = [line.split(" => ")[1].split(" (")[0] for line in listed.splitlines() if " => " in line]
        self.assertGreater(len(found), 8)
        for place in found:
            self.assertTrue((bundle / place).resolve().is_relative_to(bundle.resolve()), place)

    def arm64_python(self):
        """Debian's Python for arm64, unpacked aside: its folder and the path of the program."""
        home = SOURCE / ".cache/arm64-python"
        if not (home / "root/usr/bin").is_dir():
            for tool in ("apt-get", "dpkg-deb"):
                if not shutil.which(tool):
                    self.skipTest(f"no {tool} to take a Python for arm64 with")
            for folder in ("lists/partial", "archives/partial", "new"):
                (home / folder).mkdir(parents=True, exist_ok=True)
            apt = ["apt-get", "-o", "APT::Architecture=arm64", "-o", "APT::Architectures=arm64", "-o",
                   f"Dir::State::lists={home}/lists", "-o", "Dir::State::status=/dev/null", "-o", f"Dir::Cache={home}",
                   "-o", "APT::Sandbox::User="]
            done = subprocess.run([*apt, "update"], capture_output=True, text=True, check=False)
            about = subprocess.run(["apt-cache", *apt[1:], "depends", "python3-minimal"], capture_output=True,
                                   text=True, check=False).stdout
            version = next((w.removeprefix("python").removesuffix("-minimal") for w in about.split()
                            if w.startswith("python3.") and w.endswith("-minimal")), None)
            if done.returncode != 0 or not version:
                self.skipTest(f"this machine's apt has no Python for arm64: {done.stderr.strip()[-200:]}")
            names = [name.format(v=version) for name in PYTHON]
            done = subprocess.run([*apt, "download", *names], cwd=home / "new", capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0:
                self.skipTest(f"no Python for arm64: {done.stderr.strip()[-200:]}")
            for package in (home / "new").glob("*.deb"):
                run("dpkg-deb", "-x", package, home / "unpacked")
            (home / "unpacked").rename(home / "root")
        return home / "root", next((home / "root/usr/bin").glob("python3.*[0-9]"))

    def test_python_for_arm64_uses_the_package(self):
        root, python = self.arm64_python()
        code = ("import etprof, platform; r = etprof.ops('{}'); "
                "print(platform.machine(), *(t.name for t in r.times))").format(
                    SOURCE / "tests/data/mixed_xnnpack_fp32.etdump")
        env = {**os.environ, "PYTHONPATH": str(self.place), "PYTHONHOME": str(root / "usr")}
        for name in ("ETPROF_LIBRARY", "LD_LIBRARY_PATH"):
            env.pop(name, None)
        machine, *names = self.qemu(python, "-c", code, root=root, env=env).split()
        self.assertEqual(machine, "aarch64")
        self.assertIn("native_call_cumsum.out", names) # as strings(1) finds it in the recording

    def test_auditwheel_agrees_with_the_tag(self):
        self.assertLessEqual(wheel_audit.least_tag(self, self.top, self.wheel), 28)

    def test_each_program_finds_what_it_needs(self):
        wheel_audit.judge(self, self.top, self.place / "etprof", self.triple, self.platform)


def mach_o(data):
    """(file type, load commands) of a 64-bit Mach-O file for arm64."""
    magic, cpu, _, kind, count = struct.unpack_from("<IIIII", data)
    assert (magic, cpu) == (0xFEEDFACF, 0x0100000C), (hex(magic), hex(cpu))
    at, commands = 32, []
    for _ in range(count):
        number, size = struct.unpack_from("<II", data, at)
        commands.append((number & 0x7FFFFFFF, data[at:at + size]))
        at += size
    return kind, commands


class Macos(Wheel):
    """Read, not run."""

    triple, platform, says = "arm64-macos", "macosx_14_0_arm64", "arm64 Darwin"
    test_its_name_and_size, test_twice = Wheel.its_name_and_size, Wheel.twice_the_same_bytes
    test_no_file_knows_the_tree = Wheel.no_file_knows_the_tree

    def test_it_says_that_nobody_ran_it(self):
        text = (self.about() / "METADATA").read_text()
        self.assertRegex(text, r"(?m)^Summary: .* \(never run on this system\)$")
        self.assertIn("Nobody has run them yet", text.split("\n\n")[1])

    def test_every_program_is_for_that_system_alone(self):
        bundle = self.tree / "libexec/etprof" / self.triple
        files = [*(self.tree / "bin").iterdir(), *(self.tree / "lib").iterdir(), bundle / "etprof-runner",
                 bundle / "etprof-launch"]
        self.assertGreaterEqual(len(files), 6)
        for path in files:
            kind, commands = mach_o(path.read_bytes())
            self.assertIn(kind, (2, 6), path.name) # a program, a library
            numbers = [number for number, _ in commands]
            self.assertIn(0x1D, numbers, f"{path.name} has no signature, and macOS starts no program without")
            built = next(data for number, data in commands if number == 0x32)
            system, least = struct.unpack_from("<II", built, 8)
            self.assertEqual((system, least >> 16), (1, 14), path.name)
            for needed in (data for number, data in commands if number == 0xC):
                name = needed[struct.unpack_from("<I", needed, 8)[0]:].split(b"\0")[0].decode()
                beside = name.startswith(("@rpath/", "@loader_path/")) and \
                    (bundle / "sdk" / name.split("/")[-1]).exists()
                self.assertTrue(name.startswith(("/usr/lib/", "/System/")) or beside, f"{path.name} needs {name}")

    def test_the_library_shows_no_names_of_others(self):
        data = (self.tree / "lib/libetprof.dylib").read_bytes()
        table = next(d for number, d in mach_o(data)[1] if number == 0x2)
        symbols, count, strings, _ = struct.unpack_from("<IIII", table, 8)
        names = set()
        for i in range(count):
            at, kind, section, _, _ = struct.unpack_from("<IBBHQ", data, symbols + 16 * i)
            if kind & 0xE1 == 1 and section: # defined, external, not for debuggers
                names.add(data[strings + at:data.index(b"\0", strings + at)].decode())
        self.assertIn("_etp_version", names)
        linker = {"__mh_dylib_header", "___dso_handle"} # every library has these
        self.assertEqual({n for n in names if not n.startswith("_etp_")} - linker, set())


if __name__ == "__main__":
    Wheel.__test__ = False
    only = sys.argv[2:] # names of classes
    suites = [unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in (Arm64Linux, Macos)
              if not only or case.__name__ in only]
    result = unittest.TextTestRunner(verbosity=1).run(unittest.TestSuite(suites))
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    sys.exit(1 if not result.wasSuccessful() else 77 if not result.testsRun else 0)
