// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/index_codec.h"

#include "test.h"
#include "../fixtures/spans.h"

#define N 200

static struct batch_summary random_summary(struct rng *rng)
{
	struct batch_summary s = {.n = 1 + rng_below(rng, QPT_SPANS_MAX),
				  .start_ns = rng_any_size(rng) >> 1,
				  .n_processes = rng_below(rng, QPT_INDEX_PROCESSES + 1),
				  .n_labels = rng_below(rng, QPT_INDEX_LABELS + 1)};

	s.end_ns = s.start_ns + (rng_any_size(rng) >> 1);
	for (uint32_t i = 0, v = 0; i < s.n_processes; i++)
		s.processes[i] = v += 1 + rng_below(rng, 9);
	for (uint32_t i = 0, v = 0; i < s.n_labels; i++)
		s.labels[i] = v += 1 + rng_below(rng, 9);
	return s;
}

static bool same(const struct batch_summary *a, const struct batch_summary *b)
{
	return a->n == b->n && a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
	       a->n_processes == b->n_processes && a->n_labels == b->n_labels &&
	       !memcmp(a->processes, b->processes, a->n_processes * sizeof(*a->processes)) &&
	       !memcmp(a->labels, b->labels, a->n_labels * sizeof(*a->labels));
}

static struct index_builder random_index(struct rng *rng, struct index_entry entries[N])
{
	struct index_builder b = {.first = 32, .previous = 7};
	uint64_t offset = b.first;

	for (int i = 0; i < N; i++) {
		entries[i].offset = offset;
		entries[i].type = rng_below(rng, 12);
		entries[i].stored = rng_below(rng, QPT_PAYLOAD_MAX + 1);
		entries[i].spans = random_summary(rng);
		index_builder__add(&b, entries[i].type, entries[i].stored, &entries[i].spans);
		offset += QPT_CHUNK_HEADER_SIZE + entries[i].stored;
	}
	return b;
}

TEST_CASE(entries_come_back)
{
	struct rng rng = rng_new();
	struct index_entry *entries = calloc(N, sizeof(*entries)), *got = malloc(sizeof(*got));
	struct index_builder b = random_index(&rng, entries);
	struct byte_buffer out = {0};
	struct index_cursor c;

	index_builder__payload(&b, &out);
	c = index_cursor__begin((struct byte_reader){out.data, out.data + out.size, false});
	assert_int_equal(c.previous, 7);
	for (int i = 0; i < N; i++) {
		assert_true(index_cursor__next(&c, got));
		assert_struct(*got, offset, entries[i].offset, type, entries[i].type, stored,
			      entries[i].stored);
		if (got->type == QPT_SPANS)
			assert_true(same(&got->spans, &entries[i].spans));
	}
	assert_false(index_cursor__next(&c, got));
	assert_false(c.in.bad);
	index_builder__next(&b, 1000, 2000);
	assert_struct(b, n, 0, first, 2000);
	byte_buffer__destroy(&b.entries);
	byte_buffer__destroy(&out);
	free(entries);
	free(got);
}

TEST_CASE(every_cut_is_noticed)
{
	struct rng rng = rng_new();
	struct index_entry *entries = calloc(N, sizeof(*entries));
	struct index_builder b = random_index(&rng, entries);
	struct byte_buffer out = {0};

	index_builder__payload(&b, &out);
	for (size_t size = 0; size < out.size; size += 1 + size / 50) {
		struct index_cursor c =
			index_cursor__begin((struct byte_reader){out.data, out.data + size, false});

		while (index_cursor__next(&c, entries))
			;
		assert_true(c.in.bad);
	}
	byte_buffer__destroy(&b.entries);
	byte_buffer__destroy(&out);
	free(entries);
}

/* ---- Batch summary --------------------------------------------------------------------------- */

TEST_CASE(sets_are_sorted_and_complete)
{
	struct rng rng = rng_new();
	_free_ struct spans *s = spans_new(&rng, 4000, 7, 300);
	struct batch_summer summer = {0};
	const struct batch_summary *sum = &summer.summary;

	for (uint32_t at = 0; at + 1000 <= s->n; at += 1000) {
		bool labels[300] = {false}, processes[7] = {false};
		uint64_t start = UINT64_MAX, end = 0;

		assert_int_equal(batch_summer__sum(&summer, s->at + at, 1000, 300), 0);
		for (uint32_t i = at; i < at + 1000; i++) {
			labels[s->at[i].label] = processes[s->at[i].process] = true;
			start = s->at[i].start_ns < start ? s->at[i].start_ns : start;
			end = s->at[i].end_ns > end ? s->at[i].end_ns : end;
		}
		assert_struct(*sum, n, 1000, start_ns, start, end_ns, end);
		for (uint32_t i = 0, k = 0; i < 300; i++)
			if (labels[i])
				assert_int_equal(sum->labels[k++], i);
		for (uint32_t i = 0, k = 0; i < 7; i++)
			if (processes[i])
				assert_int_equal(sum->processes[k++], i);
	}
	batch_summer__destroy(&summer);
}

TEST_CASE(a_list_that_would_be_incomplete_is_left_empty)
{
	_free_ struct trace_span *s = calloc(2000, sizeof(*s));
	struct batch_summer summer = {0};
	const struct batch_summary *sum = &summer.summary;

	for (uint32_t i = 0; i < 2000; i++) {
		s[i].label = i;
		s[i].process = i;
	}
	assert_int_equal(batch_summer__sum(&summer, s, QPT_INDEX_PROCESSES, 2000), 0);
	assert_int_equal(sum->n_processes, QPT_INDEX_PROCESSES);
	assert_int_equal(batch_summer__sum(&summer, s, QPT_INDEX_LABELS, 2000), 0);
	assert_struct(*sum, n_processes, 0, n_labels, QPT_INDEX_LABELS);
	assert_int_equal(batch_summer__sum(&summer, s, QPT_INDEX_LABELS + 1, 2000), 0);
	assert_int_equal(sum->n_labels, 0);
	s[0].label = TRACE_VIRTUAL | 5;
	assert_int_equal(batch_summer__sum(&summer, s, 10, 2000), 0);
	assert_int_equal(sum->n_labels, 0);
	batch_summer__destroy(&summer);
}

TEST_MAIN(NULL, NULL)
