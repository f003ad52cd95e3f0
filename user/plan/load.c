// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "plan/cache.h"
#include "plan/check.h"
#include "plan/elf_image.h"
#include "plan/plan.h"

/* A cached plan is only as good as the identity it is filed under: check it against the file. */
static bool fits(const struct elf_image *img, const struct plan *plan)
{
	uint64_t offset;

	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (!elf_image__offset(img, plan->sites[i].addr, &offset) ||
		    offset != plan->sites[i].offset)
			return false;
	return plan_code_crc(img, plan) == plan->code_crc;
}

/*
 * *out stays NULL if there is no plan to be had. The same library may have moved since its plan
 * was made: its identity counts, not its path.
 */
static int load_cached(const char *path, struct plan **out)
{
	_elf_image_ struct elf_image *img = NULL;
	_plan_ struct plan *plan = NULL;
	uint8_t id[PLAN_BUILD_ID_MAX];
	uint32_t len;
	char *own_path;
	int err = elf_image__open(path, &img);

	if (err)
		return err;
	len = elf_image__identity(img, id);
	if (!len || plan_cache__load(id, len, &plan) || !fits(img, plan))
		return 0;
	own_path = strdup(path);
	if (!own_path)
		return -ENOMEM;
	free(plan->path);
	plan->path = own_path;
	*out = take_ptr(plan);
	return 0;
}

int plan__load(const char *path, struct plan **out)
{
	struct plan *plan = NULL;
	int err = load_cached(path, &plan);

	if (err)
		return err;
	if (!plan) {
		diag_verbose("reading %s for the first time", path);
		err = plan__build(path, &plan);
		if (err)
			return err;
		plan_cache__store(plan);
	}
	*out = plan;
	return 0;
}
