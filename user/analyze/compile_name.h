/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a person calls a compile, and whether it is one: both from its command line. */
#ifndef QPROF_ANALYZE_COMPILE_NAME_H
#define QPROF_ANALYZE_COMPILE_NAME_H

#include <stdbool.h>

#include "trace/trace.h"

/*
 * The crate, with what tells it from others of that name: "syn", "app bin", "derive_x proc-macro",
 * "app test", and "syn build script", as all build scripts are one crate to cargo. Without a crate
 * the first bytes of the command. The caller's to free; NULL without memory.
 */
char *compile_name(const struct trace_process *p);

/*
 * Of a build script the package, which is in no option: its --out-dir tells it, else the directory
 * of its source, if that has a version in its name; "" of what tells neither, and of all other
 * crates. The caller's to free; NULL without memory.
 */
char *compile_package(const struct trace_process *p);

/* True if the compiler is only asked something (--print), and compiles no crate, or has none. */
bool compile_only_asks(const struct trace_process *p);

/* True if it is told to write the metadata that dependents can begin with (--emit metadata). */
bool compile_emits_metadata(const struct trace_process *p);

#endif /* QPROF_ANALYZE_COMPILE_NAME_H */
