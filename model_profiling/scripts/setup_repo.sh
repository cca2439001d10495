#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to ./etprof and a Python that can validate and export. No ExecuTorch checkout: runner and exporter use the published
# packages. PyTorch (1.6 GB) comes only after a yes at a terminal; without one, the command that installs it is printed.
# shellcheck source=scripts/strict.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/strict.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"

with_export=1
case "${1:-}" in
    '') ;;
    --no-export) with_export=0 ;;
    *) echo 'usage: setup_repo.sh [--no-export]   --no-export: does not ask about PyTorch and ExecuTorch for exporting (1.6 GB)' >&2; exit 2 ;;
esac
install_system_packages
make_venv
pip_locked validate || die "pip could not install jsonschema, which validating needs"
build_preset release
link_tool
# shellcheck disable=SC2154 # setup.sh sets it
if [ "$with_export" = 1 ]; then
    PYTHONPATH=$root/python python -m etprof.bootstrap --ask --venv "$root/.venv" >/dev/null || exit "$?" # it has said why
fi
say "ready: ./etprof; next: bash model_profiling/scripts/build_runners.sh"
