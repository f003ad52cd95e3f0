/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The display name of a compile, and whether it is one; both come from the command line. */
#ifndef QPROF_ANALYZE_COMPILE_NAME_H
#define QPROF_ANALYZE_COMPILE_NAME_H

#include <stdbool.h>

#include "trace/trace.h"

/*
 * The one name of a compile, in every output: the crate, its target unless that is a library, and
 * the tool unless that is rustc: "syn", "syn (build script)", "app (bin)", "app (test)",
 * "derive_x (proc-macro) clippy", "syn (doc)", "syn (doctests)". A build script has the name of its
 * package, because cargo calls all of them by one crate name. An example of the documentation is a
 * "doctest". Without a crate, the first bytes of the command, or "rustc (crate unknown)" if that is
 * cut. The caller frees the text; NULL if out of memory.
 */
char *compile_name(const struct trace_process *p);

/* True of build scripts: cargo calls all of them by one crate name. */
bool compile_is_build_script(const struct trace_process *p);

/*
 * The package of a build script. No option names it: it is taken from --out-dir, else from the
 * directory of the source if that has a version in its name; "" if neither has it, and for all
 * other crates. The caller frees the text; NULL if out of memory.
 */
char *compile_package(const struct trace_process *p);

/* True if it compiles an example of the documentation, for rustdoc. */
bool compile_is_doctest(const struct trace_process *p);

/*
 * True if its arguments are not all known: they were too many, or in a file that could not be read.
 * What it depends on is then unknown, and so may be its crate.
 */
bool compile_is_cut(const struct trace_process *p);

/*
 * True if the compiler only answers a question (--print), or has no crate to compile. A command
 * that is cut is taken for a compile unless it shows a question.
 */
bool compile_only_queries(const struct trace_process *p);

/*
 * True if it only lists the sources of a crate, as a compile cache asks for before it looks whether
 * it has the result: its --emit has dep-info alone.
 */
bool compile_only_lists(const struct trace_process *p);

/* True if --emit includes the metadata that dependents can begin with. */
bool compile_emits_metadata(const struct trace_process *p);

/*
 * True if the crate is the user's own: a member of the workspace, a path dependency, or compiled
 * without cargo. cargo caps the lints of all others (--cap-lints), whose sources also lie in its
 * registry or its checkouts.
 */
bool compile_is_own(const struct trace_process *p);

#endif /* QPROF_ANALYZE_COMPILE_NAME_H */
