// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/keys.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/rows.h"
#include "../fixtures/rows.h"

/* The small librustc_driver in tests/fixtures/keys.s. */
static struct plan *plan;

static int setup(void **state)
{
	return fixture_dir_setup(state) ?: built(fixture("keys.so"), &plan);
}

static int teardown(void **state)
{
	plan__free(plan);
	return fixture_dir_teardown(state);
}

static uint32_t query(const char *name)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (!strcmp(plan->queries[i].name, name))
			return i;
	fail_msg("no query %s", name);
	return PLAN_NONE;
}

/*
 * "type: role place": where sites of these roles have the key of a query, in the order of roles,
 * "?" for nowhere; "by address": the provider is given the key's address; and the number of sites.
 */
static void print_key(const char *name, char *text, size_t size)
{
	static const char *const types[] = {"?", "unit", "local", "def", "crate"};
	static const struct {
		enum wire_role role;
		const char *name;
	} roles[] = {{WIRE_ROLE_START, "start"},
		     {WIRE_ROLE_START_BODY, "body"},
		     {WIRE_ROLE_WRAPPER, "wrapper"},
		     {WIRE_ROLE_IDENTIFY, "identify"}};
	const uint32_t q = query(name);
	size_t len = (size_t)snprintf(text, size, "%s:", types[plan->queries[q].key]);

	for (size_t r = 0; r < N_OF(roles); r++)
		for (uint32_t i = 0; i < plan->n_sites; i++) {
			const struct plan_site *s = &plan->sites[i];
			char place[24] = "?";

			if (s->role != roles[r].role ||
			    (s->role == WIRE_ROLE_IDENTIFY ? s->body != plan->queries[q].body_incr
							   : s->query != q))
				continue;
			if (s->key_reg != WIRE_REG_NONE)
				snprintf(place, sizeof(place), "%s", plan_reg_name(s->key_reg));
			else if (s->key_slot != PLAN_NO_SLOT)
				snprintf(place, sizeof(place), "[%#x]", (unsigned int)s->key_slot);
			len += (size_t)snprintf(text + len, size - len, " %s %s", roles[r].name,
						place);
		}
	snprintf(text + len, size - len, "%s; %u of %u",
		 plan->queries[q].key_by_address ? " by address" : "", plan__key_sites(plan, q),
		 plan->queries[q].n_start);
}

TEST_CASE(keys_are_found_where_the_code_proves_them)
{
	static const struct {
		const char *query, *shown;
	} rows[] = {
		/* A key that names nothing has no place. */
		{"unit", "unit: body ? body ?; 0 of 2"},
		{"other", "?: body ? body ?; 0 of 2"},
		/* A provider is called with context and key. */
		{"good", "def: start rsi identify [0x38]; 1 of 1"},
		{"large", "local: start rdx; 1 of 1"},
		/* A closure is given the key's address, half of which is no index. */
		{"captured", "def: start rsi identify [0x38] by address; 1 of 1"},
		{"captured_alone", "def: start ? identify [0x38] by address; 0 of 1"},
		{"captured_only", "local: start ?; 0 of 1"},
		/* Code that contradicts is not believed. */
		{"contradicts", "def: start ? identify [0x38]; 0 of 1"},
		{"large_too", "local: start ?; 0 of 1"},
		{"dereferences", "def: start ? identify [0x38]; 0 of 1"},
		{"silent", "def: start ? identify [0x38]; 0 of 1"},
		{"wrong_wrapper", "def: wrapper ? identify [0x38]; 1 of 2"},
		{"wrong_body", "local: body ? body ?; 0 of 2"},
		/* A key that is overwritten before the site is unknown. */
		{"overwrites", "def: start ? identify [0x38]; 0 of 1"},
		{"forgetful", "crate: body ? body ?; 0 of 2"},
		/* A wrapper is called with a span too. The second one does not show its context;
		   the provider proves the size of the value. */
		{"tail", "def: wrapper rcx identify [0x38]; 2 of 2"},
		{"trusting", "def: wrapper rcx identify [0x38]; 2 of 2"},
		/* A body keeps the key. */
		{"own", "local: body [0x30] body [0x30]; 2 of 2"},
		/* Twins must agree on the type. */
		{"twins", "?: start ?; 0 of 1"},
		{"twins_too", "?: start ?; 0 of 1"},
		/* If twins differ in size the code decides. The last wrapper does not; its result
		   fits in a register if the body's does. */
		{"small", "def: start rsi; 1 of 1"},
		{"wide", "def: start rdx; 1 of 1"},
		{"unsaid", "def: wrapper rdx identify ?; 1 of 2"},
	};
	const struct plan_query *captured = &plan->queries[query("captured")];

	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[256];

		print_key(rows[i].query, text, sizeof(text));
		row_text(rows[i].query, text, rows[i].shown);
	}
	/* A definition at the address, index first. */
	assert_pairs(captured->memory.offset, 0, captured->memory.other, 0,
		     captured->memory.words[0], 0);
	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (!plan_site__is_start(&plan->sites[i]))
			assert_false(plan_site__has_key(&plan->sites[i]));
}

TEST_MAIN(setup, teardown)
