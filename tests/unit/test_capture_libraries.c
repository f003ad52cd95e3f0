// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/libraries.h"

#include <poll.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <signal.h>
#include <sys/wait.h>

#include "test.h"
#include "plan/file_job.h"
#include "proc/processes.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"
#include "../fixtures/attached_libraries.h"
#include "../fixtures/rows.h"

TEST_CASE_WITH(another_name_of_it_is_the_same_library, setup, teardown)
{
	struct library_state lib;

	assert_int_equal(chdir(fixture_dir), 0);
	assert_int_equal(link("driver_v0.so", "another-name.so"), 0);
	assert_int_equal(add(fixture("driver_v0.so")), 0);
	assert_int_equal(look(fixture("another-name.so"), &lib), 0);
	assert_int_equal(add(fixture("another-name.so")), 0);
	assert_int_equal(world.n, 1);
}

TEST_CASE_WITH(one_that_is_expected_is_attached_to_when_its_plan_is_there, setup, teardown)
{
	struct library_state lib;

	assert_int_equal(look(fixture("driver_v0.so"), &lib), -ENOENT);
	expect(fixture("driver_v0.so"));
	assert_int_equal(look(fixture("driver_v0.so"), &lib), 0);
	assert_false(lib.planned);
	assert_int_equal(world.n, 0);
	lib = settle(fixture("driver_v0.so"));
	assert_int_equal(lib.err, 0);
	assert_true(lib.attached_ns > 0);
	assert_int_equal(world.n, 1);
}

static int need(const char *path, uint32_t parts)
{
	_library_file_ struct library_file *file = NULL;

	assert_int_equal(library_file__open(path, &file), 0);
	return libraries__need(libs, file, parts);
}

#define THREADS	    PLAN_PART_BIT(PLAN_PART_THREADS)
#define INCREMENTAL PLAN_PART_BIT(PLAN_PART_INCREMENTAL)

TEST_CASE_WITH(optional_parts_are_attached_once_and_on_demand, setup, teardown)
{
	const char *path = fixture("driver_v0.so");
	struct library_state lib;

	assert_int_equal(need(path, PLAN_PARTS_OPTIONAL), 0);
	assert_false(libraries__lack(libs, PLAN_PARTS_OPTIONAL));
	expect(path);
	lib = settle(path);
	assert_int_equal(library_state__lacks(&lib, PLAN_PARTS_OPTIONAL, UINT64_MAX),
			 PLAN_PARTS_OPTIONAL);
	assert_int_equal(need(path, 0), 0);
	assert_int_equal(world.n_parts[PLAN_PART_THREADS], 0);
	assert_true(libraries__lack(libs, THREADS) && !libraries__lack(libs, 0));
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(need(path, THREADS), 0);
	assert_int_equal(world.n_parts[PLAN_PART_THREADS], 1);
	assert_int_equal(world.n_parts[PLAN_PART_INCREMENTAL], 0);
	assert_int_equal(look(path, &lib), 0);
	assert_true(lib.part_ns[PLAN_PART_THREADS] >= lib.attached_ns);
	assert_true(!libraries__lack(libs, THREADS) && libraries__lack(libs, INCREMENTAL));
	/* Those who mapped the library before do not have them. */
	assert_int_equal(library_state__lacks(&lib, THREADS, lib.part_ns[PLAN_PART_THREADS]),
			 THREADS);
	assert_int_equal(need(path, PLAN_PARTS_OPTIONAL), 0);
	assert_int_equal(world.n_parts[PLAN_PART_THREADS], 1);
	assert_int_equal(world.n_parts[PLAN_PART_INCREMENTAL], 1);
	assert_false(libraries__lack(libs, PLAN_PARTS_OPTIONAL));
}

TEST_CASE_WITH(a_part_that_failed_is_not_tried_again, setup, teardown)
{
	expect(fixture("driver_v0.so"));
	settle(fixture("driver_v0.so"));
	world.threads_err = -ENOMEM;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(need(fixture("driver_v0.so"), PLAN_PARTS_OPTIONAL), -ENOMEM);
	assert_int_equal(world.n_parts[PLAN_PART_THREADS], 1);
	assert_int_equal(world.n_parts[PLAN_PART_INCREMENTAL], 1);
	assert_true(libraries__lack(libs, THREADS) && !libraries__lack(libs, INCREMENTAL));
}

/* The caller does not wait for the search, whether the plan is new or stored. */
TEST_CASE_WITH(its_cache_hits_are_looked_for_in_the_background, setup, teardown)
{
	struct libraries_ops with_hits = ops;

	with_hits.hits = true;
	library_file_settled_ns = 0;
	for (unsigned int i = 0; i < 2; i++) {
		struct library_state lib;

		libraries__free(libs);
		world = (struct attached){};
		assert_int_equal(libraries__new(&with_hits, &world, 0, &libs), 0);
		expect(fixture("driver_v0.so"));
		assert_int_equal(look(fixture("driver_v0.so"), &lib), 0);
		assert_false(lib.planned);
		assert_int_equal(world.n, 0);
		lib = settle(fixture("driver_v0.so"));
		assert_pairs(lib.err, 0, world.n, 1, world.n_with_hits, 1);
	}
	library_file_settled_ns = 2000000000LL;
}

/* Another caller needs the library at once. */
TEST_CASE_WITH(one_that_is_expected_can_be_waited_for, setup, teardown)
{
	expect(fixture("driver_v0.so"));
	assert_int_equal(add(fixture("driver_v0.so")), 0);
	assert_int_equal(world.n, 1);
	libraries__settle(libs);
	assert_int_equal(world.n, 1);
}

TEST_CASE_WITH(one_that_failed_is_not_tried_again, setup, teardown)
{
	struct library_state lib;

	world.err = -EPERM;
	assert_int_equal(add(fixture("driver_v0.so")), -EPERM);
	assert_int_equal(add(fixture("driver_v0.so")), -EPERM);
	assert_int_equal(world.n, 1);
	/* Some probes may have been attached. */
	assert_int_equal(world.n_detached, 1);
	assert_int_equal(libraries__attached(libs), 0);
	assert_int_equal(look(fixture("driver_v0.so"), &lib), 0);
	assert_true(lib.planned);
	assert_int_equal(lib.err, -EPERM);
}

TEST_CASE_WITH(one_is_found_by_its_inode_numbers, setup, teardown)
{
	struct library_state lib = {0};
	struct stat st;

	assert_int_equal(stat(fixture("driver_v0.so"), &st), 0);
	assert_int_equal(libraries__look_inode(libs, st.st_dev, st.st_ino, &lib), -ENOENT);
	assert_int_equal(add(fixture("driver_v0.so")), 0);
	assert_int_equal(libraries__look_inode(libs, st.st_dev, st.st_ino, &lib), 0);
	assert_true(lib.planned);
	assert_true(lib.attached_ns);
	assert_int_equal(libraries__look_inode(libs, st.st_dev, st.st_ino + 1, &lib), -ENOENT);
	assert_int_equal(libraries__look_inode(libs, st.st_dev + 1, st.st_ino, &lib), -ENOENT);
	assert_int_equal(libraries__look_inode(libs, 0, 0, &lib), -ENOENT);
}

TEST_CASE_WITH(one_whose_plan_is_being_made_can_be_given_up, setup, teardown)
{
	expect(fixture("driver_v0.so"));
	libraries__free(take_ptr(libs));
	libraries__free(NULL);
	assert_int_equal(world.n, 0);
}

/* Wait until `n` libraries have been attached. */
static void settle_all(unsigned int n)
{
	struct pollfd pfd = {.fd = libraries__fd(libs), .events = POLLIN};

	while (world.n < n) {
		poll(&pfd, 1, 20);
		libraries__settle(libs);
	}
}

/* Change the code at a site through a mapping, and set the times back. */
static void write_in_secret(const char *path)
{
	_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	uint8_t *map;

	assert_int_equal(fstat(fd, &st), 0);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	map[site_offset] = 0xcc;
	munmap(map, (size_t)st.st_size);
	assert_int_equal(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
}

TEST_CASE_WITH(a_write_that_leaves_the_mtime_is_found, setup, teardown)
{
	struct output o;
	const char *path = copy("driver_v0.so", 0);

	assert_int_equal(add(path), 0);
	assert_int_equal(chmod(path, 0711), 0);
	libraries__settle(libs);
	assert_int_equal(world.n_detached, 0);
	write_in_secret(path);
	output_begin(&o);
	libraries__settle(libs);
	output_end(&o);
	output_free(&o);
	assert_int_equal(world.n_detached, 1);
}

TEST_CASE_WITH(one_that_is_written_to_is_detached_and_planned_anew, setup, teardown)
{
	struct library_state lib;
	struct output o;
	const char *path = copy("driver_v0.so", 0);

	assert_int_equal(add(path), 0);
	world.used_by_10 = path;
	output_begin(&o);
	copy("driver_legacy.so", 0);
	libraries__settle(libs);
	output_end(&o);
	assert_int_equal(world.n_detached, 1);
	assert_int_equal(world.last_detached, 0);
	assert_int_equal(libraries__attached(libs), 0);
	assert_int_equal(libraries__cut_off(libs), 1);
	assert_contains(o.text[1], "was written to while 1 compiler used it");
	assert_int_equal(look(path, &lib), -ENOENT);
	assert_int_equal(add(path), 0);
	assert_int_equal(world.n, 2);
	output_free(&o);
}

/* A look-up never returns a changed library, even before libraries__settle(). */
TEST_CASE_WITH(one_that_is_asked_for_has_not_changed, setup, teardown)
{
	struct library_state lib;
	struct output o;
	const char *path = copy("driver_v0.so", 0);

	assert_int_equal(add(path), 0);
	output_begin(&o);
	copy("driver_legacy.so", 0);
	assert_int_equal(look(path, &lib), -ENOENT);
	output_end(&o);
	assert_int_equal(world.n_detached, 1);
	assert_int_equal(libraries__cut_off(libs), 0);
	output_free(&o);
}

TEST_CASE_WITH(one_that_is_moved_or_deleted_stays, setup, teardown)
{
	_library_file_ struct library_file *file = NULL;
	struct library_state lib;
	char other[310];
	const char *path = copy("driver_v0.so", 0);

	snprintf(other, sizeof(other), "%s.other", path);
	file = open_file(path);
	assert_int_equal(libraries__add(libs, file, 0), 0);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(chmod(other, 0700), 0);
	libraries__settle(libs);
	assert_int_equal(look(other, &lib), 0);
	assert_int_equal(unlink(other), 0);
	libraries__settle(libs);
	assert_int_equal(libraries__look(libs, file, &lib), 0);
	assert_true(lib.planned && !lib.err);
	assert_int_equal(world.n, 1);
	assert_int_equal(world.n_detached, 0);
}

/* A plan may take a minute. */
TEST_CASE_WITH(a_signal_ends_the_wait_for_a_plan, setup, teardown)
{
	sigset_t term, before;
	int sig;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &term, &before), 0);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(add(copy("driver_v0.so", 0)), -EINTR);
	assert_int_equal(world.n, 0);
	assert_int_equal(sigwait(&term, &sig), 0);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	assert_int_equal(add(copy_path(0)), 0);
	assert_int_equal(world.n, 1);
}

/* The inode stays the same, but not its contents. */
TEST_CASE_WITH(one_that_failed_is_tried_again_when_it_has_changed, setup, teardown)
{
	struct library_state lib;
	struct output o;
	const char *path = copy("bodies.so", 0);

	output_begin(&o);
	assert_true(add(path) < 0);
	assert_true(add(path) < 0);
	output_end(&o);
	assert_non_null(strstr(o.text[1], "error"));
	assert_null(strstr(strstr(o.text[1], "error") + 1, "error"));
	copy("driver_v0.so", 0);
	assert_int_equal(look(path, &lib), -ENOENT);
	assert_int_equal(add(path), 0);
	assert_int_equal(world.n, 1);
	output_free(&o);
}

/* The pids of this process' children, as a text. */
static FILE *open_children(void)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	assert_non_null(f);
	return f;
}

static unsigned int children(void)
{
	_fclose_ FILE *f = open_children();
	unsigned int n = 0;
	int pid;

	while (fscanf(f, "%d", &pid) == 1)
		n++;
	return n;
}

TEST_CASE_WITH(few_are_planned_at_a_time, setup, teardown)
{
	struct pollfd pfd = {.fd = libraries__fd(libs), .events = POLLIN};

	for (int i = 0; i < 12; i++)
		assert_int_equal(expect(copy("driver_v0.so", i)), 0);
	assert_int_equal(children(), LIBRARIES_PLANNERS);
	while (world.n < 12) {
		poll(&pfd, 1, 20);
		libraries__settle(libs);
		assert_true(children() <= LIBRARIES_PLANNERS);
	}
}

/* As a toolchain that is installed again while its compilers run. */
TEST_CASE_WITH(a_copy_of_an_attached_one_needs_no_planner, setup, teardown)
{
	struct library_state lib;
	const char *path;
	int fd;

	assert_int_equal(add(copy("driver_v0.so", 0)), 0);
	path = copy("driver_v0.so", 1);
	assert_int_equal(expect(path), 0);
	assert_int_equal(look(path, &lib), 0);
	assert_int_equal(lib.err, 0);
	assert_true(lib.attached_ns);
	assert_int_equal(world.n, 2);
	/* The size is the same, and the code is not. */
	path = copy("driver_v0.so", 2);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, (uint8_t[]){0xcc}, 1, (off_t)site_offset), 1);
	close(fd);
	assert_int_equal(expect(path), 0);
	assert_int_equal(look(path, &lib), 0);
	assert_false(lib.planned);
}

#define ALICE 50001
#define BOB   50002

/* Make copy `number` of a library of this user. Skips the test if it may not change owners. */
static const char *copy_of(uid_t uid, int number)
{
	const char *path;

	if (geteuid())
		skip();
	path = copy("driver_v0.so", number);
	assert_int_equal(chown(path, uid, (gid_t)-1), 0);
	return path;
}

/*
 * Wait until all planners have exited, so that their speed does not decide which plan is taken
 * first. A plan of a fixture fits into its pipe, so no planner waits for a reader.
 */
static void wait_for_planners(void)
{
	_fclose_ FILE *f = open_children();
	int pid;

	while (fscanf(f, "%d", &pid) == 1)
		assert_int_equal(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
}

TEST_CASE_WITH(users_take_turns, setup, teardown)
{
	for (int i = 0; i < 6; i++)
		assert_int_equal(expect(copy_of(i < 5 ? ALICE : BOB, i)), 0);
	/* One of the two planners stays free for root and the invoker. */
	assert_int_equal(children(), 1);
	wait_for_planners();
	settle_all(6);
	assert_int_equal(world.owners[0], ALICE);
	assert_int_equal(world.owners[1], BOB);
}

/* True: each planner has taken as much CPU time as the machine has run. */
static bool takes_long;

int clock_getcpuclockid(pid_t pid, clockid_t *clock)
{
	(void)pid;
	*clock = takes_long ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
	return 0;
}

TEST_CASE_WITH(a_plan_that_takes_long_lets_others_go_first, setup, teardown)
{
	_fclose_ FILE *f = NULL;
	int planner;

	assert_int_equal(expect(copy_of(ALICE, 0)), 0);
	f = open_children();
	assert_int_equal(fscanf(f, "%d", &planner), 1);
	kill(planner, SIGSTOP);
	/* Her own do not count, and root has a planner. */
	takes_long = true;
	assert_int_equal(expect(copy_of(ALICE, 1)), 0);
	assert_int_equal(expect(copy_of(0, 2)), 0);
	assert_int_equal(kill(planner, 0), 0);
	assert_int_equal(expect(copy_of(BOB, 3)), 0);
	takes_long = false;
	settle_all(4);
	for (int i = 0; world.owners[i] != BOB; i++)
		assert_int_equal(world.owners[i], 0);
}

TEST_CASE_WITH(unused_ones_make_room, setup, teardown)
{
	for (int i = 0; i < 40; i++) {
		assert_int_equal(add(copy_of(ALICE, i)), 0);
		assert_true(libraries__attached(libs) <= LIBRARIES_PER_USER);
	}
	assert_true(world.n == 40 && world.n_detached >= 24);
	assert_true(world.n_released > 0);
}

TEST_CASE_WITH(a_user_has_no_more_than_a_few_in_use, setup, teardown)
{
	world.all_used = true;
	for (int i = 0; i < LIBRARIES_PER_USER; i++)
		assert_int_equal(add(copy_of(ALICE, i)), 0);
	assert_int_equal(expect_of(copy_of(ALICE, 20), ALICE), -EDQUOT);
	assert_int_equal(world.n_detached, 0);
	/* Other users still have room. */
	assert_int_equal(add(copy_of(BOB, 21)), 0);
	for (int i = 30; i < 50; i++)
		assert_int_equal(add(copy_of(0, i)), 0);
}

TEST_CASE_WITH(nothing_makes_room_while_a_process_cannot_be_looked_into, setup, teardown)
{
	int err = 0;

	world.closed = getpid();
	for (int i = 0; i <= LIBRARIES_PER_USER; i++) {
		err = expect_of(copy("driver_v0.so", i), ALICE);
		if (!err)
			settle_all((unsigned int)i + 1);
	}
	assert_int_equal(err, -EDQUOT);
	assert_int_equal(world.n_detached, 0);
}

static pid_t start_process_of(uid_t uid)
{
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(uid, uid, uid))
			_exit(1);
		pause();
		_exit(0);
	}
	/* The process exits if the user does not exist, as in some user namespaces. */
	while (pid > 0 && process_uid(pid) != uid) {
		if (waitpid(pid, NULL, WNOHANG))
			return -1;
		usleep(1000);
	}
	return pid;
}

TEST_CASE_WITH(a_process_that_cannot_be_looked_into_keeps_no_library_of_others, setup, teardown)
{
	int err = 0;

	if (geteuid())
		skip();
	world.closed = start_process_of(BOB);
	if (world.closed < 0)
		skip();
	for (int i = 0; i <= LIBRARIES_PER_USER && !err; i++) {
		err = expect_of(copy("driver_v0.so", i), ALICE);
		if (!err)
			settle_all((unsigned int)i + 1);
	}
	kill(world.closed, SIGKILL);
	waitpid(world.closed, NULL, 0);
	assert_int_equal(err, 0);
	assert_true(world.n_detached > 0);
}

/* Overlays over one directory have such files. */
TEST_CASE_WITH(views_of_one_inode_are_attached_to_once, setup, teardown)
{
	world.all_one_inode = true;
	assert_int_equal(add(copy("driver_v0.so", 0)), 0);
	for (int i = 1; i < 4; i++) {
		const char *path = copy_path(i);
		char command[700];

		snprintf(command, sizeof(command), "cp -p %s/copy0.so %s", fixture_dir, path);
		assert_int_equal(system(command), 0);
		assert_int_equal(chmod(path, 0644), 0);
		expect(path);
	}
	assert_int_equal(libraries__attached(libs) + world.n, 2);
}

/* The overlay copied the file: the probes may be on the inode of another library. */
TEST_CASE_WITH(one_that_is_copied_as_it_is_attached_to_is_planned_anew, setup, teardown)
{
	world.copied = true;
	assert_int_equal(add(copy("driver_v0.so", 0)), 0);
	assert_int_equal(world.n, 2);
	assert_int_equal(world.n_detached, 1);
	assert_int_equal(libraries__attached(libs), 1);
}

/* Root owns the library, but a process of Alice uses it. */
TEST_CASE_WITH(quotas_are_those_of_the_processes, setup, teardown)
{
	int err = 0;

	world.all_used = true;
	for (int i = 0; i <= LIBRARIES_PER_USER; i++)
		err = expect_of(copy("driver_v0.so", i), ALICE);
	assert_int_equal(err, -EDQUOT);
	assert_int_equal(expect(copy("driver_v0.so", 40)), 0);
}

int main(void)
{
	/* On a busy machine a planner may take long to exit. */
	file_job_end_ns = 60000000000;
	return test_cases__run(fixture_dir_setup, fixture_dir_teardown);
}
