/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tracks: one thread's strictly nested intervals, made from the kernel's records. The one place
 * where wire records become trace records. Knows nothing of files or BPF maps.
 */
#ifndef QPROF_TRACKS_TRACKS_H
#define QPROF_TRACKS_TRACKS_H

#include "qprof/wire.h"
#include "trace/trace.h"
#include "tracks/caller_index.h"

struct tracks;

#define TRACKS_UNKNOWN "<unknown>"

/*
 * Where the results go. Any member may be NULL. A sink returns 0 or a negative errno, which the
 * tracks__ call that caused it returns.
 */
struct tracks_sink {
	void *ctx;
	int (*process)(void *ctx, const struct trace_process *p); /* new or changed */
	/* All is filled in. */
	int (*span)(void *ctx, const struct trace_span *s, const struct trace_off *off);
	/* A thread, and its name, before its first span. */
	int (*thread)(void *ctx, const struct trace_thread *thread);
	/* A function of library `lib`, before the first span whose caller is in it. */
	int (*function)(void *ctx, uint8_t lib, const struct trace_function *f);
	/* The string id of a label that the compiler told, or of why a thread was off the CPU.
	 * Not NULL if there are such. */
	int (*label)(void *ctx, const char *text, uint32_t *id);
	/* `events` more executions that were not recorded: TRACE_KIND_COUNTED or _ESTIMATED, of
	 * that process and label; `sum` as in trace_tally. */
	int (*unrecorded)(void *ctx, const struct trace_tally *more);
	/* Whether spans with such a label are asked for; NULL: all are. */
	bool (*wants)(void *ctx, const struct wire_label_key *label);
};

/* `sink` is copied. 0, or -ENOMEM. */
int tracks__new(const struct tracks_sink *sink, struct tracks **out);

/*
 * Tell what query `query` of library `lib` is called in the trace (a string id), and what the
 * library's build-id (hex) and rustc version are; the texts are copied and may be NULL.
 */
int tracks__set_library(struct tracks *t, uint8_t lib, const uint32_t *labels, uint32_t n_labels,
			const char *build_id, const char *rustc_version);

/* What a query, or a guard, that was told is called: a string id, or TRACKS_NO_LABEL. */
uint32_t tracks__query_label(const struct tracks *t, uint8_t lib, uint32_t query);
uint32_t tracks__guard_label(const struct tracks *t, uint8_t lib, uint32_t guard);

/* As self_time__set_costs(), for the spans to come. */
void tracks__set_costs(struct tracks *t, const struct trace_costs *costs);

/*
 * Tell the labels of the guards of library `lib`, string ids too; TRACKS_NO_LABEL for one whose
 * label is told when it happens. After tracks__set_library().
 */
#define TRACKS_NO_LABEL UINT32_MAX
int tracks__set_guards(struct tracks *t, uint8_t lib, const uint32_t *labels, uint32_t n_labels);

/*
 * Tell that hits of caches are recorded: from now on it is remembered which query each invocation
 * id of a process executed.
 */
void tracks__expect_hits(struct tracks *t);

/* Hits whose execution was not seen: their label is TRACKS_UNKNOWN. */
uint64_t tracks__unknown_hits(const struct tracks *t);

/*
 * Tell who knows the functions of a library that was set; without, its spans have no callers.
 * `functions` outlives the tracks.
 */
void tracks__set_functions(struct tracks *t, uint8_t lib, const struct tracks_functions *functions);

/* Functions that no locindex was left for: their calls count as unknown callers. */
uint64_t tracks__refused_functions(const struct tracks *t);

/*
 * What was lost, by cause: the kernel half's counters, and callers that were told, but lie in no
 * function, or in one of those. Nothing is TRACE_LOST_BAD_RECORD: who gives the records knows.
 */
struct trace_losses tracks__losses(const struct tracks *t,
				   const uint64_t counters[WIRE_COUNTER_MAX]);

/*
 * Announce a process that was running before the capture (from /proc). `args` are raw
 * NUL-separated arguments, as WIRE_EXEC carries them.
 */
int tracks__adopt(struct tracks *t, uint32_t pid, uint32_t parent_pid, uint64_t time_ns,
		  const char *args, size_t args_len);

/*
 * Take one wire record of `size` bytes. -EBADMSG if it is not one, changing nothing: wrong type or
 * size, an end before its start, or a span whose library, query or guard was not told (no label is
 * made up for it; the caller counts it). What the kernel half could not tell the label of reads
 * TRACKS_UNKNOWN.
 *
 * Only processes that emit a span, or whose command is a Rust compiler, become processes of the
 * trace (a linker or a shell does not). An exec ends one process of the trace and may begin
 * another; but a compiler that execs a compiler before its first span, as rustup's rustc does, goes
 * on as the same one. A span of an unknown pid makes a process that is marked attached_late.
 */
int tracks__record(struct tracks *t, const void *record, size_t size);

/*
 * Mark the process that runs as `pid` now attached_late: it had begun before the probes of its
 * library were there. Of no effect on a pid that is not known; its first span would make it late.
 */
int tracks__late(struct tracks *t, uint32_t pid);

/*
 * Tell of `events` executions of a query, some `sum_ns` in all, that were not seen in the process
 * that runs as `pid`, or exited last. Of no effect on one that is not in the trace.
 */
int tracks__estimated(struct tracks *t, uint32_t pid, uint8_t lib, uint32_t query, uint64_t events,
		      uint64_t sum_ns);

/* Tell the working directory of what runs as `pid` now; copied. Of no effect as above. */
int tracks__cwd(struct tracks *t, uint32_t pid, const char *cwd);

/* Processes of the trace that have not exited yet. */
uint32_t tracks__running(const struct tracks *t);
uint32_t tracks__processes(const struct tracks *t);

void tracks__free(struct tracks *t);
DEFINE_CLEANUP(struct tracks, tracks__free)
#define _tracks_ __cleanup(tracks__free_p)

#endif /* QPROF_TRACKS_TRACKS_H */
