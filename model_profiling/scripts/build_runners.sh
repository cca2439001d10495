#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One runner per target takes the place of one per level: CPU features are masked at start. With
# ANDROID_NDK (or ANDROID_NDK_HOME) a runner for phones too: built by the NDK against the ExecuTorch that
# ETPROF_EXECUTORCH names, a checkout or an install folder; without one, the bundle that needs no NDK.
# shellcheck source=scripts/strict.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/strict.sh"
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"

case "${1:-}" in
    -h | --help)
        cat <<'TEXT'
usage: build_runners.sh [--debug]
Builds this machine's runner. With ANDROID_NDK set, one for phones too:
  ETPROF_EXECUTORCH=DIR   an ExecuTorch checkout (built with the NDK first, which takes a while) or the folder it
                          was installed into: build/bundle/aarch64-linux-android, for --runner
  otherwise               build/bundle/aarch64-linux-gnu, which --device adb takes by itself and needs no NDK
TEXT
        exit 0 ;;
esac
# Before anything is installed or built.
[ -z "${ETPROF_EXECUTORCH:-}" ] || [ -d "$ETPROF_EXECUTORCH" ] ||
    die "ETPROF_EXECUTORCH=$ETPROF_EXECUTORCH is no folder: name an ExecuTorch checkout, or where it was installed"
make_venv
# shellcheck disable=SC2154 # setup.sh sets it
"$root/scripts/build-runner" native "$@" || exit "$?" # it has said why

ndk=${ANDROID_NDK:-${ANDROID_NDK_HOME:-}}
[ -n "$ndk" ] || exit 0
toolchain=$ndk/build/cmake/android.toolchain.cmake
[ -f "$toolchain" ] || die "ANDROID_NDK=$ndk is no NDK: it has no build/cmake/android.toolchain.cmake"
executorch=${ETPROF_EXECUTORCH:-}
if [ -z "$executorch" ]; then
    say "ANDROID_NDK is set, but no ExecuTorch is named for it to link (ETPROF_EXECUTORCH=a checkout, or the folder
it was installed into): building the bundle for phones that needs no NDK, with its own C library (docs/phone.md)"
    "$root/scripts/build-runner" aarch64-linux-gnu || exit "$?"
    exit 0
fi

android=("-DCMAKE_TOOLCHAIN_FILE=$toolchain" -DANDROID_ABI=arm64-v8a "-DANDROID_PLATFORM=${ANDROID_PLATFORM:-android-26}"
    -DCMAKE_BUILD_TYPE=Release)
# step LOG WHAT COMMAND…: quietly unless it fails.
step() {
    local log=$ETPROF_CACHE/$1.log what=$2
    shift 2
    say "$what"
    "$@" >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        die "$what failed (whole output: $log)"
    }
}
version=${ETPROF_EXECUTORCH_VERSION:-}
if [ -f "$executorch/lib/cmake/ExecuTorch/executorch-config.cmake" ]; then
    install=$executorch
elif [ -f "$executorch/CMakeLists.txt" ] && [ -f "$executorch/version.txt" ]; then
    install=$root/build/ndk/executorch
    version=${version:-$(sed -n 1p "$executorch/version.txt")}
    with=()
    for part in XNNPACK KERNELS_OPTIMIZED KERNELS_QUANTIZED DEVTOOLS EXTENSION_MODULE EXTENSION_TENSOR EXTENSION_DATA_LOADER \
        EXTENSION_FLAT_TENSOR; do
        with+=("-DEXECUTORCH_BUILD_$part=ON")
    done
    step ndk-executorch-configure "configuring ExecuTorch for Android" cmake -S "$executorch" \
        -B "$root/build/ndk/executorch-build" -G Ninja "${android[@]}" "${with[@]}" -DEXECUTORCH_ENABLE_EVENT_TRACER=ON \
        "-DPYTHON_EXECUTABLE=$(command -v python)" "-DCMAKE_INSTALL_PREFIX=$install"
    step ndk-executorch-build "building ExecuTorch for Android" cmake --build "$root/build/ndk/executorch-build" \
        --target install --parallel "${ETPROF_JOBS:-2}"
else
    die "ETPROF_EXECUTORCH=$executorch is neither a checkout of ExecuTorch (CMakeLists.txt, version.txt) nor a folder it \
was installed into (lib/cmake/ExecuTorch)"
fi
bundle=$root/build/bundle/aarch64-linux-android
built_here "$root/build/ndk/runner" "$root/runner"
step ndk-runner-configure "configuring the runner for Android" cmake -S "$root/runner" -B "$root/build/ndk/runner" -G Ninja \
    "${android[@]}" "-DETPROF_SDK=$install" ${version:+"-DETPROF_EXECUTORCH_VERSION=$version"}
step ndk-runner-build "building the runner for Android" cmake --build "$root/build/ndk/runner" --parallel "${ETPROF_JOBS:-2}"
rm -rf "$bundle"
step ndk-runner-install "laying out its bundle" cmake --install "$root/build/ndk/runner" --prefix "$bundle"
say "next: etprof ab MODEL.pte --device adb --runner ${bundle#"$root/"}"
echo "$bundle"
