# SPDX-License-Identifier: Apache-2.0
# The files of this room for the processor that is built for.
set(etp_roofs_sources names.c roofs.c sets.c pool.c)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  list(APPEND etp_roofs_sources x86_sse.c x86_ssse3.c x86_avx2.c x86_avx512.c x86_vnni.c x86_fp16.c)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  list(APPEND etp_roofs_sources a64_neon.c a64_fp16.c a64_dotprod.c a64_i8mm.c a64_sme.c)
endif()
set(etp_roofs_dir ${CMAKE_CURRENT_LIST_DIR})
list(TRANSFORM etp_roofs_sources PREPEND ${etp_roofs_dir}/ OUTPUT_VARIABLE etp_roofs_paths)

# How these files are compiled, whatever the build type: optimised, because a loop that spills its sums
# measures the stack; not unrolled, because tests count what is in a trip; without sanitizers. The pool has no
# such loop, and the thread sanitizer has to see how its threads wait for each other. Source properties count in
# the folder that sets them, so this is called where the target is defined.
# (The aarch64 files say in attributes which extensions they use: -march means other things to zig.)
macro(etp_roofs_options)
  set_source_files_properties(${etp_roofs_paths} PROPERTIES
    COMPILE_OPTIONS "-O2;-fno-unroll-loops;-fno-sanitize=all")
  set_source_files_properties(${etp_roofs_dir}/pool.c PROPERTIES COMPILE_OPTIONS "-O2;-fno-unroll-loops")
  foreach(pair IN ITEMS "x86_ssse3:-mssse3" "x86_avx2:-mavx2,-mfma" "x86_avx512:-mavx512f,-mavx512bw"
      "x86_vnni:-mavx512f,-mavx512bw,-mavx512vnni" "x86_fp16:-mavx512fp16")
    string(REGEX MATCH "^([^:]+):(.+)$" unused "${pair}")
    set(file "${CMAKE_MATCH_1}.c")
    string(REPLACE "," ";" options "${CMAKE_MATCH_2}")
    set_property(SOURCE ${etp_roofs_dir}/${file} APPEND PROPERTY COMPILE_OPTIONS "${options}")
  endforeach()
endmacro()
