/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the debug file of a library without a symbol table. Only local files are looked at:
 *
 *	/usr/lib/debug/.build-id/12/3456...debug
 *	NAME, .debug/NAME and /usr/lib/debug/DIRECTORY/NAME, for NAME in .gnu_debuglink
 *
 * A file is only taken if it has the library's build-id and a symbol table, belongs to root or to
 * the library's owner, and has a lasting identity (library_file.h): a user who can make such a
 * file can change the library too. It is opened here, and read by debug_symbols__map().
 */
#ifndef QPROF_PLAN_SYMBOLS_DEBUG_FILE_H
#define QPROF_PLAN_SYMBOLS_DEBUG_FILE_H

#include "base/cleanup.h"
#include "plan/library/file.h"
#include "plan/symbols/elf_image.h"

/* ---- Where symbols come from ----------------------------------------------------------------- */

/* Where the symbols that a plan is made from come from. */
enum symbol_source {
	SYMBOLS_OF_LIBRARY,   /* its .symtab */
	SYMBOLS_OF_DEBUGDATA, /* its .gnu_debugdata: a compressed ELF file with symbols only */
	SYMBOLS_OF_BUILD_ID,  /* a debug file, named by the build-id */
	SYMBOLS_OF_DEBUGLINK, /* a debug file, named by .gnu_debuglink */
	SYMBOLS_RECOVERED,    /* none: names follow from the library's code */
	SYMBOL_SOURCES,
};

/* /usr/lib/debug. Tests have another. */
extern const char *debug_file_root;

/*
 * The path below debug_file_root where the debug file with this build-id is installed; the
 * caller frees it. NULL: no memory.
 */
char *debug_file__place(const uint8_t *id, size_t len);

struct debug_file {
	enum symbol_source source;
	int fd;		/* -1: the symbols are in the library, compressed */
	int library_fd; /* another descriptor of the library, which libdwfl closes */
	char *path;	/* for people */
};

/*
 * The debug file of `lib`, or NULL: it needs none, or there is none. A library whose symbols are
 * compressed in .gnu_debugdata is its own. The caller frees it. Prints nothing. Opening a file may
 * block: the library names files on any file system.
 */
struct debug_file *debug_file__find(struct library_file *lib);

void debug_file__free(struct debug_file *d);
DEFINE_CLEANUP(struct debug_file, debug_file__free)
#define _debug_file_ __cleanup(debug_file__free_p)

/*
 * Maps a library with its symbols: its own, or those of its debug file, or of the compressed ELF
 * file in .gnu_debugdata. libdwfl reads the latter two, so this runs in a child process without
 * rights (file_job.h), or in a command that only reads.
 */

/*
 * As elf_image__map(). Takes the descriptors of `debug`, which may be NULL. A library without any
 * symbols is no error: elf_image__symbols() returns -ENODATA then.
 */
int debug_symbols__map(struct library_file *file, struct debug_file *debug, struct elf_image **out,
		       enum symbol_source *source);

#endif /* QPROF_PLAN_SYMBOLS_DEBUG_FILE_H */
