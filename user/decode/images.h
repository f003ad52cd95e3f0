/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The image that each pid runs. An image begins with a fork or an exec, and is forgotten some time
 * after its exit. Some of the images are processes of the trace: see decoder__take().
 *
 * A pointer to an image is valid until the next one is made. Functions that return an int return 0
 * or a negative errno.
 */
#ifndef QPROF_DECODE_IMAGES_H
#define QPROF_DECODE_IMAGES_H

#include "base/map.h"
#include "trace/self_time.h"
#include "decode/caller_index.h"
#include "decode/jobs.h"
#include "decode/keys.h"
#include "decode/library.h"
#include "decode/results.h"
#include "decode/sink.h"
#include "decode/symbols.h"

/*
 * Exited processes that are remembered. The threads of a process report from several CPUs: its last
 * spans may come after the exit record, which another thread sent.
 */
#define EXITED_KEPT 64

/* Bytes of commands longer than WIRE_ARGS_MAX; the others are cut there. */
#define LONG_COMMANDS_MOST (64u << 20)

struct image {
	struct trace_process p; /* p.index only if in_trace */
	bool in_trace;
	bool has_spans;
	bool exited;
	bool is_fork;		  /* it has not executed a program since its fork */
	uint64_t exit_number;	  /* valid if exited */
	uint32_t peak_before_kib; /* of the memory that its process had before it */
	uint64_t cpu_before_ns;	  /* of the process, before it */
	struct executions executions;
	struct keys keys;
	struct jobs jobs;
	struct llvm_names llvm;
	struct definitions definitions;
	struct sources sources;
	struct crates crates;
	struct results results;
	struct symbols symbols;
	const struct library *counted; /* of its results, or NULL */
	uint32_t counted_serial;       /* as library_serial */
	const struct library *library; /* of its keys, or NULL */
	uint32_t library_serial;       /* its number may have been reused if this differs */
	uint64_t dropped_ns;	       /* its first query context was dropped then; 0: not yet */
	bool finished;		       /* its context has, and is not known to be dropped */
	bool uncopied;		       /* it has, and had no room to be copied */
	bool has_another;	       /* query context; its invocation ids count from 0 again */
	uint32_t next_free;	       /* of an unused one */
};

/* See images__init(). */
struct images {
	const struct decoder_sink *sink;
	struct self_time *self_time;
	struct dependencies dependencies;
	struct u64_map image_of; /* pid -> index into at */
	struct image *at;
	uint32_t n;
	uint32_t capacity;
	uint32_t first_free; /* or U64_MAP_NONE */
	uint32_t exited_pids[EXITED_KEPT];
	uint64_t n_exited;
	uint32_t n_processes;	/* of the trace */
	uint64_t n_unnamed;	/* executions whose key has no name */
	uint64_t n_uncounted;	/* queries whose results are unknown, of each query context */
	uint32_t n_running;	/* of these, those that have not exited */
	uint32_t long_commands; /* bytes of commands that are longer than WIRE_ARGS_MAX */
};

/*
 * Begin without images. `sink` receives the processes; `self_time` forgets those that are over.
 * Both outlive the images.
 */
void images__init(struct images *all, const struct decoder_sink *sink, struct self_time *self_time);

/* The last image known of a pid, or NULL. */
struct image *images__find(const struct images *all, uint32_t pid);

/*
 * The image of a pid at a time, put into the trace if it was not there; NULL with *err if it cannot
 * be had. An unknown pid gets an image that is marked attached_late, as its process ran before.
 */
struct image *images__in_trace(struct images *all, uint32_t pid, uint64_t time_ns, int *err);

/* The same, of an execution in library `lib` that began at `start_ns`. */
struct image *images__of(struct images *all, uint32_t pid, const struct library *lib,
			 uint64_t start_ns, int *err);

int images__on_fork(struct images *all, const struct wire_fork *r);
int images__on_exec(struct images *all, const struct wire_exec *r, const char *args);
/*
 * A query starts in an image. In a query context other than the first, names what the queries of
 * those before were about: their definitions have the same numbers as those of the next one.
 */
int images__on_query(struct images *all, struct image *image, uint64_t start_ns);

int images__on_exit(struct images *all, const struct wire_exit *r);

/* All names of a compiler have come. What it knows of other crates is kept for others. */
int images__on_names(struct images *all, struct image *image, const struct library *lib);

/* Results of a pid's compiler were counted, which uses `lib`. */
int images__on_counts(struct images *all, const struct wire_counts *r, const struct library *lib);

/* Instances of such results have come. */
int images__on_instances(struct images *all, const struct wire_piece *r, const struct library *lib);

/*
 * Give the `tally` of another sink the numbers of results, as far as they are known, of compilers
 * of which the first sink has none yet. They get others with each reading: these are no sums to add
 * to.
 */
int images__show_results(const struct images *all, const struct decoder_sink *sink);

/*
 * Another library gets the place of `lib`: give away the results of its compilers, of which those
 * that exited are remembered, and of which no record follows.
 */
int images__leave(struct images *all, const struct library *lib);

/* The query context of an image's compiler was dropped. */
int images__on_drop(struct images *all, struct image *image, const struct library *lib);

/*
 * Add a process that was running before the capture (from /proc). `args` are raw NUL-separated
 * arguments, as in WIRE_EXEC.
 */
int images__adopt(struct images *all, uint32_t pid, uint32_t parent_pid, uint64_t time_ns,
		  const char *args, size_t args_len, bool truncated);

/*
 * The recording begins: the processes that were added start at this time, and their intervals that
 * start then began before (trace_span__began_before()).
 */
int images__begin(struct images *all, uint64_t time_ns);

/*
 * Mark the process that runs as `pid` now attached_late: it began before its library had probes. No
 * effect on an unknown pid, whose first span marks it.
 */
int images__late(struct images *all, uint32_t pid);

/* Set the working directory, and why samples do not show what LLVM does; copied. As above. */
int images__cwd(struct images *all, uint32_t pid, const char *cwd);
int images__no_llvm(struct images *all, uint32_t pid, const char *why);

/* The recording ends: name the keys of what still runs. */
int images__settle(struct images *all);

void images__destroy(struct images *all);

#endif /* QPROF_DECODE_IMAGES_H */
