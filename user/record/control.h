/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Control of a recording from outside: the signals of this process, and its command. A signal
 * ends or suspends the recording, or is passed on to the command.
 */
#ifndef QPROF_RECORD_CONTROL_H
#define QPROF_RECORD_CONTROL_H

#include <stdbool.h>

#include "record/launch.h"

struct control {
	int fd;		       /* a signalfd; -1 before control__open() */
	struct launch *launch; /* the command; NULL: there is none */
	bool child_done;       /* the command has ended */
	int child_status;
	bool is_cargo, runs_on; /* as control__runs_on() has last seen it */
	int signal;		/* the signal that ended the recording, or 0 */
	unsigned int n_signals; /* such signals so far */
	bool stop;		/* the recording is over */
	/* Called before this process is stopped by SIGTSTP; or NULL. */
	void (*suspend)(void *ctx);
	void *suspend_ctx;
};

/* Block the signals, and read them from `fd`. Prints one line on failure. */
int control__open(struct control *c, bool has_command);

/* Take the signals that have come. */
void control__take(struct control *c);

/*
 * Whether the command was cargo, and now is the program that cargo run executes in its own place.
 * From then on the command's signals are its own: none ends anything of ours.
 */
bool control__runs_on(struct control *c);

/*
 * Wait until `fd` polls readable, at once if it is -1, for `ms` at most unless that is negative. 0;
 * -EINTR: a signal came first; -ETIME.
 */
int control__wait(struct control *c, int fd, int ms);

/*
 * For struct recorder_options: wait for the reader of the output. Without a signal, as long as it
 * takes; after one, 3 s; after two, not at all.
 */
bool control__wait_for_reader(void *control, int written_fd);

/* For diag_wait_with(): false once a signal has come. The end of a child wakes the wait, too. */
bool control__waits_for_stderr(void *control);

/* True if another signal that ends a recording has come. */
bool control__is_interrupted(void *control);

/* The next SIGINT is taken, although the recording is over. */
void control__block_interrupts(void);

/*
 * The recording is over and all output is written: wait for the end of the command. Other signals
 * are still passed on; SIGINT has its default effect, unless the command is a program that cargo
 * runs.
 */
void control__wait_for_command(struct control *c);

void control__destroy(struct control *c);

#endif /* QPROF_RECORD_CONTROL_H */
