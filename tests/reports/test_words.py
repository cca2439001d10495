# SPDX-License-Identifier: Apache-2.0
"""test_words.py ETPROF TREE: what people read in a terminal is said in words: an arm as answers call it, "2.00×
slower", MHz; documents and tables of CSV keep names and whole nanoseconds. Names that the user gave in a table stay."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import run_folders  # noqa: E402
from checks import expect, finish, new_folder, unpack  # noqa: E402

ETPROF, TREE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
DATA = TREE / "tests/data"


def run(*words, codes=(0, 1, 3)):
    done = subprocess.run([ETPROF, *map(str, words)], capture_output=True, timeout=300, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"})
    expect(done.returncode in codes, *words, "exit", done.returncode, done.stderr.decode()[-300:])
    return done.stdout.decode()


def names(folder):
    """The session has arms linux_vnni and linux_avx2; who reads is told VNNI and AVX2, a program the names."""
    for words, said in ((("stats", folder), "VNNI against AVX2"),
                        (("gate", folder, "speedup >= 1.3", "latency <= 1 ns"), "speedup:VNNI"),
                        (("kernels", folder), "VNNI"), (("analyze", folder), "VNNI")):
        for form in ("text", "md"):
            text = run(*words, "--format", form)
            expect(said in " ".join(text.split()), words[0], form, f"does not say {said}", text[:800])
            text = re.sub(r"runs/linux\S*|^\| `linux_\w+` \| \w+ \|.*", "", text, flags=re.M)  # the table Arms has both
            expect("linux_" not in text, words[0], form, "an experiment's name",
                   re.findall(r".*linux_.*", text)[:3])
        document = run(*words, "--format", "json")
        expect("linux_vnni" in document and ('"VNNI"' not in document or words[0] == "analyze"),
               words[0], "the document keeps names")
    expect("linux_avx2,linux_vnni," in run("stats", folder, "--format", "csv"), "stats", "CSV keeps names")
    own = run("stats", DATA / "samples.csv")
    given = json.loads(run("stats", DATA / "samples.csv", "--format", "json"))["arms"]
    expect(all(a["name"] in own for a in given), "stats", "the user's own names", given, own[:400])
    for subject, code in (("VNNI", 0), ("linux_vnni", 0), ("AVX2", 2)):  # the baseline has no speedup
        run("gate", folder, f"speedup {subject} >= 1.3", codes=(code, ))


def kernels(folder):
    """Functions under the names of their source; one row for each of an arm."""
    for form in ("text", "md", "csv"):
        text = run("kernels", folder, "--format", form)
        expect("_Z" not in text, "kernels", form, "a mangled name", re.findall(r".*_Z.*", text)[:3])
    shown = run("kernels", folder)
    expect("torch::executor::" in shown, "kernels", "no name of C++", shown[:600])


def environment(folder):
    lines = run_folders.environment(folder)
    for line in lines:
        if line["type"] == "block":
            for end in ("start", "end"):
                line[end].update(freq_max_khz=2445000, freq_min_khz=2445000, core_khz=2445000)
    (folder / "environment.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = run("analyze", folder, "--full")
    section = text.split("\nEnvironment\n")[1]
    expect("MHz" in section and "2445" in section and "2445000" not in section and "kHz" not in section, "environment",
           section[:1500])


tmp = new_folder()
folder = tmp / "out/runs/linux"
with tarfile.open(DATA / "session.tar.xz") as archive:
    unpack(archive, folder)
# The fixture lacks logs and is not compressed: its list is of what is there, or gates say that files are missing.
manifest = run_folders.manifest(folder)
manifest["files"] = [run_folders.entry(folder, path.relative_to(folder).as_posix())
                     for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "manifest.json"]
(folder / "manifest.json").write_text(json.dumps(manifest, indent=2))
names(folder)
kernels(folder)
environment(folder)
finish()
