/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads from the arguments of a process whether it is a Rust compiler, and what it compiles. */
#ifndef QPROF_DECODE_COMMAND_H
#define QPROF_DECODE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "qprof/wire.h"

/* Bytes of a command line that are kept; the rest becomes "...". */
#define COMMAND_MAX WIRE_COMMAND_MAX

/* All texts are owned, and NULL where the arguments do not say. */
struct command {
	char *line;	  /* the arguments joined by spaces */
	char *crate;	  /* --crate-name, or what rustc makes of the source file's name */
	char *crate_type; /* every --crate-type, joined by commas */
	bool is_compiler; /* rustc, clippy-driver or rustdoc, by the name of argument 0 */
};

/*
 * Parse NUL-separated arguments. `truncated`: some are missing, the last ones or those of an @file;
 * otherwise the lines of such a file follow its "@path". 0 or -ENOMEM, which leaves `*c` empty.
 */
int command__parse(struct command *c, const char *args, size_t size, bool truncated);

void command__clear(struct command *c);

#endif /* QPROF_DECODE_COMMAND_H */
