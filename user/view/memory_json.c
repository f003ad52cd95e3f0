// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>

#include "view/functions.h"
#include "view/json.h"
#include "view/memory.h"
#include "view/samples_text.h"

static void add_sum(struct json *j, const struct sample_sum *sum)
{
	json__number(j, "samples", sum->n);
	json__number(j, "bytes", sum->value);
	json__number(j, "error_bytes", sample_sum__error(sum));
}

static void put_crates(struct json *j, const struct memory_rows *r)
{
	json__array(j, "crates");
	for (size_t i = 0; i < r->n_crates && !j->err; i++) {
		const struct trace_process *p = r->crates[i].process;

		json__line(j, i);
		json__text(j, "name", r->crates[i].name);
		json__number(j, "pid", p->pid);
		add_sum(j, &r->crates[i].sum);
		json__known(j, "peak_bytes", p->peak_bytes, p->peak_bytes);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_queries(struct json *j, const struct memory_rows *r, const struct memory_view *v)
{
	json__array(j, "queries");
	for (size_t i = 0; i < r->n_queries && !j->err; i++) {
		const struct summary_row *row = &r->queries[i];

		json__line(j, i);
		json__text(j, "name", v->names->text(v->names->ctx, row->label));
		json__text(j, "kind", summary_row__kind(row));
		add_sum(j, &row->samples.self[TRACE_SAMPLE_FAULT]);
		json__known(j, "total_bytes", !samples__totals(v->samples)->light,
			    row->samples.total[TRACE_SAMPLE_FAULT].value);
		json__put(j);
	}
	json__print(j, "]");
}

/* Missing where no item is known. */
static void put_items(struct json *j, const struct memory_rows *r, const struct memory_view *v)
{
	if (!v->items)
		return;
	json__array(j, "items");
	for (size_t i = 0; i < r->n_items && !j->err; i++) {
		uint32_t item = r->items[i].item;
		const struct trace_place *place = trace_texts__place(v->names, item);

		json__line(j, i);
		json__text(j, "name",
			   item == TRACE_NO_STRING ? NULL : v->names->text(v->names->ctx, item));
		if (place) {
			json__text(j, "file", v->names->text(v->names->ctx, place->file));
			json__number(j, "line", place->line);
		}
		add_sum(j, &r->items[i].sampled[TRACE_SAMPLE_FAULT]);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_parts(struct json *j, const struct memory_view *v)
{
	const struct functions_view parts = {.tree = v->tree, .least = v->least};
	_functions_rows_ struct functions_rows r = {};

	j->err = j->err ?: functions_rows__parts(&r, &parts);
	json__array(j, "parts");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		json__line(j, i);
		json__text(j, "name", v->tree->functions.parts[r.at[i]->number]);
		add_sum(j, &r.at[i]->charged);
		json__number(j, "self_bytes", r.at[i]->self.value);
		json__put(j);
	}
	json__print(j, "]");
}

int memory_json(FILE *out, const struct memory_view *v)
{
	_memory_rows_ struct memory_rows r = {};
	struct json j = {.out = out, .err = memory_rows__init(&r, v)};

	json__begin(&j);
	json__text(&j, "schema", "qprof-memory/1");
	json__text(&j, "problem", v->problem);
	json__put_open(&j);
	samples_json(&j, samples__totals(v->samples));
	put_crates(&j, &r);
	put_queries(&j, &r, v);
	put_items(&j, &r, v);
	put_parts(&j, v);
	json__print(&j, "}\n");
	return j.err;
}
