# SPDX-License-Identifier: Apache-2.0
"""The recipes for pull requests, run as they are written: examples/ci/pull_request.yml with action.yml by a small
interpreter of GitHub's language (workflow.py), examples/ci/gitlab.yml with bash. A wheel of this build is installed
in an empty environment; the commits are those of a local git repository, of which one slows one operator of a
recorded model.

usage: recipes.py ETPROF FAKE_RUNNER SOURCE_DIR BUILD_DIR CMAKE"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, in_python_with, new_folder, skip

in_python_with("yaml")
try:
    import yaml
except ImportError:
    skip("no PyYAML to read the recipes with; pip install pyyaml, and ETPROF_TESTS_PYTHON=that python")
import fake_sessions
from slow_operator import slowed
from workflow import Job

ETPROF, FAKE, SOURCE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:5])
CMAKE = sys.argv[5]
RECORDING = SOURCE / "tests/data/mixed_xnnpack_fp32.etdump"
OPTIONS = f"--levels neon,base --blocks 6 --iterations 3 --warmup 1 --seed 7 --runner {FAKE}"
# What GitHub answers: the artifact of the run, the pull request of a branch of somebody's, comments as files.
GH = """#!/usr/bin/env python3
import os, pathlib, shutil, sys
words, place = sys.argv[1:], pathlib.Path(os.environ["COMMENTS"])
if words[:2] == ["run", "download"]:
    os.makedirs(words[words.index("--dir") + 1])
    shutil.copy(os.environ["ARTIFACT"], words[words.index("--dir") + 1] + "/comment.md")
elif words[1:4] == ["--method", "GET", "repos/me/it/pulls"]:
    assert "state=open" in words and "head=stranger:change" in words and os.environ["SHA"] in words[-1], words
    print(os.environ["NUMBER"])
elif words[1:3] == ["--paginate", f"repos/me/it/issues/{os.environ['NUMBER']}/comments"]:
    assert 'user.type == "Bot"' in words[-1], words
    print(*[f.stem.split(".")[1] for f in place.glob(f"{os.environ['NUMBER']}.*.md")
            if f.read_text().startswith("<!-- etprof -->")], sep="\\n")
elif words[1:3] == ["--method", "PATCH"]:
    file, = place.glob(f"*.{words[3].rsplit('/', 1)[1]}.md")
    shutil.copy(words[5].partition("@")[2], file)
elif words[1:3] == ["--method", "POST"]:
    shutil.copy(words[5].partition("@")[2], place / f"{words[3].split('/')[4]}.{100 + len(list(place.iterdir()))}.md")
else:
    sys.exit(9)
"""
CURL = """#!/bin/sh
for word; do last=$word; case $word in body@*) cp "${word#body@}" "$COMMENTS/gitlab.md" ;; esac; done
case $last in */projects/7/merge_requests/3/notes) ;; *) exit 9 ;; esac
"""


def run(*words, **options):
    done = execute(*words, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def git(*words, cwd):
    run("git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words, cwd=cwd)


def wheel(top):
    """Of this build."""
    triple = next((p.name for p in (SOURCE / "build/bundle").glob(f"{os.uname().machine}-linux-gnu")), None)
    if triple is None:
        skip("no runner bundle for this machine (scripts/build-runner native)")
    run(CMAKE, "--install", BUILD, "--prefix", top / "prefix")
    return run(sys.executable, SOURCE / "python/wheel/pack.py", top / "prefix", top / "dist", "--triple", triple,
               "--glibc", "2.28", "--macos", "14.0").strip()


def hash_of(package):
    return hashlib.sha256(pathlib.Path(package).read_bytes()).hexdigest()


def pinned():
    """What a recipe or the action takes from elsewhere is named by its bytes."""
    for name in ("action.yml", *(f"examples/ci/{name}.yml" for name in (
            "pull_request", "pull_request_comment", "profile", "gitlab"))):
        text = (SOURCE / name).read_text()
        for used in re.findall(r"uses: (\S+)", text):
            expect(re.fullmatch(r"\S+@([0-9a-f]{40}|COMMIT)", used), name, "an action without a commit", used)
        expect(text.count("-m pip install ") == text.count("-m pip install --no-index --no-deps --require-hashes "),
               name, "pip is asked for a name")


def repository(top):
    """Branches: main; slow, one operator of which takes 2 µs longer; same; broken, whose launches all die."""
    place = top / "repository"
    place.mkdir()
    git("init", "-q", "-b", "main", cwd=place)
    sound = RECORDING.read_bytes()
    for branch, ns, dump, more in (
            ("main", 3178, sound, ()), ("same", 3178, sound, ()),
            ("slow", 5178, slowed(RECORDING, "native_call_cumsum.out", 2000), ()),
            ("broken", 3178, sound, ("on * * 1+ crash",)), ("noisy", 3178, sound, ("noise 106",))):
        git("checkout", "-q", "-B", branch, *([] if branch == "main" else ["main"]), cwd=place)
        fake_sessions.model(place / "model.pte", f"base neon {ns}", f"base base {ns + 100}", *more)
        (place / "now.etdump").write_bytes(dump)
        git("add", ".", cwd=place)
        git("commit", "-q", "--allow-empty", "-m", branch, cwd=place)
    return place


def environment(top):
    """An empty environment of Python, and programs that note what they are told. One for all jobs: making it takes
    longer than they do."""
    run(sys.executable, "-m", "venv", top / "venv")
    for program, text in (("gh", GH), ("curl", CURL)):
        (top / "venv/bin" / program).write_text(text)
        (top / "venv/bin" / program).chmod(0o755)


def surroundings(top, name):
    place = top / name
    place.mkdir()
    dump = str(place / "work/now.etdump")
    return place, {"PATH": f"{top}/venv/bin:/usr/bin:/bin", "HOME": str(place), "LC_ALL": "C.UTF-8",
                   "COMMENTS": str(top / "comments"), "ETPROF_RUNNER": str(FAKE), "PIP_NO_INDEX": "1",
                   "FAKE_ETDUMP_neon": dump,
                   "FAKE_ETDUMP_base": dump}


def sound(comment):
    expect(0 < len(comment.encode()) <= 60000, "a comment's size", len(comment.encode()))
    expect(comment.count("<details>") == comment.count("</details>"), "folds are closed")


def names_the_operator(comment):
    first = comment.partition("<details>")[0]
    lines = [line for line in first.splitlines() if line.startswith("- **slower**")]
    expect(lines and all("cumsum.out" in line and "+2.000 µs" in line for line in lines),
           "one operator is named", first)


def commented(top, name, env, number):
    """The second workflow, on what the first one left: the text of the request's only comment."""
    workflow = yaml.safe_load((SOURCE / "examples/ci/pull_request_comment.yml").read_text())
    expect(workflow["permissions"] == {"actions": "read", "pull-requests": "write"}, workflow["permissions"])
    step, = workflow["jobs"]["comment"]["steps"]
    known = {"REPO": "me/it", "RUN": "7", "SHA": name, "HEAD": "stranger:change", "GH_TOKEN": "t"}
    expect(set(known) == set(step["env"]), "what the second workflow knows", step["env"])
    place = top / name / "second"
    place.mkdir(exist_ok=True)
    shutil.rmtree(place / "etprof-out", ignore_errors=True)
    artifact = str(top / name / "comment")
    run("bash", "-eo", "pipefail", "-c", step["run"], cwd=place,
        env={**env, **known, "NUMBER": number, "ARTIFACT": artifact})
    comment, = (top / "comments").glob(f"{number}.*.md")
    return comment.read_text()


def github(top, package, source):
    (top / "caches").mkdir()
    measuring = yaml.safe_load((SOURCE / "examples/ci/pull_request.yml").read_text())
    expect(measuring["permissions"] == {"contents": "read"}, "what runs a stranger's program may only read")

    def job(branch, name, number=None, cut=False, **changes):
        place, env = surroundings(top, name)
        if cut:  # as GitHub ends a step whose time is over: no trap is waited for
            (place / "etprof").write_text(
                '#!/bin/sh\nmkdir -p "$4"\necho \'{ "state": "running" }\' >"$4/manifest.json"\nkill -9 $PPID\n')
            (place / "etprof").chmod(0o755)
            env["ETPROF"] = str(place / "etprof")
        made = Job(place / "work", SOURCE / "action.yml", source, branch, top / "caches",
                   {"ref": "refs/heads/main" if branch == "main" else "refs/pull/1/merge", "sha": name, "token": "t",
                    "event_name": "pull_request" if number else "push", "event": {"number": number or ""}}, env)
        code, steps = made.run(SOURCE / "examples/ci/pull_request.yml",
                               **{"wheel": package, "sha256": hash_of(package), "options": OPTIONS,
                                  **changes})
        for text in made.summaries:
            expect(len(text.encode()) <= 1 << 20, name, "the summary's size", len(text.encode()))
        said = "\n".join(map(str, made.log))
        text = commented(top, name, env, number) if number else ""
        expect(not number or text in made.summaries, name, "the summary is the comment", said)
        return code, steps["etprof"]["outputs"], text, said

    code, outputs, _, said = job("main", "first")
    expect(code == 0 and outputs["code"] == "0", "the first run of the main branch", code, outputs, said)
    expect([p.name for p in (top / "caches").iterdir()] == ["etprof-main-first"], "it keeps its run folder", said)
    code, outputs, comment, said = job("same", "same", "11")
    expect(code == 0 and outputs["code"] == "0", "the same program", code, outputs, said)
    sound(comment)
    code, outputs, comment, said = job("slow", "slow", "12")
    expect(code == 1 and outputs["code"] == "1" and outputs["run"] == "etprof-out/run", "a slower one", code, said)
    sound(comment)
    names_the_operator(comment)
    code, outputs, comment, said = job("broken", "broken", "13")
    expect(code == 6 and outputs["code"] == "6", "launches that die", code, outputs, said)
    expect("No answer: etprof ab failed" in comment and "Exit code 6" in comment, comment[:500])
    sound(comment)
    code, outputs, comment, said = job("same", "again", "13")
    expect("No answer" not in comment and code == 0, "one comment, written anew", comment[:500])
    code, outputs, comment, said = job("same", "few", "14", options=OPTIONS.replace("--blocks 6", "--blocks 2"))
    blocks = json.loads((top / "few/work/etprof-out/run/manifest.json").read_text())["blocks_done"]
    expect((code, outputs["code"], blocks) == (0, "0", 6), "where blocks are too few more are measured", blocks, said)
    for policy, wanted in (({}, 3), ({"fail-on-unknown": "false"}, 0)):
        code, outputs, comment, said = job("noisy", f"unknown-{wanted}", f"2{wanted}", **policy)
        expect(code == wanted and outputs["code"] == "3", "unknown", policy, code, outputs, said)
        expect(re.search(r"next: etprof ab --resume etprof-out/run --blocks \d+", comment), "what it takes", comment)
        sound(comment)
    code, outputs, comment, said = job("slow", "cut", "15", cut=True)
    expect(code != 0 and "No answer: cut off" in comment, "a run that is cut off", code, comment, said)
    code, _, _, said = job("main", "cut-main", cut=True)
    expect(code != 0 and [p.name for p in (top / "caches").iterdir()] == ["etprof-main-first"], "is no baseline", said)


def gitlab(top, package, source):
    recipe = yaml.safe_load((SOURCE / "examples/ci/gitlab.yml").read_text())["etprof"]

    def job(branch, name):
        place, env = surroundings(top, name)
        work = place / "work"
        git("clone", "-q", "--branch", branch, source, work, cwd=place)
        cache = top / "gitlab-cache"
        if cache.is_dir():
            shutil.copytree(cache, work / recipe["cache"]["paths"][0])
        merge = {} if branch == "main" else {"CI_MERGE_REQUEST_IID": "3", "ETPROF_TOKEN": "t"}
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(recipe["script"])], cwd=work, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=600, env={
                                  **env, **recipe["variables"], "WHEEL": package, "SHA256": hash_of(package),
                                  "OPTIONS": OPTIONS,
                                  "CI_COMMIT_BRANCH": branch, "CI_DEFAULT_BRANCH": "main", "CI_PROJECT_ID": "7",
                                  "CI_API_V4_URL": "https://gitlab.example/api/v4", **merge})
        if (work / "baseline").is_dir():
            shutil.copytree(work / "baseline", cache, dirs_exist_ok=True)
        kept = work / recipe["artifacts"]["paths"][0] / "comment.md"
        return done.returncode, kept.read_text() if kept.is_file() else "", done.stdout + done.stderr

    code, _, said = job("main", "lab-main")
    expect(code == 0, "the default branch", code, said)
    code, comment, said = job("slow", "lab-slow")
    expect(code == 1, "a slower one", code, said)
    names_the_operator(comment)
    expect((top / "comments/gitlab.md").read_text() == comment, "the note is the comment")
    sound(comment)
    code, comment, said = job("broken", "lab-broken")
    expect(code == 6 and "Exit code 6" in comment, "launches that die", code, said)


top = new_folder()
(top / "comments").mkdir()
environment(top)
pinned()
package, source = wheel(top), repository(top)
github(top, package, source)
gitlab(top, package, source)
finish("both recipes, run as written: an operator is named, exit codes are the policy's, every run leaves a comment")
