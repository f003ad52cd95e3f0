/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the fuzzers of definitions and of other crates' definitions. */
#ifndef QPROF_TESTS_FUZZ_DEFINITIONS_H
#define QPROF_TESTS_FUZZ_DEFINITIONS_H

#include <errno.h>

#include "decode/definitions.h"
#include "fuzz.h"

static uint32_t n_strings;

static int on_text(void *ctx, const char *text, uint32_t *id)
{
	(void)ctx;
	expect(strlen(text) < PATHS_SEGMENT_MAX);
	*id = n_strings++;
	return 0;
}

static int on_compose(void *ctx, const struct trace_piece *pieces, uint32_t n, uint32_t *id)
{
	(void)ctx;
	for (uint32_t i = 0; i < n; i++)
		expect(pieces[i].text || pieces[i].id < n_strings);
	*id = n_strings++;
	return 0;
}

/* 254: named, 255 and those that are not there: unknown */
static void set_tags(struct wire_layout *l, const uint8_t *tags, size_t n)
{
	for (uint32_t i = 0; i < WIRE_TAGS; i++) {
		uint8_t tag = i < n ? tags[i] : 255;

		l->tags[i] = tag < 254 ? tag : tag == 254 ? WIRE_TAG_NAMED : WIRE_TAG_UNKNOWN;
	}
}

static void add_symbols(struct definitions *d, const uint8_t *bytes, uint32_t n)
{
	struct wire_symbols *r = calloc(1, sizeof(*r));
	int err;

	expect(r);
	r->size = n < WIRE_SYMBOLS_MAX ? n : WIRE_SYMBOLS_MAX;
	memcpy(r->bytes, bytes, r->size);
	err = definitions__add_symbols(d, r);
	expect(!err || err == -EBADMSG);
	free(r);
}

#endif /* QPROF_TESTS_FUZZ_DEFINITIONS_H */
