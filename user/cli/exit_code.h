/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How qprof-bpf exits when it is not passing on the status of a launched command. Stable: scripts
 * and CI act on them. The manual's table is cli_exit_codes() in cli/options.h.
 */
#ifndef QPROF_CLI_EXIT_CODE_H
#define QPROF_CLI_EXIT_CODE_H

#include <errno.h>

enum exit_code {
	EXIT_CODE_OK = 0,
	EXIT_CODE_INCOMPLETE = 1,   /* verify: the end is missing */
	EXIT_CODE_ABOVE = 1,	    /* diff: more than --fail-above allows */
	EXIT_CODE_SICK = 1,	    /* doctor: recording does not work */
	EXIT_CODE_USAGE = 2,	    /* the command line makes no sense; nothing was done */
	EXIT_CODE_DAMAGED = 3,	    /* verify: something in it is wrong */
	EXIT_CODE_FAILURE = 125,    /* qprof-bpf itself failed */
	EXIT_CODE_CANNOT_RUN = 126, /* the command to profile exists but cannot be run */
	EXIT_CODE_NOT_FOUND = 127,  /* the command to profile does not exist */
	EXIT_CODE_SIGNAL = 128,	    /* plus the signal that came before anything was recorded */
};

/* For what launch__go() returned. */
static inline enum exit_code exit_code_of_exec(int err)
{
	return err == -ENOENT ? EXIT_CODE_NOT_FOUND : EXIT_CODE_CANNOT_RUN;
}

#endif /* QPROF_CLI_EXIT_CODE_H */
