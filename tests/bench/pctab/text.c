// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/format.h"
#include "view.h"
#include "view/table.h"

static void cell_count(struct table *t, uint64_t n)
{
	char buf[FORMAT_MAX];

	table__cell(t, format_count(buf, n));
}

static int print_tables(FILE *out, const struct pctab_survey *s)
{
	static const struct table_column columns[] = {{"encoding", 0}, {"bytes", 0}, {"tables", 0}};
	uint64_t linear = pctab_survey__linear_bytes(s);
	_table_ struct table *t = table__new(columns, N_OF(columns));
	int err;

	table__cell(t, "varint deltas");
	cell_count(t, s->varint_bytes);
	cell_count(t, s->n_tables);
	table__cell(t, "linear index");
	cell_count(t, linear);
	cell_count(t, s->n_linear);
	fputc('\n', out);
	err = table__print(t, out, "");
	if (s->varint_bytes)
		fprintf(out, "linear / varint: %.3f\n", (double)linear / (double)s->varint_bytes);
	return err;
}

static void print_chunks(FILE *out, const struct pctab_survey *s)
{
	static const struct {
		const char *name;
		int width;
	} kinds[] = {{"no index", 0}, {"u8", 1}, {"u16", 2}, {"u32", 4}};
	char all[FORMAT_MAX], constant[FORMAT_MAX], shared[FORMAT_MAX];

	fprintf(out, "\nchunks      %s; %s with one value, %s of these stand on an earlier one\n",
		format_count(all, s->chunks), format_count(constant, s->constant_chunks),
		format_count(shared, s->shared_chunks));
	fprintf(out, "            at most %" PRIu32 " pcs in one\n", s->most_pcs);
	fputs("indices    ", out);
	for (size_t i = 0; i < N_OF(kinds); i++)
		fprintf(out, " %s with %s%s", format_count(all, s->index_widths[kinds[i].width]),
			kinds[i].name, i + 1 < N_OF(kinds) ? "," : "\n");
}

static int print_speeds(FILE *out, const struct pctab_speed *speeds)
{
	static const struct table_column columns[] = {
		{"ns per look-up", 0}, {"varint", 0},	   {"linear", 0},
		{"ratio", 0},	       {"varint best", 0}, {"linear best", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	char count[FORMAT_MAX];
	int err;

	for (int i = 0; i < PCTAB_SPEED_CASES; i++) {
		const struct pctab_speed_case *c = &pctab_speed_cases[i];

		table__cellf(t, "%s samples, by %s", format_count(count, c->samples),
			     c->by_code ? "code bytes" : "table");
		table__cellf(t, "%.1f", speeds[i].varint);
		table__cellf(t, "%.1f", speeds[i].linear);
		table__cellf(t, "%.3f", speeds[i].ratio);
		table__cellf(t, "%.1f", speeds[i].varint_best);
		table__cellf(t, "%.1f", speeds[i].linear_best);
	}
	fputc('\n', out);
	err = table__print(t, out, "");
	fprintf(out,
		"The middle and the best of %d rounds of %s look-ups; CPU time of one thread.\n",
		PCTAB_SPEED_ROUNDS, format_count(count, PCTAB_SPEED_LOOKUPS));
	return err;
}

int pctab_text(FILE *out, const struct pctab_view *v)
{
	const struct pctab_survey *s = v->survey;
	_free_ char *file = format_clean(v->file);
	char a[FORMAT_MAX], b[FORMAT_MAX];
	int err;

	if (!file)
		return -ENOMEM;
	fprintf(out, "file        %s\n", file);
	fprintf(out, "pc quantum  %u\n", 1u << s->quantum_shift);
	fprintf(out, "functions   %s, with %s references to tables\n",
		format_count(a, s->functions), format_count(b, s->references));
	fprintf(out, "tables      %s; %s pcs looked up both ways, all right\n",
		format_count(a, s->n_tables), format_count(b, s->pcs));
	err = print_tables(out, s);
	if (err)
		return err;
	print_chunks(out, s);
	return v->speeds ? print_speeds(out, v->speeds) : 0;
}
