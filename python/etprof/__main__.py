# SPDX-License-Identifier: Apache-2.0
"""`python -m etprof` is `etprof`."""
import sys

from etprof.command import command

sys.exit(command())
