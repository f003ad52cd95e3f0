// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/format.h"
#include "view.h"
#include "view/columns.h"

static int print_tables(FILE *out, const struct pctab_survey *s)
{
	uint64_t linear = pctab_survey__linear_bytes(s);
	const struct {
		const char *encoding;
		uint64_t bytes, tables;
	} rows[] = {{"varint deltas", s->varint_bytes, s->n_tables},
		    {"linear index", linear, s->n_linear}};
	struct columns c = {.out = out};

	fputc('\n', out);
	EACH_ROW (&c, i, N_OF(rows)) {
		TEXT(&c, NULL, "encoding", rows[i].encoding, NULL);
		NUMBER(&c, COUNT, NULL, "bytes", rows[i].bytes, NULL);
		NUMBER(&c, COUNT, NULL, "tables", rows[i].tables, NULL);
	}
	if (s->varint_bytes)
		fprintf(out, "linear / varint: %.3f\n", (double)linear / (double)s->varint_bytes);
	return c.err;
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
	struct columns c = {.out = out};
	char count[FORMAT_MAX];

	fputc('\n', out);
	EACH_ROW (&c, i, PCTAB_SPEED_CASES) {
		const struct pctab_speed_case *of = ROW(&c, &pctab_speed_cases[i]);

		FORMAT(&c, "ns per look-up", "%s samples, by %s", format_count(count, of->samples),
		       of->by_code ? "code bytes" : "table");
		FORMAT(&c, "varint", "%.1f", speeds[i].varint);
		FORMAT(&c, "linear", "%.1f", speeds[i].linear);
		FORMAT(&c, "ratio", "%.3f", speeds[i].ratio);
		FORMAT(&c, "varint best", "%.1f", speeds[i].varint_best);
		FORMAT(&c, "linear best", "%.1f", speeds[i].linear_best);
	}
	fprintf(out,
		"The middle and the best of %d rounds of %s look-ups; CPU time of one thread.\n",
		PCTAB_SPEED_ROUNDS, format_count(count, PCTAB_SPEED_LOOKUPS));
	return c.err;
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
