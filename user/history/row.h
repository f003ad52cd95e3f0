/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rows that a history keeps of one build: five tables. history/columns.h describes them as data;
 * docs/history.md documents them. Stores and formats go by that description, and know no field.
 */
#ifndef QPROF_HISTORY_ROW_H
#define QPROF_HISTORY_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A number that is not known; null in every output. */
#define HISTORY_UNKNOWN UINT64_MAX

/* The greatest number that is known: stores have signed integers. */
#define HISTORY_NUMBER_MAX INT64_MAX

/* The most bytes of a text. */
#define HISTORY_TEXT_MAX 4096

/* 36 characters and a null. */
#define HISTORY_ID_SIZE 37

/* Texts are owned by struct history_rows (history/rows.h); NULL is null. Times are in ns. */
struct history_build {
	const char *build; /* UUID of the trace, in lower case */
	uint64_t start_ns; /* since the epoch */
	const char *host;
	const char *label;  /* the user's */
	const char *commit; /* of the source */
	const char *branch;
	uint64_t dirty;	       /* 1: the source had changes that are in no commit */
	const char *toolchain; /* "rustc 1.95.0 (59807616e 2026-04-14)" */
	const char *command;   /* only if the user wants it to be kept */
	const char *profile;   /* "debug", "release", ... */
	const char *workspace; /* the base name of its directory */
	uint64_t cpus;
	const char *how;   /* "exact" or "sampled" */
	const char *state; /* "whole", "unfinished" or "damaged" */
	uint64_t lost;	   /* records */
	uint64_t cost_ppm; /* of cpu_ns, what recording added in compilers */
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t peak_bytes; /* of the compiler with the most */
	uint64_t executions; /* of queries, but for those of `uncounted` */
	/* Queries whose executions are not known, of some compile: sorted names, with a space
	 * between each two. NULL: there is none, or `executions` is not known either. */
	const char *uncounted;
	uint64_t results; /* of queries; unknown if some compile's are */
	uint64_t compiles;
	uint64_t failed; /* compiles that ended with an error */
	uint64_t reused; /* compiles that reused results of an earlier one */
};

/* A CPU time of the build, or of a compile of it, without what recording added, if that is known.
 */
static inline uint64_t history_build__without_cost(const struct history_build *b, uint64_t cpu_ns)
{
	if (cpu_ns == HISTORY_UNKNOWN || b->cost_ppm > 1000000)
		return cpu_ns;
	return cpu_ns - (uint64_t)((long double)cpu_ns * b->cost_ppm / 1000000);
}

/* Whether a query is one of b->uncounted. */
static inline bool history_build__leaves_out(const struct history_build *b, const char *query)
{
	size_t n = strlen(query);

	for (const char *at = b->uncounted; n && at && (at = strstr(at, query)); at += n)
		if ((at == b->uncounted || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

/* One compile: a rustc, clippy-driver or rustdoc that compiled a crate. */
struct history_compile {
	const char *build;
	uint64_t start_ns;  /* of the build */
	uint64_t number;    /* in the build, from 0 */
	const char *crate;  /* the name of the compile, such as "syn" or "syn (build script)" */
	const char *target; /* "lib", "bin", "proc-macro", ... */
	const char *tool;   /* "rustc", "clippy-driver", "rustdoc" */
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t off_cpu_ns;
	uint64_t front_end_ns;
	uint64_t codegen_ns;
	uint64_t link_ns;
	uint64_t peak_bytes;
	uint64_t executions; /* but for those of the build's `uncounted` */
	uint64_t results;
	uint64_t exit_status; /* 0 to 255; 128 and the number of the signal that ended it */
};

/* One query or activity in one crate: in all compiles of that name. */
struct history_query {
	const char *build;
	uint64_t start_ns; /* of the build */
	const char *crate;
	const char *query;
	const char *kind;  /* "query", or "activity": a pass or a part of one */
	const char *how;   /* "exact" or "sampled": how self_ns is known */
	uint64_t count;	   /* executions */
	uint64_t self_ns;  /* CPU time */
	uint64_t total_ns; /* with the queries that it called */
};

/* One item of a crate: a function, type or module, with all queries about it. */
struct history_item {
	const char *build;
	uint64_t start_ns; /* of the build */
	const char *crate;
	const char *item; /* its path */
	const char *how;
	uint64_t count;	  /* executions of queries about it; sampled: of those that are listed */
	uint64_t self_ns; /* CPU time */
};

/* LLVM's time in the compiles of a crate: for a function, with all its instances, or in a pass. */
struct history_llvm {
	const char *build;
	uint64_t start_ns; /* of the build */
	const char *crate;
	const char *name; /* path of the function's definition, or name of the pass */
	const char *kind; /* "function" or "pass" */
	const char *how;  /* "sampled" */
	uint64_t self_ns; /* CPU time */
};

/* The most expensive items of a crate that are kept, and functions in LLVM. */
#define HISTORY_ITEMS	  100
#define HISTORY_FUNCTIONS 100

enum history_table_id {
	HISTORY_BUILD,
	HISTORY_COMPILE,
	HISTORY_QUERY,
	HISTORY_ITEM,
	HISTORY_LLVM,
	HISTORY_TABLES,
};

#endif /* QPROF_HISTORY_ROW_H */
