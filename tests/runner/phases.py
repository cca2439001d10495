# SPDX-License-Identifier: Apache-2.0
"""A session of phases on a tiny text decoder, from the command line to its documents: phases.py ETPROF SOURCE

Counts and sums come from the options and from the files themselves, read here without etprof."""
import glob
import json
import os
import pathlib
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import pages
import run_folders
from checks import ended, execute, expect, finish, skip

ETPROF, SOURCE = sys.argv[1:3]
DATA = os.path.join(SOURCE, "tests", "data")
DECODER = os.path.join(DATA, "llm", "decoder_plain.pte")


def run(*words, timeout=None):
    return execute(ETPROF, *words, timeout=timeout)


def refused(words, *args, model=DECODER):
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "out")
        done = run("ab", model, *args, "--out", out, timeout=60)  # it would measure for minutes
        expect(done.returncode != 0, args, "is refused", done.returncode)
        expect(words in done.stderr, args, f"says '{words}'", done.stderr[-300:])
        expect(not os.path.exists(out), args, "leaves no folder", os.listdir(tmp))


def check_not_asked(tmp):
    """A decoder that nobody asked for phases of ends with ExecuTorch's InvalidArgument: the way on is said."""
    def ended(*words):
        out = os.path.join(tmp, f"not asked {len(words)}")
        done = run("ab", DECODER, "--blocks", "1", "--out", out, *words)
        expect(done.returncode != 0 and "InvalidArgument" in done.stderr, words, "ends", done.stderr[-500:])
        return done.stderr

    said = ended()
    expect("; it is a text decoder, which takes tokens at a position: ask for a prompt and for decoding, "
           "--prefill 64 --decode 32" in said, "without phases", said)


def measure(tmp):
    out = os.path.join(tmp, "out")
    done = run("ab", DECODER, "--prefill", "16", "--decode", "4@0,32", "--blocks", "2", "--warmup", "1",
               "--iterations", "6", "--seed", "5", "--out", out)
    if done.returncode and "one level only" in done.stderr:
        skip("this CPU has one level only")
    expect(done.returncode == 0, "ab", "measures", done.stderr[-500:])
    return out


def check_folder(out):
    plan = run_folders.manifest(out)["plan"]
    expect([(p["name"], p["kind"], p["tokens"], p["depth"], p["calls"]) for p in plan["phases"]] ==
           [("prefill 16", "prefill", 16, 0, 1), ("decode @0", "decode", 1, 0, 4), ("decode @32", "decode", 1, 32, 4)],
           "manifest", "holds the phases", plan["phases"])
    expect([a.get("phase", 0) for a in plan["arms"]] == [0, 0, 1, 1, 2, 2], "manifest", "places arms", plan["arms"])
    # whole repetitions: 1 and 6 iterations of 4 calls become 4 and 8
    expect([(i["warmup"], i["timed"]) for i in plan["iterations"]] == [(1, 6)] * 2 + [(4, 8)] * 4, "manifest",
           "counts whole repetitions", plan["iterations"])
    rows = run_folders.samples(out)
    timed = [r for r in rows if r["phase"] == "timed"]
    expect(len(timed) == 2 * (2 * 6 + 4 * 8), "samples.csv", "has every step", len(timed))
    controls = {(r["experiment"], r["block"]) for r in rows if r["phase"] == "control"}
    expect(len(controls) == 2 * 3 and len({e for e, _ in controls}) == 3, "samples.csv",
           "has an A/A control of each phase in each block", sorted(controls))
    for arm in plan["arms"]:
        dump = os.path.join(out, arm["name"], arm["prefix"] + ".etdump")
        expect(os.path.exists(dump) or os.path.exists(dump + ".zst"), arm["name"], "has a dump of its own", dump)
    return plan


def check_documents(out):
    first = run_folders.report(out)
    expect(first["phase"] == "prefill 16", "report.json", "is about the first phase", first.get("phase"))
    documents = [first] + [p["document"] for p in first["phases"][1:]]
    controls = set()
    for p, d in zip(first["phases"], documents):
        expect(d["phase"] == p["name"] and len(d["comparisons"]) == 1, p["name"], "has its comparison", d["phase"])
        expect(d["correctness"]["ok"] is True, p["name"], "has logits that agree", d["correctness"])
        expect(all(c["control"] and c["control"]["blocks"] == 2 for c in d["comparisons"]), p["name"],
               "has its own A/A control", [c["control"] for c in d["comparisons"]])
        controls.add(json.dumps(d["comparisons"][0]["control"]))
        for ledger in d["ledgers"]:
            total = sum(r["delta_ns"] for r in ledger["rows"])
            ends = ledger["candidate_ns"] - ledger["baseline_ns"]
            expect(ledger["rows"] and total == ledger["delta_ns"] == ends, p["name"], "has a ledger that closes",
                   (total, ledger["delta_ns"], ends))
        for arm in p["arms"]:
            rate = 1e9 * p["tokens"] / arm["median_ns"]
            expect(abs(arm["tokens_per_s"] / rate - 1) < 1e-4, p["name"], "tells tokens a second", arm)
    expect(len(controls) == 3, "report.json", "does not lend one phase the control of another", controls)
    text = run("analyze", out).stdout
    said = " ".join(text.replace("\\\n", "\n").split())  # a long folder's command goes on behind a backslash
    for p, d in zip(first["phases"][1:], documents[1:]):  # the screen is about the first; of others, what most is
        most = d["bottlenecks"][0]
        words = f"{most['after'] or 'Outside operators'} {100 * most['after_share']:.0f} %"
        at = said.index(p["name"] + ":")
        after = [said.find(q["name"] + ":", at + 1) for q in first["phases"][1:]]  # whose line may say the same
        line = said[at:min([at + 220, *(i for i in after if i > 0)])]
        observers = [arm["observer"] for arm in d["arms"] if arm["observer"]]
        unknown = any(o["estimate"] is None and o["blocks"] > 1 for o in observers)  # beyond a factor of two
        recorded = max([o["estimate"] for o in observers if o["estimate"] is not None
                        and (abs(o["estimate"] - 1) <= 0.1 or o["lo"] > 1 or o["hi"] < 1)], default=1)
        expect((words in line) == (recorded < 2 and not unknown), p["name"], f"'{words}' is on the screen where "
               f"recording takes {recorded:.2f} times as long, or an unknown time", observers, line)
    expect("--phase decode@0" in said, "screen", "says how to ask of the others", said[-300:])
    for word in ("prefill 16", "decode @0", "decode @32"):
        expect(word in text, "analyze", f"says {word}", text[:400])
    text = run("analyze", out, "--full").stdout  # the short form gives no times where the machine is too restless
    expect("tok/s" in text, "analyze --full", "tells rates", text[:400])
    ended(run("verify", out), 0)


def check_work(out, depths, fused=False):
    """Multiply-accumulates of a call, by hand: 2 layers of 4 matrices of 32 x 32 and 3 of 64 x 32, attention over a
    cache of 64 (fused: over what is in it), and the last matrix of 64 x 32 for one token."""
    plan = run_folders.manifest(out)["plan"]
    first = run_folders.report(out)
    documents = [first] + [p["document"] for p in first["phases"][1:]]
    for p, depth, d in zip(plan["phases"], depths, documents):
        n = p["tokens"]
        starts = [depth + n * i for i in range(p["calls"])]
        expect((p["method"], p["inputs"], float(p["start"])) ==
               ("forward", f"0=1x{n}", sum(starts) / len(starts)), p["name"], "keeps what its calls are", p)
        seen = [sum(at + i + 1 for i in range(n)) if fused else 64 * n for at in starts]
        macs = n * 2 * (4 * 32 * 32 + 3 * 64 * 32) + 2 * 2 * 32 * sum(seen) / len(seen) + 64 * 32
        found = sum(o["macs"] or 0 for o in d["operators"])
        expect(found == macs, p["name"], f"is {macs} multiply-accumulates", found)


def check_kernels_ours(tmp):
    """Attention that is an operator which ExecuTorch's SDK lacks: it is measured, and every answer says with what."""
    fused = os.path.join(DATA, "llm", "decoder_fused.pte")
    said = "llama::custom_sdpa.out, llama::update_cache.out are etprof's own kernels; their time is not ExecuTorch's"
    out = os.path.join(tmp, "out")
    done = run("ab", fused, "--prefill", "16", "--decode", "4", "--blocks", "2", "--warmup", "1", "--iterations", "6",
               "--out", out)
    expect(done.returncode == 0, "ab", "measures with kernels of its own", done.stderr[-500:])
    check_work(out, (0, 0), fused=True)
    expect("etprof's own kernels" in done.stdout, "ab", "names them on its screen", done.stdout[-900:])
    notes = {n["id"]: n["text"] for n in run_folders.manifest(out)["notes"]}
    expect(notes.get("kernels_ours") == said, "manifest", "keeps them", notes)
    first = run_folders.report(out)
    for d in [first] + [p["document"] for p in first["phases"][1:]]:
        found = [f["text"] for f in d["findings"] if f["kind"] == "kernels_ours"]
        expect(found == [said], d["phase"], "names them", found)
        expect(d["correctness"]["ok"] is True, d["phase"], "has logits that agree", d["correctness"])
        rows = [o for o in d["operators"] if "custom_sdpa" in json.dumps(o)]
        expect(len(rows) == 2, d["phase"], "has a row for each call of it", d["operators"])
    with open(fused, "rb") as f:
        program = f.read()
    with open(os.path.join(tmp, "other.pte"), "wb") as f:
        f.write(program.replace(b"llama::custom_sdpa", b"other::custom_sdpa"))
    refused("none.so does not exist", "--prefill", "8", "--custom-ops", "none.so")
    refused("--custom-ops: ", "--prefill", "8", "--custom-ops", fused)
    refused("other::custom_sdpa.out (2), together 2 of its 83 instructions (2.41 %)", "--prefill", "8",
            model=os.path.join(tmp, "other.pte"))


def check_advice(tmp):
    """A decoder without a delegate, in prompts of two lengths. By ExecuTorch's own reader 28 of its 225 kernels write
    2 x 64 x 16 floats, as much as a cache; its last matrix is 64 x 32 floats of 2 layers (4 matrices of 32 x 32, 3 of
    64 x 32) and that."""
    out = os.path.join(tmp, "advice")
    done = run("ab", os.path.join(DATA, "llm", "decoder_portable.pte"), "--prefill", "8,32", "--decode", "4",
               "--blocks", "2", "--warmup", "1", "--iterations", "6", "--out", out)
    expect(done.returncode == 0, "ab", "measures a decoder without a delegate", done.stderr[-500:])
    check_kept(out)
    first = run_folders.report(out)
    last, all_of = 64 * 32 * 4, (2 * (4 * 32 * 32 + 3 * 64 * 32) + 64 * 32) * 4
    wanted = {"attention_written_out": "28 kernels of a call write as much as a whole cache of 8.19 kB",
              "last_matrix": f"aten::linear.out, {last / 1e3:.2f} kB or {100 * last / all_of:.0f} % of all weights"}
    # Prompts are compared only where none of them waited for a CPU: on a busy machine there may be nothing to say.
    prompts = [first, first["phases"][1]["document"]]
    waited = any(a["waited_share"] is not None and a["waited_share"] > 0.05 for d in prompts for a in d["arms"])
    for d in [first] + [p["document"] for p in first["phases"][1:]]:
        found = {f["kind"]: f["text"] for f in d["findings"]}
        for kind, words in wanted.items():
            expect(words in found.get(kind, ""), d["phase"], f"says '{words}'", found.get(kind))
        expect("the embedding (aten::embedding.out)" in found.get("last_matrix", ""), d["phase"],
               "names the embedding", found.get("last_matrix"))
        compared = "prompt_chunk" in found
        expect(compared == (d["phase"] == "prefill 8") or (waited and not compared), d["phase"],
               "compares prompts once", found)
    if waited:
        return
    text = next((f["text"] for f in first["findings"] if f["kind"] == "prompt_chunk"), "")
    arm = first["comparisons"][0]["candidate"]
    few, many = (p["tokens"] * 1e9 / a["median_ns"] for p in first["phases"][:2] for a in p["arms"]
                 if a["name"].rpartition("_")[0] == arm.rpartition("_")[0])
    expect(f"of 8 tokens: {few:.0f} tok/s, of 32: {many:.0f} tok/s" in text, "prompts", "tell rates", (text, few, many))
    expect(f"{max(few, many) / min(few, many):.2f}× as fast" in text, "prompts", "tell the ratio", text)


def check_kept(out):
    """What the decoder keeps from call to call is drawn from end to end: the keys and values of 2 layers, 64 tokens of
    2 heads of 16 floats each."""
    shown = run("analyze", out, "--price", "--format", "html").stdout
    plan = next(b["data"] for b in pages.blocks(shown) if b.get("picture") == "plan")
    tones = [s["label"] for s in plan["series"]]
    kept = [(b["from"], b["to"], b["size"]) for b in plan["boxes"] if tones[b["series"]] == "kept from call to call"]
    expect(kept == [(0, len(plan["sums"]), 64 * 2 * 16 * 4)] * 4, "picture", "what is kept", kept)
    expect(len(plan["boxes"]) == 100, "picture", "the largest alone", len(plan["boxes"]))


def check_threads(out):
    """More threads are proposed with what was asked of the phase. Whether they are proposed is the clock's to say: on
    a busy machine this model's delegated operators are less than a hundredth of its time (unit.fixes has times)."""
    first = run_folders.report(out)
    asked = {"prefill 16": " --prefill 16 --threads 1,", "decode @0": " --decode 4@0 --threads 1,",
             "decode @32": " --decode 4@32 --threads 1,"}
    for d in [first] + [p["document"] for p in first["phases"][1:]]:
        recipes = [f["recipe"] for f in d["next_fixes"] if "--threads" in f["recipe"]]
        expect(all(asked[d["phase"]] in r for r in recipes), d["phase"], "says how to measure more threads", recipes)


def check_no_cache(tmp):
    """A decoder that says it keeps no cache: its use_sdpa_with_kv_cache (false) takes the name of the other."""
    model = renamed(tmp, (b"use_kv_cache", b"use_xx_cache"), (b"use_sdpa_with_kv_cache", b"use_kv_cache"))
    said = "method forward keeps no cache (use_kv_cache is false), so that no token can follow another call"
    refused(said, "--decode", "4", model=model)
    refused(said, "--prefill", "64", model=model)  # two calls of 63 at most
    refused("prefill of at most 63 tokens", "--prefill", "8", "--decode", "1", model=model)


def last_logits(out):
    """Of each arm, by its name, in the session OUT."""
    logits = {}
    for path in glob.glob(os.path.join(out, "*", "outputs", "output-0.bin")):
        with open(path, "rb") as f:
            logits[os.path.basename(os.path.dirname(os.path.dirname(path)))] = struct.unpack("<64f", f.read())
    return logits


def renamed(tmp, *pairs):
    """The decoder with other names of its constant methods: strings of FlatBuffers, which have room for padding."""
    def text(name, room):
        return struct.pack("<I", len(name)) + name + bytes((room + 4 & ~3) - len(name))

    with open(DECODER, "rb") as f:
        program = f.read()
    changed = program
    for old, new in pairs:
        was = text(old, len(old))
        expect(program.count(was) == 1 and len(new) < len(old) + 4 & ~3, old, "can be renamed", new)
        at = program.index(was)
        changed = changed[:at] + text(new, len(old)) + changed[at + len(was):]
    model = os.path.join(tmp, "renamed%d.pte" % len(os.listdir(tmp)))
    with open(model, "wb") as f:
        f.write(changed)
    return model


def check_limits(tmp):
    """What constant methods say is held to, and what they do not say: its get_max_seq_len and get_max_context_len are
    64, its get_n_layers is 2, its use_sdpa_with_kv_cache false."""
    seq, context, layers = b"get_max_seq_len", b"get_max_context_len", b"get_n_layers"
    nobody = b"get_max_xxxxxxx_len"
    refused("1 tokens from position 64 are past the cache, which has room for 64", "--decode", "1@64",
            model=renamed(tmp, (context, nobody)))  # where only that is said, a cache is as long as a call
    refused("takes 63 tokens a call, no fewer and no more (static shape)", "--decode", "1",
            model=renamed(tmp, (b"enable_dynamic_shape", b"use_sdpa_with_kv_cache"),
                          (b"use_sdpa_with_kv_cache", b"enable_dynamic_shape")))
    out = os.path.join(tmp, "chunks")
    short = ["--blocks", "1", "--warmup", "1", "--iterations", "2", "--no-trace", "--kernels", "never", "--out", out]
    ended(run("ab", renamed(tmp, (seq, layers), (layers, seq)), "--prefill", "5", *short), 0, 3)
    names = [p["name"] for p in run_folders.manifest(out)["plan"]["phases"]]
    expect(names == ["prefill 2", "prefill 2 @2", "prefill 1 @4"], "get_max_seq_len 2", "is a call's length", names)
    shutil.rmtree(out)
    unbounded = renamed(tmp, (context, nobody), (seq, b"get_xxx_seq_len"))
    done = run("ab", unbounded, "--decode", "4@62", *short)
    expect(done.returncode not in (0, 3) and "does not tell how many tokens its cache holds (get_max_context_len), so "
           "a position may be past it" in done.stderr, "without limits", done.stderr[-500:])


def check_places(tmp):
    """A place of a text has the same token however it is fed: the logits after 20 tokens of one call are those of four
    calls of one token after 16. A prompt's chunk that is a prompt, too, is one phase. Another seed is another text."""
    def session(seed, *words):
        out = os.path.join(tmp, f"places{seed}")
        done = run("ab", DECODER, *words, "--blocks", "2", "--warmup", "1", "--iterations", "2", "--seed", seed,
                   "--no-trace", "--kernels", "never", "--out", out)
        expect(done.returncode in (0, 3), "ab", "measures", done.stderr[-500:])
        return out

    def apart(a, b):
        return max(abs(x - y) for x, y in zip(a, b))

    out = session("5", "--prefill", "20,63,64", "--decode", "4@16")
    names = [p["name"] for p in run_folders.manifest(out)["plan"]["phases"]]
    expect(names == ["prefill 20", "prefill 63", "prefill 1 @63", "decode @16"], "phases", names)
    logits = last_logits(out)
    for arm, whole in logits.items():
        if arm.endswith("_prefill20"):
            alone = logits[arm.replace("_prefill20", "_decode16")]
            expect(apart(whole, alone) < 1e-4 and max(map(abs, whole)) > 0.1, arm, "the same token at places 16 to 19",
                   whole[:4], alone[:4])
    expect(len(logits) >= 8, "outputs of every arm", sorted(logits))
    for arm, other in last_logits(session("6", "--prefill", "20")).items():
        expect(apart(other, logits[arm]) > 0.01, arm, "reads another text with another seed", other[:4])


def check_static(tmp):
    """The decoder as if exported for calls of 63 tokens alone: the first input's shape_dynamism becomes static. By
    ExecuTorch's schema: Program.execution_plan is field 1, ExecutionPlan.values 2 and inputs 3, EValue.val 1,
    Tensor.shape_dynamism 8."""
    with open(DECODER, "rb") as f:
        program = bytearray(f.read())

    def number(at):
        return struct.unpack_from("<I", program, at)[0]

    def field(table, index):
        vtable = table - struct.unpack_from("<i", program, table)[0]
        at = struct.unpack_from("<H", program, vtable + 4 + 2 * index)[0]
        return table + at if at else None

    def follow(at):
        return at + number(at)

    def item(vector, index):
        return vector + 4 + 4 * index

    plan = follow(item(follow(field(follow(0), 1)), 0))
    first = number(item(follow(field(plan, 3)), 0))
    tensor = follow(field(follow(item(follow(field(plan, 2)), first)), 1))
    expect(program[field(tensor, 8)] == 1, "the decoder's tokens", "have a bound")
    program[field(tensor, 8)] = 0
    model = os.path.join(tmp, "static.pte")
    with open(model, "wb") as f:
        f.write(program)
    said = "method forward takes 63 tokens a call, no fewer and no more (static shape)"
    refused(said + ": it cannot take one token after another", "--decode", "1", model=model)
    refused(said + ": it cannot take one token after another", "--decode", "63", model=model)
    refused(said + ": give a multiple of that", "--prefill", "8", model=model)


def check_one_length(tmp):
    """A program exported for one token a call takes a prompt and decodes with that length, at the same places."""
    model = os.path.join(DATA, "fixes", "decode_token.pte")  # a cache of 16
    out = os.path.join(tmp, "one")
    done = run("ab", model, "--prefill", "4,12", "--decode", "4@0,8", "--blocks", "2", "--warmup", "1",
               "--iterations", "4", "--no-trace", "--kernels", "never", "--out", out)
    expect(done.returncode in (0, 3), "one token a call", "is measured", done.stderr[-500:])
    found = [(p["name"], p["tokens"], p["calls"]) for p in run_folders.manifest(out)["plan"]["phases"]]
    expect(found == [("prefill 4", 1, 4), ("prefill 12", 1, 12), ("decode @0", 1, 4), ("decode @8", 1, 4)],
           "one token a call", "is what each phase has", found)
    logits = last_logits(out)
    for arm in [a for a in logits if a.endswith(("_prefill4", "_prefill12"))]:
        again = logits[arm.replace("_prefill4", "_decode0").replace("_prefill12", "_decode8")]
        expect(logits[arm] == again and max(map(abs, again)) > 0.01, arm, "answers at one place the same", again[:4])
    expect(len(logits) == 8, "outputs of every arm", sorted(logits))
    refused("past the cache, which has room for 16", "--prefill", "17", model=model)
    refused("past the cache, which has room for 16", "--decode", "4@13", model=model)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        out = measure(tmp)
        check_folder(out)
        check_documents(out)
        check_work(out, (0, 0, 32))
        check_threads(out)
    refused("'0' is not a number from 1", "--prefill", "0")
    refused("past the cache, which has room for 64", "--prefill", "65")
    refused("past the cache, which has room for 64; give fewer, or export with --context 65", "--decode", "8@57")
    refused("is not a number from 1 to 100000", "--decode", "1000000000")
    refused("N or N@D,..., not '@3'", "--decode", "@3")
    refused("N or N@D,..., not '4@'", "--decode", "4@")
    refused("one number of tokens, and several depths: N@D,...", "--decode", "4,5@3")
    refused("'x' is not a number from 0", "--decode", "4@0,x")
    refused("no method forward to give tokens to (those that take inputs are encode, step): choose one with --method",
            "--decode", "1", model=os.path.join(DATA, "llm", "pipeline.pte"))
    refused("not a text decoder", "--decode", "1", model=os.path.join(DATA, "linear_xnnpack_fp32.pte"))
    with tempfile.TemporaryDirectory() as tmp:
        check_not_asked(tmp)
        check_no_cache(tmp)
        check_limits(tmp)
        check_static(tmp)
        check_one_length(tmp)
        check_places(tmp)
        check_kernels_ours(tmp)
        check_advice(tmp)
    finish()


main()
