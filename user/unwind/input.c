// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/input.h"

#include <errno.h>

/* Entries of a PLT have 16 bytes; LLVM 22 has 314. */
#define PLT_SIZE_MAX (16u << 20)

static void add_plt(const struct elf_image *img, const char *name, struct unwind_input *in)
{
	struct unwind_plt *plt = &in->plts[in->n_plts];
	uint64_t addr, size;
	size_t len;

	if (!elf_image__section(img, name, &addr, &size))
		return;
	*plt = (struct unwind_plt){.start = addr, .code = elf_image__code(img, addr, &len)};
	plt->length = size < len ? size : len;
	in->n_plts += plt->code && plt->length && plt->length <= PLT_SIZE_MAX;
}

static int find_segments(const struct elf_image *img, struct unwind_input *in)
{
	size_t n = elf_image__code_segments(img, in->segments, UNWIND_SEGMENTS_MAX);
	uint64_t low = UINT64_MAX, high = 0;

	if (n > UNWIND_SEGMENTS_MAX)
		return -EFBIG;
	for (size_t i = 0; i < n; i++) {
		const struct elf_segment *seg = &in->segments[i];

		low = seg->addr < low ? seg->addr : low;
		high = seg->addr + seg->size > high ? seg->addr + seg->size : high;
	}
	if (!n)
		return -ENODATA;
	in->n_segments = (uint32_t)n;
	/* Offsets from the start of its first page have 32 bits. */
	return high - low > UINT32_MAX - WIRE_UNWIND_PAGE_BYTES ? -EFBIG : 0;
}

int unwind_input__find(const struct elf_image *img, struct unwind_input *out)
{
	static const char *const plts[] = {".plt", ".plt.got", ".plt.sec", ".iplt"};
	struct unwind_input in = {};
	uint64_t addr, size;
	size_t len;
	int err = find_segments(img, &in);

	_Static_assert(sizeof(plts) / sizeof(*plts) == UNWIND_INPUT_PLTS_MAX, "room for them");
	if (err)
		return err;
	if (!elf_image__section(img, ".eh_frame", &addr, &size))
		return -ENODATA;
	in.frame = (struct eh_frame){.data = elf_image__bytes(img, addr, &len), .addr = addr};
	if (!in.frame.data)
		return -ENODATA;
	if (size > EH_FRAME_SIZE_MAX)
		return -EFBIG;
	in.frame.size = size < len ? size : len;
	in.entry = elf_image__entry(img);
	for (int i = 0; i < UNWIND_INPUT_PLTS_MAX; i++)
		add_plt(img, plts[i], &in);
	*out = in;
	return 0;
}
