#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to ./etprof and a Python that can validate and export. No ExecuTorch checkout: runner and exporter use the published
# packages. --no-export leaves PyTorch out; `etprof export` then offers it when it is first used.
# shellcheck source=scripts/strict.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/strict.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"

with_export=1
case "${1:-}" in
    '') ;;
    --no-export) with_export=0 ;;
    *) echo 'usage: setup_repo.sh [--no-export]   --no-export: without PyTorch and ExecuTorch for exporting (1.6 GB)' >&2; exit 2 ;;
esac
install_system_packages
make_venv
pip_locked validate || die "pip could not install jsonschema, which validating needs"
build_preset release
link_tool
# shellcheck disable=SC2154 # setup.sh sets it
if [ "$with_export" = 1 ]; then
    say "./etprof is built; now PyTorch, for exporting (1.6 GB; --no-export leaves it out)"
    PYTHONPATH=$root/python python -m etprof.bootstrap --venv "$root/.venv" >/dev/null || exit "$?" # it has said why
fi
say "ready: ./etprof; next: bash model_profiling/scripts/build_runners.sh"
