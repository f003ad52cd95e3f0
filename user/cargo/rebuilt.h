/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a cargo that is recorded compiles again although it had compiled it before, and why: cargo's
 * fingerprints as they are before the command starts are compared with those after it. Nothing is
 * said of what was compiled for the first time, as another version of a package is. The command is
 * not touched.
 */
#ifndef QPROF_CARGO_REBUILT_H
#define QPROF_CARGO_REBUILT_H

#include "base/cleanup.h"
#include "trace/trace.h"

struct rebuilt;

/*
 * Remember what is built already, of a command that is about to start: its arguments, and the
 * environment of which the invoker's is made. With the invoker's rights to files. *out is NULL if
 * there is nothing to compare with: the command is no cargo, nothing was built, or it is too much
 * to be read. 0 or -ENOMEM.
 */
int rebuilt__remember(char *const argv[], char *const env[], struct rebuilt **out);

/* The crate has the name that it has in a report: "app (bin)", "syn (build script)". */
struct rebuilt_crate {
	const char *crate;
	enum trace_rebuilt_reason reason;
	const char *detail; /* of docs/trace-format.md; "": none */
};

/*
 * Once the command has ended: pass what it built again to `take`, those that changed themselves
 * first; a crate that it built for the host and for the target once, if the reason is one. Texts
 * are valid until `take` returns. The first error of `take`, or -ENOMEM.
 */
int rebuilt__each(struct rebuilt *r, int (*take)(void *ctx, const struct rebuilt_crate *crate),
		  void *ctx);

void rebuilt__free(struct rebuilt *r);
DEFINE_CLEANUP(struct rebuilt, rebuilt__free)
#define _rebuilt_ __cleanup(rebuilt__free_p)

#endif /* QPROF_CARGO_REBUILT_H */
