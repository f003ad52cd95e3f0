// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/planned_late.h"

#include <unistd.h>

#include "test.h"
#include "../fixtures/library_file.h"
#include "../fixtures/rows.h"

/* The state of each library, and the compilers that were reported. */
struct world {
	const struct library_file *files[2];
	bool settled[2];
	int err[2];
	uint32_t n_missing, n_named;
	pid_t last_pid;
	pid_t ended;
	uid_t last_user;
	int last_err;
};

static bool is_settled(void *ctx, const struct library_file *file, int *err)
{
	struct world *w = ctx;
	const struct library_identity *id = library_file__identity(file);
	int i = !library_file__is_inode(w->files[0], id->dev, id->ino);

	*err = w->err[i];
	return w->settled[i];
}

static void missing(void *ctx, pid_t pid, uint32_t n, uid_t user, const struct library_file *file,
		    int err)
{
	struct world *w = ctx;

	assert_non_null(library_file__path(file));
	assert_true(pid ? n == 1 : n > 0);
	w->n_missing += n;
	w->n_named += !!pid;
	w->last_pid = pid;
	w->last_user = user;
	w->last_err = err;
}

static bool runs(void *ctx, pid_t pid)
{
	struct world *w = ctx;

	return pid != w->ended;
}

static const struct planned_late_ops ops = {is_settled, missing, runs};

TEST_CASE(a_plan_that_fails_makes_its_compilers_missing)
{
	_library_file_ struct library_file *bad = make_library_file(), *good = make_library_file();
	_planned_late_ struct planned_late *u = planned_late__new();
	struct world w = {.files = {bad, good}};

	assert_int_equal(planned_late__add(u, 7, 1000, bad), 0);
	assert_int_equal(planned_late__add(u, 7, 1000, bad), 0);
	assert_int_equal(planned_late__add(u, 8, 1001, bad), 0);
	assert_int_equal(planned_late__add(u, 9, 1000, good), 0);
	planned_late__settle(u, false, &ops, &w);
	assert_int_equal(w.n_missing, 0);
	w.settled[0] = w.settled[1] = true;
	w.err[0] = -ENOEXEC;
	planned_late__settle(u, false, &ops, &w);
	assert_int_equal(w.n_missing, 2);
	assert_pairs(w.last_pid, 8, w.last_user, 1001, w.last_err, -ENOEXEC);
	/* Both libraries are forgotten. */
	planned_late__settle(u, true, &ops, &w);
	assert_int_equal(w.n_missing, 2);
}

TEST_CASE(a_compiler_that_ended_before_the_plan_was_made_is_missing)
{
	_library_file_ struct library_file *file = make_library_file();
	_planned_late_ struct planned_late *u = planned_late__new();
	struct world w = {.files = {file}, .settled = {true}, .ended = 8};

	assert_int_equal(planned_late__add(u, 7, 1000, file), 0);
	assert_int_equal(planned_late__add(u, 8, 1000, file), 0);
	planned_late__settle(u, false, &ops, &w);
	assert_int_equal(w.n_missing, 1);
	assert_int_equal(w.last_pid, 8);
	assert_int_equal(w.last_err, -ESRCH);
}

TEST_CASE(a_compiler_without_a_plan_at_the_end_is_missing)
{
	_library_file_ struct library_file *file = make_library_file();
	_planned_late_ struct planned_late *u = planned_late__new();
	struct world w = {.files = {file}};

	assert_int_equal(planned_late__add(u, 7, 1000, file), 0);
	planned_late__settle(u, true, &ops, &w);
	assert_int_equal(w.n_missing, 1);
	assert_int_equal(w.last_err, -ECANCELED);
}

TEST_CASE(the_number_of_compilers_is_exact_beyond_those_remembered)
{
	_library_file_ struct library_file *file = make_library_file();
	_planned_late_ struct planned_late *u = planned_late__new();
	struct world w = {.files = {file}, .settled = {true}, .err = {-EIO}};

	for (pid_t pid = 1; pid <= 3 * PLANNED_LATE_PIDS; pid++)
		assert_int_equal(planned_late__add(u, pid, 1000, file), 0);
	planned_late__settle(u, false, &ops, &w);
	assert_int_equal(w.n_missing, 3 * PLANNED_LATE_PIDS);
	assert_int_equal(w.n_named, PLANNED_LATE_PIDS);
}

/* Each user has its own group, so many users of one file stand for many libraries. */
TEST_CASE(their_number_is_bounded)
{
	_library_file_ struct library_file *file = make_library_file();
	_planned_late_ struct planned_late *u = planned_late__new();

	for (uid_t user = 0; user < PLANNED_LATE_LIBRARIES; user++)
		assert_int_equal(planned_late__add(u, 7, user, file), 0);
	assert_int_equal(planned_late__add(u, 7, PLANNED_LATE_LIBRARIES, file), -ENOSPC);
	assert_int_equal(planned_late__add(u, 8, 0, file), 0);
}

TEST_MAIN(NULL, NULL)
