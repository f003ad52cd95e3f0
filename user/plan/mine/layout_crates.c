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
#include "plan/mine/layout.h"

#include "base/array.h"

/* Only the beginning of CrateStore::def_key is of use. */
#define DEF_KEY_STEPS 256

static const char *check_own_id(struct layout_miner *m, const struct eval *e,
				const struct letters *l)
{
	(void)e;
	return letters__of(l, 'A') > m->l.wire.table
		       ? NULL
		       : "TyCtxt::def_path_hash returns no StableCrateId of the compiled crate";
}

/* A dyn CrateStore, an object and its vtable: one of its methods returns the object itself. */
static const char *read_dyn_store(struct layout_miner *m, const struct eval *e,
				  const struct letters *none)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		struct letters l = *none, vtable = *none;

		if (e->calls[i].target || !shape__is(&e->nodes, &e->calls[i].first, "[di+N]8", &l))
			continue;
		letters__set(&vtable, 'V', letters__of(&l, 'N') + 8);
		if (!shape__shown(e, "node [di+V]8", &vtable))
			continue;
		if (found && found != letters__of(&l, 'N'))
			found = UINT64_MAX;
		else
			found = letters__of(&l, 'N');
	}
	return found && layout_offset(&m->l.wire.crates.store, found)
		       ? NULL
		       : "CStore::from_tcx returns no part of its context";
}

static const char *read_n_crates(struct layout_miner *m, const struct eval *e,
				 const struct letters *none)
{
	struct letters l = *none;

	if (!shape__shown(e, "compare [di+B]8 = si", &l))
		return "CrateStore::stable_crate_id compares no crate with how many there are";
	m->l.wire.crates.n_crates = (uint32_t)letters__of(&l, 'B');
	return NULL;
}

/*
 * The function by which crate_name gets a crate's metadata returns an entry of a table. It is run
 * with its parts, if any such function has the name; else a part that the symbols show.
 */
static bool returns_entry(struct layout_miner *m, uint64_t entry)
{
	_free_ struct eval *e = NULL;
	const struct layout_function *f = NULL;
	struct letters l = {.known = 0};
	bool named = false;

	for (size_t i = 0; i < m->n && !f; i++) {
		if (m->functions[i].kind != NAME_STORE_CRATE)
			continue;
		named = true;
		if (m->functions[i].entry == entry)
			f = &m->functions[i];
	}
	if (named && !f)
		return false;
	m->err = f ? layout__run(m, f, NULL, &e)
		   : layout__run_callee(m, entry, elf_image__size_of(m->img, entry), 0, &e);
	return !m->err && (shape__shown(e, "return [#W+8*si]8, _", &l) ||
			   shape__shown(e, "return [#W+8*dx]8, _", &l));
}

static const char *read_name(struct layout_miner *m, const struct eval *e,
			     const struct letters *none)
{
	for (uint32_t i = 0; i < e->returns.n; i++) {
		const struct sum *name = &e->returns.items[i].a;
		struct letters l = *none;

		if (shape__is(&e->nodes, name, "[[[di+C]8+8*si]8+A]4", &l) ||
		    (shape__is(&e->nodes, name, "[call(U)+A]4", &l) &&
		     returns_entry(m, letters__of(&l, 'U')))) {
			m->l.wire.crates.name = (uint32_t)letters__of(&l, 'A');
			return NULL;
		}
	}
	return "CrateStore::crate_name returns no part of a crate's metadata";
}

/*
 * It compares the index with an entry of the cache, whose table is within the metadata. The key of
 * an entry takes as much as a definition, and is before or behind the index.
 */
static bool compares_index(struct layout_miner *m, const struct eval *e, const char *shape)
{
	struct wire_layout_crates *c = &m->l.wire.crates;
	struct letters l = {.known = 0};
	uint64_t size, at;

	letters__set(&l, 'C', c->crates);
	letters__set(&l, 'V', -(4 + (uint64_t)m->l.wire.size));
	if (!shape__shown(e, shape, &l))
		return false;
	size = -letters__of(&l, 'V');
	at = size + letters__of(&l, 'U');
	if (at != 0 && at != m->l.wire.size)
		return false;
	c->keys = (uint32_t)letters__of(&l, 'K');
	c->keys_mask = (uint32_t)letters__of(&l, 'J');
	c->size = (uint32_t)size;
	c->index = (uint32_t)at;
	c->key = at ? 0 : 4;
	return true;
}

/* The metadata of the crate that is asked for, of a store in rsi. */
#define CRATE "[[si+C]8+8*cx]8"
/* An entry of its cache. */
#define ENTRY(crate) "[[" crate "+K]8+V*below([" crate "+J]8)+U]4"

/* It gets the crate's metadata as the second argument; in 1.85 the store is between it and the
 * index. */
static bool called_compares(struct layout_miner *m, const struct eval *e,
			    const struct eval_call *call)
{
	_free_ struct eval *called = NULL;
	struct letters l = {.known = 0};
	bool third = shape__is(&e->nodes, &call->third, "dx", &l);

	letters__set(&l, 'C', m->l.wire.crates.crates);
	if (!call->target || !shape__is(&e->nodes, &call->second, CRATE, &l) ||
	    (!third && !shape__is(&e->nodes, &call->fourth, "dx", &l)))
		return false;
	m->err = layout__run_callee(m, call->target, elf_image__size_of(m->img, call->target),
				    DEF_KEY_STEPS, &called);
	return !m->err && compares_index(m, called,
					 third ? "compare " ENTRY("si") " = dx"
					       : "compare " ENTRY("si") " = cx");
}

static const char *read_def_key(struct layout_miner *m, const struct eval *e,
				const struct letters *none)
{
	(void)none;
	if (compares_index(m, e, "compare " ENTRY(CRATE) " = dx"))
		return NULL;
	for (uint32_t i = 0; i < e->n_calls && !m->err; i++)
		if (called_compares(m, e, &e->calls[i]))
			return NULL;
	return "CrateStore::def_key compares no index with an entry of a cache";
}

int layout_mine_crates(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, const struct wire_layout *names, struct wire_layout_crates *out,
		       const char **problem)
{
	static const struct layout_fact facts[] = {
		/* The StableCrateId of the crate that is compiled, and a hash by definition. */
		{.kind = NAME_DEF_PATH_HASH,
		 .missing = "there is no TyCtxt::def_path_hash",
		 .shape = "return [di+A]8, [[di+?]8+8*si]8",
		 .unlike = "TyCtxt::def_path_hash returns no StableCrateId of the compiled crate",
		 .fields = {LAYOUT_FIELD('A', wire.crates.own_id)},
		 .read = check_own_id},
		/* The first half of a definition's hash is that. Only the beginning is of use. */
		{.kind = NAME_HASH_TO_DEF,
		 .steps = 64,
		 .instead = true,
		 .shape = "compare [di+A]8 = si",
		 .unlike = "TyCtxt::def_path_hash_to_def_id compares no StableCrateId of the "
			   "compiled crate",
		 .several = "TyCtxt::def_path_hash_to_def_id compares several StableCrateIds",
		 .fields = {LAYOUT_FIELD('A', wire.crates.own_id)}},
		{.kind = NAME_STORE,
		 .missing = "there is no CStore::from_tcx",
		 .shape = "return [di+A]8, _",
		 .unlike = "CStore::from_tcx returns no part of its context",
		 .fields = {LAYOUT_FIELD('A', wire.crates.store)}},
		{.kind = NAME_STORE, .instead = true, .read = read_dyn_store},
		{.kind = NAME_STORE_STABLE_ID,
		 .missing = "there is no CrateStore::stable_crate_id",
		 .shape = "return [[[di+C]8+8*si]8+A]8, _",
		 .unlike = "CrateStore::stable_crate_id returns no part of a table's entry",
		 .fields = {LAYOUT_FIELD('C', wire.crates.crates),
			    LAYOUT_FIELD('A', wire.crates.stable_id)},
		 .read = read_n_crates},
		{.kind = NAME_STORE_CRATE_NAME,
		 .missing = "there is no CrateStore::crate_name",
		 .read = read_name},
		{.kind = NAME_STORE_DEF_KEY,
		 .missing = "there is no CrateStore::def_key",
		 .steps = DEF_KEY_STEPS,
		 .read = read_def_key},
	};
	struct layout_miner m = {.img = img, .functions = functions, .n = n, .l = {.wire = *names}};
	int err = layout__mine_facts(&m, facts, N_OF(facts), problem);

	if (!err && !*problem)
		*out = m.l.wire.crates;
	return err;
}
