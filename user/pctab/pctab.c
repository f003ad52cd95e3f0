// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "pctab/pctab.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

int pctab_runs__add(struct pctab_runs *r, uint32_t end, int32_t value)
{
	if (end <= pctab_runs__length(r))
		return -EINVAL;
	if (r->n && r->runs[r->n - 1].value == value) {
		r->runs[r->n - 1].end = end;
		return 0;
	}
	if (array__reserve_one(&r->runs, r->n, &r->capacity, sizeof(*r->runs)))
		return -ENOMEM;
	r->runs[r->n++] = (struct pctab_run){end, value};
	return 0;
}

int pctab_runs__check(const struct pctab_runs *r, unsigned int quantum_shift)
{
	uint32_t inside = (1u << quantum_shift) - 1;
	uint32_t start = 0;

	if (!r->n || quantum_shift > PCTAB_QUANTUM_SHIFT_MAX)
		return -EINVAL;
	for (size_t i = 0; i < r->n; i++) {
		const struct pctab_run *run = &r->runs[i];

		if (run->end <= start || run->end & inside)
			return -EINVAL;
		if (i && run->value == run[-1].value)
			return -EINVAL;
		start = run->end;
	}
	return 0;
}

void pctab_runs__clear(struct pctab_runs *r)
{
	r->n = 0;
}

void pctab_runs__destroy(struct pctab_runs *r)
{
	free(r->runs);
	*r = (struct pctab_runs){};
}

int pctab_buffer__reserve(struct pctab_buffer *b, size_t size)
{
	size_t need, capacity;
	uint8_t *data;

	if (__builtin_add_overflow(b->size, size, &need))
		return -ENOMEM;
	if (need <= b->capacity)
		return 0;
	capacity = b->capacity > need / 2 ? b->capacity * 2 : need;
	data = realloc(b->data, capacity);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->capacity = capacity;
	return 0;
}

int pctab_buffer__append(struct pctab_buffer *b, const void *bytes, size_t size)
{
	int err = pctab_buffer__reserve(b, size);

	if (err)
		return err;
	if (size)
		memcpy(b->data + b->size, bytes, size);
	b->size += size;
	return 0;
}

void pctab_buffer__destroy(struct pctab_buffer *b)
{
	free(b->data);
	*b = (struct pctab_buffer){};
}
