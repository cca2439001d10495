# SPDX-License-Identifier: Apache-2.0
# etprof analyze FOLDER --out FOLDER; of a run folder all its derived files.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, become, folder_here, options  # noqa: E402

o = options(("--run-dir", NEEDED), ("--quiet", FLAG))
folder = folder_here(o.run_dir)
renew = ["--renew", "--full"] if (pathlib.Path(folder) / "samples.csv").is_file() else []
# The timelines, too, which the pages' next lines read.
become("analyze", folder, *renew, "--out", folder, *["--quiet"] * o.quiet)
