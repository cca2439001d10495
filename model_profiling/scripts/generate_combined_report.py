# SPDX-License-Identifier: Apache-2.0
# etprof analyze MAC ANDROID --combined: the folders that are there, side by side.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import NEEDED, TEXT, become, options, say  # noqa: E402

o = options(("--mac-dir", NEEDED), ("--android-dir", NEEDED), ("--out", TEXT), ("--model-name", TEXT))
there = [d for d in (o.mac_dir, o.android_dir) if pathlib.Path(d).is_dir()]
for absent in sorted({o.mac_dir, o.android_dir} - set(there)):
    say(f"{absent} is not there: the report is without it")
out = o.out or pathlib.Path(o.mac_dir).parent / "combined_report.md"
title = ["--title", o.model_name] if o.model_name else []
become("analyze", *(there or [o.mac_dir]), "--combined", "--format", "md", "--output", out, *title)
