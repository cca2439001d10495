# SPDX-License-Identifier: Apache-2.0
"""usage: measure.py SOURCE_DIR BUILD SESSIONS ROUNDS; see run."""
import hashlib
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
SESSIONS, ROUNDS = int(sys.argv[3]), int(sys.argv[4])
sys.path.insert(0, str(SOURCE / "tests/tools"))
import phase_folders

ETPROF = str((BUILD / "bin/etprof").resolve())
READ = """import json, pathlib, sys
for run in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    for name in ("manifest.json", "derived.json", "report.json"):
        json.loads((run / name).read_bytes())
"""
LOAD = "import duckdb; duckdb.connect().execute('SELECT 1')"


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def make(tmp):
    """One session and its report, each time with another moment and other times."""
    first = phase_folders.make(tmp / "one", lambda p, level, t, m: 1000000 if level == "avx2" else 3000000, phases=(),
                               outputs=True)
    subprocess.run([ETPROF, "analyze", "--renew", first], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    manifest, derived, report = ((first / f"{n}.json").read_text() for n in ("manifest", "derived", "report"))
    for n in range(SESSIONS):
        day = f"20{10 + n // 336:02d}-{n // 28 % 12 + 1:02d}-{n % 28 + 1:02d}T06:00:00Z"
        own = manifest.replace("2026-11-20T09:00:00Z", day)
        ns = 1000000 + n * 7919 % 5000 + (100000 if n >= SESSIONS // 2 else 0)
        told = report.replace('"median_ns": 1000000', f'"median_ns": {ns}')
        folder = tmp / f"runs/{n:06d}"
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(own)
        (folder / "report.json").write_text(told)
        (folder / "derived.json").write_text(derived.replace(sha(manifest), sha(own)).replace(sha(report), sha(told)))
    return tmp / "runs", len(report)


def milliseconds(*words):
    """By the clock, and of processors: a busy machine shows in the first alone."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took * 1e3, cpu * 1e3, done.stdout


def main(tmp):
    runs, size = make(tmp)
    print(f"{SESSIONS} sessions, report.json of {size / 1e3:.1f} kB")
    commands = {"python with duckdb": (sys.executable, "-I", "-c", LOAD),
                "read and parse in Python": (sys.executable, "-I", "-c", READ, runs),
                "etprof history": (ETPROF, "history", runs, "--format", "json")}
    found = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, words in commands.items():
            found[name].append(milliseconds(*words))
    told = json.loads(found["etprof history"][0][2])
    changes = [c["run"] for s in told["series"] for c in s["changes"] if s["name"].endswith("avx2_t1_ns")]
    print(f"runs {len(told['runs'])}, change found at {changes}, planted at {SESSIONS // 2}")
    middle = {name: [statistics.median(r[i] for r in rounds) for i in (0, 1)] for name, rounds in found.items()}
    for name, rounds in found.items():
        print(f"{name:26} {middle[name][0]:7.0f} ms (least {min(r[0] for r in rounds):.0f}; processors "
              f"{middle[name][1]:.0f}, least {min(r[1] for r in rounds):.0f})")
    bare = [sum(middle[name][i] for name in list(commands)[:2]) for i in (0, 1)]
    whole = middle["etprof history"]
    print(f"ratio to the first two: {whole[0] / bare[0]:.2f} by the clock, {whole[1] / bare[1]:.2f} of processors; "
          "goal 300 ms for 1,000 sessions")


with tempfile.TemporaryDirectory() as made:
    main(pathlib.Path(made))
