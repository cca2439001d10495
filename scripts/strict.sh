# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced first by every shell script of the tree: a command that fails ends the script, and the script
# never ends without a sentence.
set -Eeuo pipefail

# unexpected STATUS FILE LINE COMMAND: what no script foresaw. One sentence, from the outermost shell: a
# subshell that fails hands its status on.
unexpected() {
    [ "$BASH_SUBSHELL" = 0 ] || return 0
    local hint=""
    [ "$1" != 127 ] || hint=" (127 is a program that is not installed)"
    printf '%s: line %s: exit code %s%s from: %s\n' "$2" "$3" "$1" "$hint" "${4%%$'\n'*}" >&2
}
trap 'unexpected "$?" "${BASH_SOURCE[0]:-$0}" "$LINENO" "$BASH_COMMAND"' ERR
# What the tree's scripts measure is no session of the user's.
