# SPDX-License-Identifier: Apache-2.0
# etprof stats TIMELINE.csv [TIMELINE2.csv].
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, TEXT, become, options, what_ran  # noqa: E402

o = options(("--timeline-csv", NEEDED), ("--compare", TEXT), ("--name", TEXT), ("--name1", TEXT),
            ("--name2", TEXT), ("--output-dir", TEXT), ("--verbose", FLAG))
name1 = o.name1 if o.compare else o.name or o.name1
files = [o.timeline_csv] + ([o.compare] if o.compare else [])
names = what_ran(files, [name1, o.name2])
words = [w for i, n in enumerate(names[:len(files)], 1) if n for w in (f"--name{i}", n)]
words += ["--out", o.output_dir] if o.output_dir else []
become("stats", *files, *words)
