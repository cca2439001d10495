// SPDX-License-Identifier: Apache-2.0
#include "compare/phases.h"

#include <string.h>

#include "base/buffer.h"
#include "base/shell.h"

static const char *without(etp_str name, const char *left_out, etp_arena *arena)
{
    char *word = etp_arena_strdup(arena, name);
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
    return without(etp_str_from(name), " ", arena);
}

const char *etp_ab_phase_file_word(const char *name, etp_arena *arena)
{
    return without(etp_str_from(name), " @", arena);
}

size_t etp_ab_answers(const etp_ab *ab)
{
    return ETP_MAX(ab->n_phases, 1);
}

const etp_ab *etp_ab_answer_at(const etp_ab *ab, size_t i)
{
    return i == 0 ? ab : ab->phases[i];
}

static const char *words(const etp_run_phase *phases, size_t n, etp_arena *arena)
{
    enum { SHOWN = 16 };
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const char *word = without(phases[i].name, " ", arena);
        etp_strbuf_printf(&text, "%s%.60s", etp_if(i, ", "), ETP_OR(word, ""));
    }
    etp_strbuf_appendz(&text, etp_if(n > SHOWN, ", …"));
    return etp_z_if(!text.failed, text.ptr);
}

const char *etp_ab_phase_words(const etp_ab *ab, etp_arena *arena)
{
    return words(ab->phased, ab->n_phases, arena);
}

// Index of the one of PHASES that is ASKED for; NULL: the first.
static etp_status find_phase(const etp_run_phase *phases, size_t n, const char *asked,
                             etp_arena *arena, size_t *out, etp_error *err)
{
    *out = 0;
    if (!asked) {
        return ETP_OK;
    }
    if (n == 0) {
        return etp_fail(err, ETP_USAGE,
                        "--phase %s: nothing here was measured in phases; leave it out", asked);
    }
    const char *wanted = etp_ab_phase_word(asked, arena), *all = words(phases, n, arena);
    ETP_NEED(wanted && all, err, "phases");
    size_t of_kind = 0;
    for (size_t i = 0; i < n; i++) {
        const char *word = without(phases[i].name, " ", arena);
        ETP_NEED(word, err, "phases");
        if (strcmp(word, wanted) == 0) {
            *out = i;
            return ETP_OK;
        }
        if (strcmp(etp_phase_kind_name(phases[i].kind), wanted) == 0) {
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
    size_t at;
    ETP_TRY(find_phase(ab->phased, ab->n_phases, asked, ab->arena, &at, err));
    *out = etp_ab_answer_at(ab, at);
    return ETP_OK;
}

etp_status etp_ab_find_run_phase(const etp_run *run, const char *asked, etp_arena *arena,
                                 uint32_t *out, etp_error *err)
{
    size_t at;
    ETP_TRY(find_phase(run->phases.items, run->phases.n, asked, arena, &at, err));
    *out = (uint32_t)at;
    return ETP_OK;
}

const char *etp_ab_phase_option(const etp_ab *ab, etp_arena *arena)
{
    if (!ab->later_phase) {
        return "";
    }
    const char *word = etp_ab_phase_word(ab->phase, arena);
    return word ? etp_shell_command(arena, " --phase %s", word) : NULL;
}
