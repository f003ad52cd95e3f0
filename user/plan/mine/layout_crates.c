// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The functions and what each of them shows, as 1.95 and 1.97 have them:
 *
 *	TyCtxt::def_path_hash		mov  OWN_ID(%rdi), %r14		returned in rax
 *					mov  HASHES(%rdi), %rcx
 *					mov  (%rcx,%rax,8), %rdx	of the given definition
 *	TyCtxt::def_path_hash_to_def_id	cmp  OWN_ID(%rdi), %rsi		the hash is in rsi and rdx
 *	CStore::from_tcx		mov  STORE(%rdi), %rax		tcx in, the store out
 *	CrateStore::stable_crate_id	cmp  %rdi, 0x10(%rdi)		how many crates
 *					mov  0x8(%rax), %rax		their table
 *					mov  (%rax,%rdi,8), %rax
 *					mov  STABLE_ID(%rax), %rax
 *	CrateStore::crate_name		call CStore::get_crate_data	the same entry
 *					mov  NAME(%rax), %eax
 *	CrateStore::def_key		mov  KEYS(%r15), %rax		hashbrown's control bytes
 *					mov  KEYS+8(%r15), %rcx		its mask
 *					and  %rcx, %r9
 *					neg  %r9
 *					lea  (%r9,%r9,4), %r9
 *					cmp  %ebp, -0x14(%rax,%r9,4)	an entry is below them
 *
 * With less inlining (Debian's 1.96) def_key calls a function for that, which gets the address of
 * the crate's metadata and the index.
 */
#include "plan/mine/layout_crates.h"

#include <errno.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/code/eval.h"

/* Functions of a kind that are looked at. Names are untrusted, and looking takes time. */
#define COPIES_MAX 4
/* Only the beginning of CrateStore::def_key is of use. */
#define DEF_KEY_STEPS 256

struct crates_miner {
	const struct elf_image *img;
	const struct layout_function *functions;
	size_t n;
	const struct wire_layout *names;
	struct wire_layout_crates l;
	int err; /* of a reader that ran another function */
};

/* The node of a value of `size` bytes that was read from memory, or NULL. */
static const struct sum_node *loaded(const struct eval *e, const struct sum *a, uint8_t size)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&e->nodes, a, &more);

	return node && !more && node->kind == SUM_LOAD && !node->thread && node->size == size
		       ? node
		       : NULL;
}

/* `a` is a table's entry of 8 bytes, whose number the function was given in `reg`: *table. */
static bool is_entry(const struct eval *e, const struct sum *a, uint8_t reg, struct sum *table)
{
	const struct sum_node *node = loaded(e, a, 8);
	uint64_t more;

	for (uint32_t i = 0; node && node->of.n == 2 && !node->of.constant && i < 2; i++) {
		struct sum index = sum_term(&node->of, 1 - i);

		*table = sum_term(&node->of, i);
		if (node->of.terms[i].factor == 1 && node->of.terms[1 - i].factor == 8 &&
		    sum_is_argument(&e->nodes, &index, reg, &more) && !more)
			return true;
	}
	return false;
}

/* `a` is the address of the metadata of crate `reg`, of the store that `self` holds. */
static bool is_crate(const struct eval *e, const struct sum *a, uint8_t self, uint8_t reg,
		     uint64_t *crates)
{
	struct sum table;

	return is_entry(e, a, reg, &table) && sum_is_field(&e->nodes, &table, self, 8, crates);
}

/* The StableCrateId of the crate that is compiled, and a hash from a table by definition. */
static const char *read_own_id(struct crates_miner *m, const struct eval *e)
{
	for (uint32_t i = 0; i < e->returns.n; i++) {
		struct sum table;
		uint64_t id, hashes;

		if (sum_is_field(&e->nodes, &e->returns.items[i].a, WIRE_REG_DI, 8, &id) &&
		    is_entry(e, &e->returns.items[i].b, WIRE_REG_SI, &table) &&
		    sum_is_field(&e->nodes, &table, WIRE_REG_DI, 8, &hashes) &&
		    id > m->names->table && layout_offset(&m->l.own_id, id))
			return NULL;
	}
	return "TyCtxt::def_path_hash returns no StableCrateId of the compiled crate";
}

/* The first half of the hash of a definition that is compiled, which rsi holds, is that. */
static const char *read_compared_id(struct crates_miner *m, const struct eval *e)
{
	bool known = false;

	for (uint32_t i = 0; i < e->compares.n; i++)
		for (int side = 0; side < 2; side++) {
			const struct eval_pair *c = &e->compares.items[i];
			uint64_t id, more;

			if (!sum_is_field(&e->nodes, side ? &c->a : &c->b, WIRE_REG_DI, 8, &id) ||
			    !sum_is_argument(&e->nodes, side ? &c->b : &c->a, WIRE_REG_SI, &more) ||
			    more)
				continue;
			if (known && id != m->l.own_id)
				return "TyCtxt::def_path_hash_to_def_id compares several "
				       "StableCrateIds";
			known = layout_offset(&m->l.own_id, id);
		}
	return known ? NULL
		     : "TyCtxt::def_path_hash_to_def_id compares no StableCrateId of the compiled "
		       "crate";
}

static bool is_read(const struct eval *e, uint64_t field)
{
	for (uint32_t i = 0; i < e->nodes.n; i++) {
		struct sum node = {.known = true, .n = 1, .terms = {{i, 1}}};
		uint64_t at;

		if (sum_is_field(&e->nodes, &node, WIRE_REG_DI, 8, &at) && at == field)
			return true;
	}
	return false;
}

/* A dyn CrateStore, an object and its vtable: one of its methods returns the object itself. */
static bool read_dyn_store(struct crates_miner *m, const struct eval *e)
{
	uint64_t at, found = 0;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		if (e->calls[i].target ||
		    !sum_is_field(&e->nodes, &e->calls[i].first, WIRE_REG_DI, 8, &at) ||
		    !is_read(e, at + 8))
			continue;
		if (found && found != at)
			return false;
		found = at;
	}
	return found && layout_offset(&m->l.store, found);
}

static const char *read_store(struct crates_miner *m, const struct eval *e)
{
	uint64_t at;

	for (uint32_t i = 0; i < e->returns.n; i++)
		if (sum_is_field(&e->nodes, &e->returns.items[i].a, WIRE_REG_DI, 8, &at) &&
		    layout_offset(&m->l.store, at))
			return NULL;
	return read_dyn_store(m, e) ? NULL : "CStore::from_tcx returns no part of its context";
}

/* The crate's number is compared with how many there are. */
static bool read_n_crates(struct crates_miner *m, const struct eval *e)
{
	for (uint32_t i = 0; i < e->compares.n; i++)
		for (int side = 0; side < 2; side++) {
			const struct eval_pair *c = &e->compares.items[i];
			uint64_t at, more;

			if (sum_is_field(&e->nodes, side ? &c->a : &c->b, WIRE_REG_DI, 8, &at) &&
			    sum_is_argument(&e->nodes, side ? &c->b : &c->a, WIRE_REG_SI, &more) &&
			    !more && layout_offset(&m->l.n_crates, at))
				return true;
		}
	return false;
}

static const char *read_stable_id(struct crates_miner *m, const struct eval *e)
{
	for (uint32_t i = 0; i < e->returns.n; i++) {
		const struct sum_node *id = loaded(e, &e->returns.items[i].a, 8);
		struct sum metadata;
		uint64_t crates;

		if (!id || id->of.n != 1)
			continue;
		metadata = sum_term(&id->of, 0);
		if (is_crate(e, &metadata, WIRE_REG_DI, WIRE_REG_SI, &crates) &&
		    layout_offset(&m->l.crates, crates) &&
		    layout_offset(&m->l.stable_id, id->of.constant))
			return read_n_crates(m, e) ? NULL
						   : "CrateStore::stable_crate_id compares no "
						     "crate with how many there are";
	}
	return "CrateStore::stable_crate_id returns no part of a table's entry";
}

/* Its parts, if any has the name; else a part that the symbols show. */
static bool find_store_crate(const struct crates_miner *m, struct eval_function *ef,
			     struct code_region *region)
{
	bool named = false;

	for (size_t i = 0; i < m->n; i++) {
		const struct layout_function *f = &m->functions[i];

		if (f->kind != NAME_STORE_CRATE)
			continue;
		named = true;
		if (f->entry != ef->entry)
			continue;
		ef->regions = f->regions;
		ef->n_regions = f->n_regions;
		return true;
	}
	*region = (struct code_region){ef->entry, elf_image__size_of(m->img, ef->entry)};
	ef->regions = region;
	ef->n_regions = 1;
	return !named;
}

/* The function by which crate_name gets a crate's metadata returns an entry of a table. */
static bool returns_entry(struct crates_miner *m, uint64_t entry)
{
	static const uint8_t regs[] = {WIRE_REG_SI, WIRE_REG_DX};
	struct eval_function ef = {.img = m->img, .entry = entry};
	struct code_region region;
	_free_ struct eval *e = NULL;
	struct sum table;

	if (!find_store_crate(m, &ef, &region))
		return false;
	m->err = eval__run(&ef, &e);
	for (uint32_t k = 0; !m->err && k < e->returns.n * N_OF(regs); k++)
		if (is_entry(e, &e->returns.items[k / 2].a, regs[k % 2], &table))
			return true;
	return false;
}

static const char *read_name(struct crates_miner *m, const struct eval *e)
{
	for (uint32_t i = 0; i < e->returns.n; i++) {
		const struct sum_node *name = loaded(e, &e->returns.items[i].a, 4), *from;
		struct sum metadata;
		uint64_t at;

		if (!name || name->of.n != 1)
			continue;
		metadata = sum_term(&name->of, 0);
		from = &e->nodes.items[name->of.terms[0].node];
		if ((is_crate(e, &metadata, WIRE_REG_DI, WIRE_REG_SI, &at) ||
		     (from->kind == SUM_CALL && returns_entry(m, from->of.constant))) &&
		    layout_offset(&m->l.name, name->of.constant))
			return NULL;
	}
	return "CrateStore::crate_name returns no part of a crate's metadata";
}

/* The function that has the address of the metadata of the crate that def_key is asked for. */
struct key_reader {
	const struct eval *e;
	bool called;   /* it is in rsi; else it is read from the store */
	uint8_t index; /* the register of the index that is asked for */
};

static bool is_asked_crate(struct crates_miner *m, const struct key_reader *r, const struct sum *a)
{
	uint64_t at;

	if (r->called)
		return sum_is_argument(&r->e->nodes, a, WIRE_REG_SI, &at) && !at;
	return is_crate(r->e, a, WIRE_REG_SI, WIRE_REG_CX, &at) && at == m->l.crates;
}

/* Where an entry of the cache is, and the fields of its table, which are within the metadata. */
static bool read_bucket(struct crates_miner *m, const struct key_reader *r,
			const struct sum_node *index)
{
	const struct eval *e = r->e;

	for (uint32_t i = 0; index->of.n == 2 && i < 2; i++) {
		struct sum keys = sum_term(&index->of, i), mask, metadata;
		const struct sum_node *from = loaded(e, &keys, 8), *count;
		const struct sum_node *below = &e->nodes.items[index->of.terms[1 - i].node];
		uint64_t size = -index->of.terms[1 - i].factor, at = size + index->of.constant;

		if (index->of.terms[i].factor != 1 || !from || below->kind != SUM_BELOW)
			continue;
		mask = below->of;
		count = loaded(e, &mask, 8);
		if (!count || count->of.n != 1 || from->of.n != 1 ||
		    count->of.terms[0].node != from->of.terms[0].node)
			continue;
		metadata = sum_term(&from->of, 0);
		/* The key of an entry takes as much as a definition, and is before or behind. */
		if (!is_asked_crate(m, r, &metadata) || size != 4 + m->names->size ||
		    (at != 0 && at != m->names->size) ||
		    !layout_offset(&m->l.keys, from->of.constant) ||
		    !layout_offset(&m->l.keys_mask, count->of.constant))
			continue;
		m->l.size = (uint32_t)size;
		m->l.index = (uint32_t)at;
		m->l.key = at ? 0 : 4;
		return true;
	}
	return false;
}

static bool compares_index(struct crates_miner *m, const struct key_reader *r)
{
	const struct eval *e = r->e;

	for (uint32_t i = 0; i < e->compares.n; i++)
		for (int side = 0; side < 2; side++) {
			const struct eval_pair *c = &e->compares.items[i];
			const struct sum_node *index = loaded(e, side ? &c->a : &c->b, 4);
			uint64_t more;

			if (index &&
			    sum_is_argument(&e->nodes, side ? &c->b : &c->a, r->index, &more) &&
			    !more && read_bucket(m, r, index))
				return true;
		}
	return false;
}

static bool is_index(const struct eval *e, const struct sum *a)
{
	uint64_t more;

	return sum_is_argument(&e->nodes, a, WIRE_REG_DX, &more) && !more;
}

/*
 * It passes on the crate's metadata as the second argument, and the index as the third; in 1.85 the
 * store is between the two.
 */
static bool passes_on(struct crates_miner *m, const struct eval *e, const struct eval_call *c,
		      uint8_t *index)
{
	const struct key_reader self = {e, false, WIRE_REG_DX};

	if (!c->target || !is_asked_crate(m, &self, &c->second))
		return false;
	*index = is_index(e, &c->third) ? WIRE_REG_DX : WIRE_REG_CX;
	return is_index(e, &c->third) || is_index(e, &c->fourth);
}

static bool called_compares(struct crates_miner *m, uint64_t entry, uint8_t index)
{
	const struct code_region region = {entry, elf_image__size_of(m->img, entry)};
	const struct eval_function ef = {
		.img = m->img,
		.entry = entry,
		.regions = &region,
		.n_regions = 1,
		.steps = DEF_KEY_STEPS,
	};
	_free_ struct eval *e = NULL;

	m->err = eval__run(&ef, &e);
	return !m->err && compares_index(m, &(struct key_reader){e, true, index});
}

static const char *read_def_key(struct crates_miner *m, const struct eval *e)
{
	uint8_t index;

	if (compares_index(m, &(struct key_reader){e, false, WIRE_REG_DX}))
		return NULL;
	for (uint32_t i = 0; i < e->n_calls && !m->err; i++)
		if (passes_on(m, e, &e->calls[i], &index) &&
		    called_compares(m, e->calls[i].target, index))
			return NULL;
	return "CrateStore::def_key compares no index with an entry of a cache";
}

/* In this order: each reads what those before it have found. */
static const struct {
	enum name_kind kind;
	uint32_t steps;
	const char *(*read)(struct crates_miner *m, const struct eval *e);
	const char *missing;
	bool instead; /* only if the one before finds nothing */
} readers[] = {
	{NAME_DEF_PATH_HASH, 0, read_own_id, "there is no TyCtxt::def_path_hash", false},
	/* Only its beginning is of use. */
	{NAME_HASH_TO_DEF, 64, read_compared_id, NULL, true},
	{NAME_STORE, 0, read_store, "there is no CStore::from_tcx", false},
	{NAME_STORE_STABLE_ID, 0, read_stable_id, "there is no CrateStore::stable_crate_id", false},
	{NAME_STORE_CRATE_NAME, 0, read_name, "there is no CrateStore::crate_name", false},
	{NAME_STORE_DEF_KEY, DEF_KEY_STEPS, read_def_key, "there is no CrateStore::def_key", false},
};

static int mine_function(struct crates_miner *m, size_t reader, const struct layout_function *f,
			 const char **problem)
{
	struct eval_function ef = {
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
		.steps = readers[reader].steps,
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&ef, &e);

	if (err)
		return err;
	*problem = readers[reader].read(m, e);
	return m->err;
}

/* Any of several functions of a kind will do: some are laid out apart, or get other arguments. */
static int mine_kind(struct crates_miner *m, size_t reader, const char **problem)
{
	int err = 0, tried = 0;

	if (!readers[reader].instead)
		*problem = readers[reader].missing;
	for (size_t i = 0; i < m->n && tried < COPIES_MAX && !err; i++) {
		if (m->functions[i].kind != readers[reader].kind)
			continue;
		tried++;
		err = mine_function(m, reader, &m->functions[i], problem);
		if (!*problem)
			break;
	}
	return err;
}

int layout_mine_crates(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, const struct wire_layout *names, struct wire_layout_crates *out,
		       const char **problem)
{
	struct crates_miner m = {.img = img, .functions = functions, .n = n, .names = names};
	int err = 0;

	*problem = NULL;
	for (size_t i = 0; i < N_OF(readers) && !err; i++)
		if (readers[i].instead == (*problem != NULL))
			err = mine_kind(&m, i, problem);
	if (!err && !*problem)
		*out = m.l;
	return err;
}
