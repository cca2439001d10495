# SPDX-License-Identifier: Apache-2.0
"""`python -m etprof` is `etprof`."""
import sys

from etprof import command

sys.exit(command())
