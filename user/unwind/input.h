/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parts of an ELF file that unwind tables are made of. */
#ifndef QPROF_UNWIND_INPUT_H
#define QPROF_UNWIND_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "plan/symbols/cfa.h"
#include "plan/symbols/eh_frame.h"
#include "plan/symbols/elf_image.h"

/*
 * The rules of a procedure linkage table, for linkers that do not write them (lld): its entries
 * jump to functions of other files, and until the dynamic linker has found the function, push its
 * number and jump to the first entry, which pushes once more.
 */

struct unwind_plt {
	uint64_t start; /* ELF virtual address */
	uint64_t length;
	const uint8_t *code; /* `length` bytes, not owned */
};

/*
 * Call `run` as cfa__run() does, for the part from `plt->start` up to `end`. A table whose entries
 * have no form that is known gets no run. 0, or the first error of `run`.
 */
int unwind_plt__run(const struct unwind_plt *plt, uint64_t end, cfa_run_fn *run, void *ctx);

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
