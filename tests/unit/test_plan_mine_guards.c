// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/guards.h"

#include "test.h"
#define LIBRARY "guards.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"

/* tests/fixtures/guards.s, assembled. Its symbols mark the sites. */
static struct plan *plan;

static int setup(void **state)
{
	_known_symbols_ struct known_symbols known = {NULL};
	struct code_decoder *decoder = NULL;
	struct frame_drafts frames = {0};
	int err;

	if (image_setup(state))
		return -1;
	plan = calloc(1, sizeof(*plan));
	if (!plan || code_decoder__new(img, &decoder))
		return -1;
	err = known_symbols__find(img, &known);
	err = err ?: guards_add(img, &known, decoder, plan, NULL, &frames);
	err = err ?: frames_place(plan, &frames);
	frame_drafts__clear(&frames);
	code_decoder__free(decoder);
	return err;
}

static int teardown(void **state)
{
	plan__free(plan);
	return image_teardown(state);
}

/* The guard that starts at a mark of its function. */
static const struct plan_guard *guard(const char *name, const char *mark)
{
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *s = &plan->sites[i];

		if (s->role == WIRE_ROLE_GUARD && !strcmp(plan->guards[s->guard].function, name) &&
		    !strcmp(mark_at(s->addr, name), mark))
			return &plan->guards[s->guard];
	}
	fail_msg("%s: nothing starts at %s", name, mark);
	return NULL;
}

/*
 * The guards of a function: "start kind label -> ends", each site by its mark, with the slot of a
 * label in memory, "?" for an unknown label, "!" behind a site that the kernel does not emulate,
 * and "so far" behind ends that are not all; then the problem.
 */
static void print_guards(const char *name, char *text, size_t size)
{
	static const char *const kinds[] = {"query", "", "blocked ", "load ", "hashing "};
	size_t len = 0;

	*text = '\0';
	for (uint32_t i = 0; i < plan->n_guards; i++) {
		const struct plan_guard *g = &plan->guards[i];
		const char *start = "nowhere";

		if (strcmp(g->function, name))
			continue;
		for (uint32_t k = 0; k < plan->n_sites; k++)
			if (plan->sites[k].role == WIRE_ROLE_GUARD && plan->sites[k].guard == i) {
				start = mark_at(plan->sites[k].addr, name);
				assert_int_equal(plan->sites[k].cls, PLAN_EMULATED);
			}
		len += (size_t)snprintf(text + len, size - len, "%s%s %s", len ? "; " : "", start,
					kinds[g->kind]);
		len += (size_t)(g->label_slot == PLAN_NO_SLOT
					? snprintf(text + len, size - len, "%s ->",
						   g->label_of_query ? "(query)" : g->label ?: "?")
					: snprintf(text + len, size - len, "[%#x] ->",
						   (unsigned int)g->label_slot));
		for (uint32_t k = 0; k < plan->n_sites; k++) {
			const struct plan_site *s = &plan->sites[k];

			if (s->role == WIRE_ROLE_GUARD_END &&
			    plan->guards[s->guard].scope == g->scope &&
			    plan->guards[s->guard].number == g->number)
				len += (size_t)snprintf(text + len, size - len, " %s%s",
							mark_at(s->addr, name),
							s->cls == PLAN_EMULATED ? "" : "!");
		}
		len += (size_t)snprintf(text + len, size - len, "%s%s%s", g->exact ? "" : " so far",
					g->problem ? ": " : "", g->problem ?: "");
	}
}

TEST_CASE(guards_have_their_labels_and_ends)
{
	static const struct {
		const char *function, *shown;
	} rows[] = {
		/* A constant label is read from the file, a computed one is in memory. */
		{"constant", "start alpha -> end"},
		{"captured", "start beta -> end"},
		{"sunk", "start alpha -> end"},
		{"computed", "start [0x30] -> end"},
		{"either", "start [0x30] -> end"},
		/* One that is nowhere is said so, and one that is no text is ignored. */
		{"nowhere", "start ? -> end: where its label is was not recognised"},
		{"unprintable", "start ? -> end: where its label is was not recognised"},
		{"astray", "start ? -> end: where its label is was not recognised"},
		/* A drop is an end. */
		{"dropped", "start alpha -> end"},
		{"distant", "start alpha -> end!"},
		/* Guards may nest, and share an end. */
		{"nested", "start alpha -> end; start2 beta -> end2"},
		{"shared", "start alpha -> end; start2 beta -> end"},
		/* An end that was optimised away is missed. */
		{"threaded",
		 "start alpha -> so far: a path returns without meeting the guard's end"},
		/* A call that does not return leads nowhere. */
		{"after_panic", "start alpha -> end"},
		/* Other kinds are known by their callees. */
		{"hashes", "start hashing ? -> end: not only bodies call the function: the result "
			   "may be another query's, which is fed, or no query's"},
		{"waits",
		 "start blocked ? -> end: it stands in a function that several queries share"},
		/* Nonsense is a problem. */
		{"switched", "start alpha -> so far: an indirect jump before the guard's end could "
			     "not be followed"},
		{"realigned", "start ? -> so far: where its guard is kept was not recognised"},
		{"tail",
		 "nowhere ? -> so far: the branch to the profiler's cold side was not recognised"},
		{"unasked",
		 "nowhere ? -> so far: the branch to the profiler's cold side was not recognised"},
		{"endless",
		 "nowhere ? -> so far: the branch to the profiler's cold side was not recognised"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[1024];

		print_guards(rows[i].function, text, sizeof(text));
		row_text(rows[i].function, text, rows[i].shown);
	}
	assert_int_equal(plan->n_artifacts, 1);
}

TEST_CASE(guards_are_numbered_in_scopes)
{
	const struct plan_guard *outer = guard("nested", "start"),
				*inner = guard("nested", "start2");

	assert_int_equal(outer->scope, inner->scope);
	assert_int_not_equal(outer->number, inner->number);
	/* Those with one end share a number. */
	assert_int_equal(guard("shared", "start")->number, guard("shared", "start2")->number);
	assert_int_not_equal(guard("constant", "start")->scope, guard("sunk", "start")->scope);
}

/* The guards that a mark lies within: "start", "start2" or both, of the function `name`. */
static void assert_within(const char *name, const char *mark, const char *want)
{
	char got[64] = "", full[64];
	uint64_t addr;

	snprintf(full, sizeof(full), "%s.%s", name, mark);
	addr = symbol(img, full)->addr;
	for (uint32_t i = 0; i < plan->n_guard_frames; i++) {
		const struct plan_frame *f = &plan->guard_frames[i];

		if (addr < f->addr || addr - f->addr >= f->size)
			continue;
		strcat(got, *got ? " " : "");
		strcat(got, &plan->guards[f->of] == guard(name, "start") ? "start" : "start2");
	}
	assert_string_equal(got, want);
}

TEST_CASE(the_code_within_a_guard_is_known)
{
	assert_within("nested", "start", "");
	assert_within("nested", "start2", "start");
	assert_within("nested", "end2", "start start2");
	assert_within("nested", "end", "start");
	/* Two share an end, and behind where they meet it may be either. */
	assert_within("shared", "end", "");
	/* Some way leads past its end. */
	assert_false(guard("threaded", "start")->exact);
	for (uint32_t i = 0; i < plan->n_guard_frames; i++)
		assert_true(plan->guards[plan->guard_frames[i].of].exact);
	assert_true(plan->n_guard_frames);
}

TEST_CASE(sites_are_in_order)
{
	for (uint32_t i = 1; i < plan->n_sites; i++) {
		const struct plan_site *a = &plan->sites[i - 1], *b = a + 1;

		assert_true(a->role < b->role || (a->role == b->role && a->addr < b->addr));
	}
}

TEST_MAIN(setup, teardown)
