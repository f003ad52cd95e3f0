// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/plan.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"
#include "plan/symbols/elf_image.h"
#include "../fixtures/library.h"
#include "../fixtures/rows.h"

static struct plan *build(const char *name)
{
	struct plan *plan = NULL;

	assert_int_equal(built(fixture(name), &plan), 0);
	return plan;
}

static const struct plan_query *query(const struct plan *plan, const char *name)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (!strcmp(plan->queries[i].name, name))
			return &plan->queries[i];
	fail_msg("no query %s", name);
	return NULL;
}

/* The number of sites of a role and, unless NULL, a query. *last is the last one. */
static uint32_t sites(const struct plan *plan, enum wire_role role, const struct plan_query *q,
		      const struct plan_site **last)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *s = &plan->sites[i];

		if (s->role != role || (q && s->query != (uint32_t)(q - plan->queries)))
			continue;
		*last = s;
		n++;
	}
	return n;
}

static void assert_complete(const struct plan *plan, const char *name, enum wire_role role,
			    uint32_t n_start)
{
	const struct plan_query *q = query(plan, name);

	assert_int_equal(q->start_role, role);
	assert_int_equal(q->n_start, n_start);
	assert_true(q->start_exact);
	assert_true(q->end_exact);
	assert_true(q->has_id);
	assert_int_equal(q->n_end, 2);
	assert_false(plan->bodies[q->body_non_incr].incremental);
	assert_true(plan->bodies[q->body_incr].incremental);
	assert_int_equal(plan->bodies[q->body_non_incr].group, plan->bodies[q->body_incr].group);
}

static void assert_order(const struct plan *plan)
{
	for (uint32_t i = 1; i < plan->n_queries; i++)
		assert_true(strcmp(plan->queries[i - 1].name, plan->queries[i].name) < 0);
	for (uint32_t i = 1; i < plan->n_sites; i++) {
		const struct plan_site *a = &plan->sites[i - 1], *b = a + 1;

		assert_true(a->role < b->role || (a->role == b->role && a->addr < b->addr));
	}
}

TEST_CASE(a_library_is_described)
{
	_plan_ struct plan *plan = build("driver_v0.so");

	assert_string_equal(plan->path, fixture("driver_v0.so"));
	assert_string_equal(plan->rustc_version, "rustc version 1.95.0 (fixture)");
	assert_string_equal(plan->mangling, "v0");
	assert_int_equal(plan->build_id_len, 20);
	assert_pairs(plan->mask_disp, 0x1ef50, plan->n_queries, 3, plan->n_bodies, 4);
	assert_order(plan);
}

TEST_CASE(every_query_is_seen_at_the_best_place)
{
	_plan_ struct plan *plan = build("driver_v0.so");
	const struct plan_site *site = NULL;

	/* alpha: in bodies of its own. */
	assert_complete(plan, "alpha", WIRE_ROLE_START_BODY, 2);
	assert_int_equal(sites(plan, WIRE_ROLE_START_BODY, query(plan, "alpha"), &site), 2);
	assert_int_equal(site->sp_delta, 0);
	/* beta: at its provider, after `sub $8, %rsp`: that and the return address are 16 bytes. */
	assert_complete(plan, "beta", WIRE_ROLE_START, 1);
	assert_int_equal(sites(plan, WIRE_ROLE_START, NULL, &site), 1);
	assert_int_equal(site->addr, query(plan, "beta")->provider + 4);
	assert_int_equal(site->sp_delta, 16);
	/* gamma: its provider is an indirect jump, so at its wrapper, or by its vtable. */
	assert_complete(plan, "gamma", WIRE_ROLE_WRAPPER, 2);
	assert_int_equal(sites(plan, WIRE_ROLE_WRAPPER, NULL, &site), 1);
	assert_int_equal(site->addr, query(plan, "gamma")->wrapper_non_incr);
	assert_int_equal(site->sp_delta, 0);
	assert_int_equal(sites(plan, WIRE_ROLE_IDENTIFY, NULL, &site), 1);
	assert_int_equal(site->body, query(plan, "gamma")->body_incr);
	assert_pairs(site->query, PLAN_NONE, site->reg, WIRE_REG_BX, site->vtable_offset, 0x1c0);
	assert_int_equal(sites(plan, WIRE_ROLE_CAUGHT, NULL, &site), 1);
}

TEST_CASE(every_wrapper_reports_its_caller)
{
	_plan_ struct plan *plan = build("driver_v0.so");
	const struct plan_site *site = NULL;

	assert_int_equal(plan__requests(plan), 5);
	for (uint32_t i = 0; i < plan->n_queries; i++)
		assert_int_equal(plan->queries[i].n_request, 2);
	assert_int_equal(sites(plan, WIRE_ROLE_REQUEST, query(plan, "alpha"), &site), 2);
	assert_int_equal(sites(plan, WIRE_ROLE_REQUEST, query(plan, "beta"), &site), 2);
	/* In the other mode, the probe at the wrapper reports both its start and its caller. */
	assert_int_equal(sites(plan, WIRE_ROLE_REQUEST, query(plan, "gamma"), &site), 1);
	assert_int_equal(site->addr, query(plan, "gamma")->wrapper_incr);
	assert_int_equal(site->slot, 0);
	/* The wrapper pushes once. The body has a return address, two pushes and 0x48 bytes. */
	assert_int_equal(site->sp_delta, -(8 + 8 + 16 + 0x48));
}

TEST_CASE(every_site_says_where_and_how)
{
	_plan_ struct plan *plan = build("driver_v0.so");
	_elf_image_ struct elf_image *img = NULL;
	const struct plan_site *site = NULL;

	assert_int_equal(image_of(plan->path, &img), 0);
	assert_int_equal(sites(plan, WIRE_ROLE_END, NULL, &site), 4);
	assert_int_equal(site->reg, WIRE_REG_DX);
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		uint64_t offset;

		assert_true(elf_image__offset(img, plan->sites[i].addr, &offset));
		assert_int_equal(plan->sites[i].offset, offset);
		assert_int_equal(plan->sites[i].cls, PLAN_EMULATED);
		if (plan->sites[i].role != WIRE_ROLE_REQUEST)
			assert_int_equal(plan->sites[i].slot, PLAN_NO_SLOT);
	}
}

TEST_CASE(bodies_of_one_query_are_one_group)
{
	_plan_ struct plan *plan = build("driver_v0.so");
	const struct plan_query *alpha = query(plan, "alpha"), *beta = query(plan, "beta"),
				*gamma = query(plan, "gamma");

	assert_int_equal(beta->body_non_incr, gamma->body_non_incr);
	assert_int_equal(beta->body_incr, gamma->body_incr);
	assert_int_not_equal(plan->bodies[alpha->body_incr].group,
			     plan->bodies[beta->body_incr].group);
	assert_int_equal(plan->bodies[alpha->body_incr].n_queries, 1);
	assert_int_equal(plan->bodies[beta->body_incr].n_queries, 2);
}

/* The twin that sorts first has no cold part of its own; both use the other one's. */
TEST_CASE(folded_bodies_are_mined_with_the_parts_of_all)
{
	_plan_ struct plan *plan = build("driver_v0.so");
	const struct plan_body *body = &plan->bodies[query(plan, "beta")->body_non_incr];

	assert_int_equal(body->n_symbols, 2);
	assert_null(body->problem);
	assert_int_equal(body->n_ends, 1);
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		assert_true(&plan->bodies[i] == body || plan->bodies[i].n_symbols == 1);
}

/* The parts of a kind, and of a query or body; *bytes that they take. */
static uint32_t frames(const struct plan *plan, enum plan_frame_kind kind, uint32_t of,
		       uint32_t *bytes)
{
	uint32_t n = 0;

	*bytes = 0;
	for (uint32_t i = 0; i < plan->n_frames; i++) {
		if (plan->frames[i].kind != kind || plan->frames[i].of != of)
			continue;
		n++;
		*bytes += plan->frames[i].size;
	}
	return n;
}

TEST_CASE(the_code_of_queries_is_known)
{
	_plan_ struct plan *plan = build("driver_v0.so");
	const struct plan_query *beta = query(plan, "beta");
	uint32_t i = (uint32_t)(beta - plan->queries), bytes;

	/* Without the prologue of 1 byte: call, pop and ret, in both modes. */
	assert_int_equal(frames(plan, PLAN_FRAME_WRAPPER, i, &bytes), 2);
	assert_int_equal(bytes, 2 * 7);
	assert_int_equal(frames(plan, PLAN_FRAME_PROVIDER, i, &bytes), 1);
	assert_int_equal(frames(plan, PLAN_FRAME_BODY, beta->body_incr, &bytes), 3);
	/*
	 * From behind the branch to the cold side up to the branch at the end; and the ud2 of the
	 * cold part, where an overflow leads.
	 */
	assert_int_equal(frames(plan, PLAN_FRAME_RUNS, beta->body_incr, &bytes), 2);
	assert_int_equal(bytes, 0x37 + 2);
	assert_true(beta->stays);
	assert_false(query(plan, "gamma")->stays);
	assert_int_equal(plan->n_guard_frames, 0);
}

/* One address cannot name two queries. */
TEST_CASE(folded_providers_name_no_query)
{
	_plan_ struct plan *plan = build("driver_folded.so");
	const struct plan_query *delta = query(plan, "delta"), *epsilon = query(plan, "epsilon"),
				*gamma = query(plan, "gamma");
	const struct plan_site *site = NULL;

	assert_pairs(delta->provider, epsilon->provider, delta->start_role, 0, epsilon->start_role,
		     0);
	assert_false(delta->start_exact || epsilon->start_exact);
	assert_true(delta->end_exact && epsilon->end_exact);
	assert_complete(plan, "alpha", WIRE_ROLE_START_BODY, 2);
	assert_complete(plan, "beta", WIRE_ROLE_START, 1);
	/*
	 * An end in gamma's bodies may belong to these queries, so a start at gamma's wrapper is
	 * not enough. Its provider starts with an instruction that the kernel does not emulate.
	 */
	assert_int_equal(gamma->start_role, 0);
	assert_false(gamma->start_exact);
	assert_int_equal(sites(plan, WIRE_ROLE_START, gamma, &site), 0);
	assert_int_equal(sites(plan, WIRE_ROLE_WRAPPER, NULL, &site), 0);
}

TEST_CASE(a_library_shows_where_names_are)
{
	_plan_ struct plan *plan = build("driver_names.so");
	const struct plan_site *site = NULL;

	assert_null(plan->layout.problem);
	assert_int_equal(plan->layout.wire.table, 0x1f560);
	assert_int_equal(plan->layout.wire.tags[1], 15);
	assert_int_equal(sites(plan, WIRE_ROLE_DROP, NULL, &site), 1);
	assert_pairs(site->addr, plan->layout.wire.drop, site->cls, PLAN_EMULATED, site->query,
		     PLAN_NONE, site->body, PLAN_NONE, site->guard, PLAN_NONE);
	assert_order(plan);
}

TEST_CASE(without_names_there_is_a_reason)
{
	_plan_ struct plan *plan = build("driver_v0.so");
	const struct plan_site *site = NULL;

	assert_string_equal(plan->layout.problem, "there is no TyCtxt::def_path_table");
	assert_int_equal(plan->layout.wire.size, 0);
	assert_int_equal(sites(plan, WIRE_ROLE_DROP, NULL, &site), 0);
}

TEST_CASE(older_names_are_read)
{
	_plan_ struct plan *plan = build("driver_legacy.so");
	const struct plan_query *beta = query(plan, "beta");

	assert_string_equal(plan->mangling, "legacy");
	assert_string_equal(plan->rustc_version, "rustc version 1.72.0 (fixture)");
	assert_pairs(plan->mask_disp, 0x1e000, plan->n_queries, 3, plan->n_bodies, 4);
	/* Names of bodies do not contain the mode, nor names of cold calls the kind. */
	assert_complete(plan, "alpha", WIRE_ROLE_START_BODY, 2);
	/* Names of providers do not contain the query. */
	assert_int_equal(beta->provider, 0);
	assert_int_equal(beta->start_role, 0);
	assert_false(beta->start_exact);
	assert_true(beta->end_exact);
	assert_order(plan);
}

TEST_CASE(a_file_without_a_build_id_has_an_identity)
{
	_plan_ struct plan *plan = build("driver_v0_no_id.so");

	assert_int_equal(plan->build_id_len, PLAN_BUILD_ID_MAX);
}

/* Refused with one error line that contains `cause` and `more`. */
static void assert_refused(const char *path, int err, const char *cause, const char *more)
{
	struct plan *plan = NULL;
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, built(path, &plan)), err);
	assert_null(plan);
	assert_string_equal(o.text[0], "");
	assert_contains(o.text[1], "error: ");
	assert_contains(o.text[1], path);
	assert_contains(o.text[1], cause);
	assert_contains(o.text[1], more);
	assert_one_line(o.text[1]);
}

TEST_CASE(a_failed_plan_reports_its_reason)
{
	assert_refused(fixture("driver_stripped.so"), -ENODATA, "no symbol table", "rustup");
	assert_refused(fixture("parts_stripped.so"), -ENODATA, "is no library of a compiler",
		       "librustc_driver");
	assert_refused(fixture("bodies.so"), -ENOTSUP, "no rustc queries", "get_query_");
	assert_refused(fixture("nothing.so"), -ENOENT, "cannot open", "");
	assert_refused("/", -ENOEXEC, "not a regular file", "");
}

/* Early: no step of a plan takes a time that grows faster than the file. */
TEST_CASE(symbols_that_say_too_much_are_refused)
{
	static const char *const names[] = {"hostile_queries.so", "hostile_bodies.so",
					    "hostile_code.so"};

	for (size_t i = 0; i < N_OF(names); i++)
		assert_refused(fixture(names[i]), -EFBIG, "not those of a compiler", "queries");
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
