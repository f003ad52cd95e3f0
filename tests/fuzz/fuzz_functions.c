// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads any bytes as the stored functions of a file: unchanged, and with a correct magic and
 * checksum. What is accepted finds each of its ranges by all of the addresses at its borders, and
 * names that end within the bytes. Also takes them apart as a stored file, and as one of plan
 * --output with a correct checksum: the parts must lie within.
 */
#include <zlib.h>

#include "cli/plan_file.h"
#include "plan/symbols/functions.h"
#include "unwind/job.h"
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

/* Reads the last byte of a part that is not empty. */
static void touch(const uint8_t *part, size_t len)
{
	sink += len ? part[len - 1] : 0;
}

static void split(uint8_t *bytes, size_t size)
{
	struct unwind_parts parts;
	struct plan_file f;
	uint32_t crc;

	if (!unwind_load__split(bytes, size, &parts)) {
		touch(parts.table, parts.table_len);
		touch(parts.functions, parts.functions_len);
	}
	if (size < PLAN_FILE_HEADER)
		return;
	memcpy(bytes, "qprofpln", 8);
	crc = (uint32_t)crc32_z(0, bytes + 24, size - 24);
	memcpy(bytes + 20, &crc, sizeof(crc));
	if (!plan_file__split(bytes, size, &f)) {
		touch(f.plan, f.plan_len);
		touch(f.code, f.code_len);
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
	split(copy, size);
	return 0;
}

FUZZ_DROP_MESSAGES()
