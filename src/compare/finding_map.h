// SPDX-License-Identifier: Apache-2.0
// The kinds of findings: one row each.
#ifndef ETP_COMPARE_FINDING_MAP_H
#define ETP_COMPARE_FINDING_MAP_H

// What a finding can be about: id in documents, and how its figures come about. The test
// answer_words holds that each of them goes or changes with the data it rests on. R: of what is
// wrong with a recording itself, which every verb says that rests on one (etp_ab_add_doubts).
#define ETP_FINDING_MAP(X, R)                                                                        \
    X(SLOWER, "slower",                                                                              \
      "candidate − baseline, means over the traced iterations; its 95 % t interval over the "      \
      "blocks lies above 0, and q ≤ 0.05 (Benjamini–Hochberg over operators)")                       \
    X(LAYOUT, "layout",                                                                              \
      "Σ exclusive time of Data movement and Quantize/convert ÷ Method::execute, at least 0.3")      \
    X(OFF_FEATURE, "off_feature",                                                                    \
      "Σ time of the operators ÷ Method::execute of the arm, at least 0.05")                         \
    X(GROUPWISE, "groupwise_4bit",                                                                   \
      "Σ multiply-accumulates (time, where the program is not known) of operators on the "          \
      "feature, "                                                                                    \
      "and of those with 4-bit weights in groups, ÷ those of everything that multiplies")            \
    X(DECODE_ROOF, "decode_roof",                                                                    \
      "(weights of matrix products + key-value cache, each read once) ÷ measured bandwidth of "     \
      "reading that much, ÷ median of a call with one token")                                        \
    X(ABOVE_ROOF, "above_roof",                                                                      \
      "Σ time of operators with roof ÷ time above 1.05 ÷ Σ time of operators with a roof, at "   \
      "least "                                                                                       \
      "0.05")                                                                                        \
    X(ATTENTION, "attention_written_out",                                                            \
      "Σ time of kernels that write a tensor of the size of a key-value cache ÷ Method::execute; " \
      "calls "                                                                                       \
      "counted in the program")                                                                      \
    X(LAST_MATRIX, "last_matrix",                                                                    \
      "Σ time of the kernel that multiplies to the width of the logits ÷ Method::execute; its "    \
      "weights ÷ those of everything that multiplies")                                               \
    X(CHUNK, "prompt_chunk",                                                                         \
      "tokens ÷ median of the shortest and of the longest prompt that was measured from an empty "  \
      "cache")                                                                                       \
    X(SHIFT, "bottleneck",                                                                           \
      "share: Σ exclusive time of the category ÷ Method::execute, each arm by itself")               \
    X(PACKED_CACHE, "packed_cache_unused",                                                           \
      "bytes of the cache's file that are resident after the measured iterations: 0")                \
    X(PACKING, "packing_at_load",                                                                    \
      "Σ time of packing ÷ time of loading, parts of one recorded launch (arms[].loading), at "    \
      "least "                                                                                       \
      "0.5; loading at least 5 ms, packed and named weights at least 0.5 MB")                        \
    X(PORTABLE, "portable",                                                                          \
      "Σ time of kernels outside delegates ÷ Method::execute, at least 0.25")                        \
    X(STATISTICS, "statistics", "launch values ln(median) by block; docs/statistics.md")             \
    X(TRACER, "tracer",                                                                              \
      "exp(mean over blocks of ln(median traced iteration ÷ median untraced one)) − 1, beyond "   \
      "±0.1")                                                                                        \
    X(THERMAL, "thermal",                                                                            \
      "thermal status, limits of the clocks, clock of the last third of the blocks ÷ the first "    \
      "third, and temperature; environment.jsonl")                                                   \
    X(CONTENTION, "contention",                                                                      \
      "1 − Σ CPU time ÷ Σ time of the inferences that count, above 0.02, or Σ time "           \
      "ready without a CPU ÷ Σ time of the timed launches, above 0.05; samples.csv, "              \
      "environment.jsonl")                                                                           \
    X(CLOCK_EFFECT, "clock_effect",                                                                  \
      "per block: ln of cycles ÷ CPU time, candidate − baseline; its t interval over the blocks " \
      "lies outside ± the margin; speedup = cycles · clock · CPUs at work (docs/statistics.md)")     \
    X(WAITS, "waits",                                                                                \
      "per block: ln of CPU time ÷ time, candidate − baseline; its t interval over the blocks "   \
      "lies outside ± the margin; speedup = cycles · clock · CPUs at work (docs/statistics.md)")     \
    X(ARM_FAILS, "arm_fails",                                                                        \
      "launches that gave nothing and were not made up for, by arm; those of every other arm: "      \
      "none")                                                                                        \
    X(LOST, "lost_launch", "launches the manifest lists as lost")                                    \
    X(CLOCK, "clock_jump", "slept_ns and clock_jump_s of the blocks; environment.jsonl")             \
    X(BUILDS, "what_changed",                                                                        \
      "operators of both builds side by side: where they ran, what they are called, times whose "    \
      "95 % interval over the blocks leaves out 0; costs of a launch beyond a ratio of 1.1")         \
    X(KERNELS_OURS, "kernels_ours",                                                                  \
      "what the runner said when it loaded the program; notes of the manifest")                      \
    X(KERNELS_LIB, "kernels_lib",                                                                    \
      "likewise, of the library that --custom-ops gave it; SHA-256 of that file")                    \
    X(NOTE, "session_note",                                                                          \
      "what the session wrote down while it measured; notes of the manifest")                        \
    X(OUTPUTS, "outputs_differ",                                                                     \
      "outputs of the arms compared element by element; tolerances in docs/run-folder.md")           \
    X(OUTPUTS_RANDOM, "not_deterministic", "operators of the program that draw random numbers")      \
    X(OUTPUTS_EXPECTED, "not_as_expected",                                                           \
      "outputs of the arm against those that its inputs came with; tolerances in "                   \
      "docs/run-folder.md")                                                                          \
    X(OUTPUTS_UNREAD, "outputs_not_compared", "the recorded outputs could not be read")              \
    X(OUTPUTS_NAN, "outputs_nan",                                                                    \
      "outputs/ of both sides: elements that are NaN in both, any; outputs without a finite one")    \
    R(NO_EXECUTION, "no_execution", "executions in the arm's traces without Method::execute")        \
    X(TRACE_UNUSED, "trace_not_used", "a recording of the folder could not be read")                 \
    R(TRACE_DAMAGED, "clock_damaged",                                                                \
      "events that are longer than what they are parts of, in a quarter of the executions at "       \
      "most")                                                                                        \
    R(OWN_CLOCK, "own_clock", "start and end of delegates' events against those of their calls")     \
    R(PARTS_EXCEED, "parts_exceed_whole",                                                            \
      "parts of an event that cross in time, or Σ of their times > its time")                        \
    R(NOT_LOGGED, "not_logged",                                                                      \
      "time of delegates' calls without, and of, what is logged in them")                            \
    R(TENSORS_LOGGED, "tensors_logged", "debug events before Method::execute ends")                  \
    R(MODES, "several_lengths",                                                                      \
      "sorted Method::execute parted at its widest gap, where that is three times as wide as "       \
      "both "                                                                                        \
      "sides and a fifth of the time")                                                               \
    R(MEAN_OF_FEW, "mean_of_few",                                                                    \
      "mean of the kept executions against the median of all, of recordings alone: a quarter "       \
      "apart")                                                                                       \
    R(LEFT_OUT, "left_out",                                                                          \
      "executions above twice their median, in the longest quarter, which the figures leave out")    \
    R(PARTLY_LOGGED, "partly_logged",                                                                \
      "executions with equal events, but that a delegate logs nothing in some of them")              \
    X(PROGRAM_UNUSED, "program_not_used",                                                            \
      "events of the recording against the program's instructions")                                  \
    X(PROGRAM_DIFFERS, "program_differs",                                                            \
      "operators of the recording, or points of the record, that are not those of the program: "     \
      "some, below a tenth; or fewer than ten names and calls that could tell")                      \
    X(HOOK, "hook_cost",                                                                             \
      "questions of the SDK in an inference × what the hook adds to each (both by the runner, "     \
      "environment.jsonl) ÷ untraced median, above 0.005")                                           \
    X(MISNAMED, "misnamed",                                                                          \
      "words in the experiments' names against the levels they were measured at, where known")       \
    X(UNRELATED, "different_models",                                                                 \
      "operators that multiply: below half of the larger model's of the same category, and below "   \
      "a tenth of its multiply-accumulates in operators of equal size")                              \
    X(ALTERED, "folder_altered",                                                                     \
      "SHA-256 of the folder's raw files against those of its manifest")                             \
    X(SAMPLES_UNUSED, "samples_not_used", "sampled program counters against the runner's libraries")

#endif
