# SPDX-License-Identifier: Apache-2.0
"""`etprof run`: sessions described by a config, that of Arm's kit included."""
