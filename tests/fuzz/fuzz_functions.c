// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads any bytes as the stored functions of a file: unchanged, and with a correct magic and
 * checksum. What is accepted finds each of its ranges by all of the addresses at its borders, and
 * names that end within the bytes.
 */
#include "plan/symbols/functions.h"
#include "fuzz.h"

static volatile size_t sink;

static void find(const struct functions *f, uint64_t pc)
{
	struct function_range r;

	if (!functions__find(f, pc, &r))
		return;
	expect(pc >= r.addr && pc - r.addr < r.size);
	sink += r.symbol ? strlen(r.symbol) : 0;
}

static void read_bytes(const uint8_t *bytes, size_t size)
{
	_functions_ struct functions *f = NULL;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint64_t base;

	if (functions__of_bytes(bytes, size, NULL, 0, &f))
		return;
	expect(functions__build_id(f, id) <= sizeof(id));
	memcpy(&base, bytes + 8, sizeof(base));
	find(f, 0);
	find(f, UINT64_MAX);
	for (size_t at = FUNCTIONS_HEADER; at + FUNCTIONS_RANGE <= size; at += FUNCTIONS_RANGE) {
		uint32_t range[2];

		memcpy(range, bytes + at, sizeof(range));
		for (int i = -1; i < 2; i++) {
			find(f, base + range[0] + (uint64_t)i);
			find(f, base + range[0] + range[1] + (uint64_t)i);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_free_ uint8_t *copy = fuzz_copy(data, size);

	read_bytes(copy, size);
	if (size >= FUNCTIONS_HEADER) {
		functions__seal(copy, size);
		read_bytes(copy, size);
	}
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return fuzz_drop_messages();
}
