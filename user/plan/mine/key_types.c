// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/key_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/eval.h"
#include "plan/code/scan.h"
#include "plan/mine/owners.h"
#include "plan/symbols/key_name.h"

/* ---- Names of types in bodies ---------------------------------------------------------------- */

void body_name__add(struct body_name *body, struct key_name name)
{
	if (!body->any) {
		body->name = name;
		body->any = true;
		return;
	}
	if (body->name.key != name.key)
		body->name.key = WIRE_KEY_UNKNOWN;
	if (strcmp(body->name.type, name.type))
		body->name.type[0] = '\0';
	if (body->name.has_size != name.has_size || body->name.size != name.size)
		body->name.has_size = false;
}

/* ---- Bodies without names -------------------------------------------------------------------- */

/*
 * Calls between the exported function and the body. rustup's bodies call it themselves. In Debian's
 * 1.96 two functions, of the same types, are between.
 */
#define CALLS_MAX 3

/* A function that serves bodies with one type of cache only. */
struct witness {
	uint64_t addr;
	struct body_name name;
};

struct witnesses {
	struct witness *items; /* by address */
	uint32_t n, capacity;
};

struct body_names_search {
	struct elf_image *img;
	struct code_decoder *decoder;
	const struct plan *plan;
	struct body_name *bodies;
	struct code code;
};

/* A body's own names show more. */
static void lend(struct body_name *to, const struct body_name *from)
{
	if (!from->any || (to->any && !to->borrowed))
		return;
	body_name__add(to, from->name);
	to->borrowed = true;
}

static int find_exported(const struct known_symbols *known, struct witnesses *out)
{
	int err = 0;

	for (uint32_t i = 0; i < known->n && !err; i++) {
		const struct known_symbol *k = &known->items[i];
		struct witness w = {.addr = k->sym->addr, .name.any = true};

		if (k->info.kind != NAME_KEY_WITNESS || k->info.part != NAME_PART_ENTRY)
			continue;
		w.name.name = key_name__parse(k->sym->name);
		if (out->n && out->items[out->n - 1].addr == w.addr)
			body_name__add(&out->items[out->n - 1].name, w.name.name);
		else
			err = array__add(&out->items, &out->n, &out->capacity, &w);
	}
	return err;
}

static int look_at_caller(struct body_names_search *s, const struct owner *f,
			  const struct witnesses *of, struct witnesses *callers)
{
	uint32_t body = plan__body_at(s->plan, f->entry);
	struct witness caller = {.addr = f->entry};
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	for (size_t i = 0; i < s->code.n; i++) {
		uint64_t callee = profiler__callee(&s->code.insns[i]);
		const struct witness *w =
			bsearch(&callee, of->items, of->n, sizeof(*of->items), array__by_u64);
		/* Tasks of no query have no type. */
		if (w && w->name.name.type[0])
			body_name__add(&caller.name, w->name.name);
	}
	if (body != PLAN_NONE)
		lend(&s->bodies[body], &caller.name);
	else if (caller.name.any)
		return array__add(&callers->items, &callers->n, &callers->capacity, &caller);
	return 0;
}

/* Name the bodies that call a witness. Others that do are witnesses, too. */
static int read_witnesses(struct body_names_search *s, const struct known_symbols *known)
{
	struct witnesses w = {0};
	int err = find_exported(known, &w);

	for (int i = 0; i < CALLS_MAX && w.n && !err; i++) {
		_owners_ struct owners owners = {0};
		struct witnesses callers = {0};
		struct calls calls;

		err = calls__find(s->img, w.items, w.n, sizeof(*w.items), &calls)
			      ?: calls__owners(s->img, &calls, &owners);
		for (size_t k = 0; k < owners.n && !err; k++)
			err = look_at_caller(s, &owners.items[k], &w, &callers);
		free(calls.items);
		free(w.items);
		w = callers;
	}
	free(w.items);
	code__free(&s->code);
	return err;
}

/* A function that executes for a body has its types, and both bodies of a query have one cache. */
static void lend_names(const struct plan *plan, struct body_name *bodies)
{
	for (uint32_t i = 0; i < plan->n_bodies; i++) {
		uint32_t outlined = plan__outlined(plan, i);

		if (outlined != PLAN_NONE)
			lend(&bodies[i], &bodies[outlined]);
	}
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		if (q->body_non_incr != PLAN_NONE && q->body_incr != PLAN_NONE)
			lend(&bodies[q->body_non_incr], &bodies[q->body_incr]);
	}
}

/* Names that contradict a body's guard are wrong, of one or the other. */
static int use_guards(struct body_names_search *s, const struct known_symbols *known)
{
	_free_ struct job_guard *guards = NULL;
	int err = job_guards__find(s->img, known, s->decoder, s->plan, &guards);

	for (uint32_t i = 0; i < s->plan->n_bodies && !err; i++) {
		const struct job_guard *guard = &guards[i];
		struct body_name *body = &s->bodies[i];

		body->guard = *guard;
		if (body->any && guard->n && !job_guard__has(guard, body->name.type))
			body->name = (struct key_name){.key = WIRE_KEY_UNKNOWN};
		else if (!body->any && guard->n == 1)
			body_name__add(body, guard->types[0]);
	}
	return err;
}

int body_names__find(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, const struct plan *plan, struct body_name **out)
{
	struct body_names_search s = {.img = img, .decoder = decoder, .plan = plan};
	uint32_t unnamed = 0;
	int err;

	*out = s.bodies = calloc(plan->n_bodies + 1UL, sizeof(**out));
	if (!s.bodies)
		return -ENOMEM;
	for (uint32_t i = 0; i < known->n; i++) {
		const struct known_symbol *k = &known->items[i];
		uint32_t body;

		if (k->info.part != NAME_PART_ENTRY ||
		    (k->info.kind != NAME_BODY_NON_INCR && k->info.kind != NAME_BODY_INCR))
			continue;
		body = plan__body_at(plan, k->sym->addr);
		if (body != PLAN_NONE)
			body_name__add(&s.bodies[body], key_name__parse(k->sym->name));
	}
	/* Names show all that there is to know, where the library has them. */
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		unnamed += !s.bodies[i].any;
	if (!unnamed)
		return 0;
	err = read_witnesses(&s, known);
	if (err)
		return err;
	lend_names(plan, s.bodies);
	return use_guards(&s, known);
}

/* ---- Guards of active jobs ------------------------------------------------------------------- */

/* A function that drops guards, or grows tables, of these types. */
struct typed {
	uint64_t addr;
	struct job_guard guard;
	bool several; /* more types than there is room for */
};

struct typed_functions {
	struct typed *items; /* by address */
	uint32_t n, capacity;
};

struct search {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct typed_functions droppers, tables;
	struct calls calls;
	struct code code, called;
};

static void search__destroy(struct search *s)
{
	free(s->droppers.items);
	free(s->tables.items);
	free(s->calls.items);
	code__free(&s->code);
	code__free(&s->called);
}

bool job_guard__has(const struct job_guard *g, const char *type)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (!strcmp(g->types[i].type, type))
			return true;
	return false;
}

static int find_typed(const struct known_symbols *known, enum name_kind kind,
		      struct typed_functions *out)
{
	for (uint32_t i = 0; i < known->n; i++) {
		const struct known_symbol *k = &known->items[i];
		struct typed new = {.addr = k->sym->addr}, *t;
		struct key_name name;

		if (k->info.kind != kind || k->info.part != NAME_PART_ENTRY)
			continue;
		if ((!out->n || out->items[out->n - 1].addr != new.addr) &&
		    array__add(&out->items, &out->n, &out->capacity, &new))
			return -ENOMEM;
		t = &out->items[out->n - 1];
		name = key_name__parse(k->sym->name);
		if (job_guard__has(&t->guard, name.type))
			continue;
		if (t->guard.n == JOB_GUARD_TYPES || !name.type[0])
			t->several = true;
		else
			t->guard.types[t->guard.n++] = name;
	}
	return 0;
}

static const struct typed *typed_at(const struct typed_functions *f, uint64_t addr)
{
	return f->n ? bsearch(&addr, f->items, f->n, sizeof(*f->items), array__by_u64) : NULL;
}

/* The one of `f` that the code calls; NULL and *several: it calls more than one. */
static const struct typed *called(const struct code *code, const struct typed_functions *f,
				  const struct typed *before, bool *several)
{
	const struct typed *found = before;

	for (size_t i = 0; i < code->n; i++) {
		const struct typed *t = typed_at(f, profiler__callee(&code->insns[i]));

		if (!t)
			continue;
		*several = *several || t->several || (found && found != t);
		found = t;
	}
	return *several ? NULL : found;
}

/* The table of the body's cache, which it calls itself or by one function between; or NULL. */
static int find_table(struct search *s, const struct typed **table)
{
	bool several = false;
	const struct typed *found = called(&s->code, &s->tables, NULL, &several);

	for (size_t i = 0; i < s->code.n && !several; i++) {
		uint64_t callee = profiler__callee(&s->code.insns[i]);
		struct code_region region = {callee, elf_image__size_of(s->img, callee)};
		int err;

		if (!callee || !region.size || typed_at(&s->tables, callee))
			continue;
		err = code_decoder__decode(s->decoder, &region, 1, &s->called);
		if (err == -ENOMEM)
			return err;
		if (!err)
			found = called(&s->called, &s->tables, found, &several);
	}
	*table = several ? NULL : found;
	return 0;
}

/* The types of the guard that the body drops; of several, those that its cache's table can have. */
static int look_at_body(struct search *s, const struct owner *f, struct job_guard *out)
{
	const struct typed *dropper, *table = NULL;
	bool several = false;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	dropper = called(&s->code, &s->droppers, NULL, &several);
	if (!dropper)
		return 0;
	*out = dropper->guard;
	err = out->n > 1 ? find_table(s, &table) : 0;
	if (err || !table)
		return err;
	out->n = 0;
	for (uint32_t i = 0; i < dropper->guard.n; i++)
		if (job_guard__has(&table->guard, dropper->guard.types[i].type))
			out->types[out->n++] = dropper->guard.types[i];
	return 0;
}

int job_guards__find(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, const struct plan *plan, struct job_guard **out)
{
	__cleanup(search__destroy) struct search s = {.img = img, .decoder = decoder};
	const struct typed_functions *f = &s.droppers;
	_owners_ struct owners owners = {0};
	int err;

	*out = calloc(plan->n_bodies + 1UL, sizeof(**out));
	err = *out ? find_typed(known, NAME_KEY_GUARD, &s.droppers)
			      ?: find_typed(known, NAME_KEY_TABLE, &s.tables)
		   : -ENOMEM;
	if (err || !f->n)
		return err;
	err = calls__find(img, f->items, f->n, sizeof(*f->items), &s.calls)
		      ?: calls__owners(img, &s.calls, &owners);
	for (size_t i = 0; i < owners.n && !err; i++) {
		uint32_t body = plan__body_at(plan, owners.items[i].entry);

		if (body != PLAN_NONE)
			err = look_at_body(&s, &owners.items[i], &(*out)[body]);
	}
	return err;
}

/* ---- TaggedQueryKey -------------------------------------------------------------------------- */

/* The tags begin below 16, as some values of the word are in the niche of another one. */
#define MORE_TAGS 64
#define NAME_MOST 128

enum state { UNSEEN, UNSURE, SILENT, ASKS };

struct tagged_key {
	enum state state;
	struct memory_asked asked;
};

struct tagged_keys {
	struct elf_image *img;
	struct memory_keys *memory;
	const struct plan *plan;
	struct code_region name, span; /* the two functions; size 0: there is none */
	struct tagged_key *keys;       /* parallel to the plan's queries */
	uint64_t payload;	       /* where in the enum the key is */
	bool has_payload;
};

static int run(const struct tagged_keys *t, const struct code_region *region, uint64_t tag,
	       struct eval **out)
{
	const struct eval_given given = {WIRE_REG_DI, sizeof(tag), 0, tag};
	struct eval_function ef = {
		.img = t->img,
		.entry = region->addr,
		.regions = region,
		.n_regions = 1,
		.given = &given,
		.n_given = 1,
	};

	return eval__run(&ef, out);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* A length from the file's table of them. */
static bool read_length(const struct tagged_keys *t, const struct eval *e, const struct sum *a,
			uint64_t *len)
{
	uint64_t more;
	const struct sum_node *load = sum_node_of(&e->nodes, a, &more);
	const uint8_t *bytes;
	size_t room;

	if (sum_is_constant(a)) {
		*len = a->constant;
		return true;
	}
	if (!load || more || load->kind != SUM_LOAD || load->thread || load->size != sizeof(*len) ||
	    !sum_is_constant(&load->of))
		return false;
	bytes = elf_image__bytes(t->img, load->of.constant, &room);
	if (!bytes || room < sizeof(*len))
		return false;
	memcpy(len, bytes, sizeof(*len));
	return true;
}

/* The query whose name the run returns; PLAN_NONE: none. */
static uint32_t query_named(const struct tagged_keys *t, const struct eval *e)
{
	const struct eval_pair *text = &e->returns.items[0];
	const uint8_t *bytes;
	uint64_t len;
	size_t room;

	if (e->partial || e->returns.n != 1 || !sum_is_constant(&text->a) ||
	    !read_length(t, e, &text->b, &len) || len > NAME_MOST)
		return PLAN_NONE;
	bytes = elf_image__bytes(t->img, text->a.constant, &room);
	for (uint32_t i = 0; bytes && len <= room && i < t->plan->n_queries; i++)
		if (strlen(t->plan->queries[i].name) == len &&
		    !memcmp(t->plan->queries[i].name, bytes, len))
			return i;
	return PLAN_NONE;
}

/* A query with several tags has its key in their niche, not where others have theirs. */
static int read_tag(struct tagged_keys *t, uint64_t tag)
{
	_free_ struct eval *name = NULL, *span = NULL;
	int err = run(t, &t->name, tag, &name), asked;
	uint32_t query = err ? PLAN_NONE : query_named(t, name);
	struct tagged_key *key;

	if (query == PLAN_NONE)
		return err;
	key = &t->keys[query];
	if (key->state != UNSEEN) {
		key->state = UNSURE;
		return 0;
	}
	err = run(t, &t->span, tag, &span);
	if (err)
		return err;
	asked = memory_keys__asked(t->memory, span, &key->asked);
	key->state = asked == 1 ? ASKS : asked == 0 ? SILENT : UNSURE;
	return 0;
}

int tagged_keys__new(struct elf_image *img, struct memory_keys *memory, const struct plan *plan,
		     struct tagged_keys **out)
{
	_tagged_keys_ struct tagged_keys *t = calloc(1, sizeof(*t));
	const struct elf_symbol *syms;
	size_t n = 0;
	int err;

	if (!t)
		return -ENOMEM;
	*t = (struct tagged_keys){.img = img, .memory = memory, .plan = plan};
	t->keys = calloc(plan->n_queries + 1UL, sizeof(*t->keys));
	if (!t->keys)
		return -ENOMEM;
	err = memory_keys__problem(memory) ? 0 : elf_image__symbols(img, &syms, &n);
	for (size_t i = 0; i < n && !err; i++) {
		struct code_region region = {syms[i].addr, syms[i].size};

		if (key_name__of_tagged(syms[i].name, "query_name"))
			t->name = region;
		else if (key_name__of_tagged(syms[i].name, "default_span"))
			t->span = region;
	}
	for (uint64_t tag = 0; t->name.size && t->span.size && tag < plan->n_queries + MORE_TAGS;
	     tag++)
		err = err ?: read_tag(t, tag);
	if (err)
		return err;
	*out = take_ptr(t);
	return 0;
}

int tagged_keys__fits(struct tagged_keys *t, uint32_t query, const char *type)
{
	const struct tagged_key *key = &t->keys[query];
	uint64_t offset;
	int asks;

	if (key->state != ASKS && key->state != SILENT)
		return TAGGED_UNKNOWN;
	asks = memory_keys__asks(t->memory, type, &key->asked, &offset);
	if (asks == -ENOENT)
		return key->state == SILENT ? TAGGED_SILENT : TAGGED_UNKNOWN;
	if (asks < 0)
		return asks;
	/* The query that finds places, whose key is not asked for one, may have any type. */
	if (key->state == SILENT)
		return TAGGED_UNKNOWN;
	if (!asks || key->asked.offset < offset)
		return TAGGED_DENIED;
	if (!t->has_payload)
		t->payload = key->asked.offset - offset;
	t->has_payload = true;
	return key->asked.offset - offset == t->payload ? TAGGED_FITS : TAGGED_DENIED;
}

void tagged_keys__free(struct tagged_keys *t)
{
	if (!t)
		return;
	free(t->keys);
	free(t);
}

struct choice {
	struct tagged_keys *tagged;
	const struct plan *plan;
	struct body_name *bodies;
};

/* The answers of the queries of a body, for one type. */
struct verdict {
	uint32_t queries;
	uint32_t answers[TAGGED_FITS + 1];
};

static int ask(const struct choice *c, uint32_t body, const char *type, struct verdict *out)
{
	*out = (struct verdict){.queries = 0};
	for (uint32_t i = 0; i < c->plan->n_queries; i++) {
		int answer;

		if (!plan__serves(c->plan, &c->plan->queries[i], body))
			continue;
		answer = tagged_keys__fits(c->tagged, i, type);
		if (answer < 0)
			return answer;
		out->queries++;
		out->answers[answer]++;
	}
	return 0;
}

/* The only type of which all queries give this answer, or NULL. */
static const struct key_name *only(const struct job_guard *guard, const struct verdict *verdicts,
				   enum tagged_answer answer)
{
	const struct key_name *found = NULL;

	for (uint32_t i = 0; i < guard->n; i++) {
		if (!verdicts[i].queries || verdicts[i].answers[answer] != verdicts[i].queries)
			continue;
		if (found)
			return NULL;
		found = &guard->types[i];
	}
	return found;
}

static int choose(const struct choice *c, uint32_t body)
{
	struct body_name *b = &c->bodies[body];
	struct verdict verdicts[JOB_GUARD_TYPES];
	const struct key_name *found;
	bool fits = false;

	for (uint32_t i = 0; i < b->guard.n; i++) {
		int err = ask(c, body, b->guard.types[i].type, &verdicts[i]);

		if (err)
			return err;
		fits = fits || verdicts[i].answers[TAGGED_FITS];
	}
	found = only(&b->guard, verdicts, fits ? TAGGED_FITS : TAGGED_SILENT);
	if (found)
		body_name__add(b, *found);
	return 0;
}

int key_choice__make(struct elf_image *img, struct memory_keys *memory, const struct plan *plan,
		     struct body_name *bodies)
{
	_tagged_keys_ struct tagged_keys *tagged = NULL;
	struct choice c = {.plan = plan, .bodies = bodies};
	uint32_t guards = 0;
	int err;

	for (uint32_t i = 0; i < plan->n_bodies; i++)
		guards += bodies[i].guard.n;
	if (!guards)
		return 0;
	err = tagged_keys__new(img, memory, plan, &tagged);
	c.tagged = tagged;
	/* Known types first: they show where in the enum a key is. */
	for (uint32_t i = 0; i < plan->n_bodies && !err; i++) {
		struct key_name *name = &bodies[i].name;
		struct verdict v;

		if (!bodies[i].any || !name->type[0])
			continue;
		err = ask(&c, i, name->type, &v);
		if (!err && v.answers[TAGGED_DENIED])
			*name = (struct key_name){.key = WIRE_KEY_UNKNOWN};
	}
	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		if (!bodies[i].any && bodies[i].guard.n > 1)
			err = choose(&c, i);
	return err;
}
