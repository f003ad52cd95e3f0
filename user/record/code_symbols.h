/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The symbols of files with code, which all recorders of a session share. Those that a store holds
 * (unwind/job.h) are mapped. Others are read, and are in memory from the first look-up to the last
 * user's end: rustc's library has 20 MB of them.
 */
#ifndef QPROF_RECORD_CODE_SYMBOLS_H
#define QPROF_RECORD_CODE_SYMBOLS_H

#include <sys/types.h>

#include "base/cleanup.h"
#include "plan/library/file.h"
#include "plan/symbols/functions.h"

/* Bytes of symbols in memory: of the files of root and the invoker, and of all others. */
#define CODE_SYMBOLS_BYTES_MAX (1u << 30)
/* The same of the files of one of these others, who cannot take the room of the rest. */
#define CODE_SYMBOLS_FOREIGN_MAX (256u << 20)

struct code_symbols;

struct code_symbols_options {
	uid_t invoker;
	size_t most, most_foreign; /* bytes; a file is not read while more are in memory */
};

/* 0 or -ENOMEM. */
int code_symbols__new(const struct code_symbols_options *o, struct code_symbols **out);

/* The same with the invoker of this process and the limits above. Negative errno. */
int code_symbols__new_default(struct code_symbols **out);

/* Bytes of symbols in memory, about. */
size_t code_symbols__bytes(const struct code_symbols *s);

/* CPU time that reading them has taken, in ns. */
uint64_t code_symbols__cpu_ns(const struct code_symbols *s);

/* Frees no file: its user does. The symbols outlive their files. */
void code_symbols__free(struct code_symbols *s);
DEFINE_CLEANUP(struct code_symbols, code_symbols__free)
#define _code_symbols_ __cleanup(code_symbols__free_p)

struct symbol_file;

/*
 * The symbols of `file` (NULL: the vdso, which has none), to be freed. The same ones for the same
 * inode, unless it was changed. 0 or -ENOMEM.
 */
int symbol_file__get(struct code_symbols *s, struct library_file *file, struct symbol_file **out);

/* NULL: the vdso. */
struct library_file *symbol_file__file(const struct symbol_file *f);

/*
 * The file belongs to a user who is neither root nor the invoker. Its symbols are not read where
 * another mount namespace has put a file system over a file.
 */
bool symbol_file__is_foreign(const struct symbol_file *f);

/*
 * The functions, which are read at the first call. NULL: they cannot be read, or other files have
 * taken the room, which one line reports. Valid as long as the file.
 */
struct functions *symbol_file__functions(struct symbol_file *f);

/* The build-id (elf_image__identity()) in hex; empty until functions were read. */
const char *symbol_file__build_id(const struct symbol_file *f);

void symbol_file__free(struct symbol_file *f);
DEFINE_CLEANUP(struct symbol_file, symbol_file__free)
#define _symbol_file_ __cleanup(symbol_file__free_p)

#endif /* QPROF_RECORD_CODE_SYMBOLS_H */
