# SPDX-License-Identifier: Apache-2.0
# etprof analyze FOLDER --renew --format md.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import NEEDED, TEXT, become, folder_here, options, say  # noqa: E402

o = options(("--run-dir", NEEDED), ("--out", TEXT), ("--title", TEXT))
folder = folder_here(o.run_dir)
if o.title and not o.out:
    say("--title goes with --out: the folder's own report.md is called after its model")
title = ["--title", o.title] if o.title and o.out else []
become("analyze", folder, "--renew", "--format", "md", "--output", o.out or f"{folder}/report.md", *title)
