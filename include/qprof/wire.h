/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/*
 * The interface of the two halves: ring buffer records, counters, knobs, sites of probes.
 *
 * Fixed-width, native endian (both halves run on one machine), never written to disk as they are:
 * user/decode turns them into what a trace stores. Times are CLOCK_MONOTONIC nanoseconds.
 * Compiles alone on both sides; the asserts at the end keep both compilers honest.
 */
#ifndef QPROF_WIRE_H
#define QPROF_WIRE_H

#include "qprof/wire_arguments.h"
#include "qprof/wire_crates.h"
#include "qprof/wire_places.h"
#include "qprof/wire_labels.h"
#include "qprof/wire_llvm.h"
#include "qprof/wire_samples.h"
#include "qprof/wire_sites.h"
#include "qprof/wire_tables.h"
#include "qprof/wire_types.h"

/*
 * First byte of every record, each with a row in user/capture/record.c. Values are explicit: the
 * two halves may be built apart.
 */
enum wire_type {
	WIRE_SPAN = 1,
	WIRE_FORK = 2,
	WIRE_EXEC = 3,
	WIRE_EXIT = 4,
	WIRE_LABEL = 5,
	WIRE_HIT = 6,
	WIRE_THREAD = 7,
	WIRE_OFF_CPU = 8,
	WIRE_OPEN_FRAME = 10,
	WIRE_OPEN_STACK = 11,
	WIRE_PIECE = 12,
	WIRE_SYMBOLS = 13,
	WIRE_NAMES_END = 14,
	WIRE_ARGUMENT = 15,
	WIRE_SAMPLE = 16,
	WIRE_COUNTS = 17,
	WIRE_JOB = 18,
	WIRE_FED = 19,
	WIRE_LLVM_NAME = 20,
};

/* Fields that this kernel's types lack; bpf/internals.h says how each is done without. */
enum wire_missing {
	WIRE_MISSING_ARGUMENTS = 1,   /* command lines of processes */
	WIRE_MISSING_LAST_THREAD = 2, /* when a process ends: taken from its first thread */
	WIRE_MISSING_STATUS = 4,      /* exit statuses */
	WIRE_MISSING_STACKS = 8,      /* which stack an address is on */
};

/* How a span came to its end. */
enum wire_span_flag {
	WIRE_SPAN_UNWOUND = 1, /* left by unwinding: no invocation id, end = when it was caught */
	WIRE_SPAN_LEFT = 2,    /* left unseen (no catch observed): end = when that was noticed */
	WIRE_SPAN_OPEN = 4,    /* still running when its thread exited or the capture stopped */
};

#define WIRE_NO_INVOCATION 0xffffffffu

/*
 * The type of a query's key, as far as a probe can read it. Every type but the first two names a
 * definition or a crate.
 */
enum wire_key {
	WIRE_KEY_UNKNOWN = 0, /* of a type that no probe reads, or at no known place */
	WIRE_KEY_UNIT,	      /* (): there is nothing to read */
	WIRE_KEY_LOCAL,	      /* LocalDefId, OwnerId, LocalModDefId: an index in a register */
	WIRE_KEY_DEF,	      /* DefId: an index, and the crate in the next register */
	WIRE_KEY_CRATE,	      /* CrateNum */
	WIRE_KEY_MEMORY,      /* the address of a struct: struct wire_memory_key */
	WIRE_KEY_MAX,
};

/* The kind of a span, as in measureme's event kinds. */
enum wire_kind {
	WIRE_KIND_QUERY = 0, /* a provider was executed */
	WIRE_KIND_ACTIVITY,  /* GenericActivity: a phase, not a query */
	WIRE_KIND_BLOCKED,   /* QueryBlocked: waiting for another thread's execution */
	WIRE_KIND_LOAD,	     /* IncrementalLoadResult: read from the last build instead */
	WIRE_KIND_HASHING,   /* IncrementalResultHashing */
	WIRE_KIND_MAX,
};

/*
 * One interval of the compiler's own: the execution of a query provider, or another that its
 * self-profiler knows. Sent once, when it ends: records of one thread arrive in the order of their
 * ends, children before parents.
 */
struct wire_span {
	wire_u8 type;
	wire_u8 flags; /* enum wire_span_flag */
	wire_u8 lib;   /* index of the attached library */
	wire_u8 kind;  /* enum wire_kind */
	/*
	 * Index into that library's plan: of the query that was executed or that the interval is
	 * about, or WIRE_NO_QUERY if it is unknown; with WIRE_KIND_ACTIVITY of the guard,
	 * whose label it has, unless `label` is not 0.
	 */
	wire_u16 query;
	wire_u16 depth; /* intervals that hold this one on its thread; saturates at 65535 */
	wire_u32 pid;	/* tgid, in the initial pid namespace */
	wire_u32 tid;
	wire_u64 start_ns;
	wire_u64 end_ns;
	wire_u32 invocation; /* DepNodeIndex or WIRE_NO_INVOCATION */
	union {
		/* WIRE_KIND_QUERY: ELF address in `lib` that its request returns to; 0: not known
		 */
		wire_u32 caller;
		/* WIRE_KIND_ACTIVITY: number of a struct wire_label that came before, or
		 * WIRE_LABEL_LOST, or 0: the guard's own */
		wire_u32 label;
	};
	/* WIRE_KIND_QUERY: wire_key() of its key; WIRE_KIND_ACTIVITY: the number of a struct
	 * wire_argument that came before; 0: none, or not read */
	wire_u64 key;
};

/* The key of an execution as one number, which is not 0: a crate, and the index of a definition in
 * it (0 with WIRE_KEY_CRATE). */
static inline wire_u64 wire_key(wire_u32 krate, wire_u32 index)
{
	return ((wire_u64)krate + 1) << 32 | index;
}

static inline wire_u32 wire_key_crate(wire_u64 key)
{
	return (wire_u32)(key >> 32) - 1;
}

#define WIRE_KEY_LOCAL_CRATE 0u
#define WIRE_NO_CRATE	     0xffffffffu

/* A query's result was found in its in-memory cache: an instant, and no frame. */
struct wire_hit {
	wire_u8 type;
	wire_u8 lib;
	wire_u16 depth; /* as in wire_span */
	wire_u32 pid;
	wire_u32 tid;
	wire_u32 invocation; /* of the execution whose result it is, or WIRE_NO_INVOCATION */
	wire_u64 time_ns;
};

/* The tables of a compiler's memory that are copied (struct wire_layout). */
enum wire_table {
	WIRE_TABLE_DEFINITIONS = 1, /* of the crate that is compiled */
	/* struct wire_layout_places: */
	WIRE_TABLE_SPANS = 8, /* of its definitions: `number` is the bucket's, 8 bytes each */
	/* The spans among them that are interned: u32 index, position, context. */
	WIRE_TABLE_INTERNED = 9,
	/*
	 * Source files whose lines are at hand: u32 number, start, length, how many lines, length
	 * of the name, the name, and padding to 4 bytes.
	 */
	WIRE_TABLE_FILES = 10,
	WIRE_TABLE_LINES = 11, /* u32 each: where lines start, in the file with this `number` */
	/* struct wire_layout_calls: contexts of spans, and expansions, as the compiler has them. */
	WIRE_TABLE_CONTEXTS = 16,
	WIRE_TABLE_EXPANSIONS = 17,
	WIRE_TABLE_CRATES = 12, /* struct wire_crate */
	/*
	 * Of crate `number`, a part of its cached definitions (struct wire_layout_crates): as many
	 * control bytes as entries, then the entries, the last one first. `offset` is the number of
	 * the first. An entry whose control byte has the highest bit set is unused.
	 */
	WIRE_TABLE_KEYS = 13,
	/* Keys of the results of query `number` (wire_tables.h), after the counts. */
	WIRE_TABLE_RESULTS = 18,
	WIRE_TABLE_INSTANCES = 19, /* likewise: struct wire_instance */
};

/*
 * A piece of such a table, copied when the query context is dropped. Pieces of a table come in
 * order; the symbols that a piece of definitions names come after it. The sender leaves out the
 * unused end of `bytes`.
 */
#define WIRE_PIECE_MAX 4096
struct wire_piece {
	wire_u8 type;
	wire_u8 lib;
	wire_u8 table; /* enum wire_table */
	wire_u8 pad;
	wire_u32 pid;
	wire_u32 number; /* of the table among those of its sort, or 0 */
	wire_u32 offset; /* of the first byte, in the table */
	wire_u32 size;	 /* of `bytes` */
	wire_u32 pad2;
	wire_u8 bytes[WIRE_PIECE_MAX];
};

/* Texts of symbols: u32 number, u32 length, as many bytes, and padding to 4 bytes. Likewise. */
#define WIRE_SYMBOL_MAX	 1024 /* a longer text is cut */
#define WIRE_SYMBOLS_MAX 8192
struct wire_symbols {
	wire_u8 type;
	wire_u8 lib;
	wire_u8 pad[2];
	wire_u32 pid;
	wire_u32 size; /* of `bytes` */
	wire_u32 pad2;
	wire_u8 bytes[WIRE_SYMBOLS_MAX];
};

/* The copy of a compiler's names has ended. */
struct wire_names_end {
	wire_u8 type;
	wire_u8 lib;
	/*
	 * enum wire_counts_moment; 0: it runs on. Queries behind WIRE_COUNTS_DROPPED have another
	 * context. A drop behind WIRE_COUNTS_FINISHED has no names, unless that
	 * was `uncopied`.
	 */
	wire_u8 moment;
	wire_u8 uncopied; /* there was no room to copy anything: the drop tries again */
	wire_u32 pid;
	wire_u32 definitions; /* in the table */
	wire_u32 missing;     /* reads that failed and records that found no room */
	wire_u64 time_ns;
};

#define WIRE_TAGS	 32
#define WIRE_TAG_UNKNOWN 0xffffffffu
#define WIRE_TAG_NAMED	 0xfffffffeu

/*
 * Where a thread of a compiler keeps the query context that it works in: its thread-local memory
 * has the address of a struct, or 0, and that has the address of the GlobalCtxt.
 */
struct wire_layout_current {
	wire_u64 offset;  /* ELF address of the word with the first one's thread-local offset */
	wire_u64 code;	  /* ELF addresses of code, less their offsets in the file */
	wire_u32 context; /* within the struct */
	wire_u32 known;	  /* 0: nothing of this is known */
};

/*
 * Where a library's compilers keep the names of definitions. Offsets are bytes. The address of the
 * GlobalCtxt is `context` bytes above what rdi holds at the WIRE_ROLE_DROP site.
 */
struct wire_layout {
	wire_u64 drop;	  /* ELF address of that site */
	wire_u64 globals; /* ELF address of the word with the thread-local offset of the globals */
	wire_u32 context;
	wire_u32 table;	 /* within the GlobalCtxt: the address of the table of definitions */
	wire_u32 count;	 /* likewise: how many it holds */
	wire_u32 size;	 /* of a definition: 8 to 64 */
	wire_u32 tag;	 /* within a definition */
	wire_u32 symbol; /* within a definition */
	/*
	 * By tag (rustc's DefPathData): the symbol that all definitions with it have; or
	 * WIRE_TAG_NAMED, each has its own; or WIRE_TAG_UNKNOWN.
	 */
	wire_u32 tags[WIRE_TAGS];
	wire_u32 symbols;     /* within the globals: the address of the table of symbols */
	wire_u32 n_symbols;   /* likewise: how many it holds */
	wire_u32 symbol_size; /* of a symbol's entry: 16 to 64 */
	wire_u32 text;	      /* within an entry: the address of its text */
	wire_u32 length;      /* within an entry: its length */
	/*
	 * Definitions of the tags whose bit is set may have the symbol 0, which is empty, as their
	 * own: this one stands for it. 0: there are none.
	 */
	wire_u32 unnamed;
	wire_u32 unnamed_tags;
	struct wire_layout_crates crates;
	struct wire_layout_current current;
	struct wire_layout_places places;
	struct wire_layout_calls calls;
};

/* Why a thread left its CPU. */
enum wire_off_reason {
	WIRE_OFF_PREEMPTED = 1,	  /* it could have gone on */
	WIRE_OFF_WAITING,	  /* for a lock, a pipe, a child: a signal can end it */
	WIRE_OFF_UNINTERRUPTIBLE, /* for a page, a disk: no signal can end it */
	WIRE_OFF_MAX,
};

/* A thread that has hit a probe was not on a CPU. */
struct wire_off_cpu {
	wire_u8 type;
	wire_u8 reason; /* enum wire_off_reason */
	wire_u16 depth; /* as in wire_span */
	wire_u32 pid;
	wire_u32 tid;
	wire_u32 flags; /* WIRE_SPAN_OPEN, WIRE_SPAN_LEFT (its end was not seen) or 0 */
	wire_u64 start_ns;
	wire_u64 end_ns;
};

/* A label that could not be read, or whose text could not be sent. */
#define WIRE_LABEL_LOST 0xffffffffu

/* A thread of a followed process hits its first probe, in this image of the process. */
struct wire_thread {
	wire_u8 type;
	wire_u8 pad[3];
	wire_u32 pid;
	wire_u32 tid;
	wire_u32 pad2;
	wire_u64 time_ns;
	char name[16]; /* the kernel's, ends in NUL */
};

/* One running interval of a thread, the outermost first; sent on request. */
struct wire_open_frame {
	wire_u8 type;
	wire_u8 lib;
	wire_u8 kind; /* enum wire_kind */
	wire_u8 pad;
	wire_u16 query; /* as in wire_span */
	wire_u16 pad2;
	wire_u32 tid;
	wire_u32 label; /* as in wire_span */
	wire_u64 sp;	/* of the function that it lies in, or a little above */
	wire_u64 start_ns;
	wire_u64 key; /* as in wire_span */
};

/* Threads that are asked for at a time. */
#define WIRE_OPEN_TIDS 128

/* Ends a thread's struct wire_open_frame records. */
struct wire_open_stack {
	wire_u8 type;
	wire_u8 torn;	/* 1: the stack changed meanwhile; the frames may be of several moments */
	wire_u8 reason; /* enum wire_off_reason, if off_since_ns is not 0 */
	wire_u8 known;	/* 0: the thread has hit no probe yet, or is not followed */
	wire_u32 tid;
	wire_u32 n;	 /* frames; less came if the ring buffer was full */
	wire_u32 n_lost; /* running intervals that found no room when they started */
	wire_u64 time_ns;
	wire_u64 off_since_ns; /* when it left its CPU; 0: it is on one, or unknown */
	/*
	 * The program that it runs. Both numbers together are of no other: an exec changes the
	 * second before anybody can reach the new program's memory.
	 */
	wire_u64 process_ns; /* when its process started */
	wire_u64 execs;	     /* programs that it and its ancestors have executed; 0: unknown */
};

/*
 * An interval that a thread entered before the capture began, as its stack shows: it becomes a
 * frame of the thread's, so that its end is recorded. Its start is that of the capture.
 */
struct wire_begun {
	wire_u64 sp; /* of the function that it runs in, at its calls */
	wire_u64 key;
	wire_u16 query;	 /* as in wire_span */
	wire_u16 group;	 /* of a query's bodies, or the scope of a guard */
	wire_u16 number; /* of a guard within its scope; 0: a query */
	wire_u8 lib;
	wire_u8 kind; /* enum wire_kind */
};

/* Of one thread. */
#define WIRE_BEGUN_MAX 96

struct wire_fork {
	wire_u8 type;
	wire_u8 pad[3];
	wire_u32 parent_pid;
	wire_u32 child_pid;
	wire_u32 pad2;
	wire_u64 time_ns;
};

#define WIRE_ARGS_MAX	 4096
#define WIRE_COMMAND_MAX (256 * 1024) /* web-sys has 84,000 */

/*
 * A followed process replaced its image. The arguments are the raw argv bytes, NUL-separated; after
 * session_sink__exec() all of them, up to WIRE_COMMAND_MAX bytes from `args` on.
 */
struct wire_exec {
	wire_u8 type;
	wire_u8 truncated; /* 1 if args has not all arguments */
	wire_u8 pad[2];
	wire_u32 pid;
	wire_u64 time_ns;
	wire_u32 args_len; /* bytes used in args */
	char comm[16];
	wire_u32 peak_kib; /* as in wire_exit, up to this exec */
	wire_u64 cpu_ns;   /* likewise */
	char args[WIRE_ARGS_MAX];
};

/* Any process has executed a program; in a ring buffer of its own (bpf/execs.bpf.c). */
struct wire_any_exec {
	wire_u32 pid;
	wire_u32 pad;
	wire_u64 time_ns;
};

/* The reason of a SIGKILL, as the kernel knows it. */
enum wire_kill {
	WIRE_KILL_UNKNOWN,
	WIRE_KILL_MEMORY, /* the kernel chose the process, as memory had run out */
	WIRE_KILL_OTHER,
	WIRE_KILL_MAX,
};

struct wire_exit {
	wire_u8 type;
	wire_u8 kill; /* enum wire_kill */
	wire_u8 pad[2];
	wire_u32 pid;
	wire_u64 time_ns;
	wire_u32 exit_code; /* as wait(2) reports it: status << 8 | signal */
	/*
	 * The most memory that was resident at a time, as ru_maxrss in getrusage(2): of any image
	 * of the process, and of its parent, if it shared its memory (vfork). 0: unknown.
	 */
	wire_u32 peak_kib;
	wire_u64 cpu_ns; /* of all threads, of all images; 0: unknown */
};

/* Indices of the per-CPU counter array. */
enum wire_counter {
	WIRE_COUNT_SPANS = 0,	     /* spans, hits and off-CPU intervals sent */
	WIRE_LOST_RING_FULL,	     /* the same lost: the ring buffer was full */
	WIRE_LOST_STACK_FULL,	     /* starts lost: a thread's stack of queries was full */
	WIRE_LOST_NO_STORAGE,	     /* starts lost: no memory for a thread's stack */
	WIRE_LOST_RECURSION,	     /* starts or ends lost: the kernel refused to nest programs */
	WIRE_LOST_PROCESS_RECORD,    /* fork, exec, exit or thread records lost */
	WIRE_LOST_TARGETS_FULL,	     /* processes not followed: the table of targets was full */
	WIRE_COUNT_NO_LABEL,	     /* starts whose label is unknown */
	WIRE_COUNT_NO_CALLER,	     /* requests whose caller could not be read, or remembered */
	WIRE_DROP_END_WITHOUT_START, /* ends whose start came before the capture: dropped */
	WIRE_COUNT_UNWOUND,	     /* spans with WIRE_SPAN_UNWOUND */
	WIRE_COUNT_LEFT,	     /* spans and off-CPU intervals with WIRE_SPAN_LEFT */
	WIRE_COUNT_OPEN,	     /* spans and off-CPU intervals with WIRE_SPAN_OPEN */
	WIRE_COUNT_NOT_EXECUTED,     /* wrappers that waited for another thread or met a cycle */
	WIRE_DROP_UNKNOWN_PROVIDER, /* bodies whose query could not be read: their end is dropped */
	WIRE_COUNT_STACK_UNKNOWN,   /* a stack segment is unknown; the frame was kept */
	WIRE_COUNT_HITS,	    /* probe hits in followed processes */
	WIRE_COUNT_HITS_OTHER,	    /* probe hits in processes we do not follow */
	WIRE_COUNT_SAMPLES,	    /* samples of stacks that were sent */
	WIRE_LOST_SAMPLES_RING,	    /* the same lost: the ring buffer was full */
	WIRE_LOST_SAMPLES_NESTED,   /* the same lost: the memory for one was in use */
	WIRE_COUNT_TICKS,	    /* ticks of the CPU's clock in followed processes */
	WIRE_COUNT_SAMPLES_NS,	    /* time of the programs that took samples or noted waits */
	WIRE_COUNT_NAMES_NS,	    /* time of the copies of names */
	WIRE_LOST_JOBS,		    /* samples in an execution that was in no table */
	WIRE_LOST_LLVM,		    /* samples in LLVM whose list could not be read, or was wrong */
	/* Counted by the user half: */
	WIRE_LOST_MAPPINGS,	   /* mappings that the kernel did not report */
	WIRE_LOST_COMPILERS,	   /* compilers that are not recorded, or not to their end */
	WIRE_LOST_SAMPLES_CPU,	   /* ticks without an event on a CPU that came on, at most */
	WIRE_LOST_SAMPLE_FILES,	   /* files without unwind tables: a limit, or an error */
	WIRE_LOST_SAMPLE_MAPPINGS, /* mappings that found no room in their process's table */
	WIRE_COUNTER_MAX,
};

/* Set before load, read-only in the kernel. One struct: separate globals may be reordered. */
struct wire_knobs {
	wire_u32 wakeup_bytes; /* wake the reader once this much is waiting in the ring buffer */
	wire_u32 callers;      /* 1: requests are probed, and spans have a caller */
	wire_u32 keys;	       /* 1: the keys of queries are read */
	wire_u32 silent;       /* 1: no spans, no off-CPU intervals: only open stacks are read */
	wire_u32 sampled;      /* 1: stacks are sampled */
	wire_u32 sample_ns;    /* that a WIRE_SAMPLE_CPU stands for */
	wire_u32 fault_bytes;  /* that a WIRE_SAMPLE_FAULT stands for */
	wire_u32 light;	       /* of these: enum wire_light */
	/* WIRE_SAMPLE_OFF_CPU: shorter waits are not sent. 0: none are. */
	wire_u32 wait_ns;
	wire_u32 job_wait_ns; /* the same, of those that have no stack, but a job */
	wire_u32 roles;	      /* 1 << enum wire_role: sites that may be attached */
	wire_u32 invoker;     /* the user who records: of others no absent page is waited for */
	wire_u32 unprobed;    /* 1: none is, so that contexts are dropped unseen */
	wire_u32 again;	      /* 1: fork, exec and exit have a second program each */
};

/*
 * Where the definition is in a key in memory, which six words show: its index, and behind that its
 * crate. In an enum (rustc's InstanceKind) the first word says which they are: it is `first` plus
 * the number of the variant, or anything else if the enum has the tag of that variant in a niche.
 */
#define WIRE_VARIANTS	  32
#define WIRE_MEMORY_WORDS 6
/* In place of the number of a word: */
#define WIRE_CRATE_WORD 253 /* the first word is a crate, and there is no index */
#define WIRE_LOCAL_WORD 254 /* the first word is an index in the crate that is compiled */
#define WIRE_NO_WORD	255
struct wire_memory_key {
	wire_u32 offset; /* of the words, in the key: bytes */
	wire_u32 first;
	wire_u8 words[WIRE_VARIANTS]; /* by variant: the number of the index's word, or none */
	wire_u8 other;		      /* if the first word is of none of these */
	wire_u8 narrow;		      /* 1: only the first byte of the first word says which */
	wire_u8 pad[2];
};

_Static_assert(sizeof(struct wire_span) == 48, "wire_span");
_Static_assert(sizeof(struct wire_hit) == 24, "wire_hit");
_Static_assert(sizeof(struct wire_off_cpu) == 32, "wire_off_cpu");
_Static_assert(sizeof(struct wire_fork) == 24, "wire_fork");
_Static_assert(sizeof(struct wire_exec) == 48 + WIRE_ARGS_MAX, "wire_exec");
_Static_assert(sizeof(struct wire_any_exec) == 16, "wire_any_exec");
_Static_assert(sizeof(struct wire_exit) == 32, "wire_exit");
_Static_assert(sizeof(struct wire_thread) == 40, "wire_thread");
_Static_assert(sizeof(struct wire_knobs) == 56, "wire_knobs");
_Static_assert(sizeof(struct wire_open_frame) == 40, "wire_open_frame");
_Static_assert(sizeof(struct wire_open_stack) == 48, "wire_open_stack");
_Static_assert(sizeof(struct wire_begun) == 24, "wire_begun");
_Static_assert(sizeof(struct wire_memory_key) == 44, "wire_memory_key");
_Static_assert(sizeof(struct wire_piece) == 24 + WIRE_PIECE_MAX, "wire_piece");
_Static_assert(sizeof(struct wire_symbols) == 16 + WIRE_SYMBOLS_MAX, "wire_symbols");
_Static_assert(sizeof(struct wire_layout) == 416, "wire_layout");
_Static_assert(sizeof(struct wire_names_end) == 24, "wire_names_end");

#endif /* QPROF_WIRE_H */
