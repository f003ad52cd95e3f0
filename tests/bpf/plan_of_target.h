/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A hand-written plan of the test program: it describes each site of shapes.S. */
#ifndef QPROF_TESTS_BPF_PLAN_OF_TARGET_H
#define QPROF_TESTS_BPF_PLAN_OF_TARGET_H

#include "../unit/test.h"
#include "base/array.h"
#include "plan/mine/hits.h"
#include "plan/symbols/elf_image.h"
#include "names_of_target.h"
#include "shapes.h"
#include "../fixtures/library.h"

enum {
	BODY_ALPHA,
	BODY_BETA,
	BODY_GAMMA,
	BODY_EPSILON,
	BODY_ETA,
	BODY_INCR,
	BODY_INCR_SLOT,
	BODY_IOTA,
	BODY_THETA,
};

struct described_site {
	const char *symbol;
	struct plan_site site;
};

#define NONE	   PLAN_NONE
#define NO_REG(at) .reg = WIRE_REG_NONE, .slot = (at)
#define GUARD_SITE(r, g)                                                           \
	{                                                                          \
		.role = (r), .query = NONE, .body = NONE, .guard = (g), NO_REG(-1) \
	}

/* Sorted by role. The addresses come from the symbols. */
static const struct described_site described_sites[] = {
	{"provider_alpha",
	 {.role = WIRE_ROLE_START, .query = ALPHA, .body = BODY_ALPHA, .sp_delta = 8, NO_REG(-1)}},
	{"site_start_beta",
	 {.role = WIRE_ROLE_START, .query = BETA, .body = BODY_BETA, .sp_delta = 16, NO_REG(-1)}},
	{"provider_eta",
	 {.role = WIRE_ROLE_START, .query = ETA, .body = BODY_ETA, .sp_delta = 8, NO_REG(-1)}},
	{"provider_zeta",
	 {.role = WIRE_ROLE_START, .query = ZETA, .body = BODY_INCR, .sp_delta = 8, NO_REG(-1)}},
	{"site_start_epsilon",
	 {.role = WIRE_ROLE_START_BODY, .query = EPSILON, .body = BODY_EPSILON, NO_REG(-1)}},
	{"site_start_theta",
	 {.role = WIRE_ROLE_START_BODY, .query = THETA, .body = BODY_THETA, NO_REG(-1)}},
	{"wrapper_gamma",
	 {.role = WIRE_ROLE_WRAPPER, .query = GAMMA, .body = BODY_GAMMA, NO_REG(-1)}},
	{"site_identify_incr",
	 {.role = WIRE_ROLE_IDENTIFY,
	  .query = NONE,
	  .body = BODY_INCR,
	  .reg = WIRE_REG_R12,
	  .slot = -1,
	  .vtable_offset = VTABLE_INCR}},
	{"site_identify_incr_slot",
	 {.role = WIRE_ROLE_IDENTIFY,
	  .query = NONE,
	  .body = BODY_INCR_SLOT,
	  NO_REG(0x28),
	  .vtable_offset = VTABLE_INCR_SLOT}},
	{"site_end_alpha",
	 {.role = WIRE_ROLE_END,
	  .query = NONE,
	  .body = BODY_ALPHA,
	  .reg = WIRE_REG_R15,
	  .slot = -1}},
	{"site_end_beta", {.role = WIRE_ROLE_END, .query = NONE, .body = BODY_BETA, NO_REG(0x14)}},
	{"site_end_gamma",
	 {.role = WIRE_ROLE_END,
	  .query = NONE,
	  .body = BODY_GAMMA,
	  .reg = WIRE_REG_R15,
	  .slot = -1}},
	{"site_end_epsilon",
	 {.role = WIRE_ROLE_END, .query = NONE, .body = BODY_EPSILON, NO_REG(-1)}},
	{"site_end_eta",
	 {.role = WIRE_ROLE_END, .query = NONE, .body = BODY_ETA, .reg = WIRE_REG_R15, .slot = -1}},
	{"site_end_incr",
	 {.role = WIRE_ROLE_END,
	  .query = NONE,
	  .body = BODY_INCR,
	  .reg = WIRE_REG_R15,
	  .slot = -1}},
	{"site_end_incr_slot",
	 {.role = WIRE_ROLE_END,
	  .query = NONE,
	  .body = BODY_INCR_SLOT,
	  .reg = WIRE_REG_R15,
	  .slot = -1}},
	{"site_end_theta",
	 {.role = WIRE_ROLE_END,
	  .query = NONE,
	  .body = BODY_THETA,
	  .reg = WIRE_REG_R15,
	  .slot = -1}},
	{"panic_cleanup", {.role = WIRE_ROLE_CAUGHT, .query = NONE, .body = NONE, NO_REG(-1)}},
	/* The wrapper's push, two return addresses, three pushes, 0x40 bytes to the body's sp. */
	{"wrapper_alpha",
	 {.role = WIRE_ROLE_REQUEST,
	  .query = ALPHA,
	  .body = BODY_ALPHA,
	  .sp_delta = -(8 + 8 + 24 + 0x40),
	  NO_REG(0)}},
	{"wrapper_alpha_grown",
	 {.role = WIRE_ROLE_REQUEST,
	  .query = ALPHA,
	  .body = BODY_ALPHA,
	  .sp_delta = -(8 + 8 + 24 + 0x40),
	  NO_REG(0)}},
	{"site_guard_hash", GUARD_SITE(WIRE_ROLE_GUARD, GUARD_HASH)},
	{"site_guard_outer", GUARD_SITE(WIRE_ROLE_GUARD, GUARD_OUTER)},
	{"site_guard_inner", GUARD_SITE(WIRE_ROLE_GUARD, GUARD_INNER)},
	{"site_guard_dynamic", GUARD_SITE(WIRE_ROLE_GUARD, GUARD_DYNAMIC)},
	{"site_guard_load",
	 {.role = WIRE_ROLE_GUARD_QUERY,
	  .query = NONE,
	  .body = BODY_IOTA,
	  .guard = GUARD_LOAD,
	  .reg = WIRE_REG_R12,
	  .slot = -1,
	  .vtable_offset = VTABLE_INCR}},
	{"site_guard_hash_end", GUARD_SITE(WIRE_ROLE_GUARD_END, GUARD_HASH)},
	{"site_guard_outer_end", GUARD_SITE(WIRE_ROLE_GUARD_END, GUARD_OUTER)},
	{"site_guard_inner_end", GUARD_SITE(WIRE_ROLE_GUARD_END, GUARD_INNER)},
	{"site_guard_dynamic_end", GUARD_SITE(WIRE_ROLE_GUARD_END, GUARD_DYNAMIC)},
	{"site_guard_load_end", GUARD_SITE(WIRE_ROLE_GUARD_END, GUARD_LOAD)},
	{"timer_begin",
	 {.role = WIRE_ROLE_TIMER, .query = NONE, .body = NONE, .sp_delta = 8, NO_REG(-1)}},
	{"timer_drop",
	 {.role = WIRE_ROLE_TIMER_END, .query = NONE, .body = NONE, .sp_delta = 8, NO_REG(-1)}},
};

#define N_SITES (N_OF(described_sites))

static inline uint64_t address_of(const struct elf_symbol *syms, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(syms[i].name, name))
			return syms[i].addr;
	fail_msg("the test program has no %s", name);
	return 0;
}

/* The target's cache hits. */
static inline void describe_hits(const struct elf_image *img, const struct elf_symbol *syms,
				 size_t n, struct plan_hit hits[static 3])
{
	static const struct {
		const char *symbol;
		struct plan_hit hit;
	} described[] = {
		{"site_hit_register", {.reg = WIRE_REG_R9, .base = WIRE_REG_NONE}},
		{"site_hit_stack", {.reg = WIRE_REG_NONE, .base = WIRE_REG_NONE, .disp = 0x14}},
		{"site_hit_memory", {.reg = WIRE_REG_NONE, .base = WIRE_REG_SI, .disp = 8}},
	};

	for (int i = 0; i < 3; i++) {
		hits[i] = described[i].hit;
		hits[i].addr = address_of(syms, n, described[i].symbol);
		assert_true(elf_image__offset(img, hits[i].addr, &hits[i].offset));
	}
}

/* Each body has a group of its own. */
static inline void describe_bodies(struct plan *plan)
{
	static const uint32_t groups[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

	plan->n_bodies = N_OF(groups);
	plan->bodies = calloc(plan->n_bodies, sizeof(*plan->bodies));
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		plan->bodies[i].group = groups[i];
}

static inline void describe_queries(struct plan *plan, const struct elf_symbol *syms, size_t n)
{
	static const struct {
		const char *name, *provider;
		uint32_t body_non_incr, body_incr;
		uint8_t start_role;
	} queries[N_QUERIES] = {
		[ALPHA] = {"alpha", "provider_alpha", BODY_ALPHA, NONE, WIRE_ROLE_START},
		[BETA] = {"beta", "provider_beta", BODY_BETA, NONE, WIRE_ROLE_START},
		[DELTA] = {"delta", "provider_delta", BODY_INCR_SLOT, BODY_INCR, WIRE_ROLE_WRAPPER},
		[EPSILON] = {"epsilon", "provider_epsilon", BODY_EPSILON, NONE,
			     WIRE_ROLE_START_BODY},
		[ETA] = {"eta", "provider_eta", BODY_ETA, NONE, WIRE_ROLE_START},
		[GAMMA] = {"gamma", "provider_gamma", BODY_GAMMA, BODY_INCR, WIRE_ROLE_WRAPPER},
		[IOTA] = {"iota", "provider_iota", NONE, BODY_IOTA, WIRE_ROLE_WRAPPER},
		[THETA] = {"theta", "provider_theta", BODY_THETA, NONE, WIRE_ROLE_START_BODY},
		[ZETA] = {"zeta", "provider_zeta", NONE, BODY_INCR, WIRE_ROLE_START},
	};

	plan->n_queries = N_QUERIES;
	plan->queries = calloc(N_QUERIES, sizeof(*plan->queries));
	for (int i = 0; i < N_QUERIES; i++)
		plan->queries[i] = (struct plan_query){
			.name = strdup(queries[i].name),
			.provider = address_of(syms, n, queries[i].provider),
			.body_non_incr = queries[i].body_non_incr,
			.body_incr = queries[i].body_incr,
			.start_role = queries[i].start_role,
		};
}

static inline void describe_guards(struct plan *plan)
{
	static const struct plan_guard guards[N_GUARDS] = {
		[GUARD_LOAD] = {.kind = WIRE_KIND_LOAD,
				.scope = 7,
				.number = 1,
				.label_of_query = true},
		[GUARD_HASH] = {.kind = WIRE_KIND_HASHING,
				.scope = 8,
				.number = 1,
				.label_of_query = true},
		[GUARD_OUTER] = {.kind = WIRE_KIND_ACTIVITY, .scope = 9, .number = 1},
		[GUARD_INNER] = {.kind = WIRE_KIND_ACTIVITY, .scope = 9, .number = 2},
		[GUARD_DYNAMIC] = {.kind = WIRE_KIND_ACTIVITY, .scope = 10, .number = 1},
	};

	plan->guards = malloc(sizeof(guards));
	memcpy(plan->guards, guards, sizeof(guards));
	plan->n_guards = N_GUARDS;
	for (int i = 0; i < N_GUARDS; i++)
		plan->guards[i].label_slot = i == GUARD_DYNAMIC ? 0x10 : PLAN_NO_SLOT;
	plan->guards[GUARD_OUTER].label = strdup("outer");
	plan->guards[GUARD_INNER].label = strdup("inner");
}

/* Leaves out the sites of `skip_role`; 0 keeps all. */
static inline struct plan *plan_of_target(const char *path, uint8_t skip_role)
{
	_elf_image_ struct elf_image *img = NULL;
	struct plan *plan = calloc(1, sizeof(*plan));
	const struct elf_symbol *syms;
	size_t n;

	assert_int_equal(image_of(path, &img), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	plan->path = strdup(path);
	plan->file = library_file__ref(elf_image__file(img));
	describe_bodies(plan);
	describe_queries(plan, syms, n);
	describe_guards(plan);
	plan->sites = calloc(N_SITES, sizeof(*plan->sites));
	for (size_t i = 0; i < N_SITES; i++) {
		struct plan_site site = described_sites[i].site;

		if (site.role == skip_role)
			continue;
		site.key_reg = WIRE_REG_NONE;
		site.key_slot = PLAN_NO_SLOT;
		site.addr = address_of(syms, n, described_sites[i].symbol);
		assert_true(elf_image__offset(img, site.addr, &site.offset));
		plan->sites[plan->n_sites++] = site;
	}
	return plan;
}

#undef NONE
#undef NO_REG
#undef GUARD_SITE

/* Tables of results, of as many queries as the fake query contexts have. */
static inline void plan_results_of_target(struct plan *plan, uint64_t text)
{
	static const uint8_t kinds[NAMES_RESULTS] = {
		[RESULTS_DEF] = WIRE_CACHE_DEF,
		[RESULTS_SHARDS] = WIRE_CACHE_HASH,
		[RESULTS_ONCE] = WIRE_CACHE_ONCE,
		[RESULTS_NONE] = WIRE_CACHE_ONCE,
		[RESULTS_NOWHERE] = WIRE_CACHE_HASH,
		[RESULTS_MANY_EACH] = WIRE_CACHE_HASH,
		[RESULTS_HASH... RESULTS_INSTANCES_MANY] = WIRE_CACHE_HASH,
	};

	plan->tables = (struct wire_tables){.n = NAMES_RESULTS,
					    .vec_count = NAMES_VEC_COUNT,
					    .items = NAMES_ITEMS,
					    .mode = NAMES_MODE,
					    .sharded = NAMES_SHARDED,
					    .n_shards = NAMES_SHARDS,
					    .shard_size = NAMES_SHARD_SIZE,
					    .ctrl = NAMES_HASH_CTRL,
					    .mask = NAMES_HASH_MASK,
					    .buckets = NAMES_VEC_KEYS,
					    .first = NAMES_VEC_FIRST,
					    .mark = NAMES_VEC_MARK};
	plan->queries = realloc(plan->queries, NAMES_RESULTS * sizeof(*plan->queries));
	for (; plan->n_queries < NAMES_RESULTS; plan->n_queries++)
		plan->queries[plan->n_queries] = (struct plan_query){
			.name = strdup("zzz"), .body_non_incr = PLAN_NONE, .body_incr = PLAN_NONE};
	for (uint32_t i = 0; i < NAMES_RESULTS; i++) {
		plan->queries[i].key = WIRE_KEY_LOCAL;
		plan->queries[i].table = (struct wire_query_table){
			.text = text,
			.length = NAMES_QUERY_LENGTH,
			.name = names_results(i) + NAMES_QUERY_NAME,
			.active = names_results(i) + NAMES_ACTIVE,
			.cache = names_results(i) + NAMES_CACHE,
			.others = names_results(i) + NAMES_OTHERS,
			.kind = kinds[i] ?: WIRE_CACHE_VEC,
		};
		if (i < RESULTS_HASH)
			continue;
		plan->queries[i].key = i == RESULTS_HASH ? WIRE_KEY_LOCAL : WIRE_KEY_MEMORY;
		plan->queries[i].memory = (struct wire_memory_key){.offset = NAMES_HASH_MEMORY};
		plan->queries[i].table.entry_size = NAMES_HASH_ENTRY;
		plan->queries[i].table.key_at = NAMES_HASH_KEY;
		plan->queries[i].table.key = plan->queries[i].key;
		if (i < RESULTS_INSTANCES)
			continue;
		free(plan->queries[i].key_type);
		plan->queries[i].key_type = strdup("Instance");
		plan->queries[i].table.entry_size = NAMES_INSTANCE;
		plan->queries[i].table.has_text = 1;
		plan->queries[i].table.text_at = NAMES_INSTANCE_TEXT;
	}
}

static inline void add_drop_site(struct plan *plan, const struct elf_image *img, uint64_t addr,
				 uint32_t query, uint8_t reg)
{
	struct plan_site *site;

	plan->sites = reallocarray(plan->sites, plan->n_sites + 1, sizeof(*plan->sites));
	assert_non_null(plan->sites);
	site = &plan->sites[plan->n_sites++];
	*site = (struct plan_site){
		.role = WIRE_ROLE_DROP,
		.addr = addr,
		.query = query,
		.body = PLAN_NONE,
		.reg = reg,
		.slot = -1,
		.vtable_offset = reg == WIRE_REG_NONE ? 0 : NAMES_CACHE,
		.key_reg = WIRE_REG_NONE,
		.key_slot = PLAN_NO_SLOT,
	};
	assert_true(elf_image__offset(img, site->addr, &site->offset));
}

/* The layout of the fake query contexts (names_of_target.h), with definitions of `row_size` bytes.
 */
static inline void plan_names_of_target(struct plan *plan, uint32_t row_size)
{
	_elf_image_ struct elf_image *img = NULL;
	struct wire_layout *l = &plan->layout.wire;
	const struct elf_symbol *syms;
	size_t n;

	assert_int_equal(image_of(plan->path, &img), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	*l = (struct wire_layout){
		.drop = address_of(syms, n, "names_drop"),
		.globals = address_of(syms, n, "names_globals_offset"),
		.context = NAMES_CONTEXT,
		.table = NAMES_TABLE,
		.count = NAMES_COUNT,
		.size = row_size,
		.tag = NAMES_TAG,
		.symbol = NAMES_SYMBOL,
		.symbols = NAMES_SYMBOL_TABLE,
		.n_symbols = NAMES_N_SYMBOLS,
		.symbol_size = NAMES_ENTRY,
		.text = NAMES_TEXT,
		.length = NAMES_LENGTH,
		.unnamed = NAMES_UNNAMED_SYMBOL,
		.unnamed_tags = 1u << TAG_NAMED,
	};
	memset(l->tags, 0xff, sizeof(l->tags));
	l->tags[TAG_NAMED] = WIRE_TAG_NAMED;
	l->tags[TAG_FIXED] = NAMES_FIXED_SYMBOL;
	plan_results_of_target(plan, l->drop);
	plan->tables.finished = address_of(syms, n, "names_finish");
	add_drop_site(plan, img, l->drop, PLAN_NONE, WIRE_REG_NONE);
	add_drop_site(plan, img, plan->tables.finished, PLAN_NONE, WIRE_REG_NONE);
	add_drop_site(plan, img, address_of(syms, n, "names_feed"), PLAN_NONE, WIRE_REG_DI);
	add_drop_site(plan, img, address_of(syms, n, "names_feed_query"), RESULTS_DEF,
		      WIRE_REG_NONE);
}

#endif /* QPROF_TESTS_BPF_PLAN_OF_TARGET_H */
