/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of code that a recording meets: the functions of the libraries that request queries,
 * and of all files in sampled stacks; and, at the end, the lines of the functions that occurred.
 *
 * Each file has one number, however it came here. Its symbols are read when the first address in it
 * is looked up. They are read by this process, so a file that a FUSE server could withhold has no
 * names, nor has one whose tables are too large. See code_symbols.h for files of other users.
 */
#ifndef QPROF_RECORD_CODE_NAMES_H
#define QPROF_RECORD_CODE_NAMES_H

#include "base/cleanup.h"
#include "plan/plan.h"
#include "record/code_symbols.h"
#include "trace/writer.h"
#include "decode/decoder.h"

struct code_names;

/* `shared` has the symbols of several recorders, and outlives them; or NULL. Negative errno. */
int code_names__new(struct code_symbols *shared, struct code_names **out);

/*
 * The functions of the library that was attached to as `lib`, or of a file in sampled stacks (NULL:
 * the kernel's vdso), which is not forgotten any more. *functions is for decoder__set_functions()
 * or decoder__set_file(). 0 or -ENOMEM.
 */
int code_names__add_library(struct code_names *c, uint8_t lib, const struct plan *plan,
			    const struct decoder_functions **functions);
int code_names__add_file(struct code_names *c, struct library_file *file,
			 const struct decoder_functions **functions);

/* A function of a file (decoder_functions.file) occurred: its lines are wanted. 0 or -ENOMEM. */
int code_names__note(struct code_names *c, uint32_t file, const struct trace_function *f);

/*
 * The number `lib` goes to another library, or to none: write the lines of the earlier one as
 * code_names__write_lines() does, and forget it, unless it is in use otherwise. `w` may be NULL.
 */
int code_names__retire(struct code_names *c, uint8_t lib, struct trace_writer *w);

/*
 * Write the lines of all functions that were noted, where their file has line tables. Damaged ones
 * cost a warning. Returns the writer's error, or -ENOMEM.
 */
int code_names__write_lines(struct code_names *c, struct trace_writer *w);

/* CPU time that reading symbols has taken, in ns; of all recorders that share them. */
uint64_t code_names__cpu_ns(const struct code_names *c);

void code_names__free(struct code_names *c);
DEFINE_CLEANUP(struct code_names, code_names__free)
#define _code_names_ __cleanup(code_names__free_p)

#endif /* QPROF_RECORD_CODE_NAMES_H */
