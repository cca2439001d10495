// SPDX-License-Identifier: Apache-2.0
// The tools: which verb each is, what it takes, and the words that the verb is started with.
#ifndef ETP_MCP_TOOLS_H
#define ETP_MCP_TOOLS_H

#include <jansson.h>

#include <etprof/arena.h>

#include "base/json.h"

typedef enum etp_mcp_type {
    ETP_MCP_TEXT,
    ETP_MCP_NAME,  // a text that must not be taken for a path
    ETP_MCP_PATH,  // checked against the roots
    ETP_MCP_TEXTS, // a list
    ETP_MCP_PATHS,
    ETP_MCP_COUNTS, // a list of whole numbers
    ETP_MCP_NUMBER,
    ETP_MCP_TRUTH
} etp_mcp_type;

typedef struct etp_mcp_param {
    const char *name;
    etp_mcp_type type;
    const char *option; // "--blocks"; NULL: an operand, in the order of the table
    bool required;
    const char *help;
} etp_mcp_param;

#define ETP_MCP_PARAMS 24

typedef struct etp_mcp_tool {
    const char *name, *verb, *help;
    bool changes; // writes files or takes a device
    etp_mcp_param params[ETP_MCP_PARAMS];
} etp_mcp_tool;

// Ends with a NULL name.
extern const etp_mcp_tool k_etp_mcp_tools[];
const etp_mcp_tool *etp_mcp_tool_find(const char *name); // NULL: none

void etp_mcp_tool_json(etp_json *j, const etp_mcp_tool *tool); // as tools/list has it

// A path as it may be used, absolute; fails where it lies outside the roots.
typedef etp_status etp_mcp_place(void *ctx, const char *path, const char **out, etp_error *err);
// The verb and its words for ARGUMENTS (an object or NULL), NULL-terminated, in ARENA. ETP_USAGE:
// something is missing, unknown, of another type, or outside the roots.
ETP_NODISCARD etp_status etp_mcp_command_line(const etp_mcp_tool *tool, const json_t *arguments,
                                              const char *program, etp_mcp_place *place, void *ctx,
                                              etp_arena *arena, const char *const **out,
                                              etp_error *err);

#endif
