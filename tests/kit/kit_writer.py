# SPDX-License-Identifier: Apache-2.0
"""Folders as Arm's kit writes them, from its description: names, columns, keys and arithmetic of its
pipeline, robust statistics, category tables and reports.
Independent of etprof. Medians and percentiles are numpy's rules, done by hand."""
import csv
import json
import re
import statistics

CONV, FC = "Convolution (NHWC, F32) IGEMM #1", "Fully Connected (NC, F32) GEMM #1"
CONVERT, RESIZE = "Convert (NC, F32, F16) #2", "Resize Bilinear (NHWC, F32) #3"


def percentile(values, p):
    x, at = sorted(values), (len(values) - 1) * p / 100
    lo = int(at)
    return x[lo] + (x[min(lo + 1, len(x) - 1)] - x[lo]) * (at - lo)


class Experiment:
    """events: [(name, backend, [ms per run], block)], file order, Method::execute last."""

    def __init__(self, model, name, threads, events):
        self.model, self.name, self.threads, self.events = model, name, threads, events
        self.stem = f"{model}_{name}_t{threads}"

    def latencies(self):
        """By run index, which starts at 0 in every block: what has the same one is added up."""
        by_run = {}
        for name, _, times, _ in self.events:
            for run, ms in enumerate(times):
                if name == "Method::execute":
                    by_run[run] = by_run.get(run, 0.0) + ms
        return [by_run[k] for k in sorted(by_run)]

    def rows(self):
        total = {}
        for _, _, times, _ in self.events:
            for run, ms in enumerate(times):
                total[run] = total.get(run, 0.0) + ms
        for node, (name, backend, times, block) in enumerate(self.events):
            for run, ms in enumerate(times):
                start = 100000.0 * run + (0 if name == "Method::execute" else 1 + node)
                yield [self.stem, name, re.sub(r" #\d+$", "", name), backend, start, start + ms * 1000, ms,
                       ms / total[run] * 100, node, run, block]

    def robust(self, stem):
        x = self.latencies()
        q1, q3 = percentile(x, 25), percentile(x, 75)
        lo, hi = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
        kept = [v for v in x if lo <= v <= hi]
        sd = statistics.stdev(x) if len(x) > 1 else float("nan")
        moments = {"count": len(x), "mean_ms": statistics.fmean(x), "median_ms": statistics.median(x), "std_dev_ms": sd,
                   "cv_percent": sd / statistics.fmean(x) * 100}
        return {**moments, "min_ms": min(x), "max_ms": max(x),
                "percentiles": {f"p{p}": percentile(x, p) for p in (50, 75, 90, 95, 99)},
                "outliers": {"count": len(x) - len(kept), "percentage": 100 * (len(x) - len(kept)) / len(x),
                             "values": [v for v in x if not lo <= v <= hi], "bounds": {"lower": lo, "upper": hi}},
                "robust_stats": {"count": len(kept), "mean_ms": statistics.fmean(kept),
                                 "median_ms": statistics.median(kept)},
                "latencies_ms": x, "run_indices": list(range(len(x))), "name": stem}


def standard(model, name, threads, factor, runs=10, noise=0.0, fixed=0.9):
    """conv and fully connected faster by FACTOR; the rest stays."""
    def wave(ms):
        return [round(ms + noise * ((k * 7) % 5 - 2), 6) for k in range(runs)]
    parts = [(CONV, 8.099 / factor), (FC, 6.307 / factor), (CONVERT, 0.3), (RESIZE, 0.21)]
    inside = [(n, "delegated", wave(ms), "Execute") for n, ms in parts]
    call = [round(sum(e[2][k] for e in inside) + 0.02, 6) for k in range(runs)]
    whole = [round(c + fixed, 6) for c in call]
    return Experiment(model, name, threads, [
        ("Program::load_method", "portable", [1.5], "Default"), *inside, ("DELEGATE_CALL", "portable", call, "Execute"),
        ("native_call_mean.out", "portable", wave(0.12), "Execute"),
        ("OPERATOR_CALL", "portable", wave(0.13), "Execute"),
        ("Method::execute", "portable", whole, "Execute")])


HEAD = "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,run_index,block".split(",")


def table(path, head, rows):
    with path.open("w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(head)
        w.writerows(rows)


def write_experiment(folder, e, infix="_exec"):
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(e.rows())
    table(folder / f"{e.stem}{infix}_all_runs_timeline.csv", HEAD, rows)
    table(folder / f"{e.stem}{infix}_run0_timeline.csv", HEAD, [r for r in rows if r[9] == 0])
    stats = {}
    for name, backend, times, _ in e.events:
        stats.setdefault((re.sub(r" #\d+$", "", name), backend), []).append(statistics.fmean(times))
    whole = sum(sum(v) for v in stats.values())
    table(folder / f"{e.stem}{infix}_ops_stats.csv",
          "model_id,name,type,delegate_backend,count,total_ms,avg_ms,pct_total".split(","),
          [[e.stem, n, n, b, len(v), sum(v), statistics.fmean(v), sum(v) / whole * 100]
           for (n, b), v in sorted(stats.items(), key=lambda x: -sum(x[1]))])
    stem = f"{e.stem}{infix}_all_runs_timeline"
    (folder / f"{stem}_robust_stats.json").write_text(json.dumps(e.robust(stem), indent=2))
    (folder / f"{e.stem}_latency.log").write_text("Model executed successfully 10 time(s) in 59.2 ms.\n")


def write_summary(folder, model, experiments, **more):
    runs = []
    for e in experiments:
        r = e.robust("")
        runs.append({"experiment": e.name, "threads": e.threads, "mode": "timing", "status": "ok",
                     "paths": {"latency_log": f"{e.stem}_latency.log",
                               "timeline_all": f"{e.stem}_exec_all_runs_timeline.csv",
                               "timeline_run0": f"{e.stem}_exec_run0_timeline.csv", "etdump": f"{e.stem}.etdump"},
                     "metrics": {"median_ms": r["median_ms"], "mean_ms": r["mean_ms"], "cv_percent": r["cv_percent"],
                                 "robust_stats_path": f"{e.stem}_exec_all_runs_timeline_robust_stats.json"},
                     "runs": 10, "warmup": 1})
    doc = {"model": f"out/{model}.pte", "generated_at": "2026-01-27T10:00:00+00:00", "output_root": str(folder),
           "runs": runs}
    doc.update(more)
    (folder / f"{model}_pipeline_summary.json").write_text(json.dumps(doc, indent=2))
