# SPDX-License-Identifier: Apache-2.0
# `python -m etprof.export`, which begins in the working directory; `etprof export` does not.
import sys

from etprof.start import export

sys.exit(export(sys.argv[1:]))
