// SPDX-License-Identifier: Apache-2.0 OR MIT
/* test_capture_libraries.c tests the effects of these decisions. */
#include "capture/library_table.h"

#include "test.h"
#include "qprof/wire.h"

#define ALICE 1000
#define BOB   1001
#define ROOT  0

static struct library *add(struct library_table *t, uid_t user, enum library_stage stage)
{
	const struct library new = {
		.stage = stage, .user = user, .foreign = user != ROOT, .watch = -1};
	struct library *lib = NULL;

	assert_int_equal(library_table__add(t, &new, &lib), 0);
	return lib;
}

TEST_CASE(a_foreign_user_has_a_quota_and_so_have_all)
{
	const struct library alice = {.user = ALICE, .foreign = true};
	const struct library bob = {.user = BOB, .foreign = true}, root = {.user = ROOT};
	struct library_table t = {0};

	for (int i = 0; i < LIBRARIES_PER_USER; i++) {
		assert_true(library_table__has_room(&t, &alice, 0));
		add(&t, ALICE, LIBRARY_ATTACHED);
	}
	add(&t, ALICE, LIBRARY_FAILED);
	assert_false(library_table__has_room(&t, &alice, 0));
	assert_true(library_table__has_room(&t, &bob, 0));
	/* All foreign users share 160 numbers. Old numbers that are not free yet count, too. */
	assert_true(library_table__has_room(&t, &bob, 159 - LIBRARIES_PER_USER));
	assert_false(library_table__has_room(&t, &bob, 160 - LIBRARIES_PER_USER));
	assert_true(library_table__has_room(&t, &root, 160));
	for (int i = 0; i < WIRE_MAX_LIBS - 2 - 160; i++) {
		assert_true(library_table__has_room(&t, &root, 0));
		add(&t, ROOT, LIBRARY_QUEUED);
	}
	assert_false(library_table__has_room(&t, &root, 0));
	library_table__destroy(&t);
}

TEST_CASE(users_take_turns)
{
	struct library *alice[3], *bob, *root[3];
	struct retired_numbers *old = NULL;
	struct library_table t = {0};

	assert_int_equal(retired_numbers__new(&old), 0);
	for (int i = 0; i < 3; i++)
		alice[i] = add(&t, ALICE, LIBRARY_QUEUED);
	bob = add(&t, BOB, LIBRARY_QUEUED);
	assert_ptr_equal(library_table__next(&t, old, 0), alice[0]);
	library_table__begin(&t, alice[0]);
	/* One planner for all foreign users, two in all. */
	assert_null(library_table__next(&t, old, 0));
	assert_ptr_equal(library_table__waited_for(&t, old, 0), alice[0]);
	bob->begin_ns = 1;
	assert_null(library_table__waited_for(&t, old, 0));
	bob->begin_ns = 0;
	library_table__requeue(&t, alice[0]);
	assert_null(library_table__waited_for(&t, old, 0));
	assert_ptr_equal(library_table__next(&t, old, 0), bob);
	library_table__begin(&t, bob);
	for (int i = 0; i < 3; i++)
		root[i] = add(&t, ROOT, LIBRARY_QUEUED);
	assert_ptr_equal(library_table__next(&t, old, 0), root[0]);
	library_table__begin(&t, root[0]);
	assert_null(library_table__next(&t, old, 0));
	library_table__remove(&t, root[0]);
	assert_ptr_equal(library_table__next(&t, old, 0), root[1]);
	library_table__remove(&t, bob);
	assert_ptr_equal(library_table__next(&t, old, 0), alice[1]);
	/* The one whose turn has ended comes last. */
	library_table__begin(&t, alice[1]);
	library_table__remove(&t, alice[1]);
	library_table__remove(&t, root[1]);
	library_table__remove(&t, root[2]);
	assert_ptr_equal(library_table__next(&t, old, 0), alice[2]);
	/* A library is not planned before its begin_ns. */
	alice[2]->begin_ns = 10;
	assert_ptr_equal(library_table__next(&t, old, 9), alice[0]);
	assert_ptr_equal(library_table__next(&t, old, 10), alice[2]);
	library_table__destroy(&t);
	retired_numbers__free(old);
}

TEST_CASE(the_one_unused_for_longest_makes_room)
{
	struct library *first, *second, *bobs;
	struct library_table t = {0};

	first = add(&t, ALICE, LIBRARY_ATTACHED);
	second = add(&t, ALICE, LIBRARY_ATTACHED);
	bobs = add(&t, BOB, LIBRARY_ATTACHED);
	first->used_ns = 3;
	second->used_ns = 2;
	bobs->used_ns = 1;
	/* While Alice has room, the library of another user goes. */
	assert_ptr_equal(library_table__idlest(&t, first), bobs);
	for (int i = 2; i < LIBRARIES_PER_USER; i++)
		add(&t, ALICE, LIBRARY_QUEUED);
	assert_ptr_equal(library_table__idlest(&t, first), second);
	second->in_use = true;
	assert_ptr_equal(library_table__idlest(&t, first), first);
	first->in_use = true;
	assert_null(library_table__idlest(&t, first));
	library_table__destroy(&t);
}

TEST_CASE(failures_are_remembered_up_to_a_number)
{
	struct library_table t = {0};
	struct library *lib = NULL, *newest;

	for (int i = 0; i < 32; i++) {
		lib = add(&t, ALICE, LIBRARY_FAILED);
		lib->used_ns = (uint64_t)(100 - i);
		assert_null(library_table__oldest_failed(&t, lib));
	}
	newest = add(&t, ALICE, LIBRARY_FAILED);
	assert_ptr_equal(library_table__oldest_failed(&t, newest), newest);
	newest->used_ns = 1000;
	assert_ptr_equal(library_table__oldest_failed(&t, newest), lib);
	assert_null(library_table__oldest_failed(&t, add(&t, BOB, LIBRARY_FAILED)));
	library_table__destroy(&t);
}

TEST_MAIN(NULL, NULL)
