/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The directory of --traces. Only its owner, root or we, may write to it, so that no other user
 * puts links or files there; nor may others replace it by way of a parent. A name has only numbers
 * of the build: qprof-<utc>-u<user>-p<root>.qpt, and -2 and so on before the suffix if there is
 * such a file.
 */
#ifndef QPROF_RECORD_TRACE_DIR_H
#define QPROF_RECORD_TRACE_DIR_H

#include <time.h>

#include "record/build_of.h"
#include "record/retention.h"

struct trace_dir {
	char *path; /* absolute, without links */
	int fd;
};

#define TRACE_DIR_NONE ((struct trace_dir){.fd = -1})

/* Prints on failure. */
int trace_dir__open(struct trace_dir *d, const char *path);

/* A path for a new trace, to be freed; NULL: no memory. `n`: from 1 on, the next one to try. */
char *trace_dir__name(const struct trace_dir *d, const struct build_of *b, time_t now,
		      unsigned int n);

/* A trace of this kind, in the directory. */
struct dir_trace {
	char *name; /* without the directory */
	struct kept kept;
};

struct dir_traces {
	struct dir_trace *at;
	uint32_t n, capacity;
};

/* All of them, `open` not set. The caller clears the list. Negative errno. */
int trace_dir__list(const struct trace_dir *d, struct dir_traces *list);
void dir_traces__clear(struct dir_traces *list);
#define _dir_traces_ __cleanup(dir_traces__clear)

/* Remove a trace of the list. */
int trace_dir__remove(const struct trace_dir *d, const char *name);

void trace_dir__close(struct trace_dir *d);

/* The user in a name of trace_dir__name(), without the directory. False: it is no such name. */
bool trace_dir_user(const char *name, uint32_t *user);

#endif /* QPROF_RECORD_TRACE_DIR_H */
