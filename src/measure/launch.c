// SPDX-License-Identifier: Apache-2.0
// One launch from its start to its end. Whatever the runner says is checked: nonce and pid, the
// mask, the numbering and the clock of its iterations.
#include "measure/launch.h"

#include <stdio.h>

#include "base/number.h"
#include "measure/channel.h"
#include "measure/foreign.h"

#define MAX_ARGS 24
// A page: beyond it the offsets of addresses within their pages repeat.
#define PAD_MAX 4096u
#define WARMUP_MIN 3

// One launch from its start to its end. `counts` has an item for each of `iterations`.
typedef struct launch {
    const etp_launch_request *request;
    etp_device *device;
    etp_arena *arena;
    etp_channel *channel;
    etp_launch_outcome *out;
    char nonce[17];
    bool tells_memory, tells_ledger; // when it is asked
    struct {
        etp_launch_iteration *items;
        size_t n, cap;
    } iterations;
    struct {
        etp_run_counts *items; // parallel to iterations
        size_t n, cap;
    } counts;
    uint64_t left_out; // of the warm-up, between its two ends
    char why[512];
} launch;

// ---- how it ended ----

// Tells what ended the process when it stopped talking. It has ended or is made to.
static void explain_end(launch *l)
{
    etp_channel *t = l->channel;
    bool ended = etp_channel_finish(t);
    etp_str line = etp_channel_last_line(t);
    const char *colon = etp_if(line.len > 0, ": ");
    if (!ended) {
        etp_lose(l->out, ETP_LOST_HANG, "the runner closed its output and did not end");
    } else if (t->lost) {
        etp_lose(l->out, ETP_LOST_CONNECTION,
                 "the connection to the device was lost while the runner ran%s%.*s", colon,
                 ETP_STR_ARG(line));
    } else if (t->process.signal != 0) {
        etp_lose(l->out, ETP_LOST_CRASH, "the runner was ended by signal %d%s%.*s",
                 t->process.signal, colon, ETP_STR_ARG(line));
    } else {
        etp_lose(l->out, ETP_LOST_CRASH, "the runner ended with status %d%s%.*s",
                 t->process.exit_code, colon, ETP_STR_ARG(line));
    }
}

// Says what a failed read means for the launch; always false, as etp_lose.
static bool channel_failed(launch *l, etp_channel_result r, const char *doing,
                           uint64_t silence_limit_ns)
{
    switch (r) {
    case ETP_CHANNEL_SIGNAL:
        l->out->interrupted = true;
        break;
    case ETP_CHANNEL_END:
        explain_end(l);
        break;
    case ETP_CHANNEL_SILENCE:
        etp_lose(l->out, ETP_LOST_HANG, "no answer for %s s while %s",
                 ETP_DIGITS((double)silence_limit_ns / 1e9, 3), doing);
        break;
    case ETP_CHANNEL_GARBAGE:
        etp_lose(l->out, ETP_LOST_GARBAGE, "not the runner's protocol while %s: %s", doing, l->why);
        break;
    case ETP_CHANNEL_OK:
        break;
    }
    return false;
}

// Next message, which must be of type WANTED; errors that the runner reports are believed.
static bool expect(launch *l, etp_wire_type wanted, const char *doing, etp_wire_msg *msg)
{
    etp_channel_result r = etp_channel_next(l->channel, 0, msg, l->why, sizeof l->why);
    if (r != ETP_CHANNEL_OK) {
        return channel_failed(l, r, doing, l->channel->timeout_ns);
    }
    if (msg->type == ETP_WIRE_ERROR) {
        l->out->code = etp_wire_code_find(msg->u.error.code);
        bool mask = l->out->code == ETP_WIRE_CODE_MASK;
        return etp_lose(l->out, mask ? ETP_LOST_MASK : ETP_LOST_ERROR, "%s", msg->u.error.message);
    }
    if (msg->type != wanted) {
        return etp_lose(l->out, ETP_LOST_GARBAGE, "unexpected \"%s\" message while %s", msg->word,
                        doing);
    }
    return true;
}

// ---- who is talking, and under which mask ----

static bool same_features(const etp_isa_cpu *a, const etp_isa_cpu *b)
{
    return a->family == b->family && a->hwcap == b->hwcap && a->hwcap2 == b->hwcap2 &&
           a->x86.bits[0] == b->x86.bits[0] && a->x86.bits[1] == b->x86.bits[1];
}

static bool keep(launch *l, etp_str *field, const char *text)
{
    char *copy = etp_arena_strdup(l->arena, etp_str_from(text));
    *field = etp_str_from(ETP_OR(copy, ""));
    return copy != NULL;
}

static bool hear_hello(launch *l)
{
    etp_wire_msg msg;
    if (!expect(l, ETP_WIRE_HELLO, "starting", &msg)) {
        return false;
    }
    const etp_wire_hello *h = &msg.u.hello;
    etp_channel *t = l->channel;
    etp_run_launch *r = &l->out->record;
    r->pid = h->pid;
    if (h->protocol != ETP_WIRE_PROTOCOL) {
        return etp_lose(l->out, ETP_LOST_GARBAGE, "the runner speaks protocol %llu, not %d",
                        (unsigned long long)h->protocol, ETP_WIRE_PROTOCOL);
    }
    // A program that was left behind by an earlier launch, or a shell that echoes, cannot know the
    // nonce.
    if (strcmp(h->nonce, l->nonce) != 0) {
        return etp_lose(l->out, ETP_LOST_GARBAGE,
                        "the answer is not from the process that was started");
    }
    if (t->device->info.local_pid && h->pid != (uint64_t)t->process.pid) {
        return etp_lose(l->out, ETP_LOST_GARBAGE,
                        "the runner reports pid %llu, but %lld was started",
                        (unsigned long long)h->pid, (long long)t->process.pid);
    }
    t->pid = h->pid;
    l->tells_memory = h->memory == 1;
    l->tells_ledger = h->ledger == 1;
    l->out->tells_stages = h->stages == 1;
    if (!keep(l, &r->mask_requested, h->mask.requested) || !keep(l, &r->mask_hook, h->mask.hook) ||
        !keep(l, &r->mask_cleared, h->mask.cleared) || !keep(l, &r->flags, h->flags)) {
        return etp_lose(l->out, ETP_LOST_START, "out of memory");
    }
    if (h->threads != 0 && h->threads != l->request->arm->threads) {
        return etp_lose(l->out, ETP_LOST_GARBAGE, "the runner uses %llu threads instead of %u",
                        (unsigned long long)h->threads, l->request->arm->threads);
    }
    // Words of a later runner are no counters that this version knows: then none are.
    (void)etp_counter_events_find(etp_str_from(h->counters.events), &r->counted.events);
    if (!keep(l, &r->mask_caller, h->mask.caller) ||
        !keep(l, &r->counted.cache, h->counters.cache)) {
        return etp_lose(l->out, ETP_LOST_START, "out of memory");
    }
    // Three things have to agree: what the runner was told, what it says it was told, and what its
    // SDK then sees of the CPU, computed here from the unmasked CPU.
    const etp_planned_arm *arm = l->request->arm;
    if (arm->mask[0] == '\0') {
        return true;
    }
    if (strcmp(h->mask.requested, arm->mask) != 0) {
        return etp_lose(l->out, ETP_LOST_MASK,
                        "the runner ignores its mask: it got %.200s and reports %.200s", arm->mask,
                        h->mask.requested[0] ? h->mask.requested : "nothing");
    }
    etp_isa_mask mask;
    etp_isa_cpu seen;
    if (h->flags[0] == '\0') { // this runner cannot read back; hook_calls and names are left
        return true;
    }
    if (!etp_isa_mask_parse(arm->mask, &mask, l->why, sizeof l->why) ||
        !etp_isa_cpu_parse(h->flags, &seen, l->why, sizeof l->why)) {
        return etp_lose(l->out, ETP_LOST_GARBAGE, "the runner's \"flags\": %.200s", l->why);
    }
    etp_isa_cpu expected = etp_isa_cpu_masked(l->request->cpu, &mask);
    if (!same_features(&seen, &expected)) {
        return etp_lose(l->out, ETP_LOST_MASK,
                        "the mask is not in force: what the SDK sees is not the CPU without %.300s",
                        arm->mask);
    }
    return true;
}

static bool hear_load(launch *l)
{
    etp_wire_msg msg;
    if (!expect(l, ETP_WIRE_LOAD, "loading the model", &msg)) {
        return false;
    }
    etp_run_launch *r = &l->out->record;
    r->load_ns = msg.u.load.ns;
    l->out->epoch_ns = msg.u.load.epoch_ns;
    r->cached_bytes = msg.u.load.cached_bytes;
    r->rss_bytes = msg.u.load.rss_bytes;
    r->hook_calls = msg.u.load.hook_calls;
    if (!keep(l, &l->out->kernels_ours, msg.u.load.kernels_ours) ||
        !keep(l, &l->out->kernels_theirs, msg.u.load.kernels_theirs)) {
        return etp_lose(l->out, ETP_LOST_START, "out of memory");
    }
    // A mask works by the answers that the hook gives. When nobody asked, the launch ran the code
    // of the unmasked CPU.
    if (l->request->arm->mask[0] != '\0' && r->mask_hook.len > 0 && r->hook_calls == 0) {
        return etp_lose(l->out, ETP_LOST_MASK,
                        "no library of the SDK asked for CPU features under the mask");
    }
    return true;
}

// ---- iterations ----

static bool take_iteration(launch *l, const etp_wire_iter *it)
{
    // Numbers and clock must go on without a gap: with one line lost, each later time would count
    // for another iteration.
    const uint64_t next = l->left_out + l->iterations.n;
    if (it->i != next) {
        return etp_lose(l->out, ETP_LOST_GARBAGE, "iteration %llu after %llu",
                        (unsigned long long)it->i, (unsigned long long)next);
    }
    // Nothing takes no time, and times are signed in every file that they go into.
    if (it->ns == 0 || it->ns > INT64_MAX) {
        return etp_lose(l->out, ETP_LOST_GARBAGE, "iteration %llu took %llu ns",
                        (unsigned long long)it->i, (unsigned long long)it->ns);
    }
    if (l->iterations.n > 0) {
        const etp_launch_iteration *last = &l->iterations.items[l->iterations.n - 1];
        if (it->start_ns < last->start_ns || it->start_ns - last->start_ns < last->ns) {
            return etp_lose(l->out, ETP_LOST_GARBAGE,
                            "iteration %llu starts before the last one ended",
                            (unsigned long long)it->i);
        }
    }
    etp_launch_iteration item = {it->start_ns, it->ns};
    const etp_wire_counts *c = &it->counts;
    etp_run_counts counts = {c->cpu_ns, c->cycles, c->instructions, c->cache_misses};
    if (c->cpu_ns > INT64_MAX || c->cycles > INT64_MAX || c->instructions > INT64_MAX ||
        c->cache_misses > INT64_MAX) {
        return etp_lose(l->out, ETP_LOST_GARBAGE, "iteration %llu counted more than can be",
                        (unsigned long long)it->i);
    }
    ETP_ADD(l->arena, &l->iterations, item);
    ETP_ADD(l->arena, &l->counts, counts);
    etp_run_launch *r = &l->out->record;
    r->counted.scaled += c->scaled != 0;
    if (c->cycles > 0 || c->cpu_ns > 0) {
        r->counted.n = (uint32_t)l->counts.n;
    }
    return true;
}

static bool run_iterations(launch *l, uint64_t n)
{
    char line[32];
    snprintf(line, sizeof line, "run %llu\n", (unsigned long long)n);
    // A runner that does not listen shows in its answer.
    (void)etp_channel_send(l->channel, etp_str_from(line));
    size_t before = l->iterations.n;
    // The runner may keep quiet over the whole run: ten times what it should take.
    uint64_t each = l->request->expected_iteration_ns;
    uint64_t extra = each < UINT64_MAX / 20 / (n + 1) ? 10 * n * each : 0;
    // An iteration just before each limit is no run that ends, either.
    const uint64_t begin = etp_os_now_ns(), whole = 2 * (l->channel->timeout_ns + extra);
    for (;;) {
        etp_wire_msg msg;
        etp_channel_result r = etp_channel_next(l->channel, extra, &msg, l->why, sizeof l->why);
        if (r != ETP_CHANNEL_OK) {
            return channel_failed(l, r, "running the model", l->channel->timeout_ns + extra);
        }
        if (msg.type == ETP_WIRE_ITER) {
            if (l->iterations.n - before == n) { // or they could go on for ever
                return etp_lose(l->out, ETP_LOST_GARBAGE, "asked for %llu iterations, got more",
                                (unsigned long long)n);
            }
            if (!take_iteration(l, &msg.u.iter)) {
                return false;
            }
            if (each > 0 && etp_os_now_ns() - begin >= whole) {
                return etp_lose(l->out, ETP_LOST_HANG, "%zu of %llu iterations after %s s",
                                l->iterations.n - before, (unsigned long long)n,
                                ETP_DIGITS((double)whole / 1e9, 3));
            }
            continue;
        }
        if (msg.type == ETP_WIRE_ERROR) {
            l->out->code = etp_wire_code_find(msg.u.error.code);
            return etp_lose(l->out, ETP_LOST_ERROR, "%s", msg.u.error.message);
        }
        if (msg.type != ETP_WIRE_DONE || strcmp(msg.u.done.cmd, "run") != 0) {
            return etp_lose(l->out, ETP_LOST_GARBAGE, "unexpected \"%s\" message while running",
                            msg.word);
        }
        if (msg.u.done.n != n || l->iterations.n - before != n) {
            return etp_lose(l->out, ETP_LOST_GARBAGE, "asked for %llu iterations, got %zu",
                            (unsigned long long)n, l->iterations.n - before);
        }
        l->out->record.peak_rss_bytes = msg.u.done.peak_rss_bytes;
        l->out->record.hook_cost.calls = msg.u.done.hook_calls;
        l->out->record.hook_cost.call_ps = msg.u.done.hook_call_ps;
        l->out->record.run_span_ns = msg.u.done.span_ns; // at last those of the timed run
        l->out->record.run_wait_ns = msg.u.done.wait_ns;
        return true;
    }
}

// PATH NULL: it takes none. A command that writes a file is answered when the file is complete.
static bool command(launch *l, const char *cmd, const char *path, etp_wire_msg *msg)
{
    char *line = path ? etp_arena_printf(l->arena, "%s %s\n", cmd, path)
                      : etp_arena_printf(l->arena, "%s\n", cmd);
    if (!line) {
        return etp_lose(l->out, ETP_LOST_START, "out of memory");
    }
    (void)etp_channel_send(l->channel, etp_str_from(line));
    if (!expect(l, ETP_WIRE_DONE, path ? "writing its files" : "telling its memory", msg)) {
        return false;
    }
    if (strcmp(msg->u.done.cmd, cmd) != 0) {
        return etp_lose(l->out, ETP_LOST_GARBAGE, "answer to \"%s\" instead of \"%s\"",
                        msg->u.done.cmd, cmd);
    }
    return true;
}

// The pilot does not know yet how long an iteration takes: it doubles until it has seen enough.
static bool warm_up_pilot(launch *l)
{
    uint64_t n = 1;
    const uint64_t begin = etp_os_now_ns();
    for (;;) {
        if (!run_iterations(l, n)) {
            return false;
        }
        uint64_t sum = 0, wanted = l->request->pilot_warmup_ns;
        for (size_t i = 0; i < l->iterations.n; i++) {
            sum += l->iterations.items[i].ns;
        }
        // Ten times as long by our clock is enough, too, whatever it says of its iterations.
        bool enough = sum >= wanted || (etp_os_now_ns() - begin) / 10 >= wanted;
        if (enough && l->iterations.n >= WARMUP_MIN) {
            return true;
        }
        uint64_t mean = sum / l->iterations.n + 1;
        uint64_t left = sum < wanted ? (wanted - sum) / mean + 1 : 1;
        uint64_t most =
            2 * (uint64_t)l->iterations.n; // early iterations are slow: do not trust them far
        n = ETP_MIN(left, most);
        n = ETP_MAX(n, 1);
    }
}

// In parts: the runner has room for the times of one part, and of a fast arm, which warms up with
// more iterations, that room would be told as memory that the model needs.
static bool warm_up(launch *l, uint64_t n)
{
    enum { PART = 1000, END = 500 }; // as many as are timed at most
    while (n > 0) {
        uint64_t part = ETP_MIN(n, PART);
        if (!run_iterations(l, part)) {
            return false;
        }
        // Of a model that takes a microsecond 0.2 s are 200,000 iterations of each launch, whose
        // rows nobody could read again: those at both ends are kept, numbered as if there were no
        // others.
        const size_t kept = l->iterations.n;
        if (kept > 2 * END) {
            memmove(l->iterations.items + END, l->iterations.items + kept - END,
                    END * sizeof *l->iterations.items);
            memmove(l->counts.items + END, l->counts.items + kept - END,
                    END * sizeof *l->counts.items);
            l->iterations.n = l->counts.n = 2 * END;
            l->left_out += kept - 2 * END;
        }
        n -= part;
    }
    return true;
}

// What is resident when the measured iterations are over: nothing of it is in their time.
static bool ask_memory(launch *l)
{
    etp_wire_msg msg;
    const etp_launch_kind kind = l->request->kind;
    // An emulator's process is more than the program that it runs.
    if ((kind != ETP_LAUNCH_TIMED && kind != ETP_LAUNCH_MEMORY) || !l->tells_memory ||
        l->device->info.emulated) {
        return true;
    }
    if (!command(l, "memory", NULL, &msg)) {
        return false;
    }
    l->out->record.dirty_bytes = msg.u.done.dirty_bytes;
    l->out->record.clean_bytes = msg.u.done.clean_bytes;
    l->out->record.memory = msg.u.done.memory;
    l->out->record.memory_at = msg.u.done.stages;
    return true;
}

// Part by part from its start to the end of its first inference.
static bool ask_ledger(launch *l)
{
    if (!l->request->ledger || !l->tells_ledger) {
        return true;
    }
    (void)etp_channel_send(l->channel, ETP_STR("ledger\n"));
    for (;;) {
        etp_wire_msg msg;
        // It loads the program once more first.
        const uint64_t extra = 10 * l->out->record.load_ns;
        etp_channel_result r = etp_channel_next(l->channel, extra, &msg, l->why, sizeof l->why);
        if (r != ETP_CHANNEL_OK) {
            return channel_failed(l, r, "telling how it was loaded",
                                  l->channel->timeout_ns + extra);
        }
        if (msg.type == ETP_WIRE_DONE) {
            return true;
        }
        const etp_wire_part *p = &msg.u.part;
        const etp_load_what what =
            msg.type == ETP_WIRE_PART ? etp_wire_part_find(p->what) : ETP_LOAD_WHATS;
        if (what == ETP_LOAD_WHATS || l->out->record.parts.n == ETP_RUN_MAX_PARTS ||
            p->ns > INT64_MAX / ETP_RUN_MAX_PARTS || p->bytes > INT64_MAX / ETP_RUN_MAX_PARTS) {
            return etp_lose(l->out, ETP_LOST_GARBAGE, "not a part of loading: \"%s\" of %llu ns",
                            msg.type == ETP_WIRE_PART ? p->what : msg.word,
                            (unsigned long long)(msg.type == ETP_WIRE_PART ? p->ns : 0));
        }
        const etp_run_part part = {what,  p->delegate, p->operation, p->bytes,
                                   p->ns, p->faults,   p->workspace};
        ETP_ADD(l->arena, &l->out->record.parts, part);
    }
}

// The commands of one launch, in their order (wire/wire.h).
static bool converse(launch *l)
{
    const etp_launch_request *q = l->request;
    etp_wire_msg msg;
    if (!hear_hello(l) || !hear_load(l)) {
        return false;
    }
    if (q->pilot_warmup_ns > 0 ? !warm_up_pilot(l) : !warm_up(l, q->warmup)) {
        return false;
    }
    l->out->n_warmup = l->iterations.n;
    // Throws away what was recorded of the load and the warm-up.
    if (q->dump && q->warmup > 0 && !command(l, "dump", "-", &msg)) {
        return false;
    }
    if (!run_iterations(l, q->iterations) || !ask_memory(l)) {
        return false;
    }
    if (q->samples && !command(l, "samples", q->samples, &msg)) {
        return false;
    }
    if (q->dump && !command(l, "dump", q->dump, &msg)) {
        return false;
    }
    // Last: writing outputs takes time and memory that belong to no iteration.
    return (!q->outputs || command(l, "outputs", q->outputs, &msg)) && ask_ledger(l);
}

// ---- from start to end ----

static void finish(launch *l, bool good)
{
    etp_channel *t = l->channel;
    etp_launch_outcome *out = l->out;
    etp_process_sched sched = {UINT64_MAX, UINT64_MAX};
    etp_process_counters counters = {0};
    if (good) {
        if (l->request->cpus && t->device->ops->affinity) {
            out->record.cpus_allowed = t->device->ops->affinity(t->device, &t->process, l->arena);
        }
        if (t->device->info.local_pid) {
            // While the process still lives: /proc forgets it with its end.
            etp_process_sched_read(t->process.pid, &sched);
            etp_process_counters_read(t->process.pid, &counters);
            if (l->request->before_end) {
                l->request->before_end(l->request->interrupted_ctx, l->request->arm,
                                       t->process.pid);
            }
        }
        (void)etp_channel_send(t, ETP_STR("quit\n"));
        // It has said everything and still does not end: no sound launch, whatever its figures.
        if (!etp_channel_finish(t)) {
            out->interrupted = t->interrupted(t->ctx) != 0;
            good = etp_lose(l->out, ETP_LOST_HANG, "the runner did not end after its work");
        } else if (t->lost || t->process.signal != 0 || t->process.exit_code != 0) {
            explain_end(l);
            good = false;
        }
    } else if (!t->process.ended) {
        etp_channel_kill(t);
    }
    const etp_process *p = &t->process;
    etp_run_launch *r = &out->record;
    r->start_ns = p->start_ns;
    r->wall_ns = p->ended ? p->end_ns - p->start_ns : 0;
    r->user_ns = p->usage.user_ns;
    r->system_ns = p->usage.system_ns;
    r->minor_faults = p->usage.minor_faults;
    r->major_faults = p->usage.major_faults;
    r->voluntary_switches = p->usage.voluntary_switches;
    r->involuntary_switches = p->usage.involuntary_switches;
    // The system's figure is of the process that was started, which on other devices is a client of
    // ours.
    if (r->peak_rss_bytes == 0 && t->device->info.local_pid) {
        r->peak_rss_bytes = p->usage.peak_rss_bytes;
    }
    r->first_ns = l->iterations.n > 0 ? l->iterations.items[0].ns : 0;
    r->kind = l->request->kind;
    r->wait_ns = sched.wait_ns;
    r->migrations = sched.migrations;
    r->cycles = counters.cycles;
    r->instructions = counters.instructions;
    r->fast_cycles = counters.fast_cycles;
    r->energy_nj = counters.energy_nj;
    // Once anything was counted, all iterations have a row, zeros included, so that the row's
    // number stays that of the iteration.
    r->counted.n = r->counted.n > 0 ? (uint32_t)l->counts.n : 0;
    bool events = false; // beside the CPU time
    for (size_t i = 0; i < l->counts.n; i++) {
        events = events || l->counts.items[i].cycles > 0;
    }
    r->counted.events = events ? r->counted.events : ETP_EVENTS_NONE;
    r->counted.items = l->counts.items;
    out->ok = good;
    out->iterations = l->iterations.items;
    out->n_iterations = l->iterations.n - out->n_warmup;
    out->said = etp_strbuf_str(&t->said);
    out->log = etp_strbuf_str(&t->log);
}

// *started false: it is lost, l->out says why.
static etp_status start(launch *l, bool *started, etp_error *err)
{
    const etp_launch_request *request = l->request;
    *l->out = (etp_launch_outcome){.arena = l->arena};
    *started = false;
    l->channel = ETP_NEW(l->arena, etp_channel);
    ETP_NEED(l->channel, err, "a launch");
    snprintf(l->nonce, sizeof l->nonce, "%016llx", (unsigned long long)etp_os_random_u64());
    const char *args[MAX_ARGS];
    char threads[16];
    snprintf(threads, sizeof threads, "%u", request->arm->threads);
    size_t n_args = 0;
    // A control is timed as any other.
    const bool control = request->kind == ETP_LAUNCH_CONTROL;
    const char *kind = etp_launch_kind_name(control ? ETP_LAUNCH_TIMED : request->kind);
    // What is NULL is left out. With a script the methods are named in there.
    const char *const pairs[][2] = {
        {"--model",        request->model                         },
        {"--custom-ops",   request->kernels_lib                   },
        {"--packed-cache", request->packed_cache                  },
        {"--data",         request->data                          },
        {"--method",       request->steps ? NULL : request->method},
        {"--steps",        request->steps                         },
        {"--threads",      threads                                },
        {"--cpus",         request->cpus                          },
        {"--inputs",       request->inputs                        },
        {"--kind",         kind                                   },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i][1]) {
            args[n_args++] = pairs[i][0];
            args[n_args++] = pairs[i][1];
        }
    }
    args[n_args] = NULL;
    const char *nonce = etp_arena_printf(l->arena, "ETPROF_NONCE=%s", l->nonce);
    const char *mask = etp_arena_printf(l->arena, "ETPROF_MASK=%s", request->arm->mask);
    // Nonce, mask, mutable buffers, start and pad, and the NULL that ends the list.
    const char *env[6] = {nonce}, **next = env + 1;
    if (request->arm->mask[0]) {
        *next++ = mask;
    }
    if (request->kept && request->kept[0]) {
        *next++ = etp_arena_printf(l->arena, "ETPROF_KEPT=%s", request->kept);
    }
    if (request->ledger && l->device->info.local_pid) { // their clocks are the same
        *next++ =
            etp_arena_printf(l->arena, "ETPROF_STARTED=%llu", (unsigned long long)etp_os_now_ns());
    }
    if (l->device->info.local_pid) {
        // The environment lies above the stack: its size moves every frame, and with it which
        // addresses meet in the caches. Drawn anew for each launch, it is noise that the interval
        // sees; left alone it would be a bias of this shell. Our runner moves its heap by it too.
        // Remote commands stay short.
        l->out->record.env_pad_bytes = etp_os_random_u64() % PAD_MAX;
        char *pad = etp_arena_alloc(l->arena, PAD_MAX + 16);
        if (pad) {
            int n = snprintf(pad, 16, "ETPROF_PAD=");
            memset(pad + n, 'x', l->out->record.env_pad_bytes);
        }
        *next = pad;
    }
    ETP_TRY(etp_arena_check(l->arena, err, "a launch")); // a NULL would cut its environment short
    l->channel->timeout_ns = request->timeout_ns;
    l->channel->interrupted = request->interrupted;
    l->channel->ctx = request->interrupted_ctx;
    etp_error start_err;
    *started = etp_channel_start(l->device, args, env, l->arena, l->channel, &start_err) == ETP_OK;
    if (!*started) {
        etp_lose(l->out, ETP_LOST_START, "%s", start_err.msg);
    }
    return ETP_OK;
}

etp_status etp_launch_run(etp_device *device, const etp_launch_request *request, etp_arena *arena,
                          etp_launch_outcome *out, etp_error *err)
{
    if (request->arm->foreign) {
        return etp_foreign_run(device, request, arena, out, err);
    }
    launch l = {.request = request, .device = device, .arena = arena, .out = out};
    bool started;
    if (request->arm->bundle) {
        ETP_TRY(etp_device_use(device, request->arm->bundle, err));
    }
    ETP_TRY(start(&l, &started, err));
    if (started) {
        finish(&l, converse(&l));
        etp_channel_dispose(l.channel);
    }
    return ETP_OK;
}
