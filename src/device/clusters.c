// SPDX-License-Identifier: Apache-2.0
// Kinds of CPUs of a device, and lists of CPUs.
#include "device/clusters.h"

#include "base/number.h"

#define SAME_SPEED 0.03 // clocks of one kind of CPU may differ a little from core to core

// ---- sets ----

static bool add_item(etp_cpu_set *s, etp_str item)
{
    uint64_t first, last;
    etp_str from;
    (void)etp_str_cut(&item, "-", &from); // a CPU alone is both
    if (!etp_parse_u64(from, &first) || !etp_parse_u64(item, &last) || last < first ||
        last >= ETP_CPUS_MAX) {
        return false;
    }
    for (uint64_t i = first; i <= last; i++) {
        s->bits[i / 64] |= (uint64_t)1 << (i % 64);
    }
    return true;
}

// The kernel writes both forms: lists with commas, and for clusters CPUs between blanks.
bool etp_cpu_set_parse(etp_str text, etp_cpu_set *out)
{
    *out = (etp_cpu_set){0};
    bool any = false;
    while (text.len > 0) {
        size_t end = 0;
        while (end < text.len && text.ptr[end] != ',' && text.ptr[end] != ' ') {
            end++;
        }
        bool empty = end == 0, comma = end < text.len && text.ptr[end] == ',';
        if (empty ? comma : !add_item(out, (etp_str){text.ptr, end})) {
            return false;
        }
        any = any || !empty;
        size_t step = end < text.len ? end + 1 : end;
        text.ptr += step;
        text.len -= step;
        if (comma && text.len == 0) {
            return false;
        }
    }
    return any;
}

static bool has_cpu(const etp_cpu_set *s, uint32_t cpu)
{
    return cpu < ETP_CPUS_MAX && (s->bits[cpu / 64] >> (cpu % 64) & 1);
}

bool etp_cpu_set_within(const etp_cpu_set *inner, const etp_cpu_set *outer)
{
    for (size_t i = 0; i < ETP_CPUS_MAX / 64; i++) {
        if (inner->bits[i] & ~outer->bits[i]) {
            return false;
        }
    }
    return true;
}

bool etp_cpu_set_meets(const etp_cpu_set *a, const etp_cpu_set *b)
{
    for (size_t i = 0; i < ETP_CPUS_MAX / 64; i++) {
        if (a->bits[i] & b->bits[i]) {
            return true;
        }
    }
    return false;
}

const char *etp_cpu_set_text(const etp_cpu_set *s, etp_arena *arena)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    for (uint32_t i = 0; i < ETP_CPUS_MAX; i++) {
        if (!has_cpu(s, i)) {
            continue;
        }
        uint32_t last = i;
        while (has_cpu(s, last + 1)) {
            last++;
        }
        etp_strbuf_printf(&buf, "%s%u", etp_if(buf.len, ","), i);
        if (last > i) {
            etp_strbuf_printf(&buf, "-%u", last);
        }
        i = last;
    }
    if (buf.failed) {
        return NULL;
    }
    return ETP_OR(buf.ptr, "");
}

// ---- clusters ----

// "cpus 0 1 2 up to 2000000 kHz" or "cpus 0 1 2 capacity 446".
static bool parse_cluster(etp_str text, etp_cluster *out)
{
    etp_str cpus, speed;
    if (!etp_str_cut(&text, "cpus ", &cpus) ||
        !(etp_str_cut(&text, " up to ", &cpus) || etp_str_cut(&text, " capacity ", &cpus))) {
        return false;
    }
    (void)etp_str_cut(&text, " ", &speed);
    return etp_cpu_set_parse(cpus, &out->cpus) && etp_parse_u64(speed, &out->speed) &&
           out->speed > 0;
}

void etp_topology_parse(etp_str text, etp_topology *out)
{
    *out = (etp_topology){0};
    for (etp_str item; out->n < ETP_CLUSTERS_MAX && etp_str_part(&text, ';', &item);) {
        etp_cluster c;
        if (parse_cluster(item, &c)) {
            size_t at = out->n++;
            for (; at > 0 && out->clusters[at - 1].speed > c.speed; at--) {
                out->clusters[at] = out->clusters[at - 1];
            }
            out->clusters[at] = c;
        }
    }
}

static bool same_kind(uint64_t a, uint64_t b)
{
    double x = (double)a, y = (double)b;
    return x < y ? y - x <= SAME_SPEED * y : x - y <= SAME_SPEED * x;
}

typedef enum cpu_kind { LITTLE, MID, BIG, CPU_KINDS } cpu_kind;

static bool find_kind(const char *word, cpu_kind *out)
{
    static const char *const k_words[CPU_KINDS] = {"little", "mid", "big"};
    for (cpu_kind k = LITTLE; k < CPU_KINDS; k++) {
        if (strcmp(word, k_words[k]) == 0) {
            *out = k;
            return true;
        }
    }
    return false;
}

// The slowest, the fastest, or what is between them.
static bool choose(const etp_topology *t, cpu_kind wanted, etp_cpu_set *out)
{
    uint64_t low = t->clusters[0].speed, high = t->clusters[t->n - 1].speed;
    bool any = false;
    // Where all CPUs are of one speed there is neither big nor little.
    for (size_t i = 0; i < t->n && !same_kind(low, high); i++) {
        uint64_t speed = t->clusters[i].speed;
        cpu_kind kind = same_kind(speed, high) ? BIG : MID;
        kind = same_kind(speed, low) ? LITTLE : kind;
        if (kind == wanted) {
            for (size_t k = 0; k < ETP_CPUS_MAX / 64; k++) {
                out->bits[k] |= t->clusters[i].cpus.bits[k];
            }
            any = true;
        }
    }
    return any;
}

etp_status etp_cpus_resolve(etp_device *d, const char *word, etp_arena *arena, const char **out,
                            etp_error *err)
{
    *out = word;
    cpu_kind kind;
    if (!word || !find_kind(word, &kind)) {
        etp_cpu_set set;
        return !word || etp_cpu_set_parse(etp_str_from(word), &set)
                   ? ETP_OK
                   : etp_fail(err, ETP_USAGE,
                              "--cpus '%s': expected big, mid, little or a list like 0-3,6", word);
    }
    etp_details facts = {0};
    etp_topology t;
    ETP_TRY(d->ops->probe(d, arena, &facts, err));
    const char *told = etp_device_fact_of(&facts, "clusters"), *text = ETP_OR(told, "");
    etp_topology_parse(etp_str_from(text), &t);
    if (t.n == 0) {
        return etp_fail(err, ETP_USAGE,
                        "--cpus %s: %s does not report its clusters; give a list like 0-3", word,
                        d->info.spec);
    }
    etp_cpu_set set = {0};
    if (!choose(&t, kind, &set)) {
        return etp_fail(err, ETP_USAGE,
                        "--cpus %s: %s has no such kind of CPU (%s); name a list like 0-3", word,
                        d->info.spec, text);
    }
    *out = etp_cpu_set_text(&set, arena);
    return ETP_OK;
}

// ---- SME units ----

// SMIDR_EL1: number of units of the group minus one in bits 59-56, SH in 14-13 (3 shared, 2 not
// shared, 0 told by the affinity), the group in Affinity2 (51-32) and Affinity (11-0).
static uint64_t group_of(uint64_t smidr)
{
    return (smidr >> 20 & 0xfffff000u) | (smidr & 0xfffu);
}

static bool is_shared(uint64_t smidr)
{
    unsigned sh = smidr >> 13 & 3;
    return sh == 3 || (sh == 0 && group_of(smidr) != 0);
}

// A unit of its own counts with each CPU, a shared one once for all CPUs of its group.
uint32_t etp_sme_units(etp_str smidr, const etp_cpu_set *cpus, uint32_t n_cpus)
{
    uint64_t groups[ETP_CLUSTERS_MAX], values[ETP_CLUSTERS_MAX], firsts[ETP_CLUSTERS_MAX];
    uint32_t n_groups = 0, units = 0;
    size_t n = 0;
    for (etp_str value, first; n < ETP_CLUSTERS_MAX && etp_str_part(&smidr, ' ', &value); n++) {
        if (!etp_str_cut(&value, ":", &first) || !etp_parse_u64(first, &firsts[n]) ||
            !etp_parse_u64(value, &values[n])) {
            return 0;
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t end = i + 1 < n ? firsts[i + 1] : n_cpus;
        for (uint64_t cpu = firsts[i]; cpu < end && cpu < ETP_CPUS_MAX; cpu++) {
            if (cpus && !has_cpu(cpus, (uint32_t)cpu)) {
                continue;
            }
            bool known = false;
            for (uint32_t g = 0; g < n_groups; g++) {
                known = known || groups[g] == group_of(values[i]);
            }
            if (!is_shared(values[i])) {
                units++;
            } else if (!known && n_groups < ETP_CLUSTERS_MAX) {
                groups[n_groups++] = group_of(values[i]);
                units += 1 + (uint32_t)(values[i] >> 56 & 15);
            }
        }
    }
    return units;
}
