/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Maps a library with its symbols: its own, or those of its debug file, or of the compressed ELF
 * file in .gnu_debugdata. libdwfl reads the latter two, so this runs in a child process without
 * rights (file_job.h), or in a command that only reads.
 */
#ifndef QPROF_PLAN_SYMBOLS_DEBUG_SYMBOLS_H
#define QPROF_PLAN_SYMBOLS_DEBUG_SYMBOLS_H

#include "plan/symbols/debug_file.h"
#include "plan/symbols/elf_image.h"

/*
 * As elf_image__map(). Takes the descriptors of `debug`, which may be NULL. A library without any
 * symbols is no error: elf_image__symbols() returns -ENODATA then.
 */
int debug_symbols__map(struct library_file *file, struct debug_file *debug, struct elf_image **out,
		       enum symbol_source *source);

#endif /* QPROF_PLAN_SYMBOLS_DEBUG_SYMBOLS_H */
