// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/rules.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

static uint64_t key_of(struct wire_unwind_rule rule)
{
	uint64_t key;

	memcpy(&key, &rule, sizeof(key));
	return key;
}

static int add(struct unwind_rules *r, struct wire_unwind_rule rule)
{
	return u64_map__put(&r->numbers, key_of(rule), r->n)
		       ?: array__add(&r->rules, &r->n, &r->capacity, &rule);
}

int unwind_rules__number(struct unwind_rules *r, struct wire_unwind_rule rule, uint32_t *number)
{
	uint32_t known;
	int err = r->rules ? 0 : add(r, (struct wire_unwind_rule){});

	if (err)
		return err;
	if (key_of(r->rules[r->last]) == key_of(rule)) {
		*number = r->last;
		return 0;
	}
	known = u64_map__get(&r->numbers, key_of(rule));
	if (known == U64_MAP_NONE && r->n == WIRE_UNWIND_RULES_MAX) {
		r->refused++;
		known = 0;
	} else if (known == U64_MAP_NONE) {
		known = r->n;
		err = add(r, rule);
	}
	if (!err)
		*number = r->last = known;
	return err;
}

struct used_rule {
	uint32_t uses;
	uint32_t number;
	struct wire_unwind_rule rule;
};

/* Most used first; rule 0 stays in front. */
static int by_uses(const void *a, const void *b)
{
	const struct used_rule *x = a, *y = b;

	if (!x->number != !y->number)
		return x->number ? 1 : -1;
	if (x->uses != y->uses)
		return x->uses > y->uses ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

int unwind_rules__sort(struct unwind_rules *r, const uint32_t *uses, uint32_t *numbers)
{
	_free_ struct used_rule *order = calloc(r->n + 1UL, sizeof(*order));
	int err = order ? 0 : -ENOMEM;

	r->last = 0;
	for (uint32_t i = 0; !err && i < r->n; i++)
		order[i] = (struct used_rule){uses[i], i, r->rules[i]};
	if (!err)
		qsort(order, r->n, sizeof(*order), by_uses);
	for (uint32_t i = 0; !err && i < r->n; i++) {
		r->rules[i] = order[i].rule;
		numbers[order[i].number] = i;
		err = u64_map__put(&r->numbers, key_of(order[i].rule), i);
	}
	return err;
}

void unwind_rules__destroy(struct unwind_rules *r)
{
	free(r->rules);
	u64_map__destroy(&r->numbers);
	*r = (struct unwind_rules){};
}
