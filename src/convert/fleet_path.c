// SPDX-License-Identifier: Apache-2.0
// What the folders of a source's path say about it: "day=2026-11-21", "device=pixel9".
#include "base/number.h"
#include "convert/fleet_rows.h"

static bool is_day(etp_str s)
{
    bool ok = s.len == 10 && s.ptr[4] == '-' && s.ptr[7] == '-';
    for (size_t i = 0; ok && i < 10; i++) {
        ok = i == 4 || i == 7 || (s.ptr[i] >= '0' && s.ptr[i] <= '9');
    }
    return ok;
}

static void take(etp_str name, etp_source_labels *out)
{
    struct {
        const char *key;
        etp_str *to;
    } const known[] = {
        {"day=",        &out->day       },
        {"device=",     &out->device    },
        {"model=",      &out->model     },
        {"build=",      &out->build     },
        {"experiment=", &out->experiment},
        {"level=",      &out->level     },
    };
    static const char k_threads[] = "threads=";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        etp_str key = etp_str_from(known[i].key);
        if (etp_str_starts(name, key)) {
            *known[i].to = (etp_str){name.ptr + key.len, name.len - key.len};
        }
    }
    uint64_t threads;
    if (etp_str_starts(name, etp_str_from(k_threads)) &&
        etp_parse_u64((etp_str){name.ptr + sizeof k_threads - 1, name.len - (sizeof k_threads - 1)},
                      &threads) &&
        threads <= UINT32_MAX) {
        out->threads = (uint32_t)threads;
    }
}

// Folders named key=value are how lakes lay out tables (Hive partitions), so a dump that says
// nothing of its device may lie in a folder that does. The deepest one of a key holds.
void etp_source_read_path(const char *path, etp_source_labels *out)
{
    *out = (etp_source_labels){0};
    etp_str rest = etp_str_from(path);
    for (;;) {
        const char *slash = rest.len > 0 ? memchr(rest.ptr, '/', rest.len) : NULL;
        etp_str name = {rest.ptr, slash ? (size_t)(slash - rest.ptr) : rest.len};
        if (!slash) {
            // Up to the first dot, since dumps have several endings (".etdump.zst"); a dot at the
            // start belongs to a hidden file's name.
            const char *dot = name.len > 0 ? memchr(name.ptr + 1, '.', name.len - 1) : NULL;
            out->stem = dot ? (etp_str){name.ptr, (size_t)(dot - name.ptr)} : name;
            break;
        }
        take(name, out);
        rest = (etp_str){slash + 1, rest.len - name.len - 1};
    }
    // The day becomes a partition that engines read as a date: anything else would break the table.
    if (!is_day(out->day)) {
        out->day = ETP_STR("");
    }
}
