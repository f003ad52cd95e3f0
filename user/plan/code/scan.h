/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Searches all code of a library by its bytes: decoding it all would take a hundred times as long.
 * A match may lie within an instruction, and not be one itself.
 */
#ifndef QPROF_PLAN_CODE_SCAN_H
#define QPROF_PLAN_CODE_SCAN_H

#include "plan/symbols/elf_image.h"

/* A run of code within symbols. */
struct code_span {
	const uint8_t *bytes;
	size_t len;
	uint64_t addr;
};

/*
 * Call `look` for all code within symbols, once, by address, until it returns an error. Returns
 * that, or an error of elf_image__symbols().
 */
int code_scan__spans(struct elf_image *img, int (*look)(void *arg, const struct code_span *span),
		     void *arg);

/* Addresses from `first` to `last`; none if `first` is above. */
struct code_range {
	uint64_t first, last;
};

/*
 * Call `each` for the address of every byte sequence that would be a call of, or a jump to,
 * `targets`, directly or through the global offset table; otherwise as code_scan__spans(). `to` is
 * the target. No target is 0.
 */
int code_scan__calls(struct elf_image *img, struct code_range targets,
		     int (*each)(void *arg, uint64_t addr, uint64_t to), void *arg);

#endif /* QPROF_PLAN_CODE_SCAN_H */
