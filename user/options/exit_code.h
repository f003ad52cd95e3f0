/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The exit statuses of qprof-bpf, unless it passes on the status of a launched command. They are
 * stable, because scripts and CI depend on them. The manual's table is cli_exit_codes() in
 * options/options.h.
 */
#ifndef QPROF_OPTIONS_EXIT_CODE_H
#define QPROF_OPTIONS_EXIT_CODE_H

#include <errno.h>

enum exit_code {
	EXIT_CODE_OK = 0,
	EXIT_CODE_INCOMPLETE = 1,   /* verify: the trace has no end */
	EXIT_CODE_ABOVE = 1,	    /* diff, history check: more than --fail-above allows */
	EXIT_CODE_SICK = 1,	    /* doctor: recording does not work here */
	EXIT_CODE_USAGE = 2,	    /* the command line is invalid; nothing was done */
	EXIT_CODE_DAMAGED = 3,	    /* verify, history add: the trace is damaged */
	EXIT_CODE_LOST = 122,	    /* recorded, but most of it was lost (analyze/verdict.h) */
	EXIT_CODE_FAILURE = 125,    /* qprof-bpf itself failed */
	EXIT_CODE_CANNOT_RUN = 126, /* the command to profile exists but cannot be run */
	EXIT_CODE_NOT_FOUND = 127,  /* the command to profile does not exist */
	EXIT_CODE_SIGNAL = 128,	    /* plus a signal that arrived before anything was recorded */
};

/* The status for an error of launch__go(). */
static inline enum exit_code exit_code_of_exec(int err)
{
	return err == -ENOENT ? EXIT_CODE_NOT_FOUND : EXIT_CODE_CANNOT_RUN;
}

#endif /* QPROF_OPTIONS_EXIT_CODE_H */
