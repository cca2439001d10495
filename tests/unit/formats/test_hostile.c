// SPDX-License-Identifier: Apache-2.0
// Damaged files: every truncation and every single-bit flip of the small fixtures must give a clean
// error or a valid result. The sanitizer build makes this a memory test.
#include <stdlib.h>

#include "golden.h"
#include "unit.h"

#include <etprof/bundled.h>
#include <etprof/flat_tensor.h>
#include <etprof/program.h>

static const char k_data[] = ETP_TEST_SOURCE_DIR "/tests/data";

// Uses what was read, so that a bad view shows.
static uint64_t touch_values(const etp_value *values, const uint32_t *ids, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const etp_value *v = &values[ids[i]];
        for (uint32_t d = 0; d < v->rank; d++) {
            sum += (uint64_t)v->dims[d];
        }
        sum += v->bytes + v->name.len;
    }
    return sum;
}

static uint64_t touch_program(const etp_program *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_methods; i++) {
        const etp_method *m = &p->methods[i];
        sum += m->macs;
        for (uint32_t k = 0; k < m->n_instructions; k++) {
            const etp_instruction *in = &m->instructions[k];
            sum += touch_values(m->values, in->inputs, in->n_inputs) +
                   touch_values(m->values, in->outputs, in->n_outputs);
        }
        for (uint32_t d = 0; d < m->n_partitions; d++) {
            const etp_partition *part = &m->partitions[d];
            for (uint32_t n = 0; n < part->n_nodes; n++) {
                const etp_node *node = &part->nodes[n];
                sum += touch_values(part->values, node->inputs, node->n_inputs) +
                       touch_values(part->values, node->outputs, node->n_outputs);
            }
        }
    }
    return sum;
}

typedef etp_status read_fn(etp_bytes bytes, etp_error *err);

static etp_status read_program(etp_bytes bytes, etp_error *err)
{
    const etp_program *program = NULL;
    etp_status status = etp_program_open(bytes, NULL, &program, err);
    if (status == ETP_OK) {
        (void)touch_program(program);
    }
    etp_program_close(program);
    return status;
}

static etp_status read_ptd(etp_bytes bytes, etp_error *err)
{
    etp_arena arena = {0};
    etp_flat_tensor ptd;
    etp_status status = etp_flat_tensor_read(bytes, &arena, &ptd, err);
    etp_arena_dispose(&arena);
    return status;
}

static etp_status read_bundled(etp_bytes bytes, etp_error *err)
{
    etp_arena arena = {0};
    etp_bundled b;
    etp_status status = etp_bundled_read(bytes, &arena, &b, err);
    if (status == ETP_OK) {
        status = read_program(b.program, err);
    }
    etp_arena_dispose(&arena);
    return status;
}

static void check_error(etp_status status, const etp_error *err, const char *path, size_t at)
{
    if (status == ETP_OK) {
        return;
    }
    if (status != ETP_CORRUPT && status != ETP_UNSUPPORTED) {
        fail_msg("%s, byte %zu: status %d (%s)", path, at, status, err->msg);
    }
    assert_true(err->msg[0] != '\0');
}

// Reads exact-size heap copies, so that a read past the end is seen by the sanitizer.
static void damage(const char *path, read_fn *read)
{
    etp_file file;
    golden_open(path, &file);
    size_t len = file.bytes.len;
    for (size_t n = 0; n < len; n++) {
        uint8_t *copy = malloc(n ? n : 1);
        etp_error err = {0};
        assert_non_null(copy);
        memcpy(copy, file.bytes.ptr, n);
        etp_status status = read((etp_bytes){copy, n, 0}, &err);
        check_error(status, &err, path, n);
        free(copy);
    }
    uint8_t *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, file.bytes.ptr, len);
    for (size_t i = 0; i < len; i++) {
        for (int bit = 0; bit < 8; bit++) {
            etp_error err = {0};
            copy[i] ^= (uint8_t)(1 << bit);
            check_error(read((etp_bytes){copy, len, 0}, &err), &err, path, i);
            copy[i] ^= (uint8_t)(1 << bit);
        }
        const uint8_t old = copy[i];
        const uint8_t extremes[] = {0x00, 0x7f, 0x80, 0xff};
        for (size_t k = 0; k < sizeof extremes; k++) {
            etp_error err = {0};
            copy[i] = extremes[k];
            check_error(read((etp_bytes){copy, len, 0}, &err), &err, path, i);
        }
        copy[i] = old;
    }
    free(copy);
    etp_file_close(&file);
}

static void damage_all(const char *suffix, read_fn *read, size_t at_least)
{
    etp_arena arena = {0};
    golden_files files = {0};
    golden_list(k_data, suffix, &arena, &files);
    assert_true(files.n >= at_least);
    for (size_t i = 0; i < files.n; i++) {
        damage(files.items[i], read);
    }
    etp_arena_dispose(&arena);
}

static void damaged_programs(void **state)
{
    damage_all(".pte", read_program, 4);
}

static void damaged_data_files(void **state)
{
    damage_all(".ptd", read_ptd, 1);
}

static void damaged_bundles(void **state)
{
    damage_all(".bpte", read_bundled, 1);
}

// A truncated program never passes: segments are part of the file.
static void truncation_is_noticed(void **state)
{
    etp_file file;
    char path[512];
    snprintf(path, sizeof path, "%s/mixed_xnnpack_fp32.pte", k_data);
    golden_open(path, &file);
    for (size_t cut = 1; cut < file.bytes.len; cut += 7) {
        etp_error err = {0};
        etp_bytes bytes = {file.bytes.ptr, file.bytes.len - cut, 0};
        assert_int_equal(read_program(bytes, &err), ETP_CORRUPT);
        assert_true(err.offset != ETP_NO_OFFSET);
    }
    etp_file_close(&file);
}
