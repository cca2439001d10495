# SPDX-License-Identifier: Apache-2.0
# etprof analyze DUMP --out DIR: the CSV files hold all runs.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, TEXT, become, options, program_of  # noqa: E402

o = options(("--etdump", NEEDED), ("--out-dir", NEEDED), ("--etrecord", TEXT), ("--all-runs", FLAG),
            ("--run-index", TEXT), ("--json", FLAG), ("--strict-etrecord", FLAG), ("--model-id", TEXT))
words = program_of(o.etrecord, o.strict_etrecord) if o.etrecord else []
words += ["--run-index", o.run_index] if o.run_index not in (None, "0") else []
words += ["--json-rows"] * o.json + (["--model-id", o.model_id] if o.model_id else [])
become("analyze", o.etdump, "--out", o.out_dir, *words)
