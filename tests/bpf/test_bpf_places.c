// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Spans, source files, lines and the calls of macros arrive exactly as they are in the memory of
 * the test program. Memory that lies about them costs a bounded number of reads and records.
 */
#include "capture.h"
#include "names_of_target.h"

#include "../../bpf/names_limits.h"
#include "decode/sources.h"

#define BIG_RING (128u << 20)

struct test {
	struct capture capture;
	struct sources sources;
	size_t n_pieces, bytes; /* of tables of places */
	uint32_t n_ends;
	struct wire_names_end last;
};

static void on_names(void *ctx, const void *record, size_t size)
{
	struct test *t = ctx;
	const struct wire_piece *r = record;

	if (r->type == WIRE_NAMES_END) {
		memcpy(&t->last, record, sizeof(t->last));
		t->n_ends++;
	} else if (r->type == WIRE_PIECE &&
		   ((r->table >= WIRE_TABLE_SPANS && r->table <= WIRE_TABLE_LINES) ||
		    r->table == WIRE_TABLE_CONTEXTS || r->table == WIRE_TABLE_EXPANSIONS)) {
		struct wire_piece whole = {0};

		assert_int_equal(size, sizeof(*r) - WIRE_PIECE_MAX + r->size);
		memcpy(&whole, record, size);
		assert_int_equal(sources__add(&t->sources, &whole), 0);
		t->n_pieces++;
		t->bytes += size;
	}
}

static void cleanup_test(struct test **t)
{
	if (*t) {
		capture_close(&(*t)->capture);
		sources__clear(&(*t)->sources);
	}
	free(*t);
}
#define _test_ __attribute__((cleanup(cleanup_test)))

static const struct wire_layout_places layout = {
	.ready = NAMES_READY,
	.known = 1,
	.spans = NAMES_SPANS,
	.n_spans = NAMES_N_SPANS,
	.first = 1,
	.step = 2,
	.source_map = NAMES_SOURCE_MAP,
	.files = NAMES_FILES,
	.n_files = NAMES_N_FILES,
	.file_size = NAMES_FILE_SIZE,
	.file_start = NAMES_FILE_START,
	.file_length = NAMES_FILE_LENGTH,
	.name = NAMES_FILE_NAME,
	.name_length = NAMES_FILE_NAME_LENGTH,
	.name_capacity = NAMES_FILE_CAPACITY,
	.state = NAMES_FILE_STATE,
	.lines = NAMES_FILE_LINES,
	.n_lines = NAMES_FILE_N_LINES,
	.interned = NAMES_INTERNED,
	.n_interned = NAMES_N_INTERNED,
	.interned_size = NAMES_INTERNED_SIZE,
	.position = NAMES_POSITION,
	.context = NAMES_SPAN_CONTEXT,
};

static const struct wire_layout_calls calls = {
	.contexts = NAMES_CONTEXTS,
	.n_contexts = NAMES_N_CONTEXTS,
	.context_size = NAMES_CONTEXT_SIZE,
	.crate = NAMES_CONTEXT_CRATE,
	.number = NAMES_CONTEXT_NUMBER,
	.expansions = NAMES_EXPANSIONS,
	.n_expansions = NAMES_N_EXPANSIONS,
	.expansion_size = NAMES_EXPANSION_SIZE,
	.call = NAMES_CALL,
	.kind = NAMES_KIND,
	.tag = NAMES_MACRO,
};

static struct test *run(const char *script, bool has_places)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = BIG_RING, .keys = true};
	struct test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	capture_load(&t->capture, &opt, 0);
	plan_names_of_target(t->capture.plan, 16);
	if (has_places) {
		t->capture.plan->layout.wire.places = layout;
		t->capture.plan->layout.wire.calls = calls;
	}
	assert_int_equal(kernel__attach(t->capture.kernel, t->capture.plan, NULL, &t->capture.lib),
			 0);
	t->capture.got.on_names = on_names;
	t->capture.got.names = t;
	capture_script(&t->capture, script);
	assert_true(WIFEXITED(t->capture.status));
	assert_int_equal(WEXITSTATUS(t->capture.status), 0);
	assert_whole(&t->capture);
	assert_int_equal(t->n_ends, 1);
	return t;
}

/* The span is that of the target's definition `i`. */
static void assert_place(struct test *t, uint32_t i)
{
	uint32_t position = 10 * i, file = position / 1000;
	bool known = i && file < NAMES_SOURCES && file && names_source_is_ready(file);
	struct place p;
	char name[32];

	if (!known) {
		if (file < NAMES_SOURCES)
			assert_false(sources__find(&t->sources, &layout, i, &p));
		return;
	}
	assert_true(sources__find(&t->sources, &layout, i, &p));
	snprintf(name, sizeof(name), "src/file-%u.rs", file);
	assert_string_equal(sources__name(&t->sources, p.file), name);
	assert_int_equal(p.line, position % 1000 < file * NAMES_SOURCE_LINES
					 ? position % 1000 + 1
					 : file * NAMES_SOURCE_LINES);
	assert_int_equal(p.context, i % 7 == 3 ? 5 : i % 100);
}

/* Where the target's context `i` was called: as a definition's place. */
static void assert_call(struct test *t, uint32_t i)
{
	uint32_t position = 10 * i, file = position / 1000;
	bool known = file && names_source_is_ready(file);
	const struct place of = {.context = i};
	struct place p;
	char name[32];

	assert_int_equal(sources__call(&t->sources, &calls, &of, &p), known);
	if (!known)
		return;
	snprintf(name, sizeof(name), "src/file-%u.rs", file);
	assert_string_equal(sources__name(&t->sources, p.file), name);
	assert_int_equal(p.line, position % 1000 < file * NAMES_SOURCE_LINES
					 ? position % 1000 + 1
					 : file * NAMES_SOURCE_LINES);
}

static void compare(uint32_t n)
{
	_test_ struct test *t = NULL;
	char script[16];

	snprintf(script, sizeof(script), "V%u", n);
	t = run(script, true);
	assert_int_equal(t->last.missing, 0);
	assert_int_equal(t->last.definitions, n);
	for (uint32_t i = 0; i < n; i++)
		assert_place(t, i);
	/* The interned ones among the calls are those of the target's definitions. */
	for (uint32_t i = 1; i < NAMES_CALLS; i++)
		if (n == 2000 || i % 7 != 3)
			assert_call(t, i);
}

TEST_CASE(spans_and_lines_arrive)
{
	need_capture();
	compare(1);
	compare(3);
	compare(4);
	compare(2000);
}

TEST_CASE(a_layout_without_places)
{
	_test_ struct test *with = NULL;
	_test_ struct test *without = NULL;

	need_capture();
	with = run("V50", true);
	assert_true(with->n_pieces);
	without = run("V50", false);
	assert_int_equal(without->n_pieces, 0);
}

TEST_CASE(lies_are_bounded)
{
	/* The tables of places of 256 definitions and 65,536 files; and their headers. */
	const size_t most = NAMES_LINES_MAX + 65536 * 64 + 65536 * 40 +
			    NAMES_CALLS * (NAMES_CONTEXT_SIZE + NAMES_EXPANSION_SIZE);

	need_capture();
	for (int lie = LIE_SPANS; lie <= LIE_EXPANSIONS; lie++) {
		_test_ struct test *t = NULL;
		char script[16];

		snprintf(script, sizeof(script), "H%d", lie);
		t = run(script, true);
		assert_true(t->bytes < most);
		if (lie == LIE_SPANS || lie == LIE_FILE_NAMES)
			assert_int_equal(t->last.missing, 0);
		else
			assert_in_range(t->last.missing, 1, NAMES_MISSING_MAX + 2);
	}
}

TEST_MAIN(NULL, NULL)
