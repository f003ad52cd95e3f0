/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/*
 * Samples: the stack of a thread at a moment, unwound by the kernel half.
 *
 * A file whose code a process has mapped has a number from 1 on, which may be another file's once
 * no process has the file mapped and no sample with it is left to be read. The user half gives the
 * kernel half the unwind tables of the files, and of each process which files it has mapped where.
 */
#ifndef QPROF_WIRE_SAMPLES_H
#define QPROF_WIRE_SAMPLES_H

#include "qprof/wire_types.h"

/* Why a stack was sampled; also on disk. */
enum wire_sample_cause {
	WIRE_SAMPLE_CPU = 1, /* a period of CPU time has passed; value: ns */
	WIRE_SAMPLE_OFF_CPU, /* the thread was off the CPU and is back; value: ns */
	WIRE_SAMPLE_FAULT,   /* page faults; value: bytes */
	WIRE_SAMPLE_CAUSES,
};

/* Why a stack ends where it does; also on disk. */
enum wire_sample_cut {
	WIRE_CUT_NOT = 0,  /* at the start of the thread */
	WIRE_CUT_NO_MAP,   /* a pc in no file that is known */
	WIRE_CUT_NO_RULE,  /* no rule for a pc, or one that this unwinder does not have */
	WIRE_CUT_NO_PAGE,  /* a part of the stack is not resident */
	WIRE_CUT_TOO_DEEP, /* WIRE_SAMPLE_FRAMES are not all */
	WIRE_CUT_MAX,
};

#define WIRE_SAMPLE_FRAMES 512

/* How much of the stack is walked at a page fault. */
enum wire_light {
	WIRE_LIGHT_NOT,	 /* all of it */
	WIRE_LIGHT_HERE, /* the innermost frame: probes see every query */
	WIRE_LIGHT_NEAR, /* WIRE_LIGHT_FRAMES, to find the innermost query that has no probe */
	WIRE_LIGHT_MAX,
};

#define WIRE_LIGHT_FRAMES 32

/* A place in code: the number of its file, and its ELF virtual address there. */
static inline wire_u64 wire_place(wire_u32 file, wire_u64 addr)
{
	return (wire_u64)file << 48 | (addr & 0xffffffffffffull);
}

#define WIRE_NO_FILE 0u /* of a pc in no known file; the address is that in the process */

#define WIRE_INNER_UNKNOWN 0xffffffffu

/*
 * The innermost frame comes first: its place is the thread's pc. All other places are return
 * addresses. The sender leaves out the unused end of `frames`.
 */
struct wire_sample {
	wire_u8 type; /* WIRE_SAMPLE */
	wire_u8 cause;
	wire_u8 cut;
	/* The interval on top of the kernel half's own stack: as in struct wire_open_frame. */
	wire_u8 lib;
	wire_u16 query; /* WIRE_NO_QUERY: there is none, or a hit was changing the stack */
	wire_u16 depth; /* intervals on that stack */
	wire_u8 kind;
	wire_u8 busy;  /* 1: a hit was changing the stack, so nothing is known of it */
	wire_u8 light; /* enum wire_light: fewer frames than the stack has were asked for */
	wire_u8 llvm;  /* enum wire_llvm_scope */
	wire_u32 label;
	wire_u32 pid;
	wire_u32 tid;
	wire_u64 time_ns; /* WIRE_SAMPLE_OFF_CPU: when it left the CPU */
	wire_u64 value;
	wire_u64 job; /* number of the query that the thread executes; 0: none, or not known */
	wire_u64 llvm_pass;	/* wire_place() of its vtable; 0: none, or not known */
	wire_u64 llvm_function; /* number of its name; 0: none */
	wire_u16 n;		/* frames */
	wire_u8 job_lib;	/* the library whose job it is, or 0 */
	wire_u8 pad;
	/* That run within the frame that the interval began in; WIRE_INNER_UNKNOWN. */
	wire_u32 inner;
	wire_u64 frames[WIRE_SAMPLE_FRAMES];
};

_Static_assert(__builtin_offsetof(struct wire_sample, frames) == 72, "wire_sample");

/*
 * A query that runs in a process, by the number that the compiler gives it. It comes before the
 * first sample of the CPU that was taken in it, as do the jobs around, as far as they could be read
 * and sent.
 */
struct wire_job {
	wire_u8 type; /* WIRE_JOB */
	wire_u8 lib;
	wire_u16 query;
	wire_u32 pid;
	wire_u64 job;
	wire_u64 parent; /* the job around; 0: none */
	wire_u64 key;	 /* wire_key(); 0: none, or not known */
};

_Static_assert(sizeof(struct wire_job) == 32, "wire_job");

/*
 * Where a query keeps its active jobs: of an entry, offsets in bytes. The query's name is where
 * struct wire_query_table says, or the table is another query's.
 */
struct wire_job_table {
	wire_u64 text;
	wire_u32 length;
	wire_u32 name;
	wire_u32 at; /* of the table, within the GlobalCtxt; 0: not known */
	wire_u8 size;
	wire_u8 key_at;
	wire_u8 job;
	wire_u8 parent;
	wire_u8 key; /* enum wire_key */
	wire_u8 pad[3];
};

#define WIRE_JOB_TABLES 1024 /* a power of two */
#define WIRE_JOB_SHARDS 32
/* All shards of a table are read at once. */
#define WIRE_JOB_SHARDS_BYTES 2048
#define WIRE_TABLE_WORDS      5 /* words of a table's struct that are read */

/*
 * All of a library. A table is a hash table as hashbrown has it: words of a struct are the address
 * of control bytes, and the number of buckets less 1; an entry ends `size` bytes for each bucket
 * before it below the control bytes. Or, if the byte `mode` says so, the first word is the address
 * of so many such structs, at a distance of `shard` bytes.
 */
struct wire_job_tables {
	wire_u32 current; /* within a thread's ImplicitCtxt: the job that the thread executes */
	wire_u8 mode_at;  /* of the byte, within the struct */
	wire_u8 sharded;  /* its value for shards */
	wire_u8 ctrl;	  /* words within the struct */
	wire_u8 mask;
	wire_u8 n_entries; /* likewise: how many there are */
	wire_u8 pad[3];
	wire_u32 n_shards;
	wire_u32 shard;
	wire_u32 n;
	struct wire_job_table items[WIRE_JOB_TABLES];
};

/*
 * The executable mappings of a process that are of known files: addresses, and what is subtracted
 * from one to have the ELF virtual address in the file. Sorted, without overlaps.
 */
struct wire_mapping {
	wire_u64 start;
	wire_u64 end; /* exclusive */
	wire_u64 bias;
	wire_u32 file;
	wire_u32 pad;
};

#define WIRE_MAPPINGS_MAX 256 /* a power of two */

/* The start of an unused entry; its end is 0. Above it there is no user memory. */
#define WIRE_MAPPING_NONE 0x7fffffffffffffffull

/*
 * All of a process; the unused entries come last. The kernel may overwrite an entry of a table
 * while it is read: the reader compares `pid` and `serial`, which no other content has, before and
 * after.
 */
struct wire_mappings {
	wire_u32 pid;
	wire_u32 seen; /* the kernel half's: it knows the program by now */
	wire_u64 serial;
	struct wire_mapping items[WIRE_MAPPINGS_MAX];
};

_Static_assert(sizeof(struct wire_mapping) == 32, "wire_mapping");
_Static_assert(sizeof(struct wire_mappings) == 16 + 32 * WIRE_MAPPINGS_MAX, "wire_mappings");

/*
 * A file as the kernel half finds it: the inode behind a mapping, which is below all overlays. Each
 * change of content or rights changes the ctime, which nobody sets. All zeroes: the vdso.
 */
struct wire_file_key {
	wire_u64 ino;
	wire_u64 size;
	wire_u64 ctime_s;
	wire_u32 ctime_ns;
	wire_u32 dev;
};

/* A segment of code. */
struct wire_segment {
	wire_u64 offset; /* in the file */
	wire_u64 size;
	wire_u64 addr; /* ELF virtual address of `offset` */
};

#define WIRE_SEGMENTS_MAX 8

/* A file whose number and segments are known. */
struct wire_known_file {
	wire_u32 file;
	wire_u32 n;
	struct wire_segment segments[WIRE_SEGMENTS_MAX];
};

#endif /* QPROF_WIRE_SAMPLES_H */
