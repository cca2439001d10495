# SPDX-License-Identifier: Apache-2.0
"""The ledger of a session computed again from samples.csv and the dumps: traced and untraced medians, the kept
executions, what delegate calls take besides their operators, categories with their intervals. ETDumps are read here by
their schema alone, and that reading is held against flatc's.

usage: ledger.py ETPROF [FOLDER...]      FOLDER: finished sessions to check beside the made ones
A recorded session and FOLDERs are checked always, measured ones where there is a bundle of the runner for this machine.
Skips (77) where python3 has no scipy."""
import csv
import gzip
import json
import math
import pathlib
import platform
import struct
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
from checks import execute, expect, finish, new_folder, plain_session
from rules import np, warmup
from scipy import stats as sp

ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
checked = 0


# ---- ETDump, by its schema ----------------------------------------------------------------------------

class Table:
    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]

    def place(self, field):
        size = struct.unpack_from("<H", self.data, self.vtable)[0]
        slot = 4 + 2 * field
        offset = struct.unpack_from("<H", self.data, self.vtable + slot)[0] if slot < size else 0
        return self.at + offset if offset else None

    def scalar(self, field, code, default):
        at = self.place(field)
        return struct.unpack_from("<" + code, self.data, at)[0] if at is not None else default

    def follow(self, field):
        at = self.place(field)
        return at + struct.unpack_from("<I", self.data, at)[0] if at is not None else None

    def table(self, field):
        at = self.follow(field)
        return Table(self.data, at) if at is not None else None

    def text(self, field):
        at = self.follow(field)
        if at is None:
            return None
        n = struct.unpack_from("<I", self.data, at)[0]
        return self.data[at + 4:at + 4 + n].decode("utf-8", "replace")

    def tables(self, field):
        at = self.follow(field)
        n = struct.unpack_from("<I", self.data, at)[0] if at is not None else 0
        places = [at + 4 + 4 * i for i in range(n)]
        return [Table(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]


def read_dump(data):
    """Runs as lists of (name, is an operator of a delegate, chain, instruction, ns)."""
    start = 4 if data[8:12] == b"ED00" else 0
    top = Table(data, start + struct.unpack_from("<I", data, start)[0])
    runs = []
    for run in top.tables(1):
        events = []
        for event in run.tables(3):
            p = event.table(0)
            if p is not None:
                inner = p.text(4)
                events.append((p.text(0) if inner is None else inner, inner is not None, p.scalar(1, "i", 0),
                               p.scalar(2, "i", 0), p.scalar(7, "Q", 0) - p.scalar(6, "Q", 0)))
        runs.append(events)
    return runs


def against_flatc():
    """The reader above, held against what flatc made of the same files."""
    for path in sorted((ROOT / "tests/data").glob("*.etdump.json.gz")):
        wanted = []
        for run in json.loads(gzip.decompress(path.read_bytes()))["run_data"]:
            events = [e["profile_event"] for e in run.get("events", []) if "profile_event" in e]
            wanted.append([(e.get("delegate_debug_id_str", e.get("name")), "delegate_debug_id_str" in e,
                            e["chain_index"],
                            e["instruction_id"], e["end_time"] - e["start_time"]) for e in events])
        found = read_dump(path.with_name(path.name[:-len(".json.gz")]).read_bytes())
        expect(found == wanted, f"{path.name}: the reader of this test does not read what flatc reads")


# ---- executions ---------------------------------------------------------------------------------------

class Execution:
    """One run with Method::execute: exclusive ns by (chain, instruction, name, occurrence) and of what is no
    operator."""
    def __init__(self, events):
        self.ns, self.execute, self.boundary, self.framework = {}, None, 0, 0
        self.call_of, self.calls, pending = {}, {}, []
        for name, delegated, chain, instruction, ns in events:
            place = (chain, instruction)
            if name == "Method::execute":
                self.execute = ns
            elif delegated or name.startswith("native_call_"):
                pending.append((place, name, delegated, ns))
            elif name in ("DELEGATE_CALL", "OPERATOR_CALL"):
                mine = [p for p in pending if p[0] == place]
                pending = [p for p in pending if p[0] != place]
                rest = ns - sum(p[3] for p in mine)
                for p in mine:
                    self.call_of[self.add(place, p[1], p[3])] = place if name == "DELEGATE_CALL" else None
                if name == "DELEGATE_CALL":
                    self.boundary += rest
                    self.calls[place] = self.calls.get(place, 0) + rest
                elif not mine:
                    self.add(place, name, ns)
                else:
                    self.framework += rest
        expect(not pending, f"operators without a call: {pending[:3]}")
        if self.execute is not None:
            self.framework = self.execute - self.boundary - sum(self.ns.values())

    def add(self, place, name, ns):
        k = 0
        while (*place, name, k) in self.ns:
            k += 1
        self.ns[(*place, name, k)] = ns
        return (*place, name, k)


def kept(executions):
    """Those around the median: the middle quarter, at least 8 where the middle half has as many; of 8 or more
    executions none that is farther from the lower median than a tenth of it and than thrice the median distance."""
    n = len(executions)
    m = max(n // 4, min(8, n - n // 4 * 2))
    order = sorted(range(n), key=lambda i: (executions[i].execute, i))
    middle = [executions[i] for i in order[(n - m) // 2:(n - m) // 2 + m]]
    if n < 8:
        return middle
    median = executions[order[(n - 1) // 2]].execute
    far = max(median // 10, 3 * sorted(abs(e.execute - median) for e in executions)[n // 2])
    return [e for e in middle if abs(e.execute - median) <= far]


def near(name, found, wanted, room):
    global checked
    checked += 1
    expect(found is not None and abs(found - wanted) <= room, f"{name}: found {found}, wanted {wanted:.6g}")


class Arm:
    """What an arm's raw files say."""
    def __init__(self, folder, name, samples, blocks):
        self.name = name
        self.dumps = []
        for b in blocks:
            paths = [p for p in (folder / name).glob("*.etdump") if p.stem.endswith(f"_b{b}")
                     or (b == 1 and "_b" not in p.stem[-4:])]
            expect(len(paths) == 1, f"{folder.name}, {name}: {paths} for block {b}")
            all_runs = [Execution(events) for events in read_dump(paths[0].read_bytes())]
            self.dumps.append([e for e in all_runs if e.execute is not None])
        self.kept = [kept(d) for d in self.dumps]
        self.flat = [e for d in self.kept for e in d]
        ln = {phase: [np.log([ns for _, ns in sorted(samples[name, b, phase])]) for b in blocks]
              for phase in ("timed", "traced")}
        value = [np.median(x[warmup(x):]) for x in ln["timed"]]
        self.median = math.exp(np.mean(value))
        self.observer = math.exp(np.mean([np.median(x) - v for x, v in zip(ln["traced"], value)]))
        self.around = np.mean([np.median([ns - e.execute for (_, ns), e in zip(sorted(samples[name, b, "traced"]), d)])
                               for b, d in zip(blocks, self.dumps)])

    def mean(self, of):
        return sum(of(e) for e in self.flat) / len(self.flat)

    def cut(self, keys):
        """What whole microseconds can hide of these operators together."""
        everything = [e for d in self.dumps for e in d]
        by_call, outside = {}, 0
        for key in keys:
            times = [e.ns[key] for e in everything if key in e.ns]
            call = next((e.call_of.get(key) for e in everything if key in e.ns), None)
            if call is not None and all(t % 1000 == 0 for t in times):
                by_call[call] = by_call.get(call, 0) + 1000
        for call, most in by_call.items():
            outside += min(most, max(0, self.mean(lambda e, c=call: e.calls.get(c, 0))))
        return outside


# ---- the report against them ----------------------------------------------------------------------------

def check_ends(what, arm, told, rows, side):
    near(f"{what}, traced_ns", told["traced_ns"], arm.mean(lambda e: e.execute), 1)
    near(f"{what}, traced_mean_ns", told["traced_mean_ns"], np.mean([e.execute for d in arm.dumps for e in d]), 1)
    near(f"{what}, traced_median_ns", told["traced_median_ns"], np.median([e.execute for d in arm.dumps for e in d]), 1)
    expect(told["traced_kept"] == len(arm.flat), f"{what}: {told['traced_kept']} kept, here {len(arm.flat)}")
    near(f"{what}, median_ns", told["median_ns"], arm.median, 1)
    if told["observer"]["estimate"] is None:  # not known within a factor of two
        expect(told["observer"]["hi"] > 2 * told["observer"]["lo"], f"{what}, observer: {told['observer']}")
        return
    near(f"{what}, observer", told["observer"]["estimate"], arm.observer, 1e-5 * arm.observer)
    traced = arm.median * arm.observer
    room = 2 + 1e-5 * traced # observer has 6 digits
    near(f"{what}, boundary", rows["boundary"][side], arm.mean(lambda e: e.boundary), 1)
    near(f"{what}, framework", rows["framework"][side], arm.mean(lambda e: e.framework), 1)
    if "iterations" in rows:
        near(f"{what}, around", rows["around"][side], arm.around, 1)
        near(f"{what}, tracer", rows["tracer"][side], arm.median - traced, room)
        near(f"{what}, iterations", rows["iterations"][side], traced - arm.around - arm.mean(lambda e: e.execute),
             room)
    else:  # the other arm's is not known: one row for both arms' tracer and spread
        near(f"{what}, tracer", rows["tracer"][side], arm.median - arm.mean(lambda e: e.execute), 1)
    operators = sum(r[side] for id, r in rows.items() if id.startswith("op"))
    near(f"{what}, operators", operators, arm.mean(lambda e: sum(e.ns.values())), 2)
    expect(sum(r[side] for r in rows.values()) == told["median_ns"], f"{what}: rows do not add up to the median")


def check_categories(what, report, arms, comparison):
    members = {}
    for op in report["operators"]:
        for name, arm in arms.items():
            for kernel in op["names"].get(name, []):
                for key in {k for e in arm.flat for k in e.ns if k[:3] == (op["chain"], op["instruction"], kernel)}:
                    members.setdefault((op["category"], name), set()).add(key)
    for name, arm in arms.items():
        every = {k for e in arm.flat for k in e.ns}
        mine = set().union(*(keys for (_, a), keys in members.items() if a == name))
        expect(every == mine, f"{what}, {name}: in no category {sorted(every - mine)[:3]}")
    base, cand = arms[comparison["baseline"]], arms[comparison["candidate"]]
    for c in report["categories"]:
        told, cuts, times = f"{what}, {c['category']}", [], []
        for arm in (base, cand):
            keys = members.get((c["category"], arm.name), set())
            ns = arm.mean(lambda e, k=keys: sum(e.ns.get(key, 0) for key in k))
            near(f"{told}, {arm.name}", c["arms"][arm.name]["ns"], ns, 1 + len(keys))
            near(f"{told}, {arm.name}, cut", c["arms"][arm.name]["cut_ns"], arm.cut(keys), 1 + len(keys))
            times.append([np.mean([sum(e.ns.get(key, 0) for key in keys) for e in d]) for d in arm.kept])
            cuts.append((ns, arm.cut(keys)))
        ratio, (before, cut_before), (after, cut_after) = c["speedup"][0], *cuts
        if ratio is not None:
            near(f"{told}, speedup", ratio, before / after, 1e-3 * ratio)
            expect(before >= 4.99 * cut_before and after >= 4.99 * cut_after, f"{told}: {ratio} of {cuts}")
        if all(t > 0 for side in times for t in side):
            logs = np.log(np.array(times[0]) / np.array(times[1]))
            half = sp.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
            near(f"{told}, low", c["speedup_lo"][0], math.exp(logs.mean() - half) * after / (after + cut_after),
                 2e-3 * c["speedup_lo"][0])
            near(f"{told}, high", c["speedup_hi"][0], math.exp(logs.mean() + half) * (before + cut_before) / before,
                 2e-3 * c["speedup_hi"][0])


def check(folder):
    done = execute(ETPROF, "analyze", folder, "--format", "json")
    expect(done.returncode in (0, 1), f"{folder}: exit {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    samples = {}
    with open(folder / "samples.csv", newline="", encoding="ascii") as f:
        for r in csv.DictReader(f):
            samples.setdefault((r["experiment"], int(r["block"]), r["phase"]),
                               []).append((int(r["iteration"]), int(r["duration_ns"])))
    blocks = sorted({b for _, b, phase in samples if phase == "timed"})
    told = {a["name"]: a for a in report["arms"]}
    arms = {name: Arm(folder, name, samples, blocks) for name in told}
    comparison, ledger = report["comparisons"][0], report["ledgers"][0]
    rows = {r["id"]: (r["baseline_ns"], r["candidate_ns"]) for r in ledger["rows"]}
    expect(sum(r["delta_ns"] for r in ledger["rows"]) == ledger["delta_ns"],
           f"{folder.name}: the ledger does not close")
    known = all(told[comparison[key]]["observer"]["estimate"] is not None for key in ("baseline", "candidate"))
    expect(("iterations" in rows) == ("around" in rows) == known, f"{folder.name}: ends of the ledger: {list(rows)}")
    for side, key in enumerate(("baseline", "candidate")):
        check_ends(f"{folder.name}, {comparison[key]}", arms[comparison[key]], told[comparison[key]], rows, side)
    if not comparison["withheld"]:
        check_categories(folder.name, report, arms, comparison)
    for fix in report["next_fixes"]:
        expect(fix["gain_ns"]["hi"] <= told[comparison["candidate"]]["median_ns"],
               f"{folder.name}, {fix['id']}: gains more than the inference")


against_flatc()
for given in sys.argv[2:]:
    check(pathlib.Path(given))
# The session that README shows: five traced iterations a launch, of which three count.
with tempfile.TemporaryDirectory() as tmp:
    with tarfile.open(ROOT / "tests/data/session.tar.xz") as archive:
        archive.extractall(tmp)
    check(pathlib.Path(tmp))
if (ROOT / "build/bundle" / f"{platform.machine()}-linux-gnu").is_dir():
    tmp = new_folder()
    for model in ("toy_cnn_xnnpack_int8", "image_encoder_xnnpack_int8"):
        out = tmp / model
        # As few iterations as are cut to a quarter; margins do not matter here.
        plain_session(ETPROF, ROOT / f"examples/models/{model}.pte", out, ("linux_on", "linux_off"), "--blocks", 3,
                      runs=40, warmup=2)
        check(out)
elif len(sys.argv) == 2:
    print("measured sessions are left out: no bundle of the runner for this machine")
finish(f"{checked} figures as computed here")
