/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a plan must hold to, whether it was just made or comes from the cache. */
#ifndef QPROF_PLAN_CHECK_H
#define QPROF_PLAN_CHECK_H

#include "plan/elf_image.h"
#include "plan/plan.h"

/*
 * CRC-32 of the 8 bytes of code at each site, in order (fewer at the end of a segment): a
 * breakpoint in any other code than the plan was made from could hit the middle of an instruction.
 */
uint32_t plan_code_crc(const struct elf_image *img, const struct plan *plan);

/* What a site's cookie (qprof/wire.h) has no room for, in words; NULL if all fits. */
const char *plan_site_excess(const struct plan_site *site);

/* The same of what the kernel half is told of a step. */
const char *plan_step_excess(const struct plan_step *step);

/* The same for a whole plan. */
const char *plan_excess(const struct plan *plan);

#endif /* QPROF_PLAN_CHECK_H */
