/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/*
 * The part of wire.h for a compiler's query context, and its own tables of queries: a cache of the
 * results of each query, whose size is the number of results, and a table of its active jobs. All
 * are in the GlobalCtxt.
 */
#ifndef QPROF_WIRE_TABLES_H
#define QPROF_WIRE_TABLES_H

#include "qprof/wire_types.h"

/* The state of a context whose process dies. */
enum wire_context_claim {
	WIRE_CONTEXT_COPIED_NOW = 1, /* a thread copies its names */
	WIRE_CONTEXT_EXITED,	     /* the same; the process has ended meanwhile */
	WIRE_CONTEXT_COPIED,
};

/* The query context of a running compiler, as the kernel half keeps it by pid. */
struct wire_context {
	wire_u64 context; /* address of the GlobalCtxt */
	wire_u64 globals; /* address of the globals */
	wire_u64 bias;	  /* from ELF addresses of the library to those of the process */
	wire_u64 serial;  /* no other entry has it: if it is the same after a read, all was there */
	wire_u32 lib;
	wire_u32 claimed;    /* enum wire_context_claim, or 0 */
	wire_u64 counted_ns; /* when its results were last read at a tick, or 0 */
};

enum wire_cache {
	WIRE_CACHE_UNKNOWN = 0,
	WIRE_CACHE_VEC,	 /* VecCache: by the number of a local definition, or of a crate */
	WIRE_CACHE_DEF,	 /* DefIdCache: such a one, and a hash table for other crates */
	WIRE_CACHE_HASH, /* DefaultCache: a hash table */
	WIRE_CACHE_ONCE, /* SingleCache: one result, or none */
	WIRE_CACHE_MAX,
};

/* Of one query. Offsets are bytes within the GlobalCtxt. */
struct wire_query_table {
	wire_u64 text;	 /* ELF address of the query's name: the vtable has its address */
	wire_u32 length; /* of the name; the vtable has it behind the address */
	wire_u32 name;	 /* of these two words */
	wire_u32 active; /* of the hash table of active jobs */
	wire_u32 cache;	 /* WIRE_CACHE_ONCE: of its state */
	wire_u32 others; /* WIRE_CACHE_DEF: of the hash table */
	/* WIRE_CACHE_HASH: bytes from one entry to the next, and of its key in it. 0: not known. */
	wire_u32 entry_size;
	wire_u32 key_at;
	wire_u8 kind; /* enum wire_cache */
	wire_u8 fed;  /* 1: queries may feed it results that it has not computed */
	wire_u8 keys; /* 1: those of the first part of its cache, or of its entries, are copied */
	wire_u8 key;  /* enum wire_key, of an entry's */
	/*
	 * 1: its key is exactly an Instance, so instead of a key of WIRE_TABLE_RESULTS a struct
	 * wire_instance is sent of each entry.
	 */
	wire_u8 instances;
	/* 1: its value is a text, whose address and length are `text_at` bytes within an entry. */
	wire_u8 has_text;
	wire_u8 pad[2];
	wire_u32 text_at;
};

/* An entry of the cache of such a query. */
struct wire_instance {
	wire_u64 key;	 /* wire_key() of the definition; 0: there is none */
	wire_u64 symbol; /* wire_symbol_hash() of its symbol, or 0: not known, or not asked for */
};

/*
 * Symbols are sent and compared by this, as there are many and they are long. It is made of the
 * length and of blocks of the text, the last of which is filled up with zeroes. Of a text that is
 * longer only the first WIRE_SYMBOL_HASHED bytes count.
 */
#define WIRE_SYMBOL_HASHED 4096
#define WIRE_SYMBOL_BLOCK  16
/* A longer one is none. */
#define WIRE_SYMBOL_LENGTH_MAX (1u << 20)

static inline wire_u64 wire_symbol_add(wire_u64 hash, wire_u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static inline wire_u64 wire_symbol_add_block(wire_u64 hash,
					     const wire_u64 words[WIRE_SYMBOL_BLOCK / 8])
{
	return wire_symbol_add(wire_symbol_add(hash, words[0]), words[1]);
}

/* Of all queries of a library. */
struct wire_tables {
	/*
	 * ELF address of alloc_self_profile_query_strings, which a compile that succeeds calls
	 * once, with the GlobalCtxt in rdi, when it has executed all its queries; 0: it has none.
	 */
	wire_u64 finished;
	wire_u32 n;	    /* queries of the plan; 0: nothing is known */
	wire_u32 vec_count; /* within a VecCache: u64, how many results it has */
	/* Within a hash table: */
	wire_u32 items;	  /* u64, how many entries it has */
	wire_u32 mode;	  /* u8 */
	wire_u32 sharded; /* the mode of one that is the address of several others */
	wire_u32 shards;  /* that address; 0 bytes into each of them there is a hash table */
	wire_u32 n_shards;
	wire_u32 shard_size;
	wire_u32 ctrl; /* u64, the address of its control bytes, below which its entries are */
	wire_u32 mask; /* u64, how many control bytes it has, less 1 */
	wire_u32 once; /* the state of a SingleCache that has a result */
	/*
	 * Within a VecCache: the addresses of buckets with the keys of its results, u32 each, plus
	 * `mark`. The first bucket has `first` keys, a multiple of WIRE_KEYS_MAX; each other one
	 * as many as all before it. 0: not known.
	 */
	wire_u32 buckets;
	wire_u32 first;
	wire_u32 mark;
};

/* In one record: struct wire_piece, WIRE_TABLE_RESULTS. */
#define WIRE_KEYS_MAX 1024
/* In place of a key, plus `mark`: it is of another crate, or of no definition. */
#define WIRE_KEY_OF_OTHERS 0xffffffffu
/* Of a hash table. */
#define WIRE_ENTRY_MAX 512

/* What the limits of a plan are, and of a reading. */
#define WIRE_TABLES_MAX	    2048
#define WIRE_SHARDS_MAX	    256
#define WIRE_SHARD_SIZE_MAX 256
#define WIRE_VEC_BUCKETS    24
#define WIRE_VEC_FIRST_MAX  (1u << 20)

/* When results were counted. */
enum wire_counts_moment {
	WIRE_COUNTS_FINISHED = 1, /* all queries were executed: struct wire_tables' `finished` */
	WIRE_COUNTS_DROPPED,	  /* the query context is dropped */
	WIRE_COUNTS_DYING,	  /* the compiler dies */
	WIRE_COUNTS_RUNNING,	  /* it runs, or is not known to have made no more */
};

#define WIRE_NO_COUNT	 0xffffffffu
#define WIRE_RESULTS_MAX 0x7fffffffu /* a greater number is no count */

struct wire_count {
	wire_u32 results; /* WIRE_NO_COUNT: not known */
	wire_u32 others; /* WIRE_CACHE_DEF: of other crates' definitions, which are no part of it */
	/*
	 * Executions without a result: they run, or have ended by unwinding, which leaves their
	 * entries in the table of active jobs.
	 */
	wire_u32 active;
};

/*
 * The results of some queries of a compiler. Records of one moment come in order; the sender leaves
 * out the unused end of `items`.
 */
#define WIRE_COUNTS_MAX 128
struct wire_counts {
	wire_u8 type;
	wire_u8 lib;
	wire_u8 moment;	  /* enum wire_counts_moment */
	wire_u8 no_loads; /* 1: none of its results was loaded from the disk; 0: not known */
	wire_u32 pid;
	wire_u32 first; /* query */
	wire_u32 n;	/* queries */
	wire_u32 of;	/* queries in all records of this moment */
	wire_u32 pad2;
	wire_u64 time_ns;
	wire_u64 lost_ns; /* when a load or a struct wire_fed was last lost, of any process; or 0 */
	wire_u64 context; /* address of the GlobalCtxt */
	struct wire_count items[WIRE_COUNTS_MAX];
};

/* A query was fed one result of the crate that is compiled: its VecCache has it. */
struct wire_fed {
	wire_u8 type;
	wire_u8 lib;
	wire_u8 pad[2];
	wire_u32 pid;
	wire_u64 cache; /* address; or the query's number, which is none */
	wire_u32 at;	/* which of its results it is, from 0; or WIRE_NO_COUNT: unknown */
	wire_u32 pad2;
};

_Static_assert(sizeof(struct wire_fed) == 24, "wire_fed");
_Static_assert(sizeof(struct wire_context) == 48, "wire_context");
_Static_assert(sizeof(struct wire_counts) == 48 + 12 * WIRE_COUNTS_MAX, "wire_counts");
_Static_assert(sizeof(struct wire_query_table) == 48, "wire_query_table");
_Static_assert(sizeof(struct wire_instance) == 16, "wire_instance");
_Static_assert(WIRE_SYMBOL_HASHED % WIRE_SYMBOL_BLOCK == 0, "blocks of symbols");
_Static_assert(sizeof(struct wire_tables) == 64, "wire_tables");

#endif /* QPROF_WIRE_TABLES_H */
