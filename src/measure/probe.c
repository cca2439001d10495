// SPDX-License-Identifier: Apache-2.0
// Asks a runner, or etprof-launch in its place, which CPU it sees.

#include "base/number.h"
#include "measure/channel.h"
#include "measure/foreign.h"

#define PROBE_NS ((uint64_t)60 * 1000000000u)

// The probe is the first thing that a device is asked: its failure is most people's first error,
// and says what to look at.
static etp_status explain(etp_channel *channel, etp_channel_result r, const char *why,
                          etp_error *err)
{
    if (r == ETP_CHANNEL_SIGNAL) {
        return etp_fail(err, ETP_INTERRUPTED, "interrupted");
    }
    if (r == ETP_CHANNEL_SILENCE) {
        return etp_fail(err, ETP_CHILD, "the runner sent no hello within %s s (--timeout)",
                        ETP_DIGITS((double)channel->timeout_ns / 1e9, 3));
    }
    if (r == ETP_CHANNEL_GARBAGE) {
        return etp_fail(err, ETP_CHILD, "the runner does not speak etprof's protocol: %s", why);
    }
    bool ended = etp_channel_finish(channel);
    etp_str log = etp_channel_last_line(channel);
    if (channel->lost) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "the connection to the device was lost while the runner started");
    }
    return etp_fail(err, ETP_ENVIRONMENT, "the runner does not start (%s %d)%s%.*s",
                    ended && channel->process.signal ? "signal" : "status",
                    ETP_OR(channel->process.signal, channel->process.exit_code),
                    etp_if(log.len > 0, ": "), ETP_STR_ARG(log));
}

static etp_status ask(etp_channel *channel, etp_arena *arena, etp_device_cpu *out, etp_error *err)
{
    etp_wire_msg msg;
    char why[256];
    etp_channel_result r = etp_channel_next(channel, 0, &msg, why, sizeof why);
    if (r != ETP_CHANNEL_OK) {
        return explain(channel, r, why, err);
    }
    if (msg.type == ETP_WIRE_ERROR) {
        return etp_fail(err, ETP_ENVIRONMENT, "the runner says: %s", msg.u.error.message);
    }
    if (msg.type != ETP_WIRE_HELLO || msg.u.hello.protocol != ETP_WIRE_PROTOCOL) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "the runner's hello is \"%s\" of another protocol than %d", msg.word,
                        ETP_WIRE_PROTOCOL);
    }
    if (!etp_isa_cpu_parse(msg.u.hello.cpu, &out->cpu, why, sizeof why)) {
        return etp_fail(err, ETP_CHILD, "the runner's \"cpu\": %s", why);
    }
    out->text = etp_arena_strdup(arena, etp_str_from(msg.u.hello.cpu));
    out->executorch = etp_arena_strdup(arena, etp_str_from(msg.u.hello.executorch));
    // "hardware", or "none: " and why not, as one text: so it is kept in the manifest.
    const char *events = msg.u.hello.counters.events, *reason = msg.u.hello.counters.why;
    out->counters = etp_arena_printf(arena, "%s%s%s", events, etp_if(reason[0], ": "), reason);
    out->counters_fix = etp_arena_strdup(arena, etp_str_from(msg.u.hello.counters.fix));
    return etp_arena_check(arena, err, "the probe");
}

// etprof-launch answers for runners of others, in one line that is no message of the protocol.
static etp_status ask_launcher(etp_channel *channel, etp_arena *arena, etp_device_cpu *out,
                               etp_error *err)
{
    etp_str line = {0};
    char why[ETP_ISA_WHY_MAX] = "it says nothing";
    etp_channel_result r = etp_channel_line(channel, &line, why, sizeof why);
    if (r == ETP_CHANNEL_SIGNAL) {
        return etp_fail(err, ETP_INTERRUPTED, "interrupted");
    }
    out->executorch = "";
    out->text = etp_arena_strdup(arena, line);
    ETP_NEED(out->text, err, "the probe");
    if (r != ETP_CHANNEL_OK || !etp_isa_cpu_parse(out->text, &out->cpu, why, sizeof why)) {
        return etp_fail(err, ETP_ENVIRONMENT, "%s --probe: %s", channel->device->bundle.runner,
                        why);
    }
    return ETP_OK;
}

typedef etp_status asking(etp_channel *channel, etp_arena *arena, etp_device_cpu *out,
                          etp_error *err);

static etp_status probe(etp_device *device, double timeout_s, const etp_session_view *view,
                        asking *how, etp_arena *arena, etp_device_cpu *out, etp_error *err)
{
    *out = (etp_device_cpu){0};
    etp_arena scratch = {0};
    etp_channel *channel = ETP_NEW(&scratch, etp_channel);
    ETP_NEED(channel, err, "the probe");
    const char *const args[] = {"--probe", NULL};
    const char *const env[] = {NULL};
    channel->timeout_ns = timeout_s > 0 ? (uint64_t)(timeout_s * 1e9) : PROBE_NS;
    channel->interrupted = view ? view->interrupted : NULL;
    channel->ctx = view ? view->ctx : NULL;
    etp_status status = etp_channel_start(device, args, env, &scratch, channel, err);
    if (status == ETP_OK) {
        status = how(channel, arena, out, err);
    }
    if (status == ETP_OK) { // it has said all and ends by itself
        (void)etp_channel_finish(channel);
    }
    etp_channel_dispose(channel);
    etp_arena_dispose(&scratch);
    if (status != ETP_OK && status != ETP_INTERRUPTED && device->bundle.altered) {
        return etp_fail_ctx(err,
                            "%s is not the file that its bundle.json names: it is damaged or was "
                            "replaced, so put the bundle's own back or build it again",
                            device->bundle.runner);
    }
    return status;
}

etp_status etp_session_probe(etp_device *device, double timeout_s, const etp_session_view *view,
                             etp_arena *arena, etp_device_cpu *out, etp_error *err)
{
    return probe(device, timeout_s, view, ask, arena, out, err);
}

etp_status etp_foreign_probe(etp_device *device, const etp_session_view *view, etp_arena *arena,
                             etp_device_cpu *out, etp_error *err)
{
    return probe(device, 0, view, ask_launcher, arena, out, err);
}
