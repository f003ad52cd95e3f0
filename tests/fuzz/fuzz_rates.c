// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Decodes any bytes as a library's learnt rates: unchanged, and with a correct checksum. The
 * encoding of accepted rates must be the same bytes.
 */
#include <zlib.h>

#include "budget/rates.h"
#include "trace/bytes.h"
#include "fuzz.h"

#define N	   3
#define CRC_OFFSET 8
/* The checksum covers the rest, which begins with their number and the sum of their names. */
#define SUM_OFFSET 12
#define HEADER	   28

static struct rates *none(void)
{
	static struct plan_query queries[N] = {
		{.name = (char *)"a"}, {.name = (char *)"b"}, {.name = (char *)"c"}};
	static struct plan_guard guards[N] = {{.label = (char *)"a", .scope = 1},
					      {.label = (char *)"b", .scope = 2},
					      {.label = (char *)"c"}};
	const struct plan plan = {
		.queries = queries, .n_queries = N, .guards = guards, .n_guards = N};
	struct rates *r;

	expect(!rates__new(&plan, &r));
	return r;
}

static void decode(const uint8_t *bytes, size_t size)
{
	_rates_ struct rates *r = none();
	_free_ uint8_t *again = NULL;
	size_t len;

	if (rates__decode(bytes, size, r))
		return;
	for (uint32_t i = 0; i < N; i++)
		expect(rates__of(r, i, 1) >= 0 && rates__of(r, i, 1) <= 1e8);
	expect(rates__share_of_usual(r) >= 0 && rates__share_of_usual(r) <= 1);
	for (uint32_t i = 0; i < r->n_groups; i++)
		expect(!rates__never(r, i) || r->groups[i].cpu_s > 0);
	expect(!rates__encode(r, &again, &len));
	expect(len == size && !memcmp(again, bytes, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_rates_ struct rates *r = none();
	_free_ uint8_t *bytes = NULL;
	_free_ uint8_t *copy = malloc(size + 1);
	size_t len;

	expect(copy);
	memcpy(copy, data, size);
	decode(copy, size);
	expect(!rates__encode(r, &bytes, &len));
	memcpy(bytes + HEADER, data, size < len - HEADER ? size : len - HEADER);
	bytes_store_u32(bytes + CRC_OFFSET, crc32_z(0, bytes + SUM_OFFSET, len - SUM_OFFSET));
	decode(bytes, len);
	return 0;
}
