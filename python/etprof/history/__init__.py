# SPDX-License-Identifier: Apache-2.0
"""Many sessions in the order of their times, and where a figure changed: `etprof history` (docs/fleet.md). Sessions
come from run folders, by their report.json, or from a lake of the fleet; DuckDB or Spark chooses and joins rows, the C
library finds the changes."""
