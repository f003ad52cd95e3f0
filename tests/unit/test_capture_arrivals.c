// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/arrivals.h"

#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/fake_arrivals.h"
#include "../fixtures/library_file.h"

/* ---- The session ----------------------------------------------------------------------------- */

static int on_record(void *ctx, const struct record *r)
{
	world.n_execs += r->kind == WIRE_EXEC;
	world.n_forks += r->kind == WIRE_FORK;
	world.n_late += r->kind == RECORD_LATE;
	return 0;
}

static const struct session_sink sink = {.take = on_record};

/* Stands for a part that is present. Nothing reads it. */
static char part;

static int wake_fd;
static struct arrivals *all;
static pid_t in_ring; /* a process whose exec waits in the ring; 0: none does */

static int drain_ring(void *ctx);

static void begin(bool whole_machine, bool mappings)
{
	const struct arrivals_parts parts = {
		.mappings = mappings ? (struct mappings *)(void *)&part : NULL,
		.wake_fd = wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.drain = drain_ring,
	};

	memset(&world, 0, sizeof(world));
	world.file = make_library_file();
	world.dev = makedev(8, 1);
	world.pc = LOADER_START;
	assert_int_equal(arrivals__new(&parts, &sink, &all), 0);
	if (whole_machine)
		arrivals__set_scope(all, (struct scope *)(void *)&part);
	arrivals__set_started(all, 1);
}

static int end(void **state)
{
	arrivals__free(take_ptr(all));
	assert_int_equal(world.n_held, 0);
	library_file__free(take_ptr(world.file));
	close(wake_fd);
	return 0;
}

static void drain(void)
{
	assert_int_equal(arrivals__take(all), 0);
	assert_int_equal(arrivals__release(all), 0);
}

/* Take one mapping. */
static void arrive(pid_t pid, uint64_t time_ns)
{
	add_mapping(pid, time_ns);
	drain();
}

/* The library has a plan, and was attached to, or failed. */
static void plan_library(uint64_t attached_ns, int err)
{
	world.lib = (struct library_state){.planned = true, .attached_ns = attached_ns, .err = err};
}

static void assert_counts(uint32_t waiting, unsigned int late, uint32_t missing)
{
	assert_int_equal(arrivals__n(all), waiting);
	assert_int_equal(world.n_late, late);
	assert_int_equal(arrivals__missing(all), missing);
}

static struct wire_exec exec_of(pid_t pid, const char *last)
{
	struct wire_exec e = {
		.type = WIRE_EXEC, .pid = (wire_u32)pid, .comm = "rustc", .time_ns = 150};

	e.args_len = (wire_u32)snprintf(e.args, sizeof(e.args), "rustc%c%s", 0, last) + 1;
	return e;
}

/* The record of an exec is read; the looks after it are counted. */
static void read_exec(pid_t pid, const char *last)
{
	const struct wire_exec e = exec_of(pid, last);

	assert_int_equal(arrivals__on_exec(all, &e), 0);
	world.n_looks = 0;
}

static int drain_ring(void *ctx)
{
	const struct wire_exec e = exec_of(in_ring, "a.rs");

	return in_ring ? arrivals__on_exec(all, &e) : 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST_CASE_WITH(a_process_in_time_is_not_stopped, NULL, end)
{
	begin(false, true);
	world.known = true;
	plan_library(100, 0);
	world.followed[7] = true;
	read_exec(7, "a.rs");
	add_mapping(7, 200);
	add_mapping(8, 200); /* not followed */
	drain();
	assert_int_equal(world.n_stops, 0);
	assert_int_equal(world.n_looks, 1);
	assert_counts(0, 0, 0);
}

TEST_CASE_WITH(an_exec_that_waits_in_the_ring_is_read_first, NULL, end)
{
	begin(false, true);
	world.known = true;
	plan_library(100, 0);
	world.followed[7] = true;
	in_ring = 7;
	arrive(7, 200);
	in_ring = 0;
	assert_int_equal(world.n_stops, 0);
	assert_counts(0, 0, 0);
}

TEST_CASE_WITH(a_newcomer_is_stopped_and_followed, NULL, end)
{
	begin(true, true);
	world.attached_ns = 300;
	arrive(7, 200);
	assert_true(world.followed[7]);
	assert_int_equal(world.n_forks, 1);
	assert_int_equal(world.n_execs, 1);
	assert_counts(0, 0, 0);
}

/* It is stopped before it is looked at, as its loader does not take long. */
TEST_CASE_WITH(only_a_compiler_with_threads_waits_for_their_probes, NULL, end)
{
	begin(false, true);
	world.known = true;
	plan_library(100, 0);
	world.followed[7] = world.followed[8] = world.followed[9] = true;
	read_exec(7, "a.rs");
	arrive(7, 200);
	assert_int_equal(world.n_stops, 0);
	assert_int_equal(world.n_needed, 0);
	world.threads = true;
	read_exec(8, "-Zthreads=4");
	arrive(8, 300);
	assert_int_equal(world.n_stops, 1);
	assert_int_equal(world.holds_at_look, 1);
	assert_int_equal(world.n_needed, 1);
	read_exec(9, "-Zthreads=4");
	arrive(9, 500);
	assert_int_equal(world.n_stops, 1);
	assert_int_equal(world.n_needed, 1);
	assert_counts(0, 0, 0);
}

/* The record of its mapping is read after another compiler needed probes for threads. */
TEST_CASE_WITH(a_compiler_without_threads_needs_no_probes_for_them, NULL, end)
{
	begin(false, true);
	world.known = true;
	plan_library(100, 0);
	world.lib.part_ns[PLAN_PART_THREADS] = 400;
	world.followed[7] = true;
	read_exec(7, "a.rs");
	arrive(7, 200);
	assert_int_equal(world.n_stops, 0);
	assert_counts(0, 0, 0);
}

/* All but what threads wait for is recorded. */
TEST_CASE_WITH(without_their_probes_a_compiler_with_threads_is_late, NULL, end)
{
	begin(false, true);
	world.known = world.threads = true;
	world.part_err = -ENOMEM;
	plan_library(100, 0);
	world.followed[7] = true;
	arrive(7, 200);
	assert_counts(0, 1, 0);
}

/* Nothing follows it any more, and the records of its exec and its mapping come in any order. */
TEST_CASE_WITH(a_compiler_with_threads_that_is_gone_is_missing, NULL, end)
{
	for (int mapping_first = 0; mapping_first < 2; mapping_first++) {
		begin(false, true);
		world.known = world.gone = true;
		world.look_err = -ESRCH;
		plan_library(100, 0);
		if (mapping_first)
			arrive(7, 200);
		else
			read_exec(7, "-Zthreads=4");
		assert_counts(0, 0, 0);
		if (!mapping_first)
			arrive(7, 200);
		else
			read_exec(7, "-Zthreads=4");
		assert_counts(0, 0, 1);
		arrive(7, 210);
		assert_counts(0, 0, 1);
		if (!mapping_first)
			end(NULL);
	}
}

TEST_CASE_WITH(without_mappings_it_is_missing_as_well, NULL, end)
{
	begin(false, false);
	world.known = world.gone = true;
	world.look_err = -ESRCH;
	plan_library(100, 0);
	read_exec(7, "-Zthreads=4");
	assert_counts(0, 0, 1);
}

/* It ran when its exec was read. */
TEST_CASE_WITH(a_compiler_that_ends_before_its_mapping_is_read_is_missing, NULL, end)
{
	begin(false, true);
	world.known = world.followed[7] = true;
	plan_library(100, 0);
	read_exec(7, "-Zthreads=4");
	world.gone = true;
	world.followed[7] = false;
	world.look_err = -ESRCH;
	arrive(7, 200);
	assert_counts(0, 0, 1);
}

/* Nor is one whose mapping is of another process with its number. */
TEST_CASE_WITH(a_compiler_that_is_gone_and_was_in_time_is_not_missing, NULL, end)
{
	begin(false, true);
	world.known = world.gone = true;
	world.look_err = -ESRCH;
	plan_library(100, 0);
	add_mapping(8, 200);
	add_mapping(9, 140);
	drain();
	read_exec(8, "a.rs");
	read_exec(9, "-Zthreads=4");
	world.lib.part_ns[PLAN_PART_THREADS] = 180;
	arrive(7, 200);
	read_exec(7, "-Zthreads=4");
	assert_counts(0, 0, 0);
}

/* Its exec is still in the ring; the look shows what it needs. */
TEST_CASE_WITH(one_that_may_need_more_is_stopped_before_it_is_looked_at, NULL, end)
{
	begin(false, true);
	world.known = world.followed[7] = world.followed[8] = true;
	plan_library(100, 0);
	arrive(7, 200);
	assert_int_equal(world.n_stops, 1);
	assert_int_equal(world.holds_at_look, 1);
	assert_int_equal(world.n_needed, 0);
	read_exec(8, "a.rs");
	arrive(8, 200);
	assert_int_equal(world.n_stops, 1);
	assert_counts(0, 0, 0);
}

/* Of a command's recording, only one that a compile server runs for it. */
TEST_CASE_WITH(a_compile_servers_compiler_is_followed_for_its_client, NULL, end)
{
	begin(false, true);
	world.attached_ns = 300;
	world.served = 7;
	arrive(7, 200);
	arrive(8, 200);
	assert_true(world.followed[7] && !world.followed[8]);
	assert_int_equal(world.n_stops, 1);
	assert_int_equal(world.n_execs, 1);
	assert_counts(0, 0, 0);
}

/* It may be a short compile, which ends while its arguments are compared with those of clients. */
TEST_CASE_WITH(a_compiler_waits_while_it_is_compared_with_clients, NULL, end)
{
	begin(false, true);
	world.attached_ns = 300;
	world.has_client = true;
	world.served = 7;
	arrive(7, 200);
	assert_int_equal(world.stops_at_comparison, 1);
	assert_int_equal(world.n_stops, 1);
	assert_true(world.followed[7]);
	/* Nobody waits for this one: it runs on, and does not count as one that waited for probes.
	 */
	arrive(8, 200);
	assert_int_equal(world.stops_at_comparison, 2);
	assert_int_equal(world.n_stops, 2);
	assert_int_equal(world.n_held, 0);
	assert_false(world.followed[8]);
	world.has_client = false;
	arrive(9, 200);
	assert_int_equal(world.n_stops, 2);
}

/* A look may take longer than the loader. */
TEST_CASE_WITH(a_process_is_stopped_before_it_is_looked_at, NULL, end)
{
	begin(false, true);
	world.attached_ns = 300;
	world.followed[7] = true;
	arrive(7, 200);
	assert_int_equal(world.holds_at_look, 1);
	assert_int_equal(world.n_stops, 1);
}

/* The second mapping does not stop the process again. */
TEST_CASE_WITH(a_segment_mapped_during_the_attaching_makes_no_process_late, NULL, end)
{
	begin(true, true);
	world.attached_ns = 300;
	world.meanwhile = (struct mapping){7, 210};
	arrive(7, 200);
	drain();
	assert_int_equal(world.n_stops, 1);
	assert_counts(0, 0, 0);
}

/* The record of its exec may still be in the ring. */
TEST_CASE_WITH(a_process_that_arrives_during_the_attaching_waits_for_the_next_drain, NULL, end)
{
	begin(true, true);
	world.attached_ns = 300;
	world.meanwhile = (struct mapping){8, 210};
	arrive(7, 200);
	assert_true(world.followed[7] && !world.followed[8]);
	assert_int_equal(arrivals__n(all), 1);
	drain();
	assert_true(world.followed[7] && world.followed[8]);
	assert_counts(0, 0, 0);
}

TEST_CASE_WITH(a_process_that_is_stopped_waits_for_its_tables, NULL, end)
{
	begin(true, true);
	world.attached_ns = 300;
	world.no_tables = true;
	arrive(7, 200);
	assert_int_equal(world.n_sampled, 1);
	assert_int_equal(arrivals__n(all), 1);
	world.no_tables = false;
	drain();
	assert_true(world.followed[7]);
	assert_counts(0, 0, 0);
}

TEST_CASE_WITH(a_process_that_stops_outside_its_loader_is_late, NULL, end)
{
	begin(true, true);
	world.attached_ns = 300;
	world.pc = LOADER_END;
	arrive(7, 200);
	assert_true(world.followed[7]);
	assert_counts(0, 1, 0);
}

TEST_CASE_WITH(a_process_that_has_not_stopped_yet_waits, NULL, end)
{
	begin(true, true);
	world.attached_ns = 300;
	world.never_stop = true;
	arrive(7, 200);
	assert_int_equal(arrivals__n(all), 1);
	world.never_stop = false;
	drain();
	assert_counts(0, 0, 0);
}

TEST_CASE_WITH(one_that_runs_on_without_a_plan_is_missing_if_that_fails, NULL, end)
{
	begin(false, true);
	world.followed[7] = true;
	arrive(7, 200);
	assert_int_equal(arrivals__n(all), 1);
	assert_int_equal(arrivals__let_all_go(all), 0);
	assert_counts(0, 1, 0);
	plan_library(0, -ENOEXEC);
	drain();
	assert_int_equal(arrivals__missing(all), 1);
}

TEST_CASE_WITH(one_that_ends_before_its_plan_is_made_is_missing, NULL, end)
{
	begin(false, true);
	world.followed[7] = world.followed[8] = true;
	add_mapping(7, 200);
	arrive(8, 200);
	assert_int_equal(arrivals__let_all_go(all), 0);
	world.followed[7] = false;
	plan_library(300, 0);
	drain();
	assert_int_equal(arrivals__missing(all), 1);
}

/* Each segment of the library is a mapping. */
TEST_CASE_WITH(a_refused_process_counts_once, NULL, end)
{
	begin(false, true);
	world.known = true;
	plan_library(0, -EDQUOT);
	world.followed[7] = true;
	add_mapping(7, 200);
	arrive(7, 210);
	assert_counts(0, 0, 1);
}

TEST_CASE_WITH(a_closed_process_is_missing_unless_it_was_in_time, NULL, end)
{
	begin(false, true);
	world.known = true;
	plan_library(100, 0);
	world.followed[7] = world.followed[8] = true;
	world.look_err = -ESRCH;
	world.gone = true;
	arrive(7, 200);
	assert_int_equal(arrivals__missing(all), 0);
	arrive(8, 50);
	assert_int_equal(arrivals__missing(all), 1);
}

/* A record from before a look holds nothing new. */
TEST_CASE_WITH(a_process_is_looked_at_once_for_all_that_it_mapped, NULL, end)
{
	begin(true, true);
	world.look_err = -ENOENT;
	for (uint64_t time_ns = 200; time_ns < 205; time_ns++)
		add_mapping(7, time_ns);
	drain();
	assert_int_equal(world.n_looks, 1);
	assert_int_equal(world.n_stops, 1);
	assert_int_equal(arrivals__n(all) + arrivals__missing(all), 0);
	arrive(7, UINT64_MAX);
	assert_int_equal(world.n_looks, 2);
}

TEST_CASE_WITH(a_process_is_not_stopped_if_it_may_not_be_looked_at, NULL, end)
{
	begin(true, true);
	world.no_patience = true;
	world.look_err = -ETIME;
	arrive(7, 200);
	assert_int_equal(world.n_stops, 0);
	assert_int_equal(arrivals__missing(all), 1);
}

/* Btrfs is such a file system. Only the first compiler is stopped in vain. */
TEST_CASE_WITH(where_inodes_are_recorded_otherwise_a_look_comes_first, NULL, end)
{
	begin(false, true);
	world.known = world.other_inodes = true;
	plan_library(100, 0);
	for (pid_t pid = 7; pid < 10; pid++) {
		world.followed[pid] = true;
		arrive(pid, 200);
	}
	assert_int_equal(world.n_stops, 1);
	assert_int_equal(world.n_late + arrivals__missing(all), 0);
}

/* A library that failed proves nothing about the inodes of its file system. */
TEST_CASE_WITH(after_a_library_that_failed_others_are_stopped_first_all_the_same, NULL, end)
{
	begin(false, true);
	world.known = world.other_inodes = true;
	plan_library(0, -ENOEXEC);
	for (pid_t pid = 7; pid < 9; pid++) {
		world.followed[pid] = true;
		arrive(pid, 200);
	}
	assert_int_equal(world.n_stops, 2);
	assert_int_equal(arrivals__missing(all), 2);
}

/* An answer from before the write must not release a waiting process. */
TEST_CASE_WITH(a_library_that_is_detached_meanwhile_is_waited_for, NULL, end)
{
	begin(true, true);
	world.attached_ns = 300;
	world.detach_on_look = true;
	arrive(7, 200);
	assert_int_equal(arrivals__n(all), 1);
	world.detach_on_look = false;
	drain();
	assert_counts(0, 0, 0);
}

static void count_user(void *arg, pid_t pid, const struct library_file *file)
{
	assert_int_equal(pid, 0);
	assert_non_null(library_file__path(file));
	world.n_users++;
}

TEST_CASE_WITH(waiting_processes_use_their_library, NULL, end)
{
	begin(true, true);
	add_mapping(7, 200);
	arrive(8, 200);
	assert_int_equal(arrivals__n(all), 2);
	assert_int_equal(arrivals__each_user(all, count_user, NULL), 0);
	assert_int_equal(world.n_users, 2);
	assert_int_equal(arrivals__let_all_go(all), 0);
	assert_int_equal(arrivals__each_user(all, count_user, NULL), 0);
	assert_int_equal(world.n_users, 2);
}

TEST_CASE_WITH(without_mappings_a_compiler_is_late_and_runs, NULL, end)
{
	const struct wire_exec e = exec_of(7, "a.rs");

	begin(false, false);
	world.followed[7] = true;
	world.attached_ns = 300;
	assert_int_equal(arrivals__on_exec(all, &e), 0);
	drain();
	assert_int_equal(world.n_stops, 0);
	assert_counts(0, 1, 0);
}

TEST_CASE_WITH(to_be_asked_again_is_no_refusal, NULL, end)
{
	const struct wire_exec e = exec_of(7, "a.rs");

	begin(false, false);
	world.followed[7] = true;
	world.expect_err = -EAGAIN;
	assert_int_equal(arrivals__on_exec(all, &e), 0);
	drain();
	assert_counts(1, 0, 0);
	world.expect_err = 0;
	world.attached_ns = 300;
	drain();
	assert_counts(0, 1, 0);
}

TEST_MAIN(NULL, NULL)
