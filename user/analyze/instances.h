/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The instances that compiles make of generic functions, by the executions of queries whose key is
 * exactly an Instance. Of a function of the crate itself each such query is executed at most once
 * for each instance, so the most executions are their number. Of another crate's function some
 * queries are also executed for instances that the compile only refers to, as they were made in the
 * other one; so it made as many as the least of them was executed. By the compilers' tables, the
 * results of that query alone are listed.
 */
#ifndef QPROF_ANALYZE_INSTANCES_H
#define QPROF_ANALYZE_INSTANCES_H

#include "base/table.h"
#include "trace/trace.h"

/* A query that was executed. */
struct instance_query {
	bool is_one;   /* its key is an Instance */
	bool is_named; /* an execution had a path */
};

/* Executions of such a query about a definition, in compiles of other crates. */
struct foreign_instances {
	uint32_t path; /* string id */
	uint64_t executions;
};

/* All zeroes: no query has such a key. */
struct instances {
	bool (*keyed)(const void *ctx, uint32_t label); /* whether a query's key is an Instance */
	const void *ctx;
	TABLE(struct instance_query) queries;	 /* by label */
	TABLE(struct foreign_instances) foreign; /* by path << 32 | label */
	TABLE(struct foreign_instances) listed;	 /* by the compilers' tables; by path */
};

/* Whether a query's key is an Instance. Without memory it is not. */
bool instances__counts(struct instances *i, uint32_t label);

/* A query about an item of the compiled crate was executed. 0 or -ENOMEM. */
int instances__own(struct instances *i, uint32_t label);

/* A query that counts was executed about another crate's definition. 0 or -ENOMEM. */
int instances__foreign(struct instances *i, uint32_t label, uint32_t path);

/* A compiler's tables list an instance of another crate's definition. 0 or -ENOMEM. */
int instances__list(struct instances *i, uint32_t path);

/* The instances of an item that compiles of other crates made. */
struct instances_made {
	uint32_t item; /* string id, or TRACE_NO_STRING */
	uint64_t made;
};

/*
 * Set `made` of each item. Paths of other crates' executions have other strings, but the same
 * texts. All are 0, unless at least two queries were executed with a path, or tables list some. 0
 * or -ENOMEM.
 */
int instances__made(struct instances *i, const struct trace_texts *texts,
		    struct instances_made *items, size_t n);

/*
 * Give `take` the instances that compiles of other crates made of the definition with a path; of
 * one path there may be several strings. 0, or its first value that is not 0.
 */
int instances__each_made(struct instances *i, int (*take)(void *ctx, uint32_t path, uint64_t made),
			 void *ctx);

void instances__destroy(struct instances *i);

#endif /* QPROF_ANALYZE_INSTANCES_H */
