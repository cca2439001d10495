// SPDX-License-Identifier: Apache-2.0
// Texts of the HTML page whose words may be the ids of drawers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_parts.h"

enum { ID_CHARS = 128 };

int etp_html_id_order(const void *pa, const void *pb)
{
    const etp_str *a = pa, *b = pb;
    size_t n = a->len < b->len ? a->len : b->len;
    int order = n ? memcmp(a->ptr, b->ptr, n) : 0;
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

// Asked for every word of the page: the ids are sorted once.
bool etp_html_links_have(const etp_html_links *links, etp_str id)
{
    return links && links->n &&
           bsearch(&id, links->items, links->n, sizeof *links->items, etp_html_id_order);
}

// What WORD is an id of, in its scope; empty: of nothing.
static etp_str drawer_of(const etp_html_links *links, etp_str word, char buf[static ID_CHARS])
{
    if (links->scope.len) {
        if (links->scope.len + word.len + 2 > ID_CHARS) {
            return (etp_str){"", 0};
        }
        int n = snprintf(buf, ID_CHARS, "%.*s-%.*s", ETP_STR_ARG(links->scope), ETP_STR_ARG(word));
        word = (etp_str){buf, (size_t)n};
    }
    return etp_html_links_have(links, word) ? word : (etp_str){"", 0};
}

void etp_html_id(etp_sink *sink, etp_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_';
        etp_sink_char(sink, fine ? c : '-');
    }
}

void etp_html_link(etp_sink *sink, etp_str id)
{
    etp_sink_z(sink, "<a href=#");
    etp_html_id(sink, id);
    etp_sink_char(sink, '>');
}

// Its words, quoted ones whole, each in an element: a line is broken between them.
// Blanks between the elements stay text, so what is copied is the command as it was.
void etp_html_command(etp_sink *sink, etp_str s)
{
    bool quoted = false, within = false;
    for (size_t i = 0, from = 0; i <= s.len; i++) {
        char c = i < s.len ? s.ptr[i] : ' ';
        quoted = quoted != (c == '\'') && i < s.len;
        bool space = c == ' ' && !quoted;
        if (within && space) {
            etp_sink_z(sink, "<span>");
            etp_sink_xml(sink, (etp_str){s.ptr + from, i - from});
            etp_sink_z(sink, "</span>");
        }
        if (space && i < s.len) {
            etp_sink_char(sink, ' ');
        }
        from = within && !space ? from : i;
        within = !space;
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

// Words are found, not marked by authors: a finding that says "op12" in its sentence is a link
// without knowing of pages.
void etp_html_text(etp_sink *sink, etp_str s, const etp_html_links *links)
{
    size_t from = 0;
    int depth = 0;
    for (size_t i = 0; links && links->n && i < s.len;) {
        depth += (s.ptr[i] == '(') - (s.ptr[i] == ')');
        if (!is_word(s.ptr[i])) {
            i++;
            continue;
        }
        size_t end = i;
        while (end < s.len && is_word(s.ptr[end])) {
            end++;
        }
        etp_str word = {s.ptr + i, end - i};
        // "(NC, F32)" is a data type, not the finding F32.
        bool typed = depth > 0 && word.len > 1 && !is_letter(word.ptr[1]);
        char buf[ID_CHARS];
        etp_str drawer = typed ? (etp_str){"", 0} : drawer_of(links, word, buf);
        if (drawer.len) {
            etp_sink_xml(sink, (etp_str){s.ptr + from, i - from});
            etp_html_link(sink, drawer);
            etp_sink_xml(sink, word);
            etp_sink_z(sink, "</a>");
            from = end;
        }
        i = end;
    }
    etp_sink_xml(sink, (etp_str){s.ptr + from, s.len - from});
}
