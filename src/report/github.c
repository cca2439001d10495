// SPDX-License-Identifier: Apache-2.0
// A comment for a pull request: the short form, the whole below it folded away, in what a comment
// may hold (65,536 characters).
#include "base/guard.h"
#include "report/tree.h"

#define FOLD "\n<details>\n<summary>The whole report</summary>\n\n"
#define CUT \
    "\n\n*Cut to what a comment holds; `etprof analyze FOLDER --format md` has all of it.*\n"
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
    return ETP_OR(end, last_before(text, room, ETP_STR("\n\n")));
}

// Room is kept for the texts around what is folded, whether or not they are needed: the limit is of
// bytes, GitHub's is of characters, so the comment always fits.
static void put(etp_strbuf *out, etp_str text, size_t limit, bool *cut)
{
    size_t used = out->len + sizeof FOLD + sizeof CUT + sizeof UNFOLD;
    size_t n = whole_sections(text, ETP_LESS(limit, used));
    *cut = *cut || n < text.len;
    etp_strbuf_append(out, (etp_str){text.ptr, n});
}

static etp_status compose(const etp_report *r, size_t limit, etp_arena *arena, etp_sink *sink,
                          etp_error *err)
{
    static const etp_report_style k_brief = {.unicode = true, .brief = true},
                                  k_all = {.unicode = true};
    etp_strbuf out, brief, all;
    etp_strbuf_init(&out, arena);
    etp_strbuf_init(&brief, arena);
    etp_strbuf_init(&all, arena);
    etp_sink to_brief = etp_sink_strbuf(&brief), to_all = etp_sink_strbuf(&all);
    ETP_TRY(etp_write_md(r, &k_brief, arena, &to_brief, err));
    ETP_TRY(etp_write_md(r, &k_all, arena, &to_all, err));
    bool cut = false;
    put(&out, etp_strbuf_str(&brief), limit, &cut);
    if (all.len > brief.len && !cut) {
        etp_strbuf_appendz(&out, FOLD);
        put(&out, etp_strbuf_str(&all), limit, &cut);
        etp_strbuf_appendz(&out, etp_if(cut, CUT));
        etp_strbuf_appendz(&out, UNFOLD);
    } else if (cut) {
        etp_strbuf_appendz(&out, CUT);
    }
    etp_sink_write(sink, etp_strbuf_str(&out));
    return etp_sink_check(sink, err, "the report");
}

static etp_status guarded(const etp_report *r, size_t limit, etp_arena *arena, etp_sink *sink,
                          etp_error *err)
{
    ETP_GUARDED(arena, err, "report", compose(r, limit, arena, sink, err));
}

etp_status etp_report_write_github(const etp_report *r, size_t limit, etp_sink *sink,
                                   etp_error *err)
{
    ETP_NEED(r && !r->arena->failed, err, "report"); // who built it may have had no guard
    etp_arena scratch;
    etp_arena_scratch(&scratch, r->arena);
    etp_status status = guarded(r, limit, &scratch, sink, err);
    etp_arena_dispose(&scratch);
    return status;
}
