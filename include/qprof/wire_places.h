/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/* The part of wire.h for files and lines: where compilers keep what leads to them. */
#ifndef QPROF_WIRE_PLACES_H
#define QPROF_WIRE_PLACES_H

#include "qprof/wire_types.h"

/*
 * Where a library's compilers keep the spans of definitions, and the source files that spans are
 * positions in. Offsets are bytes; `known` is 0 if nothing here is.
 */
#define WIRE_SPANS_IN_ONE (1u << 20) /* as many as are copied */
struct wire_layout_places {
	wire_u64 ready; /* what a file's `state` is if its lines are at hand */
	wire_u32 known;
	/*
	 * Within the GlobalCtxt: addresses of buckets of spans, 8 bytes each. Bucket b holds those
	 * from number (first << step * b) - first on. With WIRE_SPANS_IN_ONE there is one bucket.
	 */
	wire_u32 spans;
	wire_u32 n_spans; /* likewise: how many there are */
	wire_u32 first;
	wire_u32 step;
	wire_u32 source_map; /* within the globals: its address */
	wire_u32 files;	     /* within the source map: the address of a list of addresses */
	wire_u32 n_files;    /* likewise: how many it holds */
	/* Within a file; all fields are in its first `file_size` bytes. */
	wire_u32 file_size;
	wire_u32 file_start;  /* position of its first byte: 4 bytes */
	wire_u32 file_length; /* 4 bytes */
	wire_u32 name;	      /* the address of its name */
	wire_u32 name_length;
	wire_u32 name_capacity; /* larger than any length if the file has no such name */
	wire_u32 state;
	wire_u32 lines; /* the address of the positions, within it, where lines start: 4 bytes */
	wire_u32 n_lines;
	wire_u32 interned;	/* within the globals: the address of spans that are interned */
	wire_u32 n_interned;	/* likewise: how many there are */
	wire_u32 interned_size; /* of one: 16 to 64 */
	wire_u32 position;	/* within one: 4 bytes */
	wire_u32 context;	/* within one: 4 bytes */
};

#define WIRE_FILE_SIZE_MAX 512
#define WIRE_FILE_NAME_MAX 1024 /* a longer name is left out */

#define WIRE_EXPANSION_MAX 512 /* bytes of a context, or of an expansion */

/*
 * Where they keep which macro's call a span comes from: the span's context has the outermost
 * expansion, and that has the span of its call. All offsets of tables are within the globals.
 */
struct wire_layout_calls {
	wire_u32 contexts; /* the address of the table of contexts */
	wire_u32 n_contexts;
	wire_u32 context_size; /* of one; 0: nothing here is known */
	wire_u32 crate;	       /* within one: its expansion's crate, 4 bytes; 0: the one compiled */
	wire_u32 number;       /* within one: its expansion's number, 4 bytes */
	wire_u32 expansions;   /* the address of the table of the compiled crate's expansions */
	wire_u32 n_expansions;
	wire_u32 expansion_size;
	wire_u32 call; /* within an expansion: the span of its call */
	wire_u32 kind; /* within an expansion, a byte: `tag` if it is a macro's */
	wire_u32 tag;
	wire_u32 pad;
};

_Static_assert(sizeof(struct wire_layout_places) == 96, "wire_layout_places");
_Static_assert(sizeof(struct wire_layout_calls) == 48, "wire_layout_calls");

#endif /* QPROF_WIRE_PLACES_H */
