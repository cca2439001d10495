# SPDX-License-Identifier: Apache-2.0
"""test_delegates.py ETPROF: what other backends' recordings say. Expected figures are the times that dumps.py chose."""
import csv
import json
import pathlib
import shutil
import sys
import tempfile

import dumps
import etdump

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish  # noqa: E402

MS = 1_000_000
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
TMP = pathlib.Path(tempfile.mkdtemp())


def run(*words):
    done = execute(ETPROF, *words, cwd=TMP)
    return done.returncode, done.stdout, done.stderr


def ends(code, *words, says=""):
    """What WORDS print, which end with CODE and say SAYS."""
    found, out, err = run(*words)
    expect(found == code and says in out + err, *words, f"exit {found}, not {code}", f"says '{says}'", out[-900:], err)
    return out


def asked(*words):
    return json.loads(run(*words, "--format", "json")[1])


def made(name):
    path = TMP / f"{name}.etdump"
    etdump.write(path, dumps.ALL[name]())
    return path


def ops(name, *more):
    code, out, err = run("ops", made(name), "--format", "json", *more)
    expect(code == 0, name, "ops", code, err)
    return json.loads(out) if code == 0 else {"operators": [], "spans": [], "damaged": [], "totals": {}}


def rests(doc, whole=False):
    """What calls hide beside operators in them; WHOLE: the calls that logged none."""
    parts = {(o["block"], o["instruction"]) for o in doc["operators"] if o["name"] != "DELEGATE_CALL"}
    return [o["ns"]["mean"] for o in doc["operators"] if o["name"] == "DELEGATE_CALL" and
            ((o["block"], o["instruction"]) in parts) != whole]


def means(doc):
    found = {o["name"]: o["ns"]["mean"] for o in doc["operators"] if o["name"] != "DELEGATE_CALL"}
    for ns in rests(doc, True):
        found["DELEGATE_CALL"] = ns
    return found


def spans(doc, kind):
    return {s["name"]: s for s in doc["spans"] if s["kind"] == kind}


def silence():
    doc = ops("silent")
    expect(means(doc) == {"DELEGATE_CALL": 5_000_000, "native_call_softmax.out": 79_000}, "silent", means(doc))
    expect([o["delegated"] for o in doc["operators"]] == [True, False], "silent: delegated")
    code, out, err = run("analyze", TMP / "silent.etdump", "--full")
    expect(code == 0 and "inside the delegate, not logged" in out, "silent: analyze", code, out, err)
    expect("without any delegate" not in out and "--backend xnnpack" not in out, "silent: advice", out)
    # 5.0 of 5.14 ms, which have a name of their own: no category is known of them
    ends(1, "gate", TMP / "silent.etdump", "share Not logged <= 50 %", says="97.3")
    code, out, err = run("whatif", TMP / "silent.etdump", "drop Not*", "--format", "json")
    expect(code == 0 and abs(json.loads(out)["speedup"]["estimate"] - 5140 / 140) < 1e-3, "silent: whatif", out, err)


    # Nobody knows how much of the 5.0 ms multiplies matrices: neither little nor much.
    for rule in ("share Other <= 50 %", "share GEMM <= 50 %", "share GEMM >= 50 %", "category(\"GEMM\").ns <= 1 ms"):
        code, out, err = run("gate", TMP / "silent.etdump", rule)
        expect(code == 3 and "more blocks" not in out + err, "silent: gate", rule, code, out, err)
    ends(0, "gate", TMP / "silent.etdump", "share GEMM <= 98 %")
    _, out, err = run("convert", TMP / "silent.etdump", "--to", "folded")
    expect("Not logged;inside the delegate, not logged 20000000" in out, "silent: folded", out, err)
    doc = ops("half_silent")
    expect(means(doc) == {"Convolution (NHWC, F32) IGEMM #1": 998_000, "native_call_relu.out": 100_000,
                          "DELEGATE_CALL": 3_600_000}, "half_silent", means(doc))
    for name in ("calls_too_long", "all_zero"):  # nothing of an inference is told
        ends(3, "gate", made(name), "share Other <= 50 %")
    # The whole alone; of a call of 4.9 ms one span of 30 us by a delegate that nobody knows.
    call = dumps.call("DELEGATE_CALL", 1000, 4_901_000)
    little, xnnpack = ([dumps.delegate(n, 2000, 32_000), call] for n in ("step 1", "Softmax (NC, F32) #1"))
    for name, inside in (("whole", []), ("little", little), ("xnnpack", xnnpack)):
        etdump.write(TMP / f"{name}.etdump", dumps.executions(inside, 5 * dumps.MS))
        ends(3, "gate", TMP / f"{name}.etdump", "share GEMM <= 5 %")
        said = run("analyze", TMP / f"{name}.etdump", "--format", "json")[1]
        told = "4.870 ms inside calls of delegates have no event with a time, 30.00" in said
        expect(told == bool(inside), name, "not logged", said[:900])
        said = run("ops", TMP / f"{name}.etdump", "--format", "md")[1]
        expect(("4.870 ms inside calls of delegates have no event with a time, 30.00" if inside else
                "none was recorded") in said, name, said[:900])
        doc = asked("ops", TMP / f"{name}.etdump")
        expect(rests(doc) == [4_870_000] * bool(inside), name, "the rest", doc["operators"])
        expect(doc["totals"]["remainder_ns"] == 4 * (100_000 if inside else 5_000_000), name, doc["totals"])
        code, out, err = run("gate", TMP / f"{name}.etdump", "share Not logged <= 97.5 %")
        expect(code == (0 if inside else 3), name, "gate not logged", code, out, err)
    # A call of XNNPACK that sets up for 0.2 ms beside operators of 1.2 ms; one that hides 1 ms beside them.
    for name, end, hidden in (("most", 1_402_000, []), ("half", 2_202_000, [1_000_000])):
        etdump.write(TMP / f"{name}.etdump", dumps.executions(
            [dumps.delegate("Softmax (NC, F32) #1", 2000, 1_202_000), dumps.call("DELEGATE_CALL", 1000, end - 1000)],
            5 * dumps.MS))
        doc = asked("ops", TMP / f"{name}.etdump")
        expect(rests(doc) == hidden, name, doc)
        expect(run("gate", TMP / f"{name}.etdump", "share GEMM <= 5 %")[0] == 3 * bool(hidden), f"{name}: gate")
    # Of 900 us of a span that holds others they have 100: the rest is of no known category, 16 % of 5 ms.
    etdump.write(TMP / "held.etdump", dumps.executions(
        [dumps.delegate("VGF_COPY_INPUTS", 3000, 103_000), dumps.delegate("VGF_EXECUTE", 2000, 902_000),
         dumps.call("DELEGATE_CALL", 1000, 903_000)], 5 * dumps.MS))
    for rule, code in (("share GEMM <= 5 %", 3), ("share GEMM <= 17 %", 0)):
        expect(run("gate", TMP / "held.etdump", rule)[0] == code, "held: gate", rule)


def not_understood():
    """Names of a backend that nobody knows: any category may have what its operators took, 700 of 1020 us."""
    inside = [dumps.delegate(f"conv2d_f32_{i}", 30_000 + i * 150_000, 170_000 + i * 150_000) for i in range(5)]
    etdump.write(TMP / "nobody.etdump", dumps.executions(
        [*inside, dumps.call("DELEGATE_CALL", 25_000, 780_000),
         dumps.call("native_call_relu.out", 790_000, 990_000, 1), dumps.call("OPERATOR_CALL", 789_000, 991_000, 1)],
        1_020_000))
    for rule, code in (("category(\"Convolution\").ns <= 0.2 ms", 3),
                       ("category(\"Convolution\").ns <= 0.8 ms", 0),
                       ("share Activation <= 30 %", 3), ("share Activation >= 19 %", 0),
                       ("share Activation <= 95 %", 0),
                       ("share Other <= 50 %", 1)):
        found, out, err = run("gate", TMP / "nobody.etdump", rule)
        expect(found == code, "not understood", rule, found, out, err)
    told = asked("analyze", TMP / "nobody.etdump")["categories"]
    arms = {c["category"]: c["arms"]["nobody"] for c in told}
    expect(abs(arms["Activation"]["share"] - 200 / 1020) < 1e-3 and
           abs(arms["Activation"]["share_most"] - (200 + 755) / 1020) < 1e-3, "not understood: most", arms)
    # Those of Vulkan are the beginnings of its shaders' names.
    shaders = {"binary_add_texture3d_half": "Elementwise", "unary_op_half": "Elementwise",
               "softmax_half": "Normalization", "q8ta_conv2d_dw": "Convolution",
               "conv2d_pw_s1p0_half": "Convolution", "addmm_optimized_half": "GEMM",
               "conv_transpose2d_half": "Convolution", "matmul_naive_texture3d": "GEMM",
               "permute_half": "Data movement",
               "nchw_to_image_texture3d_half": "Data movement", "copy_offset_half": "Data movement"}
    etdump.write(TMP / "shaders.etdump", dumps.executions(
        [*(dumps.delegate(f'{{"kernel_name": "{n}", "dispatch_id": {i}}}', 30_000 + i * 10_000, 40_000 + i * 10_000)
           for i, n in enumerate(shaders)), dumps.call("DELEGATE_CALL", 25_000, 180_000)], 200_000))
    doc = asked("ops", TMP / "shaders.etdump")
    found = {n: o["category"] for o in doc["operators"] for n in shaders if f'"{n}"' in o["name"]}
    expect(found == shaders, "shaders", found)


def timed(name, *executions):
    """Executions of two kernels, each of (us of the first, us of the second)."""
    runs = [dumps.inference((500 + 20 * i) * MS, (a + b + 10) * 1000, [
        dumps.call("native_call_relu.out", 2000, 2000 + a * 1000), dumps.call("OPERATOR_CALL", 1500, 2500 + a * 1000),
        dumps.call("native_call_tanh.out", 4000 + a * 1000, 4000 + (a + b) * 1000, 1),
        dumps.call("OPERATOR_CALL", 3500 + a * 1000, 4500 + (a + b) * 1000, 1)]) for i, (a, b) in enumerate(executions)]
    return etdump.write(TMP / f"{name}.etdump", runs)


def durations():
    """What several durations are is told as far as it is seen; a gate says what all executions answer alike."""
    two = timed("two", *[(90, 30), (190, 30)] * 12)
    equal = timed("equal", *[(100, 900), (900, 100)] * 6)
    alone = timed("alone", *[(60, 30)] * 20, (6000, 3000))
    prompt = timed("prompt", (88, 250), *[(3, 60)] * 5)
    said = {}
    for path in (two, equal, alone, prompt):
        doc = asked("analyze", path)
        said[path.stem] = {f["kind"]: f["text"] for f in doc["findings"]}
    expect("12 near 130.0" in said["two"].get("several_lengths", "") and
           "12 near 230.0" in said["two"]["several_lengths"] and
           "does not tell why (method, input length, a slower clock)" in said["two"]["several_lengths"], said["two"])
    expect("take equally long (6 near 1.010 ms and 6 near 1.010 ms)" in said["equal"].get("several_lengths", ""),
           said["equal"])
    expect("1 of 21 executions took more than twice their median, up to 9.010 ms, and is left out" in
           said["alone"].get("left_out", ""), said["alone"])
    expect("1 of 6 executions" in said["prompt"].get("left_out", ""), said["prompt"])
    expect("left_out" not in said["two"], said["two"])
    for path, rule, code in ((two, "op1.ns <= 0.2 ms", 0), (two, "op1.ns <= 0.1 ms", 3), (two, "op1.ns <= 0.05 ms", 1),
                             (two, "op2.ns <= 0.04 ms", 0), (equal, "op1.ns <= 1 ms", 0),
                             (equal, "op1.ns <= 0.5 ms", 3),
                             (two, "category(\"Activation\").ns <= 0.3 ms", 0),
                             (two, "category(\"Activation\").ns <= 0.2 ms", 3),
                             (alone, "op1.ns <= 1 ms", 3), (alone, "op1.ns <= 7 ms", 0),
                             (alone, "op1.ns <= 0.01 ms", 1),
                             (alone, "category(\"Activation\").ns <= 1 ms", 3), (prompt, "op1.ns <= 0.01 ms", 3),
                             (prompt, "op1.ns <= 0.1 ms", 0)):
        found, out, err = run("gate", path, rule)
        expect(found == code, "durations", path.stem, rule, found, out, err)
    noticed = asked("gate", alone, "op1.ns <= 7 ms").get("noticed", [])
    expect(any("left out" in n for n in noticed), "durations: noticed", noticed)
    # A pattern of a category that does not occur is one of names.
    nobody = etdump.write(TMP / "names.etdump", dumps.executions(
        [dumps.delegate("conv2d_f32_0", 30_000, 530_000), dumps.call("DELEGATE_CALL", 25_000, 535_000)], 600_000))
    code, out, err = run("whatif", nobody, "drop conv*", "--format", "json")
    expect(code == 0 and abs(json.loads(out)["speedup"]["estimate"] - 6) < 1e-3, "durations: whatif", code, out, err)


def nesting():
    doc = ops("vulkan")
    shaders = [n for n in means(doc) if "dispatch_id" in n]
    expect(len(shaders) == 2 and [means(doc)[n] for n in shaders] == [800_000, 600_000], "vulkan: shaders", means(doc))
    expect(set(spans(doc, "whole")) == {"ETVK_EXECUTE", "ETVK_COMPUTE_GRAPH_EXECUTE"}, "vulkan: wholes", doc["spans"])
    expect(means(doc)["ETVK_COPY_INPUTS"] == 100_000, "vulkan: copies", means(doc))
    expect([o["category"] for o in doc["operators"]] ==
           ["Data movement", "Convolution", "GEMM", "Data movement", "Not logged"], "vulkan: families",
           [o["category"] for o in doc["operators"]])
    doc = ops("core_ml")
    expect([(o["name"], o["category"]) for o in doc["operators"]] ==
           [("conv_7_cast_fp16:ios17.conv", "Convolution"), ("softmax_0:ios18.softmax", "Normalization"),
            ("%linear_2", "Other"), ("DELEGATE_CALL", "Not logged")], "core_ml",
           [(o["name"], o["category"]) for o in doc["operators"]])
    expect(means(doc)["softmax_0:ios18.softmax"] == 70_000, "core_ml: times", means(doc))
    # two shaders that ran side by side: 3.4 ms of 1.8
    doc = ops("vulkan_overlap")
    expect(set(means(doc)) == {"ETVK_COPY_INPUTS", "ETVK_COMPUTE_GRAPH_EXECUTE", "ETVK_COPY_OUTPUTS"},
           "overlap", means(doc))
    expect({s["apart"] for s in spans(doc, "apart").values()} == {"sum"}, "overlap: apart", doc["spans"])
    doc = ops("unknown_nested")
    expect(means(doc) == {"inner a": 200_000, "inner b": 500_000, "after": 50_000}, "nested", means(doc))
    expect(spans(doc, "whole")["outer"]["total_ns"] == 4 * 810_000, "nested: outer", doc["spans"])
    # 950 µs of the call, 750 of them told, 110 in "outer" beside what is in it; 60 µs around it, four times
    expect(rests(doc) == [90_000], "nested: the rest", doc["operators"])
    _, out, err = run("convert", TMP / "unknown_nested.etdump", "--to", "folded")
    expect("not logged 360000" in out and "delegate boundary 440000" in out and "framework 240000" in out,
           "nested: folded", out, err)
    doc = ops("clock_between")
    expect(means(doc) == {"ETVK_COMPUTE_GRAPH_EXECUTE": 800_000}, "another clock between", means(doc))
    expect(set(spans(doc, "whole")) == {"ETVK_EXECUTE"} and set(spans(doc, "apart")) == {"matmul"},
           "another clock between: spans", doc["spans"])


def loading():
    doc = ops("at_load")
    expect(set(means(doc)) == {"VGF_COPY_INPUTS", "VGF_DISPATCH"}, "load", means(doc))
    expect(set(spans(doc, "load")) == {"VGF_INIT_ENSURE_INITIALIZED", "VGF_DIAGNOSTICS_CAPABILITIES",
                                       "VGF_INIT_TOTAL"}, "load: spans", doc["spans"])
    share = spans(doc, "whole")["VGF_EXECUTE"]["share"]
    expect(abs(share - 1_980 / 2_010) < 1e-5, "load: execute", share)


    # The inference, 74 µs, has but the 55 that it spends in the delegate, whose call takes 70.
    for name in (n for n in dumps.ALL if n.startswith("beside_")):
        doc = ops(name)
        expect(set(means(doc).values()) == {55_000} and len(doc["spans"]) == 1, name, doc["operators"], doc["spans"])
        span = doc["spans"][0] if doc["spans"] else {}
        total = 1_200_000 if name.endswith("True") else 300_000
        expect(span.get("kind") == "load" and span.get("share") is None and span.get("total_ns") == total,
               name, doc["spans"])
        expect(doc["totals"]["remainder_ns"] == 4 * 4_000 and set(rests(doc)) == {15_000}, name, doc["totals"])
        expect("several" not in run("analyze", TMP / f"{name}.etdump", "--format", "json")[1], name, "methods")
    doc = ops("set_up")
    expect(means(doc) == {"work": 55_000} and set(spans(doc, "load")) == {"compile", "upload"}, "set up", doc["spans"])


def clocks():
    for name in ("from_zero", "microseconds", "unknown_from_zero", "beyond_the_call"):
        doc = ops(name)
        expect(means(doc) == {"DELEGATE_CALL": 5_990_000}, name, means(doc))
        apart = spans(doc, "apart")
        expect(len(apart) >= 2 and all(s["total_ns"] is None for s in apart.values()), name, "apart", doc["spans"])
        expect(abs(sum(s["share"] for s in apart.values()) - 1) < 1e-5, name, "shares", doc["spans"])
    doc = ops("wrapped", "--delegate-unit", "ns")
    expect(means(doc) == {"0": 400_000, "1": 600_000}, "wrapped", means(doc))
    # Microseconds of another origin are no nanoseconds: 5.4 of 5.99 ms, not 5.4 µs.
    doc = ops("late_counter", "--delegate-unit", "us")
    expect(means(doc) == {"k1": 5_400_000, "k2": 500_000}, "late_counter", means(doc))
    doc = ops("late_counter")
    apart = {s["apart"] for s in doc["spans"]}
    expect(set(means(doc)) == {"DELEGATE_CALL"} and apart == {"clock"}, "late_counter", doc)
    # 1.0 of 1.4 ms, as the Inspector has it: no other unit is as near.
    expect(means(ops("wrapped")) == {"0": 400_000, "1": 600_000}, "wrapped", ops("wrapped"))
    # Each unit has a sum of its own, and the one that is told is not that of the other.
    wanted = {"conv:OpId_1": 0.828, "relu:OpId_2": 0.172, "conv:OpId_1 (cycles)": 0.75, "relu:OpId_2 (cycles)": 0.25}
    found = {n: round(s["share"], 3) for n, s in spans(ops("both_units"), "apart").items()}
    expect(found == wanted, "both_units", found)
    for unit, named in (("us", {"conv:OpId_1": 4_800_000, "relu:OpId_2": 1_000_000}),
                        ("cycles:1e9", {"conv:OpId_1 (cycles)": 3_000_000, "relu:OpId_2 (cycles)": 1_000_000})):
        doc = ops("both_units", "--delegate-unit", unit)
        expect(means(doc) == named and {s["apart"] for s in doc["spans"]} == {"clock"}, "both_units", unit, doc)
    expect(means(ops("early")) == {"a": 291_000, "b": 600_000}, "early", ops("early"))
    # A clock counts nanoseconds if it went on as the runtime's did, which one execution cannot tell.
    for name, told in (("own_rate", {"DELEGATE_CALL": 960_000}), ("own_rate_once", {"DELEGATE_CALL": 960_000}),
                       ("own_rate_ns", {"blob": 500_000, "blub": 200_000})):
        doc = ops(name)
        expect(means(doc) == told and {s["apart"] for s in doc["spans"]} <= {"clock"}, name, doc)
    # Whatever the order of the log: b lies in a.
    doc = ops("whole_first")
    expect(means(doc) == {"b": 400_000} and set(spans(doc, "whole")) == {"a"}, "whole_first", doc)
    doc = ops("logged_first")
    expect(means(doc) == {"ETVK_COPY_INPUTS": 100_000, "ETVK_COPY_OUTPUTS": 50_000, "conv2d_dw_float": 380_000,
                          "linear_naive": 350_000} and set(spans(doc, "whole")) == {"ETVK_COMPUTE_GRAPH_EXECUTE"} and
           rests(doc) == [20_000], "logged_first", doc)
    # What the runtime logs lies in its whole and one behind the other, or tells nothing; once, the clock jumped.
    for name, told, apart in (("kernel_outside", {"OPERATOR_CALL": 900_000}, 1), ("kernels_cross", {}, 4),
                              ("kernels_cross_call", {}, 2)):
        doc = ops(name)
        expect(means(doc) == told and [s["apart"] for s in doc["spans"]] == ["sum"] * apart, name, doc)
    doc = ops("kernels_cross_once")
    expect(means(doc) == {"native_call_add.out": 396_000, "native_call_mul.out": 298_000} and not doc["spans"] and
           [(d["run"], d["crosses"]) for d in doc["damaged"]] == [(4, True)], "kernels_cross_once", doc)
    # What crosses while it is set up makes no sum of the other executions wrong.
    doc = ops("lazy_crossing")
    expect(means(doc) == {"a": 400_000, "b": 300_000} and [d["run"] for d in doc["damaged"]] == [1] and
           doc["totals"]["executions"] == 5, "lazy_crossing", doc)
    ends(0, "validate", TMP / "lazy_crossing.etdump")
    # Spans that cross are not added up, be they shorter than their call.
    for name, ns, n in (("crossing", 950_000, 2), ("around_the_call", 950_000, 1),
                        ("crosses_later", 950_000, 2), ("half_outside", 800_000, 2), ("outside_end", 800_000, 2),
                        ("across_a_call", 350_000, 1)):
        doc = ops(name)
        apart = [s["apart"] for s in doc["spans"]]
        expect(means(doc) == {"DELEGATE_CALL": ns} and apart == ["sum"] * n and not doc["damaged"], name, doc)
    # 5,400 ticks are no 5.4 µs of a call of 5.99 ms; where they are told to be microseconds they are its most.
    for name, apart, unit in (("wraps_within", "clock", 5_400_000), ("back_always", "ticks", None)):
        doc = ops(name)
        expect(means(doc) == {"DELEGATE_CALL": 5_990_000} and [s["apart"] for s in doc["spans"]] == [apart] and
               not doc["damaged"], name, doc)
        expect(means(ops(name, "--delegate-unit", "us")).get("k1") == unit, name, "us")
    for more in ((), ("--delegate-unit", "us")):
        doc = ops("two_units", *more)
        expect(means(doc) == {"k2": 400_000} and rests(doc) == [5_590_000] and
               [(s["name"], s["apart"]) for s in doc["spans"]] == [("k1", "ticks")], "two_units", more, doc)
    said = run("analyze", TMP / "two_units.etdump", "--format", "md")[1].replace("\n", " ")
    expect("in two units by turns" in said, "two_units: analyze", said[:900])
    doc = ops("host_wraps")
    expect(means(doc) == {"Add (ND, F32) #1": 88_000} and doc["totals"]["execute_ns"] == 5 * 150_000, "host_wraps", doc)
    doc = ops("side_by_side")
    expect(means(doc) == {"DELEGATE_CALL": 2_010_000}, "side_by_side", means(doc))
    expect({n: round(s["share"], 3) for n, s in spans(doc, "apart").items()} ==
           {"a": 0.346, "b": 0.33, "c": 0.323}, "side_by_side", doc["spans"])


def places():
    """What crosses, and where it lies."""
    # In few executions of many, whichever these are, they leave the others as they were.
    for name, at in (("lazy_crossing_late", 6), *((f"crosses_in_{i}", i + 1) for i in range(5))):
        doc = ops(name)
        expect(means(doc) == {"a": 400_000, "b": 300_000} and [d["run"] for d in doc["damaged"]] == [at], name, doc)
    for kind in ("elsewhere", "beyond"):
        for i in range(5):
            doc = ops(f"{kind}_in_{i}")
            left_out = [d["run"] for d in doc["damaged"]]
            expect(means(doc) == {"a": 400_000, "b": 300_000} and left_out == [i + 1], kind, i, doc)
    # What holds them has its time, but nobody knows of which category that is.
    doc = ops("across_in_whole")
    expect(means(doc) == {"P": 490_000} and len(spans(doc, "apart")) == 3, "across_in_whole", doc)
    ends(3, "gate", TMP / "across_in_whole.etdump", 'category("Convolution").ns <= 0.1 ms')
    doc = ops("no_length_in_leaf")
    expect(means(doc) == {"a": 80_000, "b": 0, "c": 380_000} and not doc["spans"], "no_length_in_leaf", doc)
    doc = ops("no_length_in_whole")
    expect(means(doc) == {"a": 80_000, "b": 0} and set(spans(doc, "whole")) == {"c"}, "no_length_in_whole", doc)
    doc = ops("ends_alike")
    expect(means(doc) == {"a": 180_000, "c": 200_000} and set(spans(doc, "whole")) == {"b"}, "ends_alike", doc)
    doc = ops("ages")
    expect(means(doc) == {"DELEGATE_CALL": 500_000} and [s["apart"] for s in doc["spans"]] == ["ticks"] and
           not doc["damaged"], "ages", doc)


def order():
    """In whatever order they are logged, events lie where their times say."""
    right = ops("in_order")
    for name in ("by_start", "execute_between", "call_first", "call_last"):
        doc = ops(name)
        expect(means(doc) == means(right) and doc["totals"] == right["totals"] and not doc["spans"], name, doc)
    for i in range(4):
        doc = ops(f"endless_in_{i}")
        expect(means(doc) == means(right) and [d["run"] for d in doc["damaged"]] == [i + 1], "endless", i, doc)
    for i in range(5):  # 290 µs, and once 692
        doc = ops(f"tied_in_{i}")
        expect(means(doc) == {"a": 370_400} and set(spans(doc, "whole")) == {"graph"} and
               sum(o["ns"]["total"] for o in doc["operators"]) == doc["totals"]["operators_ns"], "tied", i, doc)
    doc = ops("behind")
    expect(means(doc) == {"native_call_add.out": 78_000} and
           sorted(s["name"] for s in doc["spans"]) == ["OPERATOR_CALL", "native_call_sub.out"], "behind", doc)


def units():
    # What was told holds, wherever the numbers happen to lie.
    doc = ops("coincides", "--delegate-unit", "us")
    expect(means(doc) == {"a": 80_000, "b": 200_000, "c": 180_000}, "coincides", doc)
    # 5,400 + 290 µs of the call's 5.99 ms
    doc = ops("microseconds", "--delegate-unit", "us")
    expect(sorted(means(doc).values()) == [290_000, 5_400_000], "unit us", means(doc))
    # 5.4 and 2.9 million cycles at 2 GHz
    for verb in ("ops", "analyze"): # names say cycles, or nothing
        said = run(verb, made("from_zero"), "--format", "md")[1].replace("\n", " ")
        expect("--delegate-unit cycles:HZ" in said, verb, "the unit to state", said[-400:])
        said = run(verb, made("unknown_from_zero"), "--format", "md")[1].replace("\n", " ")
        expect("--delegate-unit ns, us or cycles:HZ" in said, verb, "the units to choose from", said[-400:])
    doc = ops("from_zero", "--delegate-unit", "cycles:2e9")
    expect(sorted(means(doc).values()) == [1_450_000, 2_700_000], "unit cycles", means(doc))
    # at 1 GHz they are longer than the call
    doc = ops("from_zero", "--delegate-unit", "cycles:1000000000")
    expect(means(doc) == {"DELEGATE_CALL": 5_990_000}, "unit too slow", means(doc))
    # at 0.5 GHz too, and what is withheld is ticks as recorded
    doc = ops("from_zero", "--delegate-unit", "cycles:5e8")
    expect(sorted(s["total_ticks"] for s in spans(doc, "apart").values()) == [4 * 2_900_000, 4 * 5_400_000],
           "unit too slow: ticks", doc["spans"])
    # 984,000 cycles at 500 MHz are 1.968 ms
    doc = ops("cycles", "--source-unit", "cycles:500e6")
    expect(doc["totals"]["execute_ns"] == 4 * 1_968_000, "source unit", doc["totals"])
    # The Inspector divides by 1,000,000 whatever a tick is: its table is its own, and what it is is said.
    code, table, said = run("ops", made("cycles"), "--format", "inspector")
    expect(code == 0 and "0.984" in table and "cycles" in said, "the Inspector's table", code, said)
    code, _, said = run("ops", made("from_zero"), "--format", "inspector")
    expect(code == 0 and not said, "the Inspector's table of nanoseconds", code, said)
    code, _, said = run("ops", made("cycles"), "--format", "inspector", "--source-unit", "cycles:500e6")
    expect(code == 2 and "leave --source-unit out" in said, "a unit for the Inspector's table", code, said)
    for wrong in ("cycles", "cycles:0", "hours", "cycles:-1", "cycles:nan"):
        ends(2, "ops", made("cycles"), "--source-unit", wrong, says="cycles:HZ")


def damage():
    etdump.write(TMP / "failed.etdump", dumps.failed())
    said = asked("analyze", TMP / "failed.etdump")["findings"]
    expect(any(f["kind"] == "no_execution" and "1 of 5 executions" in f["text"] for f in said), "failed", said)
    doc = ops("jumped")
    expect(doc["blocks"][1]["runs"] == 7 and [d["run"] for d in doc["damaged"]] == [4], "jumped", doc["damaged"])
    expect(means(doc) == {"Convolution (NHWC, F32) IGEMM #1": 35_000}, "jumped: means", means(doc))
    ends(1, "validate", TMP / "jumped.etdump", says="clock")
    # The end of one of ten is 2^32 ns late; first ones that take seconds set up.
    for name, late, runs in (("late_end", (4,), 9), ("slow_first", (0, 1), 10)):
        lengths = [dumps.MS + (i in late) * 2**32 for i in range(10)]
        etdump.write(TMP / f"{name}.etdump", [dumps.inference((1000 + 10_000 * i) * dumps.MS, ns, dumps.gemm(dumps.MS))
                                              for i, ns in enumerate(lengths)])
        doc = asked("ops", TMP / f"{name}.etdump")
        told = doc["totals"]["executions"], [d["run"] for d in doc["damaged"]]
        expect(told == (runs, [4] * (10 - runs)), name, doc)
    doc = ops("jumped_few")
    expect(means(doc) == {"work": 35_000} and [d["run"] for d in doc["damaged"]] == [1, 3], "jumped_few", doc)
    doc = ops("jumped_between")
    expect(doc["totals"].get("execute_ns") == 8 * 100_000 and [d["run"] for d in doc["damaged"]] == [4],
           "jumped_between", doc)
    code, out, err = run("validate", TMP / "jumped_between.etdump")
    expect(code == 1 and "clock" in out + err, "jumped_between: validate", code, out, err)
    expect("1 execution is left out" in run("inspect", TMP / "jumped_between.etdump")[1], "jumped_between: inspect")
    for name in (n for n in dumps.ALL if n.startswith("went_back")):
        doc = ops(name)
        expect([(d["run"], d["ns"]) for d in doc["damaged"]] == [(4, None)], name, doc["damaged"])
        expect(doc["totals"].get("execute_ns") == 7 * 74_000, name, doc["totals"])
        ends(1, "validate", TMP / f"{name}.etdump", says="ends before it starts")


def types():
    """Of recordings alone no name says how the program was exported: its operators do."""
    for name, type_ in (("Fully Connected (NC, F32) GEMM", None), ("Fully Connected (NC, F16) GEMM", "fp16"),
                        ("Fully Connected (NC, PF16) GEMM", "fp16"), ("Convolution (NHWC, QC8) IGEMM", "int8"),
                        ("Fully Connected (NC, QS8, QC8W) GEMM", "int8"),
                        ("Fully Connected (NC, QD8, F32, QC8W) GEMM", "int8-dynamic"),
                        ("Fully Connected (NC, QDU8, F32, QC8W) GEMM", "int8-dynamic"),
                        ("Fully Connected (NC, QP8, F32, QB4W) GEMM", "int4")):
        path = TMP / "typed.etdump"
        etdump.write(path, dumps.around_a_norm(name))
        code, out, err = run("analyze", path, "--format", "json")
        fixes = {f["kind"]: f["command"] for f in json.loads(out)["next_fixes"] if f["command"]}
        wanted = "etprof export MODEL" + (f" --dtype {type_}" if type_ else "") + " --apply layer-norm"
        expect(code == 0 and fixes.get("delegate") == wanted, name, wanted, fixes, err)


def lengths():
    doc = ops("two_lengths")
    expect([b["runs"] for b in doc["blocks"]] == [1, 10, 10], "lengths", doc["blocks"])
    doc = ops("three_lengths")
    expect([b["runs"] for b in doc["blocks"]] == [1, 10, 10, 10], "three lengths", doc["blocks"])
    doc = ops("long_tail")
    expect([b["runs"] for b in doc["blocks"]] == [1, 48], "a long tail", doc["blocks"])
    wanted = {"rare": [1, 58, 2], "rare_one": [1, 59, 1], "rare_fast": [1, 2, 58], "rare_and_two": [1, 58, 60, 2],
              "opposite": [1, 10, 10], "whole_microseconds": [1, 20], "interrupted": [1, 60], "cold": [1, 60],
              "waited": [1, 60], "waited_of_two": [2, 60]}
    # What comes once, at the beginning, is no input of another length.
    wanted |= {"cold_two": [1, 60], "cold_few": [1, 8], "lazy": [1, 1, 11], "lazy_two": [1, 2, 10]}
    for name in ("cold", "cold_two", "cold_few", "lazy", "lazy_two"):
        doc = asked("analyze", made(name))
        expect("several_lengths" not in [f["kind"] for f in doc["findings"]], name, doc["findings"])
        if "lazy" in name:  # 12 ms and 0 to 6 µs
            expect(12 * MS <= doc["arms"][0]["traced_ns"] <= 12 * MS + 6000, name, doc["arms"][0])
            said = run("ops", TMP / f"{name}.etdump", "--format", "md")[1].replace("\n", " ")
            expect("the first executions, of 300.0 ms, set up" in said, name, said[:900])
    for name, runs in wanted.items():
        expect([b["runs"] for b in ops(name)["blocks"]] == runs, name, ops(name)["blocks"])
    # each of its three events had to wait for other programs: no input of another length
    for words in (("analyze", TMP / "waited.etdump"), ("compare", TMP / "waited.etdump", TMP / "rare_one.etdump")):
        code, out, err = run(*words, "--format", "json")
        told = [f["text"] for f in json.loads(out)["findings"] if f["kind"] == "several_lengths"]
        expect(code == 0 and [text[:9] for text in told] == ["rare_one:"] * (len(words) - 2), words, err, told)
    # Inputs of 10 and 200 ms in two mixtures: no input became faster. A cold start alone is no second input.
    mixtures = {"two_two": (10, 200) * 2, "one_three": (200, 10, 200, 200), "nine_three": (10, 10, 200, 10) * 3,
                "three_nine": (200, 10, 200, 200) * 3, "cold_three": (30, 10, 10, 10)}
    for name, times in mixtures.items():
        at = [(1000 + 500 * i, ms * MS + 1000 * i) for i, ms in enumerate(times)]
        etdump.write(TMP / f"{name}.etdump",
                     [dumps.load(), *(dumps.inference(begin * MS, ns, dumps.gemm(ns)) for begin, ns in at)])
    for a, b in (("two_two", "one_three"), ("nine_three", "three_nine"), ("one_three", "two_two")):
        c = asked("compare", TMP / f"{a}.etdump", TMP / f"{b}.etdump")["comparisons"][0]
        expect((c["withheld"], c["speedup"]["estimate"]) == ("several_lengths", None), a, b, c)
    code, out, err = run("compare", TMP / "cold_three.etdump", TMP / "cold_three.etdump", "--format", "json")
    expect(json.loads(out)["comparisons"][0]["speedup"]["estimate"] == 1, "a cold start of four", out[:900])
    # of each of the twelve it is nine tenths; its time is not that of each
    for rule, code in (("share GEMM >= 50 %", 0), ("category(\"GEMM\").ns <= 50 ms", 3)):
        expect(run("gate", TMP / "nine_three.etdump", rule)[0] == code, "nine of twelve: gate", rule)
    # one centre: the ratio of two recordings is that of the times beside it; of three executions the first was cold
    data = pathlib.Path(__file__).resolve().parents[1] / "data"
    code, out, err = run("compare", data / "mixed_xnnpack_fp32.etdump", data / "mixed_xnnpack_fp32_load.etdump",
                         "--format", "json")
    doc = json.loads(out)
    a, b = (arm["traced_ns"] for arm in doc["arms"])
    speedup = doc["comparisons"][0]["speedup"]
    expect(abs(speedup["estimate"] - a / b) < 1e-5 and speedup["method"] == "traced-means", speedup, a / b)
    expect([f["kind"] for f in doc["findings"]][0] == "mean_of_few", doc["findings"][:1])
    # 58 of 12.0 ms and two of 300.0 ms
    for name in ("interrupted", "cold"):
        _, out, _ = run("ops", TMP / f"{name}.etdump", "--format", "md")
        expect("the mean is that of few" in out, name, out[:900])
    code, out, err = run("analyze", TMP / "two_lengths.etdump", "--format", "json")
    arm = json.loads(out)["arms"][0] if code == 0 else {}
    # the ten of 200 ms, of which each is 13 µs longer than the one before
    expect(200_000_000 <= arm.get("traced_ns", 0) <= 200_300_000, "lengths: analyze", code, err, arm.get("traced_ns"))
    expect("10 near 10" in out and "10 near 200" in out, "lengths: both are told", out[:2000])
    # The kit's table is of all: ten of 200 ms, ten of 10 ms, and 13 µs times 0 + 1 + … + 19.
    (TMP / "lengths").mkdir()
    shutil.copy(TMP / "two_lengths.etdump", TMP / "lengths")
    ends(0, "analyze", "lengths/two_lengths.etdump", "--out", "lengths")
    row = next(csv.DictReader((TMP / "lengths/two_lengths_e2e_latency.csv").open()))
    found = [float(row[k]) for k in ("num_runs", "total_ms", "avg_ms", "min_ms", "max_ms")]
    expect(found == [20, 2102.47, 105.1235, 10.013, 200.234], "lengths: end to end", found)
    # Types are of the profile's: no share of its time above the whole.
    for row in csv.DictReader((TMP / "lengths/two_lengths_exec_ops_stats.csv").open()):
        expect(float(row["pct_total"]) <= 100, "lengths: a share", row)
        expect(row["name"] != "Method::execute" or float(row["total_ms"]) < 201, "lengths: a mean", row)
    ends(0, "validate", "lengths")


def methods():
    """Executions of several methods: no mean over them, each share of its own method's time."""
    doc = ops("two_methods")
    blocks = [(b["runs"], b["execute_ns"]) for b in doc["blocks"] if b["execute_ns"] is not None]
    expect(blocks == [(6, 6 * MS), (10, 30 * MS)], "methods: blocks", doc["blocks"])
    _, out, _ = run("ops", TMP / "two_methods.etdump")
    expect("2.25" not in out and "mean of 16" not in out, "methods: a mean of both", out)
    row = next(r for r in out.splitlines() if r.startswith("Convolution"))
    expect("66.6 %" in row, "methods: a share of its own method", row)  # 1,998 of 3,000 µs
    code, out, err = run("analyze", TMP / "two_methods.etdump", "--format", "json")
    arm = json.loads(out)["arms"][0] if code == 0 else {}
    expect(arm.get("traced_ns") == 3 * MS, "methods: analyze", code, err, arm.get("traced_ns"))
    expect("6 near 1.000 ms" in out and "10 near 3.000 ms" in out, "methods: both are told", out[:3000])
    doc = ops("in_turn")
    blocks = sorted((b["runs"], b["execute_ns"]) for b in doc["blocks"] if b["execute_ns"] is not None)
    expect(blocks == [(1, 17 * MS), (14, 14 * 30_000 + 910)], "in turn", doc["blocks"])
    for name, runs in (("reloaded", [6]), ("branches", [4, 4])):
        doc = ops(name)
        found = [b for b in doc["blocks"] if b["execute_ns"] is not None]
        expect([b["runs"] for b in found] == runs and len({b["population"] for b in found}) == 1,
               name, doc["blocks"])
    # 120 + 0.45 ms, of which the delegate logs those of 12 ms alone
    for name, runs in (("logs_once", [1, 9]), ("logs_by_turns", [5, 5])):
        doc = ops(name)
        found = [b for b in doc["blocks"] if b["execute_ns"] is not None]
        expect(sorted(b["runs"] for b in found) == runs and len({b["population"] for b in found}) == 1 and
               doc["totals"]["execute_ns"] == 120_450_000, name, doc["blocks"])
        for verb in ("ops", "analyze"):
            _, out, _ = run(verb, TMP / f"{name}.etdump", "--format", "md")
            said = out.replace("\n", " ")
            expect("some of the executions alone" in said and "methods" not in said, name, verb, out[:900])
    _, out, _ = run("ops", TMP / "branches.etdump")
    expect("2.000 ms, mean of 8 executions" in out, "branches: one method", out)


def symbols():
    doc = ops("symbols")
    kernels = [o.get("kernel") for o in doc["operators"]]
    expect(kernels == ["xnn_f32_gemm_minmax_ukernel_7x16__avx512f_broadcast", None], "symbols", kernels)
    _, out, _ = run("ops", TMP / "symbols.etdump")
    expect("avx512f" in out, "symbols: text", out)


def findings():
    """What is noticed of a recording, and of which nothing is."""
    kinds = {"jumped": {"clock_damaged"}, "from_zero": {"own_clock"}, "vulkan_overlap": {"parts_exceed_whole"},
             "tensors": {"tensors_logged"}, "two_lengths": {"several_lengths"}, "outputs": set(), "vulkan": set(),
             "silent": set(), "two_methods": {"several_lengths"}, "in_turn": {"several_lengths"},
             "reloaded": set(), "branches": set(), "logs_once": {"partly_logged"},
             "at_load": set(), "crossing": {"parts_exceed_whole"}, "late_counter": {"own_clock"},
             "jumped_between": {"clock_damaged"}, "method_only": set()}
    for name, wanted in kinds.items():
        code, out, err = run("analyze", made(name), "--format", "json")
        found = {f["kind"] for f in json.loads(out)["findings"]} if code == 0 else {err}
        noticed = found & {"clock_damaged", "own_clock", "parts_exceed_whole", "tensors_logged", "several_lengths",
                           "partly_logged"}
        expect(noticed == wanted, name, "findings", sorted(found))
    # 9 of 30 µs with tensors, without a verdict, a ratio or something to do
    code, out, err = run("compare", made("outputs"), made("tensors"), "--format", "json")
    told = json.loads(out)["comparisons"][0] if code == 0 else {}
    given = told.get("speedup", {}).get("estimate", 0), told.get("withheld")
    expect(given == (None, "tensors_logged"), "tensors: compare", told, err)
    # Which of two lengths is the most frequent is chance: 10 ms of one recording are not held against 200 of another.
    code, out, err = run("compare", made("two_lengths"), made("two_lengths"), "--format", "json")
    told = json.loads(out)["comparisons"][0] if code == 0 else {}
    given = told.get("speedup", {}).get("estimate", 0), told.get("withheld")
    expect(given == (None, "several_lengths"), "two_lengths: compare", told, err)
    code, out, _ = run("analyze", made("tensors"), "--format", "json")
    expect(code == 0 and json.loads(out)["next_fixes"] == [], "tensors: fixes", out[:200])
    expect("logged tensors" in run("inspect", made("tensors"))[1], "tensors: inspect")
    for verb, rule in (("gate", "share Other <= 100 %"), ("whatif", "drop *")):
        for name, wanted in (("tensors", "logged tensors"), ("two_lengths", "10 near 200"),
                             ("silent", "5.000 ms inside calls of delegates"), ("vulkan", None)):
            code, out, err = run(verb, made(name), rule, "--format", "json")
            noticed = json.loads(out)["noticed"] if out else [err]
            said = run(verb, made(name), rule, "--format", "md")[1]
            expect(len(noticed) == (wanted is not None), name, verb, noticed)
            expect(wanted is None or (wanted in noticed[0] and wanted in said), name, verb, noticed, said)
            unknown = verb == "gate" and name == "tensors"  # executions of both lengths keep the limit
            expect(code == (3 if unknown else 0), name, verb, code, out, err)


def tables():
    """Tables and logs that people have instead of a recording are named, or read."""
    inspector = TMP / "inspector.tsv"
    code, out, _ = run("ops", made("silent"), "--format", "inspector")
    inspector.write_text(out)
    for verb in (("ops", inspector), ("compare", inspector, inspector), ("analyze", inspector), ("stats", inspector)):
        code, _, err = run(*verb)
        expect(code == 4 and "table of ExecuTorch's Inspector" in err and ".etdump" in err, verb[0], code, err)
    semicolons = TMP / "de_exec_all_runs_timeline.csv"
    semicolons.write_text("run_index;name;duration_ms\n0;Method::execute;12,3\n")
    samples = TMP / "samples.csv"
    samples.write_text("experiment;block;iteration;duration_ns\na;1;1;12,3\n")
    for verb in (("compare", semicolons, semicolons), ("stats", semicolons), ("stats", samples)):
        ends(4, *verb, says="semicolons")
    ends(4, "ops", semicolons, says="this is a timeline")
    tabs = TMP / "tab_exec_all_runs_timeline.csv"
    tabs.write_text("run_index\tname\tduration_ms\n0\tMethod::execute\t12,3\n")
    samples.write_text("experiment\tblock\titeration\tduration_ns\na\t1\t1\t12,3\n")
    for verb in (("compare", tabs, tabs), ("stats", tabs), ("stats", samples)):
        ends(4, *verb, says="tabs")
    ends(4, "ops", tabs, says="this is a timeline")
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):  # two with a mark
        wide = TMP / f"{encoding}_exec_all_runs_timeline.csv"
        wide.write_text("run_index,name,duration_ms\n0,Method::execute,12.3\n", encoding)
        for verb in (("compare", wide, wide), ("stats", wide), ("ops", wide)):
            ends(4, *verb, says=encoding[:6].upper())
    line = "Using gemm microkernel 'xnn_f32_gemm_minmax_ukernel_4x8__neon' für größe 𝄞\r\n"
    samples.write_text("experiment;duration_ns\na;12,3\n")
    ends(4, "stats", samples, says="semicolons")
    answers = []
    first = "é: " + line
    for name, data in (("first", first.encode()), ("first_le", first.encode("utf-16-le")),
                       ("first_be", first.encode("utf-16-be")), ("plain", line.encode()),
                       ("le", b"\xff\xfe" + line.encode("utf-16-le")),
                       ("be", b"\xfe\xff" + line.encode("utf-16-be")), ("le_alone", line.encode("utf-16-le")),
                       ("be_alone", line.encode("utf-16-be")), ("32", line.encode("utf-32")),
                       ("32_le_alone", line.encode("utf-32-le")), ("32_be_alone", line.encode("utf-32-be")),
                       ("mark", b"\xef\xbb\xbf" + line.encode())):
        (TMP / name).mkdir(exist_ok=True)
        (TMP / name / "x.log").write_bytes(data)
        answers.append(run("kernels", TMP / name / "x.log", "--format", "json"))
    expect(answers[0][0] == 0 and all(a == answers[0] for a in answers), "UTF-16", answers)


for check in (silence, not_understood, durations, nesting, places, order, loading, clocks, units, damage, types,
              lengths, methods, symbols, findings, tables):
    if check.__name__ in sys.argv[2:] or len(sys.argv) == 2:
        check()
finish("what other backends log is read as they log it")
