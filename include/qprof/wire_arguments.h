/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/*
 * The part of wire.h for the arguments of activities: where a probe finds them, and the record that
 * they are sent in.
 */
#ifndef QPROF_WIRE_ARGUMENTS_H
#define QPROF_WIRE_ARGUMENTS_H

#include "qprof/wire_types.h"

#define WIRE_PLACE_LOADS 4
#define WIRE_PLACE_SP	 15 /* in place of a register: the stack pointer */

/*
 * Where a probe finds a value: the register's, or what `n` loads from there lead to, each `at`
 * bytes behind the last. They are of 8 bytes, but for the last one, which has `size` of them.
 */
struct wire_place {
	wire_u8 reg;
	wire_u8 n;
	wire_u8 size; /* 4 or 8 */
	wire_u8 pad;
	int at[WIRE_PLACE_LOADS];
};

/* An activity's argument is a text, and sometimes another one that is made of a number. */
enum wire_argument_text {
	WIRE_ARGUMENT_NONE = 0,
	WIRE_ARGUMENT_STRING,	 /* its address and its length */
	WIRE_ARGUMENT_SYMBOL,	 /* a symbol: its number */
	WIRE_ARGUMENT_EXPANSION, /* the macro of an expansion: the number of that */
	WIRE_ARGUMENT_C_STRING,	 /* in quotes: its address and its length, with the NUL */
};

enum wire_argument_value {
	WIRE_VALUE_NONE = 0,
	WIRE_VALUE_NUMBER,
	WIRE_VALUE_SPAN, /* a place in the source: rustc's encoding of 8 bytes */
	WIRE_VALUE_CALL, /* likewise: where the expansion of the text was called */
};

/* Where the argument of a guard is at its site. */
struct wire_source {
	wire_u64 site; /* ELF address */
	wire_u8 text;  /* enum wire_argument_text */
	wire_u8 value; /* enum wire_argument_value */
	wire_u8 pad[6];
	struct wire_place string; /* or the number of the symbol or of the expansion */
	struct wire_place length; /* of a string */
	struct wire_place number; /* of `value` */
	wire_u32 pad2;
};

/*
 * Where a compiler keeps what it knows of its expansions. Offsets are bytes; `globals` is that of
 * wire_layout. All zeroes: unknown.
 */
#define WIRE_KIND_BYTES 16 /* of an expansion's kind that are read */
struct wire_expansions {
	wire_u32 table;	 /* within the globals: the address of the table */
	wire_u32 count;	 /* likewise: how many it holds */
	wire_u32 size;	 /* of an expansion */
	wire_u32 kind;	 /* within an expansion */
	wire_u32 call;	 /* within an expansion: the place of its call, 8 bytes; or 0 */
	wire_u32 macro;	 /* within the kind, a byte: the kind of macro */
	wire_u32 symbol; /* within the kind: the macro's name */
	wire_u32 tag;	 /* the first byte of the kind, of all macros */
	/* By kind of macro: enum wire_macro. */
	wire_u8 macros[4];
};

enum wire_macro {
	WIRE_MACRO_UNKNOWN = 0,
	WIRE_MACRO_BANG,
	WIRE_MACRO_ATTRIBUTE,
	WIRE_MACRO_DERIVE,
	WIRE_MACRO_QUOTED, /* no macro: a text in quotes */
};

/*
 * The argument of an activity, sent when it starts. Numbers count from 1 for the whole capture.
 * The sender leaves out the unused end of `text`.
 */
#define WIRE_ARGUMENT_MAX 256 /* a longer text is cut */
struct wire_argument {
	wire_u8 type;
	wire_u8 lib;
	wire_u8 value; /* enum wire_argument_value, and no WIRE_VALUE_CALL */
	wire_u8 macro; /* enum wire_macro; 0: the text is no macro's name */
	wire_u32 pid;
	wire_u64 argument; /* its number */
	wire_u64 number;   /* of `value` */
	wire_u32 cut;	   /* bytes that were left out */
	wire_u32 size;	   /* of `bytes` */
	char bytes[WIRE_ARGUMENT_MAX];
};

_Static_assert(sizeof(struct wire_place) == 20, "wire_place");
_Static_assert(sizeof(struct wire_source) == 80, "wire_source");
_Static_assert(sizeof(struct wire_expansions) == 36, "wire_expansions");
_Static_assert(sizeof(struct wire_argument) == 32 + WIRE_ARGUMENT_MAX, "wire_argument");

#endif /* QPROF_WIRE_ARGUMENTS_H */
