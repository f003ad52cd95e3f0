// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as records of arguments. A text has a bounded length, and a number has at most
 * the string that it was given.
 *
 * An input is records, each behind its size in two bytes.
 */
#include <errno.h>

#include "capture/record.h"
#include "decode/arguments.h"
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
	const struct decoder_sink sink = {.text = on_text};
	struct guard_arguments a = {0};
	const uint8_t *record;
	size_t n;

	n_strings = 0;
	while ((record = fuzz_record(&data, &size, &n))) {
		_free_ uint8_t *copy = fuzz_copy(record, n);
		const struct record r = record_of(copy, n);
		int err = r.kind == WIRE_ARGUMENT ? guard_arguments__record(&a, &sink, r.argument)
						  : 0;

		expect(!err || err == -EBADMSG);
	}
	for (uint64_t i = 0; i < ASKED; i++) {
		const struct argument *found = guard_arguments__at(&a, i);

		expect(!found || found->string - 1 < n_strings);
	}
	expect(!guard_arguments__at(&a, ~0ull));
	guard_arguments__clear(&a);
	return 0;
}
