# SPDX-License-Identifier: Apache-2.0
# etprof report FOLDER, or analyze --out for a folder of bare dumps.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, become, options  # noqa: E402

o = options(("--run-dir", NEEDED), ("--quiet", FLAG))
quiet = ["--quiet"] * o.quiet
if (pathlib.Path(o.run_dir) / "samples.csv").is_file():
    become("report", o.run_dir, *quiet)
become("analyze", o.run_dir, "--out", o.run_dir, *quiet)
