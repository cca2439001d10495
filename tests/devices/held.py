# SPDX-License-Identifier: Apache-2.0
"""etprof killed at the edges of a launch: what its shell does there is held up until etprof is gone."""
import subprocess
import time


class Held:
    """A program that the shell of the timed launch waits for, from its call number NTH on, until it is let go: what
    comes behind it there comes after all that happens here."""

    def __init__(self, b, name, nth):
        self.path, self.calls, self.hold = (b.tools / (name + end) for end in ("", ".calls", ".hold"))
        b.tools.mkdir(exist_ok=True)
        self.hold.touch()
        self.path.write_text(
            f'#!/bin/sh\n/bin/{name} "$@"; s=$?\n'
            'grep=/bin/grep; p=$PPID\n'
            'while [ "$p" -gt 1 ] && ! $grep -qs -e --kind.*timed /proc/$p/cmdline; do\n'
            '    read -r x </proc/$p/stat; set -- ${x##*) }; p=$2\n'
            'done\n'
            f'[ "$p" -gt 1 ] && [ -e "$0.hold" ] || exit $s\n'
            'echo >>"$0.calls"; n=0\n'
            f'while [ $(wc -l <"$0.calls") -ge {nth} ] && [ -e "$0.hold" ] && [ $n -lt 600 ]; do\n'
            '    n=$((n + 1)); sleep 0.1\n'
            'done\nexit $s\n')
        self.path.chmod(0o755)

    def wait(self, nth):
        end = time.monotonic() + 100
        while not self.calls.exists() or self.calls.read_text().count("\n") < nth:
            assert time.monotonic() < end, f"{self.path.name} was not called"
            time.sleep(0.02)

    def let_go(self):
        for path in (self.path, self.hold, self.calls):
            path.unlink(missing_ok=True)


def killed_while_held(b, name, nth):
    """etprof killed while the shell of the first timed launch waits for its call number NTH of a program."""
    before = b.under("work")
    held = Held(b, name, nth)
    words, _ = b.command("--iterations", "3", "--no-trace")
    p = subprocess.Popen(words, cwd=b.work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=b.env)
    try:
        held.wait(nth)
        p.kill()
        p.wait()
        time.sleep(2)  # until the device has heard of it
    finally:
        p.kill()
        held.let_go()
    b.assert_no_orphans()
    b.assert_no_folder(before, 60)


def gone_before_watched(b):
    """etprof killed when a launch runs there already and nothing watches it yet: all goes the same way."""
    killed_while_held(b, "mkdir", 2)  # the first call is before the runner's start


def gone_after_its_end(b):
    """etprof killed when a launch has ended there and its shell has not."""
    killed_while_held(b, "grep", 1)
