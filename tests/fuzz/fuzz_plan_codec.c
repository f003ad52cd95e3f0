// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Decodes any bytes as a plan from the cache: unchanged, and behind a header with the current
 * version and revision and a correct checksum. An accepted plan must be printable, and its encoding
 * must be the same bytes.
 */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "plan/codec.h"
#include "trace/bytes.h"
#include "view/plan_view.h"

#define CRC_OFFSET     16
#define LENGTH_OFFSET  20
#define PAYLOAD_OFFSET 28

static FILE *nowhere;

static void expect(bool good)
{
	if (!good)
		abort();
}

/* The header comes from an empty plan. */
static void put_header(uint8_t *bytes, size_t size)
{
	const struct plan empty = {0};
	_free_ uint8_t *buf = NULL;
	size_t len;

	expect(!plan_encode(&empty, &buf, &len) && len > PAYLOAD_OFFSET);
	memcpy(bytes, buf, CRC_OFFSET);
	bytes_store_u32(bytes + CRC_OFFSET, crc32_z(0, bytes + PAYLOAD_OFFSET, size));
	bytes_store_u64(bytes + LENGTH_OFFSET, size);
}

static void decode(const uint8_t *bytes, size_t size)
{
	_plan_ struct plan *plan = NULL;
	_free_ uint8_t *again = NULL;
	size_t len;

	if (plan_decode(bytes, size, &plan))
		return;
	expect(!plan_encode(plan, &again, &len));
	expect(len == size && !memcmp(again, bytes, size));
	expect(!plan_text(nowhere, plan, true) && !plan_json(nowhere, plan));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_free_ uint8_t *bytes = malloc(PAYLOAD_OFFSET + size);

	expect(bytes);
	decode(data, size);
	if (size)
		memcpy(bytes + PAYLOAD_OFFSET, data, size);
	put_header(bytes, size);
	decode(bytes, PAYLOAD_OFFSET + size);
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "we");
	return !nowhere;
}
