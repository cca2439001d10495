# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where. The program finds everything relative to itself (bin/../…), so the prefix can be
# moved. Manual pages and completions are printed by the program that is installed.
include(GNUInstallDirs)
set(ETPROF_BUNDLES ${PROJECT_SOURCE_DIR}/build/bundle CACHE PATH "runner bundles to install (scripts/build-runner makes them)")
set(share ${CMAKE_INSTALL_DATAROOTDIR})

install(TARGETS etprof etprof-launch RUNTIME DESTINATION bin COMPONENT etprof)
foreach(inserted etprof-mask etprof-level)
  if(TARGET ${inserted})
    install(TARGETS ${inserted} LIBRARY DESTINATION bin COMPONENT etprof)
  endif()
endforeach()

# For programs of others: the library, its headers, pkg-config, find_package(etprof).
set(lib ${CMAKE_INSTALL_LIBDIR})
set(needs jansson libzstd libzip capstone)
install(TARGETS etprof_static ARCHIVE DESTINATION ${lib} COMPONENT etprof)
install(TARGETS etprof_shared EXPORT etprof LIBRARY DESTINATION ${lib} COMPONENT etprof)
install(EXPORT etprof NAMESPACE etprof:: FILE etprofTargets.cmake DESTINATION ${lib}/cmake/etprof COMPONENT etprof)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/etprofConfig.cmake.in ${PROJECT_BINARY_DIR}/etprofConfig.cmake
  INSTALL_DESTINATION ${lib}/cmake/etprof PATH_VARS lib CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/etprofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/etprofConfig.cmake ${PROJECT_BINARY_DIR}/etprofConfigVersion.cmake
  DESTINATION ${lib}/cmake/etprof COMPONENT etprof)
install(DIRECTORY include/etprof DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT etprof)
# pkg-config --static changes nothing about a library that is there both ways: the static one is a package of its own.
file(RELATIVE_PATH up /prefix/${lib}/pkgconfig /prefix)
function(etp_pkg_config name libs)
  file(WRITE ${PROJECT_BINARY_DIR}/${name}.pc "prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${lib}
Name: ${name}
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Requires: ${ARGN}
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
Libs: ${libs}
")
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${lib}/pkgconfig COMPONENT etprof)
endfunction()
list(JOIN needs " " needed)
etp_pkg_config(etprof "-L\${libdir} -letprof")
list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE dl) # none on a Mac
etp_pkg_config(etprof-static "\${libdir}/libetprof.a -lm ${dl} -pthread" ${needed})

# What verbs look for beside the program: `export` its Python package and models, `skills` the playbooks.
install(DIRECTORY python/etprof DESTINATION ${share}/etprof/python COMPONENT etprof PATTERN __pycache__ EXCLUDE)
install(DIRECTORY model_profiling/models model_profiling/configs
  DESTINATION ${share}/etprof/model_profiling COMPONENT etprof PATTERN __pycache__ EXCLUDE)
install(FILES python/etprof/schemas/config.schema.json # which the configs name
  DESTINATION ${share}/etprof/model_profiling/schemas COMPONENT etprof)
install(DIRECTORY agent_skill_ml_profiling agentic-kits DESTINATION ${share}/etprof COMPONENT etprof FILES_MATCHING PATTERN *.md)
install(DIRECTORY examples/models/ DESTINATION ${share}/etprof/models COMPONENT etprof FILES_MATCHING PATTERN *.pte)
install(PROGRAMS examples/ci/pull_request.sh DESTINATION ${share}/etprof/ci COMPONENT etprof)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md cmake/copyright DESTINATION ${share}/doc/etprof
  COMPONENT etprof)
install(FILES bench/README.md bench/results.md DESTINATION ${share}/doc/etprof/bench COMPONENT etprof) # pages lead to them
install(DIRECTORY cmake/licenses DESTINATION ${share}/doc/etprof COMPONENT etprof)
install(DIRECTORY docs/ DESTINATION ${share}/doc/etprof/docs COMPONENT etprof)

set(ETPROF_INSTALL_RUNS ON)
if(CMAKE_CROSSCOMPILING)
  set(ETPROF_INSTALL_RUNS OFF)
endif()
configure_file(cmake/install_made.cmake.in ${PROJECT_BINARY_DIR}/install_made.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/install_made.cmake COMPONENT etprof)

# The archive of scripts/install --package; scripts/deb makes Debian's packages.
set(CPACK_PACKAGE_NAME etprof)
set(CPACK_PACKAGE_VENDOR "etprof")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
string(TOLOWER "etprof-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES OFF) # a bundle holds the hashes of its files
set(CPACK_GENERATOR TGZ)
include(CPack)
