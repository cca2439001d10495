// SPDX-License-Identifier: Apache-2.0
#include "compare/phases.h"

#include <string.h>

#include "base/buffer.h"
#include "base/shell.h"

static const char *without(const char *name, const char *left_out, etp_arena *arena)
{
    char *word = etp_arena_strdup(arena, etp_str_from(name));
    size_t n = 0;
    for (size_t i = 0; word && word[i]; i++) {
        if (!strchr(left_out, word[i])) {
            word[n++] = word[i];
        }
    }
    if (word) {
        word[n] = '\0';
    }
    return word;
}

const char *etp_ab_phase_word(const char *name, etp_arena *arena)
{
    return without(name, " ", arena);
}

const char *etp_ab_phase_file_word(const char *name, etp_arena *arena)
{
    return without(name, " @", arena);
}

const char *etp_ab_phase_words(const etp_ab *ab, etp_arena *arena)
{
    enum { SHOWN = 16 };
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t i = 0; i < ab->n_phases && i < SHOWN; i++) {
        const char *word = etp_ab_phase_word(ab->phases[i].name, arena);
        etp_strbuf_printf(&text, "%s%.60s", etp_if(i, ", "), ETP_OR(word, ""));
    }
    etp_strbuf_appendz(&text, etp_if(ab->n_phases > SHOWN, ", …"));
    return etp_z_if(!text.failed, text.ptr);
}

// Index of the phase of AB that is ASKED for.
static etp_status find_phase(const etp_ab *ab, const char *asked, etp_arena *arena, size_t *out,
                             etp_error *err)
{
    if (ab->n_phases == 0) {
        return etp_fail(err, ETP_USAGE,
                        "--phase %s: nothing here was measured in phases; leave it out", asked);
    }
    const char *wanted = etp_ab_phase_word(asked, arena), *all = etp_ab_phase_words(ab, arena);
    ETP_NEED(wanted && all, err, "phases");
    size_t of_kind = 0;
    for (size_t i = 0; i < ab->n_phases; i++) {
        const etp_ab_phase *p = &ab->phases[i];
        const char *word = etp_ab_phase_word(p->name, arena);
        ETP_NEED(word, err, "phases");
        if (strcmp(word, wanted) == 0) {
            *out = i;
            return ETP_OK;
        }
        if (strcmp(etp_phase_kind_name(p->kind), wanted) == 0) {
            of_kind++;
            *out = i;
        }
    }
    if (of_kind != 1) {
        return etp_fail(err, ETP_USAGE, "--phase %s: %s; the phases are %s", asked,
                        of_kind ? "several are of this kind" : "no phase has this name", all);
    }
    return ETP_OK;
}

etp_status etp_ab_of_phase(const etp_ab *ab, const char *asked, const etp_ab **out, etp_error *err)
{
    size_t at = 0;
    *out = ab;
    if (asked) {
        ETP_TRY(find_phase(ab, asked, ab->arena, &at, err));
        *out = ab->phases[at].ab;
    }
    return ETP_OK;
}

etp_status etp_ab_find_run_phase(const etp_run *run, const char *asked, etp_arena *arena,
                                 uint32_t *out, etp_error *err)
{
    size_t n = run->phases.n, at = 0;
    etp_ab_phase *phases = ETP_NEW_ARRAY(arena, etp_ab_phase, n + 1);
    ETP_NEED(phases, err, "phases");
    for (size_t i = 0; i < n; i++) {
        phases[i].name = etp_arena_strdup(arena, run->phases.items[i].name);
        phases[i].kind = run->phases.items[i].kind;
    }
    ETP_TRY(etp_arena_check(arena, err, "phases"));
    const etp_ab named = {.phases = phases, .n_phases = n};
    if (asked) {
        ETP_TRY(find_phase(&named, asked, arena, &at, err));
    }
    *out = (uint32_t)at;
    return ETP_OK;
}

const char *etp_ab_phase_option(const etp_ab *ab, etp_arena *arena)
{
    if (!ab->later_phase) {
        return "";
    }
    const char *word = etp_ab_phase_word(ab->later_phase, arena);
    return word ? etp_shell_command(arena, " --phase %s", word) : NULL;
}
