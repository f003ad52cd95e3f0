// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "plan/cache.h"
#include "plan/elf_image.h"
#include "plan/plan.h"

/* The same library may have moved since its plan was made: its identity counts, not its path. */
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
	err = len ? plan_cache__load(id, len, &plan) : -ENOENT;
	if (err)
		return -ENOENT;
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
	int err = load_cached(path, out);

	if (err != -ENOENT)
		return err;
	diag_verbose("reading %s for the first time", path);
	err = plan__build(path, out);
	if (err)
		return err;
	err = plan_cache__store(*out);
	if (err)
		diag_verbose("cannot keep the plan of %s: %s; it will be made again", path,
			     strerror(-err));
	return 0;
}
