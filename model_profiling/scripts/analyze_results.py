# SPDX-License-Identifier: Apache-2.0
# etprof report FOLDER, or analyze --out for a folder of bare dumps.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, become, folder_here, options, then  # noqa: E402

o = options(("--run-dir", NEEDED), ("--quiet", FLAG))
folder = folder_here(o.run_dir)
quiet = ["--quiet"] * o.quiet
if (pathlib.Path(folder) / "samples.csv").is_file():
    then("report", folder, *quiet)
    become("analyze", folder, "--out", folder, "--quiet")  # the timelines, which the pages' next lines read
become("analyze", folder, "--out", folder, *quiet)
