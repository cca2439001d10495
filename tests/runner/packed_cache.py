# SPDX-License-Identifier: Apache-2.0
"""etprof ab --packed-cache off,cold,warm on a real model: where the packed weights lie is held against the file on
disk and against what the kernel says of a process that still runs (/proc/PID/smaps), not only against the runner.

usage: packed_cache.py ETPROF SOURCE_DIR"""
import json
import math
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish, new_folder, skip

ETPROF, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MODEL = SOURCE / "examples/models/toy_cnn_xnnpack_fp32.pte"  # 889 kB of weights that it names
SHORT = ("--blocks", "2", "--iterations", "3", "--warmup", "1", "--no-trace", "--quiet")


def etprof(*words):
    return execute(ETPROF, *words)


def rows(out):
    """Arm -> memory of its timed launches, by owner."""
    found = {}
    for line in map(json.loads, (out / "environment.jsonl").read_text().splitlines()):
        if line["type"] == "launch" and line["kind"] == "timed":
            found.setdefault(line["experiment"].split("_cache_")[1], []).append(line)
    return found


def session(tmp):
    out = tmp / "run"
    done = etprof("ab", MODEL, "--levels", "best", "--packed-cache", "off,cold,warm", *SHORT, "--out", out,
                  "--format", "json")
    expect(done.returncode == 0, "ab", done.returncode, done.stderr[-500:])
    answer = json.loads(done.stdout)
    states = {a["packed_cache"] for a in answer["arms"]}
    expect(states == {"off", "cold", "warm"}, "arms", states)
    base = {c["baseline"] for c in answer["comparisons"]}
    expect(len(base) == 1 and base.pop().endswith("_cache_off"), "the baseline packs", answer["comparisons"])
    expect(answer["correctness"]["ok"] is True, "the same outputs", answer["correctness"])
    weights = 889_000
    for state, launches in rows(out).items():
        expect(len(launches) == 2, state, "launches", len(launches))
        for launch in launches:
            memory = launch["memory"]
            expect(sum(memory.values()) == launch["dirty_bytes"] + launch["clean_bytes"], state, "rows add up", launch)
            if state == "off":
                expect(memory["cache"] == 0 and memory["packed"] > weights, state, memory)
            else:
                expect(memory["cache"] > weights > memory["packed"], state, memory)
    expect(not [f for f in answer["findings"] if f["kind"] == "packed_cache_unused"], "findings", answer["findings"])
    more = etprof("ab", "--resume", out, "--blocks", "1", "--quiet", "--format", "json")
    expect(more.returncode == 0 and all(len(launches) == 3 for launches in rows(out).values()), "more", more.stderr)
    text = " ".join(etprof("analyze", out).stdout.split())
    expect("dirty memory" in text and "less with cache warm" in text or "MB" not in text, "the screen", text[:800])
    return out


def of_two_models(tmp):
    """Arms of several models are called by the model, then by what the cache was."""
    done = etprof("ab", MODEL, MODEL.with_name("toy_cnn_xnnpack_int8.pte"), "--levels", "best", "--packed-cache",
                  "off,warm", *SHORT, "--out", tmp / "two")
    for name in ("fp32, cache off", "fp32, cache warm", "int8, cache warm"):
        expect(name in done.stdout and "at cache" not in done.stdout, "names", name, done.stdout[:800])


def unused(tmp, out):
    """A cache that XNNPACK did not use: its launches say so, as a fallback to the heap would."""
    fallen = tmp / "fallen"
    shutil.copytree(out, fallen)
    path = fallen / "environment.jsonl"
    lines = []
    for line in map(json.loads, path.read_text().splitlines()):
        if line["type"] == "launch" and line["experiment"].endswith("_cache_warm") and "memory" in line:
            line["memory"]["packed"] += line["memory"].pop("cache")
            line["memory"]["cache"] = 0
        lines.append(json.dumps(line))
    path.write_text("\n".join(lines) + "\n")
    answer = json.loads(etprof("analyze", fallen, "--format", "json").stdout)
    said = [f["text"] for f in answer["findings"] if f["kind"] == "packed_cache_unused"]
    expect(len(said) == 1 and "cache warm: the cache of packed weights is not used" in said[0], "a fallback", said)


def saved(tmp):
    """The fix of loading that two measured arms make, against medians and ratios worked out here."""
    out = tmp / "saved"
    words = ("--levels", "best", "--iterations", "3", "--warmup", "1", "--no-trace", "--quiet")
    ended(etprof("ab", MODEL, "--packed-cache", "off,warm", *words, "--blocks", "6", "--out", out), 0)
    answer = json.loads(etprof("analyze", out, "--format", "json").stdout)
    fixes = answer["load_fixes"]
    expect([(f["id"], f["kind"]) for f in fixes] == [("L1", "packed_cache")], "one fix", fixes)
    arms = {state: [x["dirty_bytes"] for x in launches] for state, launches in rows(out).items()}
    ratio = math.exp(statistics.mean(math.log(a / b) for a, b in zip(arms["off"], arms["warm"])))
    wanted = statistics.median(arms["off"]) * (1 - 1 / ratio)
    found = fixes[0]["dirty_bytes"]
    expect(abs(found["expected"] / wanted - 1) < 1e-5 and found["lo"] <= found["expected"] <= found["hi"], "saved",
           wanted, found)
    expect(500_000 < wanted < 1_200_000, "about its weights", wanted)
    expect(not any(f["kind"] == "packed_cache" for f in answer["next_fixes"]), "a gain of inferences", answer)
    for form, words in (("text", ("keep packed weights in a file", "dirty memory")), ("md", ("packed_cache_path",)),
                        ("json", ('"saves"', '"dirty_bytes"'))):
        told = etprof("explain", "L1", out, "--format", form)
        expect(told.returncode == 0 and all(w in told.stdout for w in words), form, told.stdout, told.stderr)
    for form in ("text", "md", "html"):
        told = etprof("analyze", out, "--price", "--format", form).stdout
        expect("Fixes of loading" in told and "packed_cache_path" in told, form, told[-800:])
    added = etprof("whatif", out, "fix L1")
    expect(added.returncode != 0 and "L1" not in added.stdout, "added to inferences", added.stderr)
    ended(etprof("explain", "L2", out), 2, says="no sentence 'L2'")
    planted(out, "_cache_warm", lambda launch: launch["memory"].update(cache=0))
    answer = json.loads(etprof("analyze", out, "--format", "json").stdout)
    expect("load_fixes" not in answer, "a fallback is no fix", answer.get("load_fixes"))


def planted(out, arm, change, having="memory"):
    path = out / "environment.jsonl"
    lines = list(map(json.loads, path.read_text().splitlines()))
    for line in lines:
        if line["type"] == "launch" and line["experiment"].endswith(arm) and having in line:
            change(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def offered(tmp):
    """Nothing of the cache was measured: a finding where packing is most of a load that somebody waits for."""
    out = tmp / "plain"
    short = [w for w in SHORT if w != "--no-trace"]
    ended(etprof("ab", MODEL, "--levels", "best", *short, "--out", out), 0)

    def finding(packing_ns, method_ns):
        def slow(launch):
            for part in launch["loading"]["parts"]:
                part["ns"] = {"packing": packing_ns, "method": method_ns}.get(part["what"], 1000)

        planted(out, "", slow, "loading")
        answer = json.loads(etprof("analyze", out, "--format", "json").stdout)
        return [f for f in answer["findings"] if f["kind"] == "packing_at_load"]

    expect(finding(1_000_000, 900_000) == [], "a short load")  # it packs four operators
    expect(finding(4_000_000, 17_000_000) == [], "most of it is not packing")
    found = finding(4_000_000, 15_000_000)
    expect(len(found) == 1 and f"etprof ab {MODEL} --levels best" in found[0]["text"]
           and "--packed-cache off,warm" in found[0]["text"], "the command", found)
    told = etprof("explain", found[0]["id"], out)
    expect(told.returncode == 0 and "--packed-cache off,warm" in " ".join(told.stdout.split()), "explained", told)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["executorch"]["version"] = "1.4.1"
    (out / "manifest.json").write_text(json.dumps(manifest))
    expect(finding(4_000_000, 15_000_000) == [], "a release without the cache")


def by_hand(tmp, runner):
    """One process, and what the kernel says of it."""
    file = tmp / "packed"
    for state, begins in (("cold", True), ("warm", False), ("warm", False)):
        before = file.stat().st_mtime_ns if file.exists() else None
        process = subprocess.Popen([*runner, "--model", MODEL, "--packed-cache", f"{state}:{file}"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        process.stdin.write("run 2\nmemory\n")
        process.stdin.flush()
        for line in process.stdout:
            if '"cmd":"memory"' in line:
                break
        resident, mine = 0, False
        for entry in pathlib.Path(f"/proc/{process.pid}/smaps").read_text().splitlines():
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", entry):
                mine = entry.endswith(str(file))
            elif mine and entry.startswith("Rss:"):
                resident += int(entry.split()[1]) * 1024
        process.communicate("quit\n", timeout=60)
        told = json.loads(line)["memory"]["cache"]
        expect(told == resident > 0, state, "bytes of the file", told, resident)
        expect(resident <= file.stat().st_size + 4096, state, "no more than the file", resident, file.stat().st_size)
        expect((file.stat().st_mtime_ns != before) == begins, state, "written", before)
    done = execute(*runner, "--model", MODEL, "--packed-cache", f"cold:{tmp}/none/packed",
                   input="run 1\nmemory\nquit\n", timeout=60)
    last = next(json.loads(text) for text in done.stdout.splitlines() if '"cmd":"memory"' in text)
    memory = last["memory"]
    expect(memory["cache"] == 0 and memory["allocator"] > 889_000, "a file that cannot be written", memory)


def launched(runner, state, file, **more):
    done = execute(*runner, "--model", MODEL, *(("--packed-cache", f"{state}:{file}") if file else ()),
                   input="run 1\nmemory\nquit\n", timeout=60, **more)
    lines = {line["type"]: line for line in map(json.loads, done.stdout.splitlines())}
    return lines, lines.get("done", {}).get("memory", {}).get("cache"), done.stderr


def troubles(tmp, runner):
    """Loading goes on without a file that is damaged or has no room; where memory ends, what was held is said."""
    file = tmp / "damaged"
    file.write_bytes(os.urandom(100_000))
    lines, held, _ = launched(runner, "warm", file)
    expect("load" in lines and "error" not in lines and held is not None, "damaged", lines)
    shared = [subprocess.Popen([*runner, "--model", MODEL, "--packed-cache", f"cold:{tmp}/shared"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
              for _ in range(2)]
    for process in shared:
        said = [json.loads(line) for line in process.communicate("run 1\nmemory\nquit\n", timeout=60)[0].splitlines()]
        rows_of = said[-1].get("memory", {"cache": 0, "allocator": 0})  # on the heap where the other was first
        expect(rows_of["cache"] > 0 or rows_of["allocator"] > 889_000, "shared by two processes", said[-1])
    small = tmp / "small"
    small.mkdir()
    if execute("mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", small, text=False).returncode == 0:
        try:
            for state in ("cold", "warm"):
                lines, held, said = launched(runner, state, small / "packed")
                expect(held == 0 and "error" not in lines and f"{small}/packed has no room for" in said, "full", lines)
        finally:
            subprocess.run(["umount", small], check=True)
    wants = []
    for limit in range(60_000_000, 20_000_000, -500_000):
        lines, _, _ = launched(runner, "", None, preexec_fn=lambda most=limit: resource.setrlimit(
            resource.RLIMIT_AS, (most, most)))
        wants += [lines["error"]] if lines.get("error", {}).get("code") == "memory" else []
        if wants:
            break
    found = wants and re.search(r"XNNPACK, which held (\d+) bytes, was refused (\d+) more, with (\d+) resident at "
                                rf"most; the address space is limited to {limit} bytes", wants[0]["message"])
    expect(found and int(found[1]) < 1_500_000 and int(found[2]) < int(found[3]) < limit, "memory that ends", wants)


def refused(tmp):
    for words, says in ((("--packed-cache", "hot"), "takes off, cold and warm, not 'hot'"),
                        (("--packed-cache", "off,off"), "names 'off' twice"),
                        (("--packed-cache", "off,warm", "--runner-a", "a", "--runner-b", "b"), "")):
        ended(etprof("ab", MODEL, "--levels", "best", *words, *SHORT, "--out", tmp / "none"), 2, 5, says=says)


machine = os.uname().machine
bundles = [p.parent for p in SOURCE.glob("build/bundle/*/etprof-runner") if p.parent.name.startswith(machine)]
if not bundles:
    skip("no runner is built (scripts/build-runner)")
place = new_folder()
folder = session(place)
of_two_models(place)
unused(place, folder)
saved(place)
offered(place)
os.chdir(bundles[0])
by_hand(place, json.loads(pathlib.Path("bundle.json").read_text())["start"])
troubles(place, json.loads(pathlib.Path("bundle.json").read_text())["start"])
refused(place)
finish("packed weights lie where the arms say")
