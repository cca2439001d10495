// SPDX-License-Identifier: Apache-2.0
// Does an exporter's record belong to a program? By method, instruction, debug handle, operator and
// size of results. Two exports of one source agree in all of it: their records are as good.
#ifndef ETP_PROGRAM_BELONG_H
#define ETP_PROGRAM_BELONG_H

#include <etprof/program.h>

typedef struct etp_belonging {
    uint32_t compared, agreed; // instructions and nodes that both speak of
    const char *differs;       // the first of the others, NULL when there is none; in the arena
} etp_belonging;

// As etp_join.agreement: less is another program's, what is between is told.
#define ETP_RECORD_BELONGS 0.9

void etp_record_belongs(const etp_program *program, const etp_etrecord *record, etp_arena *arena,
                        etp_belonging *out);
// One more instruction or node that both speak of. DIFFERS: what does, where it does.
void etp_belonging_take(etp_belonging *b, bool agrees, const char *differs);
// 1 when nothing could be compared.
double etp_belonging_share(const etp_belonging *b);
// ETP_USAGE with what differs, below ETP_RECORD_BELONGS.
ETP_NODISCARD etp_status etp_belonging_need(const etp_belonging *b, etp_error *err);

bool etp_record_has_handle(const etp_record_instruction *instruction, int64_t handle);
// Is KERNEL ("aten::add.out") what a node that INSTRUCTION of the record calls ("aten.add.Tensor")?
bool etp_record_calls(const etp_record_method *record, const etp_record_instruction *instruction,
                      etp_str kernel);

#endif
