/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One file with code, and the functions in it that occurred. */
#ifndef QPROF_RECORD_CODE_FILE_H
#define QPROF_RECORD_CODE_FILE_H

#include "base/cleanup.h"
#include "record/code_symbols.h"
#include "trace/writer.h"
#include "decode/caller_index.h"

struct code_file;

/*
 * A user of `symbols`, which is taken unless it fails. Line tables of a foreign file are not read,
 * as this process may have more rights than its user. 0 or -ENOMEM.
 */
int code_file__new(struct symbol_file *symbols, uint32_t number, struct code_file **out);

const struct symbol_file *code_file__symbols(const struct code_file *c);

/* Valid as long as the file. */
const struct decoder_functions *code_file__functions(const struct code_file *c);

/* As code_names__note(). */
int code_file__note(struct code_file *c, const struct trace_function *f);

/* As code_names__write_lines(). */
int code_file__write_lines(struct code_file *c, struct trace_writer *w);

void code_file__free(struct code_file *c);

#endif /* QPROF_RECORD_CODE_FILE_H */
