// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/string_table.h"

#include "test.h"
#include "../fixtures/random.h"
#include "qprof/trace_format.h"
#include "trace/interner.h"
#include "trace/id_map.h"

#define _interner_    __cleanup(interner__destroy)
#define _byte_buffer_ __cleanup(byte_buffer__destroy)

#define N 3000

/* A STRINGS payload of strings [first, end) of an interner. */
static struct byte_buffer payload_of(const struct interner *t, uint32_t first, uint32_t end)
{
	struct byte_buffer out = {0};

	byte_buffer__varint(&out, first);
	byte_buffer__varint(&out, end - first);
	for (uint32_t i = first; i < end; i++)
		interner__store(t, i, &out);
	return out;
}

static int take(struct string_table *t, const struct byte_buffer *payload)
{
	struct byte_reader in = {payload->data, payload->data + payload->size, false};
	uint32_t first, n;
	const char *why;

	return string_table__take(t, &in, &first, &n, &why);
}

/* Random strings, made of texts and earlier strings, with their expected texts. */
static void make_strings(struct rng *rng, struct interner *t, char *texts[N])
{
	for (uint32_t i = 0; i < N; i++) {
		struct trace_piece pieces[4];
		uint32_t n = 1 + rng_below(rng, 4), id;
		char own[4][24];
		bool is_new;

		texts[i] = strdup("");
		for (uint32_t k = 0; k < n; k++) {
			const char *text = own[k];
			char *longer;

			snprintf(own[k], sizeof(own[k]), "%x.", (unsigned int)rng_any_size(rng));
			pieces[k] = (struct trace_piece){.text = own[k]};
			if (i && rng_below(rng, 2)) {
				pieces[k] = (struct trace_piece){.id = rng_below(rng, i)};
				text = texts[pieces[k].id];
			}
			if (strlen(texts[i]) + strlen(text) > 2000)
				pieces[k] = (struct trace_piece){.text = text = "z"};
			assert_true(asprintf(&longer, "%s%s", texts[i], text) > 0);
			free(texts[i]);
			texts[i] = longer;
		}
		assert_int_equal(interner__compose(t, pieces, n, &id, &is_new), 0);
		if (id == i)
			continue;
		free(texts[i--]);
	}
}

TEST_CASE(rows_of_strings_come_back)
{
	struct rng rng = rng_new();
	_string_table_ struct string_table *table = NULL;
	_interner_ struct interner t = {0};
	char **texts = calloc(N, sizeof(*texts));
	uint32_t at = 0;

	make_strings(&rng, &t, texts);
	assert_int_equal(string_table__new(NULL, &table), 0);
	while (at < N) {
		uint32_t end = at + 1 + rng_below(&rng, N - at);
		struct byte_buffer payload = payload_of(&t, at, end);

		assert_int_equal(take(table, &payload), 0);
		/* Taking the same payload again changes nothing. */
		assert_int_equal(take(table, &payload), 0);
		assert_int_equal(string_table__n(table), end);
		byte_buffer__destroy(&payload);
		at = end;
	}
	for (uint32_t i = 0; i < N; i++) {
		const char *text;

		assert_string_equal(string_table__passing_text(table, i), texts[i]);
		assert_int_equal(string_table__text(table, i, &text), 0);
		assert_string_equal(text, texts[i]);
		assert_string_equal(string_table__passing_text(table, i), texts[i]);
		free(texts[i]);
	}
	free(texts);
}

TEST_CASE(a_missing_string_is_reported)
{
	_string_table_ struct string_table *table = NULL;
	const char *text = NULL;

	assert_int_equal(string_table__new(NULL, &table), 0);
	assert_int_equal(string_table__text(table, 0, &text), -ENOENT);
	assert_null(string_table__passing_text(table, 0));
	assert_null(text);
}

TEST_CASE(a_bad_payload_changes_nothing)
{
	_string_table_ struct string_table *table = NULL;
	_interner_ struct interner t = {0};
	_byte_buffer_ struct byte_buffer first, both;
	uint32_t id;
	bool is_new;

	assert_int_equal(interner__id(&t, "one", &id, &is_new), 0);
	first = payload_of(&t, 0, 1);
	must(interner__id(&t, "two", &id, &is_new), interner__id(&t, "three", &id, &is_new));
	both = payload_of(&t, 1, 3);
	assert_int_equal(string_table__new(NULL, &table), 0);
	assert_int_equal(take(table, &both), -EBADMSG); /* a gap */
	assert_int_equal(take(table, &first), 0);
	for (; both.size > 1; both.size--) {
		int err = take(table, &both);

		assert_int_equal(err, both.data[1] && err ? -EBADMSG : 0);
		assert_int_equal(string_table__n(table), err ? 1 : 3);
		if (!err) {
			string_table__free(table);
			must(string_table__new(NULL, &table), take(table, &first));
		}
	}
}

/* The limit on names counts expanded texts, not the bytes in the file. */
TEST_CASE(names_do_not_take_more_than_their_limit)
{
	_string_table_ struct string_table *table = NULL;
	_byte_buffer_ struct byte_buffer payload = {0};
	const char *text;
	uint32_t n = 300;
	int err = 0;

	assert_int_equal(string_table__new(NULL, &table), 0);
	byte_buffer__varint(&payload, 0);
	byte_buffer__varint(&payload, 20 + n);
	byte_buffer__bytes(&payload, "\x04xy", 3);
	for (int i = 1; i < 20; i++)
		byte_buffer__bytes(&payload, "\x05\x03\x03", 3); /* twice the previous one */
	for (uint32_t i = 0; i < n; i++) {
		/* 2 strings of half a MiB make 1 MiB. */
		byte_buffer__varint(&payload, 2 << 1 | 1);
		byte_buffer__varint(&payload, (2 + i) << 1 | 1);
		byte_buffer__varint(&payload, (2 + i) << 1 | 1);
	}
	assert_int_equal(take(table, &payload), 0);
	for (n = 20; !err; n++)
		err = string_table__text(table, n, &text);
	assert_int_equal(err, -E2BIG);
	assert_int_equal(n - 1 - 20, QPT_NAME_BYTES_MAX / QPT_TEXT_MAX);
	assert_int_equal(strlen(string_table__passing_text(table, n)), QPT_TEXT_MAX);
}

/* A path that begins with the name of another crate is about it, however it was put together. */
TEST_CASE(paths_of_another_crate_are_foreign)
{
	static const char stored[] = "\x00\x06" /* 6 strings from 0 on: */
				     "\x05\x02"
				     "a\x02"
				     "b" /* 0: "a" "b" */
				     "\x04"
				     "ab"	      /* 1 */
				     "\x05\x05\x04::" /* 2: 0 "::" */
				     "\x05\x03\x02x"  /* 3: 2 "x" */
				     "\x05\x07\x02x"  /* 4: 1 "x" */
				     "\x05\x02x\x0b"; /* 5: "x" 0 */
	_string_table_ struct string_table *table = NULL;
	_byte_buffer_ struct byte_buffer payload = {0};

	assert_int_equal(string_table__new(NULL, &table), 0);
	byte_buffer__bytes(&payload, stored, sizeof(stored) - 1);
	assert_int_equal(take(table, &payload), 0);
	assert_string_equal(string_table__passing_text(table, 3), "ab::x");
	assert_false(string_table__is_foreign(table, 3, NULL));
	string_table__mark_foreign(table, 0);
	assert_true(string_table__is_foreign(table, 0, NULL));
	assert_false(string_table__is_foreign(table, 1, NULL));
	assert_true(string_table__is_foreign(table, 2, NULL));
	assert_true(string_table__is_foreign(table, 3, NULL));
	assert_false(string_table__is_foreign(table, 4, NULL));
	assert_false(string_table__is_foreign(table, 5, NULL));
	assert_false(string_table__is_foreign(table, 6, NULL));
	assert_false(string_table__is_foreign(table, TRACE_NO_STRING, NULL));
}

/* A path that begins with another name than the crate's is not of the crate. */
TEST_CASE(paths_are_of_the_crate_they_begin_with)
{
	static const struct {
		const char *text;
		bool foreign;
	} cases[] = {
		{"ab", false},
		{"ab::x", false},
		{"ab::{{impl}}[3]::x", false},
		{"a", true},
		{"abc", true},
		{"abc::x", true},
		{"ab:", true},
		{"ab[12]", true},
		{"core::ab::x", true},
		{"()", true},
		{"(ab::x,ab::y)", true},
		{"<ab::x as core::y>", true},
		{"", false},
		{"DefId(0:7 ~ ab::x)", false},
		{"DefId(1:7 ~ ab::x)", true},
		{"LocalModDefId(DefId(0:7 ~ ab::x))", false},
		{"DefId(0", true},
	};
	_string_table_ struct string_table *table = NULL;
	_interner_ struct interner t = {0};
	_byte_buffer_ struct byte_buffer payload = {0};
	uint32_t id, n = N_OF(cases);
	bool is_new;

	assert_int_equal(string_table__new(NULL, &table), 0);
	byte_buffer__varint(&payload, 0);
	byte_buffer__varint(&payload, n + 2);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(interner__id(&t, cases[i].text, &id, &is_new), 0);
		assert_true(is_new);
		interner__store(&t, id, &payload);
	}
	/* The first piece of a path is the crate's name, or another one. */
	for (uint32_t i = 0; i < 2; i++) {
		const struct trace_piece pieces[] = {{.text = i ? "b" : "ab"}, {.text = "::y"}};

		assert_int_equal(interner__compose(&t, pieces, 2, &id, &is_new), 0);
		interner__store(&t, id, &payload);
	}
	assert_int_equal(take(table, &payload), 0);
	for (uint32_t i = 0; i < n; i++) {
		if (string_table__is_foreign(table, i, "ab") != cases[i].foreign)
			fail_msg("%s", cases[i].text);
		assert_false(string_table__is_foreign(table, i, NULL));
	}
	assert_false(string_table__is_foreign(table, n, "ab"));
	assert_true(string_table__is_foreign(table, n + 1, "ab"));
	assert_false(string_table__is_foreign(table, TRACE_NO_STRING, "ab"));
}

/* ---- Id map ---------------------------------------------------------------------------------- */

#define _id_map_ __cleanup(id_map__destroy)

#define N_IDS	  200000u
#define N_STRINGS 5000u

static int id_map_take(struct id_map *m, const struct byte_buffer *b)
{
	struct byte_reader in = {b->data, b->data + b->size, false};

	return id_map__take(m, &in, 3, N_STRINGS);
}

/* Random ranges and lists; later ones overwrite parts of earlier ones. */
static void random_mappings(struct rng *rng, uint32_t *want, struct byte_buffer *out)
{
	struct id_map_next next = {0};
	uint32_t list[300];

	byte_buffer__varint(out, 2);
	byte_buffer__varint(out, 100);
	for (int k = 0; k < 100; k++) {
		struct trace_mapping m = {.first = rng_below(rng, N_IDS - 5000),
					  .n = 1 + rng_below(rng, rng_below(rng, 2) ? 5 : 4000),
					  .string = rng_below(rng, N_STRINGS - 4000),
					  .series = rng_below(rng, 2)};

		if (!rng_below(rng, 3)) {
			m.n = 1 + rng_below(rng, 300);
			m.strings = list;
			for (uint32_t i = 0; i < m.n; i++)
				list[i] = rng_below(rng, N_STRINGS);
		}
		id_map__store(out, &m, &next);
		for (uint32_t i = 0; i < m.n; i++)
			want[m.first + i] = m.strings  ? list[i]
					    : m.series ? m.string + i
						       : m.string;
	}
}

TEST_CASE(the_last_mapping_of_an_id_holds)
{
	struct rng rng = rng_new();
	uint32_t *want = malloc(N_IDS * sizeof(*want));
	_id_map_ struct id_map m = {0};

	for (uint32_t i = 0; i < N_IDS; i++)
		want[i] = ID_MAP_NONE;
	assert_false(id_map__has(&m, 2));
	for (int chunk = 0; chunk < 5; chunk++) {
		_byte_buffer_ struct byte_buffer b = {0};

		random_mappings(&rng, want, &b);
		assert_int_equal(id_map_take(&m, &b), 0);
	}
	for (uint32_t i = 0; i < N_IDS; i++) {
		assert_int_equal(id_map__get(&m, 2, i), want[i]);
		assert_int_equal(id_map__get(&m, 1, i), ID_MAP_NONE);
	}
	assert_true(id_map__has(&m, 2));
	assert_false(id_map__has(&m, 1));
	assert_int_equal(id_map__takes(&m, 2), 5);
	assert_int_equal(id_map__takes(&m, 1), 0);
	free(want);
}

TEST_CASE(every_cut_is_noticed)
{
	struct rng rng = rng_new();
	uint32_t *want = malloc(N_IDS * sizeof(*want));
	_byte_buffer_ struct byte_buffer b = {0};

	random_mappings(&rng, want, &b);
	while (b.size--) {
		_id_map_ struct id_map m = {0};

		assert_int_equal(id_map_take(&m, &b), -EBADMSG);
	}
	free(want);
}

/* Without a limit, a few bytes would take gigabytes of memory. */
TEST_CASE(ids_far_apart_meet_a_limit)
{
	_byte_buffer_ struct byte_buffer b = {0};
	struct id_map_next next = {0};
	struct trace_mapping far = {.n = 1};
	_id_map_ struct id_map m = {0};
	int err = 0;

	for (uint32_t i = 0; !err && i <= QPT_MAP_BLOCKS_MAX; i++) {
		byte_buffer__clear(&b);
		next = (struct id_map_next){0};
		byte_buffer__varint(&b, 1);
		byte_buffer__varint(&b, 1);
		far.first = i * QPT_MAP_BLOCK;
		id_map__store(&b, &far, &next);
		err = id_map_take(&m, &b);
		if (m.blocks.n == 3) /* skip blocks: all of them take long under a sanitizer */
			i = QPT_MAP_BLOCKS_MAX - 1, m.blocks.n = QPT_MAP_BLOCKS_MAX;
	}
	assert_int_equal(err, -EBADMSG);
	m.blocks.n = 3;
}

/* 2^27 ids in a few bytes. */
TEST_CASE(ranges_take_no_memory_by_id)
{
	struct id_map_next next = {0};
	struct trace_mapping all = {.first = 3, .n = QPT_MAPPED_MAX - QPT_MAP_BLOCK, .string = 7};
	_byte_buffer_ struct byte_buffer b = {0};
	_id_map_ struct id_map m = {0};
	uint32_t unfolded = 0;

	byte_buffer__varint(&b, 1);
	byte_buffer__varint(&b, 1);
	id_map__store(&b, &all, &next);
	assert_int_equal(id_map_take(&m, &b), 0);
	for (uint32_t i = 0; i < m.blocks.n; i++)
		unfolded += m.blocks.at[i].refs != NULL;
	assert_int_equal(unfolded, 2);
	assert_int_equal(id_map__get(&m, 1, 2), ID_MAP_NONE);
	assert_int_equal(id_map__get(&m, 1, 3), 7);
	assert_int_equal(id_map__get(&m, 1, 5000000), 7);
	assert_int_equal(id_map__get(&m, 1, all.n + 2), 7);
	assert_int_equal(id_map__get(&m, 1, all.n + 3), ID_MAP_NONE);
}

TEST_MAIN(NULL, NULL)
