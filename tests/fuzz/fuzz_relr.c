// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads any bytes as packed relocations: places ascend, and there are no more than bits. */
#include "plan/symbols/got.h"
#include "fuzz.h"

struct found {
	uint64_t last;
	uint64_t n;
};

static int note(void *arg, uint64_t place)
{
	struct found *f = arg;

	expect(!f->n || place > f->last);
	f->last = place;
	f->n++;
	return 0;
}

static int stop_there(void *arg, uint64_t place)
{
	const uint64_t *last = arg;

	return place == *last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct found f = {0};

	expect(!relr__each(data, size, note, &f));
	expect(f.n <= 63 * (size / 8));
	expect(relr__each(data, size, stop_there, &f.last) == (f.n > 0));
	return 0;
}
