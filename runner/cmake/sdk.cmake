# SPDX-License-Identifier: Apache-2.0
# Finds ExecuTorch at ETPROF_SDK and gives it to a target: etp_link_executorch(TARGET). Two layouts:
# the unpacked Python package (scripts/sdk: shared libraries, targets executorch::...), and what
# `cmake --install` of ExecuTorch's own build leaves (static libraries, targets without a prefix).
set(ETPROF_SDK "" CACHE PATH "the unpacked SDK's executorch folder, or where ExecuTorch was installed")
set(ETPROF_EXECUTORCH_VERSION "" CACHE STRING "version of an ExecuTorch that does not say which it is")
set(etp_sdk_static OFF)

if(EXISTS "${ETPROF_SDK}/version.py")
  file(STRINGS "${ETPROF_SDK}/version.py" version_line REGEX "^__version__ *=")
  string(REGEX REPLACE ".*[\"']([^\"']+)[\"'].*" "\\1" etp_sdk_version "${version_line}")
  find_package(executorch REQUIRED CONFIG NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
    PATHS "${ETPROF_SDK}/lib/cmake/executorch")
elseif(EXISTS "${ETPROF_SDK}/lib/cmake/ExecuTorch/executorch-config.cmake")
  set(etp_sdk_static ON)
  find_package(executorch REQUIRED CONFIG NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
    PATHS "${ETPROF_SDK}/lib/cmake/ExecuTorch")
  set(etp_sdk_version "${ETPROF_EXECUTORCH_VERSION}")
  if(etp_sdk_version STREQUAL "")
    set(etp_sdk_version "${executorch_VERSION}")
  endif()
  if(etp_sdk_version STREQUAL "")
    set(etp_sdk_version "unknown")
    message(WARNING "this ExecuTorch does not say its version; name it with -DETPROF_EXECUTORCH_VERSION=1.5.1, "
      "so that reports can")
  endif()
else()
  message(FATAL_ERROR "ETPROF_SDK='${ETPROF_SDK}' is not an ExecuTorch: neither an unpacked package (scripts/sdk "
    "TRIPLE) nor an install folder (lib/cmake/ExecuTorch/executorch-config.cmake)")
endif()

# The SDK's targets would put the folders of this machine, and $ORIGIN itself, first in the run
# path; a bundle must find the SDK in its own sdk/ only. So: their headers and definitions, but the
# libraries by file. Kernels and backends register themselves in static initialisers, nothing refers
# to them, hence --no-as-needed.
function(etp_link_shared target)
  foreach(part IN ITEMS runtime kernels_optimized kernels_quantized backend_xnnpack threadpool etdump)
    if(NOT TARGET executorch::${part})
      message(FATAL_ERROR "this ExecuTorch SDK has no executorch::${part}")
    endif()
    list(APPEND libraries "$<TARGET_FILE:executorch::${part}>")
    target_include_directories(${target} SYSTEM PRIVATE
      "$<TARGET_PROPERTY:executorch::${part},INTERFACE_INCLUDE_DIRECTORIES>")
    target_compile_definitions(${target} PRIVATE
      "$<TARGET_PROPERTY:executorch::${part},INTERFACE_COMPILE_DEFINITIONS>")
  endforeach()
  if(NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,--no-as-needed)
  endif()
  target_link_libraries(${target} PRIVATE ${libraries})
endfunction()

# One of NAMES, whole when nothing refers to it: kernels and backends register themselves. Releases
# differ in whether their target asks for that itself; twice would be duplicate symbols.
function(etp_link_archive target whole option)
  foreach(name IN LISTS ARGN)
    if(NOT TARGET ${name})
      continue()
    endif()
    get_target_property(asks ${name} INTERFACE_LINK_OPTIONS)
    if(whole AND NOT "${asks}" MATCHES "whole-archive|force_load")
      target_link_libraries(${target} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${name}>")
    else()
      target_link_libraries(${target} PRIVATE ${name})
    endif()
    return()
  endforeach()
  string(REPLACE ";" " or " names "${ARGN}")
  message(FATAL_ERROR "this ExecuTorch has no ${names}: build and install it with -D${option}=ON")
endfunction()

function(etp_link_static target)
  etp_link_archive(${target} ON EXECUTORCH_BUILD_XNNPACK xnnpack_backend)
  etp_link_archive(${target} ON EXECUTORCH_BUILD_KERNELS_OPTIMIZED optimized_native_cpu_ops_lib portable_ops_lib)
  etp_link_archive(${target} ON EXECUTORCH_BUILD_KERNELS_QUANTIZED quantized_ops_lib)
  etp_link_archive(${target} OFF EXECUTORCH_BUILD_DEVTOOLS etdump)
  etp_link_archive(${target} OFF EXECUTORCH_BUILD_EXTENSION_MODULE extension_module_static extension_module)
  etp_link_archive(${target} OFF EXECUTORCH_BUILD_EXTENSION_TENSOR extension_tensor)
  etp_link_archive(${target} OFF EXECUTORCH_BUILD_EXTENSION_DATA_LOADER extension_data_loader)
  etp_link_archive(${target} OFF EXECUTORCH_BUILD_PTHREADPOOL extension_threadpool)
  target_link_libraries(${target} PRIVATE executorch)
  target_include_directories(${target} SYSTEM PRIVATE "${ETPROF_SDK}/include"
    "${ETPROF_SDK}/include/executorch/runtime/core/portable_type/c10")
  # The kernels' questions come from the program itself then; and without ET_EVENT_TRACER_ENABLED the
  # headers would leave out what the library has.
  target_compile_definitions(${target} PRIVATE C10_USING_CUSTOM_GENERATED_MACROS ET_EVENT_TRACER_ENABLED
    ET_USE_THREADPOOL ETP_SDK_LINKED_IN)
endfunction()

function(etp_link_executorch target)
  target_compile_definitions(${target} PRIVATE ETP_EXECUTORCH_VERSION="${etp_sdk_version}")
  if(etp_sdk_static)
    etp_link_static(${target})
  else()
    etp_link_shared(${target})
  endif()
endfunction()
