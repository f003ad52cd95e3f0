// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * This file defines fakes of the processes, the kernel half and the libraries. The linker prefers
 * them to the real functions.
 */
#include "capture/running.h"

#include <unistd.h>

#include "proc/processes.h"
#include "proc/programs.h"

#include "test.h"
#include "../fixtures/library_file.h"

#define PIDS 16
#define OURS 15

struct process {
	bool runs;
	bool listed_late;   /* only from the second listing on */
	bool ends_followed; /* it ends as soon as it is followed */
	pid_t parent;
	int look_err; /* of broker__library() */
	int n_late;   /* looks without an answer in time, before look_err */
	int n_looks;
	const char *name;
	bool in_scope;
	bool followed;
};

static struct {
	struct process all[PIDS];
	int add_err, need_err;
	unsigned int n_late; /* of the sink */
	unsigned int n_lists, n_adds, n_missing, n_running;
	unsigned int n_compilers; /* of running__follow() */
	unsigned int n_sampled;
} world;

/* ---- Fakes ----------------------------------------------------------------------------------- */

pid_t getpid(void)
{
	return OURS;
}

static int list(struct process_list *out)
{
	bool first = !world.n_lists++;
	size_t n = 0;

	out->pids = calloc(PIDS, sizeof(*out->pids));
	assert_non_null(out->pids);
	for (pid_t pid = 1; pid < PIDS; pid++)
		if (world.all[pid].runs && !(first && world.all[pid].listed_late))
			out->pids[n++] = pid;
	out->n = n;
	return 0;
}

int process_list__all(struct process_list *out)
{
	return list(out);
}

int process_list__descendants(pid_t root, struct process_list *out)
{
	assert_int_equal(root, 1);
	return list(out);
}

void process_list__clear(struct process_list *l)
{
	free(l->pids);
}

bool process_is_running(pid_t pid)
{
	return world.all[pid].runs;
}

pid_t process_parent(pid_t pid)
{
	return world.all[pid].parent;
}

uid_t process_uid(pid_t pid)
{
	return 1000;
}

char *process_executable(pid_t pid)
{
	return NULL;
}

char *process_cwd(pid_t pid)
{
	return NULL;
}

void process_name(pid_t pid, char *buf, size_t size)
{
	snprintf(buf, size, "%s", world.all[pid].name ?: "sh");
}

bool kernel__follows(const struct kernel *k, pid_t pid)
{
	return world.all[pid].followed;
}

int kernel__follow(struct kernel *k, pid_t pid)
{
	world.all[pid].followed = true;
	if (world.all[pid].ends_followed)
		world.all[pid].runs = false;
	return 0;
}

void kernel__unfollow(struct kernel *k, pid_t pid)
{
	world.all[pid].followed = false;
}

int libraries__add(struct libraries *l, const struct library_file *file, uid_t user)
{
	world.n_adds++;
	return world.add_err;
}

int libraries__need(struct libraries *l, const struct library_file *file, uint32_t parts)
{
	return world.need_err;
}

int broker__library(struct broker *l, pid_t pid, struct library_file **file,
		    struct broker_range *loader)
{
	world.all[pid].n_looks++;
	if (world.all[pid].n_late && world.all[pid].n_late-- > 0)
		return -ETIME;
	if (!world.all[pid].look_err)
		*file = make_library_file();
	return world.all[pid].look_err;
}

int broker__library_beside(struct broker *l, pid_t pid, const char *exe, struct library_file **file)
{
	return -ENOENT;
}

int broker__arguments(struct broker *l, pid_t pid, struct arguments *out)
{
	*out = (struct arguments){.bytes = calloc(1, 1), .size = 1};
	return 0;
}

bool scope__holds(const struct scope *s, pid_t pid)
{
	return world.all[pid].in_scope;
}

void arrivals__add_missing(struct arrivals *all, uint32_t n)
{
	world.n_missing += n;
}

int sampling__expect_running(struct sampling *s, pid_t pid)
{
	assert_true(world.all[pid].followed && !world.all[pid].look_err);
	world.n_sampled++;
	return 0;
}

/* ---- The session ----------------------------------------------------------------------------- */

static int on_record(void *ctx, const struct record *r)
{
	const struct arguments *args = r->running.args;

	if (r->kind == RECORD_CWD)
		return 0;
	assert_true(world.all[r->pid].followed);
	if (r->kind == RECORD_RUNNING) {
		assert_true(r->running.now_ns && args->bytes && args->size);
		world.n_running++;
		return 0;
	}
	assert_int_equal(r->kind, RECORD_LATE);
	assert_true(world.n_running);
	world.n_late++;
	return 0;
}

static void before_follow(void *ctx)
{
}

static const struct session_sink sink = {.take = on_record};
static const struct running running = {.sink = &sink, .before_follow = before_follow};

static int begin(void **state)
{
	memset(&world, 0, sizeof(world));
	for (pid_t pid = 1; pid < PIDS; pid++)
		world.all[pid] = (struct process){.parent = 1, .look_err = -ENOENT};
	world.all[1].runs = true;
	return 0;
}

static int follow(void)
{
	return running__follow(&running, 1, &world.n_compilers);
}

static void compiler(pid_t pid)
{
	world.all[pid].runs = world.all[pid].in_scope = true;
	world.all[pid].look_err = 0;
	world.all[pid].name = "rustc";
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST_CASE_WITH(a_build_tool_and_its_compilers_are_followed, begin, NULL)
{
	compiler(2);
	world.all[3].runs = true;
	assert_int_equal(follow(), 0);
	assert_int_equal(world.n_compilers, 1);
	assert_int_equal(world.n_running, 3);
	assert_true(world.all[1].followed && world.all[2].followed && world.all[3].followed);
	assert_int_equal(world.n_sampled, 1);
	assert_int_equal(world.n_missing, 0);
}

TEST_CASE_WITH(the_children_of_a_compiler_run_no_queries, begin, NULL)
{
	compiler(1);
	world.all[2].runs = true;
	assert_int_equal(follow(), 0);
	assert_int_equal(world.n_compilers, 1);
	assert_false(world.all[2].followed);
}

TEST_CASE_WITH(a_child_forked_after_the_list_was_made_is_found, begin, NULL)
{
	compiler(2);
	world.all[2].listed_late = true;
	assert_int_equal(follow(), 0);
	assert_int_equal(world.n_compilers, 1);
	assert_true(world.n_lists >= 2);
}

TEST_CASE_WITH(neither_we_nor_our_children_are_followed, begin, NULL)
{
	world.all[OURS].runs = true;
	compiler(2);
	world.all[2].parent = OURS;
	assert_int_equal(follow(), 0);
	assert_false(world.all[OURS].followed || world.all[2].followed);
	assert_int_equal(world.n_running, 1);
}

TEST_CASE_WITH(a_process_that_was_asked_for_must_be_readable, begin, NULL)
{
	world.all[1].look_err = -EACCES;
	assert_int_equal(follow(), -EACCES);
	assert_false(world.all[1].followed);
}

/* A process that was only found is looked at once, because others wait meanwhile. */
TEST_CASE_WITH(a_process_that_was_asked_for_is_looked_at_again, begin, NULL)
{
	compiler(1);
	world.all[1].n_late = BROKER_TRIES - 1;
	assert_int_equal(follow(), 0);
	assert_true(world.all[1].followed);
	assert_int_equal(world.all[1].n_looks, BROKER_TRIES);
	begin(state);
	world.all[1].look_err = -ETIME;
	assert_int_equal(follow(), -ETIME);
	assert_int_equal(world.all[1].n_looks, BROKER_TRIES);
}

/* Each process is followed all the same, because its children may be compilers. */
TEST_CASE_WITH(compilers_that_cannot_be_read_are_missing, begin, NULL)
{
	const int counted[] = {-EPERM, -ETIME, -BROKER_SERVED};
	for (int i = 0; i < 3; i++) {
		world.all[2 + i].runs = true;
		world.all[2 + i].look_err = counted[i];
	}
	/* This error does not show that the process is a compiler. */
	world.all[5].runs = true;
	world.all[5].look_err = -EACCES;
	assert_int_equal(follow(), 0);
	assert_int_equal(world.n_missing, 3);
	/* One that does not answer may be anything. */
	assert_int_equal(world.n_compilers, 2);
	assert_true(world.all[2].followed && world.all[5].followed);
}

TEST_CASE_WITH(a_library_that_cannot_be_attached_to, begin, NULL)
{
	compiler(2);
	world.add_err = -ENOEXEC;
	assert_int_equal(follow(), 0);
	assert_int_equal(world.n_missing, 1);
	assert_true(world.all[2].followed);
	begin(state);
	compiler(1);
	world.add_err = -ENOEXEC;
	assert_int_equal(follow(), -ENOEXEC);
	assert_false(world.all[1].followed);
}

/* All but what the part is for is recorded. */
TEST_CASE_WITH(without_a_part_that_it_needs_a_compiler_is_late, begin, NULL)
{
	for (pid_t pid = 1; pid < 3; pid++) {
		begin(state);
		compiler(pid);
		world.need_err = -ENOMEM;
		assert_int_equal(follow(), 0);
		assert_true(world.all[pid].followed);
		assert_int_equal(world.n_late, 1);
		assert_int_equal(world.n_missing, 0);
	}
	begin(state);
	compiler(1);
	world.need_err = -ESTALE;
	assert_int_equal(follow(), -ESTALE);
	assert_int_equal(world.n_late, 0);
}

TEST_CASE_WITH(a_signal_ends_the_set_up, begin, NULL)
{
	compiler(2);
	compiler(3);
	world.add_err = -EINTR;
	assert_int_equal(follow(), -EINTR);
	assert_int_equal(world.n_adds, 1);
	assert_int_equal(world.n_missing, 0);
}

/* The pid must not stay followed, because another process may get it. */
TEST_CASE_WITH(a_process_that_ends_is_not_followed, begin, NULL)
{
	compiler(2);
	world.all[2].ends_followed = true;
	assert_int_equal(follow(), 0);
	assert_false(world.all[2].followed);
	assert_int_equal(world.n_compilers, 0);
	world.all[1].followed = false;
	world.all[1].ends_followed = true;
	assert_int_equal(follow(), -ESRCH);
	assert_false(world.all[1].followed);
}

TEST_CASE_WITH(of_the_machine_only_compilers_in_the_scope_are_followed, begin, NULL)
{
	for (pid_t pid = 2; pid < 6; pid++)
		compiler(pid);
	world.all[3].in_scope = false;
	world.all[4].followed = true;
	/* The process blocks its readers, so only its name is known. */
	world.all[5].look_err = -ETIME;
	world.all[6] = world.all[5];
	world.all[6].name = "sh";
	assert_int_equal(running__follow_all(&running, NULL, &world.n_compilers), 0);
	assert_int_equal(world.n_compilers, 2);
	assert_true(world.all[2].followed && world.all[5].followed);
	assert_false(world.all[1].followed || world.all[3].followed || world.all[6].followed);
	assert_int_equal(world.n_missing, 1);
}

TEST_MAIN(NULL, NULL)
