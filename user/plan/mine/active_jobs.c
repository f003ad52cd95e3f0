// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/active_jobs.h"

#include "base/array.h"
#include "plan/mine/body_run.h"

#define ENTRY_MAX 248

/*
 * The address of an entry may be computed twice, so that nothing shows that it is the same. The
 * fields of an entry are filled in one after the other, though.
 */
#define STORES_NEAR 6

static bool is_together(const struct body_run *r, uint32_t a, uint32_t b, bool loosely)
{
	const struct run_store *x = &r->stores[a], *y = &r->stores[b];

	if (x->base == y->base && x->index == y->index && x->scale == y->scale)
		return true;
	return loosely && b > a && b - a < STORES_NEAR && y->at < 0;
}

/*
 * The entry that the new job, of store `at`, lies in, together with the job around; control bytes
 * and mask of the table that the entry was stored in.
 */
static bool read_entry(const struct body_run *r, uint32_t at, bool loosely, struct active_jobs *out)
{
	uint64_t key = r->context_argument + 2;	   /* behind a span */
	uint64_t vtable = r->context_argument - 1; /* before the context */
	const struct run_store *job = &r->stores[at], *parent = NULL;
	const struct run_value *parts[] = {&job->base_value, &job->index_value};
	int64_t low = job->at, key_at = 0;
	bool has_key = false;

	for (uint32_t i = 0; i < r->n_stores; i++) {
		const struct run_store *s = &r->stores[i];
		const struct run_value *v = &s->value;

		if (!is_together(r, at, i, loosely))
			continue;
		low = s->at < low ? s->at : low;
		if (v->origin == ORIGIN_FIELD)
			parent = s;
		if (v->origin == ORIGIN_ARGUMENT && v->at == key)
			key_at = s->at;
		else if (v->origin == ORIGIN_KEY && v->at / BODY_RUN_FAR == key && !has_key)
			key_at = s->at - (int64_t)(v->at % BODY_RUN_FAR);
		else
			continue;
		has_key = true;
	}
	if (!parent || low >= 0 || low < -ENTRY_MAX || (has_key && key_at < low))
		return false;
	out->current = (uint32_t)parent->value.at;
	out->entry = (struct plan_job_entry){
		.size = (uint8_t)-low,
		.key = has_key ? (uint8_t)(key_at - low) : PLAN_NO_KEY,
		.job = (uint8_t)(job->at - low),
		.parent = (uint8_t)(parent->at - low),
	};
	for (size_t i = 0; i < N_OF(parts) && r->context_argument < CODE_ARGUMENTS; i++)
		if (parts[i]->origin == ORIGIN_KEY && parts[i]->at / BODY_RUN_FAR == vtable &&
		    r->masks[vtable] && parts[i]->at % BODY_RUN_FAR <= UINT8_MAX) {
			out->ctrl = (uint8_t)(parts[i]->at % BODY_RUN_FAR);
			out->mask = r->masks[vtable];
			out->has_table = true;
		}
	return true;
}

int active_jobs_mine(const struct elf_image *img, uint64_t entry, uint64_t slot,
		     struct active_jobs *out, const char **problem)
{
	_body_run_ struct body_run *r = NULL;
	struct active_jobs found = {0};
	int err = body_run__new(img, entry, slot, NULL, &r);

	if (err)
		return err;
	*problem = "it stores no new job in a table";
	for (int loosely = 0; loosely < 2; loosely++)
		for (uint32_t i = 0; i < r->n_stores && *problem; i++)
			if (r->stores[i].value.origin == ORIGIN_JOB &&
			    read_entry(r, i, loosely, &found))
				*problem = NULL;
	if (!*problem)
		*out = found;
	return 0;
}

void active_jobs_infer_key(struct plan_job_entry *entry, const struct plan_job_entry *state)
{
	int at = entry->job - state->job;

	if (entry->key != PLAN_NO_KEY || entry->size <= state->size ||
	    entry->parent - entry->job != state->parent - state->job)
		return;
	if (!at)
		entry->key = state->size;
	else if (at + state->size == entry->size)
		entry->key = 0;
}

/* ---- From the plan to the memory ------------------------------------------------------------- */

/* One of the words that are read of a table. */
static bool is_word(uint32_t offset)
{
	return offset % 8 == 0 && offset < 8 * WIRE_TABLE_WORDS;
}

static uint8_t word_of(uint32_t offset)
{
	return (uint8_t)(offset / sizeof(uint64_t));
}

bool active_jobs__tables(const struct plan *plan, struct wire_job_tables *out)
{
	const struct wire_tables *t = &plan->tables;

	if (!plan->jobs.known || !t->n || t->shards || !is_word(t->items) ||
	    !is_word(plan->jobs.ctrl) || !is_word(plan->jobs.mask) ||
	    t->mode >= 8 * WIRE_TABLE_WORDS || t->sharded > UINT8_MAX ||
	    t->n_shards > WIRE_JOB_SHARDS || t->shard_size % 8 ||
	    t->n_shards * t->shard_size > WIRE_JOB_SHARDS_BYTES)
		return false;
	*out = (struct wire_job_tables){
		.current = plan->jobs.current,
		.mode_at = (uint8_t)t->mode,
		.sharded = (uint8_t)t->sharded,
		.ctrl = word_of(plan->jobs.ctrl),
		.mask = word_of(plan->jobs.mask),
		.n_entries = word_of(t->items),
		.n_shards = t->n_shards,
		.shard = t->shard_size,
		.n = plan->n_queries < WIRE_JOB_TABLES ? plan->n_queries : WIRE_JOB_TABLES,
	};
	for (uint32_t i = 0; i < out->n; i++) {
		const struct plan_query *q = &plan->queries[i];

		if (!q->active.size || !q->table.kind)
			continue;
		out->items[i] = (struct wire_job_table){
			.text = q->table.text,
			.length = q->table.length,
			.name = q->table.name,
			.at = q->table.active,
			.size = q->active.size,
			.key_at = q->active.key,
			.job = q->active.job,
			.parent = q->active.parent,
			.key = q->active.key == PLAN_NO_KEY ? WIRE_KEY_UNKNOWN : q->key,
		};
	}
	return true;
}
