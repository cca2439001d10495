// SPDX-License-Identifier: Apache-2.0
// What all rows of one source begin with, and the rows of what could not be read.
#include "convert/fleet_source.h"

#include "base/utf8.h"

#define NAME_MAX_BYTES 60 // three for one when a folder's name is escaped, 255 at most

// NAME as a folder of a lake can have it: sound UTF-8 without control characters, short.
static etp_str folder_name(etp_arena *arena, etp_str name)
{
    char *copy = etp_arena_strdup(arena, name);
    size_t kept = 0;
    bool valid = true;
    for (etp_str rest = name; rest.len > 0;) {
        size_t n = etp_utf8_next(rest, &valid);
        if (kept + n > NAME_MAX_BYTES || !copy) {
            break;
        }
        if (!valid || (n == 1 && ((unsigned char)*rest.ptr < 0x20 || *rest.ptr == 0x7f))) {
            memset(copy + kept, '_', n);
        }
        kept += n;
        rest = (etp_str){rest.ptr + n, rest.len - n};
    }
    etp_str made = {copy, copy ? kept : 0};
    // what engines call a folder whose value is null
    return etp_str_starts(made, ETP_STR("__HIVE_DEFAULT")) ? ETP_STR("") : made;
}

etp_status etp_fleet_begin(const etp_fleet_source *source, const etp_run *run,
                           etp_fleet_rows_of *out, etp_error *err)
{
    etp_table_folder *f = &out->folder;
    *out = (etp_fleet_rows_of){.source = source};
    f->run = *run;
    f->run.dir = etp_str_from(source->path);
    memcpy(f->id, source->id, sizeof f->id);
    f->timed = etp_table_utc(run->generated_at, &f->generated_us);
    f->cpu = etp_run_fact_of(run, "cpu");
    f->fleet = &out->fleet;
    etp_str *models = ETP_NEW_ARRAY(&f->arena, etp_str, run->models.n);
    ETP_NEED(models, err, "a source");
    for (size_t i = 0; i < run->models.n; i++) {
        models[i] = folder_name(&f->arena, run->models.items[i].stem);
    }
    const etp_source_labels *labels = &source->labels;
    // What the path says was chosen by who keeps the fleet. Without it "local" would be the same
    // device on every machine, so the processor stands for it.
    etp_str device = labels->device;
    if (device.len == 0) {
        device = etp_str_eqz(run->device_spec, "local") ? f->cpu : run->device_spec;
    }
    // Without a name, a build is known by its program and its runner.
    etp_str build = labels->build;
    if (build.len == 0 && run->arms.n > 0 && run->models.n > 0) {
        etp_str program = run->models.items[0].sha256, runner = run->arms.items[0].runner_sha256;
        const char *made =
            etp_arena_printf(&f->arena, "%.*s+%.*s", program.len < 12 ? (int)program.len : 12,
                             ETP_OR(program.ptr, ""), runner.len < 12 ? (int)runner.len : 12,
                             ETP_OR(runner.ptr, ""));
        build = made && program.len + runner.len > 0 ? etp_str_from(made) : ETP_STR("");
    }
    out->fleet = (etp_table_fleet){
        // A run's own time is surer than the folder that somebody put it in.
        .day = f->timed ? (etp_str){run->generated_at.ptr, 10}
            : labels->day,
        .build = build,
        .device = folder_name(&f->arena, device),
        .models = models,
    };
    return ETP_OK;
}

void etp_fleet_end(etp_fleet_rows_of *rows)
{
    etp_arena_dispose(&rows->folder.arena);
}

static const char *status_word(etp_status status)
{
    static const char *const k_words[] = {
        [ETP_CORRUPT] = "corrupt", [ETP_UNSUPPORTED] = "unsupported",
        [ETP_IO] = "io",           [ETP_USAGE] = "usage",
        [ETP_UNKNOWN] = "unknown", [ETP_ENVIRONMENT] = "environment",
    };
    size_t n = sizeof k_words / sizeof k_words[0];
    return (size_t)status < n && k_words[status] ? k_words[status] : "internal";
}

etp_status etp_fleet_put_error(etp_kept_rows *rows, const etp_fleet_source *source,
                               const etp_error *problem, etp_error *err)
{
    etp_batch *b = etp_kept_room(&rows[ETP_FLEET_ERRORS], err);
    if (!b) {
        return ETP_NOMEM;
    }
    etp_arena arena = {0};
    etp_batch_text_if(b, source->labels.day);
    etp_batch_text(b, etp_str_from(source->path));
    etp_batch_text_if(b, etp_str_from(source->id));
    etp_batch_text_if(b, folder_name(&arena, source->labels.device));
    etp_batch_text_if(b, folder_name(&arena, source->labels.model));
    etp_batch_text(b, etp_str_from(source->kind));
    etp_batch_text(b, etp_str_from(status_word(problem->status)));
    etp_batch_text(b, etp_str_from(problem->msg));
    etp_batch_i64_if(b, problem->offset, problem->offset != ETP_NO_OFFSET);
    b->failed = b->failed || arena.failed;
    etp_arena_dispose(&arena);
    return etp_batch_end_row(b, err);
}
