// SPDX-License-Identifier: Apache-2.0
// What lies beside the programs: the exporter's record, which names modules of the model, and how
// the candidate was exported.
#include "numerics/precision.h"

#include "base/path.h"
#include "base/shell.h"
#include "numerics/arms.h"
#include "numerics/pairs.h"

#define OF_COMMAND 2u // words before those of the export: etprof export
#define ENOUGH 0.5    // share of the noise that the command takes away

etp_status etp_precision_modules(etp_arms *arms, etp_precision *out)
{
    const etp_record_method *m = NULL;
    ETP_TRY(etp_arms_exported(arms, &arms->sides[ETP_BASELINE], &m));
    for (size_t i = 0; m && i < out->rows.n; i++) {
        etp_precision_row *row = &out->rows.items[i];
        const etp_op *op = &arms->sides[ETP_BASELINE].ops.items[row->place];
        const etp_source *source = etp_etrecord_source(m, etp_op_handle(op, m));
        if (source && source->module.len) {
            row->module = etp_arena_strdup(arms->arena, source->module);
        }
    }
    return ETP_OK;
}

// ---- the command ----

// The modules of the first rows of `keep`, those that add half of the noise. NULL: one is not
// known.
static const char *modules_to_keep(const etp_precision *p, etp_arena *arena, uint32_t *n)
{
    const char *list = NULL;
    double taken = 0;
    for (size_t i = 0; i < p->keep.n && taken < ENOUGH; i++) {
        const etp_precision_keep *k = &p->keep.items[i];
        if (!k->module) {
            return NULL;
        }
        bool twice = false;
        for (size_t j = 0; j < i; j++) {
            twice = twice || strcmp(p->keep.items[j].module, k->module) == 0;
        }
        if (!twice) {
            list = list ? etp_arena_printf(arena, "%s,%s", list, k->module) : k->module;
        }
        taken += k->share;
        *n = k->operators;
    }
    return list;
}

static const char *command_of(const etp_arms *arms, const etp_run_model *m, const char *modules,
                              uint32_t n)
{
    const char *model = arms->sides[ETP_CANDIDATE].model;
    const etp_str folder = etp_path_folder(model), was = etp_run_model_name(m->stem);
    const char *dir = folder.ptr ? etp_arena_strdup(arms->arena, folder) : ".";
    const char *name =
        etp_arena_printf(arms->arena, "%.*s_keep%lu", ETP_STR_ARG(was), (unsigned long)n);
    const char *program =
        etp_arena_printf(arms->arena, "%s/%s%s", dir, name, etp_path_name(model) + was.len);
    etp_strbuf text;
    etp_strbuf_init(&text, arms->arena);
    etp_strbuf_appendz(&text, "etprof export");
    for (size_t i = OF_COMMAND; i < m->command.n; i++) {
        etp_strbuf_appendz(&text, " ");
        etp_shell_word(&text, m->command.items[i].ptr);
    }
    // Of a name that is given twice the last one counts.
    const char *rest =
        etp_shell_command(arms->arena,
                          " --keep-float %s --name %s --outdir %s --accept-unproven "
                          "&& etprof ab %s %s --numerics",
                          modules, name, dir, arms->sides[ETP_BASELINE].model, program);
    etp_strbuf_appendz(&text, ETP_OR(rest, ""));
    return text.ptr;
}

etp_status etp_precision_command(etp_arms *arms, etp_precision *out)
{
    const etp_run_model *m = &arms->plan->models[arms->sides[ETP_CANDIDATE].arm->model];
    uint32_t n = 0;
    const char *modules = modules_to_keep(out, arms->arena, &n);
    if (out->keep.n == 0) {
        return ETP_OK;
    }
    if (etp_ops_precision(arms->sides[ETP_CANDIDATE].method) != ETP_OUTPUTS_INT8) {
        out->no_command = "'etprof export --keep-float' leaves layers out where it quantises, and "
                          "the candidate has none that it quantised";
        return ETP_OK;
    }
    if (m->command.n <= OF_COMMAND) {
        out->no_command = "no export.json beside the candidate says how a program of its SHA-256 "
                          "was made; 'etprof export' writes one";
    } else if (!modules) {
        out->no_command = "no .etrecord beside the baseline names the modules of the operators; "
                          "'etprof export' writes one";
    } else {
        out->command = command_of(arms, m, modules, n);
    }
    return ETP_OK;
}
