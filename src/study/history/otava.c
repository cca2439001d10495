// SPDX-License-Identifier: Apache-2.0
// A history for Apache Otava: one table per series and the configuration that names them. A table
// of its own each, because Otava takes no empty cells and not every session has every series.
#include <math.h>

#include "base/csv.h"
#include "base/guard.h"
#include "base/number.h"
#include "os/os.h"
#include "study/history/history.h"

// "03_toy_ns.csv": the number keeps names apart that are alike once odd characters are gone.
static const char *file_of(const etp_history *h, size_t i)
{
    etp_str name = h->series.items[i].name;
    char *text = etp_arena_printf(h->arena, "%02zu_%.*s.csv", i + 1,
                                  (int)(name.len < 100 ? name.len : 100), name.ptr);
    for (size_t k = 0; text[k]; k++) {
        char c = text[k];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '.' || c == '_' || c == '-';
        text[k] = plain ? c : '_';
    }
    return text;
}

static void cell(const etp_history *h, etp_str s, etp_sink *sink)
{
    etp_strbuf shown;
    etp_strbuf_init(&shown, h->arena);
    etp_sink to = etp_sink_strbuf(&shown);
    etp_sink_shown(&to, s, false);
    etp_csv_text(sink, etp_strbuf_str(&shown), ',');
}

static void write_table(const etp_history *h, const etp_history_series *s, etp_sink *sink)
{
    etp_sink_z(sink, "time");
    for (size_t a = 0; a < h->attributes.n; a++) {
        etp_sink_z(sink, ",");
        cell(h, h->attributes.items[a], sink);
    }
    etp_sink_z(sink, ",");
    cell(h, s->name, sink);
    etp_sink_z(sink, "\n");
    for (size_t r = 0; r < h->runs.n; r++) {
        char text[ETP_NUMBER_CHARS] = "";
        if (isnan(s->values[r])) {
            continue;
        }
        cell(h, h->runs.items[r].time, sink);
        for (size_t a = 0; a < h->attributes.n; a++) {
            etp_sink_z(sink, ",");
            cell(h, h->runs.items[r].attributes[a], sink);
        }
        (void)etp_format_double(s->values[r], text);
        etp_sink_z(sink, ",");
        etp_sink_z(sink, text);
        etp_sink_z(sink, "\n");
    }
}

// A string of JSON is one of YAML.
static void quoted(etp_sink *sink, etp_str text)
{
    etp_json j;
    etp_json_init(&j, sink, false);
    etp_json_str(&j, text);
}

// Otava's direction is −1 where less is better, else 1, also for series whose name says neither.
static void write_test(const etp_history *h, const etp_history_series *s, const char *path,
                       etp_sink *sink)
{
    bool time = s->unit == ETP_SERIES_TIME;
    etp_sink_z(sink, "  ");
    quoted(sink, s->name);
    etp_sink_z(sink, ":\n    type: csv\n    file: ");
    quoted(sink, etp_str_from(path));
    etp_sink_z(sink, "\n    time_column: time\n    csv_options: {delimiter: \",\", quote_char: "
                     "'\"'}\n    attributes: [");
    for (size_t a = 0; a < h->attributes.n; a++) {
        etp_sink_z(sink, a > 0 ? ", " : "");
        quoted(sink, h->attributes.items[a]);
    }
    etp_sink_z(sink, "]\n    metrics:\n      ");
    quoted(sink, s->name);
    etp_sink_z(sink, ": {column: ");
    quoted(sink, s->name);
    etp_sink_z(sink, time ? ", direction: -1}\n" : ", direction: 1}\n");
}

static etp_status write_files(const etp_history *h, const char *dir, etp_error *err)
{
    etp_strbuf config;
    etp_strbuf_init(&config, h->arena);
    etp_sink to_config = etp_sink_strbuf(&config);
    etp_sink_z(&to_config, "tests:\n");
    ETP_TRY(etp_os_mkdirs(dir, err));
    for (size_t i = 0; i < h->series.n; i++) {
        const char *path = etp_arena_printf(h->arena, "%s/%s", dir, file_of(h, i));
        etp_strbuf table;
        etp_strbuf_init(&table, h->arena);
        etp_sink to_table = etp_sink_strbuf(&table);
        write_table(h, &h->series.items[i], &to_table);
        // Tables before the configuration: one that names them finds them all.
        ETP_TRY(etp_os_write_atomic(path, etp_strbuf_str(&table), err));
        write_test(h, &h->series.items[i], path, &to_config);
    }
    return etp_os_write_atomic(etp_arena_printf(h->arena, "%s/otava.yaml", dir),
                               etp_strbuf_str(&config), err);
}

etp_status etp_history_otava(const etp_history *h, const char *dir, etp_error *err)
{
    ETP_GUARDED(h->arena, err, "history", write_files(h, dir, err));
}
