# SPDX-License-Identifier: Apache-2.0
"""Debian's packages of this build: made twice, held against what Debian asks, read by apt from a repository that
scripts/apt-repository made, installed by dpkg in a root that holds what the program depends on and nothing else, and
used there. With ETPROF_TESTS_SUITES="bookworm trixie noble" they are also compiled in a root of each suite, without a
network, and installed by apt in a bare one (four minutes and 300 MB from a mirror for each).

usage: test_deb.py SOURCE_DIR"""
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
MODEL = "/usr/share/etprof/models/toy_cnn_xnnpack_fp32.pte"
VERSION = re.search(r'ETP_VERSION "([0-9]+)[.]([0-9]+)[.]', (SOURCE / "include/etprof/version.h").read_text()).groups()
LIBRARY = "libetprof" + (".".join(VERSION) if VERSION[0] == "0" else VERSION[0])
SUITES = os.environ.get("ETPROF_TESTS_SUITES", "").split()
# Compiles an example with what pkg-config says of DESTDIR's development files, or of the system's.
USE = ('cc -o /tmp/reader "$1" $(pkg-config --cflags --libs etprof) && /tmp/reader "$2" && '
       'cc -o /tmp/static "$1" $(pkg-config --cflags --libs etprof-static) && /tmp/static "$2"')


def run(*words, code=0, **options):
    done = subprocess.run(words, text=True, check=False, timeout=1800, stdin=subprocess.DEVNULL,
                          **{"capture_output": True, **options})
    if code is not None and done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def entered(root, *words):
    """Runs WORDS in ROOT with processes and mounts of its own, offline."""
    return run("unshare", "-m", "-p", "-n", "--fork", "--mount-proc=" + str(root / "proc"), "chroot", root, *words,
               env={**ENV, "HOME": "/root"}, cwd="/")


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="etprof-deb-", dir="/tmp")
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        cls.packages = cls.made("first")
        cls.package = cls.packages["etprof"]
        cls.architecture = run("dpkg-deb", "-f", cls.package, "Architecture").stdout.strip()
        cls.repository = cls.top / "repository"
        run(SOURCE / "scripts/apt-repository", cls.repository, *cls.packages.values())
        cls.laid = {name: cls.top / f"laid-{name}" for name in cls.packages}
        for name, package in cls.packages.items():
            run("dpkg-deb", "-x", package, cls.laid[name])

    @classmethod
    def made(cls, name, **options):
        """The packages by their names."""
        done = run(SOURCE / "scripts/install", "--package", "--no-build", cls.top / name, **options)
        found = [pathlib.Path(line) for line in done.stdout.splitlines() if line.endswith(".deb")]
        return {path.name.partition("_")[0]: path for path in found}

    def test_twice_the_same_bytes(self):
        again = self.made("another place", preexec_fn=lambda: os.umask(0o077), cwd="/")
        for name, package in self.packages.items():
            self.assertEqual(again[name].name, package.name)
            self.assertTrue(again[name].read_bytes() == package.read_bytes(), f"{name}: other bytes")

    # --- what they say and hold

    def files(self, name):
        return {str(p.relative_to(self.laid[name])) for p in self.laid[name].rglob("*")
                if p.is_symlink() or p.is_file()}

    def field(self, name, field):
        return run("dpkg-deb", "-f", self.packages[name], field).stdout.strip()

    def test_program_library_and_development_files_are_apart(self):
        self.assertEqual(sorted(self.packages), sorted(["etprof", LIBRARY, "libetprof-dev"]))
        triplet = f"usr/lib/{os.uname().machine}-linux-gnu"
        soname = LIBRARY.replace("libetprof", "libetprof.so.")
        for name in self.files(LIBRARY):
            self.assertRegex(name, f"^({triplet}/{soname}|usr/share/doc/{LIBRARY}/)")
        self.assertIn(f"{triplet}/{soname}", self.files(LIBRARY))
        for name in self.files("libetprof-dev"):
            self.assertRegex(name, f"^(usr/include/etprof/|{triplet}/|usr/share/doc/libetprof-dev/)")
        for part in ("libetprof.a", "libetprof.so", "pkgconfig/etprof.pc", "cmake/etprof/etprofConfig.cmake"):
            self.assertIn(f"{triplet}/{part}", self.files("libetprof-dev"))
        self.assertFalse([name for name in self.files("etprof") if name.startswith(("usr/lib/", "usr/include/"))])
        version = self.field("etprof", "Version")
        self.assertIn(f"{LIBRARY} (= {version})", self.field("libetprof-dev", "Depends"))
        self.assertIn(f"{LIBRARY} (= {version})", self.field("etprof", "Recommends"))
        for name in (LIBRARY, "libetprof-dev"):
            self.assertEqual(self.field(name, "Multi-Arch"), "same")
        shlibs = run("dpkg-deb", "-I", self.packages[LIBRARY], "shlibs").stdout.split()
        self.assertEqual(shlibs[:2], ["libetprof", soname.rpartition(".so.")[2]])

    def test_pages_are_compressed_and_have_a_date(self):
        pages = [name for name in self.files("etprof") if "/man/" in name]
        self.assertGreater(len(pages), 20)
        changes = gzip.decompress((self.laid["etprof"] / "usr/share/doc/etprof/changelog.gz").read_bytes()).decode()
        day = run("date", "-u", "+%Y-%m-%d", "-d", re.search(r"^ -- .*>  (.+)$", changes, re.M)[1]).stdout.strip()
        for page in pages:
            self.assertTrue(page.endswith(".1.gz"), page)
            self.assertRegex(gzip.decompress((self.laid["etprof"] / page).read_bytes()).decode(),
                             f'^[.]TH \\S+ 1 "{day}" "etprof ')

    def test_each_has_its_changes_and_licences(self):
        for name in self.packages:
            doc = f"usr/share/doc/{name}"
            self.assertIn(f"{doc}/changelog.gz", self.files(name))
            told = (self.laid[name] / doc / "copyright").read_text()
            for licence in ("LGPL-2.1", "GPL-3", "Apache-2.0"):
                self.assertIn(f"/usr/share/common-licenses/{licence}", told)

    def test_the_runner_is_as_it_was_built(self):
        bundle = self.laid["etprof"] / f"usr/libexec/etprof/{os.uname().machine}-linux-gnu"
        for file in json.loads((bundle / "bundle.json").read_text())["files"]:
            data = (bundle / file["path"]).read_bytes()
            self.assertEqual(hashlib.sha256(data).hexdigest(), file["sha256"], file["path"])

    def test_lintian_finds_nothing(self):
        if not shutil.which("lintian"):
            self.skipTest("no lintian")
        self.assertEqual(run("lintian", "--allow-root", "--tag-display-limit", "0", *self.packages.values(), code=None,
                             env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout, "")

    def depends(self):
        text = run("dpkg-deb", "-f", self.package, "Depends").stdout
        return [re.split(r"[ (|]", part.strip())[0] for part in text.split(",")]

    # --- the repository, read by apt with folders of its own

    def apt(self, line, fine=True):
        home = self.top / f"apt{len(list(self.top.glob('apt*')))}"
        for place in ("lists/partial", "archives/partial", "got"):
            (home / place).mkdir(parents=True)
        (home / "sources.list").write_text(line + "\n")
        options = ["-o", f"Dir::Etc::sourcelist={home}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null", "-o",
                   f"Dir::State::lists={home}/lists", "-o", f"Dir::Cache={home}", "-o", "Dir::State::status=/dev/null",
                   "-o", "APT::Sandbox::User="]
        done = run("apt-get", *options, "-q", "update", code=None, env=ENV)
        said = done.stdout + done.stderr
        if done.returncode == 0:
            done = run("apt-get", *options, "-q", "download", "etprof", cwd=home / "got", code=None, env=ENV)
            said += done.stdout + done.stderr
        got = list((home / "got").glob("*.deb"))
        self.assertEqual(done.returncode == 0 and len(got) == 1, fine, said)
        return got, said

    def test_apt_reads_the_repository(self):
        got, _ = self.apt(f"deb [trusted=yes] copy:{self.repository} stable main")
        self.assertEqual([p.name.replace("%7e", "~") for p in got], [self.package.name])
        self.assertTrue(got[0].read_bytes() == self.package.read_bytes())

    def test_apt_refuses_what_was_changed(self):
        for name in ("Packages", "package"):
            place = self.top / f"changed {name}".replace(" ", "-")
            shutil.copytree(self.repository, place)
            if name == "Packages":
                next(place.glob(f"dists/stable/main/binary-{self.architecture}/Packages.gz")).unlink()
            path = next(place.glob(f"dists/stable/main/binary-{self.architecture}/Packages" if name == "Packages"
                                   else "pool/*"))
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
            _, said = self.apt(f"deb [trusted=yes] copy:{place} stable main", fine=False)
            self.assertIn("Hash Sum mismatch", said)

    def test_a_signature_is_asked_for(self):
        if not shutil.which("gpg"):
            self.skipTest("no gpg")
        home = self.top / "gpg"
        home.mkdir(mode=0o700)
        env = {**os.environ, "GNUPGHOME": str(home)}
        run("gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-gen-key", "t@example.org",
            "ed25519", "sign", env=env)
        signed = self.top / "signed"
        run(SOURCE / "scripts/apt-repository", "--key", "t@example.org", signed, self.package, env=env)
        run("gpgconf", "--kill", "all", env=env, code=None)
        self.apt(f"deb [signed-by={signed}/etprof.asc] copy:{signed} stable main")
        (signed / "dists/stable/InRelease").unlink()
        self.apt(f"deb [signed-by={signed}/etprof.asc] copy:{signed} stable main")
        (signed / "dists/stable/Release.gpg").unlink()
        self.apt(f"deb [signed-by={signed}/etprof.asc] copy:{signed} stable main", fine=False)

    def test_other_files_are_refused(self):
        (self.top / "no.deb").write_text("no package")
        done = run(SOURCE / "scripts/apt-repository", self.top / "never", self.top / "no.deb", code=3)
        self.assertIn("no.deb is no package of Debian", done.stderr)
        self.assertFalse((self.top / "never").exists())

    # --- installed

    def root(self):
        """A root with the packages that the .deb depends on, as this machine has them, and theirs; nothing else."""
        if os.getuid() != 0 or not shutil.which("unshare"):
            self.skipTest("a root of its own needs root and unshare")
        wanted, closure = self.depends(), {}
        self.assertGreater(len(wanted), 3)
        while wanted:
            name = wanted.pop()
            if name in closure:
                continue
            about = run("dpkg-query", "-s", name, code=None)
            if about.returncode != 0:
                self.skipTest(f"this machine has no package {name} to put into a root")
            closure[name] = about.stdout
            for line in re.findall(r"^(?:Pre-)?Depends: (.*)$", about.stdout, re.M):
                wanted += [re.split(r"[ (:|]", part.strip())[0] for part in line.split(",")]
        root = self.top / f"root{len(list(self.top.glob('root*')))}"
        for place in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "proc", "tmp", "root", "usr/bin", "usr/lib",
                      "usr/lib64", "usr/sbin"):
            (root / place).mkdir(parents=True)
        for name in ("bin", "lib", "lib64", "sbin"):
            (root / name).symlink_to(f"usr/{name}")
        (root / "var/lib/dpkg/status").write_text("\n".join(closure.values()))
        for name in closure:
            for line in run("dpkg-query", "-L", name).stdout.splitlines():
                path = pathlib.Path(line)
                if "/doc/" in line or path.is_dir() or not path.exists():
                    continue
                place = root / line.lstrip("/")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place, follow_symlinks=False)
            for end in ("list", f"{os.uname().machine}.list"):
                (root / f"var/lib/dpkg/info/{name}.{end}").touch()
        return root, sorted(closure)

    def used(self, root):
        entered(root, "/usr/bin/etprof", "ab", MODEL, "--blocks", "2", "--iterations", "5", "--warmup", "2", "--out",
                "/root/run")
        self.assertIn("toy_cnn", entered(root, "/usr/bin/etprof", "analyze", "/root/run", "--format", "md").stdout)
        entered(root, "/usr/bin/etprof", "verify", "/root/run")

    def test_dpkg_installs_it_in_a_clean_root(self):
        root, closure = self.root()
        self.assertNotIn("bash", closure)
        self.assertNotIn("python3", closure)
        run("dpkg", "--root", root, "--log", "/dev/null", "-i", self.package, env=ENV)
        state = run("dpkg-query", "--admindir", root / "var/lib/dpkg", "-W", "-f", "${Status}", "etprof").stdout
        self.assertEqual(state, "install ok installed")
        self.assertEqual(run("dpkg", "--root", root, "-V", "etprof", env=ENV).stdout, "", "every file as packed")
        self.used(root)
        run("dpkg", "--root", root, "--log", "/dev/null", "-P", "etprof", env=ENV)
        left = [p for p in (root / "usr").rglob("*etprof*") if p.is_file()]
        self.assertEqual(left, [])

    def test_dpkg_wants_what_it_depends_on(self):
        root, _ = self.root()
        status = root / "var/lib/dpkg/status"
        status.write_text("\n\n".join(p for p in status.read_text().split("\n\n") if "Package: libjansson4" not in p))
        done = run("dpkg", "--root", root, "--log", "/dev/null", "-i", self.package, env=ENV, code=1)
        self.assertIn("etprof depends on libjansson4", done.stderr)

    # --- in other suites

    def bare(self, suite, name, packages, *sources):
        """A root of SUITE with PACKAGES, by mmdebstrap."""
        owner = "ubuntu" if suite == "noble" else "debian"
        keyring = f"/usr/share/keyrings/{owner}-archive-keyring.gpg"
        if os.getuid() != 0 or not shutil.which("mmdebstrap") or not os.path.exists(keyring):
            self.skipTest(f"{suite}: needs root, mmdebstrap and {keyring}")
        found = run("apt-get", "indextargets", "--format", "$(REPO_URI)").stdout.split()
        mirror = next((uri for uri in found if re.search(f"/{owner}/?$", uri)), None)
        if not mirror:
            self.skipTest(f"{suite}: this machine's apt has no mirror of {owner}")
        said = run("apt-config", "dump").stdout
        how = re.findall(r'^Acquire::(?:https?|Check-|Retries|Force|Proxy)\S* "[^"].*$', said, re.M)
        (self.top / "apt.conf").write_text("".join(f"{line}\n" for line in how))
        root = self.top / f"{suite}-{name}"
        done = run("mmdebstrap", "--mode=root", "--variant=essential", f"--aptopt={self.top}/apt.conf",
                   "--format=directory", f"--include={','.join(packages)}", suite, root, *sources,
                   f"deb [signed-by={keyring}] {mirror} {suite} main{' universe' * (owner == 'ubuntu')}", code=None)
        if done.returncode != 0:
            self.skipTest(f"mmdebstrap made no root of {suite}: {done.stderr.strip()[-300:]}")
        return root

    @unittest.skipUnless(SUITES, 'takes minutes and a mirror for each: ETPROF_TESTS_SUITES="bookworm trixie noble"')
    def test_built_and_installed_in_each_suite(self):
        for suite in SUITES:
            with self.subTest(suite):
                self.build_and_install(suite)

    def build_and_install(self, suite):
        wants = re.search(r"^Build-Depends: (.*(?:\n .*)*)", (SOURCE / "cmake/debian/control").read_text(), re.M)[1]
        wants = [re.split(r"[ (|]", each.strip())[0] for each in wants.split(",")]
        root = self.bare(suite, "build", ["debhelper" if name == "debhelper-compat" else name for name in wants] +
                         ["build-essential", "libcmocka-dev", "lintian", "python3"])
        for name in run("git", "-C", SOURCE, "ls-files", "-z", "-c", "-o", "--exclude-standard").stdout.split("\0"):
            if name and os.path.lexists(SOURCE / name):
                (root / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, root / "tree" / name, follow_symlinks=False)
        shutil.copytree(SOURCE / "build/bundle", root / "tree/build/bundle", symlinks=True)
        # The oldest CMake that is supported is that of bookworm, and nothing is fetched.
        entered(root, "/bin/sh", "-c", "cd /tree && cmake --preset release")
        made = entered(root, "/tree/scripts/deb", "/packages").stdout.split()
        self.assertEqual(len(made), 3)
        self.assertEqual(entered(root, "/bin/sh", "-c", "lintian --allow-root /packages/*.deb").stdout, "")
        repository = self.top / f"{suite}-repository"
        run(SOURCE / "scripts/apt-repository", repository, *(root / "packages").glob("*.deb"))
        bare = self.bare(suite, "bare", ["etprof", "libetprof-dev", "gcc", "libc6-dev", "pkgconf"],
                         f"deb [trusted=yes] copy:{repository} stable main")
        self.used(bare)
        for path in ("examples/read_etdump.c", "tests/data/mixed_xnnpack_fp32.etdump"):
            shutil.copy(SOURCE / path, bare / "tmp")
        told = entered(bare, "/bin/sh", "-c", USE, "sh", "/tmp/read_etdump.c", "/tmp/mixed_xnnpack_fp32.etdump").stdout
        self.assertEqual(told.count("Execute: 3 executions of 7 events"), 2)
        for place in (root, bare):
            shutil.rmtree(place)


if __name__ == "__main__":
    for tool in ("dpkg-buildpackage", "dh", "apt-get"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    if not (SOURCE / f"build/bundle/{os.uname().machine}-linux-gnu/etprof-runner").exists():
        print("skipped: no runner bundle (scripts/build-runner native)")
        sys.exit(77)
    result = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], exit=False).result
    for test, reason in result.skipped:
        print(f"left out: {test}: {reason}")
    sys.exit(0 if result.wasSuccessful() else 1)
