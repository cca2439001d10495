// SPDX-License-Identifier: Apache-2.0
// What every row of a table begins with.
#include "convert/table_rows.h"

void etp_table_keys(const etp_table_folder *f, uint32_t arm_index, etp_batch *b)
{
    const etp_run_arm *arm = &f->run.arms.items[arm_index];
    const etp_run_model *model =
        arm->model < f->run.models.n ? &f->run.models.items[arm->model] : NULL;
    etp_batch_text(b, f->run.dir);
    etp_batch_text(b, etp_str_from(f->id));
    etp_batch_i64_if(b, (uint64_t)f->generated_us, f->timed);
    etp_batch_text_if(b, f->run.platform);
    etp_batch_text_if(b, f->run.device_spec);
    etp_batch_text_if(b, f->cpu);
    etp_batch_bool(b, arm->emulated || f->run.emulated);
    etp_batch_text_if(b, model ? model->stem : ETP_STR(""));
    etp_batch_text_if(b, model ? model->sha256 : ETP_STR(""));
    etp_batch_text(b, arm->name);
    etp_batch_text_if(b, arm->level);
    etp_batch_i64_if(b, arm->threads, arm->threads > 0);
    const etp_run_phase *phase =
        arm->phase < f->run.phases.n ? &f->run.phases.items[arm->phase] : NULL;
    etp_batch_text_if(b, phase ? phase->name : ETP_STR(""));
    etp_batch_text_if(b, phase ? phase->kind : ETP_STR(""));
    etp_batch_i64_if(b, phase ? phase->tokens : 0, phase && phase->tokens > 0);
    etp_batch_i64_if(b, phase ? phase->depth : 0, phase != NULL);
}
