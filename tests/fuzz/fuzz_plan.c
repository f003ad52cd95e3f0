// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Builds a plan from any bytes as a librustc_driver; encoding and decoding must not change it.
 * Every symbol is mined as if it were a body, too, and the types of keys as if there were bodies.
 */
#include "../fixtures/elf_builder.h"
#include "plan/codec.h"
#include "plan/mine/body.h"
#include "plan/mine/feeds.h"
#include "plan/mine/key_types.h"
#include "plan/mine/last_field.h"
#include "plan/mine/tables.h"
#include "../fixtures/library.h"
#include "fuzz.h"

#define MOST_BODIES 64u
#define MOST_COLD   16u

static volatile size_t sink;

static void check_sites(const struct code *code, const struct mined_site *sites, size_t n)
{
	expect(n <= MINE_MAX_SITES);
	for (size_t i = 0; i < n; i++)
		expect(code__index(code, sites[i].addr) != SIZE_MAX);
}

/* Every called function is a candidate for the one that begins a guard. */
static void mine_symbol(const struct elf_image *img, struct code_decoder *d, struct code *code,
			const struct elf_symbol *sym)
{
	const struct code_region region = {sym->addr, sym->size};
	uint64_t addrs[MOST_COLD];
	struct mine_cold cold = {.addrs = addrs};
	struct mined_body body;
	struct mined_entry entry;

	if (code_decoder__decode(d, &region, 1, code))
		return;
	for (size_t i = 0; i < code->n && cold.n < MOST_COLD; i++)
		if (code->insns[i].flow == CODE_CALL)
			addrs[cold.n++] = code->insns[i].target;
	for (int any = 0; any < 2; any++) {
		cold.any_kind = any;
		if (mine_body(img, code, sym->addr, &cold, NULL, &body))
			continue;
		check_sites(code, body.masks, body.n_masks);
		check_sites(code, body.ends, body.n_ends);
	}
	if (!mine_entry(d, sym->addr, &entry))
		sink += entry.pushed;
}

/* The readers of types of keys, whether or not there are bodies. */
static void mine_types(struct elf_image *img, struct code_decoder *d)
{
	struct plan_query queries[] = {{.name = (char *)"def"}, {.name = (char *)"local"}};
	struct plan_body bodies[] = {{.addr = elf_image__entry(img)}};
	const struct plan plan = {
		.queries = queries, .n_queries = 2, .bodies = bodies, .n_bodies = 1};
	_known_symbols_ struct known_symbols known = {0};
	_memory_keys_ struct memory_keys *memory = NULL;
	_tagged_keys_ struct tagged_keys *tagged = NULL;
	_free_ struct job_guard *guards = NULL;
	struct wire_memory_key key;
	uint64_t offset;

	if (last_field__of_generic(img, d, "Pair", &offset) == 1)
		expect(offset < LAST_FIELD_MAX);
	if (!known_symbols__find(img, &known) && !job_guards__find(img, &known, d, &plan, &guards))
		expect(guards[0].n <= JOB_GUARD_TYPES);
	if (memory_keys__new(img, d, &memory) || tagged_keys__new(img, memory, &plan, &tagged))
		return;
	if (memory_keys__find(memory, "DefId", &key) == 1)
		expect(key.offset < PLAN_LAYOUT_MAX);
	sink += (size_t)tagged_keys__fits(tagged, 0, "DefId");
	sink += (size_t)tagged_keys__fits(tagged, 1, "PseudoCanonicalInput<Pair>");
}

/* Every symbol is a query's wrapper, and the body of all queries too. */
static void mine_tables(struct elf_image *img, struct code_decoder *d,
			const struct elf_symbol *syms, size_t n)
{
	struct plan_query queries[] = {{.name = (char *)"query_10"},
				       {.name = (char *)"query_11", .key = WIRE_KEY_UNIT}};
	struct plan_body bodies[] = {{.addr = n ? syms[0].addr : 0}};
	struct plan plan = {.queries = queries, .n_queries = 2, .bodies = bodies, .n_bodies = 1};
	struct layout_function functions[2 * MOST_BODIES];
	struct code_region regions[MOST_BODIES];
	size_t n_functions = 0;

	for (size_t i = 0; i < n && i < MOST_BODIES; i++) {
		struct layout_function f = {NAME_WRAPPER_INCR,	 syms[i].addr,
					    &regions[i],	 1,
					    queries[i % 2].name, strlen(queries[0].name)};

		regions[i] = (struct code_region){syms[i].addr, syms[i].size};
		functions[n_functions++] = f;
		f.kind = NAME_BODY_INCR;
		functions[n_functions++] = f;
	}
	if (!tables__mine(img, d, functions, n_functions, &plan) && plan.tables.n)
		expect(plan.tables.n_shards <= WIRE_SHARDS_MAX &&
		       plan.tables.shard_size <= WIRE_SHARD_SIZE_MAX &&
		       plan.tables.vec_count < PLAN_LAYOUT_MAX &&
		       plan.tables.buckets < PLAN_LAYOUT_MAX &&
		       plan.tables.first % WIRE_KEYS_MAX == 0);
	/* Code that feeds queries is looked for, whether or not tables were found. */
	plan.tables.n = 2;
	if (!feeds__mine(img, d, &plan))
		for (uint32_t i = 0; i < plan.n_sites; i++)
			expect(plan_site__feeds(&plan.sites[i]) &&
			       plan_site__feed_fits(plan.sites[i].vtable_offset));
	for (size_t i = 0; i < 2; i++) {
		expect(queries[i].table.cache < PLAN_LAYOUT_MAX);
		free(queries[i].table_problem);
	}
	free(plan.sites);
	free(plan.tables_problem);
	free(plan.feeds_problem);
}

static void mine_all(const char *path)
{
	_elf_image_ struct elf_image *img = NULL;
	_code_decoder_ struct code_decoder *d = NULL;
	const struct elf_symbol *syms;
	struct code code = {0};
	size_t n;

	if (image_of(path, &img) || elf_image__symbols(img, &syms, &n) ||
	    code_decoder__new(img, &d))
		return;
	for (size_t i = 0; i < n && i < MOST_BODIES; i++)
		mine_symbol(img, d, &code, &syms[i]);
	code__free(&code);
	mine_types(img, d);
	mine_tables(img, d, syms, n);
}

static void check_plan(const struct plan *plan)
{
	_plan_ struct plan *back = NULL;
	_free_ uint8_t *bytes = NULL, *again = NULL;
	size_t size, again_size;

	expect(!plan_encode(plan, &bytes, &size));
	expect(!plan_decode(bytes, size, &back));
	expect(!plan_encode(back, &again, &again_size));
	expect(again_size == size && !memcmp(again, bytes, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_close_ int fd = elf_builder_memfd(data, size);
	_plan_ struct plan *plan = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!built(path, &plan))
		check_plan(plan);
	mine_all(path);
	return 0;
}

FUZZ_DROP_MESSAGES()
