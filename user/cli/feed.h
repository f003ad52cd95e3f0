/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A trace, summed as it grows. */
#ifndef QPROF_CLI_FEED_H
#define QPROF_CLI_FEED_H

#include "analyze/summary.h"
#include "analyze/threads.h"
#include "trace/reader.h"
#include "trace/self_time.h"

struct feed {
	struct trace_reader *reader;
	struct summary *summary;
	struct threads *threads;
	struct self_time *self_time;
	struct trace_losses losses;
	bool has_losses;
	bool over; /* nothing more can come */
};

/* Open `path`; prints one line on failure. `*f` needs destroying in any case. */
int feed__open(struct feed *f, const char *path);

/*
 * Take what has been written by now; *more tells whether there was something new. Negative errno if
 * the file cannot be read (-EIO) or there is no memory; nothing is printed.
 */
int feed__read(struct feed *f, bool *more);

void feed__destroy(struct feed *f);
#define _feed_ __cleanup(feed__destroy)

#endif /* QPROF_CLI_FEED_H */
