// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finding compilers where perf events do not report mappings. */
#include "base/array.h"
#include "capture/execs.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "capture.h"
#include "capture/broker.h"
#include "capture/mappings.h"
#include "capture/perf_refusal.h"

#define LIBRARY "librustc_driver-1.so"

/* A look with the process's current capabilities. */
static struct broker *new_look(void)
{
	static struct broker *l;

	broker__free(take_ptr(l));
	assert_int_equal(broker__new(&l), 0);
	return l;
}

static char dir[] = "/tmp/qprof-test-XXXXXX";

/* The loader must accept the library: this is a copy of libm. */
static int setup(void **state)
{
	char command[PATH_MAX + 64];
	void *libm = dlopen("libm.so.6", RTLD_LAZY);
	void *cos = libm ? dlsym(libm, "cos") : NULL;
	Dl_info info;

	if (!cos || !dladdr(cos, &info) || !mkdtemp(dir) || chdir(dir))
		return -1;
	snprintf(command, sizeof(command), "cp -L %s " LIBRARY, info.dli_fname);
	return system(command);
}

static int teardown(void **state)
{
	return unlink(LIBRARY) | rmdir(dir);
}

/* A process that executes `sleep`, with the library or without. */
static pid_t spawn(bool with_library, const char *seconds)
{
	pid_t pid = fork();

	if (!pid) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/" LIBRARY, dir);
		if (with_library)
			setenv("LD_PRELOAD", path, 1);
		execlp("sleep", "sleep", seconds, NULL);
		_exit(127);
	}
	return pid;
}

struct seen {
	pid_t pid; /* others are ignored */
	unsigned int n;
	uint64_t time_ns;
	char library[PATH_MAX];
};

static int on_library(void *ctx, pid_t pid, const struct mapped_library *library)
{
	struct seen *t = ctx;

	if (pid != t->pid)
		return 0;
	t->n++;
	t->time_ns = library->time_ns;
	snprintf(t->library, sizeof(t->library), "%s", library->path);
	return 0;
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static struct execs *open_execs(void)
{
	struct execs *e = NULL;

	assert_int_equal(execs__open(new_look(), &e), 0);
	return e;
}

static void read_after(struct execs *e, int wait_ms, struct seen *seen)
{
	struct pollfd fd = {.fd = execs__fd(e), .events = POLLIN};

	assert_true(poll(&fd, 1, wait_ms) >= 0);
	assert_int_equal(execs__read(e, on_library, seen), 0);
}

TEST_CASE(a_new_program_with_the_library_is_reported_once)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), until = before + UINT64_C(10000000000);
	_execs_ struct execs *e = NULL;
	struct seen seen = {0};

	need_capture();
	e = open_execs();
	seen.pid = spawn(true, "60");
	while (!seen.n && clock_ns(CLOCK_MONOTONIC) < until)
		read_after(e, 10000, &seen);
	assert_int_equal(seen.n, 1);
	assert_non_null(strstr(seen.library, "/" LIBRARY));
	assert_in_range(seen.time_ns, before, clock_ns(CLOCK_MONOTONIC));
	for (int i = 0; i < 5; i++)
		read_after(e, 20, &seen);
	assert_int_equal(seen.n, 1);
	end(seen.pid);
}

TEST_CASE(other_programs_are_not_reported)
{
	_execs_ struct execs *e = NULL;
	struct seen seen = {0};

	need_capture();
	e = open_execs();
	seen.pid = spawn(false, "60");
	for (int i = 0; i < 20; i++)
		read_after(e, 20, &seen);
	assert_int_equal(seen.n, 0);
	end(seen.pid);
}

/* The process lived long enough to be a compiler. */
TEST_CASE(one_that_was_gone_before_we_looked_is_lost)
{
	_execs_ struct execs *e = NULL;
	struct seen seen = {0};
	int status;

	need_capture();
	e = open_execs();
	seen.pid = spawn(true, "0.05");
	assert_int_equal(waitpid(seen.pid, &status, 0), seen.pid);
	assert_int_equal(execs__read(e, on_library, &seen), 0);
	assert_int_equal(seen.n, 0);
	assert_true(execs__lost(e) >= 1);
}

/*
 * As Debian's kernels do at level 3 of perf_event_paranoid. A filter cannot be removed, so only a
 * child may call this.
 */
static int refuse_perf_events(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {N_OF(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int what_is_missing(void)
{
	_mappings_ struct mappings *m = NULL;
	struct perf_refusal r;

	if (refuse_perf_events())
		return 1;
	if (mappings__try_rings() != -EACCES || mappings__open(new_look(), &m))
		return 2;
	if (mappings__refused(m) != -EACCES || mappings__fd(m) < 0)
		return 3;
	perf_refusal__find(mappings__refused(m), &r);
	return r.filtered ? 0 : 4;
}

TEST_CASE(refused_perf_events_are_replaced)
{
	_mappings_ struct mappings *m = NULL;
	struct perf_refusal r;
	int status;
	pid_t pid;

	need_capture();
	pid = fork();
	if (!pid)
		_exit(what_is_missing());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(mappings__open(new_look(), &m), 0);
	assert_int_equal(mappings__refused(m), 0);
	perf_refusal__find(-EACCES, &r);
	assert_false(r.filtered);
}

int main(void)
{
	/* On a busy machine the child of a look may take long to answer. */
	broker_ns = 60000000000;
	return test_cases__run(setup, teardown);
}
