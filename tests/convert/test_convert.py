# SPDX-License-Identifier: Apache-2.0
"""`etprof convert` against what flatc says of the dumps, what `ops` and `compare` say, and the rules of each format.

usage: test_convert.py ETPROF fixtures|hostile|corpus"""
import collections
import gzip
import json
import os
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import readers
from checks import ended, execute, expect, finish, new_folder, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
DATA = ROOT / "tests/data"
CORPUS = pathlib.Path(os.environ.get("ETPROF_CORPUS") or ROOT / "../shared/corpus")


def run(*words, code=0):
    done = ended(execute(ETPROF, *words, text=False), code)
    return done


def convert(to, *words):
    return run("convert", *words, "--to", to).stdout


def document(*words):
    return json.loads(run(*words, "--format", "json").stdout)


def times_of(slices):
    """Σ of the slices of each operator."""
    found = collections.Counter()
    for s in slices:
        if "op" in s.args:
            found[s.args["op"]] += s.ns
    return found


def check_dump(dump, flatc=None, *more):
    """One dump in every format."""
    ops = document("ops", dump, *more)
    totals = {o["id"]: o["ns"]["total"] for o in ops["operators"]}
    # What a call hides beside its operators has no slice of its own.
    parts = {(o["block"], o["instruction"]) for o in ops["operators"] if o["name"] != "DELEGATE_CALL"}
    slices = [o for o in ops["operators"]
              if o["name"] != "DELEGATE_CALL" or (o["block"], o["instruction"]) not in parts]
    sliced = {o["id"]: o["ns"]["total"] for o in slices}
    trace = readers.chrome(convert("chrome", dump, *more))
    found = times_of(trace["slices"])
    expect(found == sliced or +found == collections.Counter({k: v for k, v in sliced.items() if v}),
           f"{dump}: slices of operators add up to those of ops: {found} {sliced}")
    expect({s.args["op"] for s in trace["slices"] if "op" in s.args} == set(sliced), f"{dump}: every operator is drawn")
    for o in slices:
        s = next(s for s in trace["slices"] if s.args.get("op") == o["id"])
        expect(s.category == o["category"] and s.args["instruction"] == o["instruction"], f"{dump}: {o['id']}: {s}")
        expect(s.args.get("macs") == o["macs"] and s.args.get("node") == o["node"],
               f"{dump}: {o['id']} facts: {s.args}")
    schematic = [t for t in trace["names"].values() if "schematic" in t]
    expect(bool(schematic) == any(o["delegated"] for o in ops["operators"]), f"{dump}: delegates have their own track")
    if flatc:
        check_clock(trace, json.load(gzip.open(flatc)), dump)
    check_stacks_of_dump(dump, ops, totals)
    return trace


def check_clock(trace, flatc, what):
    """Method::execute and what is in it stands where the recorded clock put it."""
    recorded = []
    for data in flatc["run_data"]:
        for e in data.get("events", []):
            p = e.get("profile_event", {})
            if p.get("name") and not p.get("delegate_debug_id_str"):
                recorded.append((p["start_time"], p["end_time"] - p["start_time"], p["name"]))
    first = min(r[0] for r in recorded)
    drawn = sorted((s.start, s.ns, s.name) for s in trace["slices"] if s.category != "run" and
                   "schematic" not in trace["names"][s.process, s.track])
    expect(drawn == sorted((at - first, ns, name) for at, ns, name in recorded), f"{what}: {drawn} {recorded}")


def check_stacks_of_dump(dump, ops, totals):
    stacks = readers.folded(convert("folded", dump), 1)
    weights = [n for _, (n,) in stacks]
    whole = ops["totals"]
    outside = sum(totals.values()) - whole["operators_ns"]  # operators of executions without Method::execute
    sums = [n for frames, (n,) in stacks if len(frames) == 2]
    expect(sum(weights) - sum(sums) == sum(totals.values()), f"{dump}: stacks of operators")
    if whole["remainder_ns"] >= 0 and b"below zero" not in run("convert", dump, "--to", "folded").stderr:
        expect(sum(weights) == whole["execute_ns"] + outside,
               f"{dump}: stacks add up to the executions: {stacks} {whole}")
    profiles = readers.speedscope(convert("speedscope", dump)) if sum(weights) else {}
    for profile in profiles.values():
        expect(sum(w for _, w in profile) == sum(weights), f"{dump}: speedscope's sum")


# ---- two sides ------------------------------------------------------------------------------------

def check_sides(document_words, *operands):
    ab = document(*document_words)
    ledger = ab["ledgers"][0]
    rows = ledger["rows"]
    what = " ".join(map(str, operands))
    trace = readers.chrome(convert("chrome", *operands))
    sides = ("baseline_ns", "candidate_ns")
    tracer = {k: sum(r[k] for r in rows if r["kind"] == "tracer") for k in sides}
    below = {k: sum(min(r[k], 0) for r in rows if r["kind"] != "tracer") for k in sides}
    one_sided = collections.Counter()
    for process, key in enumerate(sides, 1):
        mine = [s for s in trace["slices"] if s.process == process]
        expect(min(s.start for s in mine) == 0, f"{what}: {key} begins at 0")
        expect(mine[0].ns == ledger[key] - tracer[key] - below[key], f"{what}: {key} is {mine[0].ns} long")
        drawn = {s.args["op"]: s.ns for s in mine if "op" in s.args}
        for r in rows:
            if r["kind"] == "one_sided":
                one_sided[r["id"]] += r["id"] in drawn
                continue
            absent = r["kind"] == ("inserted" if process == 1 else "vanished")
            if r["kind"] == "tracer" or absent:
                expect(r["id"] not in drawn, f"{what}: {r['id']} is not there")
            else:
                expect(drawn.get(r["id"], 0) == max(r[key], 0), f"{what}: {r['id']} in {key}: {drawn.get(r['id'])} {r}")
        order = [s.args["op"] for s in mine if s.args.get("op", "").startswith("op")]
        expect(order == [r["id"] for r in rows if r["id"] in drawn and r["id"].startswith("op")],
               f"{what}: the ledger's order")
    expect(trace["counter"][-1][1] == ledger["baseline_ns"] - ledger["candidate_ns"], f"{what}: saved in the end")
    expect(set(one_sided.values()) <= {1}, f"{what}: on one side each: {one_sided}")
    both = [r for r in rows
            if r["id"].startswith("op") and r["kind"] not in ("inserted", "vanished", "one_sided")]
    expect(len(trace["arrows"]) == len(both), f"{what}: {len(trace['arrows'])} arrows, {len(both)} equal operators")
    for s in trace["slices"]:
        kind = next((r["kind"] for r in rows if r["id"] == s.args.get("op")), None)
        expect(kind not in ("inserted", "vanished") or s.args["verdict"] == kind and s.name.endswith(f"({kind})"),
               f"{what}: {s.name} is {kind}")
    check_stacks_of_sides(what, ledger, tracer, operands)


def check_stacks_of_sides(what, ledger, tracer, operands):
    rows = [r for r in ledger["rows"] if r["kind"] != "tracer"]
    wanted = {k: sum(max(r[k], 0) for r in rows) for k in ("baseline_ns", "candidate_ns")}
    stacks = readers.folded(convert("folded", *operands), 2)
    expect(len(stacks) == len(rows), f"{what}: a stack for each row")
    expect([sum(n[i] for _, n in stacks) for i in (0, 1)] == list(wanted.values()), f"{what}: folded adds up")
    swapped = readers.folded(convert("folded", *operands, "--negate"), 2)
    expect([(f, n[::-1]) for f, n in stacks] == swapped, f"{what}: --negate swaps the columns")
    profiles = readers.speedscope(convert("speedscope", *operands))
    by_kind = {name.split(":")[0]: sum(w for _, w in p) for name, p in profiles.items()}
    expect(by_kind["A"] == wanted["baseline_ns"] and by_kind["B"] == wanted["candidate_ns"], f"{what}: {by_kind}")
    expect(by_kind.get("B − A gains", 0) - by_kind.get("B − A losses", 0) ==
           wanted["baseline_ns"] - wanted["candidate_ns"], f"{what}: gains and losses: {by_kind}")


# ---- hostile files --------------------------------------------------------------------------------

NAMES = [b'native_call_a<b>"&\';.out', b"native_call_\xff\xc3(\xed\xa0\x80; x.out",
         b"native_call_\n\r\x01\x00\x1b[31m.out",
         b"native_call_\xef\xbf\xbf\xef\xbf\xbe\xc2\x85\xe2\x80\xa8", b"native_call_]]><!--;;; 12 "]


def named(dump, old, new):
    new = (new + b"_" * len(old))[:len(old)] if len(new) <= len(old) else new[:len(old)]
    expect(old in dump, f"{old} is in the dump")
    return dump.replace(old, new), new


def times_changed(dump, flatc, change):
    """The dump with CHANGE(start, end, name) as each event's times, which stand side by side in the file."""
    events = [e["profile_event"] for data in flatc["run_data"] for e in data["events"]]

    def pair(p, backwards):
        times = [struct.pack("<Q", p[k]) for k in ("start_time", "end_time")]
        return b"".join(times[::-1] if backwards else times)

    backwards = any(pair(p, True) in dump for p in events if p["start_time"] != p["end_time"])
    for p in events:
        expect(dump.count(pair(p, backwards)) == 1, f"the times of {p} are found")
        start, end = change(p["start_time"], p["end_time"], p.get("name") or "")
        dump = dump.replace(pair(p, backwards), pair({"start_time": start, "end_time": end}, backwards))
    return dump


def check_hostile(folder):
    good = (DATA / "mixed_xnnpack_fp32.etdump").read_bytes()
    flatc = json.load(gzip.open(DATA / "mixed_xnnpack_fp32.etdump.json.gz"))
    path = folder / "hostile.etdump"
    for name in NAMES:
        for old in (b"native_call_cumsum.out", b"Fully Connected (NC, F32) GEMM #1"):
            dump, given = named(good, old, name)
            path.write_bytes(dump)
            trace = check_dump(path)
            shown = given.split(b"\0")[0] if b"\0" in given else given
            drawn = {s.name.encode() for s in trace["slices"]}
            lossless = given.decode("utf-8", "replace")
            expect(lossless.encode() in drawn or shown.decode("utf-8", "replace").encode() in drawn or
                   any(d.startswith(b"native_call_") and b"\xef\xbf\xbd" in d for d in drawn), f"{given} in {drawn}")
            other = folder / "other.etdump"
            other.write_bytes(good)
            check_sides(("compare", path, other), path, other)
    # Times that do not nest, in every way there is: lengths of operators stay what they are.
    leaf = re.compile("native_call_")
    for i, change in enumerate([
            lambda s, e, n: (s + 5000, e + 5000) if leaf.match(n) else (s, e),        # beyond its call
            lambda s, e, n: (s - 100000, e - 100000) if leaf.match(n) else (s, e),    # before it
            lambda s, e, n: (0, e - s),                                               # no clock at all
            lambda s, e, n: ((1 << 62) + s, (1 << 62) + e) if n == "Method::execute" else (s, e),
            lambda s, e, n: ((1 << 64) - 1 - (e - s), (1 << 64) - 1) if leaf.match(n) else (s, e),
            lambda s, e, n: (10**13 - s, 10**13 - s + (e - s))]):                     # a clock that runs backwards
        changed = times_changed(good, flatc, change)
        expect(changed != good, f"change {i} changed something")
        path.write_bytes(changed)
        trace = check_dump(path)
        said = run("convert", path, "--to", "chrome").stderr
        drawn = [s for s in trace["slices"] if leaf.match(s.name)]
        # Kernels that lie outside their calls are withheld, in every form.
        expect(b"do not nest" in said if i == 2 else not drawn, f"change {i}: {said} {drawn}")
        starts = [s.start for s in trace["slices"] if s.category == "run"]
        expect(starts == sorted(starts) and max(starts) < 1 << 53,
               f"change {i}: executions follow each other: {starts}")
    # Clocks that start again, or leap, between one execution and the next: each execution is as it was, after the last.
    second = min(e["profile_event"]["start_time"] for e in flatc["run_data"][1]["events"])
    for leap in (-1_000_000_000, 1 << 60):
        path.write_bytes(times_changed(good, flatc, lambda s, e, n, by=leap: (s + by, e + by) if s >= second
                                       else (s, e)))
        trace = check_dump(path)
        runs = [s for s in trace["slices"] if s.category == "run"]
        expect(runs[1].start == runs[0].start + runs[0].ns and runs[2].start > runs[1].start + runs[1].ns,
               f"after a leap of {leap} an execution follows at once: {runs}")
        expect(b"do not nest" not in run("convert", path, "--to", "chrome").stderr, "each execution nests")
    # Operators of a delegate that take longer than its call are by another clock: the call is drawn, not they.
    changed = times_changed(good, flatc, lambda s, e, n: (s, e) if n else (s, s + 7_000_000))
    path.write_bytes(changed)
    trace = readers.chrome(convert("chrome", path))
    expect({s.name for s in trace["slices"]} & {"DELEGATE_CALL"} and
           not [s for s in trace["slices"] if s.category == "GEMM"], "operators that are longer than their call")
    check_verdicts(folder, good, flatc)


def check_verdicts(folder, good, flatc):
    """A kernel that takes 50 µs longer in each of six recordings of one side."""
    ends = [e["profile_event"]["end_time"] for run in flatc["run_data"] for e in run["events"]
            if e.get("profile_event") and e["profile_event"].get("name") == "native_call_cumsum.out"]

    def later(start, end, ends, by):
        """Every moment from the end of the kernel on is moved."""
        return start + by * sum(e <= start for e in ends), end + by * sum(e <= end for e in ends)

    for side, base in (("quick", 0), ("slow", 50_000)):
        (folder / side).mkdir()
        for i in range(6):
            more = base + 37 * i
            (folder / side / (f"model_b{i + 1}.etdump" if i else "model.etdump")).write_bytes(
                times_changed(good, flatc, lambda s, e, n, by=more: later(s, e, ends, by)))
    for first, second, verdict in (("quick", "slow", "slower"), ("slow", "quick", "faster")):
        sides = folder / first, folder / second
        check_sides(("compare", *sides), *sides)
        trace = readers.chrome(convert("chrome", *sides))
        said = {s.args["verdict"] for s in trace["slices"] if s.category == "Reduction"}
        expect(said == {verdict}, f"{second} against {first}: {said}")
        expect(all(s.name.endswith(f"({verdict})") for s in trace["slices"] if s.category == "Reduction"),
               "and in its name")
        others = {s.args["verdict"] for s in trace["slices"] if s.category == "GEMM"}
        expect(not others & {"slower", "faster"}, f"operators that are alike: {others}")


def fixtures():
    for stem in ("mixed_xnnpack_fp32", "linear_portable_fp32", "linear_xnnpack_fp32", "mixed_xnnpack_fp32_load"):
        check_dump(DATA / f"{stem}.etdump", DATA / f"{stem}.etdump.json.gz")
        pte = DATA / f"{stem.removesuffix('_load')}.pte"
        check_dump(DATA / f"{stem}.etdump", None, "--pte", pte)
    pair = DATA / "mixed_xnnpack_fp32.etdump", DATA / "mixed_xnnpack_fp32_load.etdump"
    check_sides(("compare", *pair), *pair)
    check_sides(("compare", *pair[::-1]), *pair[::-1])
    check_sides(("compare", *pair, "--pte", DATA / "mixed_xnnpack_fp32.pte"), *pair, "--pte",
                DATA / "mixed_xnnpack_fp32.pte")
    folder = ROOT / "examples/runs/image_encoder_int8_qemu"
    check_sides(("analyze", folder), folder)
    for arm in ("linux_sme1", "linux_sme2_on"):
        named_arm = json.loads(convert("chrome", folder, "--candidate", arm))["traceEvents"]
        expect(any(e["ph"] == "M" and e["args"]["name"] == f"candidate: {arm}" for e in named_arm),
               f"--candidate {arm}")
    wrong = run("convert", folder, "--to", "chrome", "--candidate", "linux_none", code=2).stderr
    expect(b"linux_none" in wrong and b"linux_sme" in wrong, f"an arm that is not there: {wrong}")
    told = run("convert", folder, "--to", "folded").stderr
    expect(b"withheld" in told and b"traced inferences" in told, f"what stacks leave out is said: {told}")


def corpus():
    if not (CORPUS / "dumps").is_dir():
        skip("no reference corpus (ETPROF_CORPUS)")
    dumps = sorted(p for p in (CORPUS / "dumps").glob("*.etdump"))
    for dump in dumps:
        check_dump(dump)
    pairs = [("mobilenet_v3_small_xnnpack_fp32.arm64_neon", "mobilenet_v3_small_xnnpack_fp32.arm64_sme2"),
             ("mlp_xnnpack_int8dyn.arm64_neon", "mlp_xnnpack_int8dyn.arm64_sme2"),
             ("mobilenet_v3_small_xnnpack_int8.x86_full", "mobilenet_v3_small_xnnpack_int8.x86_sse")]
    for pair in pairs:
        files = [CORPUS / "dumps" / f"{p}.etdump" for p in pair]
        check_sides(("compare", *files), *files)


def main():
    if sys.argv[2] == "fixtures":
        fixtures()
    elif sys.argv[2] == "hostile":
        folder = new_folder()
        check_hostile(folder)
    else:
        corpus()
    finish()


main()
