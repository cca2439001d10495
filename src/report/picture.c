// SPDX-License-Identifier: Apache-2.0
// Pictures of the HTML page, as the JSON that its script draws them from.
#include <math.h>

#include "base/json.h"
#include "report/tree.h"

struct etp_picture {
    etp_report *report;
    size_t block; // blocks move when others are added
    etp_strbuf text;
    etp_sink sink;
    etp_json json;
};

etp_picture *etp_report_picture(etp_report *r, const char *kind)
{
    etp_picture *p = r ? ETP_NEW(r->arena, etp_picture) : NULL;
    if (!p) {
        return NULL;
    }
    etp_block *b = etp_report_add_block(r, ETP_BLOCK_PICTURE);
    b->medium = ETP_ON_PAGE;
    b->caption = etp_str_from(kind);
    p->report = r;
    p->block = r->blocks.n - 1;
    etp_strbuf_init(&p->text, r->arena);
    p->sink = etp_sink_strbuf(&p->text);
    etp_json_init(&p->json, &p->sink, false);
    etp_json_begin_object(&p->json);
    return p;
}

static bool keyed(etp_picture *p, const char *key)
{
    if (p && key) {
        etp_json_key(&p->json, key);
    }
    return p;
}

void etp_picture_list(etp_picture *p, const char *key)
{
    if (keyed(p, key)) {
        etp_json_begin_array(&p->json);
    }
}

void etp_picture_item(etp_picture *p)
{
    if (p) {
        etp_json_begin_object(&p->json);
    }
}

void etp_picture_end(etp_picture *p)
{
    if (p) {
        etp_json_end(&p->json);
        if (!p->report->arena->failed) {
            p->report->blocks.items[p->block].text = etp_strbuf_str(&p->text);
        }
    }
}

void etp_picture_text(etp_picture *p, const char *key, const char *text)
{
    if (text && *text && keyed(p, key)) {
        etp_json_str(&p->json, etp_report_clean(p->report, text));
    }
}

void etp_picture_link(etp_picture *p, const char *id)
{
    etp_str link = p ? etp_report_link(p->report, id) : (etp_str){"", 0};
    if (link.len && keyed(p, "link")) {
        etp_json_str(&p->json, link);
    }
}

// Six digits are finer than any screen; whole numbers are kept.
void etp_picture_number(etp_picture *p, const char *key, double v)
{
    if (!keyed(p, key)) {
        return;
    }
    if (floor(v) == v) {
        etp_json_double(&p->json, v);
    } else {
        etp_json_ratio(&p->json, v);
    }
}
