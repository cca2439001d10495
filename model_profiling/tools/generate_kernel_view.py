# SPDX-License-Identifier: Apache-2.0
# etprof kernels ON OFF --format md. --sme2-*-kernels: as the kit's pages spell them.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import TEXT, become, kernels_of, options, say, what_ran  # noqa: E402

o = options(("--sme2-on", TEXT), ("--sme2-off", TEXT), ("--sme2-on-kernels", {"dest": "sme2_on"}),
            ("--sme2-off-kernels", {"dest": "sme2_off"}), ("--out", TEXT), ("--filter-op", TEXT), ("--title", TEXT))
if not (o.sme2_on and o.sme2_off):
    say("--sme2-on LOG and --sme2-off LOG are needed")
    sys.exit(2)
words = [w for k, v in (("--filter", o.filter_op), ("--title", o.title), ("--output", o.out)) if v for w in (k, v)]
files = [kernels_of(f) for f in (o.sme2_on, o.sme2_off)]
on, off = what_ran(files, ["SME2-On", "SME2-Off"], proven=True)
become("kernels", *files, "--name1", on, "--name2", off, "--format", "md", *words)
