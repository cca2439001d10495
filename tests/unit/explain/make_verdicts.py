# SPDX-License-Identifier: Apache-2.0
# What is to be said of each pair of recordings of one model, worked out from the tables that
# ExecuTorch's Inspector made of them (CORPUS/inspector), from flatc's reading of the programs
# (CORPUS/pte) and from nothing of etprof.
#   python3 tests/unit/explain/make_verdicts.py CORPUS > tests/data/verdicts.tsv
import gzip
import itertools
import json
import math
import pathlib
import re
import sys

MODELS = [f"{m}_xnnpack_{p}" for m in ("toy_cnn", "mobilenet_v3_small") for p in ("fp32", "int8", "fp16")]
MODELS += ["vit_tiny_xnnpack_fp32", "vit_tiny_xnnpack_int8", "mlp_xnnpack_int8dyn"]
LEVELS = {"arm64": ["arm64_sme2", "arm64_sme1", "arm64_neon"],
          "x86": ["x86_full", "x86_novnni", "x86_noavx512", "x86_sse"]}

# Every name of the corpus; one that is not here is an error.
CATEGORIES = [
    ("Convolution", r"Convolution "),
    ("GEMM", r"(Fully Connected|Batch Matrix Multiply) "),
    ("Data movement",
     r"(Transpose|Slice) |Static Reshape|native_call_(expand_copy|squeeze_copy|unsqueeze_copy|_to_dim_order_copy)\."),
    ("Quantize/convert", r"Convert "),
    ("Elementwise", r"(Add|Divide|Multiply) "),
    ("Activation", r"(Clamp|HardSwish|Sigmoid|GELU) |Invalid Unary Op"),
    ("Normalization", r"Softmax |native_call_native_layer_norm\."),
    ("Reduction", r"Mean |native_call_mean\."),
]


def kept(whole):
    """The executions around the median: the middle quarter, at least 8 where the middle half has as many; of 8 or more
    none that is farther from the lower median than a tenth of it and than thrice the median distance."""
    n = len(whole)
    m = max(n // 4, min(8, n - n // 4 * 2))
    order = sorted(range(n), key=lambda i: (whole[i], i))
    middle = order[(n - m) // 2:(n - m) // 2 + m]
    if n < 8:
        return middle
    median = whole[order[(n - 1) // 2]]
    far = max(median // 10, 3 * sorted(abs(ns - median) for ns in whole)[n // 2])
    return [i for i in middle if abs(whole[i] - median) <= far]


def recording(folder, model, level):
    """(ns of an inference, [(name, ns)]) as sums over the runs that are kept, and their number."""
    path = folder / f"{model}.{level}.etdump.json"
    text = path.read_bytes() if path.exists() else gzip.decompress((folder / (path.name + ".gz")).read_bytes())
    raw = [(row["event_name"], [round(ms * 1e6) for ms in row["raw"]]) for row in json.loads(text)
           if row["event_block_name"] == "Execute"]
    whole = next((ns for name, ns in raw if name == "Method::execute"), [])
    runs = kept(whole)
    rows = [(name, sum(ns[i] for i in runs)) for name, ns in raw
            if name not in ("Method::execute", "DELEGATE_CALL", "OPERATOR_CALL")]
    return sum(whole[i] for i in runs), len(runs), rows


def longer(folder, model, baseline, candidate):
    """Operators that take longer in each of the candidate's iterations than in any of the baseline's, by more than
    2 µs (of truncation); "-" where the two have not the same list, 0 where 3 iterations are too few."""
    def spans(level):
        return [(re.sub(r"\(.*|#.*", "", name), raw) for name, raw in samples(folder, model, level)]
    before, after = spans(baseline), spans(candidate)
    if [name for name, _ in before] != [name for name, _ in after]:
        return "-"
    return str(sum(len(b) >= 5 and len(a) >= 5 and min(a) - max(b) > 2000 for (_, b), (_, a) in zip(before, after)))


def samples(folder, model, level):
    path = folder / f"{model}.{level}.etdump.json"
    text = path.read_bytes() if path.exists() else gzip.decompress((folder / (path.name + ".gz")).read_bytes())
    return [(row["event_name"], [round(ms * 1e6) for ms in row["raw"]]) for row in json.loads(text)
            if row["event_block_name"] == "Execute" and
            row["event_name"] not in ("Method::execute", "DELEGATE_CALL", "OPERATOR_CALL")]


def category_of(name):
    for category, pattern in CATEGORIES:
        if re.match(pattern, name):
            return category
    raise SystemExit(f"no category for '{name}'")


def by_category(rows):
    sums = {}
    for name, ns in rows:
        sums[category_of(name)] = sums.get(category_of(name), 0) + ns
    return sums


def engaged(name):
    return re.search(r"\((NC|NHWC), (PF32|PF16|PQS8)", name) is not None


def stays_off(folder, model, candidate, rows, whole):
    """Reason of the longest group that is not on SME, when it takes more than a twentieth and is not hidden on
    purpose."""
    if not candidate.startswith("arm64"):
        return None
    # What an operator could be is told by its name where SME is not hidden; the lists are equally long.
    best = [name for name, _ in recording(folder, model, "arm64_sme2")[2]]
    assert len(best) == len(rows)
    reasons = {}
    for (name, ns), could in zip(rows, best):
        if category_of(name) in ("Convolution", "GEMM") and not engaged(name) and "QP8" not in name:
            reason = "masked" if engaged(could) else "depthwise" if "DWConv" in name else \
                "fp16_fp32_weights" if "F16" in name else "?" + name
            reasons[reason] = reasons.get(reason, 0) + ns
    worst = max(reasons, key=reasons.get, default="masked")
    return worst if worst != "masked" and reasons[worst] * 20 > whole else None


def work_on_sme(folder, model):
    """Share of the multiplications that XNNPACK's table lets run on SME."""
    total, on = 0, 0
    for path in folder.parent.glob(f"pte/{model}.pte.*.xnn*.json.gz"):
        graph = json.loads(gzip.decompress(path.read_bytes()))
        values = {v["xvalue_union"].get("id_out", v["xvalue_union"].get("tensor_value", {}).get("id_out")):
                  v["xvalue_union"].get("tensor_value", v["xvalue_union"]) for v in graph["xvalues"]}
        for node in graph["xnodes"]:
            kind, n = node["xnode_union_type"], node["xnode_union"]
            if kind not in ("XNNConv2d", "XNNDepthwiseConv2d", "XNNFullyConnected", "XNNBatchMatrixMultiply"):
                continue
            out, first = values[n["output_id"]], values[n["input1_id"]]
            half = first["datatype"] == "xnn_datatype_fp16"
            if kind in ("XNNConv2d", "XNNDepthwiseConv2d"):
                per_output = n["kernel_height"] * n["kernel_width"] * n["group_input_channels"]
                # 1x1 convolutions run as linears, whose fp32 weights have no fp16 kernel.
                engages = kind == "XNNConv2d" and (not half or n["kernel_height"] * n["kernel_width"] > 1)
            else:
                per_output = first["dims"][-1]
                weight = values[n["filter_id" if kind == "XNNFullyConnected" else "input2_id"]]
                engages = not half or weight["datatype"] == "xnn_datatype_fp16"
            macs = math.prod(out["dims"]) * per_output
            total += macs
            on += macs if engages else 0
    return on / total


def verdict(folder, model, baseline, candidate):
    base, base_runs, base_rows = recording(folder, model, baseline)
    cand, cand_runs, cand_rows = recording(folder, model, candidate)
    before, after = by_category(base_rows), by_category(cand_rows)
    first, last = max(before, key=before.get), max(after, key=after.get)
    def share(sums, whole, category):
        return sums.get(category, 0) / whole
    moved = first != last and share(before, base, first) - share(before, base, last) > 0.02 and \
        share(after, cand, last) - share(after, cand, first) > 0.02
    layout = share(after, cand, "Data movement") + share(after, cand, "Quantize/convert")
    portable = sum(ns for name, ns in cand_rows if name.startswith("native_call_")) / cand
    on = sum(ns for name, ns in cand_rows if engaged(name))
    told = candidate.startswith("arm64") and not model.startswith("mlp")  # else names tell nothing
    macs = work_on_sme(folder, model) if on else 0
    findings = []
    if layout >= 0.3:
        findings.append("layout")
    if portable >= 0.25:
        findings.append("portable")
    off = stays_off(folder, model, candidate, cand_rows, cand)
    if off:
        findings.append("off_feature=" + off)
    if moved:
        findings.append("bottleneck")
    return [model, baseline, candidate, f"{base / base_runs:.1f}", f"{cand / cand_runs:.1f}",
            first, f"{share(before, base, first):.6f}", last, f"{share(after, cand, last):.6f}", f"{portable:.6f}",
            str(sum(engaged(name) for name, _ in cand_rows)), f"{on / cand:.6f}" if told else "-",
            f"{macs:.6f}" if told else "-", longer(folder, model, baseline, candidate), " ".join(findings) or "-"]


def main():
    folder = pathlib.Path(sys.argv[1]) / "inspector"
    print(
        "model\tbaseline\tcandidate\tbaseline_ns\tcandidate_ns\tbefore\tshare\tafter\tshare\tportable\ton_sme"
        "\ttime_on_sme\tmacs_on_sme\tlonger\tfindings"
    )
    for model in MODELS:
        for family in LEVELS.values():
            for baseline, candidate in itertools.permutations(family, 2):
                if model.startswith("mlp") and family is LEVELS["x86"]:
                    continue  # recorded at one x86 level only
                print("\t".join(verdict(folder, model, baseline, candidate)))


main()
