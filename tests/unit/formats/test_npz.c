// SPDX-License-Identifier: Apache-2.0
// numpy's files: those that numpy wrote, headers it would never write, and every byte damaged.
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"
#include <etprof/npz.h>

#include "os/os.h"

static const char k_dir[] = ETP_TEST_SOURCE_DIR "/tests/data/npz/";

static etp_status read_npz(const char *name, uint64_t limit, etp_arena *arena, const etp_npy **out,
                           size_t *n, etp_error *err)
{
    char path[1024];
    etp_file file;
    snprintf(path, sizeof path, "%s%s", k_dir, name);
    assert_int_equal(etp_file_open(path, UINT64_MAX, &file, NULL), ETP_OK);
    etp_status status = etp_npz_read(file.bytes, limit, arena, out, n, err);
    etp_file_close(&file);
    return status;
}

// np.savez_compressed(file, arange(6).reshape(2, 3) + .5, asfortranarray([[1, 2], [3, 4]]), True)
static void positional(void **state)
{
    const etp_npy *a;
    size_t n;
    assert_int_equal(read_npz("positional.npz", 1 << 20, *state, &a, &n, NULL), ETP_OK);
    assert_int_equal(n, 3);
    assert_true(a[0].dtype == ETP_DTYPE_FLOAT32 && a[0].n_dims == 2 && a[0].sizes[0] == 2 &&
                a[0].sizes[1] == 3);
    for (unsigned i = 0; i < 6; i++) {
        float v;
        memcpy(&v, a[0].data.ptr + 4 * i, 4);
        assert_true(v == (float)i + 0.5f);
    }
    assert_true(a[1].dtype == ETP_DTYPE_INT64 && a[1].fortran && a[1].data.len == 32);
    static const int64_t k_columns[] = {1, 3, 2, 4};
    assert_memory_equal(a[1].data.ptr, k_columns, sizeof k_columns);
    assert_true(a[2].dtype == ETP_DTYPE_BOOL && a[2].n_dims == 0 && a[2].data.ptr[0] == 1);
}

static void named_and_refused(void **state)
{
    etp_arena *arena = *state;
    const etp_npy *a;
    size_t n;
    etp_error err;
    assert_int_equal(read_npz("named.npz", 1 << 20, arena, &a, &n, NULL), ETP_OK);
    assert_true(n == 2 && etp_str_eqz(a[0].name, "zeta") &&
                etp_str_eqz(a[1].name, "alpha")); // not by name
    assert_int_equal(read_npz("mixed.npz", 1 << 20, arena, &a, &n, &err), ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "order is not known"));
    assert_int_equal(read_npz("positional.npz", 100, arena, &a, &n, &err),
                     ETP_CORRUPT); // a bomb's size
    assert_non_null(strstr(err.msg, "more than allowed"));
    assert_int_equal(read_npz("linear.npy", 1 << 20, arena, &a, &n, &err), ETP_CORRUPT);
}

static size_t make(uint8_t *out, unsigned major, const char *header, const char *data,
                   size_t data_len)
{
    size_t len = strlen(header), at = major == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)major;
    out[7] = 0;
    for (size_t i = 8; i < at; i++) {
        out[i] = (uint8_t)(len >> 8 * (i - 8));
    }
    memcpy(out + at, header, len);
    memcpy(out + at + len, data, data_len);
    return at + len + data_len;
}

static void headers(void **state)
{
    static const struct {
        const char *header;
        size_t data;
        etp_status status;
    } k_cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",                        8, ETP_OK         },
        {"{\"shape\": (), 'descr': '|u1', 'fortran_order': True}  \n",                         1, ETP_OK         },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }\n",                      0, ETP_OK         },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",                        7, ETP_CORRUPT    },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",                        9, ETP_CORRUPT    },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }\n",                         8, ETP_CORRUPT    },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }\n",                       8, ETP_CORRUPT    },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }\n",                       4, ETP_CORRUPT    },
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }\n",                            8, ETP_CORRUPT    },
        {"{'descr': '<f4', 'fortran_order': False, }\n",                                       8, ETP_CORRUPT    },
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",        8,
         ETP_CORRUPT                                                                                             },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1, }\n",                8, ETP_CORRUPT    },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } import os\n",              8, ETP_CORRUPT    },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }\n", 8,
         ETP_CORRUPT                                                                                             },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,), }\n",     8,
         ETP_CORRUPT                                                                                             },
        {"{'descr': '<f4'",                                                                    0, ETP_CORRUPT    },
        {"",                                                                                   0, ETP_CORRUPT    },
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n",                        8, ETP_UNSUPPORTED},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }\n",                         8, ETP_UNSUPPORTED},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n",                        8, ETP_UNSUPPORTED},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n",               8,
         ETP_UNSUPPORTED                                                                                         },
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), "
         "}\n",                                                                       4, ETP_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        for (unsigned major = 1; major <= 3; major++) {
            uint8_t file[512];
            etp_npy a;
            etp_error err = {0};
            size_t len = make(file, major, k_cases[i].header, "0123456789", k_cases[i].data);
            etp_status status = etp_npy_read((etp_bytes){file, len, 0}, &a, &err);
            if (status != k_cases[i].status) {
                fail_msg("%s: status %d, expected %d: %s", k_cases[i].header, status,
                         k_cases[i].status, err.msg);
            }
            assert_true(status == ETP_OK || err.msg[0] != '\0');
        }
    }
}

// Its elements can be counted in 64 bits, their bytes cannot.
static void shapes_beyond_all_memory(void **state)
{
    static const char k_header[] =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,), }\n";
    uint8_t file[512];
    etp_npy a;
    etp_error err = {0};
    size_t len = make(file, 1, k_header, "01234567", 8);
    assert_int_equal(etp_npy_read((etp_bytes){file, len, 0}, &a, &err), ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "shape overflows"));
}

static void damaged(void **state)
{
    static const char *const k_files[] = {"positional.npz", "named.npz", "linear.npy"};
    for (size_t f = 0; f < sizeof k_files / sizeof *k_files; f++) {
        char path[1024];
        etp_file file;
        snprintf(path, sizeof path, "%s%s", k_dir, k_files[f]);
        assert_int_equal(etp_file_open(path, UINT64_MAX, &file, NULL), ETP_OK);
        size_t len = file.bytes.len;
        for (size_t i = 0; i < 9 * len; i++) { // cut off at i, then bit i % 8 of every byte turned
            size_t n = i < len ? i : len;
            uint8_t *copy = malloc(n ? n : 1);
            assert_non_null(copy);
            memcpy(copy, file.bytes.ptr, n);
            if (i >= len) {
                copy[(i - len) / 8] ^= (uint8_t)(1 << (i - len) % 8);
            }
            const etp_npy *a;
            etp_npy one;
            size_t count;
            etp_error err = {0};
            etp_status status =
                f < 2 ? etp_npz_read((etp_bytes){copy, n, 0}, 1 << 20, *state, &a, &count, &err)
                      : etp_npy_read((etp_bytes){copy, n, 0}, &one, &err);
            assert_true(status == ETP_OK || status == ETP_CORRUPT || status == ETP_UNSUPPORTED);
            assert_true(status != ETP_OK || i >= len);
            assert_true(status == ETP_OK || err.msg[0] != '\0');
            free(copy);
        }
        etp_file_close(&file);
    }
}
