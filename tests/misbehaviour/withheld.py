# SPDX-License-Identifier: Apache-2.0
"""A ratio that is withheld must be in no form: not as a number, not as a difference, not in a picture, not in advice.
The same folder, as it was measured on a quiet machine, has it in each of them, or the checks would say nothing.

usage: withheld.py ETPROF"""
import json
import math
import os
import pathlib
import re
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders  # noqa: E402
import run_folders  # noqa: E402
from checks import execute, expect, finish, new_folder, unpack  # noqa: E402

ETPROF = os.path.abspath(sys.argv[1])
REASONS = {"contended": "other programs had the CPU", "noise_floor": "equal launches of the baseline differ too much"}
SLOWER = "op35"  # an operator that got slower in the session
# What holds arms against each other, in words; each is in one of the forms of the quiet session.
WORDS = re.compile(r"× faster|got slower (by|with)|new bottleneck|bottleneck\W+moved|\bsaved\b|÷ VNNI|"
                   r"without recording\)|Where it came from")


def ask(tmp, *words):
    return execute(ETPROF, *words, cwd=tmp)


def contend(root):
    run_folders.contend(root, "linux_avx2")


def numbers(value, path=""):
    """(path, number) of every number in a document."""
    if isinstance(value, dict):
        for key, v in value.items():
            yield from numbers(v, f"{path}.{key}")
    elif isinstance(value, list):
        for v in value:
            yield from numbers(v, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def compared(document):
    """Numbers of `etprof.ab/1` that hold arms against each other; differences of the ledger are its arithmetic."""
    of = re.compile(r"\.comparisons\.(speedup\.(estimate|lo|hi)|sign_flip_p|load|first|by_cpu)"
                    r"|\.(categories|operators)\.(speedup|speedup_lo|speedup_hi)"
                    r"|\.ledgers\.rows\.(lo_ns|hi_ns|ratio_lo|ratio_hi|q)$")
    return [p for p, _ in numbers(document) if of.match(p)]


def forms(tmp):
    """{form: text} of everything that is written about the session."""
    expect(ask(tmp, "analyze", "run", "--renew").returncode == 0, "renews")
    out = {str(p.relative_to(tmp)): p.read_text() for p in sorted((tmp / "run").rglob("*"))
           if p.suffix in (".md", ".html", ".svg") and p.is_file()}
    for words in (["analyze", "run"], ["analyze", "run", "--full"], ["analyze", "run", "--format", "md"],
                  ["analyze", "run", "--format", "html"], ["compare", "run:linux_avx2", "run:linux_vnni", "--full"],
                  ["compare", "run/linux_avx2", "run/linux_vnni/", "--full"],
                  ["stats", "run"], ["stats", "run/samples.csv"], ["stats", "run/samples.csv", "--format", "html"],
                  ["explain", SLOWER, "run"], ["explain", "op6", "run"], ["whatif", "run", "drop conv*"]):
        out[" ".join(words)] = ask(tmp, *words).stdout
    return out


def visible(text):
    """Of a page, without its script and style, whose words are the same in every page."""
    text = re.sub(r"<script(?![^>]*json).*?</script>|<style.*?</style>", "", text, flags=re.S)
    return re.sub(r"<[^>]+>", " ", text)


def planted(tmp, how, reason):
    (tmp / "run").mkdir()
    with tarfile.open(run_folders.DATA / "session.tar.xz") as archive:
        unpack(archive, tmp / "run")
    run_folders.record(tmp / "run") # a file of kernels was left out of the archive
    how(tmp / "run")
    told = forms(tmp)
    document = run_folders.report(tmp / "run")
    c = document["comparisons"][0]
    expect(c["withheld"] == reason, reason, c)
    base, cand = ([a for a in document["arms"] if a["name"] == f"linux_{n}"][0] for n in ("avx2", "vnni"))
    ratios = [base[k] / cand[k] for k in ("median_ns", "traced_ns", "traced_mean_ns", "traced_median_ns")]
    digits = {f"{r:.{d}f}×" for r in ratios for d in (1, 2, 3)}
    found = {form for form, text in told.items() if WORDS.search(visible(text))}
    drawn = {form for form, text in told.items() if any(d in visible(text) for d in digits)}
    against = json.loads(ask(tmp, "whatif", "run", "drop conv*", "--format", "json").stdout)["against_baseline"]
    back = ask(tmp, "whatif", "run", f"back {SLOWER}")
    kinds = {f["kind"] for f in document["findings"] + document["next_fixes"]}
    stats = json.loads(ask(tmp, "stats", "run/samples.csv", "--format", "json").stdout)
    if not reason:
        expect(len(found) >= 9 and len(drawn) >= 9, "quiet", "the checks find what is there", found, drawn)
        expect(compared(document) and against > 1 and back.returncode == 0 and "slower" in kinds, "quiet",
               against, back.stderr, kinds)
        expect(stats["speedup"]["estimate"] == c["speedup"]["estimate"], "quiet", stats["speedup"])
        return
    expect(not found, reason, "words", {f: WORDS.search(visible(told[f])).group(0) for f in found})
    expect(not drawn, reason, "ratios", drawn, digits)
    expect(not compared(document), reason, "report.json", set(compared(document)))
    expect(not any(b["moved"] for b in document["bottlenecks"]), reason, "bottleneck", document["bottlenecks"])
    expect(against is None, reason, "against_baseline", against)
    expect(c["peak_rss"]["estimate"] > 0.5, reason, "bytes do not wait for a CPU", c["peak_rss"])
    expect(back.returncode == 3 and REASONS[reason] in back.stderr, reason, "back", back.returncode, back.stderr)
    expect("slower" not in kinds and "shift" not in kinds, reason, kinds)
    given = stats["speedup"]["estimate"]
    expect(stats["withheld"] == reason and given is None, reason, "samples.csv", given)
    for form in ("explain op6 run", f"explain {SLOWER} run", "stats run/samples.csv", "run/report.md"):
        told[form] = " ".join(told[form].split())
        expect(REASONS[reason] in told[form], reason, form, "says why", told[form][:400])
        expect("clock resolves" not in told[form], reason, form, "another reason")
    if reason == "contended": # recordings of the session, wherever they are named
        off, on = (next((tmp / "run" / f"linux_{n}").glob("*.etdump")) for n in ("avx2", "vnni"))
        for words in (["compare", off, on], ["compare", run_folders.DATA / f"{run_folders.MODEL}.etdump", off],
                      ["analyze", "run/linux_avx2", "run/linux_vnni"]):
            bare = json.loads(ask(tmp, *words, "--format", "json").stdout)["comparisons"][0]
            expect(bare["withheld"] == reason and bare["speedup"]["estimate"] is None, words, bare)
        said = ask(tmp, "analyze", off).stdout
        expect("waited for a CPU" in said and REASONS[reason] in said, "one recording", said[:400])
    drift = " ".join(ask(tmp, "explain", "drift", "run").stdout.split())
    expect("too wide" not in drift, reason, "nothing is given that a control could be too wide beside", drift)
    expect(math.isfinite(base["median_ns"]) and "6.2" in told["stats run/samples.csv"], reason, "times stay")


def phases(tmp):
    """One phase of two was disturbed: its ratio is withheld, and the machine was not quiet."""
    root = phase_folders.make(tmp / "run", lambda p, level, t, m: 2000000 if level == "sse" else 900000,
                              phases=(phase_folders.PREFILL, phase_folders.DECODE))
    run_folders.contend(root, "linux_sse_decode0")
    said = ask(tmp, "analyze", "run").stdout
    expect("2.22× faster" in said and REASONS["contended"] in said, "phases", said[:900])
    expect("other programs ran" in said and "no wait for a CPU" not in said, "phases", said[-900:])
    said = ask(tmp, "gate", "run", "decode@0.speedup >= 1.5", "prefill16.speedup >= 1.5", "--format", "json").stdout
    checks = {c["id"]: c["ok"] for c in json.loads(said)["checks"]}
    expect(checks["decode@0.speedup:linux_avx2_decode0"] is None, "phases", checks)
    expect(checks["prefill16.speedup:linux_avx2_prefill16"] is True, "phases", checks)


def sessions(tmp):
    """Arms of two sessions, one of which had a restless control: no ratio either."""
    for n, how in (("a", None), ("b", run_folders.disturb)):
        (tmp / n).mkdir()
        with tarfile.open(run_folders.DATA / "session.tar.xz") as archive:
            unpack(archive, tmp / n)
        manifest = run_folders.manifest(tmp / n)
        (tmp / n / "manifest.json").write_text(json.dumps({**manifest, "command": n, "generated_at":
                                                           f"2026-11-2{len(n) if how else 4}T09:00:00Z"}))
        run_folders.record(tmp / n)
        if how:
            how(tmp / n)
    c = json.loads(ask(tmp, "compare", "a:linux_avx2", "b:linux_vnni", "--format", "json").stdout)["comparisons"][0]
    expect(c["withheld"] == "noise_floor" and c["speedup"]["estimate"] is None, "two sessions", c)


def what_if(tmp):
    """An arm that waited for a CPU has no ratio of a change, on the page either."""
    with tarfile.open(run_folders.DATA / "session.tar.xz") as archive:
        unpack(archive, tmp / "run")
    for share in (0.4, 0.01):
        run_folders.contend(tmp / "run", "linux_vnni", share)
        ratio = json.loads(ask(tmp, "whatif", "run", "scale op1 2", "--format", "json").stdout)["speedup"]
        expect((ratio["estimate"] is None) == (ratio["lo"] is None) == (share == 0.4), share, ratio)
        said = ask(tmp, "whatif", "run", "scale op1 2").stdout
        expect(("waited for a CPU for 40 %" in " ".join(said.split())) == (share == 0.4), share, said)
        page = ask(tmp, "analyze", "run", "--format", "html").stdout
        expect(('id="whatif-data"' in page) == (share == 0.01), share, "the page's what-if")


def names_of_columns(tmp):
    """With three arms each column of the CSV has a name of its own."""
    run_folders.make(tmp / "three", 3, blocks=2)
    head = ask(tmp, "analyze", "three", "--format", "csv").stdout.splitlines()[0].split(",")
    expect({"arm0_speedup", "arm1_speedup"} <= set(head) and len(head) == len(set(head)), "columns", head)


def few_equal(tmp):
    """Two blocks with the same median do not show that there is no spread; six do."""
    for blocks, given in ((2, False), (6, True)):
        root = run_folders.make(tmp / str(blocks), 2, blocks=blocks)
        rows = [line.split(",") for line in (root / "samples.csv").read_text().splitlines()]
        (root / "samples.csv").write_text("\n".join(",".join([*r[:6], r[6] if r[6] == "duration_ns" else "1000000"])
                                                    for r in rows) + "\n")
        run_folders.record(root)
        arms = json.loads(ask(tmp, "analyze", str(blocks), "--format", "json").stdout)["arms"]
        expect(all(("interval_ns" in a) == given for a in arms), blocks, "blocks", arms[0].get("interval_ns"))


def emulated():
    """Recordings of an emulator's run folder, wherever one stands: a ratio of one or both is none."""
    run = pathlib.Path(__file__).resolve().parents[2] / "examples/runs/image_encoder_int8_qemu"
    on, off = (next((run / f"linux_sme2_{x}").glob("*.etdump")) for x in ("on", "off"))
    other = run_folders.DATA / f"{run_folders.MODEL}.etdump"
    for tmp, words in ((".", (off, on)), (".", (other, on)), (".", (f"{run}:linux_sme2_off", on)),
                       (run, (off.relative_to(run), on.relative_to(run))), (on.parent, (on.name, other))):
        c = json.loads(ask(tmp, "compare", *words, "--format", "json").stdout)["comparisons"][0]
        expect(c["withheld"] == "emulated" and c["speedup"]["estimate"] is None, words, c)
        said = ask(tmp, "compare", *words, "--full").stdout
        expect("times say nothing about speed" in " ".join(said.split()) and "×  " not in said, words, said[:600])


for maker, why in ((lambda root: None, None), (contend, "contended"), (run_folders.disturb, "noise_floor")):
    name = new_folder()
    planted(name, maker, why)
emulated()
name = new_folder()
sessions(name)
for check in (phases, what_if, names_of_columns, few_equal):
    name = new_folder()
    check(name)
finish("what is withheld is in no form")
