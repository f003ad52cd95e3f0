/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The reason why a build did not end earlier: from its end back to its start, the compile that each
 * moment waited for, and the part of it. docs/report.md has the rules.
 */
#ifndef QPROF_ANALYZE_CRITICAL_PATH_H
#define QPROF_ANALYZE_CRITICAL_PATH_H

#include "analyze/build.h"
#include "analyze/compile_graph.h"

/* The first four are those of a compile: enum build_part. */
enum path_part {
	PATH_FRONT_END = BUILD_FRONT_END,
	PATH_CODEGEN = BUILD_CODEGEN,
	PATH_LINK = BUILD_LINK,
	PATH_EXIT = BUILD_EXIT,
	PATH_COMPILE, /* all of a compile whose parts are unknown */
	PATH_RUN,     /* the build script that this compile made runs; or waits for a free job */
	PATH_OTHER,   /* no compile: cargo, other programs, or waiting between two commands */
	PATH_PARTS,
};

#define PATH_UNKNOWN UINT64_MAX

struct path_step {
	uint32_t process; /* index in build__processes(); of PATH_OTHER the one that comes next */
	enum path_part part;
	/*
	 * The compile after this step did not need this one: it waited for a free job. Of the last
	 * step of a compile.
	 */
	bool freed_job;
	uint64_t start_ns; /* on the trace's clock */
	uint64_t end_ns;
	/*
	 * The build would end this much earlier if the step took no time, at most what it took;
	 * PATH_UNKNOWN for steps that are too short to ask, and of PATH_OTHER.
	 */
	uint64_t saved_ns;
};

/* Times are in ns. All are 0 in a build without a compile. */
struct critical_path {
	struct path_step *steps; /* in the order of time, without a hole or an overlap */
	size_t n_steps;
	uint64_t start_ns; /* of the first compile, on the trace's clock */
	uint64_t wall_ns;  /* from there to the end of the last one: the sum of the steps */
	uint32_t jobs;	   /* compiles that ran at once at most */
	uint32_t n_cut;	   /* compiles that may have waited for more: compile_is_cut() */
	/* How long the build takes in a schedule with as many jobs, and with any
	 * number: what saved_ns is compared with, and what more CPUs could save. */
	uint64_t scheduled_ns;
	uint64_t unlimited_ns;
};

/*
 * After build__end(). 0 or -ENOMEM. Destroy it after use, even after a failure; the previous
 * content of `path` is ignored.
 */
int critical_path__of(struct critical_path *path, const struct build *b);

/* "front end", "build script runs". */
const char *path_part_text(enum path_part part);

void critical_path__destroy(struct critical_path *path);
#define _critical_path_ __cleanup(critical_path__destroy)

/*
 * How long a build would take if parts of it took no time: its compiles are started again, each as
 * soon as what it waits for is there and a job is free, in the order in which they were started.
 * Each takes as long as it did. What happens outside compilers, except for the runs of build
 * scripts, takes no time.
 */

#define SCHEDULE_ALL_JOBS UINT32_MAX

/* A part of a compile that takes no time, from and to ns after the start of its process. */
struct schedule_without {
	uint32_t node; /* UINT32_MAX: none */
	uint64_t from_ns;
	uint64_t to_ns;
	bool run; /* the run of its build script instead */
};

/* Put the time that the build takes with so many jobs into *ns. 0 or -ENOMEM. */
int schedule_ns(const struct compile_graph *g, uint32_t jobs,
		const struct schedule_without *without, uint64_t *ns);

/* How many compiles ran at once at most. 0: out of memory, or there are none. */
uint32_t schedule_jobs(const struct compile_graph *g);

#endif /* QPROF_ANALYZE_CRITICAL_PATH_H */
