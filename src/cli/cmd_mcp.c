// SPDX-License-Identifier: Apache-2.0
// etprof mcp: the Model Context Protocol over standard input and output, until the input ends.
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/emit.h"
#include "mcp/mcp.h"

typedef struct mcp_options {
    etp_opt_list roots;
} mcp_options;

static const etp_opt k_options[] = {
    {"root", 0, ETP_OPT_LIST, offsetof(mcp_options, roots), "FOLDER",
     "files must lie in it (repeatable; default: the client's roots, or the working directory)", NULL},
    {0},
};

typedef struct input { // the line that is being read
    etp_strbuf line;
    bool too_long;
} input;

// A line that is too long is thrown away as it comes, up to its end, and told once: memory does not
// grow with what a client sends.
static void take(etp_mcp *server, input *in, const char *text, size_t n)
{
    while (n > 0) {
        const char *end = memchr(text, '\n', n);
        size_t len = end ? (size_t)(end - text) : n;
        if (in->line.len + len > ETP_MCP_LINE_LIMIT) {
            in->too_long = true;
        } else {
            etp_strbuf_append(&in->line, (etp_str){text, len});
        }
        if (end) {
            etp_mcp_line(server, etp_strbuf_str(&in->line), in->too_long || in->line.failed);
            in->line.len = 0;
            in->too_long = false;
        }
        text += end ? len + 1 : len;
        n -= end ? len + 1 : len;
    }
}

static etp_status serve(etp_mcp *server, etp_arena *arena, etp_error *err)
{
    input in = {0};
    char chunk[65536];
    bool busy = false;
    etp_strbuf_init(&in.line, arena);
    while (!etp_os_interrupted()) {
        struct pollfd from = {.fd = STDIN_FILENO, .events = POLLIN};
        // While a tool is at work etp_mcp_turn does the waiting, and input is only looked at; else
        // this waits for input, for as long as it takes.
        int ready = poll(&from, 1, busy ? 0 : -1);
        if (ready > 0) {
            ssize_t n = read(STDIN_FILENO, chunk, sizeof chunk);
            if (n == 0) {
                break; // the client is done
            }
            if (n < 0 && errno != EINTR) {
                return etp_fail_errno(err, ETP_IO, "reading standard input");
            }
            take(server, &in, chunk, n > 0 ? (size_t)n : 0);
        }
        busy = etp_mcp_turn(server, 20);
        // After each turn: the client waits for whole answers.
        if (fflush(stdout) != 0) {
            return etp_fail_errno(err, ETP_IO, "writing standard output");
        }
    }
    return ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    (void)argv;
    const mcp_options *o = opts;
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    etp_sink out = etp_sink_file(stdout);
    const etp_mcp_options options = {
        .program = cli->program,
        .roots = o->roots.items,
        .n_roots = o->roots.n,
        // Fixed at the start: paths of calls are relative to where the server was started.
        .folder = etp_os_absolute(".", &cli->arena),
        .platform = etp_platform_name(facts.platform),
        .out = &out,
    };
    etp_mcp *server;
    ETP_NEED(options.folder, err, "working directory");
    ETP_TRY(etp_os_catch_signals(err));
    ETP_TRY(etp_mcp_open(&options, &server, err));
    etp_status st = serve(server, &cli->arena, err);
    // Interrupts a session that is being measured, so that its folder can be resumed.
    etp_mcp_close(server);
    return st;
}

const etp_command etp_cmd_mcp = {
    .name = "mcp",
    .summary = "a Model Context Protocol server for agents, over standard input and output",
    .usage = "",
    .description =
        "Tools: measure, compare, explain, report, whatif, gate, inspect, export, devices, "
        "verify_claim;\n"
        "run folders as resources, the playbooks as prompts. Each tool is a verb of this program. "
        "Nothing is\n"
        "listened to but standard input. docs/mcp.md says how agents are told of it.",
    .examples = "  etprof mcp\n"
                "  etprof mcp --root ~/models",
    .opts = k_options,
    .opts_size = sizeof(mcp_options),
    .max_args = 0,
    .run = run,
};
