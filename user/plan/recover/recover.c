// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/recover.h"

#include "plan/recover/bodies.h"
#include "plan/recover/dynsym.h"
#include "plan/recover/guards.h"
#include "plan/symbols/reached.h"

int recover__symbols(struct elf_image *img, const char **problem)
{
	_recovered_ struct recovered r = {0};
	_bounds_ struct bounds bounds;
	int err = bounds__find(img, &bounds);

	*problem = NULL;
	/* Most steps find functions by symbols, so the image gets some first. */
	return err ?: reached__keep(img, &bounds) ?: dynsym__recover(img, &r)
		       ?: recovered__give(&r, &bounds, img)
		       ?: bodies__recover(img, &r) ?: recovered_guards__find(img, &r)
		       ?: recovered__give(&r, &bounds, img);
}
