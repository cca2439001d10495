// SPDX-License-Identifier: Apache-2.0
// Launches of a stock executor_runner. It takes its number of executions once, has no warm-up and
// ends by itself: one launch is one process that runs warm-up and measurement in a row. Its log is
// hostile.
#include "measure/foreign.h"

#include <stdio.h>

#include "base/number.h"

#define MAX_ARGS 32
// Of a log the timing lines are taken as they come; what is kept is for people, and its beginning
// is enough.
#define LOG_LIMIT ((size_t)256 << 10)
#define REPORT_LIMIT ((size_t)64 << 10)
// A stock runner does not answer between iterations, so a trial cannot warm up until it has seen
// enough: it gets a fixed number.
#define PILOT_WARMUP 3

typedef struct foreign_launch { // state of one call
    etp_device *device;
    const etp_launch_request *request;
    const etp_foreign *foreign;
    etp_arena *arena;
    etp_launch_outcome *out;
    etp_process process;
    etp_foreign_log log;
    etp_strbuf text;    // what is kept of stderr and, where that is empty, stdout
    const char *report; // of etprof-launch, on the device
    uint64_t warmup;
    uint64_t letters; // TEXT: of the prompt
    uint64_t
        counted; // TEXT: tokens its tokenizer made of them, where others were asked for; else 0
} foreign_launch;

// ---- the command line ----

typedef struct argument_list {
    const char *items[MAX_ARGS + 1];
    size_t n;
    bool failed;
} argument_list;

static void add(argument_list *w, const char *word)
{
    w->failed = w->failed || !word || w->n == MAX_ARGS;
    if (!w->failed) {
        w->items[w->n++] = word;
        w->items[w->n] = NULL;
    }
}

// Flags that the build does not have are left out: a stock runner ends with an error when it meets
// one it does not know. What cannot be done without them was refused when the session was planned.
static void flag(foreign_launch *r, argument_list *w, etp_foreign_flag known, const char *name,
                 const char *value)
{
    if (value && r->foreign->flags[known]) {
        add(w, etp_arena_printf(r->arena, "--%s=%s", name, value));
    }
}

static const char *count_text(foreign_launch *r, uint64_t n)
{
    return etp_arena_printf(r->arena, "%llu", (unsigned long long)n);
}

// A word of one letter is a token in most vocabularies. How many tokens the prompt really had the
// runner's statistics say, and learn_prompt corrects it.
// "a a a" or "aaa".
static const char *prompt_of(foreign_launch *r)
{
    bool packed = r->foreign->prompt.letters;
    size_t n = (size_t)r->letters, each = packed ? 1 : 2;
    char *text = etp_arena_alloc_raw(r->arena, n * each + 1, 1);
    for (size_t i = 0; text && i < n; i++) {
        text[i * each] = 'a';
        text[i * each + each - 1] = packed ? 'a' : ' ';
    }
    if (text) {
        text[n * each - !packed] = '\0';
    }
    return text;
}

// The prompt's tokens, and those after it: the first is the prompt's own result.
static uint64_t prompt_tokens(const etp_planned_phase *p)
{
    return etp_foreign_decodes(p) ? p->run.depth : p->run.tokens * p->run.calls;
}

static uint64_t new_tokens(const etp_planned_phase *p)
{
    return 1 + (etp_foreign_decodes(p) ? p->run.calls : 0);
}

static void add_text(foreign_launch *r, argument_list *w)
{
    const etp_launch_request *q = r->request;
    const bool *has = r->foreign->flags;
    uint64_t wanted = prompt_tokens(q->phase), more = new_tokens(q->phase);
    flag(r, w, ETP_FOREIGN_TOKENIZER_PATH, "tokenizer_path", q->tokenizer);
    flag(r, w, ETP_FOREIGN_PROMPT, "prompt", prompt_of(r));
    if (has[ETP_FOREIGN_MAX_NEW_TOKENS]) {
        flag(r, w, ETP_FOREIGN_MAX_NEW_TOKENS, "max_new_tokens", count_text(r, more));
    } else {
        // This flag of older releases counts the prompt in.
        flag(r, w, ETP_FOREIGN_SEQ_LEN, "seq_len", count_text(r, wanted + more));
    }
    // Greedy, and to the last token that was asked for: every launch does the same work.
    flag(r, w, ETP_FOREIGN_TEMPERATURE, "temperature", "0");
    flag(r, w, ETP_FOREIGN_IGNORE_EOS, "ignore_eos", "true");
    if (has[ETP_FOREIGN_NUM_EXECUTIONS]) {
        flag(r, w, ETP_FOREIGN_NUM_EXECUTIONS, "num_executions", count_text(r, r->log.executions));
    } else { // a recording is of one answer alone
        flag(r, w, ETP_FOREIGN_WARMUP, "warmup", etp_z_if(!q->dump, "true"));
    }
    flag(r, w, has[ETP_FOREIGN_DATA_PATHS] ? ETP_FOREIGN_DATA_PATHS : ETP_FOREIGN_DATA_PATH,
         has[ETP_FOREIGN_DATA_PATHS] ? "data_paths" : "data_path", q->data);
}

// etprof-launch's part first.
static bool build_arguments(foreign_launch *r, argument_list *w, const char *dump)
{
    const etp_launch_request *q = r->request;
    etp_arena *a = r->arena;
    if (q->arm->mask[0]) {
        add(w, "--mask");
        add(w, q->arm->mask);
    } else {
        add(w, "--method");
        add(w, "none");
    }
    add(w, "--report");
    add(w, r->report);
    if (q->cpus) {
        add(w, "--cpus");
        add(w, q->cpus);
    }
    if (!r->device->info.local_pid) {
        add(w, "--executable"); // files are pushed without the permission
    }
    if (q->outputs) {
        add(w, "--make");
        add(w, q->outputs);
    }
    add(w, "--");
    add(w, r->foreign->there);
    flag(r, w, ETP_FOREIGN_MODEL_PATH, "model_path", q->model);
    flag(r, w, ETP_FOREIGN_CPU_THREADS, "cpu_threads", etp_arena_printf(a, "%u", q->arm->threads));
    flag(r, w, ETP_FOREIGN_ETDUMP_PATH, "etdump_path", dump);
    flag(r, w, ETP_FOREIGN_METHOD_NAME, "method_name", q->method);
    if (r->foreign->kind == ETP_FOREIGN_TEXT) {
        add_text(r, w);
    } else {
        // Ones are what a stock runner fills in by itself, for which it has no flag.
        bool files = q->inputs && etp_input_kind_of(q->inputs) != ETP_INPUTS_ONES;
        flag(r, w, ETP_FOREIGN_NUM_EXECUTIONS, "num_executions", count_text(r, r->log.executions));
        flag(r, w, ETP_FOREIGN_DATA_PATH, "data_path", q->data);
        flag(r, w, ETP_FOREIGN_INPUTS, "inputs", etp_z_if(files, q->inputs));
        flag(r, w, ETP_FOREIGN_PRINT_OUTPUT, "print_output", "none");
        flag(r, w, ETP_FOREIGN_OUTPUT_FILE, "output_file",
             q->outputs ? etp_arena_printf(a, "%s/output", q->outputs) : NULL);
    }
    return !w->failed;
}

// ---- listening ----

// A word now and then is no end: all of it has a time, too. Where it is not known what an execution
// takes, each, and each token of a text, may take as long as it may be silent.
static uint64_t whole_limit(const foreign_launch *r, uint64_t silence_limit_ns)
{
    const etp_launch_request *q = r->request;
    uint64_t parts = q->phase ? prompt_tokens(q->phase) + new_tokens(q->phase) : 1;
    parts = q->expected_iteration_ns > 0 ? 0 : parts * r->log.executions;
    return silence_limit_ns < UINT64_MAX / (parts + 2) ? (parts + 2) * silence_limit_ns
                                                       : UINT64_MAX;
}

// Until it closes its output; false when it was lost or the session is to end.
static bool read_output(foreign_launch *r, uint64_t silence_limit_ns)
{
    const etp_launch_request *q = r->request;
    const uint64_t begin = etp_os_now_ns(), whole = whole_limit(r, silence_limit_ns);
    uint64_t deadline = begin + silence_limit_ns;
    for (;;) {
        char piece[4096];
        size_t got = 0;
        uint64_t now = etp_os_now_ns();
        if (q->interrupted(q->interrupted_ctx) != 0) {
            r->out->interrupted = true;
            return false;
        }
        if (now >= deadline) {
            return etp_lose(r->out, ETP_LOST_HANG, "no output for %s s",
                            ETP_DIGITS((double)silence_limit_ns / 1e9, 3));
        }
        if (now - begin >= whole) {
            return etp_lose(r->out, ETP_LOST_HANG, "its output did not end within %s s",
                            ETP_DIGITS((double)whole / 1e9, 3));
        }
        etp_process_event e =
            etp_process_read(&r->process, deadline - now, piece, sizeof piece, &got);
        if (e == ETP_PROCESS_EOF) {
            return true;
        }
        if (e == ETP_PROCESS_OUT || e == ETP_PROCESS_ERR) {
            now = etp_os_now_ns();
            etp_foreign_log_feed(&r->log, e == ETP_PROCESS_ERR, piece, got, now);
            size_t room = LOG_LIMIT - r->text.len;
            etp_strbuf_append(&r->text, (etp_str){piece, ETP_MIN(got, room)});
            deadline = now + silence_limit_ns;
        }
    }
}

static bool wait_for_end(foreign_launch *r, uint64_t silence_limit_ns)
{
    const etp_launch_request *q = r->request;
    uint64_t deadline = etp_os_now_ns() + silence_limit_ns;
    // A stock runner ends by itself after its last iteration, while it writes its files.
    while (!etp_process_wait(&r->process, 20000000)) {
        if (q->interrupted(q->interrupted_ctx) != 0) {
            r->out->interrupted = true;
            return false;
        }
        if (etp_os_now_ns() >= deadline) {
            return etp_lose(r->out, ETP_LOST_HANG, "it closed its output and did not end");
        }
    }
    return true;
}

// Its last line of text, as printable ASCII.
static void last_words(const foreign_launch *r, char *buf, size_t cap)
{
    etp_str s = etp_strbuf_str(&r->text);
    while (s.len > 0 && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == ' ')) {
        s.len--;
    }
    size_t start = s.len;
    while (start > 0 && s.ptr[start - 1] != '\n' && s.len - start < cap - 1) {
        start--;
    }
    size_t n = 0;
    for (size_t i = start; i < s.len; i++) {
        buf[n++] = s.ptr[i] >= ' ' && s.ptr[i] <= '~' ? s.ptr[i] : '?';
    }
    buf[n] = '\0';
}

static bool check_end(foreign_launch *r)
{
    char said[301];
    const etp_process *p = &r->process;
    last_words(r, said, sizeof said);
    const char *colon = etp_if(said[0], ": ");
    if (p->signal != 0) {
        return etp_lose(r->out, ETP_LOST_CRASH, "it was ended by signal %d%s%s", p->signal, colon,
                        said);
    }
    // As env and nohup have it: 126 and 127 say that the program could not be started. 125 is
    // etprof-launch's own: the level could not be set.
    if (p->exit_code >= 125 && p->exit_code <= 127) {
        return etp_lose(r->out, p->exit_code == 125 ? ETP_LOST_MASK : ETP_LOST_CRASH, "%s",
                        said[0] ? said : "etprof-launch could not start it");
    }
    if (p->exit_code != 0) {
        return etp_lose(r->out, ETP_LOST_CRASH, "it ended with status %d%s%s", p->exit_code, colon,
                        said);
    }
    return true;
}

// ---- what it said ----

// A release that tells the sum only: its mean stands for every execution, so that a launch's value
// is what it said; the session notes it.
static void spread_total(foreign_launch *r)
{
    etp_foreign_log *log = &r->log;
    uint64_t mean = log->total_ns / log->executions;
    // Where the iterations began is not known either; laid end to end behind the load they are at
    // least in the right order.
    uint64_t start = r->process.start_ns + log->load_ns;
    for (uint64_t i = 0; i < log->executions; i++) {
        etp_launch_iteration item = {start + i * mean, ETP_MAX(mean, 1)};
        ETP_ADD(log->arena, &log->iterations, item);
    }
    r->out->mean_only = true;
}

// One answer as an iteration of its phase: the time of a call.
static bool take_answer(foreign_launch *r, const etp_foreign_stats *said)
{
    const etp_planned_phase *p = r->request->phase;
    bool decode = etp_foreign_decodes(p);
    uint64_t wanted = prompt_tokens(p), ms = decode ? said->decode_ms : said->prefill_ms;
    if (said->prompt_tokens != wanted) {
        r->counted = said->prompt_tokens;
        return etp_lose(r->out, ETP_LOST_GARBAGE,
                        "its tokenizer makes %llu tokens of a prompt of %llu letters instead of "
                        "%llu: it joins or splits letters; ask for another length of --prefill or "
                        "another D of --decode N@D",
                        (unsigned long long)said->prompt_tokens, (unsigned long long)r->letters,
                        (unsigned long long)wanted);
    }
    if (decode && said->new_tokens != p->run.calls) {
        return etp_lose(
            r->out, ETP_LOST_GARBAGE,
            "its statistics have %llu tokens after the prompt's instead of %llu%s",
            (unsigned long long)said->new_tokens, (unsigned long long)p->run.calls,
            etp_if(said->new_tokens < p->run.calls && !r->foreign->flags[ETP_FOREIGN_IGNORE_EOS],
                   " (the text ended, and this runner has no --ignore_eos): give a "
                   "smaller --decode"));
    }
    if (ms == 0) {
        return etp_lose(r->out, ETP_LOST_GARBAGE,
                        "%s took less than a millisecond, which is all that its clock counts: ask "
                        "for more tokens",
                        p->run.name.ptr);
    }
    // The statistics come when the answer is complete, and decoding is the end of it: the prompt's
    // time ended so much earlier.
    uint64_t after = decode ? 0 : said->decode_ms, took = (ms + after) * 1000000;
    etp_launch_iteration item = {ETP_LESS(said->ended_ns, took), ms * 1000000 / p->run.calls};
    ETP_ADD(r->arena, &r->log.iterations, item);
    return true;
}

static bool take_answers(foreign_launch *r)
{
    etp_foreign_log *log = &r->log;
    if (log->bad[0]) {
        return etp_lose(r->out, ETP_LOST_GARBAGE, "its statistics (PyTorchObserver) cannot be: %s",
                        log->bad);
    }
    if (log->answers.n == 0) {
        return etp_lose(r->out, ETP_LOST_GARBAGE,
                        "no statistics in its output (\"PyTorchObserver {...}\" on a line of its "
                        "own): it is not a runner of language models, or prints them elsewhere "
                        "(Android: logcat)");
    }
    if (log->answers.n != log->executions) {
        return etp_lose(r->out, ETP_LOST_GARBAGE,
                        "it gave statistics of %zu answers instead of %llu", log->answers.n,
                        (unsigned long long)log->executions);
    }
    for (size_t i = 0; i < log->answers.n; i++) {
        if (!take_answer(r, &log->answers.items[i])) {
            return false;
        }
    }
    return true;
}

static bool check_log(foreign_launch *r)
{
    etp_foreign_log *log = &r->log;
    if (log->wrong[0]) {
        return etp_lose(r->out, ETP_LOST_GARBAGE, "the runner ignores its flags: %s", log->wrong);
    }
    if (log->threads != 0 && log->threads != r->request->arm->threads) {
        return etp_lose(r->out, ETP_LOST_GARBAGE,
                        "the runner ignores its flags: it uses %llu threads instead of %u",
                        (unsigned long long)log->threads, r->request->arm->threads);
    }
    if (log->kind == ETP_FOREIGN_TEXT) {
        return take_answers(r);
    }
    if (log->iterations.n == 0 && log->total_n == log->executions) {
        spread_total(r);
    }
    if (log->iterations.n == 0) {
        return etp_lose(
            r->out, ETP_LOST_GARBAGE,
            "no timing line in its log (\"Iteration 1 of %llu: ... ms\"): %s",
            (unsigned long long)log->executions,
            r->foreign->logging == ETP_KNOWN_NO
                ? "it was built without logging; configure it with -DEXECUTORCH_ENABLE_LOGGING=ON"
                : "it was built without logging, or logs elsewhere (Android: logcat)");
    }
    // A part of the lines is worse than none: which of them is the warm-up would be guessed.
    if (log->iterations.n != log->executions) {
        return etp_lose(r->out, ETP_LOST_GARBAGE, "its log has %zu iterations instead of %llu",
                        log->iterations.n, (unsigned long long)log->executions);
    }
    return true;
}

// What etprof-launch did, as the evidence of the mask.
static bool take_report(foreign_launch *r)
{
    etp_str text = {0};
    etp_error err;
    etp_run_launch *record = &r->out->record;
    const char *local = etp_arena_printf(r->arena, "%s/launch-report.here", r->device->work_dir);
    if (r->request->arm->mask[0] == '\0') {
        return true;
    }
    if (!local || r->device->ops->pull(r->device, r->report, local, &err) != ETP_OK ||
        etp_os_read_text(local, REPORT_LIMIT, r->arena, &text, &err) != ETP_OK) {
        return etp_lose(r->out, ETP_LOST_MASK,
                        "etprof-launch left no report: the level is unknown");
    }
    etp_str line, method = {0};
    while (method.len == 0 && etp_str_part(&text, '\n', &line)) {
        method = etp_str_skip(&line, "method ") ? line : method;
    }
    record->mask_requested = etp_str_from(r->request->arm->mask);
    record->mask_hook =
        etp_str_from(etp_arena_printf(r->arena, "etprof-launch:%.*s", ETP_STR_ARG(method)));
    // etprof-launch clears what it is asked to in each answer it gives.
    record->mask_cleared = record->mask_requested;
    return true;
}

// The prompt of a first launch shows what the tokenizer makes of it; the next is asked for with as
// many letters as that tells. True: it is worth another try.
static bool learn_prompt(foreign_launch *r, etp_foreign *foreign)
{
    uint64_t wanted = r->request->phase ? prompt_tokens(r->request->phase) : 0;
    if (r->counted == 0) {
        return false;
    }
    if (!foreign->prompt.letters && r->letters > 2 && r->counted > r->letters + r->letters / 2) {
        foreign->prompt.letters = true; // spaces are tokens of their own
        return true;
    }
    // Tokens that the tokenizer adds by itself (the beginning of a text), or letters that it joins.
    int64_t extra = (int64_t)r->counted - (int64_t)r->letters;
    bool more = extra != foreign->prompt.extra && extra < (int64_t)wanted;
    foreign->prompt.extra = more ? extra : foreign->prompt.extra;
    return more;
}

static etp_status run_once(foreign_launch *r, etp_error *err)
{
    etp_device *device = r->device;
    const etp_launch_request *request = r->request;
    etp_launch_outcome *out = r->out;
    etp_strbuf_init(&r->text, r->arena);
    // Where etprof-launch says what it hid and who asked.
    ETP_TRY(device->ops->scratch(device, "launch-report", r->arena, &r->report, err));
    // A tracer writes a file in any case; not into the folder it stands in.
    const char *dump = request->dump;
    if (!dump && r->foreign->flags[ETP_FOREIGN_ETDUMP_PATH]) {
        ETP_TRY(device->ops->scratch(device, "unwanted.etdump", r->arena, &dump, err));
    }
    argument_list w = {0};
    ETP_NEED(build_arguments(r, &w, dump), err, "a launch");
    const char *const env[] = {NULL};
    etp_error start_err;
    if (device->ops->start(device, w.items, env, &r->process, &start_err) != ETP_OK) {
        etp_lose(r->out, ETP_LOST_START, "%s", start_err.msg);
        return ETP_OK;
    }
    uint64_t each = request->expected_iteration_ns, n = r->log.executions;
    // Ten times what it should take, as for etprof's own runner; none where the product would wrap.
    uint64_t extra = each < UINT64_MAX / 20 / (n + 1) ? 10 * n * each : 0;
    uint64_t silence_limit = request->timeout_ns + extra;
    etp_process_close_input(&r->process); // it reads nothing
    bool ok = read_output(r, silence_limit) && wait_for_end(r, silence_limit);
    if (!r->process.ended) {
        device->ops->kill(device, &r->process, 0);
    }
    out->ok = ok && check_end(r) && take_report(r) && check_log(r);
    const etp_process *p = &r->process;
    etp_run_launch *record = &out->record;
    record->kind = request->kind;
    record->pid = (uint64_t)p->pid;
    record->start_ns = p->start_ns;
    record->wall_ns = p->ended ? p->end_ns - p->start_ns : 0;
    record->load_ns = r->log.load_ns;
    record->first_ns = r->log.iterations.n > 0 ? r->log.iterations.items[0].ns : 0;
    // The process has ended: /proc has nothing on it any more.
    record->wait_ns = record->migrations = UINT64_MAX;
    if (device->info.local_pid) {
        record->user_ns = p->usage.user_ns;
        record->system_ns = p->usage.system_ns;
        record->peak_rss_bytes = p->usage.peak_rss_bytes;
    }
    etp_process_dispose(&r->process);
    out->iterations = r->log.iterations.items;
    out->n_warmup = r->log.iterations.n >= r->warmup ? r->warmup : 0;
    out->n_iterations = r->log.iterations.n - out->n_warmup;
    out->log = etp_strbuf_str(&r->text);
    return ETP_OK;
}

etp_status etp_foreign_run(etp_device *device, const etp_launch_request *request, etp_arena *arena,
                           etp_launch_outcome *out, etp_error *err)
{
    etp_foreign *foreign = request->arm->foreign;
    bool text = foreign->kind == ETP_FOREIGN_TEXT, pilot = request->pilot_warmup_ns > 0;
    bool repeats = !text || foreign->flags[ETP_FOREIGN_NUM_EXECUTIONS];
    foreign_launch *r = ETP_NEW(arena, foreign_launch);
    ETP_NEED(r, err, "a launch");
    // Once to see what the tokenizer does, once corrected, once more where the letters had to be
    // put together. Only runners of language models come back here.
    for (int attempt = 0; attempt < 3; attempt++) {
        *out = (etp_launch_outcome){.arena = arena};
        *r = (foreign_launch){
            .device = device,
            .request = request,
            .foreign = foreign,
            .arena = arena,
            .out = out,
            .process = {.in_fd = -1, .out_fd = -1, .err_fd = -1}
        };
        if (repeats && !(text && request->dump)) {
            r->warmup = pilot ? PILOT_WARMUP : request->warmup;
        }
        r->log.arena = arena;
        r->log.kind = foreign->kind;
        r->log.executions = repeats ? r->warmup + request->iterations : 1;
        if (request->phase && text) {
            int64_t n = (int64_t)prompt_tokens(request->phase) - foreign->prompt.extra;
            r->letters = n > 0 ? (uint64_t)n : 1;
        }
        ETP_TRY(run_once(r, err));
        if (out->ok || out->interrupted || !text || !learn_prompt(r, foreign)) {
            break;
        }
    }
    return ETP_OK;
}
