/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/* The part of wire.h for the names of other crates, and of their definitions. */
#ifndef QPROF_WIRE_CRATES_H
#define QPROF_WIRE_CRATES_H

#include "qprof/wire_types.h"

/*
 * Where a library's compilers keep the names of other crates' definitions: crates in a table by
 * number, and of each a hash table (hashbrown's) of the definitions whose paths the compiler has
 * asked for. Its entries lie below its control bytes, of which there is one for each; the mask is
 * one less than how many.
 */
struct wire_layout_crates {
	wire_u32 size;	    /* of an entry; 0: all this is unknown */
	wire_u32 index;	    /* within an entry: the number of the definition */
	wire_u32 key;	    /* likewise: what a table of definitions has of it */
	wire_u32 own_id;    /* within the GlobalCtxt: the StableCrateId of the compiled crate */
	wire_u32 store;	    /* likewise: the address of the crate store */
	wire_u32 crates;    /* within the store: the address of the table of metadata */
	wire_u32 n_crates;  /* likewise: how many it holds */
	wire_u32 name;	    /* within a crate's metadata: a symbol */
	wire_u32 stable_id; /* likewise: the StableCrateId */
	wire_u32 keys;	    /* likewise: the address of the control bytes */
	wire_u32 keys_mask; /* likewise */
	wire_u32 pad;
};

/* A crate that a compiler knows, by its number there. */
struct wire_crate {
	wire_u32 number; /* WIRE_KEY_LOCAL_CRATE: the one that is compiled */
	wire_u32 name;	 /* a symbol; WIRE_TAG_UNKNOWN of the one that is compiled */
	wire_u64 stable_id;
};

_Static_assert(sizeof(struct wire_layout_crates) == 48, "wire_layout_crates");
_Static_assert(sizeof(struct wire_crate) == 16, "wire_crate");

#endif /* QPROF_WIRE_CRATES_H */
