// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads any bytes as cargo's notes of a unit before and after a build: two records of JSON, and one
 * of the list of what a compiler read. Every text that comes out lies within what was read.
 */
#include "cargo/fingerprint.h"

#include "base/cleanup.h"
#include "fuzz.h"

static bool never(void *ctx, uint64_t hash)
{
	*(uint64_t *)ctx ^= hash;
	return false;
}

static void read_json(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
	_free_ char *first = (char *)fuzz_copy(a, a_size), *second = (char *)fuzz_copy(b, b_size);
	enum trace_rebuilt_reason reason = TRACE_REBUILT_MAX;
	char detail[FINGERPRINT_DETAIL_MAX];
	struct fingerprint before, after;
	struct word path;
	uint64_t sum = 0;
	size_t at = 0;

	if (fingerprint__parse(&before, first, a_size) ||
	    fingerprint__parse(&after, second, b_size))
		return;
	if (fingerprint__differs(&before, &after, &reason, detail))
		expect(reason < TRACE_REBUILT_MAX && strlen(detail) < sizeof(detail));
	else
		expect(!fingerprint__distance(&before, &after));
	expect(!fingerprint__differs(&after, &after, &reason, detail));
	fingerprint__any_dep(&after, never, &sum);
	while ((path = fingerprint__watched(&after, &at)).at)
		expect(path.at >= second && path.at + path.len <= second + b_size);
}

static void read_inputs(const uint8_t *data, size_t size)
{
	_free_ uint8_t *copy = fuzz_copy(data, size);
	struct dep_info_entry e;
	struct dep_info d;

	if (dep_info__begin(&d, copy, size))
		return;
	while (dep_info__next(&d, &e) > 0)
		expect(e.name.at >= (char *)copy && e.name.at + e.name.len <= (char *)copy + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t a_size, b_size, c_size;
	const uint8_t *a = fuzz_record(&data, &size, &a_size);
	const uint8_t *b = a ? fuzz_record(&data, &size, &b_size) : NULL;
	const uint8_t *c = b ? fuzz_record(&data, &size, &c_size) : NULL;

	if (b)
		read_json(a, a_size, b, b_size);
	if (c)
		read_inputs(c, c_size);
	return 0;
}
