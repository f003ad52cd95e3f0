// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/decode.h"
#include "plan/check.h"
#include "plan/mine/body_key.h"
#include "plan/mine/key_types.h"
#include "plan/mine/memory_keys.h"
#include "plan/mine/owners.h"

/* A larger result is written to an address that the caller gives. */
#define RESULT_MAX 8

/* Position of the context among the arguments: 0 or more, or one of these. */
#define UNPROVEN (-1)
#define WRONG	 (-2)

/* Nothing but a crate's number. */
static const struct wire_memory_key crate_key = {
	.words = {[0 ... WIRE_VARIANTS - 1] = WIRE_CRATE_WORD},
	.other = WIRE_CRATE_WORD,
};

struct keys_finder {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct plan *plan;
	struct body_name *bodies; /* parallel to the plan's */
	struct code code;
};

/* ---- Types ----------------------------------------------------------------------------------- */

/* The type of its non-incremental body, or else of the other; unknown if the two differ. */
static struct key_name name_of(const struct keys_finder *f, const struct plan_query *q)
{
	uint32_t bodies[] = {q->body_non_incr, q->body_incr};
	struct body_name query = {.any = false};

	for (size_t k = 0; k < N_OF(bodies); k++) {
		const struct body_name *body =
			bodies[k] == PLAN_NONE ? NULL : &f->bodies[bodies[k]];

		if (body && body->any)
			body_name__add(&query, body->name);
	}
	return query.name;
}

/* The query's key, by the names of its bodies. */
static int set_type(struct keys_finder *f, struct memory_keys *memory, struct plan_query *q)
{
	struct key_name name = name_of(f, q);
	struct mined_arguments args;
	int found = 1;

	q->key = name.key;
	if (!name.type[0])
		return 0;
	q->key_type = strdup(name.type);
	if (!q->key_type)
		return -ENOMEM;
	if (q->key == WIRE_KEY_UNKNOWN) {
		found = memory_keys__find(memory, name.type, &q->memory);
		if (found == 1)
			q->key = WIRE_KEY_MEMORY;
		return found < 0 ? found : 0;
	}
	if (!plan_query__names(q))
		return 0;
	args = mine_arguments(f->decoder, q->provider);
	if (!args.holders || args.contexts)
		return 0;
	/* Where the definition is at the address of a key that is otherwise passed as a value. */
	if (q->key == WIRE_KEY_CRATE)
		q->memory = crate_key;
	else
		found = memory_keys__find(memory, name.type, &q->memory);
	q->key_by_address = found == 1;
	return found < 0 ? found : 0;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/*
 * Arguments before the context that the function would not have if its result were in a register:
 * 0 or 1. `before`: the others before it.
 */
static int shift_of(uint16_t contexts, int before)
{
	if (!contexts)
		return UNPROVEN;
	for (int shift = 0; shift < 2; shift++)
		if (contexts == 1u << code_arguments[before + shift])
			return shift;
	return WRONG;
}

/* The same of a provider, whose arguments may be the addresses of the context and the key. */
static int shift_of_provider(struct mined_arguments args)
{
	return shift_of(args.contexts ?: args.holders, 0);
}

/* The registers of a key, if its first one is that of argument `at`. */
static uint16_t registers_of(uint8_t key, int at)
{
	uint16_t regs = (uint16_t)(1u << code_arguments[at]);

	return key == WIRE_KEY_DEF ? (uint16_t)(regs | 1u << code_arguments[at + 1]) : regs;
}

/* A wrapper's result is an Option of the value, a body's the value and an aligned u32. */
static int shift_by_size(const struct key_name *name, bool body)
{
	uint32_t size = body ? (name->size + 3) / 4 * 4 + 4 : name->size + 1;

	return name->has_size ? size > RESULT_MAX : UNPROVEN;
}

/* A wrapper or a body of the query dereferences the key that it is given. */
static bool is_dereferenced(struct keys_finder *f, const struct plan_query *q)
{
	uint32_t bodies[] = {q->body_non_incr, q->body_incr};
	uint64_t entries[4] = {q->wrapper_non_incr, q->wrapper_incr};
	struct key_name name = name_of(f, q);
	bool seen = false;

	for (int i = 0; i < 2; i++)
		if (bodies[i] != PLAN_NONE)
			entries[2 + i] = f->plan->bodies[bodies[i]].addr;
	for (int i = 0; i < 4 && !seen; i++) {
		struct mined_arguments args = mine_arguments(f->decoder, entries[i]);
		int before = i >= 2, shift = shift_of(args.contexts, before);

		if (shift == UNPROVEN)
			shift = shift_by_size(&name, before);
		seen = shift >= 0 && (args.pointers & 1u << code_arguments[shift + before + 2]);
	}
	return seen;
}

/* A number is not dereferenced. Of an address that it is one must be seen, here or elsewhere. */
static bool is_plausible(struct keys_finder *f, const struct plan_query *q,
			 struct mined_arguments args, int at)
{
	bool seen = args.pointers & registers_of(q->key, at);

	return q->key == WIRE_KEY_MEMORY ? seen || is_dereferenced(f, q) : !seen;
}

/*
 * Position of the key among the provider's arguments, or negative. A key at an address is read only
 * if it is known what is there: otherwise a part of the address would be taken for an index.
 */
static int key_of_provider(struct keys_finder *f, const struct plan_query *q)
{
	struct mined_arguments args = mine_arguments(f->decoder, q->provider);
	struct key_name name = name_of(f, q);
	int shift = shift_of_provider(args);

	if (shift < 0 || (name.has_size && shift != (name.size > RESULT_MAX)))
		return UNPROVEN;
	if (!args.contexts && q->key != WIRE_KEY_MEMORY && !q->key_by_address)
		return UNPROVEN;
	if (!args.contexts)
		return args.pointers & 1u << code_arguments[shift + 1] ? shift + 1 : WRONG;
	return is_plausible(f, q, args, shift + 1) ? shift + 1 : WRONG;
}

/* Both wrappers return the same. A body's result in a register is larger than a wrapper's. */
static int shift_by_others(struct keys_finder *f, const struct plan_query *q)
{
	uint32_t bodies[] = {q->body_non_incr, q->body_incr};
	int shift = shift_of(mine_arguments(f->decoder, q->wrapper_incr).contexts, 0);

	for (size_t i = 0; i < N_OF(bodies) && shift == UNPROVEN; i++)
		if (bodies[i] != PLAN_NONE &&
		    !shift_of(mine_arguments(f->decoder, f->plan->bodies[bodies[i]].addr).contexts,
			      1))
			shift = 0;
	return shift;
}

/* The same of its non-incremental wrapper. */
static int key_of_wrapper(struct keys_finder *f, const struct plan_query *q)
{
	struct mined_arguments args = mine_arguments(f->decoder, q->wrapper_non_incr);
	struct key_name name = name_of(f, q);
	int provider = shift_of_provider(mine_arguments(f->decoder, q->provider));
	int shift = shift_of(args.contexts, 0);

	if (shift == UNPROVEN && name.has_size && provider == (name.size > RESULT_MAX))
		shift = shift_by_size(&name, false);
	if (shift == UNPROVEN && !name.has_size)
		shift = shift_by_others(f, q);
	if (shift < 0 || (name.has_size && shift != shift_by_size(&name, false)))
		return UNPROVEN;
	/* Its result is larger than the provider's. */
	if (provider > shift)
		return WRONG;
	return is_plausible(f, q, args, shift + 2) ? shift + 2 : WRONG;
}

static void place_argument(struct keys_finder *f, struct plan_site *site)
{
	const struct plan_query *q = &f->plan->queries[site->query];
	bool wrapper = site->role == WIRE_ROLE_WRAPPER;
	uint64_t entry = wrapper ? q->wrapper_non_incr : q->provider;
	int at = wrapper ? key_of_wrapper(f, q) : key_of_provider(f, q);
	uint8_t key = q->key_by_address && !wrapper ? WIRE_KEY_MEMORY : q->key;

	if (at >= 0 && mine_arguments_kept(f->decoder, entry, site->addr, registers_of(key, at)))
		site->key_reg = code_arguments[at];
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static bool is_in(const struct plan_site *site, uint32_t body)
{
	return site->body == body &&
	       (site->role == WIRE_ROLE_START_BODY || site->role == WIRE_ROLE_IDENTIFY);
}

/* A query of this body; one is as good as another, since only types that all share are looked at.
 */
static const struct plan_query *query_of(const struct plan *plan, uint32_t body)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (plan__serves(plan, &plan->queries[i], body))
			return &plan->queries[i];
	return NULL;
}

/* Where the key is at the body's entry; false if that is unknown. */
static bool key_of_body(struct keys_finder *f, uint32_t body, struct mine_key *out)
{
	struct mined_arguments args = mine_arguments(f->decoder, f->plan->bodies[body].addr);
	const struct plan_query *q = query_of(f->plan, body);
	const struct key_name *name = &f->bodies[body].name;
	int shift = shift_of(args.contexts, 1), at = shift + 3;

	if (!q || shift < 0 || (q->key != name->key && q->key != WIRE_KEY_MEMORY) ||
	    (name->has_size && shift != shift_by_size(name, true)) || !is_plausible(f, q, args, at))
		return false;
	*out = (struct mine_key){
		.reg = code_arguments[at],
		.crate = q->key == WIRE_KEY_DEF ? code_arguments[at + 1] : WIRE_REG_NONE,
		.pointer = q->key == WIRE_KEY_MEMORY,
	};
	return true;
}

static int place_in_body(struct keys_finder *f, const struct owner *owner)
{
	const struct plan *plan = f->plan;
	_free_ uint64_t *addrs = calloc(plan->n_sites + 1UL, sizeof(*addrs));
	_free_ struct mined_key *at = calloc(plan->n_sites + 1UL, sizeof(*at));
	uint32_t body = plan__body_at(plan, owner->entry);
	struct mine_key key;
	struct walk w;
	size_t n = 0;
	int err;

	if (!addrs || !at)
		return -ENOMEM;
	if (body == PLAN_NONE || !key_of_body(f, body, &key))
		return 0;
	err = code_decoder__decode(f->decoder, owner->regions, owner->n_regions, &f->code);
	if (err)
		return err;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (is_in(&plan->sites[i], body))
			addrs[n++] = plan->sites[i].addr;
	err = walk__init(&w, f->img, &f->code, owner->entry)
		      ?: mine_body_key(&w, owner->entry, &key, addrs, n, at);
	walk__fini(&w);
	n = 0;
	for (uint32_t i = 0; i < plan->n_sites && !err; i++) {
		struct plan_site *site = &plan->sites[i];

		if (!is_in(site, body))
			continue;
		site->key_reg = at[n].reg;
		site->key_slot = at[n++].slot;
		if (plan_site_excess(site))
			site->key_slot = PLAN_NO_SLOT;
	}
	return err;
}

int keys_finder__new(struct elf_image *img, const struct known_symbols *known,
		     struct code_decoder *decoder, struct plan *plan, struct keys_finder **out)
{
	_keys_finder_ struct keys_finder *f = calloc(1, sizeof(*f));
	_memory_keys_ struct memory_keys *memory = NULL;
	const char *problem;
	int err;

	if (!f)
		return -ENOMEM;
	*f = (struct keys_finder){.img = img, .decoder = decoder, .plan = plan};
	err = body_names__find(img, known, decoder, plan, &f->bodies)
		      ?: memory_keys__new(img, decoder, &memory)
		      ?: key_choice__make(img, memory, plan, f->bodies);
	for (uint32_t i = 0; i < plan->n_queries && !err; i++)
		err = set_type(f, memory, &plan->queries[i]);
	if (err)
		return err;
	problem = memory_keys__problem(memory);
	if (problem) {
		plan->keys_problem = strdup(problem);
		if (!plan->keys_problem)
			return -ENOMEM;
	}
	*out = take_ptr(f);
	return 0;
}

int keys_finder__place(struct keys_finder *f)
{
	struct plan *plan = f->plan;
	_free_ uint64_t *addrs = calloc(plan->n_bodies + 1UL, sizeof(*addrs));
	_owners_ struct owners owners = {NULL, 0};
	size_t n = 0;
	int err;

	if (!addrs)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		struct plan_site *site = &plan->sites[i];

		if ((site->role == WIRE_ROLE_START || site->role == WIRE_ROLE_WRAPPER) &&
		    plan_query__names(&plan->queries[site->query]))
			place_argument(f, site);
	}
	/* The bodies of queries whose key is worth looking for. */
	for (uint32_t b = 0; b < plan->n_bodies; b++)
		if (query_of(plan, b) && plan_query__names(query_of(plan, b)))
			addrs[n++] = plan->bodies[b].addr;
	err = owners__find(f->img, addrs, n, &owners);
	for (size_t i = 0; i < owners.n && !err; i++)
		err = place_in_body(f, &owners.items[i]);
	return err;
}

void keys_finder__free(struct keys_finder *f)
{
	if (!f)
		return;
	code__free(&f->code);
	free(f->bodies);
	free(f);
}
