// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads any bytes as the packed rows of a crate. What is accepted is the same after it was encoded
 * and read again.
 *
 * The first byte is the size of the shape; the second selects the format.
 */
#include "history/pack.h"
#include "fuzz.h"

static void expect_same(const struct pack_format *f, const struct pack_rows *rows)
{
	struct byte_buffer shape = {}, times = {};
	_pack_rows_ struct pack_rows again = {};

	pack_shape__encode(&shape, f, rows);
	pack_times__encode(&times, f, rows);
	expect(!shape.failed && !times.failed);
	expect(!pack_shape__decode(shape.data, shape.size, f, &again));
	expect(!pack_times__decode(times.data, times.size, f, 0, &again));
	expect(again.n == rows->n);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct pack_row *a = &rows->at[i], *b = &again.at[i];

		expect(a->key == b->key && a->absent == b->absent);
		expect(!memcmp(a->exact, b->exact, sizeof(a->exact)));
		for (unsigned int t = 0; t < f->times && !a->absent; t++)
			expect(pack_rounded(a->times[t]) == b->times[t]);
	}
	byte_buffer__destroy(&shape);
	byte_buffer__destroy(&times);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_pack_rows_ struct pack_rows rows = {};
	struct pack_format f;
	size_t shape_size;
	_free_ uint8_t *shape = NULL;
	_free_ uint8_t *times = NULL;

	if (size < 2)
		return 0;
	f = (struct pack_format){.exact = data[1] % (PACK_EXACT + 1),
				 .times = 1 + (data[1] >> 4) % PACK_TIMES};
	shape_size = data[0] < size - 2 ? data[0] : size - 2;
	shape = fuzz_copy(data + 2, shape_size);
	times = fuzz_copy(data + 2 + shape_size, size - 2 - shape_size);
	if (!pack_shape__decode(shape, shape_size, &f, &rows) &&
	    !pack_times__decode(times, size - 2 - shape_size, &f, 0, &rows))
		expect_same(&f, &rows);
	return 0;
}
