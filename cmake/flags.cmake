# SPDX-License-Identifier: Apache-2.0
# Compiler flags of etprof's own code, carried by one INTERFACE target.
add_library(etp_flags INTERFACE)
target_compile_features(etp_flags INTERFACE c_std_17)
target_compile_definitions(etp_flags INTERFACE _GNU_SOURCE)
target_include_directories(etp_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(etp_flags INTERFACE
  # Two compilers on one machine must round alike, or `etprof verify` could not compare bytes.
  -ffp-contract=off
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion -Wformat=2
  -Wundef -Wvla -Wcast-qual -Wcast-align -Wpointer-arith -Wwrite-strings -Wstrict-prototypes
  -Werror=implicit-function-declaration -Wmissing-prototypes -Wold-style-definition -Wimplicit-fallthrough -fno-common
  -fvisibility=hidden -fstack-protector-strong)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(etp_flags INTERFACE -Wlogical-op -Wduplicated-cond -Wjump-misses-init
    -Wformat-signedness)
else() # clang takes the NAN of <math.h>, a float that becomes a double, for lost precision
  target_compile_options(etp_flags INTERFACE -Wno-double-promotion)
endif()
option(ETPROF_WERROR "warnings are errors" ON)
if(ETPROF_WERROR)
  target_compile_options(etp_flags INTERFACE -Werror)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # These guess from data flow and guess differently at every optimisation level.
    target_compile_options(etp_flags INTERFACE -Wno-error=maybe-uninitialized
      -Wno-error=format-truncation -Wno-error=stringop-overflow -Wno-error=array-bounds)
  endif()
endif()
# Unit tests, behind etp_flags: what cmocka hands to each is not always used, and what a row of a table leaves out is 0.
add_library(etp_unit_flags INTERFACE)
target_compile_options(etp_unit_flags INTERFACE -Wno-unused-parameter -Wno-missing-field-initializers)
set(ETPROF_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined")
if(ETPROF_SANITIZE)
  target_compile_options(etp_flags INTERFACE -fsanitize=${ETPROF_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(etp_flags INTERFACE -fsanitize=${ETPROF_SANITIZE})
endif()
