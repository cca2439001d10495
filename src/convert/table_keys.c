// SPDX-License-Identifier: Apache-2.0
// What every row of a table begins with.
#include "convert/table_rows.h"

static etp_str device_of(const etp_table_folder *f)
{
    return f->fleet && f->fleet->device.len > 0 ? f->fleet->device : f->run.device_spec;
}

// MODEL: an index; of none where there is no such model.
static void session_keys(const etp_table_folder *f, size_t index, bool emulated, etp_batch *b)
{
    const etp_run_model *model = index < f->run.models.n ? &f->run.models.items[index] : NULL;
    if (f->fleet) {
        etp_batch_text_if(b, f->fleet->day);
        etp_batch_text_if(b, f->fleet->build);
    }
    etp_batch_text(b, f->run.dir);
    etp_batch_text(b, etp_str_from(f->id));
    etp_batch_i64_if(b, (uint64_t)f->generated_us, f->timed);
    etp_batch_text_if(b, f->run.platform);
    etp_batch_text_if(b, device_of(f));
    etp_batch_text_if(b, f->cpu);
    etp_batch_bool(b, emulated);
    etp_str name = model ? model->stem : ETP_STR("");
    etp_batch_text_if(b, model && f->fleet ? f->fleet->models[index] : name);
    etp_batch_text_if(b, model ? model->sha256 : ETP_STR(""));
}

void etp_table_session_keys(const etp_table_folder *f, etp_batch *b)
{
    session_keys(f, 0, f->run.emulated, b);
}

// Rows of one arm follow each other: most begin as the one before.
static bool is_keyed(const etp_table_folder *f, uint32_t arm, const etp_batch *b)
{
    return b->keyed.columns > 0 && b->rows > 0 && b->keyed.row == b->rows - 1 &&
           b->keyed.arm == arm && etp_str_eqz(b->keyed.id, f->id) &&
           etp_str_eq(b->keyed.folder, f->run.dir);
}

void etp_table_keys(const etp_table_folder *f, uint32_t arm_index, etp_batch *b)
{
    if (is_keyed(f, arm_index, b)) {
        b->keyed.row = b->rows;
        etp_batch_repeat(b, b->keyed.columns, b->keyed.text_bytes);
        return;
    }
    size_t text_before = b->text_bytes;
    const etp_run_arm *arm = &f->run.arms.items[arm_index];
    session_keys(f, arm->model, arm->emulated || f->run.emulated, b);
    etp_batch_text(b, arm->name);
    etp_batch_text_if(b, arm->level);
    etp_batch_i64_if(b, arm->threads, arm->threads > 0);
    const etp_run_phase *phase =
        arm->phase < f->run.phases.n ? &f->run.phases.items[arm->phase] : NULL;
    etp_batch_text_if(b, phase ? phase->name : ETP_STR(""));
    etp_batch_text_if(b, etp_str_from(phase ? etp_phase_kind_name(phase->kind) : ""));
    etp_batch_i64_if(b, phase ? phase->tokens : 0, phase && phase->tokens > 0);
    etp_batch_i64_if(b, phase ? phase->depth : 0, phase != NULL);
    b->keyed.row = b->rows;
    // Texts are compared in the batch's own copy: the folder's may be gone when the next one opens.
    const etp_batch_column *folder = &b->columns[f->fleet ? 2 : 0], *id = folder + 1;
    b->keyed.columns = b->failed ? 0 : b->at;
    if (!b->failed) {
        b->keyed.folder = folder->texts.items[folder->last];
        b->keyed.id = id->texts.items[id->last];
        b->keyed.arm = arm_index;
        b->keyed.text_bytes = b->text_bytes - text_before;
    }
}
