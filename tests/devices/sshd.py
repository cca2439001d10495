# SPDX-License-Identifier: Apache-2.0
"""A real sshd on loopback, as the user who runs the tests, in a private folder."""
import getpass
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time

# As root, sshd gives its rights away to a user of this name, whom only installing it makes.
USER = "sshd"
# Shows sshd a list of users that has it, and nobody else.
SHOWN = 'mount --bind "$0" /etc/passwd && exec "$@"'
OWN_MOUNTS = ("unshare", "--mount", "--propagation", "private")
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "sshd"
FOUND = {}


def has_user() -> bool:
    try:
        return os.getuid() != 0 or bool(pwd.getpwnam(USER))
    except KeyError:
        return False


def missing() -> str:
    found = subprocess.run([SCRIPT], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        return (found.stderr.strip().splitlines() or ["no sshd"])[-1]
    if not shutil.which("ssh") or not shutil.which("ssh-keygen"):
        return "no OpenSSH client"
    if not has_user() and subprocess.run([*OWN_MOUNTS, "true"], capture_output=True, check=False).returncode != 0:
        return f"no user {USER}, and no mounts of one's own (unshare --mount) to show sshd one"
    FOUND["sshd"] = pathlib.Path(found.stdout.strip())
    return ""


def free_port() -> int:
    """Below those that the system gives to whoever connects or asks for any: between two of our daemons nobody else
    gets it."""
    for port in random.SystemRandom().sample(range(16000, 30000), 1000):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no free port")


class Server:
    """Host "board" of `config`; its HOME is inside DIR."""

    first_in_path = "bin"  # below its home: programs of a test's own

    def __init__(self, where: pathlib.Path):
        self.dir = where
        self.home = where / "home"
        self.home.mkdir(parents=True)
        self.inside = self.home
        self.port = free_port()
        for name in ("hostkey", "userkey"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", where / name], check=True)
        (where / "authorized_keys").write_text((where / "userkey.pub").read_text())
        (where / "known_hosts").write_text(self.line_of_key())
        (where / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {where}/hostkey\nPidFile {where}/sshd.pid\n"
            f"AuthorizedKeysFile {where}/authorized_keys\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\nMaxSessions 4\n"
            # A shell of one's own: the tester's start-up files may run hundreds of programs at every call.
            # Programs of a test's own come first; mostly there are none.
            f"SetEnv XDG_CACHE_HOME={self.home} HOME={self.home} PATH={self.home}/bin:{os.defpath}\n")
        prefix = FOUND["sshd"].parents[2] if FOUND["sshd"].parts[-5:-3] == ("sshd", "root") else None
        self.env = dict(os.environ)
        if prefix:  # unpacked, not installed: it has its parts and libraries beside it
            self.env["LD_LIBRARY_PATH"] = ":".join(str(p.parent) for p in prefix.rglob("libwrap.so.0"))
            with open(where / "sshd_config", "a", encoding="utf-8") as f:
                for option, name in (("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth")):
                    part = prefix / "usr" / "lib" / "openssh" / name
                    f.write(f"{option} {part}\n" if part.exists() else "")
        self.config = where / "ssh_config"
        self.config.write_text(
            f"Host board\n  HostName 127.0.0.1\n  Port {self.port}\n  User {getpass.getuser()}\n"
            f"  IdentityFile {where}/userkey\n  IdentitiesOnly yes\n  UserKnownHostsFile {where}/known_hosts\n"
            "  StrictHostKeyChecking yes\n"
            "Host closed\n  HostName 127.0.0.1\n  Port 1\n")
        self.process = None
        self.start()

    def line_of_key(self) -> str:
        """What known_hosts says of the key that the server has now."""
        key = (self.dir / "hostkey.pub").read_text().split()
        return f"[127.0.0.1]:{self.port} {key[0]} {key[1]}\n"

    def change_host_key(self) -> str:
        """A board that was set up anew: it comes back with another key. The line of the old one."""
        known = self.line_of_key()
        self.kill()
        for name in ("hostkey", "hostkey.pub"):
            (self.dir / name).unlink()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.dir / "hostkey"], check=True)
        self.start()
        return known

    def start(self):
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        shown = ()
        if not has_user():
            users = self.dir / "passwd"
            users.write_text(
                f"{pathlib.Path('/etc/passwd').read_text()}{USER}:x:65534:65534::/run/sshd:/usr/sbin/nologin\n"
            )
            shown = (*OWN_MOUNTS, "sh", "-c", SHOWN, users)
        self.process = subprocess.Popen(
            [*shown, FOUND["sshd"], "-D", "-f", self.dir / "sshd_config", "-E", self.dir / "sshd.log"],
            start_new_session=True, env=self.env)
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError((self.dir / "sshd.log").read_text())

    def pids(self) -> list:
        """The server and its sessions: descendants of the process we started."""
        parents = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    stat = (entry / "stat").read_text()
                    name, rest = stat[stat.index("(") + 1:stat.rindex(")")], stat[stat.rindex(")") + 2:]
                except (OSError, ValueError):
                    continue
                parents[int(entry.name)] = (int(rest.split()[1]), name)
        found = [self.process.pid]
        for pid in found:
            found += [p for p, (parent, name) in parents.items() if parent == pid and name.startswith("sshd")]
        return found

    def signal(self, number: int):
        for pid in reversed(self.pids()):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """The server and every session at once: a board that lost its power."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.signal(signal.SIGCONT)
        self.kill()
