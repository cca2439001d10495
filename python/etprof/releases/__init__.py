# SPDX-License-Identifier: Apache-2.0
"""Published releases of ExecuTorch as runners that `etprof ab --executorch` holds against each other."""
