/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The arguments of activities: from what the kernel half read to the text that rustc records. */
#ifndef QPROF_DECODE_ARGUMENTS_H
#define QPROF_DECODE_ARGUMENTS_H

#include "base/map.h"
#include "qprof/wire.h"
#include "trace/bytes.h"
#include "decode/sink.h"

struct argument {
	uint64_t span;	 /* a place in the source, as the compiler packs it, or 0 */
	uint32_t string; /* the id of the text's string, plus 1; 0: it did not come */
	uint32_t pad;
};

/* Bytes of texts that are kept, each once. */
#define ARGUMENTS_TEXTS_MAX (1u << 20)

/* All zeroes is empty. */
struct guard_arguments {
	struct argument *at; /* by number */
	uint32_t n;
	struct u64_map text_of;	  /* string id -> offset in texts */
	struct byte_buffer texts; /* NUL-terminated, one behind the other */
};

/* Take a record. -EBADMSG, -ENOMEM, or the sink's error. */
int guard_arguments__record(struct guard_arguments *a, const struct decoder_sink *sink,
			    const struct wire_argument *r);

/* The argument with this number; NULL if it did not come. */
const struct argument *guard_arguments__at(const struct guard_arguments *a, uint64_t number);

/*
 * The text of the argument with this number, without its place in the source, valid until the next
 * record. NULL if it did not come, or if those before it filled the room that there is.
 */
const char *guard_arguments__text(const struct guard_arguments *a, uint64_t number);

void guard_arguments__clear(struct guard_arguments *a);

#endif /* QPROF_DECODE_ARGUMENTS_H */
