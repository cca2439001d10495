// SPDX-License-Identifier: Apache-2.0
// Lists of CPUs, clusters in the words of phones, SME units out of SMIDR_EL1 values made by hand.
#include "device/clusters.h"
#include "unit.h"

static void lists(void **state)
{
    static const struct {
        const char *text, *back; // NULL: refused
    } k_cases[] = {
        {"0",                      "0"    },
        {"0-3,6",                  "0-3,6"},
        {"6,0-3",                  "0-3,6"},
        {"0 1 2 3",                "0-3"  },
        {" 4 5 ",                  "4-5"  },
        {"1023",                   "1023" },
        {"2-2",                    "2"    },
        {"0-3 2",                  "0-3"  },
        {"",                       NULL   },
        {" ",                      NULL   },
        {",",                      NULL   },
        {"1,",                     NULL   },
        {",1",                     NULL   },
        {"1,,2",                   NULL   },
        {"3-1",                    NULL   },
        {"1-",                     NULL   },
        {"-1",                     NULL   },
        {"a",                      NULL   },
        {"1024",                   NULL   },
        {"0-18446744073709551615", NULL   },
        {"big",                    NULL   },
        {"1\n",                    NULL   },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_cpu_set s;
        assert_int_equal(etp_cpu_set_parse(etp_str_from(k_cases[i].text), &s),
                         k_cases[i].back != NULL);
        if (k_cases[i].back) {
            assert_string_equal(etp_cpu_set_text(&s, *state), k_cases[i].back);
        }
    }
}

typedef struct told {
    const char *clusters;
} told;

static etp_status probe(etp_device *d, etp_arena *arena, etp_details *out, etp_error *err)
{
    (void)err;
    etp_detail f = {"clusters", ((const told *)d->data)->clusters};
    return ETP_PUSH(arena, out, f) ? ETP_OK : ETP_NOMEM;
}

static void words(void **state)
{
    static const struct {
        const char *clusters, *word, *cpus; // NULL: refused
    } k_cases[] = {
        // 4 + 3 + 1, as most phones of the last years.
        {"cpus 0 1 2 3 up to 1800000 kHz; cpus 4 5 6 up to 2400000 kHz; cpus 7 up to 3200000 kHz",
         "little",                                                                                           "0-3"},
        {"cpus 0 1 2 3 up to 1800000 kHz; cpus 4 5 6 up to 2400000 kHz; cpus 7 up to 3200000 kHz",
         "mid",                                                                                              "4-6"},
        {"cpus 0 1 2 3 up to 1800000 kHz; cpus 4 5 6 up to 2400000 kHz; cpus 7 up to 3200000 kHz",
         "big",                                                                                              "7"  },
        // Big cores first, two policies of nearly one clock.
        {"cpus 0 1 up to 4320000 kHz; cpus 2-3 up to 3532800 kHz; cpus 4 5 6 7 up to 3500000 kHz",
         "little",                                                                                           "2-7"},
        {"cpus 0 1 up to 4320000 kHz; cpus 2-3 up to 3532800 kHz; cpus 4 5 6 7 up to 3500000 kHz",
         "big",                                                                                              "0-1"},
        {"cpus 0 1 up to 4320000 kHz; cpus 2-3 up to 3532800 kHz; cpus 4 5 6 7 up to 3500000 kHz",
         "mid",                                                                                              NULL },
        {"cpus 0 1 2 3 capacity 446; cpus 4 5 capacity 1024",                                      "big",    "4-5"},
        {"cpus 0 up to 2000000 kHz; cpus 1 up to 2000000 kHz",                                     "big",    NULL }, // all alike
        {"",                                                                                       "big",    NULL },
        {"cpus  up to kHz; cpus 0 up to 0 kHz; nonsense; cpus 1 up to -5 kHz",                     "little", NULL },
        {"",                                                                                       "2-3",    "2-3"}, // a list needs no clusters
        {"",                                                                                       "2-",     NULL },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        const etp_device_vtable ops = {.probe = probe};
        told t = {k_cases[i].clusters};
        etp_device d = {.ops = &ops, .data = &t, .info = {.spec = "adb:X"}};
        const char *out = NULL;
        etp_error err;
        etp_status st = etp_cpus_resolve(&d, k_cases[i].word, *state, &out, &err);
        if (k_cases[i].cpus) {
            assert_int_equal(st, ETP_OK);
            assert_string_equal(out, k_cases[i].cpus);
        } else {
            assert_int_equal(st, ETP_USAGE);
        }
    }
}

static uint32_t units(const char *smidr, const char *cpus)
{
    etp_cpu_set s;
    bool some = cpus && etp_cpu_set_parse(etp_str_from(cpus), &s);
    return etp_sme_units(etp_str_from(smidr), some ? &s : NULL, 8);
}

// Arm's register description: SH is bits 14-13, Affinity 11-0, NSMC (units of the group − 1) 59-56.
static void sme_units(void **state)
{
    assert_int_equal(units("", NULL), 0);
    assert_int_equal(units("0:0x0000000041006001", NULL), 1); // one group for all eight
    assert_int_equal(units("0:0x0000000041006001 4:0x0000000041006002", NULL),
                     2); // one per cluster
    assert_int_equal(units("0:0x0000000041006001 4:0x0000000041006002", "4-7"),
                     1);                                       // of which one is used
    assert_int_equal(units("0:0x0100000041006001", NULL), 2);  // two units in the group
    assert_int_equal(units("0:0x0000000041004000", NULL), 8);  // not shared: one per core
    assert_int_equal(units("0:0x0000000041000000", NULL), 8);  // SH unsaid, affinity 0: not shared
    assert_int_equal(units("0:0x0000000041000001", "0-3"), 1); // SH unsaid, affinity: shared
    assert_int_equal(units("0:0x0000000141006001 4:0x0000000241006001", NULL),
                     2); // Affinity2 tells groups apart
    assert_int_equal(units("0:nonsense", NULL), 0);
    assert_int_equal(units("x", NULL), 0);
}
