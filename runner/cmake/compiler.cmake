# SPDX-License-Identifier: Apache-2.0
# Android: what the NDK must be. Clang before 18 (NDK r26 and older) knows no SME2, and an ExecuTorch
# built with it has none of the kernels that are to be measured.
if(ANDROID OR CMAKE_SYSTEM_NAME STREQUAL "Android")
  foreach(language IN ITEMS C CXX)
    if(NOT CMAKE_${language}_COMPILER_ID STREQUAL "Clang")
      message(FATAL_ERROR "for Android the ${language} compiler must be the NDK's Clang, found "
        "${CMAKE_${language}_COMPILER_ID}; configure with "
        "-DCMAKE_TOOLCHAIN_FILE=<NDK>/build/cmake/android.toolchain.cmake")
    endif()
    if(CMAKE_${language}_COMPILER_VERSION VERSION_LESS 18)
      message(FATAL_ERROR "Clang ${CMAKE_${language}_COMPILER_VERSION} knows no SME2; it takes 18 or newer: "
        "NDK r27 or later")
    endif()
  endforeach()
  if(NOT ANDROID_ABI STREQUAL "arm64-v8a")
    message(FATAL_ERROR "etprof-runner for Android is 64-bit Arm only: configure with "
      "-DANDROID_ABI=arm64-v8a (found '${ANDROID_ABI}')")
  endif()
endif()
