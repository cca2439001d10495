#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes kit_{off,on}_exec_all_runs_timeline.csv: timelines in the form of etdump_to_csv.py of Arm's
kit (event after event, its eleven columns), of a delegate that renames an operator and merges a
clamp, then a portable kernel. All times by hand, in microseconds per execution."""
import csv
import pathlib
import re

CONV_OFF, CONV_ON = "Convolution (NHWC, F32) IGEMM #1", "Convolution (NHWC, PF32) IGEMM #1"
ARMS = {
    "off": [(CONV_OFF, "delegated", (900, 920)), ("Clamp (NC) #1", "delegated", (40, 40)),
            ("Fully Connected (NC, F32) GEMM #1", "delegated", (300, 310)),
            ("DELEGATE_CALL", "portable", (1250, 1290)),
            ("native_call_mean.out", "portable", (20, 22)), ("OPERATOR_CALL", "portable", (21, 24)),
            ("Method::execute", "portable", (1280, 1330))],
    "on": [(CONV_ON, "delegated", (300, 306)),
           ("Fully Connected (NC, PF32) GEMM #1", "delegated", (100, 104)),
           ("DELEGATE_CALL", "portable", (412, 424)),
           ("native_call_mean.out", "portable", (20, 20)), ("OPERATOR_CALL", "portable", (21, 21)),
           ("Method::execute", "portable", (440, 450))],
}

for arm, events in ARMS.items():
    path = pathlib.Path(__file__).parent / f"kit_{arm}_exec_all_runs_timeline.csv"
    with path.open("w", newline="") as out:
        w = csv.writer(out, lineterminator="\n")
        w.writerow("model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,"
                   "run_index,block".split(","))
        for node, (name, backend, times) in enumerate(events):
            for run, us in enumerate(times):
                start = 5000 + 2000 * run
                if name == "Method::execute":
                    start -= 10
                total = sum(e[2][run] for e in events)
                w.writerow([f"toy_{arm}", name, re.sub(r" #\d+$", "", name), backend, float(start),
                            float(start + us), us / 1000, us / total * 100, node, run, "Execute"])
