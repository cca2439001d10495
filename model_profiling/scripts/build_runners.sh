#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One runner per target takes the place of one per level: CPU features are masked at start.
# shellcheck source=scripts/strict.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/strict.sh"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
exec "$root/scripts/build-runner" native "$@"
