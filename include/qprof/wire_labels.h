/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0 OR MIT */
/* The part of wire.h for dynamic labels. */
#ifndef QPROF_WIRE_LABELS_H
#define QPROF_WIRE_LABELS_H

#include "qprof/wire_samples.h"
#include "qprof/wire_types.h"

#define WIRE_LABEL_MAX 64

/* Of struct wire_label_key: what the user half reads the text by. */
enum wire_label_in {
	WIRE_LABEL_IN_KEY, /* it is there */
	WIRE_LABEL_IN_FILE,
	/* At an ELF address of the library, as the mappings were locked: no file is known. */
	WIRE_LABEL_IN_LIBRARY,
};

/* Where a label's text is, if its page is not there, and is not waited for. */
struct wire_label_place {
	wire_u64 offset; /* in the file; or the address */
	struct wire_file_key file;
	wire_u32 lib; /* the library that is this file, or its label is not known */
	wire_u8 pad[WIRE_LABEL_MAX - 44];
};

/*
 * A dynamic label: its text is only in the compiler's memory. The kernel half's key for it. The
 * rest of `text` is zero.
 */
struct wire_label_key {
	wire_u32 len;	 /* bytes of the whole text; text holds its first WIRE_LABEL_MAX */
	wire_u8 timer;	 /* 1: read at WIRE_ROLE_TIMER, 0: at another guard */
	wire_u8 in_file; /* enum wire_label_in; the others are of `place` */
	wire_u8 pad[2];
	union {
		char text[WIRE_LABEL_MAX];
		struct wire_label_place place;
	};
};

/*
 * Sent when a label is first read. Numbers count from 1 for the whole capture, across processes. In
 * a race one label may get two numbers.
 */
struct wire_label {
	wire_u8 type;
	wire_u8 pad[3];
	wire_u32 label;
	struct wire_label_key key;
};

/* The kernel half's entry for a label; the user half may set `hidden`. */
struct wire_label_state {
	wire_u32 label;
	wire_u32 hidden; /* 1: its intervals are not recorded */
};

_Static_assert(sizeof(struct wire_label_key) == 8 + WIRE_LABEL_MAX, "wire_label_key");
_Static_assert(sizeof(struct wire_label_place) == WIRE_LABEL_MAX, "wire_label_place");
_Static_assert(sizeof(struct wire_label) == 16 + WIRE_LABEL_MAX, "wire_label");
_Static_assert(sizeof(struct wire_label_state) == 8, "wire_label_state");

#endif /* QPROF_WIRE_LABELS_H */
