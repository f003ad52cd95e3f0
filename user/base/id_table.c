// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/id_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define PAGE_BITS 12
#define PAGE_IDS  (1u << PAGE_BITS)

uint32_t id_table__get(const struct id_table *t, uint32_t id)
{
	uint32_t page = id >> PAGE_BITS;

	if (page >= t->n_pages || !t->pages[page])
		return ID_TABLE_NONE;
	return t->pages[page][id % PAGE_IDS];
}

uint32_t id_table__next(const struct id_table *t, uint32_t from)
{
	for (uint32_t page = from >> PAGE_BITS; page < t->n_pages; page++) {
		uint32_t id = page == from >> PAGE_BITS ? from % PAGE_IDS : 0;

		while (t->pages[page] && id < PAGE_IDS && t->pages[page][id] == ID_TABLE_NONE)
			id++;
		if (t->pages[page] && id < PAGE_IDS)
			return (page << PAGE_BITS) + id;
	}
	return ID_TABLE_NONE;
}

int id_table__put(struct id_table *t, uint32_t id, uint32_t value)
{
	uint32_t page = id >> PAGE_BITS;

	if (array__reserve_at(&t->pages, page, &t->n_pages, sizeof(*t->pages)))
		return -ENOMEM;
	if (!t->pages[page]) {
		t->pages[page] = malloc(PAGE_IDS * sizeof(*t->pages[page]));
		if (!t->pages[page])
			return -ENOMEM;
		for (uint32_t i = 0; i < PAGE_IDS; i++)
			t->pages[page][i] = ID_TABLE_NONE;
	}
	t->pages[page][id % PAGE_IDS] = value;
	return 0;
}

void id_table__destroy(struct id_table *t)
{
	for (uint32_t i = 0; i < t->n_pages; i++)
		free(t->pages[i]);
	free(t->pages);
	*t = (struct id_table){0};
}
