# SPDX-License-Identifier: Apache-2.0
"""The runner's counters under a real arm64 kernel with an emulated PMU (scripts/arm64-guest): they count, they count
all threads, and where they are refused or not there the runner says why. Function, not speed: the emulator runs a clock
of 1 GHz, and with `-icount shift=2` every instruction takes 4 ns of it, which is what the counts are held against.
Skipped aloud where the machine or the compiler is missing.

usage: guest_counters.py [--no-download]"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "launcher"))
import guest  # noqa: E402 (its place is known only now)

RUNNER = "/runner/ld-linux-aarch64.so.1 --library-path /runner:/runner/sdk /runner/etprof-runner"
TICKS = 4  # cycles of an instruction: 4 ns at 1 GHz
FAILURES = []


def expect(condition, name, what):
    if not condition:
        FAILURES.append(name)
        print(f"{name}: {what}")


def script(*words):
    """Last line of a script's output; its skip is ours."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        guest.skip(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0:
        sys.exit(f"{words[0]} failed ({done.returncode}):\n{done.stderr}")
    return done.stdout.strip().splitlines()[-1]


def said(text, lines):
    """What each command line printed, as JSON lines by type."""
    pieces = text.split("== ")
    if "== end" not in text or len(pieces) != len(lines) + 2:
        sys.exit("the machine did not run all lines:\n" + text[-3000:])
    out = []
    for piece in pieces[:len(lines)]:
        objects = [json.loads(line) for line in piece.splitlines() if line.startswith("{")]
        out.append({kind: [o for o in objects if o["type"] == kind] for kind in ("hello", "iter")})
    return out


def counting(machine, root):
    lines = [f"{RUNNER} --model /m.pte < /commands", f"{RUNNER} --model /m.pte --threads 2 < /commands",
             f"{RUNNER} --model /m.pte --kind traced < /commands", f"as 1000 {RUNNER} --probe",
             f"/occupy shared 7 {RUNNER} --model /m.pte < /more", f"/occupy pinned 16 {RUNNER} --probe"]
    one, two, traced, user, turns, none = said(guest.run_machine(machine, root, lines,
                                                                 cpu="max,pauth-impdef=on,sme512=on",
                                                    more=("-smp", "1", "-icount", "shift=2,sleep=off")), lines)
    name = "one thread"
    expect(one["hello"][0]["counters"]["events"] == "hardware", name, one["hello"])
    expect(len(one["iter"]) == 9, name, len(one["iter"]))
    for it in one["iter"]:
        expect(abs(it["cycles"] - TICKS * it["instructions"]) <= 100, name, f"not {TICKS} cycles an instruction: {it}")
        # User space alone: no more than the CPU time, of which the kernel has a part (at first a large one).
        expect(0.5 * it["cpu_ns"] < it["cycles"] <= it["cpu_ns"] + 1000, name, it)
        expect("scaled" not in it, name, it)
    steady = [it["instructions"] for it in one["iter"][3:]]
    expect(max(steady) - min(steady) <= 50, name, f"the same work, other numbers of instructions: {steady}")
    name = "two threads"
    for it in two["iter"][3:]:
        # Both do a part of the work, on the one CPU: together no less than one alone, and all of the CPU time.
        expect(it["instructions"] >= min(steady), name, f"a thread is not counted: {it}, {steady} with one thread")
        expect(0.9 * it["cpu_ns"] < it["cycles"] <= it["cpu_ns"] + 1000, name, it)
    expect(len(traced["iter"]) == 9 and all("cycles" not in it for it in traced["iter"]), "traced", "counted as well")
    name = "a user of an unprivileged shell"
    told = user["hello"][0]["counters"]
    expect(told["events"] == "none" and told["why"] == "kernel.perf_event_paranoid is 3, 2 is needed" and
           told["fix"] == "sysctl kernel.perf_event_paranoid=2", name, told)


    name = "counters that take turns"
    cycles = TICKS * min(steady)
    late = turns["iter"][3:]
    whole = [it["cycles"] for it in late if "cycles" in it and "scaled" not in it]
    part = [it["cycles"] for it in late if "scaled" in it]
    without = [it for it in late if "cycles" not in it]
    expect(len(whole) > 10 and part and without, name, (len(whole), part, len(without)))
    expect(all(abs(c - cycles) <= 200 for c in whole), name, f"not {cycles}: {whole}")
    # What was seen stands for the rest: the same within the share that was not seen.
    expect(all(0.7 * cycles < c < 1.3 * cycles for c in part), name, f"far from {cycles}: {part}")
    told = none["hello"][0]["counters"]
    expect(told["events"] == "none" and told["why"] == "the counters can be opened, but do not count",
           "others have them", told)


def without_pmu(machine, root):
    name = "no PMU"
    lines = [f"{RUNNER} --model /m.pte < /commands"]
    found, = said(guest.run_machine(machine, root, lines, cpu="max,pauth-impdef=on,pmu=off"), lines)
    told = found["hello"][0]["counters"]
    expect(told["events"] == "none" and told["why"].startswith("this machine shows no hardware counters"), name, told)
    expect(len(found["iter"]) == 9 and all(set(it) == {"type", "i", "start_ns", "ns"} for it in found["iter"]), name,
           found)


def main():
    if shutil.which(guest.CC) is None:
        guest.skip("no " + guest.CC)
    machine = script(ROOT / "scripts" / "arm64-guest", *sys.argv[1:])
    bundle = script(ROOT / "scripts" / "build-runner", "aarch64-linux-gnu")
    with tempfile.TemporaryDirectory() as tmp:
        root = pathlib.Path(tmp) / "root"
        shutil.copytree(bundle, root / "runner")
        guest.compile_to(root / "init", "-static", guest.HERE / "init.c")
        shutil.copy(ROOT / "examples/models/toy_cnn_xnnpack_fp32.pte", root / "m.pte")
        (root / "commands").write_text("run 3\nrun 6\n")
        (root / "more").write_text("run 3\nrun 60\n")
        guest.compile_to(root / "occupy", "-static", pathlib.Path(__file__).parent / "occupy.c")
        counting(machine, root)
        without_pmu(machine, root)
    print(f"{len(FAILURES)} failures" if FAILURES else "they count")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
