// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/input.h"

#include <errno.h>
#include <string.h>
#include <stdbool.h>

/* Entries of a PLT have 16 bytes; LLVM 22 has 314. */
#define PLT_SIZE_MAX (16u << 20)

int unwind_input__find(const struct elf_image *img, struct unwind_input *out)
{
	static const char *const plts[] = {".plt", ".plt.got", ".plt.sec", ".iplt"};
	struct unwind_input in = {};
	uint64_t addr, size, low = UINT64_MAX, high = 0;
	size_t len, n = elf_image__code_segments(img, in.segments, UNWIND_SEGMENTS_MAX);

	_Static_assert(sizeof(plts) / sizeof(*plts) == UNWIND_INPUT_PLTS_MAX, "room for them");
	if (n > UNWIND_SEGMENTS_MAX)
		return -EFBIG;
	for (size_t i = 0; i < n; i++) {
		const struct elf_segment *seg = &in.segments[i];

		low = seg->addr < low ? seg->addr : low;
		high = seg->addr + seg->size > high ? seg->addr + seg->size : high;
	}
	if (!n)
		return -ENODATA;
	/* Offsets from the start of its first page have 32 bits. */
	if (high - low > UINT32_MAX - WIRE_UNWIND_PAGE_BYTES)
		return -EFBIG;
	in.n_segments = (uint32_t)n;
	if (!elf_image__section(img, ".eh_frame", &addr, &size))
		return -ENODATA;
	in.frame = (struct eh_frame){.data = elf_image__bytes(img, addr, &len), .addr = addr};
	if (!in.frame.data)
		return -ENODATA;
	if (size > EH_FRAME_SIZE_MAX)
		return -EFBIG;
	in.frame.size = size < len ? size : len;
	in.entry = elf_image__entry(img);
	for (int i = 0; i < UNWIND_INPUT_PLTS_MAX; i++) {
		struct unwind_plt *plt = &in.plts[in.n_plts];

		if (!elf_image__section(img, plts[i], &addr, &size))
			continue;
		*plt = (struct unwind_plt){.start = addr, .code = elf_image__code(img, addr, &len)};
		plt->length = size < len ? size : len;
		in.n_plts += plt->code && plt->length && plt->length <= PLT_SIZE_MAX;
	}
	*out = in;
	return 0;
}

/* ---- Sections of a PLT ----------------------------------------------------------------------- */

#define ENTRY 16

static bool begins_with(const struct unwind_plt *plt, uint64_t at, const char *bytes, size_t n)
{
	return at <= plt->length && n <= plt->length - at && !memcmp(plt->code + at, bytes, n);
}

#define BEGINS_WITH(plt, at, bytes) begins_with(plt, at, bytes, sizeof(bytes) - 1)

#define ENDBR64	  "\xf3\x0f\x1e\xfa"
#define PUSH_WORD "\xff\x35" /* what is in memory */
#define PUSH	  "\x68"
#define JUMP	  "\xff\x25" /* to an address in memory */
#define BND	  "\xf2"     /* before a jump */

/* The byte of an entry, of those that push, from which on it has pushed; 0 if they are others. */
static uint32_t pushed_from(const struct unwind_plt *plt)
{
	if (plt->start % ENTRY || !BEGINS_WITH(plt, 0, PUSH_WORD))
		return 0;
	/* Up to the end of the instruction that pushes. */
	if (BEGINS_WITH(plt, ENTRY, JUMP) && BEGINS_WITH(plt, ENTRY + 6, PUSH))
		return 11;
	if (BEGINS_WITH(plt, ENTRY, ENDBR64 PUSH))
		return 9;
	return 0;
}

/* Entries that only jump. */
static bool is_jumps(const struct unwind_plt *plt)
{
	return BEGINS_WITH(plt, 0, JUMP) || BEGINS_WITH(plt, 0, ENDBR64 JUMP) ||
	       BEGINS_WITH(plt, 0, ENDBR64 BND JUMP);
}

struct part {
	uint64_t length;
	struct wire_unwind_rule rule;
};

/* Parts one after the other; the last one may be longer than the table. */
static int run_parts(const struct unwind_plt *plt, uint64_t end, const struct part *parts, size_t n,
		     cfa_run_fn *run, void *ctx)
{
	uint64_t at = plt->start;
	int err = 0;

	for (size_t i = 0; !err && i < n && at < end; i++) {
		uint64_t to = parts[i].length < end - at ? at + parts[i].length : end;

		err = run(ctx, at, to, parts[i].rule);
		at = to;
	}
	return err;
}

int unwind_plt__run(const struct unwind_plt *plt, uint64_t end, cfa_run_fn *run, void *ctx)
{
	uint32_t from = pushed_from(plt);
	const struct part pushing[] = {
		/* The first entry is reached with a number pushed, and pushes a word itself. */
		{6, {.base = WIRE_UNWIND_RSP, .cfa = 16}},
		{ENTRY - 6, {.base = WIRE_UNWIND_RSP, .cfa = 24}},
		{UINT64_MAX, {.base = WIRE_UNWIND_PLT, .cfa = (int32_t)from}},
	};
	const struct part jumping[] = {{UINT64_MAX, {.base = WIRE_UNWIND_RSP, .cfa = 8}}};

	if (from)
		return run_parts(plt, end, pushing, 3, run, ctx);
	return is_jumps(plt) ? run_parts(plt, end, jumping, 1, run, ctx) : 0;
}
