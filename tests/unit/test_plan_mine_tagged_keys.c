// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/key_types.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "base/array.h"

enum query {
	SILENT,
	DEF,
	LOCAL,
	VALUE,
	PAIR,
	FARTHER,
	BOTH,
	ELSEWHERE,
	INLINED,
	OTHER,
	NICHE,
	MISSING
};

/* Of the assembled tests/fixtures/memory_keys.s. */
static struct plan_query queries[] = {
	[SILENT] = {.name = (char *)"silent"},	 [DEF] = {.name = (char *)"def"},
	[LOCAL] = {.name = (char *)"local"},	 [VALUE] = {.name = (char *)"value"},
	[PAIR] = {.name = (char *)"pair"},	 [FARTHER] = {.name = (char *)"farther"},
	[BOTH] = {.name = (char *)"both"},	 [ELSEWHERE] = {.name = (char *)"elsewhere"},
	[INLINED] = {.name = (char *)"inlined"}, [OTHER] = {.name = (char *)"other"},
	[NICHE] = {.name = (char *)"niche"},	 [MISSING] = {.name = (char *)"loca"},
};
static const struct plan plan = {.queries = queries, .n_queries = N_OF(queries)};

struct library {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct memory_keys *memory;
	struct tagged_keys *tagged;
};

static struct library whole, broken;

static int open_library(struct library *l, const char *name)
{
	return image_of(fixture(name), &l->img) ?: code_decoder__new(l->img, &l->decoder)
	       ?: memory_keys__new(l->img, l->decoder, &l->memory)
	       ?: tagged_keys__new(l->img, l->memory, &plan, &l->tagged);
}

static void close_library(struct library *l)
{
	tagged_keys__free(l->tagged);
	memory_keys__free(l->memory);
	code_decoder__free(l->decoder);
	elf_image__free(l->img);
}

static int setup(void **state)
{
	int err = fixture_dir_setup(state) ?: open_library(&whole, "memory_keys.so")
						     ?: open_library(&broken,
								     "memory_keys_broken.so");

	/* The first type that fits shows where in the enum keys are. */
	return err ?: tagged_keys__fits(whole.tagged, DEF, "DefId") != TAGGED_FITS;
}

static int teardown(void **state)
{
	close_library(&whole);
	close_library(&broken);
	return fixture_dir_teardown(state);
}

static void assert_answer(enum query query, const char *type, enum tagged_answer answer)
{
	assert_int_equal(tagged_keys__fits(whole.tagged, query, type), answer);
}

TEST_CASE(keys_are_asked_as_their_type_is)
{
	assert_answer(DEF, "DefId", TAGGED_FITS);
	assert_answer(LOCAL, "LocalDefId", TAGGED_FITS);
	assert_answer(PAIR, "(DefId, DefId)", TAGGED_FITS);
	assert_answer(VALUE, "PseudoCanonicalInput<GlobalId>", TAGGED_FITS);
}

TEST_CASE(another_type_is_denied)
{
	assert_answer(DEF, "LocalDefId", TAGGED_DENIED);
	assert_answer(DEF, "GlobalId", TAGGED_DENIED);
	assert_answer(LOCAL, "DefId", TAGGED_DENIED);
	assert_answer(PAIR, "DefId", TAGGED_DENIED);
	assert_answer(VALUE, "GlobalId", TAGGED_DENIED);
}

TEST_CASE(a_key_elsewhere_in_the_enum_is_another_one)
{
	assert_answer(FARTHER, "DefId", TAGGED_DENIED);
	assert_answer(DEF, "(DefId, DefId)", TAGGED_DENIED);
}

TEST_CASE(neither_is_asked)
{
	assert_answer(SILENT, "CrateNum", TAGGED_SILENT);
	assert_answer(SILENT, "LocalDefId", TAGGED_UNKNOWN);
	assert_answer(DEF, "CrateNum", TAGGED_UNKNOWN);
}

TEST_CASE(what_is_not_clear_is_unknown)
{
	assert_answer(BOTH, "DefId", TAGGED_UNKNOWN);
	assert_answer(ELSEWHERE, "DefId", TAGGED_UNKNOWN);
	/* Nothing is called, or something unknown, but the key is used. */
	assert_answer(INLINED, "CrateNum", TAGGED_UNKNOWN);
	assert_answer(OTHER, "CrateNum", TAGGED_UNKNOWN);
	assert_answer(NICHE, "DefId", TAGGED_UNKNOWN);
	assert_answer(MISSING, "DefId", TAGGED_UNKNOWN);
}

TEST_CASE(without_functions_of_keys_all_is_unknown)
{
	assert_int_equal(tagged_keys__fits(broken.tagged, DEF, "DefId"), TAGGED_UNKNOWN);
	assert_int_equal(tagged_keys__fits(broken.tagged, SILENT, "CrateNum"), TAGGED_UNKNOWN);
}

TEST_MAIN(setup, teardown)
