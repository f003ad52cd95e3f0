/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The traces that `cargo qprof` keeps: $XDG_STATE_HOME/qprof-bpf/<workspace>/, not below target/,
 * which `cargo clean` deletes before a comparison. A name has the command and the time, so that the
 * newest two of one command are found by names alone. Files have the rights of the calling thread.
 */
#ifndef QPROF_CLI_CARGO_TRACES_H
#define QPROF_CLI_CARGO_TRACES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"

#define CARGO_TRACES_KEPT 10 /* of each command, */
#define CARGO_TRACES_MOST 50 /* and of all: there are many lists of arguments */

/*
 * Set *top to the real path of the workspace of `from`, a directory: the nearest one, from there
 * upwards, whose Cargo.toml has a table [workspace], or else the nearest one with a Cargo.toml. A
 * package that a workspace above it excludes counts as the workspace's. To be freed. -ENOENT: there
 * is no Cargo.toml.
 */
int cargo_workspace__find(const char *from, char **top);

/* Whether a Cargo.toml has such a table. */
bool cargo_manifest_is_workspace(FILE *manifest);

/*
 * The directory of the traces of a workspace: named as that, with a hash of its path, as other
 * clones have the same name. To be freed; NULL: no memory, or the user is unknown.
 */
char *cargo_traces_directory(const char *top);

/*
 * A name for a trace of a command of cargo, NULL-terminated words, at a time: "build-1b2c3d4e-" and
 * the time, to milliseconds, in UTC. Words that differ make another command, but --sudo and the
 * short names of cargo's own. To be freed; NULL: no memory.
 */
char *cargo_traces_name(char *const words[], const struct timespec *at);

/* The length of such a name up to its time; 0: it is none, and the file is not ours to remove. */
size_t cargo_traces_command(const char *name);

struct cargo_trace {
	char *name;    /* of its file */
	size_t length; /* of the name up to its time: the command */
};

struct cargo_traces {
	int fd; /* of the directory */
	struct cargo_trace *at;
	uint32_t n, capacity;
};

#define CARGO_TRACES_NONE ((struct cargo_traces){.fd = -1})

/*
 * All traces of a directory, the newest first. The caller clears the list, in any case. Negative
 * errno: -EPERM if the directory belongs to another user.
 */
int cargo_traces__list(struct cargo_traces *t, const char *directory);

/* The one before list->at[i] of the same command; NULL: there is none. */
const struct cargo_trace *cargo_traces__before(const struct cargo_traces *t, uint32_t i);

/* Remove all but the newest of each command, and of all, with their pages. */
void cargo_traces__trim(const struct cargo_traces *t);

void cargo_traces__clear(struct cargo_traces *t);
#define _cargo_traces_ __cleanup(cargo_traces__clear)

/* The name of a trace's page, beside it. To be freed; NULL: no memory. */
char *cargo_traces_page(const char *trace);

#endif /* QPROF_CLI_CARGO_TRACES_H */
