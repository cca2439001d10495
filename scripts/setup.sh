# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts/demo and scripts/check: finds or installs what a build needs, sets PATH, links
# the tool. Everything it writes stays inside the tree (.venv, .cache, build).

say() { printf '%s\n' "$*" >&2; }

die() {
    say "${0##*/}: $*"
    exit 5
}

# Debian packages by what they are needed for; a package is missing when its probe fails.
apt_missing() {
    local missing=()
    have_cc() { command -v cc >/dev/null && command -v c++ >/dev/null; }
    have_cc || missing+=(build-essential)
    command -v pkg-config >/dev/null || missing+=(pkg-config)
    local name
    for name in jansson libzip libzstd cmocka capstone; do
        pkg-config --exists "$name" 2>/dev/null || missing+=("lib${name#lib}-dev")
    done
    python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing+=(python3-venv)
    local extra
    for extra in "$@"; do # command=package
        command -v "${extra%%=*}" >/dev/null || missing+=("${extra#*=}")
    done
    printf '%s ' "${missing[@]}"
}

homebrew_line() {
    local name absent=""
    for name in jansson libzip cmocka capstone; do
        pkg-config --exists "$name" 2>/dev/null || absent="$absent $name"
    done
    pkg-config --exists libzstd 2>/dev/null || absent="$absent zstd"
    [ -z "$absent" ] || die "please run: brew install pkg-config$absent"
}

# install_system_packages [COMMAND=PACKAGES …]: what every build needs, and these when the command is missing.
install_system_packages() {
    if [ "$(uname -s)" = Darwin ]; then
        homebrew_line
        return
    fi
    local wanted
    read -ra wanted <<<"$(apt_missing "$@")"
    [ "${#wanted[@]}" -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null; then
        die "missing: ${wanted[*]} (names are Debian's); install their equivalents with your package manager"
    fi
    local as=(env DEBIAN_FRONTEND=noninteractive)
    local line="apt-get install -y --no-install-recommends ${wanted[*]}"
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null ||
            die "needs root to install packages; please run: sudo apt-get update && sudo $line"
        as=(sudo -n "${as[@]}")
    fi
    say "installing ${wanted[*]}"
    local log=$ETPROF_CACHE/apt.log
    if ! { "${as[@]}" apt-get update -qq &&
        "${as[@]}" apt-get install -y -qq --no-install-recommends "${wanted[@]}"; } >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        die "apt-get failed (whole output: $log); please run: sudo $line"
    fi
}

# version_at_least FOUND WANTED
version_at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

make_venv() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
        die "needs python3 3.9 or newer; found $(python3 --version 2>&1 || echo none)"
    [ -x "$root/.venv/bin/python" ] || python3 -m venv "$root/.venv" ||
        die "cannot make a Python environment in $root/.venv"
    PATH="$root/.venv/bin:$PATH"
    local wanted=()
    local found
    found=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
    version_at_least "${found:-0}" 3.28 || wanted+=("cmake>=3.28,<5")
    ninja --version >/dev/null 2>&1 || wanted+=(ninja)
    if [ ${#wanted[@]} -gt 0 ]; then
        say "installing ${wanted[*]} into .venv"
        python -m pip install --quiet --disable-pip-version-check "${wanted[@]}" ||
            die "pip could not install ${wanted[*]}; install cmake 3.28 or newer and ninja yourself"
    fi
}

# The triple of the runner bundle for this machine.
host_triple() {
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) echo x86_64-linux-gnu ;;
        Linux-aarch64) echo aarch64-linux-gnu ;;
        Darwin-arm64) echo arm64-macos ;;
        *) die "no ExecuTorch SDK is published for $(uname -s) $(uname -m)" ;;
    esac
}

# build_preset PRESET: configure once, build, quietly unless it fails.
build_preset() {
    local log=$ETPROF_CACHE/build-$1.log
    {
        [ -f "$root/build/$1/build.ninja" ] || cmake -S "$root" --preset "$1"
        cmake --build "$root/build/$1"
    } >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        die "building preset $1 failed (whole output: $log)"
    }
}

link_tool() {
    ln -sfn "build/release/bin/etprof" "$root/etprof"
    ln -sfn "../../build/release/bin/etprof" "$root/.venv/bin/etprof"
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 5
export ETPROF_CACHE=${ETPROF_CACHE:-$root/.cache}
export TMPDIR=$ETPROF_CACHE/tmp PIP_CACHE_DIR=$ETPROF_CACHE/pip PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p "$TMPDIR" "$PIP_CACHE_DIR" || die "cannot write to $ETPROF_CACHE"
