# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts/demo and scripts/check, after strict.sh: finds or installs what a build needs, sets
# PATH, links the tool. Everything it writes stays inside the tree (.venv, .cache, build).

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

# pip_locked PURPOSE…: what PURPOSE.txt of scripts/requirements or python/etprof/requirements lists, each file checked
# against the hash that stands there. From wherever this machine's pip is configured to take packages.
pip_locked() {
    local purpose file files=()
    for purpose in "$@"; do
        file=$root/scripts/requirements/$purpose.txt
        [ -f "$file" ] || file=$root/python/etprof/requirements/$purpose.txt
        files+=(-r "$file")
    done
    python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --require-hashes "${files[@]}"
}

# The programs in .venv/bin name their interpreter by its path. In a tree that was moved or copied that is
# the old place's, so they are told the new one.
settle_venv() {
    python3 - "$root/.venv" <<'PY'
import os, re, sys
venv = sys.argv[1]
folder = os.path.join(venv, "bin")
text = open(os.path.join(folder, "activate"), encoding="utf-8").read()
was = re.search(r"VIRTUAL_ENV=([\"']?)(/[^\"'\n]+)\1", text)
if was and was.group(2) != venv:
    old, new = was.group(2).encode(), venv.encode()
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        data = open(path, "rb").read()
        # Programs that pip compiled keep their bytes; only scripts are text.
        if (data.startswith(b"#!") or name.lower().startswith("activate")) and old in data:
            with open(path, "r+b") as out:
                out.truncate(0)
                out.write(data.replace(old, new))
PY
}

make_venv() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
        die "needs python3 3.9 or newer; found $(python3 --version 2>&1 || echo none)"
    if [ -x "$root/.venv/bin/python" ]; then
        # Behind a link it is another tree's, and stays that one's.
        [ -L "$root/.venv" ] || settle_venv || die "cannot use the Python environment $root/.venv; remove it and start again"
    else
        python3 -m venv "$root/.venv" || die "cannot make a Python environment in $root/.venv"
    fi
    PATH="$root/.venv/bin:$PATH"
    hash -r # what was looked for before the environment was there
    local absent="" found
    found=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p') || found=""
    version_at_least "${found:-0}" 3.28 || absent="cmake 3.28 or newer"
    ninja --version >/dev/null 2>&1 || absent="${absent:+$absent and }ninja"
    if [ -n "$absent" ]; then
        say "installing $absent into .venv"
        pip_locked build || die "pip could not install $absent; install cmake 3.28 or newer and ninja yourself"
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

# built_here FOLDER [SOURCES]: takes a build folder away that was configured for another place. CMake would
# build there, from the sources there, when a tree was moved or copied. SOURCES: the tree's own unless named.
built_here() {
    local cache=$1/CMakeCache.txt sources=${2:-$root} source folder
    [ -f "$cache" ] || return 0
    source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
    folder=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache")
    # The files decide, not the folders' names: a folder of links to a tree builds as the tree does.
    if ! { [ "$source/CMakeLists.txt" -ef "$sources/CMakeLists.txt" ] && [ "$folder" -ef "$1" ]; }; then
        say "$1 was built for $source: building it again here"
        rm -rf "$1"
    fi
}

# build_preset PRESET: configure once, build, quietly unless it fails.
build_preset() {
    local log=$ETPROF_CACHE/build-$1.log
    built_here "$root/build/$1"
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
