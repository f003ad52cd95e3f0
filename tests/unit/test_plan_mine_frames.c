// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/frames.h"

#include "test.h"
#define LIBRARY "frames.so"
#include "../fixtures/image.h"

/* tests/fixtures/frames.s, assembled. */
static struct code code;

static int setup(void **state)
{
	return image_setup(state) ?: 0;
}

static int teardown(void **state)
{
	code__free(&code);
	return image_teardown(state);
}

static uint64_t at(const char *name)
{
	return symbol(img, name)->addr;
}

static void decode(const char *name)
{
	struct code_region regions[2];
	char cold[64];
	size_t n = 0;

	snprintf(cold, sizeof(cold), "%s.cold", name);
	regions[n++] = (struct code_region){at(name), symbol(img, name)->size};
	if (find_symbol(img, cold))
		regions[n++] = (struct code_region){at(cold), symbol(img, cold)->size};
	assert_int_equal(code_decoder__decode(decoder, regions, n, &code), 0);
}

static struct frame_drafts wrapper(const char *name)
{
	struct frame_drafts d = {0};

	decode(name);
	assert_int_equal(frame_drafts__wrapper(&d, &code, at(name), at("body")), 0);
	return d;
}

/* Part `i` reaches from one mark to another. */
static void assert_part(const struct frame_drafts *d, uint32_t i, const char *from, const char *to)
{
	assert_in_range(i, 0, d->n - 1);
	assert_int_equal(d->items[i].addr, at(from));
	assert_int_equal(d->items[i].addr + d->items[i].size, at(to));
	assert_int_equal(d->items[i].kind, PLAN_FRAME_WRAPPER);
}

static uint64_t end_of(const char *name)
{
	return at(name) + symbol(img, name)->size;
}

TEST_CASE(a_wrapper_stands_for_its_request_once_the_body_is_called)
{
	struct frame_drafts d = wrapper("plain");

	assert_int_equal(d.n, 2);
	assert_part(&d, 0, "plain.call", "plain.end");
	assert_int_equal(d.items[1].addr, at("plain.grow"));
	assert_int_equal(d.items[1].addr + d.items[1].size, end_of("plain.cold"));
	frame_drafts__clear(&d);
}

TEST_CASE(a_wrapper_that_checks_its_body_asks_for_nothing)
{
	struct frame_drafts d = wrapper("checks");

	assert_int_equal(d.n, 2);
	assert_part(&d, 0, "checks.call", "checks.check");
	assert_int_equal(d.items[1].addr, at("checks.skip"));
	frame_drafts__clear(&d);
	d = wrapper("tail");
	assert_int_equal(d.n, 1);
	assert_int_equal(d.items[0].addr, at("tail.jump"));
	frame_drafts__clear(&d);
}

static bool stays(const char *name)
{
	decode(name);
	return frames_stays(&code);
}

TEST_CASE(a_provider_that_leaves_by_a_jump_has_no_frame)
{
	assert_true(stays("stays"));
	assert_false(stays("jumps"));
	assert_false(stays("jumps_away"));
	assert_false(stays("jumps_once"));
	code.n = 0;
	assert_false(frames_stays(&code));
}

/* ---- Placing --------------------------------------------------------------------------------- */

static struct plan_query queries[] = {
	{.wrapper_non_incr = 0x1000, .wrapper_incr = 0x1100, .provider = 0x2000},
	{.wrapper_non_incr = 0x1200, .wrapper_incr = 0x1100, .provider = 0x2100},
};
static struct plan_body bodies[] = {{.addr = 0x3000}, {.addr = 0x4000}};
static struct plan_guard guards[] = {
	{.exact = true, .scope = 1, .number = 1},  {.exact = true, .scope = 1, .number = 2},
	{.exact = false, .scope = 1, .number = 3}, {.exact = true, .scope = 2, .number = 1},
	{.exact = true, .scope = 2, .number = 1},
};
static const struct plan whole = {
	.queries = queries,
	.n_queries = N_OF(queries),
	.bodies = bodies,
	.n_bodies = N_OF(bodies),
	.guards = guards,
	.n_guards = N_OF(guards),
};

/* "kind of addr+size; ..." */
static void check_frames(const struct plan_frame *frames, uint32_t n, const char *want)
{
	static const char *const kinds[] = {"wrapper", "provider", "body", "runs", "calls", "in"};
	char got[512] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < n; i++)
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%s %u %lx+%x",
					i ? "; " : "", kinds[frames[i].kind], frames[i].of,
					(unsigned long)frames[i].addr, frames[i].size);
	assert_string_equal(got, want);
}

static void check_placed(struct frame_draft *drafts, uint32_t n, const char *functions,
			 const char *in_guards)
{
	struct frame_drafts d = {drafts, n, n};
	struct plan plan = whole;

	assert_int_equal(frames_place(&plan, &d), 0);
	check_frames(plan.frames, plan.n_frames, functions);
	check_frames(plan.guard_frames, plan.n_guard_frames, in_guards);
	free(plan.frames);
	free(plan.guard_frames);
}

#define PLACED(functions, in_guards, ...)                                 \
	do {                                                              \
		struct frame_draft drafts[] = {__VA_ARGS__};              \
		check_placed(drafts, N_OF(drafts), functions, in_guards); \
	} while (0)

#define PART(kind, addr, size, entry)                                 \
	{                                                             \
		(addr), (entry), (size), PLAN_NONE, PLAN_FRAME_##kind \
	}
#define IN(guard, addr, size)                                \
	{                                                    \
		(addr), 0, (size), (guard), PLAN_FRAME_GUARD \
	}

TEST_CASE(parts_are_placed)
{
	/* Parts are of whom their entry belongs to. */
	PLACED("wrapper 0 1010+10; wrapper 1 1210+10; provider 1 2100+20; body 1 4000+100", "",
	       PART(BODY, 0x4000, 0x100, 0x4000), PART(PROVIDER, 0x2100, 0x20, 0x2100),
	       PART(WRAPPER, 0x1210, 0x10, 0x1200), PART(WRAPPER, 0x1010, 0x10, 0x1000),
	       PART(PROVIDER, 0x9000, 0x20, 0x9000), PART(BODY, 0x9100, 0x20, 0x9100));
	/* What runs lies within a body. */
	PLACED("body 0 3000+20; runs 0 3020+20; calls 1 3040+5; runs 0 3045+1b; body 0 3060+a0; "
	       "runs 0 5000+8; body 0 5008+8",
	       "", PART(BODY, 0x3000, 0x100, 0x3000), PART(BODY, 0x5000, 0x10, 0x3000),
	       PART(RUNS, 0x3020, 0x30, 0x3000), PART(RUNS, 0x3040, 0x20, 0x3000),
	       PART(CALLS, 0x3040, 5, 0x2100), PART(CALLS, 0x3050, 5, 0x7000),
	       PART(RUNS, 0x5000, 8, 0x3000));
	/* The parts of folded functions are one. */
	PLACED("wrapper 0 1110+20", "", PART(WRAPPER, 0x1110, 0x10, 0x1100),
	       PART(WRAPPER, 0x1110, 0x10, 0x1100), PART(WRAPPER, 0x1120, 0x10, 0x1100));
	/* Guards nest. */
	PLACED("", "in 0 100+10; in 0 110+10; in 1 110+10; in 0 120+10; in 0 200+8",
	       IN(1, 0x110, 0x10), IN(0, 0x100, 0x30), IN(0, 0x200, 8));
	/* The larger one is the outer one, whatever their order. */
	PLACED("", "in 1 100+10; in 1 110+10; in 0 110+10; in 1 120+10", IN(0, 0x110, 0x10),
	       IN(1, 0x100, 0x30));
	/* One range, from two that follow one another. */
	PLACED("", "in 0 100+20; in 1 100+20; in 0 120+8", IN(0, 0x100, 0x10), IN(1, 0x100, 0x10),
	       IN(0, 0x110, 0x18), IN(1, 0x110, 0x10));
	/* Guards that are not sure are left out. */
	/* Its ends are not known, or it is none. */
	PLACED("", "", IN(2, 0x100, 0x10), IN(PLAN_NONE, 0x200, 0x10));
	/* One of the two runs, but which one is not shown. */
	PLACED("", "in 3 100+10; in 4 120+10", IN(3, 0x100, 0x20), IN(4, 0x110, 0x20));
	/* A range at the end of the addresses is placed. */
	PLACED("", "in 0 fffffffffffffff0+f", IN(0, UINT64_MAX - 15, 15));
}

TEST_MAIN(setup, teardown)
