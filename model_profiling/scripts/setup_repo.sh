#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to ./etprof. No ExecuTorch checkout: the runner uses the published SDK. --export also installs what
# `etprof export` needs, which it otherwise offers to install when it is first used.
# shellcheck source=scripts/strict.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/strict.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"

with_export=0
case "${1:-}" in
    '') ;;
    --export) with_export=1 ;;
    *) echo 'usage: setup_repo.sh [--export]   --export: PyTorch and ExecuTorch for exporting, too (1.6 GB)' >&2; exit 2 ;;
esac
install_system_packages
make_venv
build_preset release
link_tool
# shellcheck disable=SC2154 # setup.sh sets it
if [ "$with_export" = 1 ]; then
    PYTHONPATH=$root/python python -m etprof.bootstrap --venv "$root/.venv" >/dev/null || exit "$?" # it has said why
else
    say "not installed: PyTorch, for exporting (1.6 GB): 'etprof export MODEL --install' fetches it, or
  bash model_profiling/scripts/setup_repo.sh --export"
fi
say "ready: ./etprof; next: bash model_profiling/scripts/build_runners.sh"
