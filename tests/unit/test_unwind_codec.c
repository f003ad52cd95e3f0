// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/codec.h"

#include "test.h"
#include "../fixtures/unwind_rows.h"
#include "../fixtures/rows.h"
#include "pctab/pctab.h"

#define CHECKED_FROM UNWIND_CODEC_CHECKED_FROM
#define HEADER	     UNWIND_CODEC_HEADER
#define SEGMENT	     24
#define RULE	     8

static struct unwind_table *sample(void)
{
	_unwind_rows_ struct unwind_rows r = {};
	struct rng rng = rng_new();

	rows_random(&rng, &r, 3 * WIRE_UNWIND_PAGE_BYTES, 200, 300);
	return rows_table(&r);
}

/* Bytes of a table, and what is decoded of them. */
struct coded {
	uint8_t *bytes;
	size_t len;
};

static struct coded encode(const struct unwind_table *t)
{
	struct coded c;

	assert_int_equal(unwind_encode(t, &c.bytes, &c.len), 0);
	return c;
}

static void coded__destroy(struct coded *c)
{
	free(c->bytes);
}
#define _coded_ __cleanup(coded__destroy)

static int decode(const struct coded *c, struct unwind_table **out)
{
	return unwind_decode(c->bytes, c->len, out);
}

static void assert_bad(const struct coded *c)
{
	struct unwind_table *t = NULL;

	assert_int_equal(decode(c, &t), -EBADMSG);
	assert_null(t);
}

TEST_CASE(a_table_comes_back)
{
	_unwind_table_ struct unwind_table *t = sample(), *back = NULL;
	_coded_ struct coded c;

	t->unreadable = 11;
	t->refused = 12;
	t->rules[1].rbp = -300;
	t->rules[1].rbp_is = WIRE_UNWIND_RBP_AT_RBP;
	t->rules[1].cfa = -77777;
	c = encode(t);
	assert_int_equal(decode(&c, &back), 0);
	assert_pairs(back->start, t->start, back->pages, t->pages, back->n_rules, t->n_rules);
	assert_memory_equal(back->rules, t->rules, t->n_rules * sizeof(*t->rules));
	assert_memory_equal(back->directory, t->directory, t->pages * sizeof(*t->directory));
	assert_int_equal(back->size, t->size);
	assert_memory_equal(back->tables, t->tables, t->size);
	assert_int_equal(back->n_segments, t->n_segments);
	assert_memory_equal(back->segments, t->segments, sizeof(t->segments));
	assert_pairs(back->rows, t->rows, back->functions, t->functions, back->unreadable, 11,
		     back->refused, 12);
	assert_true(back->tables + back->size == c.bytes + c.len);
}

TEST_CASE(any_change_is_noticed)
{
	_unwind_table_ struct unwind_table *t = sample();
	_coded_ struct coded c = encode(t);

	for (size_t i = 0; i < c.len; i++) {
		uint8_t bit = (uint8_t)(1 << i % 8);

		c.bytes[i] ^= bit;
		assert_bad(&c);
		c.bytes[i] ^= bit;
	}
}

TEST_CASE(any_other_length_is_noticed)
{
	_unwind_table_ struct unwind_table *t = sample();
	_coded_ struct coded c = encode(t), part = {.bytes = NULL};

	for (part.len = 0; part.len < c.len; part.len += 1 + part.len / 50) {
		part.bytes = realloc(part.bytes, part.len ?: 1);
		assert_non_null(part.bytes);
		memcpy(part.bytes, c.bytes, part.len);
		assert_bad(&part);
	}
	part.bytes = realloc(part.bytes, c.len + 1);
	part.len = c.len + 1;
	memcpy(part.bytes, c.bytes, c.len);
	part.bytes[c.len] = 0;
	assert_bad(&part);
}

static void put(uint8_t *p, uint64_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

/* Make the checksum right. */
static void seal(struct coded *c)
{
	unwind_codec__seal(c->bytes, c->len);
}

/* A number of `size` bytes at this place makes the table bad. */
static void assert_bad_with(size_t at, uint64_t value, unsigned int size)
{
	_unwind_table_ struct unwind_table *t = sample();
	_coded_ struct coded c = encode(t);

	put(c.bytes + at, value, size);
	seal(&c);
	assert_bad(&c);
}

#define NUMBER(i) (CHECKED_FROM + 8 + 4 * (i)) /* of the header */

TEST_CASE(counts_and_offsets_are_checked)
{
	_unwind_table_ struct unwind_table *t = sample();
	size_t rules = HEADER + SEGMENT * t->n_segments;
	size_t directory = rules + RULE * t->n_rules;

	assert_bad_with(CHECKED_FROM, ROWS_START + 1, 8); /* not where a page begins */
	assert_bad_with(NUMBER(0), 0, 4);
	assert_bad_with(NUMBER(0), UINT32_MAX, 4);
	assert_bad_with(NUMBER(0), t->pages + 1, 4);
	assert_bad_with(NUMBER(1), 0, 4);
	assert_bad_with(NUMBER(1), WIRE_UNWIND_RULES_MAX + 1, 4);
	assert_bad_with(NUMBER(2), UNWIND_SEGMENTS_MAX + 1, 4);
	assert_bad_with(NUMBER(3), 0, 4);
	assert_bad_with(NUMBER(3), t->size - 1, 4);
	assert_bad_with(NUMBER(3), UINT32_MAX, 4);
	/* Rule 0 is none; a base and a way that do not exist. */
	assert_bad_with(rules + 6, WIRE_UNWIND_RSP, 1);
	assert_bad_with(rules + RULE + 6, WIRE_UNWIND_BASES, 1);
	assert_bad_with(rules + RULE + 7, WIRE_UNWIND_RBP_WAYS, 1);
	/* Offsets that do not begin at 0, do not rise, or lead outside. */
	assert_bad_with(directory, 1, 4);
	assert_bad_with(directory + 4, 0, 4);
	assert_bad_with(directory + 8, t->directory[1], 4);
	assert_bad_with(directory + 8, t->size, 4);
	assert_bad_with(directory + 8, UINT32_MAX - 1, 4);
}

TEST_CASE(a_page_may_have_no_table)
{
	_unwind_table_ struct unwind_table *t = sample(), *back = NULL;
	_coded_ struct coded c = encode(t);
	size_t directory = HEADER + SEGMENT * t->n_segments + RULE * t->n_rules;

	put(c.bytes + directory + 4, UNWIND_NO_TABLE, 4);
	seal(&c);
	assert_int_equal(decode(&c, &back), 0);
	assert_int_equal(unwind_table__page_size(back, 0), t->directory[2]);
	/* But one has. */
	for (uint32_t page = 0; page < t->pages; page++)
		put(c.bytes + directory + 4 * page, UNWIND_NO_TABLE, 4);
	seal(&c);
	assert_bad(&c);
}

TEST_MAIN(NULL, NULL)
