// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/compiler_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

#define TABLE_SIZE (8 * WIRE_TABLE_WORDS)
#define NAME_SIZE  16

/* One that has entries, or shards. */
struct table {
	uint64_t at;	  /* its control bytes, or its shards */
	uint32_t buckets; /* 0: it has shards */
	uint32_t query;
};

struct reader {
	const struct compiler_memory *memory;
	const struct plan *plan;
	const struct wire_job_tables *all;
	struct table *tables;
	uint32_t n_tables, capacity, n_buckets;
	/* While they are read, `number` is the address of an entry, or 0. */
	struct compiler_jobs *out;
	/* Ranges that are read at once, the table or job of each, and what takes its bytes. */
	struct broker_memory ranges[BROKER_RANGES_MAX];
	uint32_t of[BROKER_RANGES_MAX], n, size;
	int (*take)(struct reader *r, uint32_t of, const uint8_t *bytes);
	bool twice; /* what has changed in between is left out */
	bool gone[BROKER_RANGES_MAX];
	uint8_t bytes[BROKER_MEMORY_MAX + TABLE_SIZE], again[BROKER_MEMORY_MAX];
};

/* Notes what cannot be read, as another thread has moved it. */
static int read_ranges(struct reader *r, uint8_t *bytes)
{
	const struct compiler_memory *m = r->memory;
	int err = m->read(m->ctx, r->ranges, r->n, bytes);

	for (uint32_t i = 0; err == -EFAULT && i < r->n; bytes += r->ranges[i++].size) {
		int of_one = m->read(m->ctx, &r->ranges[i], 1, bytes);

		r->gone[i] |= of_one == -EFAULT;
		if (of_one && of_one != -EFAULT)
			return of_one;
	}
	return err == -EFAULT ? 0 : err;
}

static int flush(struct reader *r)
{
	const uint8_t *bytes = r->bytes;
	int err;

	memset(r->gone, 0, sizeof(r->gone));
	err = r->n ? read_ranges(r, r->bytes) : 0;
	if (r->n && r->twice)
		err = err ?: read_ranges(r, r->again);
	for (uint32_t i = 0; i < r->n && !err; bytes += r->ranges[i++].size)
		if (!r->gone[i] &&
		    (!r->twice || !memcmp(bytes, r->again + (bytes - r->bytes), r->ranges[i].size)))
			err = r->take(r, r->of[i], bytes);
	r->n = r->size = 0;
	return err;
}

static int want(struct reader *r, uint32_t of, uint64_t at, uint32_t size)
{
	int err = r->n == BROKER_RANGES_MAX || r->size + size > BROKER_MEMORY_MAX ? flush(r) : 0;

	r->ranges[r->n] = (struct broker_memory){at, size};
	r->of[r->n++] = of;
	r->size += size;
	return err;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Add the table that a struct is of, if it has entries. */
static int add_table(struct reader *r, uint32_t query, const uint8_t *bytes)
{
	const struct wire_job_tables *all = r->all;
	struct table table = {.query = query};
	uint64_t n, mask;

	memcpy(&n, bytes + 8 * all->n_entries, sizeof(n));
	memcpy(&mask, bytes + 8 * all->mask, sizeof(mask));
	memcpy(&table.at, bytes + 8 * all->ctrl, sizeof(table.at));
	if (!n || n > mask)
		return 0;
	if (mask >= COMPILER_JOBS_TABLE || r->n_buckets > COMPILER_JOBS_BUCKETS)
		return -E2BIG;
	table.buckets = (uint32_t)mask + 1;
	r->n_buckets += table.buckets;
	return array__add(&r->tables, &r->n_tables, &r->capacity, &table);
}

static int take_shards(struct reader *r, uint32_t of, const uint8_t *bytes)
{
	int err = 0;

	for (uint32_t i = 0; i < r->all->n_shards && !err; i++)
		err = add_table(r, r->tables[of].query, bytes + i * r->all->shard);
	return err;
}

static int find_table(struct reader *r, uint64_t bias, const uint8_t *context, uint32_t query)
{
	const struct wire_job_table *t = &r->all->items[query];
	const uint8_t *bytes = context + t->at;
	struct table sharded = {.query = query};
	uint64_t name[2];

	memcpy(name, context + t->name, sizeof(name));
	if (!t->at || name[0] != bias + t->text || name[1] != t->length)
		return 0;
	if (bytes[r->all->mode_at] != r->all->sharded)
		return add_table(r, query, bytes);
	memcpy(&sharded.at, bytes, sizeof(sharded.at));
	return array__add(&r->tables, &r->n_tables, &r->capacity, &sharded);
}

static int find_tables(struct reader *r, uint64_t bias, uint64_t context)
{
	const struct wire_job_tables *all = r->all;
	_free_ uint8_t *copy = calloc(1, PLAN_LAYOUT_MAX + TABLE_SIZE);
	uint32_t shards = all->n_shards * all->shard, low = PLAN_LAYOUT_MAX, end = 0, size;
	int err = copy ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct wire_job_table *t = &all->items[i];

		if (!t->at)
			continue;
		low = t->at < low ? t->at : low;
		low = t->name < low ? t->name : low;
		end = t->at + TABLE_SIZE > end ? t->at + TABLE_SIZE : end;
		end = t->name + NAME_SIZE > end ? t->name + NAME_SIZE : end;
	}
	for (uint32_t at = low; at < end && !err; at += size) {
		size = end - at < BROKER_MEMORY_MAX ? end - at : BROKER_MEMORY_MAX;
		err = compiler_memory__read(r->memory, context + at, copy + at, size);
	}
	for (uint32_t i = 0; i < all->n && !err; i++)
		err = find_table(r, bias, copy, i);
	r->take = take_shards;
	for (uint32_t i = 0, n = r->n_tables; i < n && !err; i++)
		if (!r->tables[i].buckets && shards)
			err = want(r, i, r->tables[i].at, shards);
	return err ?: flush(r);
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* The highest bit of a full bucket's control byte is not set. */
static int take_controls(struct reader *r, uint32_t of, const uint8_t *bytes)
{
	const struct table t = r->tables[of];
	uint32_t size = r->all->items[t.query].size;
	int err = 0;

	for (uint32_t i = 0; i < t.buckets && !err; i++) {
		struct compiler_job job = {.number = t.at - (i + 1ull) * size, .query = t.query};

		if (bytes[i] & 0x80)
			continue;
		err = r->out->n == COMPILER_JOBS_MAX
			      ? -E2BIG
			      : array__add(&r->out->items, &r->out->n, &r->out->capacity, &job);
	}
	return err;
}

static uint64_t make_key(uint8_t key, uint32_t index, uint32_t krate)
{
	switch (key) {
	case WIRE_KEY_LOCAL:
		return wire_key(WIRE_KEY_LOCAL_CRATE, index);
	case WIRE_KEY_DEF:
		return krate == WIRE_NO_CRATE ? 0 : wire_key(krate, index);
	case WIRE_KEY_CRATE:
		return index == WIRE_NO_CRATE ? 0 : wire_key(index, 0);
	default:
		return 0;
	}
}

/* As bpf/operands.h does; `size` bytes of the entry are left from the key on. */
static uint64_t key_of(uint8_t key, const struct wire_memory_key *m, const uint8_t *bytes,
		       uint32_t size)
{
	uint32_t words[WIRE_MEMORY_WORDS] = {}, variant, at;
	uint32_t from = key == WIRE_KEY_MEMORY ? m->offset : 0;

	if (from >= size)
		return 0;
	memcpy(words, bytes + from, size - from < sizeof(words) ? size - from : sizeof(words));
	if (key != WIRE_KEY_MEMORY)
		return make_key(key, words[0], words[1]);
	variant = (m->narrow ? words[0] & 0xff : words[0]) - m->first;
	at = variant < WIRE_VARIANTS ? m->words[variant] : m->other;
	if (at == WIRE_LOCAL_WORD || at == WIRE_CRATE_WORD)
		return make_key(at == WIRE_LOCAL_WORD ? WIRE_KEY_LOCAL : WIRE_KEY_CRATE, words[0],
				0);
	return at < WIRE_MEMORY_WORDS - 1 ? make_key(WIRE_KEY_DEF, words[at], words[at + 1]) : 0;
}

static int take_entry(struct reader *r, uint32_t of, const uint8_t *bytes)
{
	struct compiler_job *job = &r->out->items[of];
	const struct wire_job_table *t = &r->all->items[job->query];

	memcpy(&job->number, bytes + t->job, sizeof(job->number));
	memcpy(&job->parent, bytes + t->parent, sizeof(job->parent));
	if (t->key != WIRE_KEY_UNKNOWN)
		job->key = key_of(t->key, &r->plan->queries[job->query].memory, bytes + t->key_at,
				  t->size - t->key_at);
	return 0;
}

static int read_entries(struct reader *r)
{
	struct compiler_jobs *out = r->out;
	int err = 0;

	r->take = take_controls;
	for (uint32_t i = 0; i < r->n_tables && !err; i++)
		if (r->tables[i].buckets)
			err = want(r, i, r->tables[i].at, r->tables[i].buckets);
	err = err ?: flush(r);
	r->take = take_entry;
	r->twice = true;
	for (uint32_t i = 0; i < out->n && !err; i++) {
		uint64_t at = out->items[i].number;

		/* Until it is read, it has no number. */
		out->items[i].number = 0;
		err = want(r, i, at, r->all->items[out->items[i].query].size);
	}
	return err ?: flush(r);
}

int compiler_jobs__read(const struct compiler_memory *m, const struct plan *plan,
			const struct wire_job_tables *tables, uint64_t bias, uint64_t fs,
			struct compiler_jobs *out)
{
	_free_ struct reader *r = calloc(1, sizeof(*r));
	struct compiler_context at;
	int err = r ? compiler_context__of_thread(m, &plan->layout, bias, fs, &at) : -ENOMEM;

	if (err)
		return err;
	*r = (struct reader){.memory = m, .plan = plan, .all = tables, .out = out};
	err = compiler_memory__read(m, at.current + tables->current, &out->current,
				    sizeof(out->current));
	err = err ?: find_tables(r, bias, at.context) ?: read_entries(r);
	free(r->tables);
	if (err)
		return err;
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), array__by_u64);
	out->context = at.context;
	out->number = (uint64_t)tables->current - plan->layout.wire.current.context;
	return 0;
}

const struct compiler_job *compiler_jobs__find(const struct compiler_jobs *jobs, uint64_t number)
{
	size_t i = bisect(jobs->n, k, jobs->items[k].number < number);

	return number && i < jobs->n && jobs->items[i].number == number ? &jobs->items[i] : NULL;
}

void compiler_jobs__clear(struct compiler_jobs *jobs)
{
	free(jobs->items);
	*jobs = (struct compiler_jobs){0};
}
