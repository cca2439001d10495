# SPDX-License-Identifier: Apache-2.0
# Writes OUT, a C source with the bytes of FILES (a ;-list) as the table that skills.h declares.
# Usage: cmake -DOUT=… -DFILES=… -P embed.cmake
set(text "// Made by cmake/embed.cmake.\n#include \"answer/skills.h\"\n\n")
set(table "")
set(i 0)
foreach(file IN LISTS FILES)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  string(APPEND text "static const unsigned char k_text_${i}[] = {\n${bytes}0x00};\n")
  string(APPEND table "    {\"${name}\", \"${folder}\", (const char *)k_text_${i}, sizeof k_text_${i} - 1},\n")
  math(EXPR i "${i} + 1")
endforeach()
file(WRITE ${OUT} "${text}\nconst etp_skill_text k_etp_skill_texts[] = {\n${table}    {NULL, NULL, NULL, 0},\n};\n")
