/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The arguments of activities: from what the kernel half read to the text that rustc records. */
#ifndef QPROF_TRACKS_ARGUMENTS_H
#define QPROF_TRACKS_ARGUMENTS_H

#include "base/map.h"
#include "qprof/wire.h"
#include "trace/bytes.h"
#include "tracks/sink.h"

struct argument {
	uint64_t span;	 /* a place in the source, as the compiler packs it, or 0 */
	uint32_t string; /* the id of the text's string, plus 1; 0: it did not come */
	uint32_t pad;
};

/* Bytes of texts that are kept, each once. */
#define ARGUMENTS_TEXTS_MAX (1u << 20)

/* All zeroes is empty. */
struct arguments {
	struct argument *at; /* by number */
	uint32_t n;
	struct u64_map text_of;	  /* string id -> offset in texts */
	struct byte_buffer texts; /* NUL-terminated, one behind the other */
};

/* A record of `size` bytes, which may leave out the end of its text. -EBADMSG, -ENOMEM, or the
 * sink's error. */
int arguments__record(struct arguments *a, const struct tracks_sink *sink, const void *record,
		      size_t size);

/* The argument with this number; NULL if it did not come. */
const struct argument *arguments__at(const struct arguments *a, uint64_t number);

/*
 * The text of the argument with this number, without its place in the source, valid until the next
 * record. NULL if it did not come, or if those before it filled the room that there is.
 */
const char *arguments__text(const struct arguments *a, uint64_t number);

void arguments__clear(struct arguments *a);

#endif /* QPROF_TRACKS_ARGUMENTS_H */
