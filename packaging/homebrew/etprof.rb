# SPDX-License-Identifier: Apache-2.0
# Not tried yet: see packaging/README.md.
class Etprof < Formula
  desc "Native profiler for ExecuTorch models"
  homepage "https://github.com/OWNER/etprof"
  license "Apache-2.0"
  version "0.1.0"
  head "https://github.com/OWNER/etprof.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "capstone"
  depends_on "jansson"
  depends_on "libzip"
  depends_on "zstd"

  def install
    system "cmake", "-S", ".", "-B", "build/brew", "-G", "Ninja", "-DETPROF_TESTS=OFF", "-DETPROF_WERROR=OFF",
           *std_cmake_args
    system "cmake", "--build", "build/brew"
    system "cmake", "--install", "build/brew"
  end

  def caveats
    "Measuring needs a runner: in a clone, scripts/build-runner native; ETPROF_RUNNER names the bundle that it prints."
  end

  test do
    assert_match "etprof #{version}", shell_output("#{bin}/etprof --version")
  end
end
