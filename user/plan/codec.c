// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * One function per struct serves both directions, so that they cannot disagree: code_u32(c, &x)
 * appends x when writing and sets it when reading. The first failure is kept, and checked once at
 * the end.
 */
#include "plan/codec.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "plan/check.h"

#ifndef PLAN_REVISION
#error "PLAN_REVISION is to be a checksum of the code in user/plan"
#endif

#define MAGIC	  "qprof-pl"
#define NO_STRING UINT32_MAX

struct codec {
	bool reading;
	const uint8_t *in; /* the input */
	char *out;	   /* the output */
	size_t len;	   /* of in, or used in out */
	size_t cap;	   /* of out */
	size_t pos;	   /* in in */
	int err;
};

static void code_bytes(struct codec *c, void *p, size_t n)
{
	if (c->err || !n)
		return;
	if (c->reading && n > c->len - c->pos) {
		c->err = -EBADMSG;
	} else if (c->reading) {
		memcpy(p, c->in + c->pos, n);
		c->pos += n;
	} else {
		c->err = bytes__append(&c->out, &c->len, &c->cap, p, n);
	}
}

static void code_uint(struct codec *c, uint64_t *v, size_t size)
{
	uint8_t b[8];

	for (size_t i = 0; i < size; i++)
		b[i] = *v >> (8 * i);
	code_bytes(c, b, size);
	if (!c->reading || c->err)
		return;
	*v = 0;
	for (size_t i = 0; i < size; i++)
		*v |= (uint64_t)b[i] << (8 * i);
}

static void code_u64(struct codec *c, uint64_t *v)
{
	code_uint(c, v, 8);
}

static void code_u32(struct codec *c, uint32_t *v)
{
	uint64_t wide = *v;

	code_uint(c, &wide, 4);
	*v = wide;
}

/* Several, in this order. */
#define code_u32s(c, ...)                                         \
	do {                                                      \
		uint32_t *const __fields[] = {__VA_ARGS__};       \
		for (size_t __i = 0; __i < N_OF(__fields); __i++) \
			code_u32(c, __fields[__i]);               \
	} while (0)

static void code_i32(struct codec *c, int32_t *v)
{
	uint32_t u = *v;

	code_u32(c, &u);
	*v = (int32_t)u;
}

static void code_u8(struct codec *c, uint8_t *v)
{
	code_bytes(c, v, 1);
}

static void require(struct codec *c, bool ok)
{
	if (c->reading && !c->err && !ok)
		c->err = -EBADMSG;
}

static void code_bool(struct codec *c, bool *v)
{
	uint8_t b = *v;

	code_u8(c, &b);
	require(c, b <= 1);
	*v = b;
}

static void code_string(struct codec *c, char **s)
{
	uint32_t len = *s ? strlen(*s) : NO_STRING;

	code_u32(c, &len);
	if (len == NO_STRING || c->err)
		return;
	if (c->reading) {
		require(c, len <= c->len - c->pos);
		if (c->err)
			return;
		*s = calloc(1, (size_t)len + 1);
		if (!*s) {
			c->err = -ENOMEM;
			return;
		}
	}
	code_bytes(c, *s, len);
	require(c, strlen(*s) == len);
}

/*
 * The count of an array, and its memory when reading. An element takes at least one byte, which
 * bounds what a hostile count can make us allocate.
 */
static void *code_array(struct codec *c, void *items, uint32_t *n, size_t item_size)
{
	code_u32(c, n);
	require(c, *n <= c->len - c->pos);
	if (!c->reading)
		return items;
	items = c->err ? NULL : calloc(*n ? *n : 1, item_size);
	if (!items) {
		c->err = c->err ? c->err : -ENOMEM;
		*n = 0;
	}
	return items;
}

static bool index_ok(uint32_t index, uint32_t n)
{
	return index == PLAN_NONE || index < n;
}

static void code_site(struct codec *c, struct plan_site *s, const struct plan *plan)
{
	code_u64(c, &s->addr);
	code_u64(c, &s->offset);
	code_u32s(c, &s->query, &s->body, &s->guard);
	code_u8(c, &s->role);
	code_u8(c, &s->cls);
	code_u8(c, &s->reg);
	code_i32(c, &s->slot);
	code_i32(c, &s->vtable_offset);
	code_i32(c, &s->sp_delta);
	code_u8(c, &s->key_reg);
	code_i32(c, &s->key_slot);
	code_u8(c, &s->result_reg);
	code_u8(c, &s->result_shift);
	require(c, index_ok(s->query, plan->n_queries) && index_ok(s->body, plan->n_bodies));
	require(c, index_ok(s->guard, plan->n_guards));
	require(c, (s->role >= WIRE_ROLE_GUARD && s->role <= WIRE_ROLE_TIMER_END) ==
			   (s->guard != PLAN_NONE));
	require(c, s->role >= WIRE_ROLE_START && s->role <= WIRE_ROLE_DROP);
	require(c, s->role != WIRE_ROLE_HIT);
	require(c, !plan_site__feeds(s) || plan_site__feed_fits(s->vtable_offset));
	require(c, s->cls <= PLAN_STEPPED);
	require(c, s->reg <= WIRE_REG_R15 || s->reg == WIRE_REG_NONE);
	require(c, s->key_reg <= WIRE_REG_R15 || s->key_reg == WIRE_REG_NONE);
	require(c, s->result_reg <= WIRE_REG_R15 || s->result_reg == WIRE_REG_NONE);
	require(c, s->result_shift < 64);
	require(c, s->key_reg == WIRE_REG_NONE || s->key_slot == PLAN_NO_SLOT);
	require(c, plan_site__is_start(s) || !plan_site__has_key(s));
}

static void code_memory_key(struct codec *c, struct wire_memory_key *m)
{
	code_u32(c, &m->offset);
	code_u32(c, &m->first);
	code_bytes(c, m->words, sizeof(m->words));
	code_u8(c, &m->other);
	code_u8(c, &m->narrow);
	require(c, m->narrow <= 1);
	require(c, m->offset < PLAN_LAYOUT_MAX);
}

static void code_query_table(struct codec *c, struct wire_query_table *t)
{
	code_u64(c, &t->text);
	code_u32s(c, &t->length, &t->name, &t->active, &t->cache, &t->others, &t->entry_size,
		  &t->key_at);
	code_u8(c, &t->kind);
	code_u8(c, &t->fed);
	code_u8(c, &t->key);
	code_u8(c, &t->has_text);
	code_u32(c, &t->text_at);
	require(c, t->kind < WIRE_CACHE_MAX && t->fed <= 1 && t->key < WIRE_KEY_MAX);
	require(c, t->entry_size <= WIRE_ENTRY_MAX && t->key_at <= t->entry_size);
	require(c, t->has_text <= 1 && t->text_at <= t->entry_size);
	require(c, t->name < PLAN_LAYOUT_MAX && t->active < PLAN_LAYOUT_MAX);
	require(c, t->cache < PLAN_LAYOUT_MAX && t->others < PLAN_LAYOUT_MAX);
}

/* Before the queries. */
static void code_tables(struct codec *c, struct wire_tables *t)
{
	code_u64(c, &t->finished);
	code_u32s(c, &t->n, &t->vec_count, &t->items, &t->mode, &t->sharded, &t->shards,
		  &t->n_shards, &t->shard_size, &t->ctrl, &t->mask, &t->once, &t->buckets,
		  &t->first, &t->mark);
	require(c, t->n <= WIRE_TABLES_MAX && t->n_shards <= WIRE_SHARDS_MAX);
	require(c, t->shard_size <= WIRE_SHARD_SIZE_MAX && t->sharded <= UINT8_MAX);
	require(c, t->vec_count < PLAN_LAYOUT_MAX && t->items < WIRE_SHARD_SIZE_MAX);
	require(c, t->mode < WIRE_SHARD_SIZE_MAX && t->shards < WIRE_SHARD_SIZE_MAX);
	require(c, t->ctrl < WIRE_SHARD_SIZE_MAX && t->mask < WIRE_SHARD_SIZE_MAX);
	require(c, t->buckets < PLAN_LAYOUT_MAX && t->first <= WIRE_VEC_FIRST_MAX);
	require(c, t->first % WIRE_KEYS_MAX == 0);
}

static void code_query(struct codec *c, struct plan_query *q, const struct plan *plan)
{
	code_string(c, &q->name);
	code_u64(c, &q->wrapper_non_incr);
	code_u64(c, &q->wrapper_incr);
	code_u64(c, &q->provider);
	code_u64(c, &q->provider_caller);
	code_u32s(c, &q->body_non_incr, &q->body_incr, &q->number, &q->n_start, &q->n_end,
		  &q->n_request);
	code_bool(c, &q->start_exact);
	code_bool(c, &q->end_exact);
	code_bool(c, &q->has_id);
	code_bool(c, &q->stays);
	code_bool(c, &q->never_loaded);
	code_u8(c, &q->start_role);
	code_string(c, &q->key_type);
	code_u8(c, &q->key);
	require(c, q->key < WIRE_KEY_MAX);
	code_bool(c, &q->key_by_address);
	require(c, q->number <= UINT16_MAX);
	code_memory_key(c, &q->memory);
	code_u8(c, &q->active.size);
	code_u8(c, &q->active.key);
	code_u8(c, &q->active.job);
	code_u8(c, &q->active.parent);
	require(c, !q->active.size ||
			   ((q->active.key <= q->active.size || q->active.key == PLAN_NO_KEY) &&
			    q->active.job + 8 <= q->active.size &&
			    q->active.parent + 8 <= q->active.size));
	code_query_table(c, &q->table);
	code_string(c, &q->table_problem);
	code_string(c, &q->result_keys_problem);
	require(c, !q->table.kind || (!q->table_problem && plan->tables.n));
	require(c, q->start_role <= WIRE_ROLE_CAUGHT);
	require(c, q->name);
	require(c, !q->table.kind || (q->name && strlen(q->name) == q->table.length));
	require(c, index_ok(q->body_non_incr, plan->n_bodies));
	require(c, index_ok(q->body_incr, plan->n_bodies));
}

static void code_body(struct codec *c, struct plan_body *b, const struct plan *plan)
{
	code_u64(c, &b->addr);
	code_u32s(c, &b->n_queries, &b->n_symbols, &b->n_ends, &b->group, &b->outlined,
		  &b->between);
	code_bool(c, &b->incremental);
	code_string(c, &b->problem);
	require(c, b->group < plan->n_bodies);
	require(c, b->outlined <= plan->n_bodies);
	require(c, b->between % 8 == 0 && b->between <= PLAN_BETWEEN_MAX);
}

static void code_place(struct codec *c, struct wire_place *p)
{
	code_u8(c, &p->reg);
	code_u8(c, &p->n);
	code_u8(c, &p->size);
	for (uint32_t i = 0; i < WIRE_PLACE_LOADS; i++)
		code_i32(c, &p->at[i]);
}

static void code_source(struct codec *c, struct wire_source *s)
{
	code_u64(c, &s->site);
	code_u8(c, &s->text);
	code_u8(c, &s->value);
	code_place(c, &s->string);
	code_place(c, &s->length);
	code_place(c, &s->number);
	require(c, s->text <= WIRE_ARGUMENT_C_STRING && s->value <= WIRE_VALUE_CALL);
}

static void code_guard(struct codec *c, struct plan_guard *g, const struct plan *plan)
{
	code_string(c, &g->function);
	code_string(c, &g->label);
	code_u32(c, &g->scope);
	code_u32(c, &g->body);
	code_u8(c, &g->kind);
	code_u8(c, &g->number);
	code_i32(c, &g->label_slot);
	code_bool(c, &g->label_of_query);
	code_u32(c, &g->n_end);
	code_bool(c, &g->exact);
	code_string(c, &g->problem);
	code_bool(c, &g->has_argument);
	code_source(c, &g->source);
	require(c, g->function);
	require(c, index_ok(g->body, plan->n_bodies));
	require(c, g->kind > WIRE_KIND_QUERY && g->kind < WIRE_KIND_MAX);
}

static void code_step(struct codec *c, struct plan_step *s, const struct plan *plan)
{
	code_u64(c, &s->addr);
	code_u32(c, &s->guard);
	code_u32(c, &s->body);
	code_u8(c, &s->reg);
	code_i32(c, &s->slot);
	code_i32(c, &s->vtable_offset);
	require(c, s->guard < plan->n_guards && index_ok(s->body, plan->n_bodies));
	require(c, s->reg <= WIRE_REG_R15 || s->reg == WIRE_REG_NONE);
}

static uint32_t frame_owners(const struct plan *plan, uint8_t kind)
{
	switch (kind) {
	case PLAN_FRAME_BODY:
	case PLAN_FRAME_RUNS:
		return plan->n_bodies;
	case PLAN_FRAME_GUARD:
		return plan->n_guards;
	default:
		return plan->n_queries;
	}
}

static void code_frame(struct codec *c, struct plan_frame *f, const struct plan *plan)
{
	code_u64(c, &f->addr);
	code_u32(c, &f->size);
	code_u32(c, &f->of);
	code_u8(c, &f->kind);
	require(c, f->kind < PLAN_FRAME_KINDS && f->of < frame_owners(plan, f->kind));
	require(c, f->size && f->addr <= UINT64_MAX - f->size);
}

static bool is_behind(const struct plan_frame *f, const struct plan_frame *before)
{
	return f->addr >= before->addr + before->size;
}

static void code_wire_layout(struct codec *c, struct wire_layout *w)
{
	code_u64(c, &w->drop);
	code_u64(c, &w->globals);
	code_u32s(c, &w->context, &w->table, &w->count, &w->size, &w->tag, &w->symbol);
	for (uint32_t i = 0; i < WIRE_TAGS; i++)
		code_u32(c, &w->tags[i]);
	code_u32s(c, &w->symbols, &w->n_symbols, &w->symbol_size, &w->text, &w->length, &w->unnamed,
		  &w->unnamed_tags);
	code_u32s(c, &w->crates.size, &w->crates.index, &w->crates.key, &w->crates.own_id,
		  &w->crates.store, &w->crates.crates, &w->crates.n_crates, &w->crates.name,
		  &w->crates.stable_id, &w->crates.keys, &w->crates.keys_mask);
	code_u64(c, &w->current.offset);
	code_u32(c, &w->current.context);
	code_u32(c, &w->current.known);
}

static bool has_drop_site(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (plan->sites[i].role == WIRE_ROLE_DROP &&
		    plan->sites[i].addr == plan->layout.wire.drop)
			return true;
	return false;
}

/* After the sites. */
static void code_layout(struct codec *c, struct plan *plan)
{
	struct plan_layout *l = &plan->layout;
	struct wire_layout_places *p = &l->wire.places;
	struct wire_layout_calls *k = &l->wire.calls;

	code_wire_layout(c, &l->wire);
	code_u32s(c, &l->disambiguator, &l->parent, &l->no_parent, &l->root, &l->plain);
	code_string(c, &l->problem);
	code_string(c, &l->crates_problem);
	code_string(c, &l->current_problem);
	require(c, !l->wire.size || !l->problem);
	require(c, !l->wire.crates.size || (l->wire.size && !l->crates_problem));
	require(c, !l->wire.current.known || !l->current_problem);
	require(c, !l->wire.size || has_drop_site(plan));
	code_u64(c, &p->ready);
	code_u32s(c, &p->known, &p->spans, &p->n_spans, &p->first, &p->step, &p->source_map,
		  &p->files, &p->n_files, &p->file_size, &p->file_start, &p->file_length, &p->name,
		  &p->name_length, &p->name_capacity, &p->state, &p->lines, &p->n_lines,
		  &p->interned, &p->n_interned, &p->interned_size, &p->position, &p->context);
	code_string(c, &l->places_problem);
	require(c, !l->wire.places.known || (l->wire.size && !l->places_problem));
	code_u32s(c, &k->contexts, &k->n_contexts, &k->context_size, &k->crate, &k->number,
		  &k->expansions, &k->n_expansions, &k->expansion_size, &k->call, &k->kind,
		  &k->tag);
	code_string(c, &l->calls_problem);
	require(c, !l->wire.calls.context_size || (l->wire.places.known && !l->calls_problem));
	code_string(c, &plan->keys_problem);
}

static void check_order(struct codec *c, const struct plan *plan)
{
	for (uint32_t i = 1; !c->err && i < plan->n_queries; i++)
		require(c, strcmp(plan->queries[i - 1].name, plan->queries[i].name) < 0);
	for (uint32_t i = 1; !c->err && i < plan->n_sites; i++) {
		const struct plan_site *a = &plan->sites[i - 1], *b = a + 1;

		require(c, a->role < b->role || (a->role == b->role && a->addr <= b->addr));
	}
	for (uint32_t i = 1; !c->err && i < plan->n_frames; i++)
		require(c, is_behind(&plan->frames[i], &plan->frames[i - 1]));
	for (uint32_t i = 1; !c->err && i < plan->n_guard_frames; i++) {
		const struct plan_frame *a = &plan->guard_frames[i - 1], *b = a + 1;

		require(c, is_behind(b, a) || (a->addr == b->addr && a->size == b->size));
	}
}

static void code_plan(struct codec *c, struct plan *plan)
{
	struct wire_expansions *x = &plan->expansions;

	code_u32(c, &plan->build_id_len);
	require(c, plan->build_id_len <= PLAN_BUILD_ID_MAX);
	code_bytes(c, plan->build_id, plan->build_id_len);
	code_string(c, &plan->path);
	code_string(c, &plan->rustc_version);
	code_string(c, &plan->mangling);
	code_u8(c, &plan->symbols);
	code_string(c, &plan->symbols_file);
	require(c, plan->path && plan->mangling && plan->symbols < SYMBOL_SOURCES);
	code_u64(c, &plan->mask_disp);
	code_u32(c, &plan->code_crc);
	plan->bodies = code_array(c, plan->bodies, &plan->n_bodies, sizeof(*plan->bodies));
	for (uint32_t i = 0; !c->err && i < plan->n_bodies; i++)
		code_body(c, &plan->bodies[i], plan);
	code_tables(c, &plan->tables);
	code_string(c, &plan->tables_problem);
	code_bool(c, &plan->names_old_results);
	code_string(c, &plan->feeds_problem);
	code_u32(c, &plan->jobs.current);
	code_u8(c, &plan->jobs.ctrl);
	code_u8(c, &plan->jobs.mask);
	code_bool(c, &plan->jobs.known);
	code_string(c, &plan->jobs.problem);
	require(c, plan->jobs.current < PLAN_LAYOUT_MAX);
	plan->queries = code_array(c, plan->queries, &plan->n_queries, sizeof(*plan->queries));
	for (uint32_t i = 0; !c->err && i < plan->n_queries; i++)
		code_query(c, &plan->queries[i], plan);
	plan->guards = code_array(c, plan->guards, &plan->n_guards, sizeof(*plan->guards));
	for (uint32_t i = 0; !c->err && i < plan->n_guards; i++)
		code_guard(c, &plan->guards[i], plan);
	code_u32(c, &plan->n_artifacts);
	plan->steps = code_array(c, plan->steps, &plan->n_steps, sizeof(*plan->steps));
	for (uint32_t i = 0; !c->err && i < plan->n_steps; i++)
		code_step(c, &plan->steps[i], plan);
	plan->frames = code_array(c, plan->frames, &plan->n_frames, sizeof(*plan->frames));
	for (uint32_t i = 0; !c->err && i < plan->n_frames; i++) {
		code_frame(c, &plan->frames[i], plan);
		require(c, plan->frames[i].kind != PLAN_FRAME_GUARD);
	}
	plan->guard_frames = code_array(c, plan->guard_frames, &plan->n_guard_frames,
					sizeof(*plan->guard_frames));
	for (uint32_t i = 0; !c->err && i < plan->n_guard_frames; i++) {
		code_frame(c, &plan->guard_frames[i], plan);
		require(c, plan->guard_frames[i].kind == PLAN_FRAME_GUARD);
	}
	plan->sites = code_array(c, plan->sites, &plan->n_sites, sizeof(*plan->sites));
	for (uint32_t i = 0; !c->err && i < plan->n_sites; i++)
		code_site(c, &plan->sites[i], plan);
	code_layout(c, plan);
	code_u32s(c, &x->table, &x->count, &x->size, &x->kind, &x->call, &x->macro, &x->symbol,
		  &x->tag);
	code_bytes(c, x->macros, sizeof(x->macros));
	code_string(c, &plan->expansions_problem);
	if (!c->reading || c->err)
		return;
	check_order(c, plan);
	require(c, !plan->tables.n || plan->tables.n == plan->n_queries);
	require(c, !plan_excess(plan));
}

static void code_header(struct codec *c, uint32_t *crc, uint64_t *payload)
{
	uint32_t version = PLAN_CODEC_VERSION, revision = PLAN_REVISION;
	uint8_t magic[8];

	memcpy(magic, MAGIC, sizeof(magic));
	code_bytes(c, magic, sizeof(magic));
	require(c, !memcmp(magic, MAGIC, sizeof(magic)));
	code_u32(c, &version);
	code_u32(c, &revision);
	require(c, version == PLAN_CODEC_VERSION && revision == PLAN_REVISION);
	code_u32(c, crc);
	code_u64(c, payload);
}

int plan_encode(const struct plan *plan, uint8_t **buf, size_t *len)
{
	struct codec payload = {0}, whole = {0};
	struct plan copy = *plan;
	uint32_t crc;
	uint64_t size;

	code_plan(&payload, &copy);
	if (payload.err) {
		free(payload.out);
		return payload.err;
	}
	size = payload.len;
	crc = crc32_z(0, (uint8_t *)payload.out, payload.len);
	code_header(&whole, &crc, &size);
	code_bytes(&whole, payload.out, payload.len);
	free(payload.out);
	if (whole.err) {
		free(whole.out);
		return whole.err;
	}
	*buf = (uint8_t *)whole.out;
	*len = whole.len;
	return 0;
}

int plan_decode(const uint8_t *buf, size_t len, struct plan **out)
{
	_plan_ struct plan *plan = calloc(1, sizeof(*plan));
	struct codec c = {.reading = true, .in = buf, .len = len};
	uint32_t crc = 0;
	uint64_t payload = 0;

	if (!plan)
		return -ENOMEM;
	code_header(&c, &crc, &payload);
	require(&c, payload == len - c.pos);
	require(&c, crc == crc32_z(0, buf + c.pos, len - c.pos));
	code_plan(&c, plan);
	require(&c, c.pos == len);
	if (c.err)
		return c.err;
	*out = take_ptr(plan);
	return 0;
}
