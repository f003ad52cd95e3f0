/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The function table of a Go executable ("pclntab", Go 1.18 and later): every function, and where
 * its pc-value tables are. docs/pctab.md has the layout. Every byte is untrusted.
 *
 * gopclntab__open() reads one out of an ELF file, gopclntab__init() takes the bytes themselves.
 */
#ifndef QPROF_TESTS_BENCH_PCTAB_GOPCLNTAB_H
#define QPROF_TESTS_BENCH_PCTAB_GOPCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct gopclntab {
	const uint8_t *bytes;
	size_t size; /* at least to the table's end */
	bool big_endian;
	uint8_t pointer_size;  /* 4 or 8 */
	uint8_t record_size;   /* of a function's fixed fields */
	uint8_t quantum_shift; /* of the pcs */
	uint32_t n_functions;
	uint32_t text_size; /* bytes from the first function to the end of the last */
	/* The parts, as offsets into bytes. */
	size_t names;
	size_t pctab; /* what tables are offsets into */
	size_t pctab_end;
	size_t functab;
};

/* The kinds of tables every function may have. */
enum gopclntab_kind {
	GOPCLNTAB_SP,	/* bytes from the frame's caller to the stack pointer */
	GOPCLNTAB_FILE, /* index into the compilation unit's files */
	GOPCLNTAB_LINE,
	GOPCLNTAB_DATA, /* and up: 0 unsafe points, 1 stack maps, 2 inlining, 3 live arguments... */
};

/* Above what Go has ever written (6); more is damage. */
#define GOPCLNTAB_DATA_MAX 64

struct gopclntab_function {
	uint32_t entry;	   /* bytes from the start of the text */
	uint32_t room;	   /* bytes up to the next one; no table covers more */
	const char *name;  /* inside the table; "" if that is damaged */
	uint32_t n_tables; /* GOPCLNTAB_DATA + the number of its pcdata tables */
	uint32_t tables[GOPCLNTAB_DATA + GOPCLNTAB_DATA_MAX]; /* for gopclntab__table(); 0 = none */
};

/*
 * Take the table that starts at `bytes`; these must outlive it. -ENOEXEC if it is none that can be
 * read, and then `why` says what is wrong.
 */
int gopclntab__init(struct gopclntab *t, const uint8_t *bytes, size_t size, bool big_endian,
		    const char **why);

/* Read function `i`, below n_functions, in the order of their addresses. 0 or -EBADMSG. */
int gopclntab__function(const struct gopclntab *t, uint32_t i, struct gopclntab_function *f);

/*
 * The bytes at a table's offset, in the varint-delta encoding; what ends it is known only after it
 * was decoded. NULL and *size = 0 if the offset is 0 or outside.
 */
const uint8_t *gopclntab__table(const struct gopclntab *t, uint32_t offset, size_t *size);

/* A Go executable, mapped. */
struct go_image {
	uint8_t *map;
	size_t map_size;
	struct gopclntab table;
};

/* Map `path` and find its function table. Prints one line and returns a negative errno on failure.
 */
int go_image__open(const char *path, struct go_image **out);
void go_image__free(struct go_image *image);
DEFINE_CLEANUP(struct go_image, go_image__free)
#define _go_image_ __cleanup(go_image__free_p)

#endif /* QPROF_TESTS_BENCH_PCTAB_GOPCLNTAB_H */
