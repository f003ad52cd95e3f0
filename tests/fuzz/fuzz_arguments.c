// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as records of arguments. A text has a bounded length, and a number has at most
 * the string that it was given.
 *
 * An input is records, each behind its size in two bytes.
 */
#include <errno.h>

#include "tracks/arguments.h"
#include "fuzz.h"

#define ASKED 512

static uint32_t n_strings;

static int on_text(void *ctx, const char *text, uint32_t *id)
{
	(void)ctx;
	expect(strlen(text) < WIRE_ARGUMENT_MAX + 64);
	*id = n_strings++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tracks_sink sink = {.text = on_text};
	struct arguments a = {0};

	n_strings = 0;
	while (size >= 2) {
		size_t n = data[0] | (size_t)data[1] << 8;
		int err;

		data += 2;
		size -= 2;
		n = n < size ? n : size;
		err = arguments__record(&a, &sink, data, n);
		expect(!err || err == -EBADMSG);
		data += n;
		size -= n;
	}
	for (uint64_t i = 0; i < ASKED; i++) {
		const struct argument *found = arguments__at(&a, i);

		expect(!found || found->string - 1 < n_strings);
	}
	expect(!arguments__at(&a, ~0ull));
	arguments__clear(&a);
	return 0;
}
