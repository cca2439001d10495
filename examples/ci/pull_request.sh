#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures a model and holds it against the run folder of the branch it goes to. For any CI, or none:
#   pull_request.sh MODEL.pte BASELINE OUT [etprof ab's options]
# OUT/run: what was measured; OUT/comment.md: the comment (at most 60,000 bytes). Exit code: 0 no arm became slower,
# 1 one did, 3 unknown. Without a BASELINE folder the run is measured and told, and the exit code is 0.
set -eu
[ $# -ge 3 ] || { echo "usage: pull_request.sh MODEL.pte BASELINE OUT [OPTION...]" >&2; exit 2; }
model=$1 baseline=$2 out=$3
shift 3
etprof=${ETPROF:-etprof}
mkdir -p "$out"
"$etprof" ab "$model" --out "$out/run" --quiet "$@" >/dev/null || [ $? -eq 1 ] || [ $? -eq 3 ]
if [ ! -f "$baseline/manifest.json" ]; then
    "$etprof" analyze "$out/run" --format github -o "$out/comment.md"
    echo "no run folder of the branch it goes to at $baseline: nothing to hold it against" >&2
    exit 0
fi
code=0
{
    "$etprof" gate "$out/run" --against "$baseline" --format md || code=$?
    [ "$code" -le 1 ] || [ "$code" -eq 3 ] || exit "$code"
    "$etprof" analyze "$out/run" --format github
} >"$out/comment.whole"
head -c 60000 "$out/comment.whole" >"$out/comment.md"
rm "$out/comment.whole"
exit "$code"
