# SPDX-License-Identifier: Apache-2.0
# etprof kernels LOG --format csv. --xnntrace-log: as the kit's pages spell it.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import NEEDED, TEXT, become, kernels_of, options, say  # noqa: E402

o = options(("--xnntrace", {"metavar": "LOG"}), ("--xnntrace-log", {"dest": "xnntrace"}), ("--out", NEEDED),
            ("--model-id", TEXT))
if not o.xnntrace:
    say("--xnntrace LOG is needed")
    sys.exit(2)
become("kernels", kernels_of(o.xnntrace), "--format", "csv", "--output", o.out,
       *(["--model-id", o.model_id] if o.model_id else []))
