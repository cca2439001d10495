# SPDX-License-Identifier: Apache-2.0
# etprof analyze DUMP --out DIR.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, TEXT, become, missing, options  # noqa: E402

o = options(("--etdump", NEEDED), ("--out-dir", NEEDED), ("--etrecord", TEXT), ("--all-runs", FLAG),
            ("--run-index", TEXT), ("--json", FLAG), ("--strict-etrecord", FLAG), ("--model-id", TEXT))
if o.run_index or o.json or o.model_id or o.strict_etrecord:
    missing("--run-index, --json, --model-id, --strict-etrecord", "the CSV files hold all runs")
become("analyze", o.etdump, "--out", o.out_dir, *(["--etrecord", o.etrecord] if o.etrecord else []))
