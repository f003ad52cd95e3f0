// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/check.h"

#include <zlib.h>

#define CODE_BYTES 8

uint32_t plan_code_crc(const struct elf_image *img, const struct plan *plan)
{
	uint32_t crc = crc32_z(0, NULL, 0);

	for (uint32_t i = 0; i < plan->n_sites; i++) {
		size_t len;
		const uint8_t *code = elf_image__code(img, plan->sites[i].addr, &len);

		if (code)
			crc = crc32_z(crc, code, len < CODE_BYTES ? len : CODE_BYTES);
	}
	return crc;
}

/* `bytes` in units of `unit`, in 16 bits whose last value means "none". */
static bool slot_fits(int32_t bytes, int32_t unit)
{
	return bytes == PLAN_NO_SLOT ||
	       (bytes >= 0 && bytes % unit == 0 && bytes / unit < (int32_t)WIRE_NO_SLOT);
}

/* The cookie of a request: 32 bits for the address, 4 for where the caller is on the stack. */
static bool request_fits(uint64_t addr, int32_t bytes)
{
	return addr <= UINT32_MAX && bytes >= 0 && bytes % 8 == 0 && bytes / 8 < 16;
}

const char *plan_site_excess(const struct plan_site *s)
{
	if (s->role == WIRE_ROLE_REQUEST && !request_fits(s->addr, s->slot))
		return "a request's return address more than 120 bytes up the stack, or 4 GiB of "
		       "code";
	/* With callers it is a request too. */
	if (s->role == WIRE_ROLE_WRAPPER && !request_fits(s->addr, s->sp_delta))
		return "a wrapper's return address more than 120 bytes up the stack, or 4 GiB of "
		       "code";
	if (s->role == WIRE_ROLE_END && !slot_fits(s->slot, 4))
		return "an invocation id more than 262,136 bytes up the stack";
	if (s->role == WIRE_ROLE_IDENTIFY && !slot_fits(s->slot, 8))
		return "a query's vtable more than 524,272 bytes up the stack";
	if (s->role == WIRE_ROLE_IDENTIFY && (s->vtable_offset < 0 || s->vtable_offset % 8 ||
					      s->vtable_offset / 8 >= 2 * WIRE_SP_BIAS))
		return "a vtable of more than 32,768 bytes";
	/* The bias makes room for -16384 to 16376. */
	if (s->role != WIRE_ROLE_IDENTIFY &&
	    (s->sp_delta % 8 || s->sp_delta / 8 < -WIRE_SP_BIAS || s->sp_delta / 8 >= WIRE_SP_BIAS))
		return "a probe site more than 16,376 bytes down the stack";
	return NULL;
}

const char *plan_excess(const struct plan *plan)
{
	const char *excess = NULL;

	if (plan->n_queries > WIRE_NO_QUERY)
		return "more than 65,535 queries";
	if (plan->n_bodies > WIRE_NO_GROUP)
		return "more than 65,535 bodies of try_execute_query";
	for (uint32_t i = 0; i < plan->n_sites && !excess; i++) {
		excess = plan_site_excess(&plan->sites[i]);
		/* The cookie of an IDENTIFY site numbers it. */
		if (plan->sites[i].role == WIRE_ROLE_IDENTIFY && i > 0xffff)
			excess = "more than 65,536 probe sites";
	}
	return excess;
}
