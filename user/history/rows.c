// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/rows.h"

#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "history/columns.h"

struct text {
	char *text;
	uint32_t older; /* an earlier text of the same hash, or U64_MAP_NONE */
};

struct history_texts {
	struct text *at;
	uint32_t n;
	uint32_t capacity;
	struct u64_map newest; /* hash -> index */
};

void history_rows__init(struct history_rows *r)
{
	*r = (struct history_rows){};
	history_table__clear_row(history_table(HISTORY_BUILD), &r->build);
}

static const char *add_text(struct history_texts *t, const char *text, uint64_t hash,
			    uint32_t older)
{
	_free_ char *copy = strdup(text);
	struct text new = {copy, older};

	if (!copy || array__add(&t->at, &t->n, &t->capacity, &new))
		return NULL;
	if (u64_map__put(&t->newest, hash, t->n - 1)) {
		t->n--;
		return NULL;
	}
	return take_ptr(copy);
}

const char *history_rows__text(struct history_rows *r, const char *text)
{
	uint32_t newest;
	uint64_t hash;

	if (!text)
		return NULL;
	r->texts = r->texts ?: calloc(1, sizeof(*r->texts));
	if (!r->texts)
		return NULL;
	hash = map_hash(text, strlen(text));
	newest = u64_map__get(&r->texts->newest, hash);
	for (uint32_t i = newest; i != U64_MAP_NONE; i = r->texts->at[i].older)
		if (!strcmp(r->texts->at[i].text, text))
			return r->texts->at[i].text;
	return add_text(r->texts, text, hash, newest);
}

void *history_rows__append(struct history_rows *r, enum history_table_id table)
{
	const struct history_table *t = history_table(table);
	uint32_t capacity = r->capacity[table];
	void *row;

	if (r->n[table] >= UINT32_MAX ||
	    array__reserve_one(&r->rows[table], r->n[table], &capacity, t->row_size))
		return NULL;
	r->capacity[table] = capacity;
	row = (char *)r->rows[table] + r->n[table]++ * t->row_size;
	history_table__clear_row(t, row);
	return row;
}

const void *history_rows__at(const struct history_rows *r, enum history_table_id table, size_t i)
{
	if (i >= history_rows__n(r, table))
		return NULL;
	if (table == HISTORY_BUILD)
		return &r->build;
	return (const char *)r->rows[table] + i * history_table(table)->row_size;
}

size_t history_rows__n(const struct history_rows *r, enum history_table_id table)
{
	return table == HISTORY_BUILD ? 1 : r->n[table];
}

bool history_rows__are_whole(const struct history_rows *r)
{
	return r->build.state && !strcmp(r->build.state, "whole");
}

void history_rows__clear(struct history_rows *r)
{
	struct history_texts *t = r->texts;

	for (int i = 0; i < HISTORY_TABLES; i++)
		free(r->rows[i]);
	for (uint32_t i = 0; t && i < t->n; i++)
		free(t->at[i].text);
	if (t) {
		free(t->at);
		u64_map__destroy(&t->newest);
	}
	free(t);
	history_rows__init(r);
}
