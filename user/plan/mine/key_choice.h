/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A second reading of the types of keys, where bodies have no names of their own: what the enum of
 * all queries asks the key of each query (tagged_keys.h). A type that this contradicts is unknown.
 * If a body's guard can have several types, the one is taken that all queries of the body confirm.
 */
#ifndef QPROF_PLAN_MINE_KEY_CHOICE_H
#define QPROF_PLAN_MINE_KEY_CHOICE_H

#include "plan/mine/body_names.h"
#include "plan/mine/memory_keys.h"

/*
 * `bodies` are those of body_names__find(). 0, -ENOMEM, or an error of elf_image__symbols().
 */
int key_choice__make(struct elf_image *img, struct memory_keys *memory, const struct plan *plan,
		     struct body_name *bodies);

#endif /* QPROF_PLAN_MINE_KEY_CHOICE_H */
