/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The content of a trace, as the rest of the program sees it. docs/trace-format.md specifies the
 * bytes on disk; only user/trace reads and writes them.
 *
 * To find the way in this room, read in this order:
 *
 *	trace.h			intervals, processes, samples and the other items of a trace
 *	writer.h, reader.h	the two interfaces
 *	chunk_sink.c		writes a chunk, chunk_stream.c reads it and finds the index
 *	span_codec.c		the columns of a batch of intervals; sample_codec.c: of samples
 *	name_tables.h		the tables to which items refer, each of which has a file
 *	self_time.h		the time of an interval without its children
 *
 * name_writer.c and sample_writer.c belong to writer.c; record_reader.c, verdicts.c (the filter)
 * and process_numbers.c to reader.c. What is not trusted, and how much of it, is in expansion.h.
 */
#ifndef QPROF_TRACE_TRACE_H
#define QPROF_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "qprof/measureme_format.h"

#define TRACE_NO_INVOCATION UINT32_MAX
#define TRACE_NO_LOCATION   0u
#define TRACE_NO_STRING	    UINT32_MAX
#define TRACE_EXIT_UNKNOWN  INT32_MIN /* still running, or its end was not seen */

/* How an interval came to its end; stable on disk. */
enum trace_span_flag {
	TRACE_SPAN_UNWOUND = 1, /* left by unwinding */
	TRACE_SPAN_LEFT = 2,	/* left, and noticed later: the end is an upper bound */
	TRACE_SPAN_OPEN = 4,	/* never ended: its thread exited or the capture stopped */
	/*
	 * In no file: samples met it (analyze/sampled_intervals.h). It is at least as long, and
	 * there may be any number of others: such intervals are never counted as executions.
	 */
	TRACE_SPAN_SAMPLED = 8,
};

#define TRACE_SPAN_FLAGS_ALL (TRACE_SPAN_UNWOUND | TRACE_SPAN_LEFT | TRACE_SPAN_OPEN)

/*
 * A label may be a virtual id: TRACE_VIRTUAL and a number of the writer's choice, which is mapped
 * to a string later, or never. Invocation ids are virtual ids of their process.
 */
#define TRACE_VIRTUAL 0x80000000u

/*
 * The kind of an interval or a count, in measureme's words (trace_kind_text()). In memory only: on
 * disk a kind is a text.
 */
enum trace_kind {
	TRACE_KIND_QUERY,
	TRACE_KIND_ACTIVITY,	  /* GenericActivity: a phase, not a query */
	TRACE_KIND_BLOCKED,	  /* QueryBlocked: waiting for another thread's execution */
	TRACE_KIND_LOAD,	  /* IncrementalLoadResult: read from the last build instead */
	TRACE_KIND_HASHING,	  /* IncrementalResultHashing, inside the query's own interval */
	TRACE_KIND_HIT,		  /* QueryCacheHit: an instant, its start and end are one */
	TRACE_KIND_HIT_COUNT,	  /* QueryCacheHitCount, a tally */
	TRACE_KIND_ARTIFACT_SIZE, /* ArtifactSize, a tally of bytes */
	/*
	 * QueryResults, a tally, ours: the results that a query has, or had when the compiler had
	 * executed all its queries; the sum is how many of them may be no executions: they were fed
	 * by another query, or loaded without an interval.
	 */
	TRACE_KIND_RESULTS,
	/*
	 * QueryResultsAtLeast, the same, of a compiler that may have made more: it still ran, or
	 * those of one of its query contexts are unknown. No events: nothing is known.
	 */
	TRACE_KIND_RESULTS_AT_LEAST,
	TRACE_KIND_OFF_CPU, /* OffCpu: the thread was on no CPU; ours, not measureme's */
	TRACE_KIND_OTHER,   /* the first of the kinds that a file adds */
	TRACE_KINDS_MAX = 144,
};

/* Labels of TRACE_KIND_OFF_CPU: why. */
#define TRACE_OFF_PREEMPTED	  "<preempted>"
#define TRACE_OFF_WAITING	  "<waiting>"
#define TRACE_OFF_UNINTERRUPTIBLE "<uninterruptible>"

/* The name of a kind below TRACE_KIND_OTHER, also on disk; NULL of any other. */
const char *trace_kind_text(unsigned int kind);

/* One interval of one track. Spans of a thread come in the order of their ends. */
struct trace_span {
	uint64_t start_ns; /* on the trace's clock: see struct trace_info */
	uint64_t end_ns;   /* >= start_ns */
	uint32_t process;  /* index of the process in the trace, not its pid */
	uint32_t tid;
	uint32_t label;	     /* string id of the query's name, or TRACE_VIRTUAL | number */
	uint32_t invocation; /* DepNodeIndex, a writer's own id, or TRACE_NO_INVOCATION */
	uint32_t caller;     /* locindex of the call that requested it, or TRACE_NO_LOCATION */
	uint16_t depth;
	uint8_t flags; /* enum trace_span_flag */
	uint8_t kind;  /* enum trace_kind */
};

/*
 * Whether an execution never reached its end. TRACE_SPAN_LEFT does not count: such an execution was
 * not always unwound, and an activity whose guard has more than one end mostly was not.
 */
static inline bool trace_span__is_unfinished(const struct trace_span *span)
{
	return span->kind == TRACE_KIND_QUERY &&
	       (span->flags & (TRACE_SPAN_UNWOUND | TRACE_SPAN_OPEN));
}

/*
 * Whether the invocation id is rustc's number of a result. Of an execution that never reached its
 * end, as after a compile error, it is greater: one that a writer gave it, to map it to a text.
 */
static inline bool trace_span__has_number(const struct trace_span *span)
{
	return span->invocation <= MM_VIRTUAL_ID_MAX;
}

/* Whether the end is only an upper bound, of a span other than TRACE_KIND_OFF_CPU. */
static inline bool trace_span__end_is_late(const struct trace_span *span)
{
	return span->kind != TRACE_KIND_OFF_CPU && (span->flags & TRACE_SPAN_LEFT);
}

/*
 * Times of a span that are computed from the earlier spans of its thread, not stored
 * (trace/self_time.h). A span of TRACE_KIND_OFF_CPU does not reduce its parent's self_ns, and has
 * none itself.
 */
struct trace_times {
	uint64_t self_ns; /* the duration less the children's */
	/*
	 * Time that our own probes took of the duration and of self_ns; 0 if unknown. Both are
	 * averages, and may exceed the time that they are a part of.
	 */
	uint64_t probe_ns;
	uint64_t self_probe_ns;
	/* Time that the thread was off the CPU, within the duration and within self_ns. */
	uint64_t off_ns;
	uint64_t self_off_ns;
};

/* A time, or a sum of times, less the time that probes took of it. */
static inline uint64_t trace_without_probes(uint64_t ns, uint64_t probe_ns)
{
	return probe_ns < ns ? ns - probe_ns : 0;
}

/*
 * A function that locations lie in. A location is one number, its locindex: `first` and the offset
 * of the pc in the function, which may be `size` itself (a return address after a last call).
 * Ranges are given out as functions are first met (trace/function_table.h), and never overlap.
 */
struct trace_function {
	uint32_t first;	     /* locindex of offset 0, at least 1 */
	uint32_t size;	     /* bytes of code */
	uint64_t addr;	     /* of its entry, as an ELF virtual address of the library */
	const char *library; /* build-id (hex) of the file it is in, as in trace_process */
	const char *name;    /* demangled; empty: it has no symbol */
	const char *file;    /* path of that file when the recording saw it, or NULL */
};

/* From this offset in a function on, up to the next row's, code is of this line. */
struct trace_line {
	uint32_t offset; /* bytes from the function's entry; rows ascend */
	uint32_t file;	 /* string id */
	uint32_t line;	 /* 0: none is known from here on */
};

/* The location that a locindex stands for. Texts are the reader's. */
struct trace_location {
	const struct trace_function *function;
	uint32_t offset;  /* of the pc in it */
	const char *file; /* of the instruction before the pc, which is the call; or NULL */
	uint32_t line;
};

/* Values of one kind and label in one process, without times. */
struct trace_tally {
	uint32_t process; /* index */
	uint32_t label;	  /* string id */
	uint8_t kind;	  /* enum trace_kind */
	uint64_t events;
	uint64_t sum; /* of their values */
};

/* What is known of the results that struct trace_results lists. The values of the file. */
enum trace_results_kind {
	TRACE_RESULTS_EXECUTED, /* each is of one execution */
	TRACE_RESULTS_UNSURE, /* each is of one execution at most: it may have been fed or loaded */
	TRACE_RESULTS_UNKNOWN, /* no list: the query has more, and it is not known about what */
};

/*
 * What results of a query are about that a process had, some of them at a time. A string is there
 * more than once if several definitions have that path.
 */
#define TRACE_RESULTS_MAX 4096
struct trace_results {
	uint32_t process;      /* index */
	uint32_t label;	       /* string id */
	uint32_t n;	       /* at most TRACE_RESULTS_MAX */
	uint8_t kind;	       /* enum trace_results_kind */
	const uint32_t *items; /* string ids of paths */
};

/* In a process, a symbol that it generated code under is that of an instance of an item. */
struct trace_symbol {
	uint32_t process; /* index */
	uint32_t symbol;  /* string id */
	uint32_t item;	  /* string id of its path */
};

/* The reason of a SIGKILL, as far as it is known. The values of the file. */
enum trace_kill {
	TRACE_KILL_UNKNOWN,
	TRACE_KILL_MEMORY, /* the kernel chose it, as memory had run out */
	TRACE_KILL_OTHER,
};

/* Why cargo built a crate again that it had built before. The values of the file. */
enum trace_rebuilt_reason {
	TRACE_REBUILT_UNKNOWN,	   /* no difference was found: perhaps its output was deleted */
	TRACE_REBUILT_FILE,	   /* a file was changed: its path, as cargo has it */
	TRACE_REBUILT_MISSING,	   /* a file that its build script watches is not there: likewise */
	TRACE_REBUILT_FEATURES,	   /* it has other features: "+added -removed" */
	TRACE_REBUILT_PROFILE,	   /* settings of the profile */
	TRACE_REBUILT_COMMAND,	   /* it was built by another command, such as "cargo check" */
	TRACE_REBUILT_FLAGS,	   /* RUSTFLAGS, or what is configured in its place */
	TRACE_REBUILT_RUSTC,	   /* another compiler */
	TRACE_REBUILT_ENVIRONMENT, /* a variable: its name */
	TRACE_REBUILT_DEPENDENCIES, /* it has other dependencies: "+added -removed" */
	TRACE_REBUILT_DEPENDENCY,   /* one of them was built again, or its build script was run */
	TRACE_REBUILT_SOURCE,	    /* another main source file */
	TRACE_REBUILT_MANIFEST,	    /* its Cargo.toml: the edition, the features that there are */
	TRACE_REBUILT_CONFIG,	    /* cargo's configuration, such as the linker */
	TRACE_REBUILT_BUILD_SCRIPT, /* its build script watches other files or variables */
	TRACE_REBUILT_UNFINISHED,   /* it did not end well the last time */
	TRACE_REBUILT_MAX,
};

/* Of a trace; a reader takes no more. */
#define TRACE_REBUILT_MOST 4096u

/* Stable machine name of a reason ("file"). */
const char *trace_rebuilt_name(enum trace_rebuilt_reason reason);

struct trace_rebuilt {
	uint32_t crate;	 /* string id: its name, as in a report */
	uint32_t detail; /* string id; TRACE_NO_STRING: none */
	uint8_t reason;	 /* enum trace_rebuilt_reason */
};

/* One image of one process: an exec makes a new one. The holder of the record owns its strings. */
struct trace_process {
	uint32_t index;
	uint32_t pid;	     /* in the initial pid namespace */
	uint32_t parent_pid; /* 0 if unknown */
	uint64_t start_ns;   /* exec, or when the capture first saw it */
	uint64_t end_ns;     /* 0 while running */
	int32_t exit_status; /* as wait(2) reports it, or TRACE_EXIT_UNKNOWN */
	uint64_t peak_bytes; /* the most memory that was resident at a time; 0: unknown */
	uint64_t cpu_ns;     /* CPU time of all its threads; 0: unknown, or it still runs */
	uint8_t kill;	     /* enum trace_kill; of one that SIGKILL ended */
	bool attached_late;  /* it ran before the probes were there: its spans may be incomplete */
	char *command;	     /* arguments joined by spaces; NULL if unknown */
	char *crate;	     /* --crate-name, or NULL */
	char *crate_type;    /* --crate-type, or NULL */
	char *rustc_version; /* or NULL */
	char *build_id;	     /* hex, of its librustc_driver, or NULL */
	char *cwd;	     /* its working directory when it was first seen, or NULL */
	char *no_llvm;	     /* why samples do not show what LLVM does in it, or NULL */
};

/*
 * Whether a span of this process began before the recording did, at an unknown time: it took at
 * least as long as it says.
 */
static inline bool trace_span__began_before(const struct trace_span *span,
					    const struct trace_process *p)
{
	return p->attached_late && span->start_ns == p->start_ns;
}

/* Copy `src` with its texts into `*dst`, whose old content is not freed; 0 or -ENOMEM. */
int trace_process__copy(struct trace_process *dst, const struct trace_process *src);
/* Free the texts and make the record empty. */
void trace_process__clear(struct trace_process *p);

/* Losses and drops by cause; stable on disk. Stable names are in trace_loss_name(). */
enum trace_loss {
	TRACE_LOST_RING_FULL,
	TRACE_LOST_STACK_FULL,
	TRACE_LOST_NO_STORAGE,
	TRACE_LOST_RECURSION,
	TRACE_LOST_PROCESS_RECORD,
	TRACE_LOST_TARGETS_FULL,
	TRACE_DROP_END_WITHOUT_START,
	TRACE_COUNT_UNWOUND,
	TRACE_COUNT_LEFT,
	TRACE_COUNT_OPEN,
	TRACE_LOST_UNKNOWN_PROVIDER,
	TRACE_LOST_BAD_RECORD,
	TRACE_COUNT_HITS,
	TRACE_COUNT_HITS_OTHER,
	TRACE_COUNT_NO_LABEL,
	TRACE_COUNT_NO_CALLER,
	TRACE_LOST_MAPPINGS,
	TRACE_LOST_COMPILERS,
	TRACE_COUNT_NO_NAMES,
	TRACE_COUNT_NO_SAMPLE,
	TRACE_COUNT_NO_RESULTS,
	TRACE_COUNT_NO_JOB,
	TRACE_COUNT_NO_LLVM,
	TRACE_LOSS_MAX,
};

struct trace_losses {
	uint64_t count[TRACE_LOSS_MAX];
};

/* Stable machine name ("ring_full"), or NULL past the end. */
const char *trace_loss_name(enum trace_loss loss);
/* One line for a person ("ring buffer full"). */
const char *trace_loss_text(enum trace_loss loss);
/* True if the cause means that spans are missing (LOST_*), not only worth knowing. */
bool trace_loss_is_lost(enum trace_loss loss);
/* Sum over the causes for which trace_loss_is_lost(). */
uint64_t trace_losses__total(const struct trace_losses *losses);

/* A thread and its name, as the kernel has it (at most 15 bytes). */
struct trace_thread {
	uint32_t process; /* index */
	uint32_t tid;
	const char *name;
};

/* A piece of a string: a text, or (text is NULL) an earlier string. */
struct trace_piece {
	const char *text;
	uint32_t id;
};

#define TRACE_NO_PROCESS UINT32_MAX

/* Which strings `n` virtual ids from `first` on stand for. */
struct trace_mapping {
	uint32_t process; /* whose invocation ids; TRACE_NO_PROCESS: labels, without the bit */
	uint32_t first;
	uint32_t n;
	const uint32_t *strings; /* n string ids; or NULL, and: */
	uint32_t string;	 /* that of the first id, */
	bool series;		 /* the next string for each next id, or the same for all */
};

/*
 * Where the source of what a process's executions were about begins, by its path; and, if a macro
 * made it, where that was called.
 */
struct trace_place {
	uint32_t process;
	uint32_t string; /* the path's */
	uint32_t file;	 /* string id; relative to the working directory of the process, or not */
	uint32_t line;	 /* from 1 */
	uint32_t call_file; /* string id; TRACE_NO_STRING: none is known */
	uint32_t call_line;
};

/* Classes of probes by what a hit costs; stable on disk. */
enum trace_cost {
	TRACE_COST_EMULATED, /* a hit on an instruction that the kernel emulates */
	TRACE_COST_STEPPED,  /* on one that it executes out of line */
	/* Of the two hits of a span, what lies between its start and its end; by class. */
	TRACE_COST_EMULATED_INSIDE,
	TRACE_COST_STEPPED_INSIDE,
	TRACE_COST_MAX,
};

/* The cost of probe hits to the compiler, as measured when the capture began. */
struct trace_costs {
	uint64_t ps[TRACE_COST_MAX]; /* picoseconds; 0: not measured */
	bool subtracted;	     /* the times of spans do not contain it */
};

/* The cost of recording until now; stable on disk. Times are CPU times, in ns, but one. */
enum trace_overhead_part {
	TRACE_OVERHEAD_PROBES,	    /* of the compilers, for hits of probes */
	TRACE_OVERHEAD_BREAKPOINTS, /* of the compilers, for breakpoints written into each */
	TRACE_OVERHEAD_SAMPLES,	    /* of the compilers, for samples */
	TRACE_OVERHEAD_OWN,	    /* of the recorder and its helpers */
	TRACE_OVERHEAD_WAITED,	 /* wall time in which compilers waited for their probes, summed */
	TRACE_OVERHEAD_N_WAITED, /* these compilers */
	TRACE_OVERHEAD_N_BREAKPOINTS,
	TRACE_OVERHEAD_SET_UP, /* of TRACE_OVERHEAD_OWN, what comes once, however long it records */
	TRACE_OVERHEAD_NAMES,  /* of the compilers, for copies of names */
	TRACE_OVERHEAD_READ,   /* our own, not in OWN: the toolchain's files, for the first time */
	/* Other recordings that ran at the same time: the most that one look found. No cost of
	 * ours. */
	TRACE_OVERHEAD_N_BESIDE,
	/* CPU time of the recorded command that no reading from outside has seen. No cost of ours.
	 */
	TRACE_OVERHEAD_UNSEEN,
	TRACE_OVERHEAD_MAX,
};

struct trace_overhead {
	uint64_t of[TRACE_OVERHEAD_MAX];
};

/* Resolves the ids of a trace to texts. */
struct trace_texts {
	const void *ctx;
	const char *(*text)(const void *ctx, uint32_t id);	 /* of a string id or label */
	const char *(*kind)(const void *ctx, unsigned int kind); /* NULL: trace_kind_text() */
	/*
	 * Of a path, of the first process that has one; NULL if none has, or others have another
	 * file. The function may be NULL: use trace_texts__place().
	 */
	const struct trace_place *(*place)(const void *ctx, uint32_t string);
};

static inline const struct trace_place *trace_texts__place(const struct trace_texts *texts,
							   uint32_t string)
{
	return texts->place ? texts->place(texts->ctx, string) : NULL;
}

/* Why a stack was sampled; stable on disk. The values of include/qprof/wire_samples.h. */
enum trace_sample_cause {
	TRACE_SAMPLE_CPU = 1, /* value: ns of CPU time that the sample stands for */
	TRACE_SAMPLE_OFF_CPU, /* value: ns that the thread was off the CPU, from time_ns on */
	TRACE_SAMPLE_FAULT,   /* value: bytes of memory that the sample stands for */
	TRACE_SAMPLE_CAUSES,
};

/* Why a sampled stack ends where it does; stable on disk, as above. */
enum trace_sample_cut {
	TRACE_CUT_NOT = 0,  /* at the start of the thread */
	TRACE_CUT_NO_MAP,   /* a pc in no known file */
	TRACE_CUT_NO_RULE,  /* no unwind rule for a pc */
	TRACE_CUT_NO_PAGE,  /* a part of the stack was not resident */
	TRACE_CUT_TOO_DEEP, /* too many frames */
	TRACE_CUT_MAX,
};

/* The kind of an entry of a sampled stack; stable on disk. */
enum trace_stack_kind {
	TRACE_STACK_LOCATION, /* place: a locindex, or TRACE_NO_LOCATION. The innermost is the pc
				 itself, all others return addresses */
	/*
	 * An interval that the entries below run in, by what their code shows; place: its label.
	 * These are 1 + enum trace_kind.
	 */
	TRACE_STACK_QUERY,
	TRACE_STACK_ACTIVITY,
	TRACE_STACK_BLOCKED,
	TRACE_STACK_LOAD,
	TRACE_STACK_HASHING,
	/* An execution of a query, but the code does not show of which; place: 0. Its time counts
	 * as that of the interval around it. */
	TRACE_STACK_UNKNOWN,
	TRACE_STACK_KINDS,
};

_Static_assert((int)TRACE_STACK_QUERY == 1 + (int)TRACE_KIND_QUERY, "TRACE_STACK_QUERY");
_Static_assert((int)TRACE_STACK_HASHING == 1 + (int)TRACE_KIND_HASHING, "TRACE_STACK_HASHING");

#define TRACE_NO_STACK 0u

/*
 * One entry of the sampled stacks, which form a tree. Entries have numbers from 1 on, and a parent
 * has a smaller one than its children: sums of subtrees take one pass from the last entry to the
 * first.
 */
struct trace_stack {
	uint32_t parent; /* the entry that it was called from; TRACE_NO_STACK: it is outermost */
	uint32_t place;
	uint16_t depth; /* 1: outermost; at most TRACE_STACK_DEPTH_MAX. Set by who keeps the tree */
	uint8_t kind;	/* enum trace_stack_kind */
};

#define TRACE_STACK_DEPTH_MAX 2048

#define TRACE_NO_JOB 0u

/*
 * An execution of a query that samples met. Jobs have numbers from 1 on; that around has a smaller
 * one, and there are TRACE_JOB_DEPTH_MAX around each other at most.
 */
struct trace_job {
	uint32_t process;    /* index in the file, whatever filter a reader has */
	uint32_t query;	     /* string id of its name */
	uint32_t invocation; /* mapped to what it is about; or TRACE_NO_INVOCATION */
	uint32_t parent;     /* the job around; TRACE_NO_JOB: none, or not known */
	uint32_t depth;	     /* 1: outermost; set by readers */
};

#define TRACE_JOB_DEPTH_MAX 2048

#define TRACE_NO_LLVM 0u

/* Where LLVM was; stable on disk. */
enum trace_llvm_scope {
	TRACE_LLVM_NONE,     /* in a pass that is about no function and no module, or not known */
	TRACE_LLVM_FUNCTION, /* in a pass over a function */
	TRACE_LLVM_SCC,	     /* over functions that call each other, of which this is the first */
	TRACE_LLVM_MODULE,   /* over a module; `function` is none */
	TRACE_LLVM_SCOPES,
};

/*
 * What LLVM was doing in a thread that was sampled, as it notes for its crash messages. Entries
 * have numbers from 1 on, and each is there once.
 */
struct trace_llvm {
	uint32_t pass;	   /* string id of its name, as LLVM's type; TRACE_NO_STRING: not known */
	uint32_t function; /* string id of its symbol, mangled; TRACE_NO_STRING: none, not known */
	uint8_t scope;	   /* enum trace_llvm_scope */
	bool codegen;	   /* in the code generator (the older pass manager), not the optimiser */
};

/* A stack of a thread at a moment. */
struct trace_sample {
	uint64_t time_ns;
	uint64_t value;
	uint32_t process; /* index */
	uint32_t tid;
	uint32_t stack; /* the innermost entry; TRACE_NO_STACK: none was recorded */
	uint32_t job;	/* the innermost; TRACE_NO_JOB: none, or not known */
	uint32_t llvm;	/* a number of struct trace_llvm; TRACE_NO_LLVM: not in LLVM, or unknown */
	/*
	 * The view of the probes at that moment: the label (TRACE_NO_STRING: in no interval, or not
	 * known, as in the trap of a probe; never virtual) and kind of the innermost interval, and
	 * how many there were.
	 */
	uint32_t label;
	uint16_t depth;
	uint8_t kind;
	uint8_t cause; /* enum trace_sample_cause */
	uint8_t cut;   /* enum trace_sample_cut */
};

/* How a recording samples; in a trace at most once, before all samples. */
struct trace_sampling {
	uint32_t hz;	       /* samples a second of CPU time of each thread; 0: none */
	uint32_t fault_period; /* page faults for each sample; 0: none */
	/*
	 * Stacks of page faults are the innermost interval and function alone: all are cut as
	 * TRACE_CUT_TOO_DEEP. With TRACE_STACK_UNKNOWN the interval is unknown, if there is any.
	 */
	bool light;
	bool off_cpu; /* stacks of threads that leave the CPU */
	/*
	 * Not all queries have probes: times of all are those of samples, which have jobs. All
	 * executions of a query are recorded, or none.
	 */
	bool queries;
};

/* Whether the stack of a sample was not asked for. `light` is that of struct trace_sampling. */
static inline bool trace_sample__is_light(const struct trace_sample *s, bool light)
{
	return light && s->cause == TRACE_SAMPLE_FAULT;
}

/* Up to when it says what the thread did: a wait begins at time_ns. */
static inline uint64_t trace_sample__end_ns(const struct trace_sample *s)
{
	return s->cause == TRACE_SAMPLE_OFF_CPU ? s->time_ns + s->value : s->time_ns;
}

/* The clock of a trace's times; stable on disk. */
enum trace_clock {
	TRACE_CLOCK_MONOTONIC,
	TRACE_CLOCK_REALTIME, /* since the epoch: made from profiles that hold no other */
	TRACE_CLOCK_MAX,
};

/* Stable machine name. */
static inline const char *trace_clock_name(enum trace_clock clock)
{
	return clock == TRACE_CLOCK_REALTIME ? "realtime" : "monotonic";
}

/* A UUID: trace/trace_id.h. All zeroes: none. */
struct trace_id {
	uint8_t bytes[16];
};

struct trace_info {
	char *tool;   /* "qprof-bpf 0.1.0" */
	char *kernel; /* uname -r */
	char *host;
	enum trace_clock clock;
	uint64_t clock_start_ns;    /* on that clock, when the capture began */
	uint64_t realtime_start_ns; /* CLOCK_REALTIME at the same moment, ns since the epoch */
	struct trace_id id;
	uint64_t cpus; /* of the machine; 0: unknown */
	char *command; /* that was recorded, joined by spaces; NULL: none, or it is unknown */
	char *events;  /* that were asked for, in the words of `record -e`; NULL: unknown */
	char *source; /* TRACE_SOURCE_OUTSIDE, or another one; NULL: probes and the kernel's samples
		       */
};

/* Compilers were read from outside, without the kernel half: capture/outside.h. */
#define TRACE_SOURCE_OUTSIDE "outside"
/* The label of TRACE_STACK_ACTIVITY by which such a recording says that a thread is LLVM's. */
#define TRACE_ACTIVITY_LLVM "LLVM"

/* ---- One item, as a reader returns it ---- */

enum trace_item_kind {
	TRACE_ITEM_END = 0,
	TRACE_ITEM_SPAN,
	TRACE_ITEM_PROCESS, /* new or updated */
	TRACE_ITEM_LOSSES,
	TRACE_ITEM_THREAD, /* its name, new or changed */
	TRACE_ITEM_COSTS,
	TRACE_ITEM_OVERHEAD, /* replaces the one before */
	TRACE_ITEM_PART,     /* at most one counts */
	TRACE_ITEM_REBUILT,
	TRACE_ITEM_TALLY,
	TRACE_ITEM_RESULTS,
	TRACE_ITEM_SAMPLING, /* before all samples, at most once */
	TRACE_ITEM_SAMPLE,
};

struct trace_item {
	enum trace_item_kind kind;
	union {
		struct trace_span span;
		const struct trace_process *process; /* the reader's; valid until it is freed */
		struct trace_losses losses;
		struct trace_thread thread; /* its name is valid until the reader is freed */
		struct trace_costs costs;
		struct trace_overhead overhead;
		uint32_t part; /* of a build that has several traces; from 1 */
		struct trace_rebuilt rebuilt;
		struct trace_tally tally;
		struct trace_results results; /* its list is valid until the next item */
		struct trace_sampling sampling;
		struct trace_sample sample;
	};
};

/* Which items a reader returns. Times are on the trace's clock. */
struct trace_filter {
	/* Leaves out spans and samples that end before it. A sample is a moment, or a time off the
	 * CPU. */
	uint64_t from_ns;
	uint64_t to_ns; /* leaves out those that start after it; UINT64_MAX: no limit */
	/*
	 * Selects processes, with their threads, spans, samples and tallies; NULL selects all. The
	 * reader asks again after each change of the process's record.
	 */
	bool (*process)(void *ctx, const struct trace_process *p);
	/*
	 * Selects labels of spans and tallies by text, and samples by the label of the
	 * innermost interval on their stack; NULL selects all. Asked once per label.
	 */
	bool (*label)(void *ctx, const char *text);
	void *ctx;
	/*
	 * Number the processes that are left from 0 on, as if the file held no others. Functions of
	 * the reader that take a process, or a span, take these numbers.
	 */
	bool renumber;
};

#endif /* QPROF_TRACE_TRACE_H */
