/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fake query contexts of the test program: what is in them, and where. target_names.c makes
 * them, test_bpf_names.c compares what the kernel half copied.
 */
#ifndef QPROF_TESTS_BPF_NAMES_OF_TARGET_H
#define QPROF_TESTS_BPF_NAMES_OF_TARGET_H

#include <stdint.h>

#include "qprof/wire.h"

#define NAMES_SYMBOLS 3000

/* The layout. The length and the address of a text are not adjacent. */
enum {
	NAMES_CONTEXT = 0x40,
	NAMES_TABLE = 0x108,
	NAMES_COUNT = 0x120,
	NAMES_TAG = 0,
	NAMES_SYMBOL = 4,
	NAMES_SYMBOL_TABLE = 0x48,
	NAMES_N_SYMBOLS = 0x58,
	NAMES_ENTRY = 24,
	NAMES_TEXT = 16,
	NAMES_LENGTH = 0,
};

/* Other crates: a store of addresses of metadata, and caches of definitions. */
enum {
	NAMES_OWN_ID = 0x138,
	NAMES_STORE = 0x150,
	NAMES_CRATES = 0x20,
	NAMES_N_CRATES = 0x30,
	NAMES_CRATE_NAME = 0x88,
	NAMES_STABLE_ID = 0x210,
	NAMES_KEYS = 0x340,
	NAMES_KEYS_MASK = 0x358,
	NAMES_KEY_SIZE = 20,
	NAMES_KEY_INDEX = 0,
	NAMES_KEY = 4,
};
#define NAMES_OWN 0x1122334455667788ull

/* Crate `i` of the target: 0 is its own, and every fifth has no metadata. */
static inline int names_has_crate(uint32_t i)
{
	return i && i % 5;
}

static inline uint64_t names_stable_id(uint32_t crate)
{
	return 0x9e3779b97f4a7c15ull * crate;
}

/* Entries of a crate's cache: none, one, and so on up to some pieces. A power of two. */
static inline uint32_t names_entries(uint32_t crate)
{
	return 1u << crate % 11;
}

static inline int names_entry_is_used(uint32_t crate, uint32_t entry)
{
	return (entry * 7 + crate) % 3 != 0;
}

/* Spans and source files. */
enum {
	NAMES_SPANS = 0x160, /* in the context, as the number of them */
	NAMES_N_SPANS = 0x300,
	NAMES_SOURCE_MAP = 0x68, /* in the globals, as the next two */
	NAMES_INTERNED = 0x78,
	NAMES_N_INTERNED = 0x80,
	NAMES_FILES = 0x20,
	NAMES_N_FILES = 0x28,
	NAMES_FILE_START = 0x14,
	NAMES_FILE_LENGTH = 0x18,
	NAMES_FILE_CAPACITY = 0x20,
	NAMES_FILE_NAME = 0x28,
	NAMES_FILE_NAME_LENGTH = 0x30,
	NAMES_FILE_STATE = 0x38,
	NAMES_FILE_LINES = 0x40,
	NAMES_FILE_N_LINES = 0x48,
	NAMES_FILE_SIZE = 0x50,
	NAMES_INTERNED_SIZE = 24,
	NAMES_POSITION = 4,
	NAMES_SPAN_CONTEXT = 12,
};
/* Contexts and expansions; in the globals, but for what is within one of them. */
enum {
	NAMES_CONTEXTS = 0x120,
	NAMES_N_CONTEXTS = 0x128,
	NAMES_EXPANSIONS = 0x130,
	NAMES_N_EXPANSIONS = 0x138,
	NAMES_CONTEXT_SIZE = 28,
	NAMES_CONTEXT_CRATE = 0,
	NAMES_CONTEXT_NUMBER = 4,
	NAMES_EXPANSION_SIZE = 40,
	NAMES_CALL = 24,
	NAMES_KIND = 17,
	NAMES_MACRO = 2, /* of the kind */
};
#define NAMES_CALLS 1000

/* Where expansion `i` was called; context `i` is of it. */
static inline uint64_t names_call(uint32_t i)
{
	return i % 7 == 3 ? 0xffffull << 32 | i : 3ull << 32 | 10 * i;
}

/*
 * Results of queries: the vtable of query `i` is names_results(i) bytes into the context. What it
 * counts, and what is wrong with it, depends on `i`.
 */
enum {
	NAMES_ACTIVE = 0,
	NAMES_CACHE = 0x28,
	NAMES_OTHERS = 0x40, /* 0x28 bytes, as any table */
	NAMES_QUERY_NAME = 0x70,
	NAMES_VEC_COUNT = 8,
	NAMES_ITEMS = 0x18,
	NAMES_MODE = 0x21,
	NAMES_SHARDED = 2,
	NAMES_SHARDS = 32,
	NAMES_SHARD_SIZE = 64,
	NAMES_QUERY_LENGTH = 9,
	NAMES_VEC_KEYS = 0x10, /* addresses of buckets, up to the name */
	NAMES_VEC_FIRST = WIRE_KEYS_MAX,
	NAMES_VEC_MARK = 2,
	NAMES_VEC_RESULTS = 5000,
};
enum names_results {
	RESULTS_VEC,
	RESULTS_DEF,
	RESULTS_SHARDS,
	RESULTS_ONCE,
	RESULTS_NONE,	   /* a SingleCache without a result */
	RESULTS_MANY,	   /* 2^60 of them */
	RESULTS_NOWHERE,   /* shards at no address */
	RESULTS_MANY_EACH, /* shards of 2^60 */
	RESULTS_OTHER_NAME,
	RESULTS_KEYS,	      /* in four buckets */
	RESULTS_KEYS_NOWHERE, /* the same, of which the third is at no address */
	RESULTS_HASH,	      /* keys in a hash table */
	RESULTS_HASH_SHARDS,  /* keys in memory, some of other crates, in shards */
	RESULTS_HASH_NOWHERE,
	RESULTS_HASH_MANY,	/* 2^60 buckets */
	RESULTS_HASH_SPARSE,	/* 2^16 buckets, of which only the first ones are there */
	RESULTS_HASH_ENDLESS,	/* the same table again and again: all shards are one */
	RESULTS_INSTANCES,	/* with symbols, some of which lie */
	RESULTS_INSTANCES_MANY, /* very many, of which each has a large symbol */
	NAMES_RESULTS,
};

/* Of a query that is fed: the address of its vtable. */
#define NAMES_FED_VTABLE 0x7f1234567000ull

/* The keys of RESULTS_KEYS. */
static inline uint32_t names_key(uint32_t i)
{
	return 3 * i;
}

/* Hash tables: control bytes, and behind them, upwards from one bucket to the next, entries. */
enum {
	NAMES_HASH_CTRL = 0,
	NAMES_HASH_MASK = 8,
	NAMES_HASH_ENTRY = 20,
	NAMES_HASH_KEY = 4,
	NAMES_HASH_MEMORY = 4, /* of the definition in a key in memory */
	NAMES_HASH_BUCKETS = 2048,
	NAMES_HASH_SHARD_BUCKETS = 64,
	NAMES_HASH_LARGE = 1 << 20,
};

/* Of instances: a key as of the others, and a symbol. All buckets are full. */
enum {
	NAMES_INSTANCE = 40,
	NAMES_INSTANCE_TEXT = 24,
	NAMES_INSTANCES = 256,
	NAMES_INSTANCES_MANY = 1 << 16,
	NAMES_INSTANCE_ROOM = WIRE_SYMBOL_HASHED + 512, /* for a symbol */
};

/* The lies of symbols: those of the other instances are as they are said to be. */
enum names_symbol_lie {
	SYMBOL_EMPTY,
	SYMBOL_ENDLESS,
	SYMBOL_NOWHERE,
	SYMBOL_KERNEL,
	SYMBOL_UNPRINTABLE,
	SYMBOL_LIES,
};

/* Of instance `i`: SYMBOL_LIES or more if it does not lie. */
static inline uint32_t names_symbol_lie(uint32_t i)
{
	return i % 16;
}

/* Its text, which ends in NUL; the length. Some are whole blocks, some longer than is hashed. */
static inline uint32_t names_instance_symbol(uint32_t i, char text[NAMES_INSTANCE_ROOM])
{
	uint32_t n = i % 32 == 6    ? WIRE_SYMBOL_HASHED + i
		     : i % 32 == 22 ? WIRE_SYMBOL_HASHED
		     : i % 32 == 7  ? 1
				    : 16 + i;

	for (uint32_t k = 0; k < n; k++)
		text[k] = (char)('A' + (i + k * k) % 50);
	text[n] = '\0';
	return n;
}

static inline int names_bucket_is_full(uint32_t i)
{
	return i % 3 != 1;
}

static inline int names_bucket_is_of_others(uint32_t i)
{
	return i % 5 == 2;
}

static inline uint32_t names_results(uint32_t i)
{
	return 0x800 + 0x80 * i;
}

#define NAMES_READY	   0xfffffffffffffff0ull
#define NAMES_SOURCES	   20
#define NAMES_SOURCE_LINES 400

static inline uint64_t names_span(uint32_t i)
{
	return i % 7 == 3 ? 5ull << 48 | 0xffffull << 32 | i
			  : (uint64_t)(i % 100) << 48 | 3ull << 32 | 10 * i;
}

static inline int names_source_is_ready(uint32_t file)
{
	return file % 4 != 1;
}

enum names_tag { TAG_FIXED, TAG_NAMED, TAG_UNKNOWN, TAG_BEYOND = WIRE_TAGS + 8 };
#define NAMES_FIXED_SYMBOL   5
#define NAMES_UNNAMED_SYMBOL 2999 /* of those with TAG_NAMED whose own is 0 */

enum names_lie {
	LIE_COUNT,	  /* 2^63 definitions; one page of them can be read */
	LIE_TABLE,	  /* the table is nowhere */
	LIE_TABLE_KERNEL, /* the table is in the kernel */
	LIE_SYMBOLS,	  /* the table of symbols is nowhere */
	LIE_NUMBERS,	  /* all symbol numbers are beyond the table */
	LIE_NUMBERS_MANY, /* the same; the table claims 2^63 symbols */
	LIE_LENGTH,	  /* each text has 1 GiB; that of symbol 7 can be read */
	LIE_EDGE,	  /* each text begins 4 bytes before the end of a mapping */
	LIE_GLOBALS,	  /* the pointer to the globals is NULL */
	LIE_BASE,	  /* the thread-local base is 0 */
	LIE_CONTEXT,	  /* the context is at NULL */
	LIE_MANY_TEXTS,	  /* 2^20 definitions, each with a text of 1 KiB */
	LIE_BLOCKS,	  /* the table lies in a page that a handler is to fill, and never does */
	LIE_UNTOUCHED,	  /* no lie: the table lies in memory that was never touched */
	LIE_STORE,	  /* the store of crates is nowhere */
	LIE_CRATES,	  /* 2^63 crates; one page of their table can be read */
	LIE_CRATES_MANY,  /* 16,384 crates, all with one large cache */
	LIE_METADATA,	  /* the metadata of all crates is nowhere */
	LIE_MASK,	  /* each cache has 2^63 entries */
	LIE_KEYS,	  /* each cache is nowhere */
	LIE_SPANS,	  /* 2^63 spans */
	LIE_BUCKETS,	  /* all buckets are nowhere */
	LIE_INTERNED,	  /* 2^63 interned spans, which are nowhere */
	LIE_SOURCE_MAP,	  /* the source map is nowhere */
	LIE_FILES,	  /* 2^63 source files; one page of their list can be read */
	LIE_FILE,	  /* each is nowhere */
	LIE_FILE_NAMES,	  /* each name has 2^63 bytes */
	LIE_FILE_TEXTS,	  /* each name is nowhere */
	LIE_LINES,	  /* each file has 2^63 lines */
	LIE_FILES_MANY,	  /* 65,536 files, all the same one with many lines */
	LIE_CONTEXTS,	  /* 2^63 contexts; some pages of them can be read */
	LIE_EXPANSIONS,	  /* 2^63 expansions, which are nowhere */
};

/*
 * How a process lies that dies with a query context. Each count is of NAMES_RESULTS queries, in a
 * page that other processes may share.
 */
enum names_death {
	DEATH_HONEST,
	DEATH_NAMES,	    /* the names of all queries are elsewhere */
	DEATH_NOWHERE,	    /* the context is unmapped */
	DEATH_KERNEL,	    /* the context is in the kernel */
	DEATH_NOT_RESIDENT, /* its page is not in the process, but could be */
	DEATH_PROTECTED,    /* its page may not be read */
	DEATH_COUNTS,	    /* 2^60 results of each query */
	DEATH_CIRCLES,	   /* buckets are the list of buckets, shards of a table the table itself */
	DEATH_KEYS_MANY,   /* as many keys of each query as are read of all, all readable */
	DEATH_KEYS_ABSENT, /* buckets that are not resident */
	DEATH_SHARDS,	   /* each of three tables of each query has WIRE_SHARDS_MAX shards */
	DEATH_MOVING,	   /* another process changes all of it */
	DEATH_DEFINITIONS, /* 10 million definitions, and as many results with keys */
	DEATH_HASHES,	   /* hash tables of 2^60 buckets, nowhere, and one in all shards */
	NAMES_DEATHS,
};
#define NAMES_MOVED	     1000 /* the other number of results of DEATH_MOVING is larger by that */
#define NAMES_CIRCLE	     100  /* results of each query of DEATH_CIRCLES */
#define NAMES_10_MILLION     10000000u
#define NAMES_THREAD_CONTEXT 0x10 /* in what the thread has */

/* The target's exit status if its memory has changed, and if it cannot make such a context. */
#define NAMES_CHANGED	 98
#define NAMES_IMPOSSIBLE 97

void names_drop_table(uint32_t n, uint32_t row_size);
void names_drop_crates(uint32_t n);
void names_feed_results(uint32_t n);
void names_drop_places(uint32_t n);
void names_lie(enum names_lie lie);
/* Lets the thread have such a context, until it dies or drops it. */
void names_have(enum names_death how);
void names_drop_had(void);
void names_finish_had(void);

static inline uint32_t names_tag(uint32_t row)
{
	static const uint32_t tags[] = {TAG_NAMED, TAG_NAMED,  TAG_FIXED, TAG_UNKNOWN,
					TAG_NAMED, TAG_BEYOND, TAG_NAMED};

	return tags[row % 7];
}

static inline uint32_t names_symbol(uint32_t row)
{
	return row % NAMES_SYMBOLS;
}

static inline void names_fill_row(uint8_t *at, uint32_t size, uint32_t row)
{
	uint32_t head[2] = {names_tag(row), names_symbol(row)};

	for (uint32_t i = 0; i < size; i++)
		at[i] = i < 8 ? ((const uint8_t *)head)[i] : (uint8_t)(row + i);
}

static inline uint32_t names_length(uint32_t symbol)
{
	switch (symbol) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 4:
		return WIRE_SYMBOL_MAX;
	case 6:
		return 2000;
	default:
		return 1 + symbol % 40;
	}
}

static inline uint8_t names_letter(uint32_t symbol, uint32_t i)
{
	return (uint8_t)('!' + (symbol + i) % 90);
}

#endif /* QPROF_TESTS_BPF_NAMES_OF_TARGET_H */
