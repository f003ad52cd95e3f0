// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/codec.h"
#include "plan/plan.h"
#include "plan/check.h"

#include <zlib.h>
#include <limits.h>

#include "test.h"
#include "../fixtures/sample_plan.h"
#include "../fixtures/names.h"

#define VERSION_OFFSET	8
#define REVISION_OFFSET 12
#define CRC_OFFSET	16
#define LENGTH_OFFSET	20
#define PAYLOAD_OFFSET	28

static void encode(const struct plan *plan, uint8_t **buf, size_t *len)
{
	assert_int_equal(plan_encode(plan, buf, len), 0);
	assert_true(*len > PAYLOAD_OFFSET);
}

/* A heap copy of exact size lets a sanitizer detect a read past the end. */
static int decode_copy(const uint8_t *buf, size_t len, struct plan **out)
{
	_free_ uint8_t *copy = malloc(len ? len : 1);

	memcpy(copy, buf, len);
	return plan_decode(copy, len, out);
}

static void sign(uint8_t *buf, size_t len)
{
	uint32_t crc = crc32_z(0, buf + PAYLOAD_OFFSET, len - PAYLOAD_OFFSET);

	for (int i = 0; i < 4; i++)
		buf[CRC_OFFSET + i] = crc >> (8 * i);
}

TEST_CASE(a_plan_comes_back_as_it_was)
{
	_plan_ struct plan *plan = sample_plan(), *back = NULL;
	_free_ uint8_t *buf = NULL;
	size_t len;

	encode(plan, &buf, &len);
	assert_int_equal(decode_copy(buf, len, &back), 0);
	assert_true(sample_same(plan, back));
	back->sites[3].slot++;
	assert_false(sample_same(plan, back));
	back->sites[3].slot--;
	back->sites[1].key_slot += 4;
	assert_false(sample_same(plan, back));
	back->sites[1].key_slot -= 4;
	back->bodies[1].between += 8;
	assert_false(sample_same(plan, back));
	back->bodies[1].between -= 8;
	back->queries[0].key++;
	assert_false(sample_same(plan, back));
	back->queries[0].key--;
	back->queries[1].memory.words[31]++;
	assert_false(sample_same(plan, back));
}

TEST_CASE(a_layout_comes_back_as_it_was)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	_plan_ struct plan *back = NULL;
	_free_ uint8_t *buf = NULL;
	size_t len;

	encode(plan, &buf, &len);
	assert_int_equal(decode_copy(buf, len, &back), 0);
	assert_true(sample_same(plan, back));
	back->layout.wire.tags[WIRE_TAGS - 1]--;
	assert_false(sample_same(plan, back));
}

TEST_CASE(the_problem_of_a_layout_comes_back)
{
	_plan_ struct plan *plan = sample_plan();
	_plan_ struct plan *back = NULL;
	_free_ uint8_t *buf = NULL;
	size_t len;

	plan->layout.problem = strdup("there is no Symbol::as_str");
	plan->layout.crates_problem = strdup("there is no CStore::from_tcx");
	encode(plan, &buf, &len);
	assert_int_equal(decode_copy(buf, len, &back), 0);
	assert_true(sample_same(plan, back));
}

TEST_CASE(frames_come_back_as_they_were)
{
	_plan_ struct plan *plan = sample_plan();
	_plan_ struct plan *back = NULL;
	_free_ uint8_t *buf = NULL;
	size_t len;

	encode(plan, &buf, &len);
	assert_int_equal(decode_copy(buf, len, &back), 0);
	assert_true(sample_same(plan, back));
	back->frames[7].size--;
	assert_false(sample_same(plan, back));
	back->frames[7].size++;
	back->guard_frames[2].of--;
	assert_false(sample_same(plan, back));
	back->guard_frames[2].of++;
	back->queries[0].stays = false;
	assert_false(sample_same(plan, back));
}

TEST_CASE(an_empty_plan_comes_back)
{
	char nothing[] = "";
	struct plan plan = {.build_id_len = 1, .path = nothing, .mangling = nothing};
	_plan_ struct plan *back = NULL;
	_free_ uint8_t *buf = NULL;
	size_t len;

	encode(&plan, &buf, &len);
	assert_int_equal(decode_copy(buf, len, &back), 0);
	assert_true(sample_same(&plan, back));
	assert_null(back->rustc_version);
}

/* The encoded sample, for tests that damage it. */
static uint8_t *encoded;
static size_t encoded_len;

static int encode_sample(void **state)
{
	_plan_ struct plan *plan = sample_plan_with_names();

	encode(plan, &encoded, &encoded_len);
	return 0;
}

static int free_sample(void **state)
{
	free(encoded);
	return 0;
}

static void assert_refused(const uint8_t *buf, size_t len)
{
	struct plan *back = NULL;

	assert_int_equal(decode_copy(buf, len, &back), -EBADMSG);
	assert_null(back);
}

TEST_CASE_WITH(every_truncation_is_refused, encode_sample, free_sample)
{
	for (size_t len = 0; len < encoded_len; len++)
		assert_refused(encoded, len);
}

TEST_CASE_WITH(every_flipped_bit_is_refused, encode_sample, free_sample)
{
	for (size_t i = 0; i < 8 * encoded_len; i++) {
		encoded[i / 8] ^= 1 << i % 8;
		assert_refused(encoded, encoded_len);
		encoded[i / 8] ^= 1 << i % 8;
	}
}

TEST_CASE_WITH(bytes_behind_the_plan_are_refused, encode_sample, free_sample)
{
	encoded = realloc(encoded, encoded_len + 1);
	encoded[encoded_len++] = 0;
	assert_refused(encoded, encoded_len);
	encoded[LENGTH_OFFSET]++;
	sign(encoded, encoded_len);
	assert_refused(encoded, encoded_len);
}

TEST_CASE_WITH(another_version_is_refused, encode_sample, free_sample)
{
	encoded[VERSION_OFFSET]++;
	assert_refused(encoded, encoded_len);
}

/* Another revision of the code may mine a different plan. */
TEST_CASE_WITH(another_revision_is_refused, encode_sample, free_sample)
{
	assert_memory_not_equal(encoded + REVISION_OFFSET, "\0\0\0", 4);
	encoded[REVISION_OFFSET + 3]++;
	assert_refused(encoded, encoded_len);
}

/* Anyone can write a correct checksum, so the decoder must check the values as well. */
static void assert_value_refused(struct plan *plan)
{
	_free_ uint8_t *buf = NULL;
	size_t len;

	encode(plan, &buf, &len);
	assert_refused(buf, len);
}

TEST_CASE(values_out_of_range_are_refused)
{
	_plan_ struct plan *plan = sample_plan();

#define WRONG(lvalue, value)                        \
	do {                                        \
		__typeof__(lvalue) good = (lvalue); \
		(lvalue) = (value);                 \
		assert_value_refused(plan);         \
		(lvalue) = good;                    \
	} while (0)
	WRONG(plan->sites[0].query, 2);
	WRONG(plan->sites[2].body, 2);
	WRONG(plan->sites[0].role, 0);
	WRONG(plan->sites[7].role, WIRE_ROLE_HIT);
	WRONG(plan->sites[7].role, WIRE_ROLE_DROP);
	WRONG(plan->sites[6].guard, 2);
	WRONG(plan->sites[6].guard, PLAN_NONE);
	WRONG(plan->sites[0].guard, 0);
	WRONG(plan->sites[0].cls, PLAN_STEPPED + 1);
	WRONG(plan->sites[2].reg, WIRE_REG_R15 + 1);
	WRONG(plan->sites[0].key_reg, WIRE_REG_R15 + 1);
	WRONG(plan->sites[0].result_reg, WIRE_REG_R15 + 1);
	WRONG(plan->sites[0].result_shift, 64);
	WRONG(plan->sites[0].key_slot, 8);	    /* in a register, and in a slot too */
	WRONG(plan->sites[2].key_reg, WIRE_REG_DI); /* at an end */
	WRONG(plan->sites[3].key_slot, 8);
	WRONG(plan->queries[0].key, WIRE_KEY_MAX);
	WRONG(plan->queries[0].memory.offset, PLAN_LAYOUT_MAX);
	WRONG(plan->queries[0].table.kind, WIRE_CACHE_MAX);
	WRONG(plan->queries[0].table.fed, 2);
	WRONG(plan->queries[0].table.name, PLAN_LAYOUT_MAX);
	WRONG(plan->queries[0].table.active, PLAN_LAYOUT_MAX);
	WRONG(plan->queries[0].table.cache, PLAN_LAYOUT_MAX);
	WRONG(plan->queries[0].table.others, PLAN_LAYOUT_MAX);
	WRONG(plan->queries[0].table.length, 1);	    /* not that of its name */
	WRONG(plan->queries[1].table.kind, WIRE_CACHE_VEC); /* and a problem */
	WRONG(plan->queries[0].table.entry_size, WIRE_ENTRY_MAX + 1);
	WRONG(plan->queries[0].table.key_at, 1); /* beyond the entry */
	WRONG(plan->queries[0].table.key, WIRE_KEY_MAX);
	WRONG(plan->tables.ctrl, WIRE_SHARD_SIZE_MAX);
	WRONG(plan->tables.mask, WIRE_SHARD_SIZE_MAX);
	WRONG(plan->tables.n, 3);
	WRONG(plan->tables.n, 0); /* but a query has a table */
	WRONG(plan->tables.n_shards, WIRE_SHARDS_MAX + 1);
	WRONG(plan->tables.shard_size, WIRE_SHARD_SIZE_MAX + 1);
	WRONG(plan->tables.vec_count, PLAN_LAYOUT_MAX);
	WRONG(plan->tables.buckets, PLAN_LAYOUT_MAX);
	WRONG(plan->tables.first, WIRE_KEYS_MAX + 1);
	WRONG(plan->tables.first, 2 * WIRE_VEC_FIRST_MAX);
	WRONG(plan->tables.items, WIRE_SHARD_SIZE_MAX);
	WRONG(plan->tables.mode, WIRE_SHARD_SIZE_MAX);
	WRONG(plan->tables.shards, WIRE_SHARD_SIZE_MAX);
	WRONG(plan->sites[1].addr, 0x1200); /* below the previous site */
	WRONG(plan->queries[0].body_non_incr, 2);
	WRONG(plan->queries[0].body_incr, 2);
	WRONG(plan->path, NULL);
	WRONG(plan->mangling, NULL);
	WRONG(plan->symbols, SYMBOL_SOURCES);
	WRONG(plan->queries[0].name, NULL);
	WRONG(plan->queries[1].name, plan->queries[0].name); /* not unique */
	WRONG(plan->bodies[1].group, 2);
	WRONG(plan->guards[0].function, NULL);
	WRONG(plan->guards[0].body, 2);
	WRONG(plan->guards[0].kind, WIRE_KIND_QUERY);
	WRONG(plan->guards[0].kind, WIRE_KIND_MAX);
	/* Values beyond their limits. */
	WRONG(plan->guards[0].number, 0);
	WRONG(plan->guards[0].scope, WIRE_SCOPE_TIMER + 1);
	WRONG(plan->guards[1].label_slot, PLAN_SLOT_MAX + 8);
	WRONG(plan->guards[1].label_slot, 6);
	WRONG(plan->sites[6].slot, PLAN_SLOT_MAX + 8);
	WRONG(plan->sites[6].vtable_offset, -8);
	WRONG(plan->sites[0].sp_delta, 8 * 2048);
	WRONG(plan->sites[3].slot, 4 * 65535);
	WRONG(plan->sites[1].key_slot, 4 * 65535);
	WRONG(plan->sites[1].key_slot, 6);
}

TEST_CASE(frames_out_of_range_are_refused)
{
	_plan_ struct plan *plan = sample_plan();

	WRONG(plan->frames[0].of, 2);	    /* a query */
	WRONG(plan->frames[3].of, 2);	    /* a body */
	WRONG(plan->guard_frames[1].of, 2); /* a guard */
	WRONG(plan->frames[0].kind, PLAN_FRAME_KINDS);
	WRONG(plan->frames[0].kind, PLAN_FRAME_GUARD);
	WRONG(plan->guard_frames[0].kind, PLAN_FRAME_BODY);
	WRONG(plan->frames[3].size, 0);
	WRONG(plan->frames[3].size, 0x51);	   /* overlaps the next one */
	WRONG(plan->frames[7].addr, UINT64_MAX);   /* ends past the last address */
	WRONG(plan->frames[4].addr, 0x7000);	   /* not in order */
	WRONG(plan->guard_frames[2].size, 0x0f);   /* neither behind the last one nor equal to it */
	WRONG(plan->guard_frames[2].addr, 0x8041); /* likewise */
}

TEST_CASE(layouts_out_of_range_are_refused)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	struct plan_layout *l = &plan->layout;
	char problem[] = "none";

	WRONG(l->problem, problem);
	WRONG(l->current_problem, problem);
	/* Of no use without its probe site. */
	WRONG(l->wire.drop, 0xa002);
	WRONG(plan->sites[8].role, WIRE_ROLE_HIT);
	WRONG(plan->sites[8].role, WIRE_ROLE_DROP + 1);
	/* One of plan_layout_excess(). */
	WRONG(l->wire.size, 19);
	WRONG(l->crates_problem, problem);
	WRONG(l->wire.crates.size, 27);
	WRONG(l->places_problem, problem);
	WRONG(l->calls_problem, problem);
	WRONG(l->wire.calls.call, 80);
	WRONG(l->wire.places.file_size, 513);
#undef WRONG
}

TEST_CASE_WITH(random_damage_with_a_right_checksum_is_survived, encode_sample, free_sample)
{
	static const uint8_t edges[] = {0, 1, 2, 0x7f, 0x80, 0xfe, 0xff};
	_free_ uint8_t *buf = malloc(encoded_len);
	const size_t len = encoded_len;

	srandom(1);
	for (int round = 0; round < 50000; round++) {
		_plan_ struct plan *back = NULL;

		memcpy(buf, encoded, len);
		for (int i = random() % 3; i >= 0; i--) {
			size_t at = PAYLOAD_OFFSET + random() % (len - PAYLOAD_OFFSET);

			buf[at] = random() % 2 ? random() : edges[random() % sizeof(edges)];
		}
		sign(buf, len);
		if (!decode_copy(buf, len, &back))
			assert_true(sample_same(back, back));
	}
}

/* ---- Definition ------------------------------------------------------------------------------ */

TEST_CASE(fields_are_where_the_layout_says)
{
	const struct plan_layout l = names_layout();
	struct wire_piece r = names_piece(1, 0);
	struct definition d;

	names_row(&r, TAG_NAMED, 77, 3, 5);
	d = definition__read(&l, r.bytes);
	assert_int_equal(d.tag, TAG_NAMED);
	assert_int_equal(d.symbol, 77);
	assert_int_equal(d.disambiguator, 3);
	assert_int_equal(d.parent, 5);
	assert_int_equal(definition__symbol(&l, &d), 77);
	d.tag = WIRE_TAGS;
	assert_int_equal(definition__symbol(&l, &d), WIRE_TAG_UNKNOWN);
}

TEST_CASE(segments_are_as_rustc_prints_them)
{
	const struct plan_layout l = names_layout();
	struct definition named = {.tag = TAG_NAMED}, other = {.tag = TAG_ROOT};
	char out[DEFINITION_SEGMENT_MAX], long_text[WIRE_SYMBOL_MAX + 100];

	definition__segment(&l, &named, "visit", out);
	assert_string_equal(out, "visit");
	named.disambiguator = 4;
	definition__segment(&l, &named, "visit", out);
	assert_string_equal(out, "visit[4]");
	other.disambiguator = UINT32_MAX;
	definition__segment(&l, &other, "impl", out);
	assert_string_equal(out, "{{impl}}[4294967295]");
	memset(long_text, 'a', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	definition__segment(&l, &other, long_text, out);
	assert_int_equal(strlen(out), WIRE_SYMBOL_MAX + strlen("{{}}[4294967295]"));
}

TEST_CASE(a_definition_may_have_no_name)
{
	struct plan_layout l = names_layout();
	struct definition d = {.tag = TAG_NAMED, .disambiguator = 2};
	char out[DEFINITION_SEGMENT_MAX];

	assert_int_equal(definition__symbol(&l, &d), 0);
	l.wire.unnamed = 78;
	l.wire.unnamed_tags = 1u << TAG_NAMED;
	assert_int_equal(definition__symbol(&l, &d), 78);
	definition__segment(&l, &d, "synthetic", out);
	assert_string_equal(out, "{{synthetic}}[2]");
	d.symbol = 77;
	assert_int_equal(definition__symbol(&l, &d), 77);
	definition__segment(&l, &d, "visit", out);
	assert_string_equal(out, "visit[2]");
	d.symbol = 0;
	d.tag = WIRE_TAGS;
	assert_int_equal(definition__symbol(&l, &d), WIRE_TAG_UNKNOWN);
}

/* ---- Check ----------------------------------------------------------------------------------- */

static bool fits(struct plan_site site)
{
	struct plan plan = {.sites = &site, .n_sites = 1};

	return !plan_excess(&plan);
}

static bool end_fits(int32_t slot, int32_t sp_delta)
{
	return fits((struct plan_site){.role = WIRE_ROLE_END, .slot = slot, .sp_delta = sp_delta});
}

static bool identify_fits(int32_t slot, int32_t vtable_offset)
{
	return fits((struct plan_site){
		.role = WIRE_ROLE_IDENTIFY, .slot = slot, .vtable_offset = vtable_offset});
}

TEST_CASE(an_operand_is_on_the_stack)
{
	assert_true(end_fits(PLAN_NO_SLOT, 0));
	assert_true(end_fits(0, 0));
	assert_true(end_fits(PLAN_SLOT_MAX, 0));
	assert_false(end_fits(PLAN_SLOT_MAX + 4, 0));
	assert_false(end_fits(INT32_MAX, 0));
	assert_false(end_fits(6, 0));
	assert_false(end_fits(-4, 0));
}

TEST_CASE(a_distance_on_the_stack_has_limits)
{
	static const int32_t deltas[] = {0, 8, -8, PLAN_SP_DELTA_MAX, -PLAN_SP_DELTA_MAX};
	static const int32_t wrong[] = {4,	   -4,	      PLAN_SP_DELTA_MAX + 8,
					INT32_MAX, INT32_MIN, -PLAN_SP_DELTA_MAX - 8};

	for (size_t i = 0; i < N_OF(deltas); i++)
		assert_true(end_fits(0, deltas[i]));
	for (size_t i = 0; i < N_OF(wrong); i++)
		assert_false(end_fits(0, wrong[i]));
}

TEST_CASE(identify_has_a_slot_and_a_vtable)
{
	assert_true(identify_fits(PLAN_NO_SLOT, 0));
	assert_true(identify_fits(PLAN_SLOT_MAX, PLAN_VTABLE_MAX));
	assert_false(identify_fits(PLAN_SLOT_MAX + 8, 0));
	assert_false(identify_fits(0, PLAN_VTABLE_MAX + 8));
	assert_false(identify_fits(0, -8));
	assert_false(identify_fits(0, 4));
}

static bool key_fits(int32_t slot)
{
	return fits((struct plan_site){.role = WIRE_ROLE_START_BODY, .key_slot = slot});
}

TEST_CASE(a_key_is_on_the_stack)
{
	assert_true(key_fits(PLAN_NO_SLOT));
	assert_true(key_fits(0));
	assert_true(key_fits(PLAN_SLOT_MAX));
	assert_false(key_fits(PLAN_SLOT_MAX + 4));
	assert_false(key_fits(6));
	assert_false(key_fits(-4));
}

static bool request_fits(uint64_t addr, int32_t slot)
{
	struct plan_site request = {.role = WIRE_ROLE_REQUEST, .addr = addr, .slot = slot};
	struct plan_site wrapper = {.role = WIRE_ROLE_WRAPPER, .addr = addr, .sp_delta = slot};

	assert_int_equal(fits(request), fits(wrapper));
	return fits(request);
}

TEST_CASE(a_request_has_32_bits_for_its_address)
{
	assert_true(request_fits(0, 0));
	assert_true(request_fits(UINT32_MAX, 400));
	assert_false(request_fits((uint64_t)UINT32_MAX + 1, 0));
	assert_false(request_fits(0, 1 << 20));
	assert_false(request_fits(0, 4));
	assert_false(request_fits(0, -8));
}

TEST_CASE(queries_and_bodies_are_numbered_in_16_bits)
{
	struct plan plan = {.n_queries = 65535, .n_bodies = 65535};

	assert_null(plan_excess(&plan));
	plan.n_queries++;
	assert_non_null(strstr(plan_excess(&plan), "65,535 queries"));
	plan.n_queries--;
	plan.n_bodies++;
	assert_non_null(strstr(plan_excess(&plan), "65,535 bodies"));
}

#define PLAN_CHECK_WRONG(member, value, part)                     \
	do {                                                      \
		uint32_t good_ = (member);                        \
                                                                  \
		(member) = (value);                               \
		assert_non_null(plan_excess(plan));               \
		assert_non_null(strstr(plan_excess(plan), part)); \
		(member) = good_;                                 \
		assert_null(plan_excess(plan));                   \
	} while (0)

TEST_CASE(a_layout_stays_in_its_structs)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	struct plan_layout *l = &plan->layout;

	PLAN_CHECK_WRONG(l->wire.size, 7, "definitions of less than 8");
	PLAN_CHECK_WRONG(l->wire.size, 65, "definitions of less than 8");
	PLAN_CHECK_WRONG(l->wire.size, 19, "definitions with a field");
	PLAN_CHECK_WRONG(l->wire.tag, 21, "definitions with a field");
	PLAN_CHECK_WRONG(l->wire.tag, UINT32_MAX, "definitions with a field");
	PLAN_CHECK_WRONG(l->wire.symbol, 21, "definitions with a field");
	PLAN_CHECK_WRONG(l->disambiguator, 21, "definitions with a field");
	PLAN_CHECK_WRONG(l->parent, 21, "definitions with a field");
	PLAN_CHECK_WRONG(l->wire.symbol_size, 15, "symbols of less than");
	PLAN_CHECK_WRONG(l->wire.symbol_size, 65, "symbols of less than");
	PLAN_CHECK_WRONG(l->wire.text, 25, "symbols with a field");
	PLAN_CHECK_WRONG(l->wire.length, UINT32_MAX, "symbols with a field");
	PLAN_CHECK_WRONG(l->wire.context, PLAN_LAYOUT_MAX, "tables of names");
	PLAN_CHECK_WRONG(l->wire.table, PLAN_LAYOUT_MAX, "tables of names");
	PLAN_CHECK_WRONG(l->wire.count, PLAN_LAYOUT_MAX, "tables of names");
	PLAN_CHECK_WRONG(l->wire.symbols, PLAN_LAYOUT_MAX, "tables of names");
	PLAN_CHECK_WRONG(l->wire.n_symbols, PLAN_LAYOUT_MAX, "tables of names");
	PLAN_CHECK_WRONG(l->wire.current.context, PLAN_LAYOUT_MAX, "a context more than");
	PLAN_CHECK_WRONG(l->wire.tags[31], PLAN_LAYOUT_MAX, "a kind of definitions");
	PLAN_CHECK_WRONG(l->wire.unnamed, PLAN_LAYOUT_MAX, "definitions without a name");
	PLAN_CHECK_WRONG(l->root, WIRE_TAGS, "a kind of crate roots");
	PLAN_CHECK_WRONG(l->root, 4, "a kind of crate roots"); /* named */
	PLAN_CHECK_WRONG(l->root, 5, "a kind of crate roots"); /* unknown */
	PLAN_CHECK_WRONG(l->wire.crates.size, 29, "entries of a cache");
	PLAN_CHECK_WRONG(l->wire.crates.index, 20, "entries of a cache");
	PLAN_CHECK_WRONG(l->wire.crates.index, 25, "entries of a cache");
	PLAN_CHECK_WRONG(l->wire.crates.key, 1, "entries of a cache");
	PLAN_CHECK_WRONG(l->wire.crates.own_id, PLAN_LAYOUT_MAX, "names of crates");
	PLAN_CHECK_WRONG(l->wire.crates.keys_mask, PLAN_LAYOUT_MAX, "names of crates");
}

TEST_CASE(places_stay_in_their_structs)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	struct plan_layout *l = &plan->layout;

	PLAN_CHECK_WRONG(l->wire.places.first, 0, "buckets of spans");
	PLAN_CHECK_WRONG(l->wire.places.first, 17, "buckets of spans");
	PLAN_CHECK_WRONG(l->wire.places.step, 0, "buckets of spans");
	PLAN_CHECK_WRONG(l->wire.places.step, 3, "buckets of spans");
	PLAN_CHECK_WRONG(l->wire.places.spans, PLAN_LAYOUT_MAX, "tables of places");
	PLAN_CHECK_WRONG(l->wire.places.n_spans, PLAN_LAYOUT_MAX, "tables of places");
	PLAN_CHECK_WRONG(l->wire.places.source_map, PLAN_LAYOUT_MAX, "tables of places");
	PLAN_CHECK_WRONG(l->wire.places.files, PLAN_LAYOUT_MAX, "tables of places");
	PLAN_CHECK_WRONG(l->wire.places.n_files, PLAN_LAYOUT_MAX, "tables of places");
	PLAN_CHECK_WRONG(l->wire.places.interned, PLAN_LAYOUT_MAX, "tables of places");
	PLAN_CHECK_WRONG(l->wire.places.n_interned, PLAN_LAYOUT_MAX, "tables of places");
	PLAN_CHECK_WRONG(l->wire.places.file_size, WIRE_FILE_SIZE_MAX + 1,
			 "source files of more than");
	PLAN_CHECK_WRONG(l->wire.places.file_start, 0x15d, "source files of more than");
	PLAN_CHECK_WRONG(l->wire.places.file_length, UINT32_MAX, "source files of more than");
	PLAN_CHECK_WRONG(l->wire.places.name, 0x159, "source files with a field");
	PLAN_CHECK_WRONG(l->wire.places.name_length, 0x159, "source files with a field");
	PLAN_CHECK_WRONG(l->wire.places.name_capacity, 0x159, "source files with a field");
	PLAN_CHECK_WRONG(l->wire.places.state, 0x159, "source files with a field");
	PLAN_CHECK_WRONG(l->wire.places.lines, 0x159, "source files with a field");
	PLAN_CHECK_WRONG(l->wire.places.n_lines, UINT32_MAX, "source files with a field");
	PLAN_CHECK_WRONG(l->wire.places.interned_size, 15, "interned spans");
	PLAN_CHECK_WRONG(l->wire.places.interned_size, 65, "interned spans");
	PLAN_CHECK_WRONG(l->wire.places.position, 21, "interned spans");
	PLAN_CHECK_WRONG(l->wire.places.context, 21, "interned spans");
	PLAN_CHECK_WRONG(l->wire.calls.contexts, PLAN_LAYOUT_MAX, "tables of expansions");
	PLAN_CHECK_WRONG(l->wire.calls.n_contexts, PLAN_LAYOUT_MAX, "tables of expansions");
	PLAN_CHECK_WRONG(l->wire.calls.expansions, PLAN_LAYOUT_MAX, "tables of expansions");
	PLAN_CHECK_WRONG(l->wire.calls.n_expansions, PLAN_LAYOUT_MAX, "tables of expansions");
	PLAN_CHECK_WRONG(l->wire.calls.context_size, WIRE_EXPANSION_MAX + 1,
			 "contexts or expansions");
	PLAN_CHECK_WRONG(l->wire.calls.expansion_size, WIRE_EXPANSION_MAX + 1,
			 "contexts or expansions");
	PLAN_CHECK_WRONG(l->wire.calls.crate, 25, "contexts or expansions");
	PLAN_CHECK_WRONG(l->wire.calls.number, UINT32_MAX, "contexts or expansions");
	PLAN_CHECK_WRONG(l->wire.calls.call, 73, "contexts or expansions");
	PLAN_CHECK_WRONG(l->wire.calls.kind, 80, "contexts or expansions");
	PLAN_CHECK_WRONG(l->wire.calls.tag, 256, "contexts or expansions");
}
#undef PLAN_CHECK_WRONG

TEST_CASE(a_usual_plan_exceeds_no_limit)
{
	_plan_ struct plan *plan = sample_plan();

	assert_null(plan_excess(plan));
}

TEST_MAIN(NULL, NULL)
