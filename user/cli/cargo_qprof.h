/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The program by its name cargo-qprof, which cargo runs for `cargo qprof`. Makes an ordinary
 * command of qprof-bpf of its words, and runs that: with the path of a new trace, or of the newest
 * ones.
 */
#ifndef QPROF_CLI_CARGO_QPROF_H
#define QPROF_CLI_CARGO_QPROF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/*
 * Judged by the name that the program was started by; but `record` under sudo is the recording that
 * cargo_qprof_main() has begun.
 */
bool cargo_qprof_is(char *const argv[]);

/*
 * Do what the words ask for, by `run`, which parses and runs a command line of qprof-bpf. It may be
 * called in a child, and may not return. Returns an exit status.
 */
int cargo_qprof_main(char **argv, int (*run)(int argc, char **argv));

/* An ordinary command, and what follows it. All zeroes is empty. */
struct cargo_call {
	char **argv; /* NULL-terminated; the array is ours, its texts are not */
	uint32_t n, capacity;
	char *program;	 /* with sudo: our file; each of these is ours, or NULL */
	char *directory; /* of the workspace's traces */
	char *trace;	 /* that is recorded, or the newest */
	char *before;	 /* the one before it, for diff */
	char *page;	 /* that is written, and to be opened */
	bool records;	 /* `trace` is still to be made */
	bool sudo;	 /* argv begins with sudo */
};

enum cargo_help {
	CARGO_HELP_ASKED = 1,
	CARGO_HELP_NEEDED, /* there is no command */
};

/*
 * Translate the words after the name, which outlive the call. Reads $CARGO, the working directory
 * and the directory of the traces, which is made for a recording. 0; enum cargo_help; or a negative
 * errno after an error line.
 */
int cargo_call__of(struct cargo_call *c, char *const words[]);

void cargo_call__clear(struct cargo_call *c);
#define _cargo_call_ __cleanup(cargo_call__clear)

#endif /* QPROF_CLI_CARGO_QPROF_H */
