# SPDX-License-Identifier: Apache-2.0
"""Recordings as backends write them, with times chosen by hand; layouts are those of the backends' public sources."""
import itertools

from etdump import call, delegate, framework, inference, load, logged, own

MS = 1_000_000


def executions(inside, length, n=4):
    return [inference(500 * MS + i * 10 * MS, length, inside) for i in range(n)]


def silent():
    """A delegate that logs nothing: 5.0 of 5.14 ms."""
    kernel = [call("native_call_softmax.out", 5_041_000, 5_120_000, 1), call("OPERATOR_CALL", 5_040_000, 5_121_000, 1)]
    return [load(), *executions([call("DELEGATE_CALL", 20_000, 5_020_000), *kernel], 5_140_000)]


def vulkan(shader=((100, 900), (900, 1500)), shift=7_000_000_000):
    """Spans of the host in each other and, logged after the graph that ran them, the GPU's shaders."""
    names = ('{"kernel_name": "conv2d_dw_output_tile_3x3_half", "dispatch_id": 0}',
             '{linear_naive_texture3d_half, "dispatch_id": 1}')
    shaders = [own(n, shift + a * 1000, shift + b * 1000) for n, (a, b) in zip(names, shader)]
    inside = [delegate("ETVK_COPY_INPUTS", 30_000, 130_000),
              delegate("ETVK_COMPUTE_GRAPH_EXECUTE", 130_000, 1_930_000), *shaders,
              delegate("ETVK_COPY_OUTPUTS", 1_940_000, 2_010_000), delegate("ETVK_EXECUTE", 25_000, 2_020_000),
              call("DELEGATE_CALL", 20_000, 2_030_000)]
    return [load(), *executions(inside, 2_050_000)]


def core_ml():
    """Estimated times of operations, of which one has a debug symbol, by the runtime's clock."""
    inside = [delegate("conv_7_cast_fp16:ios17.conv", 30_000, 930_000),
              delegate("softmax_0:ios18.softmax", 930_000, 1_000_000),
              delegate("%linear_2", 1_000_000, 1_400_000), call("DELEGATE_CALL", 20_000, 1_500_000)]
    return executions(inside, 1_520_000)


def at_load():
    """VGF: spans while it is loaded, one of no length that carries metadata."""
    spans = [delegate("VGF_INIT_ENSURE_INITIALIZED", 2 * MS, 12 * MS, chain=-1),
             delegate("VGF_DIAGNOSTICS_CAPABILITIES", 13 * MS, 13 * MS, chain=-1, metadata=b"{}"),
             delegate("VGF_INIT_TOTAL", MS + 1, 14 * MS, chain=-1)]
    inside = [delegate("VGF_COPY_INPUTS", 11_000, 111_000), delegate("VGF_DISPATCH", 112_000, 1_912_000),
              delegate("VGF_EXECUTE", 10_000, 1_990_000), call("DELEGATE_CALL", 5000, 2_000_000)]
    return [load(inside=spans), *executions(inside, 2_010_000)]


def short():
    """An inference shorter than the microsecond that its operator does not fill."""
    return [load(), *executions([delegate("Convolution (NHWC, F32) IGEMM #1", 50, 50)], 302)]


def beside(name="VGF_INIT_TOTAL", late=False, each=False):
    """Spans by the runtime's clock in the block of an inference, but over before it begins, or LATE, begun after it."""
    runs = [load()]
    for i in range(4):
        at = 80_000 if late else -500_000
        block, events = inference((1000 + 10 * i) * MS, 74_000, [
            delegate("VGF_EXECUTE" if name.startswith("VGF") else "work", 5000, 60_000),
            call("DELEGATE_CALL", 1000, 71_000)])
        span = delegate(name, (1000 + 10 * i) * MS + at, (1000 + 10 * i) * MS + at + 300_000, chain=-1)
        more = [span] if each or i == 0 else []
        runs.append((block, [*events, *more] if late else [*more, *events]))
    return runs


def set_up():
    """A block that the caller opened, in which a delegate alone logs."""
    spans = [delegate("compile", 100 * MS, 130 * MS, chain=-1), delegate("upload", 130 * MS, 150 * MS, chain=-1)]
    inside = [delegate("work", 5000, 60_000), call("DELEGATE_CALL", 1000, 71_000)]
    return [load(), ("Setup", spans), *executions(inside, 74_000)]


def from_zero(unit=" (cycles)", times=(5_400_000, 2_900_000)):
    """QNN: from 0 to a number of cycles or of microseconds."""
    ops = [own(f"aten_convolution_default_{i}:OpId_{i}{unit}", 0, t) for i, t in enumerate(times)]
    return [load(), *executions([*ops, call("DELEGATE_CALL", 10_000, 6_000_000)], 6_020_000)]


def unknown_from_zero():
    """A backend that nobody knows, by a clock from 0, whose sum happens to fit."""
    ops = [own("first", 0, 1000), own("second", 1000, 3000)]
    return [load(), *executions([*ops, call("DELEGATE_CALL", 10_000, 6_000_000)], 6_020_000)]


def unknown_nested():
    """A backend that nobody knows, spans in each other by the runtime's clock."""
    ops = [delegate("inner a", 100_000, 300_000), delegate("inner b", 300_000, 800_000),
           delegate("outer", 90_000, 900_000), delegate("after", 900_000, 950_000)]
    return [load(), *executions([*ops, call("DELEGATE_CALL", 50_000, 1_000_000)], 1_010_000)]


def clock_between():
    """Spans of the host in each other, and between them one of a device's clock by a name that nobody knows."""
    inside = [delegate("ETVK_COMPUTE_GRAPH_EXECUTE", 130_000, 930_000), own("matmul", 9 * MS, 9 * MS + 600_000),
              delegate("ETVK_EXECUTE", 125_000, 940_000), call("DELEGATE_CALL", 120_000, 950_000)]
    return [load(), *executions(inside, 970_000)]


def beyond_the_call():
    """Whole-number identifiers by another clock, together longer than their call."""
    ops = [own(i, 1000 + 9_000_000 * i, 1000 + 9_000_000 * (i + 1)) for i in range(3)]
    return [load(), *executions([*ops, call("DELEGATE_CALL", 10_000, 6_000_000)], 6_020_000)]


def wrapped():
    """Whole-number identifiers by a counter of 32 bits that wraps in the third execution."""
    runs = [load()]
    for i in range(4):
        at = [((1 << 32) - 900_000 + (i - 2) * 10 * MS + k) % (1 << 32) for k in (0, 400_000, 1_000_000)]
        ops = [own(0, at[0], at[1]), own(1, at[1], at[2])]
        runs.append(inference((500 + i * 10) * MS, 1_440_000, [*ops, call("DELEGATE_CALL", 10_000, 1_410_000)]))
    return runs


def own_rate(mhz=800, n=6):
    """A counter of another origin and of MHZ, whose ticks would fit as nanoseconds: 0.7 million in 0.96 ms."""
    runs = [load()]
    for i in range(n):
        at = 5_000_000 + i * 10_000 * mhz
        runs.append(inference((500 + i * 10) * MS, 964_000, [
            own("blob", at, at + 500_000), own("blub", at + 500_000, at + 700_000),
            call("DELEGATE_CALL", 2000, 962_000)]))
    return runs


def kernel_outside(at=(-500_000, -300_000)):
    """A kernel that was over before its call began."""
    return [load(), *executions([call("native_call_convolution.out", *at), call("OPERATOR_CALL", 2000, 902_000)],
                                964_000)]


def kernels_cross(often=range(8), n=8):
    """Two kernels one after the other, in the executions OFTEN the second begins before the first ends."""
    return [load(), *(inference((500 + 10 * i) * MS, 964_000, [
        call("native_call_add.out", 3000, 399_000), call("OPERATOR_CALL", 2000, 400_000),
        call("native_call_mul.out", 401_000 - early, 699_000 - early, 1),
        call("OPERATOR_CALL", 400_000 - early, 700_000 - early, 1)])
        for i in range(n) for early in [100_000 * (i in often)])]


def lazy_crossing(late=False):
    """Two spans one after the other, in the first execution (LATE: the last) side by side for a while."""
    return [load(), *(inference((500 + 10 * i) * MS, 1_010_000, [
        delegate("a", 100_000, 500_000), delegate("b", 400_000 if i == (5 if late else 0) else 500_000, 800_000),
        call("DELEGATE_CALL", 50_000, 1_000_000)]) for i in range(6))]


def logged_first():
    """Spans that are logged before what lies in them: copies around a graph, then two kernels of it."""
    inside = [delegate("ETVK_COPY_INPUTS", 10_000, 110_000), delegate("ETVK_COMPUTE_GRAPH_EXECUTE", 110_000, 900_000),
              delegate("ETVK_COPY_OUTPUTS", 900_000, 950_000), delegate("conv2d_dw_float", 120_000, 500_000),
              delegate("linear_naive", 500_000, 850_000), call("DELEGATE_CALL", 2000, 962_000)]
    return [load(), *executions(inside, 964_000)]


def cycles():
    """Ethos-U beside a microcontroller: all times are cycles."""
    inside = [call("native_call_quantize_per_tensor.out", 50, 40_000), call("OPERATOR_CALL", 0, 41_000),
              call("+EthosUBackend::execute()NPU", 50_000, 943_000, 1),
              call("EthosUBackend::execute()", 43_000, 948_000, 1), call("DELEGATE_CALL", 42_000, 949_000, 1)]
    return [load(5000, 2_495_000), *executions(inside, 984_000)]


def jumped(n=8):
    """In one execution an operator lasts 922 million seconds."""
    runs = [load()]
    for i in range(n):
        end = 922_000_000 * 1000 * MS if i == 3 else 40_000
        ops = [delegate("Convolution (NHWC, F32) IGEMM #1", 5000, end), call("DELEGATE_CALL", 1000, 71_000)]
        runs += executions(ops, 74_000, 1)
    return runs


def went_back(kind="op", start=1000 * MS, n=8):
    """In one execution an event ends before it starts: an operator, the whole, or one by a delegate's own clock."""
    runs = [load()]
    for i in range(n):
        back = i == 3
        op = own("x:OpId_1", 1000, 900) if back and kind == "own" else own("x:OpId_1", 0, 900) if kind == "own" else \
            delegate("Add (ND, F32) #1", 5000, 4000 if back and kind == "op" else 40_000)
        length = -1000 if back and kind == "whole" else 74_000
        runs.append(inference(start + i * MS, length, [op, call("DELEGATE_CALL", 1000, 71_000)]))
    return runs


def jumped_kernel():
    """The only execution, and its kernel is longer than the inference."""
    inside = [call("native_call_relu.out", 1000, 900 * 1000 * MS), call("OPERATOR_CALL", 500, 20_000)]
    return [load(), *executions(inside, 30_000, 1)]


def calls_too_long():
    """Calls of two delegates, together longer than the inference."""
    return [load(), *executions([call("DELEGATE_CALL", 1000, 60_000), call("DELEGATE_CALL", 1000, 60_000, 1)], 74_000)]


def all_zero():
    """No event has a length."""
    return [load(), *executions([delegate("Add (ND, F32) #1", 0, 0), call("DELEGATE_CALL", 0, 0)], 0)]


def two_lengths():
    """Ten executions of 200 ms and ten of 10 ms with equal lists of events."""
    runs = [load()]
    for i in range(20):
        k = 20 if i % 2 == 0 else 1
        end = 9 * k * MS
        ops = [delegate("Fully Connected (NC, F32) GEMM #1", 2000, end), call("DELEGATE_CALL", 1000, end + 2000)]
        runs += [inference(1000 * MS + 300 * i * MS, 10 * k * MS + 13_000 * i, ops)]
    return runs


def three_lengths(n=30):
    """In turn inputs of 10, 50 and 400 ms, each execution 10 µs longer than the one before."""
    def at(i):
        return (10, 50, 400)[i % 3] * MS + 10_000 * i
    return [load(), *(inference((1000 + 500 * i) * MS, at(i), gemm(at(i))) for i in range(n))]


def long_tail():
    """One length: forty executions of 10 ms, eight that something else made longer, no two alike."""
    runs = [load()]
    for i in range(48):
        length = 10 * MS + 10_000 * i if i % 6 else int(10 * MS * 1.3 ** (1 + i // 6))
        runs.append(inference((1000 + 500 * i) * MS, length, gemm(length)))
    return runs


def layers(lengths):
    """Three matrices one behind the other."""
    ends = list(itertools.accumulate(lengths, initial=2000))
    ops = [delegate(f"Fully Connected (NC, F32) GEMM #{i + 1}", *at) for i, at in enumerate(itertools.pairwise(ends))]
    return [*ops, call("DELEGATE_CALL", 1000, ends[-1] + 1000)]


def by_turns(a, b, n=20):
    """Executions of equal totals, of which every other one has the times A of its layers, the others B."""
    runs = [inference(1000 * MS + 100 * i * MS, sum(a) + 10_000 + 100 * i, layers(b if i % 2 else a)) for i in range(n)]
    return [load(), *runs]


def rare(usual=(4 * MS,) * 3, other=(100 * MS,) * 3, at=(7, 40), n=60):
    """Executions of 12 ms, and those at AT of 300 ms."""
    def one(i):
        return [ns + 1000 * (i % 7) for ns in (other if i in at else usual)]
    return [load(), *(inference((1000 + 500 * i) * MS, sum(one(i)) + 4000, layers(one(i))) for i in range(n))]


def lazy(cold=1, more=("compile",), n=12):
    """The delegate sets itself up in the first executions: an event more, and 300 ms instead of 12."""
    runs = [load()]
    for i in range(n):
        first = i < cold
        length = 300 * MS if first else 12 * MS + 1000 * (i % 7)
        spans = [delegate(name, 2000 + k, 250 * MS) for k, name in enumerate(more if first else ())]
        at = 251 * MS if first else 2000
        runs.append(inference((1000 + 500 * i) * MS, length, [
            *spans, delegate("matmul", at, length - 3000), call("DELEGATE_CALL", 1000, length - 2000)]))
    return runs


def logs_in(at, length=12 * MS, n=10):
    """One method, whose delegate logs what it does in the executions AT alone."""
    runs = [load()]
    for i in range(n):
        inside = gemm(length + 10_000 * i)
        runs.append(inference((1000 + 500 * i) * MS, length + 10_000 * i, inside if i in at else inside[1:]))
    return runs


def gemm(length):
    return [delegate("Fully Connected (NC, F32) GEMM #1", 2000, length - 3000),
            call("DELEGATE_CALL", 1000, length - 2000)]


def two_methods():
    """Two methods with other events: six executions of 1 ms, ten of 3 ms."""
    decode = [delegate("Convolution (NHWC, F32) IGEMM #1", 2000, 2_000_000), call("DELEGATE_CALL", 1000, 2_001_000),
              call("native_call_softmax.out", 2_100_000, 2_900_000, 1), call("OPERATOR_CALL", 2_050_000, 2_950_000, 1)]
    runs = [load(), load(40 * MS)]
    for i in range(16):
        encodes = i % 3 == 0
        runs.append(inference((100 + 10 * i) * MS, MS if encodes else 3 * MS, gemm(MS) if encodes else decode))
    return runs


def in_turn():
    """A method is loaded and runs once, then another with equal events is and runs fourteen times."""
    later = [inference((900 + i) * MS, 30_000 + 10 * i, gemm(30_000)) for i in range(14)]
    return [load(), inference(100 * MS, 17 * MS, gemm(17 * MS)), load(500 * MS), *later]


def reloaded():
    """One method, loaded anew before each execution."""
    lengths = (MS, 1_020_000, 1_010_000, 1_015_000, 1_005_000, 1_012_000)
    return [r for i, ns in enumerate(lengths)
            for r in (load(i * 100 * MS + MS), inference(i * 100 * MS + 50 * MS, ns, gemm(ns)))]


def branches():
    """One method with a branch: four executions of 1 ms, four that also run a kernel of 2 ms."""
    runs = [load()]
    for i in range(8):
        jump = call("JF_CALL", 990_000, 991_000, 1)
        more = [call("native_call_softmax.out", 1_000_000, 2_990_000, 2), call("OPERATOR_CALL", 995_000, 2_995_000, 2)]
        inside = [*gemm(980_000), jump, *(more if i % 2 else [])]
        runs.append(inference((100 + 10 * i) * MS, 3 * MS if i % 2 else MS, inside))
    return runs


def late_counter():
    """A backend that nobody knows counts microseconds since it was switched on: 5.9 of 6.0 ms."""
    runs = [load()]
    for i in range(6):
        at = 1_000_000 + 10_000 * i
        ops = [own("k1", at, at + 5400), own("k2", at + 5400, at + 5900)]
        runs += executions([*ops, call("DELEGATE_CALL", 10_000, 6_000_000)], 6_020_000, 1)
    return runs


def both_units():
    """QNN: microseconds, and what they took in cycles."""
    ops = [own("conv:OpId_1", 0, 4800), own("relu:OpId_2", 0, 1000), own("conv:OpId_1 (cycles)", 0, 3_000_000),
           own("relu:OpId_2 (cycles)", 0, 1_000_000)]
    return [load(), *executions([*ops, call("DELEGATE_CALL", 10_000, 6_000_000)], 6_020_000)]


def crossing(a=(100_000, 500_000), b=(400_000, 900_000)):
    """Two spans that run side by side for a while, together no longer than their call."""
    inside = [delegate("a", *a), delegate("b", *b), call("DELEGATE_CALL", 50_000, 1_000_000)]
    return [load(), *executions(inside, 1_010_000)]


def half_outside(a=(100_000, 500_000), b=(500_000, 900_000)):
    """One of two spans begins before the call that it is logged in, or ends after it."""
    inside = [delegate("a", *a), delegate("b", *b), call("DELEGATE_CALL", 200_000, 1_000_000)]
    return [load(), *executions(inside, 1_210_000)]


def crosses_later(at=(2, 3), n=4):
    """Two spans one after the other, in the executions AT side by side for a while."""
    return [load(), *(inference((500 + 10 * i) * MS, 1_010_000, [
        delegate("a", 100_000, 500_000), delegate("b", 400_000 if i in at else 500_000, 800_000),
        call("DELEGATE_CALL", 50_000, 1_000_000)]) for i in range(n))]


def in_a_whole(at, odd=(400_000, 600_000)):
    """Two spans in a third one. In the execution AT the second lies elsewhere: across the first one."""
    return [load(), *(inference((500 + 10 * i) * MS, 1_010_000, [
        delegate("a", 100_000, 500_000), delegate("b", *(odd if i == at else (500_000, 800_000))),
        delegate("graph", 60_000, 900_000), call("DELEGATE_CALL", 50_000, 1_000_000)]) for i in range(5))]


def reordered(order):
    """Two kernels and a delegate's call of two spans, logged in another order than that in which they ended."""
    inside = [call("native_call_add.out", 12_000, 90_000), call("OPERATOR_CALL", 10_000, 100_000),
              delegate("a", 120_000, 320_000, instruction=1), delegate("b", 320_000, 400_000, instruction=1),
              call("DELEGATE_CALL", 110_000, 410_000, 1),
              call("native_call_mul.out", 422_000, 490_000, 2), call("OPERATOR_CALL", 420_000, 500_000, 2)]
    runs = [load()]
    for name, events in executions(inside, 510_000):
        runs.append((name, [events[i] for i in order]))
    return runs


def tied(at, n=5):
    """A span in another one, which is logged first; in the execution AT both begin and end together."""
    return [load(), *(inference((500 + 10 * i) * MS, MS, [
        delegate("graph", 10_000, 702_000), delegate("a", 10_000, 702_000 if i == at else 300_000),
        call("DELEGATE_CALL", 5000, 995_000)]) for i in range(n))]


def endless(at):
    """By start, and in the execution AT the end of a call is missing."""
    runs = reordered((7, 1, 0, 4, 2, 3, 6, 5))
    name, events = runs[1 + at]
    runs[1 + at] = (name, [{**e, "end": 0} if e.get("name") == "OPERATOR_CALL" and i < 3 else e
                           for i, e in enumerate(events)])
    return runs


def behind():
    """A kernel that is logged behind the inference and ran behind it."""
    runs = [load()]
    for i in range(4):
        name, events = inference((500 + 10 * i) * MS, 510_000, [call("native_call_add.out", 12_000, 90_000),
                                                                call("OPERATOR_CALL", 10_000, 100_000)])
        late = [call("native_call_sub.out", 600_000, 900_000, 1), call("OPERATOR_CALL", 590_000, 910_000, 1)]
        runs.append((name, events + inference((500 + 10 * i) * MS, 1, late)[1][:2]))
    return runs


def coincides():
    """A delegate that counts microseconds from the start of the device, as the runtime counts nanoseconds: its numbers
    happen to lie inside its call."""
    inside = [own("a", 6000, 6080), own("b", 6080, 6280), own("c", 6280, 6460), call("DELEGATE_CALL", 5000, 505_000)]
    return [load(), *(inference(1, 510_000, inside) for _ in range(3))]


def no_length(places):
    """Spans, one of which takes no time and lies in the middle of another."""
    inside = [delegate("abc"[i], *place) for i, place in enumerate(places)]
    return [load(), *executions([*inside, call("DELEGATE_CALL", 5000, 505_000)], 510_000)]


def ages(span=1 << 52):
    """A span of half of a year in every execution."""
    return [load(), *executions([delegate("a", 10_000, 10_000 + span), call("DELEGATE_CALL", 5000, 505_000)], 515_000)]


def across_a_call():
    """A span that is logged outside the call that it crosses."""
    inside = [call("DELEGATE_CALL", 50_000, 400_000), delegate("a", 300_000, 500_000, chain=-1)]
    return [load(), *executions(inside, 1_010_000)]


def wraps_within(start=(1 << 32) - 2700, end=2700):
    """A counter of microseconds and 32 bits, which wraps within the one event of each execution: 5.4 of 6.0 ms."""
    return [load(), *executions([own("k1", start, end), call("DELEGATE_CALL", 10_000, 6_000_000)], 6_020_000)]


def two_units(n=6, short=5400):
    """An event that counts microseconds and nanoseconds by turns."""
    return [load(), *(inference((500 + 10 * i) * MS, 6_020_000, [
        delegate("k1", 20_000, 20_000 + (short * 1000 if i % 2 else short)), delegate("k2", 5_500_000, 5_900_000),
        call("DELEGATE_CALL", 10_000, 6_000_000)]) for i in range(n))]


def around_the_call():
    """A span around the call that it is logged in."""
    return [load(), *executions([call("DELEGATE_CALL", 50_000, 1_000_000), delegate("session", 10_000, 1_005_000)],
                                1_010_000)]


def early():
    """By the runtime's clock, but begun before the call is: 0.29 and 0.6 ms."""
    inside = [delegate("a", 9000, 300_000), delegate("b", 300_000, 900_000), call("DELEGATE_CALL", 10_000, 1_000_000)]
    return [load(), *executions(inside, 1_010_000)]


def jumped_few():
    """The clock jumps in the first and the third of three executions of an operator that nobody knows."""
    return [load(), *(inference((500 + 10 * i) * MS, 74_000, [
        delegate("work", 5000, 40_000 if i == 1 else 922_000_000 * 1000 * MS), call("DELEGATE_CALL", 1000, 71_000)])
        for i in range(3))]


def jumped_between(jump=922_000 * MS):
    """The clock jumps between two instructions of the fourth execution, by 922 s."""
    def one(at):
        return [delegate("Add (ND, F32) #1", 5000, 40_000), call("DELEGATE_CALL", 1000, 71_000),
                call("native_call_relu.out", at + 80_000, at + 90_000, 1),
                call("OPERATOR_CALL", at + 79_000, at + 91_000, 1)]
    at = [jump if i == 3 else 0 for i in range(9)]
    return [load(), *(inference((500 + 10 * i) * MS, ns + 100_000, one(ns)) for i, ns in enumerate(at))]


def symbols():
    """Newer XNNPACK: the micro-kernel's symbol and a number beside the operator; another text at the second."""
    ops = [delegate("Fully Connected (NC, F32) GEMM #1", 2000, 9000,
                    metadata=b"xnn_f32_gemm_minmax_ukernel_7x16__avx512f_broadcast\x0019"),
           delegate("Softmax (NC, F32) #1", 9000, 12_000, metadata=b"not a symbol"),
           call("DELEGATE_CALL", 1000, 13_000)]
    return executions(ops, 20_000)


def tensors():
    """Tensors were logged inside each execution."""
    inside = [logged(), call("native_call_relu.out", 1000, 9000), call("OPERATOR_CALL", 500, 10_000)]
    return executions(inside, 30_000)


def outputs():
    """The outputs alone were logged, behind Method::execute."""
    inside = [call("native_call_relu.out", 1000, 9000), call("OPERATOR_CALL", 500, 10_000)]
    return [(name, [*events, logged()]) for name, events in executions(inside, 30_000)]


def method_only():
    """No DELEGATE_CALL was recorded."""
    ops = [delegate("Add (ND, F32) #1", 2000, 9000), delegate("Add (ND, F32) #2", 9000, 9000)]
    return executions(ops, 20_000)


def failed():
    """The last execution did not end."""
    ops = [delegate("Add (ND, F32) #1", 2000, 9000), call("DELEGATE_CALL", 1000, 10_000)]
    return [*executions(ops, 20_000), ("Execute", [framework("DELEGATE_CALL", 700 * MS, 701 * MS, chain=0)])]


def half_silent():
    """One delegate logs what it does, a kernel follows, the other logs nothing: 3.6 of 5 ms."""
    inside = [delegate("Convolution (NHWC, F32) IGEMM #1", 2000, MS), call("DELEGATE_CALL", 1000, MS + 2000),
              call("native_call_relu.out", 1_100_000, 1_200_000, 1), call("OPERATOR_CALL", 1_090_000, 1_210_000, 1),
              call("DELEGATE_CALL", 1_300_000, 4_900_000, 2)]
    return [load(), *executions(inside, 5 * MS)]


def side_by_side():
    """Kernels of a backend that nobody knows run at the same time: together more than their call."""
    inside = [delegate("a", 30_000, 1_530_000), delegate("b", 500_000, 1_930_000), delegate("c", 600_000, 2 * MS),
              call("DELEGATE_CALL", 20_000, 2_030_000)]
    return [load(), *executions(inside, 2_050_000)]


def host_wraps():
    """All clocks have 32 bits; the third execution crosses their end inside its operator."""
    def low(event):
        return {**event, "start": event["start"] % (1 << 32), "end": event["end"] % (1 << 32)}
    ops = [delegate("Add (ND, F32) #1", 2000, 90_000), call("DELEGATE_CALL", 1000, 100_000)]
    blocks = [inference((1 << 32) - 450_000 + 200_000 * i, 150_000, ops) for i in range(5)]
    return [load(), *((name, [low(e) for e in events]) for name, events in blocks)]


def two_calls_from_zero():
    """QNN: two calls in an inference, each from 0, one event without a length."""
    inside = [own("a:OpId_1 (cycles)", 0, 5_000_000), own("b:OpId_2 (cycles)", 0, 0),
              call("DELEGATE_CALL", 10_000, 3 * MS), own("c:OpId_3 (cycles)", 0, 1_000_000, instruction=1),
              call("DELEGATE_CALL", 3_100_000, 6 * MS, 1)]
    return [load(), *executions(inside, 6_020_000)]


def around_a_norm(multiplies):
    """A layer norm between two delegate calls, of operators that multiply."""
    parts = [delegate(f"{multiplies} #1", 2000, 2 * MS), call("DELEGATE_CALL", 1000, 2_001_000),
             call("native_call_native_layer_norm.out", 2_100_000, 4_000_000, 1),
             call("OPERATOR_CALL", 2_090_000, 4_010_000, 1),
             delegate(f"{multiplies} #1", 4_102_000, 6 * MS, instruction=2),
             call("DELEGATE_CALL", 4_101_000, 6_001_000, 2)]
    return [load(), *executions(parts, 6_100_000, 8)]


ALL = {f.__name__: f for f in (silent, calls_too_long, all_zero, vulkan, core_ml, at_load, from_zero,
                               unknown_from_zero, unknown_nested, beyond_the_call, wrapped, cycles, jumped,
                               jumped_kernel, two_lengths, three_lengths, long_tail, clock_between, two_methods,
                               in_turn, reloaded, branches, symbols, tensors, outputs, method_only, failed,
                               half_silent, side_by_side, host_wraps, two_calls_from_zero, late_counter, both_units,
                               crossing, around_the_call, early, jumped_few, half_outside,
                               crosses_later, across_a_call, wraps_within, two_units, behind, coincides,
                               ages, jumped_between, own_rate,
                               kernel_outside, kernels_cross, lazy_crossing, logged_first)}
ALL["own_rate_ns"] = lambda: own_rate(1000)
ALL["own_rate_once"] = lambda: own_rate(1000, 1)
ALL["kernels_cross_once"] = lambda: kernels_cross((3,))
ALL["kernels_cross_call"] = lambda: executions([call("native_call_add.out", 3000, 399_000), call(
    "OPERATOR_CALL", -100_000, 400_000)], 964_000)
ALL["lazy_crossing_late"] = lambda: lazy_crossing(True)
ALL |= {f"crosses_in_{i}": lambda i=i: crosses_later((i,), 5) for i in range(5)}
ALL |= {f"elsewhere_in_{i}": lambda i=i: in_a_whole(i) for i in range(5)}
ALL |= {f"beyond_in_{i}": lambda i=i: in_a_whole(i, (850_000, 950_000)) for i in range(5)}
ALL["across_in_whole"] = lambda: [load(), *executions([
    delegate("a", 20_000, 100_000), delegate("aten.conv2d.default", 90_000, 300_000), delegate("c", 300_000, 480_000),
    delegate("P", 10_000, 500_000), call("DELEGATE_CALL", 5000, 505_000)], 515_000)]
ALL["by_start"] = lambda: reordered((7, 1, 0, 4, 2, 3, 6, 5))
ALL["execute_between"] = lambda: reordered((0, 1, 2, 3, 4, 7, 5, 6))
ALL["call_first"] = lambda: reordered((0, 1, 4, 2, 3, 5, 6, 7))
ALL["call_last"] = lambda: reordered((0, 1, 2, 3, 5, 6, 4, 7))
ALL |= {f"tied_in_{i}": lambda i=i: tied(i) for i in range(5)}
ALL |= {f"endless_in_{i}": lambda i=i: endless(i) for i in range(4)}
ALL["in_order"] = lambda: reordered(range(8))
ALL["no_length_in_leaf"] = lambda: no_length(((20_000, 100_000), (50_000, 50_000), (100_000, 480_000)))
ALL["no_length_in_whole"] = lambda: no_length(((20_000, 100_000), (150_000, 150_000), (10_000, 500_000)))
ALL["ends_alike"] = lambda: no_length(((20_000, 200_000), (10_000, 400_000), (200_000, 400_000)))
ALL["whole_first"] = lambda: crossing((100_000, 900_000), (200_000, 600_000))
ALL["vulkan_overlap"] = lambda: vulkan(((0, 1700), (100, 1800)))
ALL["microseconds"] = lambda: from_zero("", (5400, 290))
ALL["opposite"] = lambda: by_turns((8 * MS, 2 * MS, 2 * MS), (2 * MS, 8 * MS, 2 * MS))
ALL["whole_microseconds"] = lambda: by_turns((5000, 4000, 9000), (4000, 5000, 9000))
ALL["rare"] = rare
ALL["rare_one"] = lambda: rare(at=(30,))
ALL["rare_fast"] = lambda: rare(usual=(100 * MS,) * 3, other=(4 * MS,) * 3)
ALL["rare_and_two"] = lambda: [*rare(), *rare(usual=(20 * MS,) * 3, at=())[1:]]
ALL["interrupted"] = lambda: rare(other=(4 * MS, 292 * MS, 4 * MS))
ALL["waited"] = lambda: rare(other=(16 * MS, 20 * MS, 12 * MS), at=(30,))
ALL["waited_of_two"] = lambda: [load(), *rare(other=(16 * MS, 20 * MS, 12 * MS), at=(30,))]
ALL["cold"] = lambda: rare(at=(0,))
ALL["cold_two"] = lambda: rare(at=(0, 1))
ALL["cold_few"] = lambda: rare(at=(0, 1), n=8)
ALL["lazy"] = lazy
ALL["lazy_two"] = lambda: lazy(2)
ALL["logs_once"] = lambda: logs_in((0,))
ALL["logs_by_turns"] = lambda: logs_in((1, 3, 5, 7, 9))
for kind in ("op", "whole", "own"):
    ALL[f"went_back_{kind}"] = lambda kind=kind: went_back(kind)
    ALL[f"went_back_late_{kind}"] = lambda kind=kind: went_back(kind, 86_400_000 * MS)
ALL["set_up"] = set_up
for name in ("VGF_INIT_TOTAL", "prepare"):
    for late, each in itertools.product((False, True), repeat=2):
        ALL[f"beside_{name}_{late}_{each}"] = lambda name=name, late=late, each=each: beside(name, late, each)
ALL["short"] = short
ALL["outside_end"] = lambda: half_outside((200_000, 500_000), (500_000, 1_100_000))
ALL["back_always"] = lambda: wraps_within(9000 * MS, 8000 * MS)
