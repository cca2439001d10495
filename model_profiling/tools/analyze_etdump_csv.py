# SPDX-License-Identifier: Apache-2.0
# etprof analyze on the dumps that the timeline CSVs were made from.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, TEXT, become, missing, options, say  # noqa: E402

o = options(("--timeline-csv", NEEDED), ("--compare", TEXT), ("--name1", TEXT), ("--name2", TEXT),
            ("--output-dir", TEXT), ("--model-name", TEXT), ("--verbose", FLAG))
dumps = [p.replace("_exec_all_runs_timeline.csv", ".etdump") for p in (o.timeline_csv, o.compare) if p]
if not all(p.endswith(".etdump") and pathlib.Path(p).is_file() for p in dumps):
    missing("reading a timeline CSV whose .etdump is not beside it", "give etprof analyze the dumps")
if o.name1 or o.name2 or o.model_name:
    say("names are those of the dumps; --name1, --name2 and --model-name are not used")
become("analyze", *dumps, "--baseline", pathlib.Path(dumps[0]).stem,
       *(["--out", o.output_dir] if o.output_dir else []), *["--full"] * o.verbose)
