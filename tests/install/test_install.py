# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder, moves it, and works from there with an empty HOME while nobody can see the tree.

usage: test_install.py SOURCE_DIR BUILD_DIR CMAKE"""
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
CMAKE = sys.argv[3]
ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
HIDE = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$1" && shift && exec "$@"', "sh", str(SOURCE)]
NATIVE = os.uname().sysname == "Linux" and f"{os.uname().machine}-linux-gnu" or "arm64-macos"


def left_out(what):
    print(f"left out: {what}")


def hiding():
    """The words that start a program where the tree is an empty folder; none where the system forbids it."""
    probe = subprocess.run([*HIDE, "ls", SOURCE], capture_output=True, text=True, check=False) \
        if shutil.which("unshare") else None
    if probe is None or probe.returncode != 0 or probe.stdout:
        left_out("out of sight of the tree: no user namespaces here")
        return []
    return HIDE


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Not $TMPDIR: that may lie inside the tree, which is going to be hidden.
        cls.folder = tempfile.TemporaryDirectory(prefix="etprof-install-", dir="/tmp")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.top = pathlib.Path(cls.folder.name)
        cls.home, cls.elsewhere = cls.top / "home", cls.top / "elsewhere"
        for folder in (cls.home, cls.elsewhere):
            folder.mkdir()
        cls.env = {**ENV, "HOME": str(cls.home)}
        done = subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.top / "first"], env=cls.env, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.prefix = cls.top / "moved to here"
        (cls.top / "first").rename(cls.prefix)
        cls.hide = hiding()

    def etprof(self, *words, code=0, program=None):
        program = program or self.prefix / "bin/etprof"
        done = subprocess.run([*self.hide, program, *words], cwd=self.elsewhere, env=self.env, text=True,
                              capture_output=True, timeout=600, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, f"etprof {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout

    def need_runner(self):
        if not (SOURCE / "build/bundle" / NATIVE / "etprof-runner").exists():
            self.skipTest(f"no runner bundle (scripts/build-runner {NATIVE})")

    def test_the_job(self):
        self.need_runner()
        model = self.prefix / "share/etprof/models/toy_cnn_xnnpack_fp32.pte"
        self.etprof("ab", model, "--blocks", "2", "--iterations", "5", "--warmup", "2", "--out", "run")
        self.assertIn("toy_cnn", self.etprof("analyze", "--full", "--renew", "run", "--format", "md"))
        self.etprof("verify", "run")
        manifest = json.loads((self.elsewhere / "run/manifest.json").read_text())
        self.assertEqual(manifest["state"], "finished")
        self.assertTrue(manifest["executorch"]["version"].startswith("1.5.1"), manifest["executorch"])

    def test_a_link_finds_them_too(self):
        self.need_runner()
        link = self.elsewhere / "linked"
        link.symlink_to(self.prefix / "bin/etprof")
        self.assertIn("x86_64" if os.uname().machine == "x86_64" else "aarch64",
                      self.etprof("doctor", "levels", program=link))

    def test_the_python_part_is_found(self):
        self.assertIn("toy_cnn", self.etprof("export", "--list"))
        self.assertIn("04_run_profiling", self.etprof("skills"))
        self.assertIn("# 04 Run the profiling", self.etprof("skills", "04"))

    def test_no_file_knows_the_tree(self):
        for path in self.prefix.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                for place in (SOURCE, BUILD, self.top / "first"):
                    self.assertNotIn(os.fsencode(place), data, path)

    def test_every_verb_has_a_page_that_renders(self):
        pages = {p.name for p in (self.prefix / "share/man/man1").iterdir()}
        verbs = re.findall(r"^  ([a-z-]+) ", self.etprof("help", "--all"), re.M)
        self.assertGreater(len(verbs), 20)
        self.assertEqual(pages, {"etprof.1", *(f"etprof-{v}.1" for v in verbs)})
        if not shutil.which("groff"):
            return left_out("rendering the pages: no groff")
        for page in sorted((self.prefix / "share/man/man1").iterdir()):
            done = subprocess.run(["groff", "-man", "-Kutf8", "-Tutf8", "-P-cbou", "-ww", page], capture_output=True,
                                  text=True, check=True)
            self.assertEqual(done.stderr, "", page.name)
            self.assertIn("NAME", done.stdout)
        return None

    def test_links_between_the_pages_lead_somewhere(self):
        pages = [self.prefix / "share/doc/etprof/README.md", *(self.prefix / "share/doc/etprof/docs").glob("*.md")]
        self.assertGreater(len(pages), 20)
        for page in pages:
            prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
            for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", prose):
                self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")

    def complete(self, *words):
        script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _etprof; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", self.prefix / "share/bash-completion/completions/etprof",
                               "etprof", *words], cwd=self.elsewhere, env=self.env, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")[:-1]

    def test_bash_completes(self):
        (self.elsewhere / "my net.pte").write_text("")
        self.assertEqual(self.complete("comp"), ["compare"])
        self.assertEqual(self.complete("ab", "--prec"), ["--precision"])
        self.assertEqual(self.complete("history", "--engine", "sp"), ["spark"])
        self.assertEqual(self.complete("stats", "--format", ""), ["text", "json", "csv", "md"])
        self.assertEqual(self.complete("ab", "my"), ["my net.pte"])
        self.assertEqual(self.complete("help", "what"), ["whatif"])
        self.assertEqual(self.complete("help", "my"), [""])  # not "my net.pte"
        self.assertEqual(self.complete("help", "--completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("ab", "--levels", "sm"), ["sme2", "sme1"])
        self.assertEqual(self.complete("ab", "-l", "vnni,av"), ["vnni,avx512", "vnni,avx2"])
        self.assertEqual(self.complete("ab", "--levels", "sme2,sme1,n"), ["sme2,sme1,neon"])
        self.assertEqual(self.complete("ab", "--device", "q"), ["qemu"])
        self.assertEqual(self.complete("roofs", "-d", ""), ["local", "adb", "ssh:", "qemu"])
        self.assertIn("parquet", self.complete("convert", "--to", ""))
        self.assertEqual(self.complete("convert", "--to", "spe"), ["speedscope"])

    def test_zsh_and_fish_take_theirs(self):
        for shell, file in (("zsh", "zsh/site-functions/_etprof"), ("fish", "fish/vendor_completions.d/etprof.fish")):
            text = (self.prefix / "share" / file).read_text()
            for word in ("whatif", "precision", "spark"):
                self.assertIn(word, text)
            if shutil.which(shell):
                subprocess.run([shell, "-n", self.prefix / "share" / file], check=True)
            else:
                left_out(f"its syntax: no {shell}")
        if shutil.which("fish"):
            for line, first in (("help --completion ", ["bash", "fish", "zsh"]), ("help what", ["whatif"]),
                                ("history --engine sp", ["spark"]), ("comp", ["compare"])):
                done = subprocess.run(["fish", "--no-config", "-c", f"source $argv[1]; complete -C 'etprof {line}'",
                                       self.prefix / "share/fish/vendor_completions.d/etprof.fish"], env=self.env,
                                      cwd=self.elsewhere, capture_output=True, text=True, check=True)
                self.assertEqual([w.split("\t")[0] for w in done.stdout.splitlines()], first, line)

    def test_others_build_against_the_library(self):
        tools = [t for t in ("cc", "pkg-config") if not shutil.which(t)]
        if tools:
            self.skipTest(f"no {tools[0]}")
        env = {**self.env, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        words = subprocess.run(["pkg-config", "--cflags", "--libs", "etprof"], env=env, capture_output=True, text=True,
                               check=True).stdout
        program = self.elsewhere / "reader"
        # A shell reads them: pkg-config writes the blank in the folder's name as one wants it.
        subprocess.run(f'cc -std=c17 -o "{program}" "{SOURCE}/examples/read_etdump.c" {words.strip()}', shell=True,
                       env=env,
                       check=True)
        lib = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
        done = subprocess.run([program, SOURCE / "tests/data/mixed_xnnpack_fp32.etdump"], capture_output=True,
                              text=True,
                              env={**self.env, lib: str(self.prefix / "lib")}, check=True)
        self.assertIn("Execute: 3 executions of 7 events", done.stdout)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for test, reason in result.skipped:
        print(f"left out: {test}: {reason}")
    sys.exit(0 if result.wasSuccessful() else 1)
