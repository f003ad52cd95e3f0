/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Turns the kernel half's wire records into intervals and processes of a trace. This is the only
 * place that does; it uses neither files nor BPF maps.
 */
#ifndef QPROF_TRACKS_TRACKS_H
#define QPROF_TRACKS_TRACKS_H

#include "plan/mine/llvm.h"
#include "plan/plan.h"
#include "qprof/wire.h"
#include "trace/trace.h"
#include "tracks/caller_index.h"
#include "tracks/sink.h"

struct tracks;

/* `sink` is copied. 0, or -ENOMEM. */
int tracks__new(const struct tracks_sink *sink, struct tracks **out);

/*
 * Describe library `lib`: the string ids of its queries' names, its build-id (hex) and its rustc
 * version. The texts are copied, and may be NULL. A later call assigns the number to another
 * library: no record of the earlier library may follow.
 */
int tracks__set_library(struct tracks *t, uint8_t lib, const uint32_t *labels, uint32_t n_labels,
			const char *build_id, const char *rustc_version);

/*
 * The string id of a query's or a guard's name, or TRACKS_NO_LABEL.
 */
uint32_t tracks__query_label(const struct tracks *t, uint8_t lib, uint32_t query);
uint32_t tracks__guard_label(const struct tracks *t, uint8_t lib, uint32_t guard);

/* Likewise of a dynamic label, by its number. */
uint32_t tracks__dynamic_label(const struct tracks *t, uint32_t number);

/* As self_time__set_costs(), for the spans to come. */
void tracks__set_costs(struct tracks *t, const struct trace_costs *costs);

/*
 * Set the string ids of the labels of library `lib`'s guards, after tracks__set_library().
 * TRACKS_NO_LABEL is a guard whose label is dynamic.
 */
int tracks__set_guards(struct tracks *t, uint8_t lib, const uint32_t *labels, uint32_t n_labels);

/*
 * Expect records of cache hits: from now on, remember the query that each invocation id of a
 * process executed.
 */
void tracks__expect_hits(struct tracks *t);

/* Hits whose execution was not recorded. Their label is TRACKS_UNKNOWN. */
uint64_t tracks__unknown_hits(const struct tracks *t);

/*
 * Name what executions are about: the type of each query's key (enum wire_key), and how names are
 * read, of a library that was set. Copied. The sink gets the names when a compiler ends.
 */
int tracks__set_keys(struct tracks *t, uint8_t lib, const uint8_t *keys,
		     const struct plan_layout *layout);

/*
 * The results of its queries are counted; `loads`: all loads from the disk are recorded; `items`:
 * their keys are copied. `plan` is that of the library, whose guards were set, and not kept. 0 or
 * -ENOMEM.
 */
int tracks__set_results(struct tracks *t, uint8_t lib, const struct plan *plan, bool loads,
			bool items);

/* Only the guards for which `guards` is true are recorded. */
void tracks__recorded(struct tracks *t, uint8_t lib, const bool *guards);

/* Which of the guards of tracks__set_guards() have an argument that can be read. */
int tracks__set_arguments(struct tracks *t, uint8_t lib, const struct plan_guard *guards);

/* The argument of an activity that runs, by the number in its frame; as arguments__text(). */
const char *tracks__argument(const struct tracks *t, uint64_t number);

/* Activities of such guards whose argument was not read. */
uint64_t tracks__unread_arguments(const struct tracks *t);

/* Executions whose key was read and has no name. */
uint64_t tracks__unnamed(const struct tracks *t);

/*
 * Give the sink the samples that wait. To name the functions in the first ones takes the symbols of
 * whole libraries, some 0.1 s, and a compiler on another CPU would feel that: so samples wait for a
 * moment that the caller chooses, or until they take SAMPLES_HELD_MAX bytes or SAMPLES_HELD_NS.
 */
int tracks__release_samples(struct tracks *t);

/* The same, and what the sink would get when the compilers that still run end. */
int tracks__settle(struct tracks *t);

/*
 * Set the functions of a library that was set; without them, its spans have no callers.
 * `functions` outlives the tracks.
 */
void tracks__set_functions(struct tracks *t, uint8_t lib, const struct tracks_functions *functions);

/*
 * The functions of file `number` of samples, which outlive the tracks. Where they are those of a
 * library with frames, stacks show its intervals. 0 or -ENOMEM.
 */
int tracks__set_file(struct tracks *t, uint32_t number, const struct tracks_functions *functions);

/* The facts that this file shows of LLVM, after its functions. Keeps a reference. 0 or -ENOMEM. */
int tracks__set_llvm(struct tracks *t, uint32_t number, struct llvm_plan *llvm);

/* Let the frames of a plan show the intervals of a library that was set. 0 or -ENOMEM. */
int tracks__set_frames(struct tracks *t, uint8_t lib, const struct plan *plan);

/* Functions for which no locindex was left. Calls from them count as unknown callers. */
uint64_t tracks__refused_functions(const struct tracks *t);

/*
 * The losses by cause: the kernel half's counters, and callers that lie in no function, or in a
 * refused one. TRACE_LOST_BAD_RECORD is 0: the caller, which reads the records, counts it.
 */
struct trace_losses tracks__losses(const struct tracks *t,
				   const uint64_t counters[WIRE_COUNTER_MAX]);

/*
 * Add a process that was running before the capture (from /proc). `args` are raw NUL-separated
 * arguments, as in WIRE_EXEC.
 */
int tracks__adopt(struct tracks *t, uint32_t pid, uint32_t parent_pid, uint64_t time_ns,
		  const char *args, size_t args_len, bool truncated);

/*
 * The recording begins: the processes that were added start at this time, and their intervals that
 * start then began before (trace_span__began_before()).
 */
int tracks__begin(struct tracks *t, uint64_t time_ns);

/*
 * Take one wire record of `size` bytes. -EBADMSG, which changes nothing, if the record is
 * malformed: a wrong type or size, an end before its start, or a library, query or guard that was
 * not set (no label is invented; the caller counts the record). A label that the kernel half could
 * not read is TRACKS_UNKNOWN.
 *
 * Only a process that has a span, or whose command is a Rust compiler, becomes a process of the
 * trace; a linker or a shell does not. An exec ends one process of the trace and may begin another.
 * But a compiler that execs a compiler before its first span, as rustup's rustc does, stays the
 * same process. A span of an unknown pid makes a process that is marked attached_late, and so does
 * a sample with a frame in a library that was set. Other samples are left out if their process is
 * not in the trace.
 */
int tracks__record(struct tracks *t, const void *record, size_t size);

/*
 * Mark the process that runs as `pid` now attached_late: it began before its library had probes. No
 * effect on an unknown pid, whose first span marks it.
 */
int tracks__late(struct tracks *t, uint32_t pid);

/* Set the working directory of the process that runs as `pid` now; copied. No effect as above. */
int tracks__cwd(struct tracks *t, uint32_t pid, const char *cwd);

/* The same, why samples do not show what LLVM does in it. */
int tracks__no_llvm(struct tracks *t, uint32_t pid, const char *why);

/*
 * Give the `tally` of another sink the numbers of results, as far as they are known, of compilers
 * of which the sink has none yet. They get others with each reading: these are no sums to add to.
 */
int tracks__show_results(const struct tracks *t, const struct tracks_sink *sink);

/* Processes of the trace that have not exited yet. */
uint32_t tracks__running(const struct tracks *t);
uint32_t tracks__processes(const struct tracks *t);

void tracks__free(struct tracks *t);
DEFINE_CLEANUP(struct tracks, tracks__free)
#define _tracks_ __cleanup(tracks__free_p)

/* The counters of the kernel half as losses of a trace, by cause. */

/* TRACE_LOST_BAD_RECORD and _COUNT_NO_NAMES are 0: the caller, which reads the records, counts
 * them.
 */
struct trace_losses kernel_losses(const uint64_t counters[WIRE_COUNTER_MAX]);

/* Converts a record of a thread that was off the CPU. */

/* The reason: one of TRACE_OFF_*. NULL if the record is malformed. */
const char *off_cpu__text(const struct wire_off_cpu *r);

/* The span without its process and label, of a record that is not malformed. */
struct trace_span off_cpu__span(const struct wire_off_cpu *r);

#endif /* QPROF_TRACKS_TRACKS_H */
