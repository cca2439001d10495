// SPDX-License-Identifier: Apache-2.0
// Private to the program room: following the sizes of one call through a method.
#ifndef ETP_PROGRAM_SIZING_H
#define ETP_PROGRAM_SIZING_H

#include "program/call.h"

// Each rule is asked twice: for the largest inputs, where its answer must be what the exporter
// wrote, and only then for those of the call.
typedef enum etp_size_time { // for which inputs a rule is asked
    ETP_SIZE_MOST,           // the largest: the answer is in the file
    ETP_SIZE_NOW             // those of the call
} etp_size_time;

typedef struct etp_dims {
    uint32_t n;
    int64_t d[ETP_MAX_RANK];
} etp_dims;

typedef enum etp_number_kind {
    ETP_NUMBER_UNKNOWN,
    ETP_NUMBER_KNOWN,
    ETP_NUMBER_DATA // an element of an input, plus v
} etp_number_kind;

typedef struct etp_number { // that the program computes with while it runs
    etp_number_kind kind;
    int64_t v;
    uint32_t input; // DATA
    int64_t element;
} etp_number;

typedef struct etp_sizing etp_sizing;
struct etp_sizing {
    const etp_pte_method *pte;
    const etp_call *call;
    etp_arena *arena;
    etp_value *values;        // of the method; made smaller as the call is followed
    const int64_t **most;     // per value: its sizes in the file, NULL for those that do not change
    bool *followed;           // per value: an operator gave it the call's sizes
    bool *computed;           // per value: a number that an operator writes
    etp_number (*numbers)[2]; // per value and time: computed ones; what a tensor of one element has
    const uint32_t *n_calls;  // per delegate
    // The functions of these names below: who opens no call does not link them. open_call.c
    void (*kernel)(etp_sizing *z, const etp_pte_instruction *pte, const etp_instruction *call);
    void (*partition)(etp_sizing *z, const etp_pte_instruction *pte, const etp_instruction *call,
                      etp_partition *partition);
    uint64_t (*twice_number)(const etp_sizing *z, uint32_t value);
};

// Of METHOD, whose VALUES are made; NULL where sizes cannot be followed (control flow).
typedef etp_sizing *etp_sizing_maker(const etp_pte_method *pte, etp_value *values,
                                     const etp_call *call, etp_arena *arena);
etp_sizing_maker etp_sizing_begin;
// As etp_program_open_call; FOLLOW makes the sizing of the method that CALL (NULL: none) is of.
ETP_NODISCARD etp_status etp_program_make(etp_bytes bytes, const etp_allocator *alloc,
                                          const etp_call *call, etp_sizing_maker *follow,
                                          const etp_program **out, etp_error *err);

// False when they are not known.
bool etp_size_of(const etp_sizing *z, uint32_t value, etp_size_time at, etp_dims *out);
etp_number etp_number_of(const etp_sizing *z, uint32_t value, etp_size_time at);
bool etp_numbers_of(const etp_sizing *z, uint32_t list, etp_size_time at, int64_t *out,
                    uint32_t *n);
// Twice the number, whether the program or the call's inputs tell it; ETP_CALL_PLACE_UNKNOWN.
uint64_t etp_twice_number(const etp_sizing *z, uint32_t value);
bool etp_dims_same(const etp_dims *a, const etp_dims *b);
// Same rank, and no dimension above.
bool etp_dims_within(const etp_dims *a, const etp_dims *most);
// Gives the tensor VALUE the sizes of the call.
void etp_size_set(etp_value *value, const etp_dims *dims, etp_arena *arena);
// An operator found NOW for VALUE of the method; NULL: nothing could be told.
void etp_size_follow(etp_sizing *z, uint32_t value, const etp_dims *now);

// A kernel call. sizing_kernel.c
void etp_sizing_kernel(etp_sizing *z, const etp_pte_instruction *pte, const etp_instruction *call);
// A delegate call: the nodes of PARTITION, whose values and work become those of the call.
// sizing_node.c
void etp_sizing_partition(etp_sizing *z, const etp_pte_instruction *pte,
                          const etp_instruction *call, etp_partition *partition);

#define ETP_NUMBER_LIMIT ((int64_t)1 << 40) // beyond it a size is nonsense, and sums stay in range

// *ACC times FACTOR, neither negative; false beyond what a file can mean. sizing.c
bool etp_size_times(int64_t *acc, int64_t factor);

// The sizes of the first two dims broadcast over each other. sizing.c
bool etp_dims_broadcast(etp_dims *acc, const etp_dims *with);

#endif
