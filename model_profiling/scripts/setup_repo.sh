#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to ./etprof. No ExecuTorch checkout: the runner uses the published SDK, and
# `etprof export` installs PyTorch when it is first used.
# shellcheck source=scripts/strict.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/strict.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"
install_system_packages
make_venv
build_preset release
link_tool
say "ready: ./etprof; next: bash model_profiling/scripts/build_runners.sh"
