// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/json.h"
#include "view/samples_text.h"
#include "view/waits.h"

static void add_sum(struct json *j, const struct sample_sum *sum)
{
	json__number(j, "n", sum->n);
	json__number(j, "ns", sum->value);
}

static void put_kinds(struct json *j, const struct sample_waits *w)
{
	size_t n = 0;

	json__array(j, "kinds");
	for (int i = 0; i < SAMPLE_WAIT_KINDS && !j->err; i++) {
		if (!w->of[i].n)
			continue;
		json__line(j, n++);
		json__text(j, "wait", sample_wait_name(i));
		add_sum(j, &w->of[i]);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_row(struct json *j, const struct sample_wait_row *row, const struct sample_waits *w)
{
	const struct code_function *f = w->functions.at, *function = NULL;

	if (row->function != CODE_NO_FUNCTION)
		function = &f[row->function];
	json__text(j, "wait", sample_wait_name(row->wait));
	json__text(j, "query", row->query == CODE_NO_FUNCTION ? NULL : f[row->query].name);
	json__text(j, "function", function ? function->name : NULL);
	json__text(j, "part", function ? w->functions.parts[function->part] : NULL);
	add_sum(j, &row->sum);
	json__put(j);
}

int waits_json(FILE *out, const struct waits_view *v)
{
	const struct sample_waits *w = v->waits;
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", "qprof-waits/1");
	json__text(&j, "problem", v->problem);
	add_sum(&j, &w->all);
	json__put_open(&j);
	samples_json(&j, v->totals);
	put_kinds(&j, w);
	json__array(&j, "rows");
	for (uint32_t i = 0; i < w->n_rows && !j.err && w->rows[i].sum.value >= v->least; i++) {
		json__line(&j, i);
		put_row(&j, &w->rows[i], w);
	}
	json__print(&j, "]}\n");
	return j.err;
}
