// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view.h"
#include "view/json.h"

static void add_decimal(struct json *j, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", value);
	json__value(j, key, json_object_new_double_s(value, text));
}

static struct json_object *index_widths(const struct pctab_survey *s)
{
	struct json j = {};

	json__begin(&j);
	json__number(&j, "none", s->index_widths[0]);
	json__number(&j, "u8", s->index_widths[1]);
	json__number(&j, "u16", s->index_widths[2]);
	json__number(&j, "u32", s->index_widths[4]);
	return json__take(&j);
}

static void put_speed(struct json *j, const struct pctab_speed_case *c,
		      const struct pctab_speed *speed)
{
	json__number(j, "samples", c->samples);
	json__text(j, "weight", c->by_code ? "code" : "table");
	add_decimal(j, "varint_ns", speed->varint);
	add_decimal(j, "linear_ns", speed->linear);
	add_decimal(j, "varint_best_ns", speed->varint_best);
	add_decimal(j, "linear_best_ns", speed->linear_best);
	add_decimal(j, "ratio", speed->ratio);
	json__put(j);
}

int pctab_json(FILE *out, const struct pctab_view *v)
{
	const struct pctab_survey *s = v->survey;
	uint64_t linear_bytes = pctab_survey__linear_bytes(s);
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", "qprof-pctab/1");
	json__text(&j, "file", v->file);
	json__number(&j, "quantum", 1u << s->quantum_shift);
	json__number(&j, "functions", s->functions);
	json__number(&j, "references", s->references);
	json__number(&j, "tables", s->n_tables);
	json__number(&j, "pcs", s->pcs);
	json__number(&j, "varint_bytes", s->varint_bytes);
	json__number(&j, "linear_bytes", linear_bytes);
	json__number(&j, "linear_tables", s->n_linear);
	if (s->varint_bytes)
		add_decimal(&j, "size_ratio", (double)linear_bytes / (double)s->varint_bytes);
	else
		json__null(&j, "size_ratio");
	json__number(&j, "chunks", s->chunks);
	json__number(&j, "constant_chunks", s->constant_chunks);
	json__number(&j, "shared_chunks", s->shared_chunks);
	json__value(&j, "index", index_widths(s));
	json__number(&j, "most_pcs", s->most_pcs);
	json__put_open(&j);
	json__array(&j, "speed");
	for (int i = 0; v->speeds && i < PCTAB_SPEED_CASES; i++) {
		json__line(&j, i);
		put_speed(&j, &pctab_speed_cases[i], &v->speeds[i]);
	}
	json__print(&j, "]}\n");
	return j.err;
}
