// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as records of a compiler's tables: numbers of results, their keys, what was fed,
 * loads, names and their end. There are no more results that may be no executions than results, and
 * lists of them have names that exist.
 *
 * An input is records, each behind its size in two bytes.
 */
#include <errno.h>

#include "decode/decoder.h"
#include "../fixtures/records.h"
#include "fuzz.h"

static uint32_t n_processes, n_strings;

static int on_process(void *ctx, const struct trace_process *p)
{
	(void)ctx;
	expect(p->index <= n_processes);
	n_processes += p->index == n_processes;
	return 0;
}

static int on_text(void *ctx, const char *text, uint32_t *id)
{
	(void)ctx, (void)text;
	*id = n_strings++;
	return 0;
}

static int on_compose(void *ctx, const struct trace_piece *pieces, uint32_t n, uint32_t *id)
{
	(void)ctx, (void)pieces, (void)n;
	*id = n_strings++;
	return 0;
}

static int on_map(void *ctx, const struct trace_mapping *m)
{
	(void)ctx;
	expect(m->process < n_processes);
	return 0;
}

static int on_span(void *ctx, const struct trace_span *s, const struct trace_times *times)
{
	(void)ctx, (void)times;
	expect(s->process < n_processes);
	return 0;
}

static int on_tally(void *ctx, const struct trace_tally *t)
{
	(void)ctx;
	expect(t->process < n_processes && t->label >= 10 && t->label < 15 && t->sum <= t->events);
	expect(t->kind == TRACE_KIND_RESULTS || t->kind == TRACE_KIND_RESULTS_AT_LEAST);
	return 0;
}

static int on_results(void *ctx, const struct trace_results *r)
{
	(void)ctx;
	expect(r->process < n_processes && r->label >= 10 && r->label < 15);
	expect(r->n <= TRACE_RESULTS_MAX && r->kind <= TRACE_RESULTS_UNKNOWN);
	expect(!r->n == (r->kind == TRACE_RESULTS_UNKNOWN));
	for (uint32_t i = 0; i < r->n; i++)
		expect(r->items[i] < n_strings);
	return 0;
}

static int on_symbol(void *ctx, const struct trace_symbol *s)
{
	(void)ctx;
	expect(s->process < n_processes && s->item < n_strings);
	return 0;
}

/* A key in a VecCache; all fed; some fed, each seen; those of crates; instances. */
static struct plan_query queries[] = {
	{.name = "a", .key = WIRE_KEY_LOCAL, .table = {.kind = WIRE_CACHE_VEC, .cache = 0x100}},
	{.name = "def_kind",
	 .key = WIRE_KEY_DEF,
	 .table = {.kind = WIRE_CACHE_DEF, .cache = 0x200, .fed = 1}},
	{.name = "fed",
	 .key = WIRE_KEY_LOCAL,
	 .table = {.kind = WIRE_CACHE_VEC, .cache = 0x300, .fed = 1}},
	{.name = "of", .key = WIRE_KEY_CRATE, .table = {.kind = WIRE_CACHE_VEC, .cache = 0x400}},
	{.name = "symbol_name",
	 .key = WIRE_KEY_MEMORY,
	 .key_type = "Instance",
	 .table = {.kind = WIRE_CACHE_HASH,
		   .cache = 0x500,
		   .entry_size = 56,
		   .key = WIRE_KEY_MEMORY}},
};
static struct plan_guard guards[] = {{.kind = WIRE_KIND_LOAD}};
static const struct plan plan = {
	.queries = queries,
	.n_queries = 5,
	.guards = guards,
	.n_guards = 1,
	.tables = {.n = 5, .first = WIRE_KEYS_MAX, .mark = 1},
	.layout.wire = {.size = 16, .symbol = 4, .tags = {WIRE_TAG_NAMED}},
	.layout.disambiguator = 12,
	.layout.parent = 8,
	.layout.no_parent = 0xffffff01,
	.layout.root = 1,
};

static struct decoder *new_tracks(void)
{
	static const struct decoder_sink sink = {
		.process = on_process,
		.span = on_span,
		.text = on_text,
		.compose = on_compose,
		.map = on_map,
		.tally = on_tally,
		.results = on_results,
		.symbol = on_symbol,
	};
	static const uint32_t labels[] = {10, 11, 12, 13, 14};
	static const uint8_t keys[] = {WIRE_KEY_LOCAL, WIRE_KEY_DEF, WIRE_KEY_LOCAL, WIRE_KEY_CRATE,
				       WIRE_KEY_MEMORY};
	struct decoder *t = NULL;

	expect(!decoder__new(&sink, &t) && !decoder__set_library(t, 0, labels, 5, "ab", NULL));
	expect(!library__set_guards(&t->libraries[0], labels, 1));
	expect(!library__set_keys(&t->libraries[0], keys, &plan.layout));
	expect(!library__set_results(&t->libraries[0], &plan, (const bool[]){true}, true, true));
	return t;
}

/* Filling a large gap of definitions takes long; all others are the other fuzzers'. */
static bool is_wanted(const uint8_t *record, size_t n)
{
	struct wire_piece piece;

	if (n && *record == WIRE_PIECE) {
		memset(&piece, 0, sizeof(piece));
		memcpy(&piece, record, n < sizeof(piece) ? n : sizeof(piece));
		return piece.table == WIRE_TABLE_RESULTS || piece.table == WIRE_TABLE_INSTANCES ||
		       (piece.table == WIRE_TABLE_DEFINITIONS && piece.offset < 1 << 16);
	}
	return n && (*record == WIRE_COUNTS || *record == WIRE_FED || *record == WIRE_SYMBOLS ||
		     *record == WIRE_NAMES_END || *record == WIRE_SPAN || *record == WIRE_EXEC ||
		     *record == WIRE_FORK || *record == WIRE_EXIT);
}

/* The bytes of a ring buffer are aligned. */
static int take(struct decoder *t, const uint8_t *bytes, size_t n)
{
	_free_ uint8_t *copy = fuzz_copy(bytes, n);

	return decoder__record(t, copy, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_decoder_ struct decoder *t = NULL;
	const uint8_t *record;
	size_t n;

	n_processes = n_strings = 0;
	t = new_tracks();
	while ((record = fuzz_record(&data, &size, &n))) {
		int err = is_wanted(record, n) ? take(t, record, n) : 0;

		expect(!err || err == -EBADMSG);
	}
	expect(!decoder__settle(t));
	return 0;
}
