/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * `record` in a process of its own, so that another can show what it writes: without a terminal,
 * with what it and its command print kept aside. It ends as `record` does; that of running
 * processes ends with us too, that of a command goes on, as the command must.
 */
#ifndef QPROF_CLI_BACKGROUND_H
#define QPROF_CLI_BACKGROUND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "cli/options.h"

struct background {
	pid_t pid;    /* 0: none */
	int ended_fd; /* readable once it has ended; -1: none */
	int begun_fd; /* readable once it has begun, or has ended without */
	int lifeline; /* closed, it ends a recording of running processes */
	int log;      /* what was printed */
	off_t told;   /* bytes of it that were passed on */
	bool has_ended;
	int status; /* of wait(2), once it has */
};

#define BACKGROUND_NONE                                   \
	{                                                 \
		.ended_fd = -1, .lifeline = -1, .log = -1 \
	}

/* Prints one line on failure. What is in stdio's buffers of ours must have been written. */
int background__start(struct background *b, const struct cli_record_options *o);

/* Whether it has begun: its trace has its name. */
bool background__begun(const struct background *b);

bool background__ended(struct background *b);

/* Pass on to stderr what was printed since the last time. */
void background__tell(struct background *b);

/* Stop recording: as if the processes were gone, or the command were sent `sig`. */
void background__stop(struct background *b, int sig);

/* What is still running is left alone, but see above. */
void background__destroy(struct background *b);
#define _background_ __cleanup(background__destroy)

#endif /* QPROF_CLI_BACKGROUND_H */
