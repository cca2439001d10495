# SPDX-License-Identifier: Apache-2.0
"""examples/ci/pull_request.sh on a git repository with a commit that makes a model slower, one that makes one operator
of a recorded model slower, and a comment's size.

usage: pull_request.py ETPROF FAKE_RUNNER SOURCE_DIR"""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
from checks import ended, execute, expect, finish, new_folder
from slow_operator import slowed

ETPROF, FAKE, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
SCRIPT = SOURCE / "examples/ci/pull_request.sh"
OPTIONS = ["--levels", "sme2,neon", "--blocks", "6", "--iterations", "4", "--warmup", "3", "--seed", "7", "--runner",
           FAKE]


def git(*words):
    execute("git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words, check=True, text=False)


def commit(ns):
    fake_sessions.model("model.pte", f"base sme2 {ns}", "base neon 3000000")
    git("add", "model.pte")
    git("commit", "--allow-empty", "-m", f"{ns} ns")


def measure(baseline, out, options=(), **env):
    done = execute(SCRIPT, "model.pte", baseline, out, *(options or OPTIONS),
                   env={**os.environ, "ETPROF": str(ETPROF), **env})
    path = pathlib.Path(out, "comment.md")
    return done.returncode, path.read_text() if path.is_file() else done.stderr


def one_operator():
    """A commit after which one operator of three takes 2,000 ticks longer in both arms, and so does the inference:
    their comparison with each other does not show it."""
    source = SOURCE / "tests/data/mixed_xnnpack_fp32.etdump"
    pathlib.Path("before.etdump").write_bytes(source.read_bytes())
    pathlib.Path("after.etdump").write_bytes(slowed(source, "native_call_cumsum.out", 2000))
    options = ["--levels", "neon,base", "--blocks", "6", "--iterations", "3", "--warmup", "1", "--seed", "7",
               "--runner", FAKE]
    for name, ns, baseline in (("before", 3178, "none"), ("after", 5178, "before/run")):
        fake_sessions.model("model.pte", f"base neon {ns}", f"base base {ns + 100}")
        git("add", "model.pte")
        git("commit", "-m", name)
        dump = str(pathlib.Path(f"{name}.etdump").resolve())
        code, comment = measure(baseline, name, options, FAKE_ETDUMP_neon=dump, FAKE_ETDUMP_base=dump)
    before_fold = comment.partition("<details>")[0]
    expect(code == 1, "one operator is slower", code, comment[:2000])
    expect(re.search(r"^- \*\*slower\*\* cumsum\.out.*\+2\.000 µs$", before_fold, re.M), "the operator is named",
           before_fold)
    expect("Fully Connected" not in str(re.findall(r"^- \*\*slower\*\*.*", before_fold, re.M)), "and no other",
           before_fold)
    arms = re.findall(r"^## What became slower in (\S+)$", comment, re.M)
    expect(sorted(a.split("_")[1] for a in arms) == ["base", "neon"], "each arm", arms)
    sound(comment)


def sound(comment):
    expect(len(comment.encode()) <= 60000, "a comment's size", len(comment.encode()))
    expect(comment.count("<details>") == comment.count("</details>") > 0, "folds are closed")


def limits():
    """Any room: never more bytes, whole characters, closed folds."""
    folder = SOURCE / "examples/runs/image_encoder_int8_qemu"
    for limit in (1000, 1500, 3001, 7777, 20000, 41234, 60000):
        done = execute(ETPROF, "analyze", folder, "--format", "github", "--limit", limit, check=True, text=False)
        text = done.stdout.decode()
        expect(len(done.stdout) <= limit and text.count("<details>") == text.count("</details>"), limit,
               len(done.stdout))
        expect("image_encoder" in text, limit, "has no headline", text)
    for words in (["--format", "github", "--limit", "999"], ["--format", "github", "--limit", "60001"],
                  ["--limit", "2000"]):
        ended(execute(ETPROF, "analyze", folder, *words, text=False), 2)


folder = new_folder()
os.chdir(folder)
git("init", "-q")
commit(1000000)
code, comment = measure("none", "main")
expect(code == 0 and "faster" in comment, "without a baseline", code, comment)
commit(1000000)
code, comment = measure("main/run", "same")
expect(code == 0, "the same program is not slower", code, comment)
commit(1300000)
code, comment = measure("main/run", "slow")
expect(code == 1, "30 % slower fails", code, comment)
expect("linux_sme2_on" in comment and "<details>" in comment, comment[:600])
expect("What became slower in linux_sme2_on\n\nIts recordings cannot be compared." in comment, comment[:3000])
sound(comment)
one_operator()
limits()
expect(execute(SCRIPT, text=False).returncode == 2, "usage")
done = execute(ETPROF, "analyze", SOURCE / "examples/runs/image_encoder_int8_qemu", "--format", "github",
               check=True, text=False)
expect(5000 < len(done.stdout) <= 60000 and done.stdout.count(b"<details>") == done.stdout.count(b"</details>"),
       "a comment's size", len(done.stdout))
os.chdir("/")
finish("slower is told, the comment fits")
