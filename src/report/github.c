// SPDX-License-Identifier: Apache-2.0
// A comment for a pull request: the short form, the whole below it folded away, in what a comment
// may hold (65,536 characters).
#include "report/tree.h"

#define FOLD "\n<details>\n<summary>The whole report</summary>\n\n"
#define CUT "\n\n*Cut to what a comment holds; `etprof report FOLDER --format md` has all of it.*\n"
#define UNFOLD "\n</details>\n"

// The end of the last TEXT before ROOM that MARK follows; 0: none.
static size_t last_before(etp_str text, size_t room, etp_str mark)
{
    size_t end = 0;
    for (size_t at = 0; at < room;) {
        at += etp_str_find((etp_str){text.ptr + at, room - at}, mark);
        end = at < room ? at : end;
        at += mark.len;
    }
    return end;
}

// How much of TEXT fits into ROOM: up to a section's heading, so that no table and no code is cut;
// where not even the first section fits, up to a paragraph of what stands above it.
static size_t whole_sections(etp_str text, size_t room)
{
    if (text.len <= room) {
        return text.len;
    }
    size_t end = last_before(text, room, ETP_STR("\n## "));
    return end ? end : last_before(text, room, ETP_STR("\n\n"));
}

// Room is kept for the texts around what is folded, whether or not they are needed: the limit is of
// bytes, GitHub's is of characters, so the comment always fits.
static void put(etp_strbuf *out, etp_str text, size_t limit, bool *cut)
{
    size_t used = out->len + sizeof FOLD + sizeof CUT + sizeof UNFOLD;
    size_t n = whole_sections(text, used < limit ? limit - used : 0);
    *cut = *cut || n < text.len;
    etp_strbuf_append(out, (etp_str){text.ptr, n});
}

static void compose(const etp_report *r, size_t limit, etp_arena *arena, etp_strbuf *out)
{
    static const etp_report_style k_brief = {.unicode = true, .brief = true},
                                  k_all = {.unicode = true};
    etp_strbuf brief, all;
    etp_strbuf_init(&brief, arena);
    etp_strbuf_init(&all, arena);
    etp_sink to_brief = etp_sink_strbuf(&brief), to_all = etp_sink_strbuf(&all);
    etp_report_write_md(r, &k_brief, &to_brief);
    etp_report_write_md(r, &k_all, &to_all);
    bool cut = false;
    put(out, etp_strbuf_str(&brief), limit, &cut);
    if (all.len > brief.len && !cut) {
        etp_strbuf_appendz(out, FOLD);
        put(out, etp_strbuf_str(&all), limit, &cut);
        etp_strbuf_appendz(out, cut ? CUT : "");
        etp_strbuf_appendz(out, UNFOLD);
    } else if (cut) {
        etp_strbuf_appendz(out, CUT);
    }
    out->failed = out->failed || brief.failed || all.failed;
}

etp_status etp_report_write_github(const etp_report *r, size_t limit, etp_sink *sink,
                                   etp_error *err)
{
    etp_arena arena = {0};
    etp_strbuf out;
    etp_strbuf_init(&out, &arena);
    if (r && !r->arena->failed) {
        compose(r, limit, &arena, &out);
    }
    bool made = r && !r->arena->failed && !out.failed;
    if (made) {
        etp_sink_write(sink, etp_strbuf_str(&out));
    }
    etp_arena_dispose(&arena);
    return made ? ETP_OK : etp_fail_nomem(err, "report");
}
