#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures a model and holds it against the run folder of the branch it goes to. For any CI, or none:
#   pull_request.sh MODEL.pte BASELINE OUT [etprof ab's options]
# OUT/run: what was measured; OUT/comment.md: the comment (at most 60,000 bytes): the gate's answer, for each arm that
# became slower what became slower in it, and the report. Exit code: 0 no arm became slower, 1 one did, 3 unknown; any
# other is that of the command that failed, which the comment says too. Where the gate says unknown, as many blocks as it
# asks for are measured, at most 40 more, and it is asked again; what would settle it then stands in the comment.
# Without a BASELINE folder the run is measured and told, and the exit code is 0.
set -eu
[ $# -ge 3 ] || { echo "usage: pull_request.sh MODEL.pte BASELINE OUT [OPTION...]" >&2; exit 2; }
model=$1 baseline=$2 out=$3
shift 3
etprof=${ETPROF:-etprof}
most=60000
mkdir -p "$out"
said=$out/said.txt
# Who updates one comment knows it by this.
mark='<!-- etprof -->'
# What is there when this is cut off by somebody's timeout.
printf '%s\n## No answer: cut off\n\nThe measurement was ended before it was done.\n' "$mark" >"$out/comment.md"

# lines MOST: whole lines of standard input, at most that many bytes
lines() { LC_ALL=C awk -v most="$1" '{ n += length($0) + 1; if (n > most) exit; print }'; }

# failed CODE WHAT: a comment that says so, what the command said, and what of the run can be told; ends with CODE
failed() {
    cat "$said" >&2
    {
        printf '%s\n' "$mark"
        printf '## No answer: %s failed\n\nExit code %s. Nothing was compared.\n\n```text\n' "$2" "$1"
        tail -n 60 "$said" | tr '\140' "'" | lines 20000
        printf '```\n'
    } >"$out/comment.part"
    if [ "$2" != "etprof analyze" ] && [ -f "$out/run/manifest.json" ] &&
        "$etprof" analyze "$out/run" --format github --limit 30000 -o "$out/report.md" 2>"$said"; then
        { printf '\n'; cat "$out/report.md"; } >>"$out/comment.part"
    fi
    rm -f "$said" "$out/report.md" "$out/gate.md"
    mv "$out/comment.part" "$out/comment.md"
    exit "$1"
}

code=0
"$etprof" ab "$model" --out "$out/run" --quiet "$@" >/dev/null 2>"$said" || code=$?
case $code in 0 | 1 | 3) cat "$said" >&2 ;; *) failed "$code" "etprof ab" ;; esac
if [ ! -f "$baseline/manifest.json" ]; then
    code=0
    "$etprof" analyze "$out/run" --format github -o "$out/report.md" 2>"$said" || code=$?
    [ "$code" = 0 ] || failed "$code" "etprof analyze"
    { printf '%s\n' "$mark"; cat "$out/report.md"; } >"$out/comment.md"
    rm -f "$said" "$out/report.md"
    echo "no run folder of the branch it goes to at $baseline: nothing to hold it against" >&2
    exit 0
fi

comment=$out/comment.part
# What may still be written, less what stands between the parts.
room() { echo $((most - $(wc -c <"$comment") - 200)); }

ask() {
    code=0
    "$etprof" gate "$out/run" --against "$baseline" --format md -o "$out/gate.md" 2>"$said" || code=$?
    case $code in 0 | 1 | 3) cat "$said" >&2 ;; *) failed "$code" "etprof gate" ;; esac
}
ask
left=40
while [ "$code" = 3 ] && [ "$left" -gt 0 ]; do
    more=$(grep -F -- "--resume $out/run --blocks " "$out/gate.md" | sed 's/.* --blocks \([0-9]*\).*/\1/' | sort -n | tail -n 1)
    [ -n "$more" ] || break
    [ "$more" -le "$left" ] || more=$left
    left=$((left - more))
    "$etprof" ab --resume "$out/run" --blocks "$more" --quiet >/dev/null 2>"$said" || case $? in 1 | 3) ;; *) break ;; esac
    ask
done
# A table of very many arms is cut.
{ printf '%s\n' "$mark"; lines 20000 <"$out/gate.md"; } >"$comment"
rm "$out/gate.md"

# An arm that became slower: what became slower in it. Half of the room is left for the others and the report.
"$etprof" gate "$out/run" --against "$baseline" --format csv -q |
    sed -n 's/^"\{0,1\}against:\([A-Za-z0-9_@.-]*\)"\{0,1\},no,.*/\1/p' >"$out/slower" || true
while read -r arm; do
    left=$(($(room) / 2))
    [ "$left" -ge 4000 ] || break
    "$etprof" compare "$baseline:$arm" "$out/run:$arm" --name1 before --name2 now --format github --limit "$left" \
        -o "$out/compared.md" || echo "Its recordings cannot be compared." >"$out/compared.md"
    printf '\n## What became slower in %s\n\n' "$arm" >>"$comment"
    cat "$out/compared.md" >>"$comment"
done <"$out/slower"
rm -f "$out/slower" "$out/compared.md"

told=0
"$etprof" analyze "$out/run" --format github --limit "$(room)" -o "$out/report.md" 2>"$said" || told=$?
[ "$told" = 0 ] || failed "$told" "etprof analyze"
{
    printf '\n'
    cat "$out/report.md"
} >>"$comment"
rm "$out/report.md" "$said"
mv "$comment" "$out/comment.md"
exit "$code"
