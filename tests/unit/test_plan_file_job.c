// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/file_job.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "test.h"
#include "../fixtures/library_file.h"
#include "../fixtures/output.h"
#include "../fixtures/rows.h"
#include "base/diag.h"

#define NICE 7 /* a higher nice value needs no privilege */

enum what { GO_ON, DIE, HANG };

static enum what what;
static int deadly = SIGBUS;
static unsigned int most_deaths;
static volatile unsigned int *n_deaths; /* shared with the children */

/* The child calls it after it has closed our files. */
int setpriority(__priority_which_t which, id_t who, int prio)
{
	if (prio != NICE)
		_exit(EPERM);
	if (what == DIE && *n_deaths < most_deaths) {
		++*n_deaths;
		signal(deadly, SIG_DFL); /* not cmocka's */
		raise(deadly);
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

/* True: the kernel gives no other user id for files, as without CAP_SETUID. */
static bool refuses;

int setfsuid(uid_t uid)
{
	return (int)syscall(SYS_setfsuid, refuses ? (uid_t)-1 : uid);
}

/* True: the kernel has no seccomp. */
static bool refuses_sandbox;

int prctl(int option, ...)
{
	unsigned long args[4];
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		args[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_SECCOMP && refuses_sandbox) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_prctl, option, args[0], args[1], args[2], args[3]);
}

static struct library_file *library;
static char arg[] = "given";

/* The child's work. */
static int send_given(struct library_file *file, const void *given, struct file_writer *to)
{
	if (file != library || given != arg)
		return -EINVAL;
	return file_writer__write(to, given, sizeof(arg));
}

static struct file_job *start_with(file_job_fn *make)
{
	struct file_job *j = NULL;

	assert_int_equal(file_job__start(library, NULL, make, arg, NICE, &j), 0);
	assert_ptr_equal(file_job__file(j), library);
	return j;
}

static struct file_job *start(void)
{
	return start_with(send_given);
}

/* `part` is in the reason. */
static void assert_fails(struct file_job *j, int err, const char *part)
{
	const uint8_t *bytes = NULL;
	size_t len;

	assert_int_equal(file_job__finish(j, &bytes, &len), err);
	assert_null(bytes);
	assert_contains(file_job__why(j), part);
}

static void assert_start_fails(file_job_fn *make, int err, const char *part)
{
	_file_job_ struct file_job *j = start_with(make);

	assert_fails(j, err, part);
}

static void assert_given(struct file_job *j)
{
	const uint8_t *bytes;
	size_t len;

	assert_int_equal(file_job__finish(j, &bytes, &len), 0);
	assert_int_equal(len, sizeof(arg));
	assert_string_equal((const char *)bytes, arg);
	assert_string_equal(file_job__why(j), "");
}

static int setup(void **state)
{
	what = GO_ON;
	*n_deaths = 0;
	most_deaths = UINT_MAX;
	file_job_most_ns = 120000000000;
	/* On a busy machine a child may take long to exit. */
	file_job_end_ns = 60000000000;
	stands_still = false;
	stood_still_s = 0;
	return 0;
}

static int open_library(void **state)
{
	library = make_library_file();
	n_deaths = mmap(NULL, sizeof(*n_deaths), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	return n_deaths == MAP_FAILED;
}

static int close_library(void **state)
{
	library_file__free(library);
	return 0;
}

TEST_CASE_WITH(it_has_what_the_child_sends, setup, NULL)
{
	_file_job_ struct file_job *j = start();

	assert_given(j);
}

static int fail_with_line(struct library_file *file, const void *given, struct file_writer *to)
{
	file_writer__write(to, given, sizeof(arg));
	return diag_error_r(-ENOTSUP, "no such thing");
}

static int fail_without_line(struct library_file *file, const void *given, struct file_writer *to)
{
	return -ENODATA;
}

TEST_CASE_WITH(an_error_is_the_one_of_the_child, setup, NULL)
{
	assert_start_fails(fail_with_line, -ENOTSUP, "no such thing");
	assert_start_fails(fail_without_line, -ENODATA, strerror(ENODATA));
}

/* A probe link that is closed here must disappear while the child still runs. */
TEST_CASE_WITH(it_holds_none_of_our_files, setup, NULL)
{
	_file_job_ struct file_job *j = NULL;
	char byte;
	int fds[2];

	what = HANG;
	assert_int_equal(pipe(fds), 0);
	j = start();
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
}

TEST_CASE_WITH(one_can_wait_for_it_with_poll, setup, NULL)
{
	_file_job_ struct file_job *j = start();
	int ready;

	while (!(ready = file_job__read(j))) {
		struct pollfd pfd = {.fd = file_job__fd(j), .events = POLLIN};

		assert_int_equal(poll(&pfd, 1, -1), 1);
	}
	assert_int_equal(ready, 1);
	assert_given(j);
}

TEST_CASE_WITH(a_child_that_dies_is_an_error_and_not_our_end, setup, NULL)
{
	what = DIE;
	deadly = SIGBUS;
	assert_start_fails(send_given, -EIO, "ended with signal 7");
	assert_int_equal(*n_deaths, 1);
	deadly = SIGXCPU;
	assert_start_fails(send_given, -EIO, "it takes more than 60 s of CPU time");
	assert_int_equal(*n_deaths, 2);
}

/* It was not the child's fault. */
TEST_CASE_WITH(one_that_is_killed_is_replaced, setup, NULL)
{
	_file_job_ struct file_job *j = NULL;

	what = DIE;
	deadly = SIGKILL;
	most_deaths = 2;
	j = start();
	assert_given(j);
	assert_int_equal(*n_deaths, 2);
	*n_deaths = 0;
	most_deaths = UINT_MAX;
	assert_start_fails(send_given, -EIO, "its reader was ended 3 times, by signal 9");
	assert_int_equal(*n_deaths, 3);
}

TEST_CASE_WITH(one_that_takes_too_long_is_ended, setup, NULL)
{
	_file_job_ struct file_job *j = NULL;

	what = HANG;
	file_job_most_ns = 1000000;
	j = start();
	assert_fails(j, -ETIME, "it took too long");
	assert_int_equal(file_job__read(j), -ETIME);
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

/* The sandbox has tests of its own. 4 is right. */
static int fail_with_rights(struct library_file *file, const void *given, struct file_writer *to)
{
	return can_open() ? -1 : !kill(getppid(), 0) ? -2 : fcntl(2, F_GETFD) != -1 ? -3 : -4;
}

TEST_CASE_WITH(the_child_is_in_a_sandbox, setup, NULL)
{
	assert_true(can_open());
	assert_start_fails(fail_with_rights, -4, "cannot read");
}

TEST_CASE_WITH(without_a_sandbox_nothing_is_read, setup, NULL)
{
	refuses_sandbox = true;
	assert_start_fails(send_given, -EINVAL, "CONFIG_SECCOMP_FILTER");
	refuses_sandbox = false;
}

#define OWNER 12345

/* Facts that a prepare function finds. */
struct found {
	bool ran;
	uid_t uid;
	gid_t gid;
	int n_groups;
	int death_signal;
	bool has_rights;
};

static void look(struct library_file *file, void *given)
{
	struct found *f = given;

	f->ran = true;
	f->uid = (uid_t)setfsuid(-1);
	f->gid = (gid_t)setfsgid(-1);
	f->n_groups = getgroups(0, NULL);
	prctl(PR_GET_PDEATHSIG, &f->death_signal);
	f->has_rights = has_rights();
}

static int send_found(struct library_file *file, const void *given, struct file_writer *to)
{
	return file_writer__write(to, given, sizeof(struct found));
}

/* Of a library that belongs to `owner`, which takes root. */
static struct found prepared(uid_t owner)
{
	_library_file_ struct library_file *file = NULL;
	_file_job_ struct file_job *j = NULL;
	struct found found = {};
	const uint8_t *bytes;
	size_t len;

	assert_int_equal(fchown(library_file__fd(library), owner, (gid_t)-1), 0);
	assert_int_equal(library_file__reopen(library, &file), 0);
	assert_int_equal(file_job__start(file, look, send_found, &found, NICE, &j), 0);
	assert_int_equal(file_job__finish(j, &bytes, &len), 0);
	assert_int_equal(len, sizeof(found));
	memcpy(&found, bytes, sizeof(found));
	return found;
}

TEST_CASE_WITH(other_files_are_opened_as_the_owner, setup, NULL)
{
	const gid_t group = 4;
	struct found found;

	if (geteuid())
		skip();
	assert_int_equal(setgroups(1, &group), 0);
	found = prepared(OWNER);
	assert_true(found.ran);
	assert_pairs(found.uid, OWNER, found.gid, 65534, found.n_groups, 0);
	/* Opening may hang, and the child must not outlive us then. */
	assert_int_equal(found.death_signal, SIGKILL);
}

TEST_CASE_WITH(no_other_file_is_opened_with_the_rights_of_root, setup, NULL)
{
	if (geteuid())
		skip();
	refuses = true;
	assert_false(prepared(OWNER).ran);
	refuses = false;
}

TEST_CASE_WITH(without_root_other_files_are_opened_without_capabilities, setup, NULL)
{
	pid_t child;
	int status;

	assert_true(geteuid() || !fchown(library_file__fd(library), OWNER, (gid_t)-1));
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		bool user = geteuid() || (!setgroups(0, NULL) && !setresgid(OWNER, OWNER, OWNER) &&
					  !setresuid(OWNER, OWNER, OWNER));
		struct found found = prepared(geteuid());

		_exit(!user || !found.ran || found.has_rights);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int send_for_ever(struct library_file *file, const void *given, struct file_writer *to)
{
	static char bytes[65536];

	while (!file_writer__write(to, bytes, sizeof(bytes)))
		;
	return 0;
}

TEST_CASE_WITH(the_child_may_send_only_so_much, setup, NULL)
{
	assert_start_fails(send_for_ever, -EFBIG, "cannot read");
}

TEST_CASE_WITH(one_that_is_given_up_leaves_no_child, setup, NULL)
{
	struct file_job *j;

	what = HANG;
	j = start();
	assert_int_equal(file_job__read(j), 0);
	file_job__free(j);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	file_job__free(NULL);
}

static int close_pipe_and_exit_later(struct library_file *file, const void *given,
				     struct file_writer *to)
{
	close(to->fd);
	while (!*may_exit)
		usleep(1000);
	_exit(4);
}

TEST_CASE_WITH(its_exit_is_waited_for_though_the_machine_stood_still, setup, NULL)
{
	_file_job_ struct file_job *j = NULL;

	may_exit = mmap(NULL, sizeof(*may_exit), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	assert_ptr_not_equal(may_exit, MAP_FAILED);
	j = start_with(close_pipe_and_exit_later);
	stands_still = true;
	assert_fails(j, -4, "cannot read");
	stands_still = false;
	munmap((void *)may_exit, sizeof(*may_exit));
}

TEST_MAIN(open_library, close_library)
