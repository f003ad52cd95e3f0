// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "survey.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/map.h"
#include "pctab/varint.h"

struct surveyor {
	struct pctab_survey *survey;
	const struct gopclntab *table;
	struct u64_map by_offset;  /* in the executable -> index of the pair */
	struct u64_map by_content; /* hash of a linear table -> index of a pair with it */
	struct pctab_runs runs;
	struct pctab_runs again;
	struct pctab_buffer varint;
};

static void surveyor__destroy(struct surveyor *w)
{
	u64_map__destroy(&w->by_offset);
	u64_map__destroy(&w->by_content);
	pctab_runs__destroy(&w->runs);
	pctab_runs__destroy(&w->again);
	pctab_buffer__destroy(&w->varint);
}

/* FNV-1a. */
static uint64_t hash(const uint8_t *bytes, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
	return h;
}

static bool same_runs(const struct pctab_runs *a, const struct pctab_runs *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (a->runs[i].end != b->runs[i].end || a->runs[i].value != b->runs[i].value)
			return false;
	}
	return true;
}

/* Look up every pc of the table, and the one behind it, both ways. */
static bool check_every_pc(const struct surveyor *w, const struct pctab_pair *pair)
{
	const struct pctab_linear t = pctab_survey__linear(w->survey, pair);
	unsigned int shift = w->survey->quantum_shift;
	uint32_t quantum = 1u << shift, pc = 0;
	int32_t v, l;

	for (size_t i = 0; i < w->runs.n; i++) {
		const struct pctab_run *run = &w->runs.runs[i];

		for (; pc < run->end; pc += quantum) {
			if (pctab_varint__lookup(pair->varint, pair->varint_size, shift, pc, &v) ||
			    pctab_linear__lookup(&t, shift, pc, &l) || v != run->value ||
			    l != run->value)
				return false;
		}
	}
	return pctab_varint__lookup(pair->varint, pair->varint_size, shift, pc, &v) == -ERANGE &&
	       pctab_linear__lookup(&t, shift, pc, &l) == -ERANGE;
}

/* Both encodings must decode to the original table, as a whole and pc by pc. */
static int check_pair(struct surveyor *w, const struct pctab_pair *pair)
{
	struct pctab_survey *s = w->survey;
	const struct pctab_linear t = pctab_survey__linear(s, pair);
	struct pctab_linear_stats stats;
	int err;

	w->varint.size = 0;
	err = pctab_varint__encode(&w->varint, &w->runs, s->quantum_shift);
	if (err)
		return err;
	if (w->varint.size != pair->varint_size ||
	    memcmp(w->varint.data, pair->varint, pair->varint_size))
		return -EBADMSG;
	err = pctab_linear__decode(&t, s->quantum_shift, &w->again, &stats);
	if (err)
		return err;
	if (!same_runs(&w->runs, &w->again) || !check_every_pc(w, pair))
		return -EBADMSG;
	s->pcs += pair->length >> s->quantum_shift;
	s->chunks += stats.chunks;
	s->constant_chunks += stats.constant;
	s->shared_chunks += stats.shared;
	s->index_widths[stats.index_width]++;
	if (stats.most_pcs > s->most_pcs)
		s->most_pcs = stats.most_pcs;
	return 0;
}

/* Let `pair`, the last in the linear tables, stand on an equal one before it, if there is one. */
static int share_linear(struct surveyor *w, struct pctab_pair *pair, uint32_t index)
{
	struct pctab_survey *s = w->survey;
	const uint8_t *bytes = s->linear.data + pair->linear;
	uint64_t key = hash(bytes, pair->linear_size);
	uint32_t i;

	for (; (i = u64_map__get(&w->by_content, key)) != U64_MAP_NONE; key++) {
		const struct pctab_pair *old = &s->tables[i];

		if (old->linear_size == pair->linear_size &&
		    !memcmp(s->linear.data + old->linear, bytes, pair->linear_size)) {
			s->linear.size = pair->linear;
			pair->linear = old->linear;
			return 0;
		}
	}
	s->n_linear++;
	return u64_map__put(&w->by_content, key, index);
}

/* Its code is at most `room` bytes: what claims more could claim 4 GiB, pc by pc. */
static int add_table(struct surveyor *w, uint32_t offset, uint32_t room)
{
	struct pctab_survey *s = w->survey;
	struct pctab_pair pair = {.linear = s->linear.size};
	size_t size, used;
	int err;

	pair.varint = gopclntab__table(w->table, offset, &size);
	if (!pair.varint)
		return -EBADMSG;
	err = pctab_varint__decode(pair.varint, size, s->quantum_shift, &w->runs, &used);
	if (!err && pctab_runs__length(&w->runs) > room)
		err = -EBADMSG;
	err = err ?: pctab_linear__encode(&s->linear, &w->runs, s->quantum_shift);
	err = err ?: array__reserve_one(&s->tables, s->n_tables, &s->capacity, sizeof(*s->tables));
	if (err)
		return err;
	pair.varint_size = (uint32_t)used;
	pair.linear_size = (uint32_t)(s->linear.size - pair.linear);
	pair.length = pctab_runs__length(&w->runs);
	err = check_pair(w, &pair) ?: share_linear(w, &pair, s->n_tables);
	err = err ?: u64_map__put(&w->by_offset, offset, s->n_tables);
	if (err)
		return err;
	s->varint_bytes += used;
	s->tables[s->n_tables++] = pair;
	return 0;
}

static int add_function(struct surveyor *w, uint32_t i)
{
	struct gopclntab_function f;
	int err = gopclntab__function(w->table, i, &f);

	if (err)
		return diag_error_r(err, "function %" PRIu32 " of the executable is damaged", i);
	for (uint32_t k = 0; k < f.n_tables; k++) {
		if (!f.tables[k])
			continue;
		w->survey->references++;
		if (u64_map__get(&w->by_offset, f.tables[k]) != U64_MAP_NONE)
			continue;
		err = add_table(w, f.tables[k], f.room);
		if (err == -ENOMEM)
			return diag_error_r(err, "out of memory reading the tables");
		if (err)
			return diag_error_r(-EBADMSG,
					    "table %" PRIu32 " of function %" PRIu32 " (%s) is "
					    "damaged, or reads differently once encoded again: %s",
					    k, i, f.name, strerror(-err));
	}
	w->survey->functions++;
	return 0;
}

int pctab_survey__new(const struct gopclntab *t, struct pctab_survey **out)
{
	_pctab_survey_ struct pctab_survey *s = calloc(1, sizeof(*s));
	__cleanup(surveyor__destroy) struct surveyor w = {.survey = s, .table = t};

	if (!s)
		return diag_error_r(-ENOMEM, "out of memory");
	s->quantum_shift = t->quantum_shift;
	for (uint32_t i = 0; i < t->n_functions; i++) {
		int err = add_function(&w, i);

		if (err)
			return err;
	}
	*out = take_ptr(s);
	return 0;
}

void pctab_survey__free(struct pctab_survey *s)
{
	if (!s)
		return;
	free(s->tables);
	pctab_buffer__destroy(&s->linear);
	free(s);
}
