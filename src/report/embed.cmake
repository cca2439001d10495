# SPDX-License-Identifier: Apache-2.0
# cmake -DCSS=… -DJS=… -DOUT=… -P embed.cmake: the page's style sheet and script as C arrays, because
# C17 guarantees string literals of 4095 characters only.
function(bytes_of file out)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "((0x..,){20})" "\\1\n" bytes "${bytes}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

bytes_of("${CSS}" css)
bytes_of("${JS}" js)
file(WRITE "${OUT}" "// Generated from page.css and page.js.
#include \"report/page.h\"

const unsigned char k_etp_page_css[] = {
${css}0};
const size_t k_etp_page_css_len = sizeof k_etp_page_css - 1;

const unsigned char k_etp_page_js[] = {
${js}0};
const size_t k_etp_page_js_len = sizeof k_etp_page_js - 1;
")
