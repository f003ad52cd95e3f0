/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_PLAN_RECOVER_LOADERS_H
#define QPROF_PLAN_RECOVER_LOADERS_H

#include "plan/symbols/elf_image.h"

/* Functions that load results of the last compile, and those that call one. By address. */
struct loaders {
	uint64_t *items;
	uint32_t n, capacity;
};

/* Symbols must name the cold sides. 0 or -ENOMEM; destroy it in any case. */
int loaders__find(struct elf_image *img, struct loaders *out);

bool loaders__has(const struct loaders *l, uint64_t function);

void loaders__destroy(struct loaders *l);

#endif /* QPROF_PLAN_RECOVER_LOADERS_H */
