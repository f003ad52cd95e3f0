// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The key of each span is exactly what the test program had in its registers, or on its stack. */
#include "capture.h"

#define RING (4u << 20)
/* A register whose value the program cannot choose at this site. */
#define ANY 0xffffffffffffffffull

struct where {
	enum wire_key key;
	uint8_t reg;
	int32_t slot;
};

struct how {
	struct where where;
	const struct wire_memory_key *memory; /* NULL: memory_key() */
	uint64_t (*expected)(uint32_t id);    /* with `memory` */
	bool no_keys, callers;
	enum kernel_attach attach;
	const char *filter;
};

static bool is_start(const struct plan_site *s)
{
	return s->role == WIRE_ROLE_START || s->role == WIRE_ROLE_START_BODY ||
	       s->role == WIRE_ROLE_WRAPPER || s->role == WIRE_ROLE_IDENTIFY;
}

/* rdi has the address of the numbers in registers, as 64-bit words: the first is the query's, times
 * 8. */
static struct wire_memory_key memory_key(void)
{
	struct wire_memory_key m = {.offset = 0, .first = 8, .other = 0};

	memset(m.words, 2, sizeof(m.words));
	m.words[8] = WIRE_NO_WORD;
	m.words[16] = 1;
	m.words[24] = WIRE_LOCAL_WORD;
	return m;
}

static uint64_t key_in_memory(uint32_t id)
{
	uint32_t above = (uint32_t)(shape_key(id, 0) >> 32);

	switch (id) {
	case 2:
		return 0;
	case 3:
		return wire_key((uint32_t)shape_key(id, 1), above);
	case 4:
		return wire_key(WIRE_KEY_LOCAL_CRATE, (uint32_t)shape_key(id, 0));
	default:
		return id <= 4 ? wire_key(above, (uint32_t)shape_key(id, 1))
			       : wire_key(above, (uint32_t)shape_key(id, 0));
	}
}

static void describe_keys(struct plan *plan, const struct how *how)
{
	const struct where *where = &how->where;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		plan->queries[i].key = where->key;
		plan->queries[i].memory = how->memory ? *how->memory : memory_key();
	}
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		if (!is_start(&plan->sites[i]))
			continue;
		plan->sites[i].key_reg = where->reg;
		plan->sites[i].key_slot = where->slot;
	}
}

static void run(struct capture *c, const struct how *how, const char *script)
{
	struct kernel_options opt = {
		.attach = how->attach,
		.ring_bytes = RING,
		.callers = how->callers,
		.keys = !how->no_keys,
	};
	_filter_ struct filter *filter = NULL;

	if (how->filter)
		assert_int_equal(filter__new(&how->filter, 1, &filter), 0);
	capture_load(c, &opt, 0);
	describe_keys(c->plan, how);
	assert_int_equal(kernel__attach(c->kernel, c->plan, filter, &c->lib), 0);
	capture_script(c, script);
	assert_int_equal(c->status, 0);
	assert_whole(c);
}

/* The number of a register among the keys that the program loads. */
static uint32_t number_of(uint8_t reg)
{
	static const uint8_t regs[] = {WIRE_REG_SI, WIRE_REG_DX, WIRE_REG_CX, WIRE_REG_R8,
				       WIRE_REG_R9};

	for (uint32_t i = 0; i < N_OF(regs); i++)
		if (regs[i] == reg)
			return i;
	fail_msg("register %u is not loaded", reg);
	return 0;
}

static bool starts_on_stack(uint32_t query)
{
	return query == EPSILON || query == THETA || query == DELTA;
}

/* Scripts do not mix the two ways of gamma. */
static bool starts_at_wrapper(uint32_t query, const char *script)
{
	return query == GAMMA && !strchr(script, 'C');
}

static uint64_t key_in_register(const struct how *how, uint32_t query, uint32_t id,
				const char *script)
{
	uint32_t i, at;

	if (how->where.reg == WIRE_REG_DI)
		return starts_at_wrapper(query, script) ? ANY
		       : how->expected			? how->expected(id)
							: key_in_memory(id);
	i = number_of(how->where.reg);
	at = (uint32_t)shape_key(id, i);
	if (starts_at_wrapper(query, script) && i < 2)
		return ANY;
	switch (how->where.key) {
	case WIRE_KEY_LOCAL:
		return wire_key(WIRE_KEY_LOCAL_CRATE, at);
	case WIRE_KEY_DEF:
		/* Behind r9 an argument is on the stack. */
		return how->where.reg == WIRE_REG_R9 ? 0 : wire_key(at + 1, at);
	case WIRE_KEY_CRATE:
		return wire_key(at, 0);
	default:
		return 0;
	}
}

static uint64_t key_on_stack(const struct how *how, uint32_t query, uint32_t id, const char *script)
{
	uint32_t index = (uint32_t)shape_key(id, 5), krate = (uint32_t)(shape_key(id, 5) >> 32);

	if (!starts_on_stack(query) && (query != GAMMA || starts_at_wrapper(query, script)))
		return 0;
	switch (how->where.key) {
	case WIRE_KEY_LOCAL:
		return wire_key(WIRE_KEY_LOCAL_CRATE, index);
	case WIRE_KEY_DEF:
		return wire_key(krate, index);
	case WIRE_KEY_CRATE:
		return wire_key(index, 0);
	default:
		return 0;
	}
}

static uint64_t expected_key(const struct how *how, uint32_t query, uint32_t id, const char *script)
{
	if (how->no_keys || (how->where.reg == WIRE_REG_NONE && how->where.slot == PLAN_NO_SLOT))
		return 0;
	return how->where.reg == WIRE_REG_NONE ? key_on_stack(how, query, id, script)
					       : key_in_register(how, query, id, script);
}

/* The program numbers its queries from 1. One thread's start in that order. */
static uint32_t number_of_query(const struct records *r, const struct wire_span *s)
{
	uint32_t n = 1;

	if (s->invocation != WIRE_NO_INVOCATION)
		return s->invocation;
	for (size_t i = 0; i < r->n_spans; i++)
		n += r->spans[i].kind == WIRE_KIND_QUERY && r->spans[i].start_ns < s->start_ns;
	return n;
}

static void assert_keys(const struct capture *c, const struct how *how, const char *script)
{
	for (size_t i = 0; i < c->got.n_spans; i++) {
		const struct wire_span *s = &c->got.spans[i];
		uint64_t key = 0;

		if (s->kind == WIRE_KIND_QUERY)
			key = expected_key(how, s->query, number_of_query(&c->got, s), script);
		if (key != ANY && key != s->key)
			fail_msg("key %lx and not %lx: type %d, register %d, query %u of %s",
				 (long)s->key, (long)key, how->where.key, how->where.reg, s->query,
				 script);
	}
}

static void compare(const struct how *how, const char *script)
{
	_capture_ struct capture c = CAPTURE_NONE;

	run(&c, how, script);
	if (!how->filter)
		assert_as_expected(&c);
	assert_keys(&c, how, script);
}

/* Starts of each role; then gamma and delta in bodies that serve several queries. */
static const char *const scripts[] = {"abcdDehiz a(b(c(d(D(e(h(i(z))))))))n(a(l)e(v(b)))",
				      "abCdDehiz a(b(C(d(D(e(h(i(z))))))))"};

static void compare_both(const struct how *how)
{
	for (size_t i = 0; i < N_OF(scripts); i++)
		compare(how, scripts[i]);
}

static const enum wire_key types[] = {WIRE_KEY_LOCAL, WIRE_KEY_DEF, WIRE_KEY_CRATE};

TEST_CASE(in_each_register)
{
	static const uint8_t regs[] = {WIRE_REG_SI, WIRE_REG_DX, WIRE_REG_CX, WIRE_REG_R8,
				       WIRE_REG_R9};

	need_capture();
	for (size_t i = 0; i < N_OF(regs); i++)
		for (size_t k = 0; k < N_OF(types); k++)
			compare_both(&(struct how){.where = {types[k], regs[i], PLAN_NO_SLOT}});
}

TEST_CASE(on_the_stack)
{
	need_capture();
	for (size_t k = 0; k < N_OF(types); k++)
		compare_both(&(struct how){.where = {types[k], WIRE_REG_NONE, SHAPE_KEY_SLOT}});
}

TEST_CASE(of_types_that_no_probe_reads)
{
	static const enum wire_key unread[] = {WIRE_KEY_UNKNOWN, WIRE_KEY_UNIT, WIRE_KEY_MEMORY};

	need_capture();
	for (size_t k = 0; k < N_OF(unread); k++) {
		compare_both(&(struct how){.where = {unread[k], WIRE_REG_CX, PLAN_NO_SLOT}});
		compare_both(&(struct how){.where = {unread[k], WIRE_REG_NONE, SHAPE_KEY_SLOT}});
	}
}

TEST_CASE(in_memory)
{
	need_capture();
	compare_both(&(struct how){.where = {WIRE_KEY_MEMORY, WIRE_REG_DI, PLAN_NO_SLOT}});
}

#define CRATE ((uint32_t)(shape_key(1, 0) >> 32))

static uint64_t crate_or_far(uint32_t id)
{
	switch (id) {
	case 1:
		return wire_key((uint32_t)shape_key(id, 0), 0);
	case 2:
		return wire_key(CRATE, (uint32_t)shape_key(id, 2));
	default:
		return wire_key((uint32_t)shape_key(id, 2), CRATE);
	}
}

static uint64_t narrow(uint32_t id)
{
	return wire_key(CRATE, (uint32_t)shape_key(id, 2));
}

/* A crate, and definitions far behind the variant. */
TEST_CASE(in_other_words_of_memory)
{
	static const struct wire_memory_key m = {
		.first = 8,
		.words = {[0] = WIRE_CRATE_WORD, [8] = 4, [16] = 3, [24] = 3},
		.other = 3};

	need_capture();
	compare_both(&(struct how){.where = {WIRE_KEY_MEMORY, WIRE_REG_DI, PLAN_NO_SLOT},
				   .memory = &m,
				   .expected = crate_or_far});
}

/* The bytes behind the variant's first one are something else. */
TEST_CASE(by_a_variant_of_one_byte)
{
	static const struct wire_memory_key m = {
		.offset = 4, .first = 0xef, .words = {3}, .other = WIRE_NO_WORD, .narrow = 1};

	need_capture();
	compare_both(&(struct how){.where = {WIRE_KEY_MEMORY, WIRE_REG_DI, PLAN_NO_SLOT},
				   .memory = &m,
				   .expected = narrow});
}

TEST_CASE(at_no_known_place)
{
	need_capture();
	compare_both(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_NONE, PLAN_NO_SLOT}});
}

/* Wrappers are requests and starts at once, and their keys are in a table. */
TEST_CASE(with_callers)
{
	static const uint8_t regs[] = {WIRE_REG_CX, WIRE_REG_R8};

	need_capture();
	for (size_t i = 0; i < N_OF(regs); i++)
		for (size_t k = 0; k < N_OF(types); k++)
			compare(&(struct how){.where = {types[k], regs[i], PLAN_NO_SLOT},
					      .callers = true},
				"A(B(G(A)aB))g(B)GaG{A(!)}BG(G(b(e)))");
	compare(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_NONE, SHAPE_KEY_SLOT},
			      .callers = true},
		"A(B(G(e)i))G(iD)");
}

TEST_CASE(through_perf_events)
{
	need_capture();
	compare_both(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_CX, PLAN_NO_SLOT},
				   .attach = KERNEL_ATTACH_PERF});
	compare_both(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_NONE, SHAPE_KEY_SLOT},
				   .attach = KERNEL_ATTACH_PERF});
}

TEST_CASE(not_asked_for)
{
	need_capture();
	compare_both(
		&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_SI, PLAN_NO_SLOT}, .no_keys = true});
	compare_both(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_NONE, SHAPE_KEY_SLOT},
				   .no_keys = true});
	compare(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_CX, PLAN_NO_SLOT},
			      .no_keys = true,
			      .callers = true},
		"A(G)G");
}

TEST_CASE(of_frames_that_never_end)
{
	need_capture();
	compare(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_SI, PLAN_NO_SLOT}},
		"{a(b(z(!)))}a({b(z(^))})r600(a)");
}

/* Queries that are not recorded are tracked by frames without a key; the others keep theirs. */
TEST_CASE(beside_hidden_queries)
{
	static const struct where places[] = {
		{WIRE_KEY_DEF, WIRE_REG_CX, PLAN_NO_SLOT},
		{WIRE_KEY_DEF, WIRE_REG_NONE, SHAPE_KEY_SLOT},
	};

	need_capture();
	for (size_t i = 0; i < N_OF(places); i++)
		for (int callers = 0; callers < 2; callers++) {
			struct how how = {
				.where = places[i], .callers = callers, .filter = "alpha,delta"};
			_capture_ struct capture c = CAPTURE_NONE;
			static const char script[] = "a(b(c(d(D(e(h(i(z(a)))))))))G(A(D))";

			run(&c, &how, script);
			assert_int_equal(c.got.n_spans, 6);
			assert_keys(&c, &how, script);
		}
}

TEST_CASE(of_many_threads)
{
	need_capture();
	compare(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_DX, PLAN_NO_SLOT}},
		"p8(*200(a(b(z)d(h))))f(a(b))");
	compare(&(struct how){.where = {WIRE_KEY_DEF, WIRE_REG_NONE, SHAPE_KEY_SLOT}},
		"p8(*200(a(d(D))))");
}

TEST_MAIN(NULL, NULL)
