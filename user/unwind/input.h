/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parts of an ELF file that unwind tables are made of. */
#ifndef QPROF_UNWIND_INPUT_H
#define QPROF_UNWIND_INPUT_H

#include <stdint.h>

#include "plan/symbols/elf_image.h"
#include "plan/symbols/eh_frame.h"
#include "unwind/plt.h"

#define UNWIND_INPUT_PLTS_MAX 4
#define UNWIND_SEGMENTS_MAX   8 /* that are executable; librustc_driver has two */

struct unwind_input {
	struct eh_frame frame; /* size 0: the file has none */
	/* Functions outside of these are left out. Together they span less than 4 GiB. */
	struct elf_segment segments[UNWIND_SEGMENTS_MAX];
	uint32_t n_segments;
	/* Where a program starts, or 0. It has no caller, and ld.so does not describe it. */
	uint64_t entry;
	/* Sections of trampolines into other files. Linkers do not always describe them. */
	struct unwind_plt plts[UNWIND_INPUT_PLTS_MAX];
	uint32_t n_plts;
};

/*
 * Find them in a mapped image, which must outlive `out`. 0; -ENODATA if the file has no .eh_frame;
 * -EFBIG if its code spans 4 GiB or more, is in too many segments, or .eh_frame is too long. Prints
 * nothing.
 */
int unwind_input__find(const struct elf_image *img, struct unwind_input *out);

#endif /* QPROF_UNWIND_INPUT_H */
