// SPDX-License-Identifier: Apache-2.0
// How long a prompt takes until the first token, of a session that measured it as phases.
#ifndef ETP_SHOW_FIRST_TOKEN_H
#define ETP_SHOW_FIRST_TOKEN_H

#include "compare/ab.h"
#include "document/fields.h"

// Time from the first token of a prompt to the answer: the sum over the calls that take it, of
// phases as they were measured. Where a chunk was not measured: ETP_NS_UNKNOWN.
#define ETP_AB_PROMPTS 32
int64_t etp_ab_first_token(const etp_ab *ab, uint64_t prompt, uint32_t arm);
// Lengths of prompts that phases belong to; OUT has room for ETP_AB_PROMPTS.
size_t etp_ab_prompts(const etp_ab *ab, uint64_t *out);
#define ETP_FIRST_TOKENS_SCHEMA                                                                   \
    "{\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"prompt\", "         \
    "\"arms\"], "                                                                                 \
    "\"properties\": {\"prompt\": {\"type\": \"integer\", \"minimum\": 1}, \"arms\": {\"type\": " \
    "\"array\", \"items\": {\"type\": \"object\", \"required\": [\"name\", \"level\", \"ns\"], "  \
    "\"properties\": {\"name\": {\"type\": \"string\"}, \"level\": {\"type\": [\"string\", "      \
    "\"null\"]}, "                                                                                \
    "\"ns\": {\"type\": [\"integer\", \"null\"]}}}}}}}"
void etp_ab_first_tokens_write(etp_json *j, const etp_json_cursor *at);

#endif
