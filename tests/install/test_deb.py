# SPDX-License-Identifier: Apache-2.0
"""The .deb of this build: made twice, read by apt from a repository that scripts/apt-repository made, installed by dpkg
in a root that holds what it depends on and nothing else, and used there. With ETPROF_TESTS_BARE_ROOT=1 also by apt in a
bare Debian that mmdebstrap makes (a minute, and 40 MB from this machine's mirror).

usage: test_deb.py SOURCE_DIR"""
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


def run(*words, code=0, **options):
    done = subprocess.run(words, text=True, check=False, timeout=900, stdin=subprocess.DEVNULL,
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
        cls.package = cls.made("first")
        cls.architecture = run("dpkg-deb", "-f", cls.package, "Architecture").stdout.strip()
        cls.repository = cls.top / "repository"
        run(SOURCE / "scripts/apt-repository", cls.repository, cls.package)

    @classmethod
    def made(cls, name, **options):
        done = run(SOURCE / "scripts/install", "--package", "--no-build", cls.top / name, **options)
        return pathlib.Path(next(line for line in done.stdout.splitlines() if line.endswith(".deb")))

    def test_twice_the_same_bytes(self):
        again = self.made("another place", preexec_fn=lambda: os.umask(0o077), cwd="/")
        self.assertEqual(again.name, self.package.name)
        self.assertTrue(again.read_bytes() == self.package.read_bytes(), "other bytes")

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
        self.assertEqual([p.name for p in got], [self.package.name])
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

    def test_apt_installs_it_in_a_bare_debian(self):
        if not os.environ.get("ETPROF_TESTS_BARE_ROOT"):
            self.skipTest("takes a minute and a mirror: ETPROF_TESTS_BARE_ROOT=1")
        keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
        if os.getuid() != 0 or not shutil.which("mmdebstrap") or not os.path.exists(keyring):
            self.skipTest("needs root, mmdebstrap and Debian's keyring")
        found = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)").stdout.splitlines()
        mirror, suite = next((line.split() for line in found if re.search(r"/debian/? [a-z]+$", line)), (None, None))
        if not mirror:
            self.skipTest("this machine's apt has no Debian mirror")
        said = run("apt-config", "dump").stdout
        how = re.findall(r'^Acquire::(?:https?|Check-|Retries|Force|Proxy)\S* "[^"].*$', said, re.M)
        (self.top / "apt.conf").write_text("".join(f"{line}\n" for line in how))
        root = self.top / "bare"
        done = run("mmdebstrap", "--mode=root", "--variant=essential", f"--aptopt={self.top}/apt.conf",
                   "--format=directory", "--include=etprof", suite, root,
                   f"deb [trusted=yes] copy:{self.repository} stable main",
                   f"deb [signed-by={keyring}] {mirror} {suite} main", code=None)
        if done.returncode != 0:
            self.skipTest(f"mmdebstrap made no root: {done.stderr.strip()[-300:]}")
        self.used(root)


if __name__ == "__main__":
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "apt-get"):
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
