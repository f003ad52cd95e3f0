/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A library that was set: its identity, and the labels of its queries and guards. */
#ifndef QPROF_DECODE_LIBRARY_H
#define QPROF_DECODE_LIBRARY_H

#include <stdint.h>

#include "plan/frames.h"
#include "trace/trace.h"
#include "decode/caller_index.h"

/* Which results of a query that are executions are about items. */
enum library_items {
	LIBRARY_NO_ITEMS,
	LIBRARY_ITEMS,	    /* those of the crate's own definitions, and their keys are read */
	LIBRARY_ITEMS_MANY, /* likewise, and several may be about one definition */
	/* Likewise, each about an instance; those of other crates' definitions are read too. */
	LIBRARY_ITEMS_INSTANCES,
	LIBRARY_ITEM_CRATE,   /* that of the crate itself, likewise; others are of other crates */
	LIBRARY_ITEMS_UNREAD, /* some, and their keys are not */
};

/* All zeroes was not set. */
struct library {
	uint32_t *labels; /* string ids of its queries' names */
	uint32_t n_labels;
	uint32_t *guards; /* string ids of their labels */
	uint32_t n_guards;
	char *build_id;
	char *rustc_version;
	const struct decoder_functions *functions; /* the caller's, or NULL */
	struct plan_frames *frames;		   /* what stacks show, or NULL */
	uint8_t *keys;				   /* enum wire_key of its queries, or NULL */
	uint8_t *fed;	    /* enum plan_fed of its queries; NULL: their results are not counted */
	uint8_t *items;	    /* enum library_items of its queries; NULL unless `fed` is set */
	uint32_t key_mark;  /* wire_tables' `mark` */
	uint32_t *caches;   /* of its queries, within the GlobalCtxt; NULL unless `fed` is set */
	bool no_loads;	    /* some loads are not recorded */
	bool *never_loaded; /* by query: it has none; NULL: not known */
	bool no_keys;	    /* keys of results are not copied */
	bool no_feeds;	    /* nor is what queries are fed */
	bool *argued;	    /* by guard: its argument can be read; NULL unless `keys` is set */
	struct plan_layout layout; /* if `keys` is not NULL; without `problem` */
	uint32_t serial;	   /* unique, while a library's number is reused */
};

/* Functions below that return an int: 0, or -ENOMEM, which changes nothing. */

/* As decoder__set_library(). */
int library__set(struct library *lib, const uint32_t *labels, uint32_t n_labels,
		 const char *build_id, const char *rustc_version);

/* Set the string ids of the labels of its guards: DECODER_NO_LABEL of one whose label is dynamic.
 */
int library__set_guards(struct library *lib, const uint32_t *labels, uint32_t n_labels);

/*
 * Name what executions are about: the type of each query's key (enum wire_key), and how names are
 * read. Copied. The sink gets the names when a compiler ends.
 */
int library__set_keys(struct library *lib, const uint8_t *keys, const struct plan_layout *layout);

/* Which of the guards of library__set_guards() have an argument that can be read. */
int library__set_arguments(struct library *lib, const struct plan_guard *guards);

/*
 * The results of its queries are counted; `guards`: whether the intervals of each guard are
 * recorded; `loads`: the filter passes all loads from the disk; `items`: their keys are copied.
 * `plan` is that of the library, whose guards were set, and not kept.
 */
int library__set_results(struct library *lib, const struct plan *plan, const bool *guards,
			 bool loads, bool items);

/* As decoder__set_frames(). */
int library__set_frames(struct library *lib, const struct plan *plan);

/* Store the library's identity in a process that uses it. 0 or -ENOMEM. */
int library__describe(const struct library *lib, struct trace_process *p);

void library__clear(struct library *lib);

#endif /* QPROF_DECODE_LIBRARY_H */
