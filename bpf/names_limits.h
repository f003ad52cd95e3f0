/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits of a copy of names (names.h): at most 1,048,576 definitions, 16,384 pieces of a table, 3
 * reads per definition, 4,097 failures, and 96 MiB of records; of other crates (names_crates.h) at
 * most 16,384, 4 reads for each, and 1,048,576 entries of caches, 3 reads for each; of results
 * (tables.h) 4,194,304 keys, 128 MiB of hash tables, and 64 MiB of symbols.
 */
#ifndef QPROF_NAMES_LIMITS_H
#define QPROF_NAMES_LIMITS_H

/* Beyond this many definitions the rest has no names; it is counted. */
#define NAMES_DEFINITIONS_MAX (1u << 20)
/* The same for a copy that may not sleep, and so keeps its CPU. */
#define NAMES_DYING_MAX	      (1u << 17)
#define NAMES_DYING_TEXTS_MAX (8u << 20)
/*
 * And how long it may take, looked at before each record, crate and file; a compiler can fill all
 * the other limits.
 */
#define NAMES_DYING_NS 20000000ull
/* Crates that a compiler knows, and entries of all their caches. */
#define NAMES_CRATES_MAX  (1u << 14)
#define NAMES_ENTRIES_MAX (1u << 20)
/* Keys of the results of all queries. */
#define NAMES_KEYS_MAX (1u << 22)
/* Bytes of the entries of all hash tables whose keys are read. */
#define NAMES_HASH_MAX	     (128u << 20)
#define NAMES_DYING_HASH_MAX (16u << 20)
/* Bytes of the symbols of instances. */
#define NAMES_SYMBOLS_MAX (64u << 20)
/* Of one table: a piece holds 4 KiB. */
#define NAMES_PIECES_MAX (1u << 14)
/* Beyond this many bytes of texts the rest is not sent. */
#define NAMES_TEXTS_MAX (32u << 20)
/* Of the compiler's list of source files; of the bytes of their lines. */
#define NAMES_FILES_MAX (1u << 16)
#define NAMES_LINES_MAX (16u << 20)
/* Contexts of spans, and expansions. */
#define NAMES_EXPANSIONS_MAX (1u << 17)
/* After this many failures a copy is given up: the memory is not what the layout says. */
#define NAMES_MISSING_MAX 4096

#endif /* QPROF_NAMES_LIMITS_H */
