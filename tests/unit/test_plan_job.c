// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/job.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"
#include "plan/mine/hits.h"

#define NICE 7 /* a higher nice value needs no privilege */

enum what { BUILD, DIE, HANG };

static enum what what;

/* The child calls it after it has closed our files. */
int setpriority(__priority_which_t which, id_t who, int prio)
{
	if (prio != NICE)
		_exit(EPERM);
	if (what == DIE) {
		signal(SIGBUS, SIG_DFL); /* not cmocka's */
		raise(SIGBUS);
	}
	while (what == HANG)
		pause();
	return (int)syscall(SYS_setpriority, which, who, prio);
}

/* True: the machine stands still for an hour in each pause; the child exits in the second one. */
static bool stands_still;
static time_t stood_still_s;
static volatile bool *may_exit; /* shared with the child */

int nanosleep(const struct timespec *pause, struct timespec *left)
{
	if (stands_still) {
		*may_exit = stood_still_s > 0;
		stood_still_s += 3600;
	}
	return (int)syscall(SYS_nanosleep, pause, left);
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int err = (int)syscall(SYS_clock_gettime, id, ts);

	ts->tv_sec += stood_still_s;
	return err;
}

static unsigned int n_stored;
static void (*at_build)(void);

/* The child calls it after it has dropped its privileges. */
int prctl(int option, ...)
{
	unsigned long args[4];
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		args[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_PDEATHSIG && at_build)
		at_build();
	return (int)syscall(SYS_prctl, option, args[0], args[1], args[2], args[3]);
}

/* Replace those of the program. */
int plan_cache__load(const struct library_identity *id, bool *by_root, struct plan **out)
{
	return -ENOENT;
}

int plan_cache__store(const struct library_identity *id, const struct plan *plan)
{
	n_stored++;
	return 0;
}

static struct library_file *library;

static struct plan_job *start(void)
{
	struct plan_job *j = NULL;

	assert_int_equal(plan_job__start(library, NICE, &j), 0);
	return j;
}

/* The job fails. `part`, unless NULL, is in its error line. */
static void assert_fails(struct plan_job *j, int err, const char *part)
{
	struct plan *plan = NULL;
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, plan_job__finish(j, &plan)), err);
	assert_null(plan);
	if (part)
		assert_contains(o.text[1], part);
}

static void assert_start_fails(int err, const char *part)
{
	_plan_job_ struct plan_job *j = start();

	assert_fails(j, err, part);
}

static int setup(void **state)
{
	what = BUILD;
	at_build = NULL;
	n_stored = 0;
	plan_job_most_ns = 120000000000;
	/* On a busy machine a child may take long to exit. */
	plan_job_end_ns = 60000000000;
	stands_still = false;
	stood_still_s = 0;
	return 0;
}

static int open_library(void **state)
{
	return fixture_dir_setup(state) || library_file__open(fixture("driver_v0.so"), &library);
}

static int close_library(void **state)
{
	library_file__free(library);
	return fixture_dir_teardown(state);
}

static void a_plan_comes_as_if_it_were_made_here(void **state)
{
	_plan_ struct plan *here = NULL, *there = NULL;
	_plan_job_ struct plan_job *j = start();

	assert_int_equal(plan__build(library, &here), 0);
	assert_int_equal(plan_job__finish(j, &there), 0);
	assert_string_equal(there->path, here->path);
	assert_int_equal(there->n_sites, here->n_sites);
	assert_memory_equal(there->build_id, here->build_id, sizeof(here->build_id));
	assert_int_equal(there->code_crc, here->code_crc);
}

/* A probe link that is closed here must disappear while the child still runs. */
static void it_holds_none_of_our_files(void **state)
{
	_plan_job_ struct plan_job *j = NULL;
	char byte;
	int fds[2];

	what = HANG;
	assert_int_equal(pipe(fds), 0);
	j = start();
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
}

static void one_can_wait_for_it_with_poll(void **state)
{
	_plan_job_ struct plan_job *j = start();
	_plan_ struct plan *plan = NULL;
	int ready;

	while (!(ready = plan_job__read(j))) {
		struct pollfd pfd = {.fd = plan_job__fd(j), .events = POLLIN};

		assert_int_equal(poll(&pfd, 1, -1), 1);
	}
	assert_int_equal(ready, 1);
	assert_int_equal(plan_job__finish(j, &plan), 0);
}

static void an_error_is_the_one_of_plan_load(void **state)
{
	_plan_job_ struct plan_job *j = NULL;
	_library_file_ struct library_file *other = NULL;

	assert_int_equal(library_file__open(fixture("bodies.so"), &other), 0);
	assert_int_equal(plan_job__start(other, NICE, &j), 0);
	assert_fails(j, -ENOTSUP, "bodies.so");
}

static void a_child_that_dies_is_an_error_and_not_our_end(void **state)
{
	what = DIE;
	assert_start_fails(-EIO, "ended with signal 7");
}

/* Only the parent writes the store, after it has proven the plan. */
static void the_parent_stores_the_plan(void **state)
{
	_plan_job_ struct plan_job *j = start();
	_plan_ struct plan *plan = NULL;

	assert_int_equal(n_stored, 0);
	assert_int_equal(plan_job__finish(j, &plan), 0);
	assert_int_equal(n_stored, 1);
}

static void the_hits_come_with_the_plan(void **state)
{
	_plan_job_ struct plan_job *j = NULL;
	_plan_ struct plan *plan = NULL;

	assert_int_equal(plan_job__start_hits(library, NULL, NICE, &j), 0);
	assert_int_equal(plan_job__finish(j, &plan), 0);
	assert_true(plan->n_sites > 0);
	assert_int_equal(n_stored, 1);
	assert_non_null(plan->hits);
	assert_int_equal(plan->hits->n, 0);
}

static void only_the_hits_of_a_plan_that_is_there_are_looked_for(void **state)
{
	_library_file_ struct library_file *file = NULL;
	struct plan *stored = calloc(1, sizeof(*stored));
	_plan_hits_ struct plan_hits *here = NULL;
	_plan_job_ struct plan_job *j = NULL;
	_plan_ struct plan *plan = NULL;

	assert_int_equal(library_file__open(fixture("hits.so"), &file), 0);
	assert_int_equal(plan_hits__find(file, &here), 0);
	assert_true(here->n > 0);
	assert_int_equal(plan_job__start_hits(file, stored, NICE, &j), 0);
	assert_int_equal(plan_job__finish(j, &plan), 0);
	assert_ptr_equal(plan, stored);
	assert_int_equal(n_stored, 0);
	assert_int_equal(plan->hits->n + plan->hits->n_unproven, here->n);
	assert_int_equal(plan->hits->filter, here->filter);
	assert_true(plan->hits->n > 0);
}

/* The child has only one pipe. */
static int own_pipe(void)
{
	struct stat st;
	int fd = 3;

	while (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
		fd++;
	return fd;
}

/* A malicious file may take over the child, which can then send anything. */
static void send_a_length_that_lies(void)
{
	uint64_t plan_bytes = UINT64_MAX;

	if (write(own_pipe(), &plan_bytes, sizeof(plan_bytes)) != sizeof(plan_bytes))
		_exit(EIO);
	_exit(0);
}

static void data_from_a_child_process_is_checked(void **state)
{
	_plan_job_ struct plan_job *j = NULL;

	at_build = send_a_length_that_lies;
	assert_int_equal(plan_job__start_hits(library, NULL, NICE, &j), 0);
	assert_fails(j, -EBADMSG, "driver_v0.so");
}

static void one_that_takes_too_long_is_ended(void **state)
{
	_plan_job_ struct plan_job *j = NULL;

	what = HANG;
	plan_job_most_ns = 1000000;
	j = start();
	assert_fails(j, -ETIME, "it took too long");
	assert_int_equal(plan_job__read(j), -ETIME);
}

static bool can_open(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool has_rights(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	return syscall(SYS_capget, &header, data) || data[0].permitted || data[1].permitted ||
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

/* The exit status is the result: 4 is right. */
static void exit_with_rights(void)
{
	_exit(can_open() ? 1 : has_rights() ? 2 : !geteuid() ? 3 : 4);
}

static void the_child_can_open_nothing(void **state)
{
	assert_true(can_open());
	at_build = exit_with_rights;
	assert_start_fails(-4, NULL);
}

static void send_for_ever(void)
{
	static char bytes[65536];

	while (write(own_pipe(), bytes, sizeof(bytes)) >= 0)
		;
	_exit(0);
}

static void the_child_may_send_only_so_much(void **state)
{
	at_build = send_for_ever;
	assert_start_fails(-EFBIG, NULL);
}

static void one_that_is_given_up_leaves_no_child(void **state)
{
	struct plan_job *j;

	what = HANG;
	j = start();
	assert_int_equal(plan_job__read(j), 0);
	plan_job__free(j);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	plan_job__free(NULL);
}

static void close_pipe_and_exit_later(void)
{
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
	while (!*may_exit)
		usleep(1000);
	_exit(4);
}

static void its_exit_is_waited_for_though_the_machine_stood_still(void **state)
{
	_plan_job_ struct plan_job *j = NULL;

	may_exit = mmap(NULL, sizeof(*may_exit), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	assert_ptr_not_equal(may_exit, MAP_FAILED);
	at_build = close_pipe_and_exit_later;
	j = start();
	stands_still = true;
	assert_fails(j, -4, NULL);
	stands_still = false;
	munmap((void *)may_exit, sizeof(*may_exit));
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_plan_comes_as_if_it_were_made_here),
		TEST(it_holds_none_of_our_files),
		TEST(one_can_wait_for_it_with_poll),
		TEST(an_error_is_the_one_of_plan_load),
		TEST(a_child_that_dies_is_an_error_and_not_our_end),
		TEST(the_parent_stores_the_plan),
		TEST(the_hits_come_with_the_plan),
		TEST(only_the_hits_of_a_plan_that_is_there_are_looked_for),
		TEST(data_from_a_child_process_is_checked),
		TEST(one_that_takes_too_long_is_ended),
		TEST(the_child_can_open_nothing),
		TEST(the_child_may_send_only_so_much),
		TEST(one_that_is_given_up_leaves_no_child),
		TEST(its_exit_is_waited_for_though_the_machine_stood_still),
	};

	return cmocka_run_group_tests(tests, open_library, close_library);
}
