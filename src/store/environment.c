// SPDX-License-Identifier: Apache-2.0
// The lines of environment.jsonl, of launches and of blocks: the tables that they are written by
// and read by.
#include "document/memory.h"
#include "document/rows.h"
#include "store/internal.h"

static const char k_launch_type[] = "launch", k_block_type[] = "block";

WORDS(k_load_whats, etp_load_what_name, etp_load_what, ETP_LOAD_WHATS)
WORDS(k_kinds, etp_launch_kind_name, etp_launch_kind, ETP_LAUNCH_KINDS)
FIND(launch_type, etp_run_launch, etp_run, MAKE(text, k_launch_type))
KNOWN(has_counters, etp_run_launch, it->cycles > 0)
KNOWN(has_memory, etp_memory_rows, it->code > 0)
KNOWN(has_stage, etp_memory_stage, it->rows.code > 0)
KNOWN(has_parts, etp_run_launch, it->parts.n > 0)
KNOWN(has_hook_cost, etp_run_launch, it->hook_cost.call_ps > 0)
KNOWN(has_cache, etp_run_launch, it->counted.cache.len > 0)
KNOWN(has_counted, etp_run_launch, it->counted.n > 0)
KNOWN(has_events, etp_run_launch, it->counted.events != ETP_EVENTS_NONE)

// Of one member, which VALUE is: the launch is where it stands. Without a span 0 would say that
// nothing waited.
static bool has_waits(const void *value, const etp_json_cursor *at)
{
    (void)value;
    return ((const etp_run_launch *)at->object)->run_span_ns > 0;
}

// ---- what one iteration cost, by column, as the iterations of samples.csv ----

static void write_column(etp_json *j, const etp_run_launch *l, size_t offset, bool zero_counts)
{
    etp_json_begin_array_inline(j);
    for (uint32_t i = 0; i < l->counted.n; i++) {
        uint64_t v;
        memcpy(&v, (const char *)&l->counted.items[i] + offset, sizeof v);
        if (v > 0 || zero_counts) {
            etp_json_u64(j, v);
        } else {
            etp_json_null(j);
        }
    }
    etp_json_end(j);
}
#define COUNTS_OF(member, zero_counts)                                                \
    static void write_##member(etp_json *j, const etp_json_cursor *at)                \
    {                                                                                 \
        write_column(j, at->object, offsetof(etp_run_counts, member), (zero_counts)); \
    }
COUNTS_OF(cpu_ns, false)
COUNTS_OF(cycles, false)
COUNTS_OF(instructions, false)
COUNTS_OF(cache_misses, true)

// One column into the field at OFFSET of every item; null is 0, not counted.
static void read_column(const etp_json_object *o, const char *key, size_t offset,
                        etp_run_counts *items, size_t n)
{
    const json_t *array;
    size_t found = etp_json_get_array(o, key, UINT32_MAX, &array);
    if (found != 0 && found != n) {
        etp_json_reject(o, key, "as many values as its other columns");
        return;
    }
    for (size_t i = 0; i < found; i++) {
        const json_t *v = json_array_get(array, i);
        uint64_t value = (uint64_t)json_integer_value(v); // of what is no integer: 0
        if (!json_is_null(v) && !(json_is_integer(v) && json_integer_value(v) >= 0)) {
            etp_json_reject(o, key, "counts or null");
            return;
        }
        memcpy((char *)&items[i] + offset, &value, sizeof value);
    }
}

static void read_counted(const etp_json_object *launch, void *object, void *root)
{
    (void)root;
    etp_run_launch *l = object;
    etp_json_object o = etp_json_get_object(launch, "counted"); // absent where nothing was counted
    const json_t *array;
    // Where the processor counts nothing, the CPU time stands alone.
    size_t n = o.object ? etp_json_get_array(&o, "cycles", UINT32_MAX, &array) : 0;
    if (n == 0 && o.object) {
        n = etp_json_get_array(&o, "cpu_ns", UINT32_MAX, &array);
    }
    etp_run_counts *items = n > 0 ? ETP_NEW_ARRAY(o.arena, etp_run_counts, n) : NULL;
    if (!items) {
        return;
    }
    read_column(&o, "cycles", offsetof(etp_run_counts, cycles), items, n);
    read_column(&o, "cpu_ns", offsetof(etp_run_counts, cpu_ns), items, n);
    read_column(&o, "instructions", offsetof(etp_run_counts, instructions), items, n);
    read_column(&o, "cache_misses", offsetof(etp_run_counts, cache_misses), items, n);
    l->counted.items = items;
    l->counted.n = (uint32_t)n;
    l->counted.scaled = etp_json_get_u32(&o, "scaled", UINT32_MAX);
    etp_str events = etp_json_get_str(&o, "events"); // empty: the runner did not tell
    if (!etp_counter_events_find(events, &l->counted.events)) {
        l->counted.events = ETP_EVENTS_NONE; // of a later version: what was counted is not known
    }
    l->counted.cache = etp_json_get_str(&o, "cache");
}

// ---- a launch ----

static void write_experiment(etp_json *j, const etp_json_cursor *at)
{
    const etp_run *run = at->root;
    etp_json_str(j, run->arms.items[((const etp_run_launch *)at->object)->arm].name);
}

static void read_experiment(const etp_json_object *o, void *object, void *root)
{
    etp_run_launch *l = object;
    l->arm = etp_run_arm_find(root, etp_json_get_str(o, "experiment"), 0);
    if (l->arm == ETP_NO_INDEX) {
        etp_json_reject(o, "experiment", "in the plan");
    }
}

WORDS(k_events, etp_counter_events_name, etp_counter_events, ETP_EVENTS_KINDS)

#define COLUMN "{\"type\": \"array\", \"items\": {\"type\": [\"integer\", \"null\"]}}"
#define OF etp_run_launch
#define NUMBER(member, what) FIELD(#member, UINT, member, what)
static const etp_field k_counters_rows[] = {
    NUMBER(cycles, "of all threads before the end"),
    NUMBER(instructions, "likewise"),
    FIELD("fast_cycles", UINT, fast_cycles, "on the fast cores", .flags = ETP_ZERO),
    FIELD("energy_nj", UINT, energy_nj, "of the process", .flags = ETP_ZERO),
};
static SHAPE(k_counters, k_counters_rows);
static const etp_field k_counted_rows[] = {
    FIELD("events", WORD, counted.events, "what the processor counted", .words = &k_events),
    FIELD("cache", STR, counted.cache, "what cache misses are counted", .flags = ETP_EMPTY),
    FIELD("scaled", UINT, counted.scaled, "iterations with the counters for a part of the time"),
    WRITTEN("cpu_ns", write_cpu_ns, COLUMN, "of all threads"),
    WRITTEN("cycles", write_cycles, COLUMN, "likewise", .when = has_events, .flags = ETP_ABSENT),
    WRITTEN("instructions", write_instructions, COLUMN, "likewise", .when = has_events,
            .flags = ETP_ABSENT),
    WRITTEN("cache_misses", write_cache_misses, COLUMN, "likewise", .when = has_cache,
            .flags = ETP_ABSENT),
};
static SHAPE(k_counted, k_counted_rows);
static const etp_field k_mask_rows[] = {
    FIELD("requested", STR, mask_requested, "features to hide"),
    FIELD("hook", STR, mask_hook, "how they are hidden"),
    FIELD("cleared", STR, mask_cleared, "what was"),
    FIELD("caller", STR, mask_caller, "who asked"),
};
static SHAPE(k_mask, k_mask_rows);
static const etp_field k_hook_rows[] = {
    FIELD("calls", UINT, hook_cost.calls, "questions of one execution"),
    FIELD("call_ps", UINT, hook_cost.call_ps, "picoseconds added to each"),
};
static SHAPE(k_hook, k_hook_rows);
#undef OF
#define OF etp_run_part
static const etp_field k_part_rows[] = {
    FIELD("what", WORD, what, "", .words = &k_load_whats),
    FIELD("delegate", UINT, delegate, "of XNNPACK in the order of loading, from 1",
          .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("operation", UINT, operation, "of it that packs weights, from 1",
          .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("bytes", UINT, bytes, "packed", .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("ns", UINT, ns, "", .most = INT64_MAX),
    FIELD("faults", UINT, faults, "page faults", .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("workspace", UINT, workspace,
          "that the delegate computes in, from 1; others may share it",
          .flags = ETP_ABSENT | ETP_ZERO),
};
static SHAPE_ON_ONE_LINE(k_part, k_part_rows);
#undef OF
#define OF etp_run_launch
static const etp_field k_loading_rows[] = {
    VECTOR("parts", OBJECT, parts, "from its start to the end of its first inference",
           .shape = &k_part, .most = ETP_RUN_MAX_PARTS),
};
static SHAPE(k_loading, k_loading_rows);
static const etp_field k_launch_rows[] = {
    COMPUTED("type", TEXT, launch_type, "launch", .flags = ETP_SET),
    FIELD("block", UINT, block, "from 1", .most = ETP_RUN_MAX_BLOCKS),
    NUMBER(launch, "its number in the session"),
    WRITTEN("experiment", write_experiment, "{\"type\": \"string\"}", "the arm",
            .read = read_experiment),
    FIELD("kind", WORD, kind, "", .words = &k_kinds),
    NUMBER(position, "in the block's order, from 0"),
    NUMBER(pid, "of the process"),
    NUMBER(start_ns, "on the device's steady clock"),
    NUMBER(wall_ns, "spawn to exit"),
    NUMBER(load_ns, "loading the program, weight packing included"),
    FIELD("cached_bytes", UINT, cached_bytes,
          "kind cold: of its files, left in the page cache when loading began",
          .flags = ETP_ABSENT | ETP_ZERO),
    NUMBER(first_ns, "first inference"),
    NUMBER(rss_bytes, "after loading"),
    NUMBER(peak_rss_bytes, ""),
    FIELD("dirty_bytes", UINT, dirty_bytes, "resident after the measured iterations: written pages",
          .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("clean_bytes", UINT, clean_bytes, "likewise: pages of files, not written",
          .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("memory", OBJECT, memory, "both together, by what holds them",
          .shape = &k_etp_memory_rows_shape, .when = has_memory, .flags = ETP_ABSENT),
#define STAGE(member, when_)                                                           \
    FIELD("memory_" #member, OBJECT, memory_at.member, "kind memory: likewise " when_, \
          .shape = &k_etp_memory_stage_shape, .when = has_stage, .flags = ETP_ABSENT),
    ETP_MEMORY_STAGES(STAGE)
#undef STAGE
        GROUP("loading", &k_loading, "of one recorded launch of each arm", .when = has_parts,
              .flags = ETP_ABSENT),
    NUMBER(user_ns, "CPU time"),
    NUMBER(system_ns, "likewise, in the kernel"),
    NUMBER(minor_faults, "page faults without reading"),
    NUMBER(major_faults, "page faults that read"),
    NUMBER(voluntary_switches, "of contexts"),
    NUMBER(involuntary_switches, "likewise"),
    NUMBER(env_pad_bytes, "by which its environment was made larger"),
    FIELD("wait_ns", UINT, wait_ns, "ready, but no CPU was free", .flags = ETP_MAX_IS_NULL),
    FIELD("run_span_ns", UINT, run_span_ns, "of the measured iterations",
          .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("run_wait_ns", UINT, run_wait_ns, "in it, ready without a CPU; all threads",
          .when = has_waits, .flags = ETP_ABSENT),
    FIELD("migrations", UINT, migrations, "moves between CPUs", .flags = ETP_MAX_IS_NULL),
    GROUP("counters", &k_counters, "of the process", .when = has_counters),
    GROUP("counted", &k_counted, "by iteration, warm-up included", .when = has_counted,
          .flags = ETP_ABSENT, .read = read_counted),
    GROUP("mask", &k_mask, "what the runner says about it"),
    NUMBER(hook_calls, "by SDK libraries, answered with the mask in force"),
    GROUP("hook_cost", &k_hook, "what hiding features adds to an execution", .when = has_hook_cost,
          .flags = ETP_ABSENT),
    FIELD("flags", STR, flags, "features left to the SDK"),
    FIELD("cpus_allowed", STR, cpus_allowed, "of its threads", .flags = ETP_ABSENT | ETP_EMPTY),
};
static SHAPE(k_launch, k_launch_rows);
#undef OF
const etp_document k_etp_launch_document = {
    "environment.jsonl", "Lines of environment.jsonl with type launch", &k_launch};

void etp_run_launch_write(etp_sink *sink, const etp_run *run, const etp_run_launch *l)
{
    etp_json j;
    etp_json_init(&j, sink, false);
    etp_object_write(&j, &k_launch, l, run);
    etp_json_end_document(&j);
}

// ---- a block ----

FIND(block_type, etp_run_block, etp_run, MAKE(text, k_block_type))

// Written for people: nothing here asks for it again.
static void not_read(const etp_json_object *o, void *object, void *root)
{
    (void)o, (void)object, (void)root;
}

static void write_order(etp_json *j, const etp_json_cursor *at)
{
    const etp_run *run = at->root;
    const etp_run_block *b = at->object;
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < b->n_order; i++) {
        etp_json_str(j, run->arms.items[b->order[i]].name);
    }
    etp_json_end(j);
}

static void write_core_khz(etp_json *j, const etp_json_cursor *at)
{
    const etp_run_moment *m = at->object;
    if (m->n_cores == 0) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_array_inline(j);
    for (uint32_t i = 0; i < m->n_cores; i++) {
        if (m->core_khz[i] > 0) {
            etp_json_u64(j, m->core_khz[i]);
        } else {
            etp_json_null(j); // offline, or not told
        }
    }
    etp_json_end(j);
}

// Unlike a row of NUMBER with ETP_ZERO this is written as it is: a clock can be set back.
static void read_clock_jump(const etp_json_object *o, void *object, void *root)
{
    (void)root;
    ((etp_run_block *)object)->clock_jump_s = etp_json_get_double(o, "clock_jump_s");
}

#define OF etp_run_moment
#define READING(member, ...) FIELD(#member, UINT, member, __VA_ARGS__, .flags = ETP_MAX_IS_NULL)
static const etp_field k_moment_rows[] = {
    READING(time_ns, "on the device's steady clock"),
    FIELD("load1", NUMBER, load1, "load average over a minute"),
    READING(memory_free_bytes, ""),
    FIELD("temperature_c", NUMBER, temperature_c, "of the hottest thermal zone",
          .range = ETP_SIGNED),
    FIELD("temperature_zone", STR, temperature_zone, "its name", .flags = ETP_EMPTY,
          .read = not_read),
    READING(freq_min_khz, "clock of the slowest CPU now", .read = not_read),
    READING(freq_max_khz, "and of the fastest"),
    WRITTEN("core_khz", write_core_khz,
            "{\"type\": [\"array\", \"null\"], \"items\": {\"type\": [\"integer\", \"null\"]}}",
            "of each CPU, by number"),
    READING(freq_cap_khz, "what the system allows, summed over the clusters"),
    READING(thermal_status, "of Android, 0 none to 6 shutdown"),
    READING(battery_percent, "", .read = not_read),
    READING(cpu_busy_ms, "over all CPUs, since boot"),
    READING(cpu_steal_ms, "that a host gave to others, likewise"),
    FIELD("governor", STR, governor, "of the first CPU's clock", .flags = ETP_EMPTY),
    FIELD("boost", TRISTATE, boost, "clocks above the nominal one are allowed"),
    FIELD("power", STR, power, "`mains`, `battery`", .flags = ETP_EMPTY),
};
static SHAPE(k_moment, k_moment_rows);
#undef OF
#define OF etp_run_block
static const etp_field k_block_rows[] = {
    COMPUTED("type", TEXT, block_type, "block", .flags = ETP_SET),
    FIELD("block", UINT, block, "from 1", .most = ETP_RUN_MAX_BLOCKS),
    WRITTEN("order", write_order, "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
            "the arms as they were launched"),
    FIELD("control_position", UINT, control_position, "of the control launch among the timed ones",
          .flags = ETP_MAX_IS_NULL, .read = not_read),
    FIELD("cooled_ns", UINT, cooled_ns, "waited for `--cool`", .read = not_read),
    FIELD("wall_start_s", INT, wall_start_s, "seconds since 1970, before it", .range = ETP_SIGNED,
          .read = not_read),
    FIELD("wall_end_s", INT, wall_end_s, "and after it", .range = ETP_SIGNED, .read = not_read),
    FIELD(
        "slept_ns", UINT, slept_ns,
        "the machine was suspended (Linux: CLOCK_BOOTTIME against CLOCK_MONOTONIC); 0 below 50 ms",
        .flags = ETP_MAX_IS_NULL),
    FIELD("clock_jump_s", NUMBER, clock_jump_s,
          "the wall clock moved that much beyond it; 0 below 2.5 s", .range = ETP_SIGNED,
          .read = read_clock_jump),
    FIELD("start", OBJECT, start, "the machine before it", .shape = &k_moment),
    FIELD("end", OBJECT, end, "and after it", .shape = &k_moment),
};
static SHAPE(k_block, k_block_rows);
#undef OF
const etp_document k_etp_block_document = {"environment.jsonl",
                                           "Lines of environment.jsonl with type block", &k_block};

etp_str etp_run_block_line(const etp_run *run, const etp_run_block *b, etp_arena *arena)
{
    return etp_object_text(&k_block, b, run, arena);
}

// One line: launches and blocks are taken, other lines are for people.
etp_status etp_run_line_read(etp_str line, etp_arena *arena, etp_run *run, etp_error *err)
{
    json_t *json;
    ETP_TRY(etp_json_read(line, &json, err));
    etp_status status = ETP_OK;
    const etp_json_object o = {
        .object = json, .where = "", .arena = arena, .err = err, .status = &status};
    etp_str type = etp_json_get_str(&o, "type");
    if (etp_str_eqz(type, k_launch_type)) {
        etp_run_launch l = {0};
        etp_object_read(&o, &k_launch, &l, run);
        if (status == ETP_OK && l.block <= run->blocks_done) {
            ETP_ADD(arena, &run->launches, l);
        }
    } else if (etp_str_eqz(type, k_block_type)) {
        etp_run_block b = {0};
        etp_object_read(&o, &k_block, &b, run);
        if (status == ETP_OK && b.block >= 1 && b.block <= run->blocks_done) {
            ETP_ADD(arena, &run->blocks, b);
        }
    }
    json_decref(json);
    ETP_TRY(etp_arena_check(arena, err, "a line")); // it may be asked for alone
    return status;
}
