// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/codec.h"
#include "plan/plan.h"
#include "plan/check.h"

#include <zlib.h>
#include <limits.h>

#include "test.h"
#include "../fixtures/sample_plan.h"
#include "../fixtures/names.h"
#include "../fixtures/rows.h"

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

/* What the plan is after it was written and read. */
static struct plan *read_back(const struct plan *plan)
{
	_free_ uint8_t *buf = NULL;
	struct plan *back = NULL;
	size_t len;

	encode(plan, &buf, &len);
	assert_int_equal(decode_copy(buf, len, &back), 0);
	assert_true(sample_same(plan, back));
	return back;
}

TEST_CASE(a_plan_comes_back_as_it_was)
{
	_plan_ struct plan *plan = sample_plan(), *back = read_back(plan);
	_plan_ struct plan *named = sample_plan_with_names(), *named_back = read_back(named);
	_plan_ struct plan *with_problems = NULL, *nothing_back = NULL;
	char nothing[] = "";
	struct plan empty = {.build_id_len = 1, .path = nothing, .mangling = nothing};

	/* The comparison sees each kind of part. */
#define SEES(a, b, lvalue)                       \
	do {                                     \
		(lvalue)++;                      \
		assert_false(sample_same(a, b)); \
		(lvalue)--;                      \
	} while (0)
	SEES(plan, back, back->sites[3].slot);
	SEES(plan, back, back->sites[1].key_slot);
	SEES(plan, back, back->bodies[1].between);
	SEES(plan, back, back->queries[0].key);
	SEES(plan, back, back->queries[1].memory.words[31]);
	SEES(plan, back, back->frames[7].size);
	SEES(plan, back, back->guard_frames[2].of);
	SEES(named, named_back, named_back->layout.wire.tags[WIRE_TAGS - 1]);
#undef SEES
	back->queries[0].stays = false;
	assert_false(sample_same(plan, back));
	plan->layout.problem = strdup("there is no Symbol::as_str");
	plan->layout.crates_problem = strdup("there is no CStore::from_tcx");
	with_problems = read_back(plan);
	nothing_back = read_back(&empty);
	assert_null(nothing_back->rustc_version);
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

/* Another revision of the code may mine a different plan. */
TEST_CASE_WITH(another_version_or_revision_is_refused, encode_sample, free_sample)
{
	encoded[VERSION_OFFSET]++;
	assert_refused(encoded, encoded_len);
	encoded[VERSION_OFFSET]--;
	assert_memory_not_equal(encoded + REVISION_OFFSET, "\0\0\0", 4);
	encoded[REVISION_OFFSET + 3]++;
	assert_refused(encoded, encoded_len);
}

/* A field of a plan, little endian. */
struct field {
	const char *name;
	void *at;
	size_t size;
};

#define F(lvalue)                                                        \
	{                                                                \
		.name = #lvalue, .at = &(lvalue), .size = sizeof(lvalue) \
	}

/* Anyone can write a correct checksum, so the decoder must check the values as well. */
static void assert_field_refused(const struct plan *plan, const struct field *f, uint64_t value)
{
	_free_ uint8_t *buf = NULL;
	struct plan *back = NULL;
	size_t len;
	uint64_t good = 0;

	memcpy(&good, f->at, f->size);
	memcpy(f->at, &value, f->size);
	encode(plan, &buf, &len);
	row_equal(f->name, decode_copy(buf, len, &back), -EBADMSG);
	assert_null(back);
	memcpy(f->at, &good, f->size);
}

/* Each of these fields is wrong with this value. */
#define WRONG(value, ...)                                                                       \
	do {                                                                                    \
		const struct field fields_[] = {__VA_ARGS__};                                   \
                                                                                                \
		for (size_t i_ = 0; i_ < N_OF(fields_); i_++)                                   \
			assert_field_refused(plan, &fields_[i_], (uint64_t)(uintptr_t)(value)); \
	} while (0)

TEST_CASE(values_out_of_range_are_refused)
{
	_plan_ struct plan *plan = sample_plan();
	struct plan_site *site = plan->sites;
	struct plan_query *query = plan->queries;
	struct wire_tables *t = &plan->tables;
	struct plan_guard *guard = plan->guards;

	WRONG(2, F(site[0].query), F(site[2].body), F(site[6].guard), F(query[0].body_non_incr),
	      F(query[0].body_incr), F(plan->bodies[1].group), F(guard[0].body));
	WRONG(0, F(site[0].role), F(site[0].guard), F(guard[0].number));
	WRONG(WIRE_ROLE_HIT, F(site[7].role));
	WRONG(WIRE_ROLE_DROP, F(site[7].role));
	WRONG(PLAN_NONE, F(site[6].guard));
	WRONG(PLAN_STEPPED + 1, F(site[0].cls));
	WRONG(WIRE_REG_R15 + 1, F(site[2].reg), F(site[0].key_reg), F(site[0].result_reg));
	WRONG(64, F(site[0].result_shift));
	/* In a register, and in a slot too; at an end. */
	WRONG(8, F(site[0].key_slot), F(site[3].key_slot));
	WRONG(WIRE_REG_DI, F(site[2].key_reg));
	WRONG(WIRE_KEY_MAX, F(query[0].key), F(query[0].table.key));
	WRONG(PLAN_LAYOUT_MAX, F(query[0].memory.offset), F(query[0].table.name),
	      F(query[0].table.active), F(query[0].table.cache), F(query[0].table.others),
	      F(t->vec_count), F(t->buckets));
	WRONG(WIRE_CACHE_MAX, F(query[0].table.kind));
	WRONG(2, F(query[0].table.fed));
	/* The length is not that of its name, the key is beyond the entry. */
	WRONG(1, F(query[0].table.length), F(query[0].table.key_at));
	WRONG(WIRE_CACHE_VEC, F(query[1].table.kind)); /* and a problem */
	WRONG(WIRE_ENTRY_MAX + 1, F(query[0].table.entry_size));
	WRONG(WIRE_SHARD_SIZE_MAX, F(t->ctrl), F(t->mask), F(t->items), F(t->mode), F(t->shards));
	WRONG(3, F(t->n));
	WRONG(0, F(t->n)); /* but a query has a table */
	WRONG(WIRE_SHARDS_MAX + 1, F(t->n_shards));
	WRONG(WIRE_SHARD_SIZE_MAX + 1, F(t->shard_size));
	WRONG(WIRE_KEYS_MAX + 1, F(t->first));
	WRONG(2 * WIRE_VEC_FIRST_MAX, F(t->first));
	WRONG(0x1200, F(site[1].addr)); /* below the previous site */
	WRONG(NULL, F(plan->path), F(plan->mangling), F(query[0].name), F(guard[0].function));
	WRONG(SYMBOL_SOURCES, F(plan->symbols));
	WRONG(query[0].name, F(query[1].name)); /* not unique */
	WRONG(WIRE_KIND_QUERY, F(guard[0].kind));
	WRONG(WIRE_KIND_MAX, F(guard[0].kind));
	/* Values beyond their limits. */
	WRONG(WIRE_SCOPE_TIMER + 1, F(guard[0].scope));
	WRONG(PLAN_SLOT_MAX + 8, F(guard[1].label_slot), F(site[6].slot));
	WRONG(6, F(guard[1].label_slot), F(site[1].key_slot));
	WRONG(-8, F(site[6].vtable_offset));
	WRONG(8 * 2048, F(site[0].sp_delta));
	WRONG(4 * 65535, F(site[3].slot), F(site[1].key_slot));
}

TEST_CASE(frames_out_of_range_are_refused)
{
	_plan_ struct plan *plan = sample_plan();
	struct plan_frame *frame = plan->frames, *guard = plan->guard_frames;

	WRONG(2, F(frame[0].of), F(frame[3].of), F(guard[1].of)); /* a query, a body, a guard */
	WRONG(PLAN_FRAME_KINDS, F(frame[0].kind));
	WRONG(PLAN_FRAME_GUARD, F(frame[0].kind));
	WRONG(PLAN_FRAME_BODY, F(guard[0].kind));
	WRONG(0, F(frame[3].size));
	WRONG(0x51, F(frame[3].size));	     /* overlaps the next one */
	WRONG(UINT64_MAX, F(frame[7].addr)); /* ends past the last address */
	WRONG(0x7000, F(frame[4].addr));     /* not in order */
	/* Neither behind the last one nor equal to it. */
	WRONG(0x0f, F(guard[2].size));
	WRONG(0x8041, F(guard[2].addr));
}

TEST_CASE(layouts_out_of_range_are_refused)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	struct plan_layout *l = &plan->layout;
	char problem[] = "none";

	WRONG(problem, F(l->problem), F(l->current_problem), F(l->crates_problem),
	      F(l->places_problem), F(l->calls_problem));
	/* Of no use without its probe site. */
	WRONG(0xa002, F(l->wire.drop));
	WRONG(WIRE_ROLE_HIT, F(plan->sites[8].role));
	WRONG(WIRE_ROLE_DROP + 1, F(plan->sites[8].role));
	/* Some of plan_layout_excess(). */
	WRONG(19, F(l->wire.size));
	WRONG(27, F(l->wire.crates.size));
	WRONG(80, F(l->wire.calls.call));
	WRONG(513, F(l->wire.places.file_size));
}
#undef WRONG

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
	assert_pairs(d.tag, TAG_NAMED, d.symbol, 77, d.disambiguator, 3, d.parent, 5);
	assert_int_equal(definition__symbol(&l, &d), 77);
	d.tag = WIRE_TAGS;
	assert_int_equal(definition__symbol(&l, &d), WIRE_TAG_UNKNOWN);
}

static void assert_segment(const struct plan_layout *l, struct definition d, const char *text,
			   const char *expected)
{
	char out[DEFINITION_SEGMENT_MAX];

	definition__segment(l, &d, text, out);
	assert_string_equal(out, expected);
}

TEST_CASE(segments_are_as_rustc_prints_them)
{
	const struct plan_layout l = names_layout();
	const struct definition other = {.tag = TAG_ROOT, .disambiguator = UINT32_MAX};
	char out[DEFINITION_SEGMENT_MAX], long_text[WIRE_SYMBOL_MAX + 100];

	assert_segment(&l, (struct definition){.tag = TAG_NAMED}, "visit", "visit");
	assert_segment(&l, (struct definition){.tag = TAG_NAMED, .disambiguator = 4}, "visit",
		       "visit[4]");
	assert_segment(&l, other, "impl", "{{impl}}[4294967295]");
	memset(long_text, 'a', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	definition__segment(&l, &other, long_text, out);
	assert_int_equal(strlen(out), WIRE_SYMBOL_MAX + strlen("{{}}[4294967295]"));
}

TEST_CASE(a_definition_may_have_no_name)
{
	struct plan_layout l = names_layout();
	struct definition d = {.tag = TAG_NAMED, .disambiguator = 2};

	assert_int_equal(definition__symbol(&l, &d), 0);
	l.wire.unnamed = 78;
	l.wire.unnamed_tags = 1u << TAG_NAMED;
	assert_int_equal(definition__symbol(&l, &d), 78);
	assert_segment(&l, d, "synthetic", "{{synthetic}}[2]");
	d.symbol = 77;
	assert_int_equal(definition__symbol(&l, &d), 77);
	assert_segment(&l, d, "visit", "visit[2]");
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

/* A site is within the limits, or is not, with each of these for `v`. */
#define FIT(expected, site, ...)                                                        \
	do {                                                                            \
		const int64_t values_[] = {__VA_ARGS__};                                \
                                                                                        \
		for (size_t i_ = 0; i_ < N_OF(values_); i_++) {                         \
			const int64_t v = values_[i_];                                  \
			char row_[24];                                                  \
                                                                                        \
			snprintf(row_, sizeof(row_), "%lld", (long long)v);             \
			row_equal(row_, fits((struct plan_site)UNPACK site), expected); \
		}                                                                       \
	} while (0)
#define UNPACK(...)         \
	{                   \
		__VA_ARGS__ \
	}

TEST_CASE(operands_have_limits)
{
	const int32_t max = PLAN_SLOT_MAX, delta = PLAN_SP_DELTA_MAX, vtable = PLAN_VTABLE_MAX;

	FIT(true, (.role = WIRE_ROLE_END, .slot = v), PLAN_NO_SLOT, 0, max);
	FIT(false, (.role = WIRE_ROLE_END, .slot = v), max + 4, INT32_MAX, 6, -4);
	FIT(true, (.role = WIRE_ROLE_END, .sp_delta = v), 0, 8, -8, delta, -delta);
	FIT(false, (.role = WIRE_ROLE_END, .sp_delta = v), 4, -4, delta + 8, INT32_MAX, INT32_MIN,
	    -delta - 8);
	FIT(true, (.role = WIRE_ROLE_IDENTIFY, .slot = v), PLAN_NO_SLOT);
	FIT(true, (.role = WIRE_ROLE_IDENTIFY, .slot = max, .vtable_offset = v), vtable);
	FIT(false, (.role = WIRE_ROLE_IDENTIFY, .slot = v), max + 8);
	FIT(false, (.role = WIRE_ROLE_IDENTIFY, .vtable_offset = v), vtable + 8, -8, 4);
	FIT(true, (.role = WIRE_ROLE_START_BODY, .key_slot = v), PLAN_NO_SLOT, 0, max);
	FIT(false, (.role = WIRE_ROLE_START_BODY, .key_slot = v), max + 4, 6, -4);
	/* A request and a wrapper have 32 bits for their address. */
	FIT(true, (.role = WIRE_ROLE_REQUEST, .addr = v, .slot = v ? 400 : 0), 0, UINT32_MAX);
	FIT(true, (.role = WIRE_ROLE_WRAPPER, .addr = v, .sp_delta = v ? 400 : 0), 0, UINT32_MAX);
	FIT(false, (.role = WIRE_ROLE_REQUEST, .addr = v), (int64_t)UINT32_MAX + 1);
	FIT(false, (.role = WIRE_ROLE_WRAPPER, .addr = v), (int64_t)UINT32_MAX + 1);
	FIT(false, (.role = WIRE_ROLE_REQUEST, .slot = v), 1 << 20, 4, -8);
	FIT(false, (.role = WIRE_ROLE_WRAPPER, .sp_delta = v), 1 << 20, 4, -8);
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

/* With this value, each of these fields exceeds what `part` names. */
#define EXCEEDS(part, value, ...)                                                    \
	do {                                                                         \
		const struct field fields_[] = {__VA_ARGS__};                        \
                                                                                     \
		for (size_t i_ = 0; i_ < N_OF(fields_); i_++)                        \
			assert_exceeds(plan, &fields_[i_], (uint32_t)(value), part); \
	} while (0)

static void assert_exceeds(const struct plan *plan, const struct field *f, uint32_t value,
			   const char *part)
{
	uint32_t good;

	row_equal(f->name, f->size, sizeof(good));
	memcpy(&good, f->at, f->size);
	memcpy(f->at, &value, f->size);
	row_part(f->name, plan_excess(plan), part);
	memcpy(f->at, &good, f->size);
	row_text(f->name, plan_excess(plan), NULL);
}

TEST_CASE(a_layout_stays_in_its_structs)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	struct plan_layout *l = &plan->layout;
	struct wire_layout *w = &l->wire;

	EXCEEDS("definitions of less than 8", 7, F(w->size));
	EXCEEDS("definitions of less than 8", 65, F(w->size));
	EXCEEDS("definitions with a field", 19, F(w->size));
	EXCEEDS("definitions with a field", 21, F(w->tag), F(w->symbol), F(l->disambiguator),
		F(l->parent));
	EXCEEDS("definitions with a field", UINT32_MAX, F(w->tag));
	EXCEEDS("symbols of less than", 15, F(w->symbol_size));
	EXCEEDS("symbols of less than", 65, F(w->symbol_size));
	EXCEEDS("symbols with a field", 25, F(w->text));
	EXCEEDS("symbols with a field", UINT32_MAX, F(w->length));
	EXCEEDS("tables of names", PLAN_LAYOUT_MAX, F(w->context), F(w->table), F(w->count),
		F(w->symbols), F(w->n_symbols));
	EXCEEDS("a context more than", PLAN_LAYOUT_MAX, F(w->current.context));
	EXCEEDS("a kind of definitions", PLAN_LAYOUT_MAX, F(w->tags[31]));
	EXCEEDS("definitions without a name", PLAN_LAYOUT_MAX, F(w->unnamed));
	EXCEEDS("a kind of crate roots", WIRE_TAGS, F(l->root));
	EXCEEDS("a kind of crate roots", 4, F(l->root)); /* named */
	EXCEEDS("a kind of crate roots", 5, F(l->root)); /* unknown */
	EXCEEDS("entries of a cache", 29, F(w->crates.size));
	EXCEEDS("entries of a cache", 20, F(w->crates.index));
	EXCEEDS("entries of a cache", 25, F(w->crates.index));
	EXCEEDS("entries of a cache", 1, F(w->crates.key));
	EXCEEDS("names of crates", PLAN_LAYOUT_MAX, F(w->crates.own_id), F(w->crates.keys_mask));
}

TEST_CASE(places_stay_in_their_structs)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	struct wire_layout_places *p = &plan->layout.wire.places;
	struct wire_layout_calls *c = &plan->layout.wire.calls;

	EXCEEDS("buckets of spans", 0, F(p->first), F(p->step));
	EXCEEDS("buckets of spans", 17, F(p->first));
	EXCEEDS("buckets of spans", 3, F(p->step));
	EXCEEDS("tables of places", PLAN_LAYOUT_MAX, F(p->spans), F(p->n_spans), F(p->source_map),
		F(p->files), F(p->n_files), F(p->interned), F(p->n_interned));
	EXCEEDS("source files of more than", WIRE_FILE_SIZE_MAX + 1, F(p->file_size));
	EXCEEDS("source files of more than", 0x15d, F(p->file_start));
	EXCEEDS("source files of more than", UINT32_MAX, F(p->file_length));
	EXCEEDS("source files with a field", 0x159, F(p->name), F(p->name_length),
		F(p->name_capacity), F(p->state), F(p->lines));
	EXCEEDS("source files with a field", UINT32_MAX, F(p->n_lines));
	EXCEEDS("interned spans", 15, F(p->interned_size));
	EXCEEDS("interned spans", 65, F(p->interned_size));
	EXCEEDS("interned spans", 21, F(p->position), F(p->context));
	EXCEEDS("tables of expansions", PLAN_LAYOUT_MAX, F(c->contexts), F(c->n_contexts),
		F(c->expansions), F(c->n_expansions));
	EXCEEDS("contexts or expansions", WIRE_EXPANSION_MAX + 1, F(c->context_size),
		F(c->expansion_size));
	EXCEEDS("contexts or expansions", 25, F(c->crate));
	EXCEEDS("contexts or expansions", UINT32_MAX, F(c->number));
	EXCEEDS("contexts or expansions", 73, F(c->call));
	EXCEEDS("contexts or expansions", 80, F(c->kind));
	EXCEEDS("contexts or expansions", 256, F(c->tag));
}

TEST_CASE(a_usual_plan_exceeds_no_limit)
{
	_plan_ struct plan *plan = sample_plan();

	assert_null(plan_excess(plan));
}

TEST_MAIN(NULL, NULL)
