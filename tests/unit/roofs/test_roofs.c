// SPDX-License-Identifier: Apache-2.0
// Roof loops do the work they claim: the sums they leave are possible in no other way.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/os.h"
#include "roofs/roofs.h"

static void loops_do_what_they_claim(void **state)
{
    (void)state;
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    size_t ran = 0;
    for (size_t i = 0; etp_roof_loop_at(i); i++) {
        const etp_roof_loop *l = etp_roof_loop_at(i);
        if (!etp_roof_can_run(&cpu, l->flag)) {
            print_message("%s %s: not on this CPU\n", l->isa, l->what);
            continue;
        }
        int64_t each = strcmp(l->what, "dot_i8") == 0 ? 4 : 1;
        for (uint64_t trips = 0; trips < 5000; trips = 3 * trips + 1) {
            assert_int_equal(l->run(trips), each * (int64_t)trips);
        }
        ran++;
    }
#if defined(__x86_64__)
    assert_true(ran > 0);
#endif
}

static void readers_read_everything(void **state)
{
    (void)state;
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    static _Alignas(64) uint8_t bytes[4096];
    for (size_t i = 0; etp_roof_reader_at(i); i++) {
        const etp_roof_reader *r = etp_roof_reader_at(i);
        if (!etp_roof_can_run(&cpu, r->flag)) {
            continue;
        }
        uint64_t before = r->read(bytes, sizeof bytes);
        for (size_t at = 0; at < sizeof bytes; at += 37) { // any byte makes a difference
            bytes[at] ^= 0x5a;
            if (r->read(bytes, sizeof bytes) == before) {
                fail_msg("%s does not see byte %zu", r->isa, at);
            }
            bytes[at] ^= 0x5a;
        }
    }
}

static void measured_figures_are_sane(void **state)
{
    (void)state;
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    etp_arena arena = {0};
    etp_roofs roofs;
    etp_error err;
    assert_int_equal(etp_roofs_measure(&cpu, 0.3, etp_os_now_ns, &arena, &roofs, &err), ETP_OK);
    size_t arithmetic = 0;
    for (size_t i = 0; i < roofs.n; i++) {
        const etp_roof *r = &roofs.items[i];
        bool rate = strcmp(r->unit, "ns") != 0;
        assert_true(r->best > 0 && (rate ? r->best >= r->median : r->best <= r->median));
        arithmetic += strcmp(r->what, "fma_f32") == 0;
    }
    // How fast one set is against another is no test: machines are noisy. That the loops do their work
    // is checked by instruction counts (roofs.instructions).
    assert_true(arithmetic >= 1 || cpu.family != ETP_ISA_X86_64);
    etp_arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_do_what_they_claim),
        cmocka_unit_test(readers_read_everything),
        cmocka_unit_test(measured_figures_are_sane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
