/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * `record` in a process of its own, so that `top` can show the trace that it writes. It has no
 * terminal; its output and that of its command are kept. It ends as `record` does. A recording of
 * running processes also ends with us; a recording of a command continues, as the command must.
 *
 * The process keeps the rights that we have when it is prepared. We need none of them after that.
 */
#ifndef QPROF_RECORD_BACKGROUND_H
#define QPROF_RECORD_BACKGROUND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "options/options.h"
#include "view/top_now.h"

struct background {
	pid_t pid;	 /* 0: none */
	int ended_fd;	 /* readable once it has ended; -1: none */
	int begun_fd;	 /* readable once it has begun, or has ended without */
	int now_fd;	 /* it sends here what compilers are in: struct top_nows; -1: none */
	int lifeline;	 /* closed, it ends a recording of running processes, or one not begun */
	int log;	 /* the output of the recording and its command */
	off_t passed_on; /* bytes of the log */
	bool has_ended;
	int status; /* as from wait(2), once it has ended */
};

#define BACKGROUND_NONE                                                                 \
	{                                                                               \
		.ended_fd = -1, .begun_fd = -1, .now_fd = -1, .lifeline = -1, .log = -1 \
	}

/*
 * Make the process, which waits for background__go() and ends without it. Prints one line on
 * failure. Flush our stdio buffers first.
 */
int background__prepare(struct background *b, const struct cli_record_options *o);
void background__go(struct background *b);

/* Whether it has begun: the trace has its final name. */
bool background__begun(const struct background *b);

bool background__ended(struct background *b);

/* Pass on to stderr the output since the last call. */
void background__pass_on(struct background *b);

/* The latest of what compilers are in; unchanged if there is nothing newer. */
void background__now(const struct background *b, struct top_nows *out);

/* Send the recording SIGINT, SIGTERM or SIGHUP, however its rights and ours differ. */
void background__stop(struct background *b, int sig);

/* Does not end a recording of a command that still runs. */
void background__destroy(struct background *b);
#define _background_ __cleanup(background__destroy)

#endif /* QPROF_RECORD_BACKGROUND_H */
