// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/functions.h"

char *functions_format(char buf[FORMAT_MAX], uint8_t cause, uint64_t value)
{
	return cause == TRACE_SAMPLE_FAULT ? format_bytes(buf, value) : format_duration(buf, value);
}

static uint64_t key_of(const struct call_row *row, const struct functions_view *v)
{
	return v->by_total ? row->total.value : row->self.value;
}

static int compare_functions(const void *a, const void *b, void *ctx)
{
	const struct call_row *x = *(const struct call_row *const *)a;
	const struct call_row *y = *(const struct call_row *const *)b;
	const struct functions_view *v = ctx;
	const struct code_function *f = v->tree->functions.at;

	if (key_of(x, v) != key_of(y, v))
		return key_of(x, v) < key_of(y, v) ? 1 : -1;
	if (x->total.value != y->total.value)
		return x->total.value < y->total.value ? 1 : -1;
	return strcmp(f[x->number].name, f[y->number].name);
}

int functions_rows__init(struct functions_rows *r, const struct functions_view *v)
{
	const struct call_tree *t = v->tree;

	*r = (struct functions_rows){};
	r->at = calloc(t->functions.n + 1UL, sizeof(struct call_row *));
	if (!r->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->functions.n; i++) {
		const struct call_row *row = &t->rows[i];

		if (t->functions.at[i].part == CODE_NO_PART || !row->total.n)
			continue;
		if (key_of(row, v) && key_of(row, v) >= v->least)
			r->at[r->n++] = row;
		else
			r->left_out++;
	}
	qsort_r(r->at, r->n, sizeof(struct call_row *), compare_functions, (void *)v);
	return 0;
}

static int compare_parts(const void *a, const void *b, void *ctx)
{
	const struct call_row *x = *(const struct call_row *const *)a;
	const struct call_row *y = *(const struct call_row *const *)b;
	const struct call_tree *t = ctx;

	if (x->charged.value != y->charged.value)
		return x->charged.value < y->charged.value ? 1 : -1;
	if (x->self.value != y->self.value)
		return x->self.value < y->self.value ? 1 : -1;
	return strcmp(t->functions.parts[x->number], t->functions.parts[y->number]);
}

int functions_rows__parts(struct functions_rows *r, const struct functions_view *v)
{
	const struct call_tree *t = v->tree;

	*r = (struct functions_rows){};
	r->at = calloc(t->functions.n_parts + 1UL, sizeof(struct call_row *));
	if (!r->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->functions.n_parts; i++) {
		const struct call_row *row = &t->parts[i];

		if (!row->self.n && !row->charged.n)
			continue;
		if (row->self.value >= v->least || row->charged.value >= v->least)
			r->at[r->n++] = row;
		else
			r->left_out++;
	}
	qsort_r(r->at, r->n, sizeof(struct call_row *), compare_parts, (void *)t);
	return 0;
}

void functions_rows__clear(struct functions_rows *r)
{
	free(r->at);
	*r = (struct functions_rows){};
}
