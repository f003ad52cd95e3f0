/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Limits that every plan keeps, whether it is new or comes from the cache. */
#ifndef QPROF_PLAN_CHECK_H
#define QPROF_PLAN_CHECK_H

#include "plan/plan.h"
#include "plan/symbols/elf_image.h"

#define PLAN_CODE_BYTES 8

/*
 * CRC-32 of the 8 bytes of code at each site, in order (fewer at the end of a segment): a
 * breakpoint in any other code than the plan was made from could hit the middle of an instruction.
 */
uint32_t plan_code_crc(const struct elf_image *img, const struct plan *plan);

/*
 * Names the operand of a site that is beyond its limit, as part of a sentence; NULL if none is.
 */
const char *plan_site_excess(const struct plan_site *site);

/* The same for a step's entry in the kernel half's table. */
const char *plan_step_excess(const struct plan_step *step);

/*
 * Names what cannot be in any layout that was found, as part of a sentence: fields out of range.
 * NULL if all is well, or nothing is known.
 */
const char *plan_layout_excess(const struct plan_layout *layout);

const char *plan_places_excess(const struct wire_layout_places *places);
const char *plan_calls_excess(const struct wire_layout_calls *calls);
const char *plan_expansions_excess(const struct wire_expansions *expansions);

/* As plan_site_excess(), for a whole plan. */
const char *plan_excess(const struct plan *plan);

#endif /* QPROF_PLAN_CHECK_H */
