// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/tagged_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/code/eval.h"
#include "plan/symbols/key_name.h"

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

static int find_functions(struct tagged_keys *t)
{
	const struct elf_symbol *syms;
	size_t n;
	int err = elf_image__symbols(t->img, &syms, &n);

	for (size_t i = 0; i < n && !err; i++) {
		struct code_region region = {syms[i].addr, syms[i].size};

		if (key_name__of_tagged(syms[i].name, "query_name"))
			t->name = region;
		else if (key_name__of_tagged(syms[i].name, "default_span"))
			t->span = region;
	}
	return err;
}

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

/* ---- What is asked --------------------------------------------------------------------------- */

static int read_span(const struct tagged_keys *t, uint64_t tag, struct tagged_key *out)
{
	_free_ struct eval *e = NULL;
	int found = run(t, &t->span, tag, &e);

	if (found)
		return found;
	found = memory_keys__asked(t->memory, e, &out->asked);
	out->state = found == 1 ? ASKS : found == 0 ? SILENT : UNSURE;
	return 0;
}

/* A query with several tags has its key in their niche, not where others have theirs. */
static int read_tag(struct tagged_keys *t, uint64_t tag)
{
	_free_ struct eval *e = NULL;
	int err = run(t, &t->name, tag, &e);
	uint32_t query = err ? PLAN_NONE : query_named(t, e);
	struct tagged_key *key;

	if (query == PLAN_NONE)
		return err;
	key = &t->keys[query];
	if (key->state == UNSEEN)
		return read_span(t, tag, key);
	key->state = UNSURE;
	return 0;
}

int tagged_keys__new(struct elf_image *img, struct memory_keys *memory, const struct plan *plan,
		     struct tagged_keys **out)
{
	_tagged_keys_ struct tagged_keys *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	*t = (struct tagged_keys){.img = img, .memory = memory, .plan = plan};
	t->keys = calloc(plan->n_queries + 1UL, sizeof(*t->keys));
	if (!t->keys)
		return -ENOMEM;
	err = memory_keys__problem(memory) ? 0 : find_functions(t);
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
