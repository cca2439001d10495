# SPDX-License-Identifier: Apache-2.0
# etprof compare of two timeline CSVs, etprof analyze of one.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, TEXT, become, off_first, options, say, what_ran  # noqa: E402

o = options(("--timeline-csv", NEEDED), ("--compare", TEXT), ("--name1", TEXT), ("--name2", TEXT),
            ("--output-dir", TEXT), ("--model-name", TEXT), ("--verbose", FLAG), ("-v", FLAG))
if o.model_name:
    say("--model-name is not used: tables are called after the timelines")
out = (["--out", o.output_dir] if o.output_dir else []) + ["--full"] * (o.verbose or o.v)
if not o.compare:
    become("analyze", o.timeline_csv, *out)
files, names = off_first([o.timeline_csv, o.compare], [o.name1, o.name2])
names = what_ran(files, names)
named = [w for i, n in enumerate(names, 1) if n for w in (f"--name{i}", n)]
become("compare", *files, *named, *out)
