// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/layout.h"

#include "test.h"
#define LIBRARY "crates.so"
#include "../fixtures/image.h"
#include "plan/check.h"

/* One function of each kind, by name; NULL: there is none. */
struct accessors {
	const char *hash, *store, *id, *crate, *name, *key, *to_def;
};

#define A                                                                             \
	{                                                                             \
		"a_hash", "a_store", "a_id", "a_crate", "a_crate_name", "a_key", NULL \
	}
#define B                                                                        \
	{                                                                        \
		"b_hash", "b_store", "b_id", NULL, "b_crate_name", "b_key", NULL \
	}

static const char *mine(struct accessors a, struct wire_layout_crates *out)
{
	const char *names[] = {a.hash, a.store, a.id, a.crate, a.name, a.key, a.to_def};
	static const enum name_kind kinds[] = {
		NAME_DEF_PATH_HASH,    NAME_STORE,	   NAME_STORE_STABLE_ID, NAME_STORE_CRATE,
		NAME_STORE_CRATE_NAME, NAME_STORE_DEF_KEY, NAME_HASH_TO_DEF,
	};
	const struct wire_layout definitions = {.table = 0x4000, .size = 16};
	struct layout_function functions[N_OF(kinds)];
	struct code_region regions[N_OF(kinds)];
	const char *problem = "not set";
	size_t n = 0;

	for (size_t i = 0; i < N_OF(kinds); i++) {
		const struct elf_symbol *sym = names[i] ? symbol(img, names[i]) : NULL;

		if (!sym)
			continue;
		regions[n] = (struct code_region){sym->addr, sym->size};
		functions[n] = (struct layout_function){.kind = kinds[i],
							.entry = sym->addr,
							.regions = &regions[n],
							.n_regions = 1};
		n++;
	}
	*out = (struct wire_layout_crates){.pad = 77};
	assert_int_equal(layout_mine_crates(img, functions, n, &definitions, out, &problem), 0);
	if (problem)
		assert_int_equal(out->pad, 77);
	return problem;
}

TEST_CASE(the_code_of_today_shows_all)
{
	struct wire_layout_crates l;

	assert_null(mine((struct accessors)A, &l));
	assert_int_equal(l.size, 20);
	assert_int_equal(l.index, 0);
	assert_int_equal(l.key, 4);
	assert_int_equal(l.own_id, 0x1f598);
	assert_int_equal(l.store, 0x1f428);
	assert_int_equal(l.crates, 8);
	assert_int_equal(l.n_crates, 0x10);
	assert_int_equal(l.name, 0x88);
	assert_int_equal(l.stable_id, 0xa10);
	assert_int_equal(l.keys, 0xb40);
	assert_int_equal(l.keys_mask, 0xb48);
}

TEST_CASE(other_code_with_other_offsets_shows_them)
{
	struct wire_layout_crates l;

	assert_null(mine((struct accessors)B, &l));
	assert_int_equal(l.size, 20);
	assert_int_equal(l.index, 16);
	assert_int_equal(l.key, 0);
	assert_int_equal(l.own_id, 0x4050);
	assert_int_equal(l.store, 0x3ff8);
	assert_int_equal(l.crates, 0);
	assert_int_equal(l.n_crates, 0x18);
	assert_int_equal(l.name, 0x10);
	assert_int_equal(l.stable_id, 0x18);
	assert_int_equal(l.keys, 0x28);
	assert_int_equal(l.keys_mask, 0x30);
}

#define BROKEN(of, member, function, part)                                       \
	do {                                                                     \
		struct accessors a_ = of;                                        \
		struct wire_layout_crates l_;                                    \
		const char *problem_;                                            \
                                                                                 \
		a_.member = (function);                                          \
		problem_ = mine(a_, &l_);                                        \
		if (!problem_ || !strstr(problem_, part))                        \
			fail_msg("%s, not: %s", problem_ ?: "no problem", part); \
	} while (0)

TEST_CASE(a_missing_function_is_named)
{
	BROKEN(A, hash, NULL, "no TyCtxt::def_path_hash");
	BROKEN(A, store, NULL, "no CStore::from_tcx");
	BROKEN(A, id, NULL, "no CrateStore::stable_crate_id");
	BROKEN(A, name, NULL, "no CrateStore::crate_name");
	BROKEN(A, key, NULL, "no CrateStore::def_key");
}

/* That the function which shows it most clearly is there is not needed. */
TEST_CASE(hashes_are_compared_with_the_own_id)
{
	struct accessors a = A;
	struct wire_layout_crates l;

	a.hash = NULL;
	a.to_def = "to_def";
	assert_null(mine(a, &l));
	assert_int_equal(l.own_id, 0x1f420);
	a.to_def = "to_def.several";
	assert_string_equal(mine(a, &l),
			    "TyCtxt::def_path_hash_to_def_id compares several StableCrateIds");
	a.to_def = "a_store";
	assert_string_equal(mine(a, &l),
			    "TyCtxt::def_path_hash_to_def_id compares no StableCrateId "
			    "of the compiled crate");
}

TEST_CASE(the_store_may_be_behind_a_vtable)
{
	struct accessors a = A;
	struct wire_layout_crates l;

	a.store = "store.dyn";
	assert_null(mine(a, &l));
	assert_int_equal(l.store, 0x1f428);
}

TEST_CASE(a_function_that_gets_a_crate_needs_no_name)
{
	struct accessors a = A;
	struct wire_layout_crates own, l;

	assert_null(mine(a, &own));
	a.crate = NULL;
	assert_null(mine(a, &l));
	assert_int_equal(l.name, own.name);
}

TEST_CASE(the_own_id_comes_with_a_hash_of_the_definition)
{
	BROKEN(B, hash, "hash.constant", "TyCtxt::def_path_hash returns");
	BROKEN(B, hash, "hash.before", "TyCtxt::def_path_hash returns");
	BROKEN(B, hash, "b_store", "TyCtxt::def_path_hash returns");
}

TEST_CASE(the_store_is_a_part_of_the_context)
{
	BROKEN(B, store, "store.elsewhere", "CStore::from_tcx returns");
	BROKEN(B, store, "store.far", "CStore::from_tcx returns");
	BROKEN(B, store, "store.no_vtable", "CStore::from_tcx returns");
}

TEST_CASE(crates_are_in_a_table_with_an_end)
{
	BROKEN(B, id, "id.unbounded", "compares no crate");
	BROKEN(B, id, "id.inline", "CrateStore::stable_crate_id returns");
	/* Not the table that keys are looked up in. */
	BROKEN(B, id, "a_id", "CrateStore::def_key compares");
}

TEST_CASE(a_name_is_in_a_crates_metadata)
{
	BROKEN(A, crate, "crate.first", "CrateStore::crate_name returns");
	BROKEN(A, name, "crate_name.outside", "CrateStore::crate_name returns");
	BROKEN(A, name, "b_id", "CrateStore::crate_name returns");
	BROKEN(((struct accessors){"a_hash", "a_store", "a_id", "crate.first", "crate_name.first",
				   "a_key", NULL}),
	       key, "a_key", "CrateStore::crate_name returns");
}

TEST_CASE(a_called_function_looks_in_the_cache)
{
	struct accessors a = A;
	struct wire_layout_crates l;

	a.key = "c_key";
	assert_null(mine(a, &l));
	assert_int_equal(l.size, 20);
	assert_int_equal(l.index, 0);
	assert_int_equal(l.keys, 0x40);
	assert_int_equal(l.keys_mask, 0x48);
	a.key = "d_key";
	assert_null(mine(a, &l));
	assert_int_equal(l.keys, 0x40);
	BROKEN(A, key, "key.by_store", "CrateStore::def_key compares");
	BROKEN(A, key, "key.of_another", "CrateStore::def_key compares");
	BROKEN(A, key, "key.by_number", "CrateStore::def_key compares");
}

TEST_CASE(an_entry_is_below_the_control_bytes)
{
	BROKEN(B, key, "key.larger", "CrateStore::def_key compares");
	BROKEN(B, key, "key.amid", "CrateStore::def_key compares");
	BROKEN(B, key, "key.unmasked", "CrateStore::def_key compares");
	BROKEN(B, key, "a_key", "CrateStore::def_key compares");
}

TEST_MAIN(image_setup, image_teardown)
