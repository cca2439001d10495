# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=… -DOUT=… -P embed_schemas.cmake: the JSON Schemas of the tree as one C table, so that
# validating needs no installed files.
file(GLOB files "${FOLDER}/*.schema.json")
list(SORT files)
set(arrays "")
set(rows "")
foreach(file ${files})
  get_filename_component(name "${file}" NAME)
  string(REPLACE ".schema.json" "" name "${name}")
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "((0x..,){20})" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char k_${name}[] = {\n${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", k_${name}, sizeof k_${name} - 1},\n")
endforeach()
file(WRITE "${OUT}" "// Generated from model_profiling/schemas.
#include \"answer/validate_schemas.h\"

${arrays}
const etp_schema_source k_etp_schemas[] = {
${rows}    {NULL, NULL, 0},
};
")
