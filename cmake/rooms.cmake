# SPDX-License-Identifier: Apache-2.0
# A room is a folder of src/ built as one object library. DEPS are the rooms it may use, PRIVATE the
# headers that no other room may include; the test `layers` holds the #include lines against the same
# lists, written to rooms.txt. A COLD room is one in which nobody's time goes: a release build optimises
# it less and takes a third less time over it. What reads, joins, computes and renders is not cold.
set_property(GLOBAL PROPERTY ETP_ROOMS "")
set(ETP_COLD $<$<CONFIG:Release>:-O1>)

function(etp_room name)
  cmake_parse_arguments(ROOM "COLD" "" "SOURCES;PRIVATE;DEPS;LIBS" ${ARGN})
  add_library(room_${name} OBJECT ${ROOM_SOURCES})
  set_target_properties(room_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(room_${name} PRIVATE etp_flags ${ROOM_LIBS})
  if(ROOM_COLD)
    target_compile_options(room_${name} PRIVATE ${ETP_COLD})
  endif()
  set_property(GLOBAL APPEND PROPERTY ETP_ROOMS ${name})
  set_property(GLOBAL APPEND PROPERTY ETP_ROOM_LIBS ${ROOM_LIBS})
  string(REPLACE ";" " " deps "${ROOM_DEPS}")
  string(REPLACE ";" " " private "${ROOM_PRIVATE}")
  file(APPEND ${PROJECT_BINARY_DIR}/rooms.txt "${name}: ${deps} | ${private}\n")
endfunction()

# etp_unit_test(NAME file.c [extra sources] [LIBS …]): a cmocka program linked to the whole library. What it
# tests is as released, itself it is not optimised. Where the file has no main function it gets one (unit_main.cmake).
function(etp_unit_test name file)
  cmake_parse_arguments(T "" "" "LIBS" ${ARGN})
  get_filename_component(source ${file} ABSOLUTE)
  file(STRINGS ${source} main REGEX "^int main\\(")
  if(NOT main)
    set(main ${CMAKE_CURRENT_BINARY_DIR}/test_${name}_main.c)
    set(writer ${PROJECT_SOURCE_DIR}/cmake/unit_main.cmake)
    add_custom_command(OUTPUT ${main} COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DMAIN=${main} -P ${writer}
      DEPENDS ${source} ${writer} VERBATIM)
    set(source ${main})
  endif()
  add_executable(test_${name} ${source} ${T_UNPARSED_ARGUMENTS})
  target_link_libraries(test_${name} PRIVATE etp_flags etp_unit_flags etprof_static PkgConfig::CMOCKA ${T_LIBS})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit)
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  target_compile_definitions(test_${name} PRIVATE ETP_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME unit.${name} COMMAND test_${name})
  set_tests_properties(unit.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200
    ENVIRONMENT "CMOCKA_MESSAGE_OUTPUT=STDOUT")
endfunction()

# etp_script_test(NAME file.py [words …] [COST s] [TIMEOUT s] [PROCESSORS n] [LOCK name] [ALONE] [LABELS …]): a test
# in Python. It ends with 77 where it has to be skipped, after a printed reason.
function(etp_script_test name script)
  cmake_parse_arguments(T "ALONE" "COST;TIMEOUT;PROCESSORS;LOCK" "LABELS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 1200)
  endif()
  get_filename_component(path ${script} ABSOLUTE)
  add_test(NAME ${name} COMMAND python3 ${path} ${T_UNPARSED_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}")
  foreach(property COST PROCESSORS)
    if(T_${property})
      set_tests_properties(${name} PROPERTIES ${property} ${T_${property}})
    endif()
  endforeach()
  if(T_LOCK)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK ${T_LOCK})
  endif()
  if(T_ALONE)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()
