// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Decodes any bytes as a plan from the cache: unchanged, and behind a header with the current
 * version and revision and a correct checksum. An accepted plan must be printable, its encoding
 * must be the same bytes, and stacks of its parts must be readable.
 */
#include <zlib.h>

#include "plan/codec.h"
#include "plan/frames.h"
#include "trace/bytes.h"
#include "view/plan_view.h"
#include "fuzz.h"

#define CRC_OFFSET     16
#define LENGTH_OFFSET  20
#define PAYLOAD_OFFSET 28

static FILE *nowhere;

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

#define STACK_MAX 256

/* A stack with a frame at the start and one behind the end of each part. */
static void read_stack(const struct plan *plan)
{
	_plan_frames_ struct plan_frames *frames = NULL;
	struct plan_frame_code codes[STACK_MAX];
	struct plan_shown shown[STACK_MAX];
	uint32_t n = 0, n_shown;

	expect(!plan_frames__new(plan, &frames));
	for (uint32_t i = 0; i < plan->n_frames && n + 2 <= STACK_MAX / 2; i++) {
		const struct plan_frame *f = &plan->frames[i];

		codes[n++] = plan_frames__code(frames, f->addr, false);
		codes[n++] = plan_frames__code(frames, f->addr + f->size, true);
	}
	for (uint32_t i = 0; i < plan->n_guard_frames && n < STACK_MAX; i++)
		codes[n++] = plan_frames__code(frames, plan->guard_frames[i].addr, false);
	n_shown = plan_frames__shown(frames, codes, n, shown, STACK_MAX);
	for (uint32_t i = 0; i < n_shown; i++) {
		expect(shown[i].frame < n &&
		       (shown[i].request == PLAN_NONE || shown[i].request < n));
		expect(shown[i].query == PLAN_NONE || shown[i].query < plan->n_queries);
		expect(shown[i].guard == PLAN_NONE || shown[i].guard < plan->n_guards);
	}
}

static const struct plan_llvm no_llvm;

static void decode(const uint8_t *bytes, size_t size)
{
	_plan_ struct plan *plan = NULL;
	_free_ uint8_t *again = NULL;
	size_t len;

	if (plan_decode(bytes, size, &plan))
		return;
	expect(!plan_encode(plan, &again, &len));
	expect(len == size && !memcmp(again, bytes, size));
	expect(!plan_text(nowhere, plan, &no_llvm, true) && !plan_json(nowhere, plan, &no_llvm));
	read_stack(plan);
}

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

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "we");
	return !nowhere;
}
