// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sessions: followed processes, attached libraries, and late processes. The test toolchain consists
 * of the test program as bin/rustc and a fixture in lib/.
 */
#include "capture/session.h"

#include <dirent.h>
#include <errno.h>
#include <sys/prctl.h>

#include "capture.h"

#include "../fixtures/output.h"
#include "capture/broker.h"
#include "plan/file_job.h"

#define RING (1u << 20)

static char top[] = "/tmp/test_bpf_session.XXXXXX";
static char target[PATH_MAX];
static char good_library[PATH_MAX];

struct seen {
	unsigned int n_libraries, n_running, n_records, n_execs, n_late;
	uint32_t libs; /* a bit per number */
	bool refuses;  /* libraries */
	pid_t running[16];
	char args[16];
	pid_t late;
};

static int on_record(void *ctx, const struct record *r)
{
	const struct arguments *args = r->running.args;
	struct seen *seen = ctx;

	switch (r->kind) {
	case RECORD_LIBRARY:
		/* No library has 0, and our own has one while its probes measure the costs. */
		seen->n_libraries++;
		assert_in_range(r->lib, 1, seen->n_libraries + 1);
		assert_false(seen->libs & 1u << r->lib);
		seen->libs |= 1u << r->lib;
		assert_true(r->library.plan->n_sites > 0);
		return seen->refuses ? -ENOMEM : 0;
	case RECORD_RUNNING:
		assert_true(r->running.parent > 0 && r->running.now_ns > 0);
		seen->running[seen->n_running++] = (pid_t)r->pid;
		memcpy(seen->args, args->bytes,
		       args->size < sizeof(seen->args) ? args->size : sizeof(seen->args));
		return 0;
	case RECORD_LATE:
		assert_true(seen->n_execs > 0); /* the record of its exec comes first */
		seen->n_late++;
		seen->late = (pid_t)r->pid;
		return 0;
	case RECORD_WAITED:
	case RECORD_CWD:
		return 0;
	default:
		seen->n_records++;
		seen->n_execs += r->kind == WIRE_EXEC;
		return 0;
	}
}

static struct session *open_session(struct seen *seen)
{
	struct kernel_options opt = {.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING};
	const struct session_sink sink = {
		.ctx = seen,
		.take = on_record,
	};
	struct session *s = NULL;

	*seen = (struct seen){0};
	opt.attach = attach_as(&opt);
	assert_int_equal(session__open(&opt, &sink, &s), 0);
	return s;
}

/* ---- A toolchain in small ----------------------------------------------------------------------
 */

static void shell(const char *fmt, ...)
{
	char command[4 * PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	assert_int_equal(system(command), 0);
}

static int make_toolchain(void **state)
{
	ssize_t n = readlink("/proc/self/exe", target, sizeof(target) - 16);

	if (n <= 0 || !mkdtemp(top))
		return -1;
	target[n] = '\0';
	strcpy(strrchr(target, '/') + 1, "target");
	snprintf(good_library, sizeof(good_library), "%s/good/lib/librustc_driver-1.so", top);
	setenv("XDG_CACHE_HOME", top, 1);
	unsetenv("SUDO_UID");
	shell("cd %s && mkdir good good/bin good/lib bad bad/bin bad/lib", top);
	shell("cd %s && cp %s good/bin/rustc && cp %s good/bin/linker && cp %s bad/bin/rustc", top,
	      target, target, target);
	/* The loader maps this library, but it is not a compiler's. */
	shell("cp " FIXTURES "driver_v0.so %s/good/lib/librustc_driver-1.so", top);
	shell("cd %s && echo 'int x;' | cc -shared -s -x c -o bad/lib/librustc_driver-1.so -", top);
	return 0;
}

static int remove_toolchain(void **state)
{
	shell("rm -rf %s", top);
	return 0;
}

/* A process that runs `program` of the toolchain after one byte, and ends after another. */
struct child {
	pid_t pid;
	int to, from;
};

static struct child prepare(const char *toolchain, const char *program)
{
	struct child c;
	int in[2], out[2];
	char path[PATH_MAX], library[PATH_MAX], byte;

	snprintf(path, sizeof(path), "%s/%s/bin/%s", top, toolchain, program);
	snprintf(library, sizeof(library), "%s/%s/lib/librustc_driver-1.so", top, toolchain);
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	c.pid = fork();
	if (c.pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		/* Maps the library, like a compiler. */
		if (strcmp(program, "linker"))
			setenv("LD_PRELOAD", library, 1);
		if (read(STDIN_FILENO, &byte, 1) == 1)
			execl(path, "rustc", "/dev/null", ".", NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c.to = in[1];
	c.from = out[0];
	return c;
}

/* Let the child execute, and wait until it has. */
static void let_go(const struct child *c)
{
	char byte;

	assert_int_equal(write(c->to, "", 1), 1);
	assert_int_equal(read(c->from, &byte, 1), 1);
}

static void end(struct child *c)
{
	assert_int_equal(write(c->to, "", 1), 1);
	waitpid(c->pid, NULL, 0);
	close(c->to);
	close(c->from);
}

/* Drain until no process waits for its library. */
static void drain_while_held(struct session *s)
{
	do {
		struct pollfd pfd = {.fd = session__fd(s), .events = POLLIN};

		poll(&pfd, 1, 10);
		assert_int_equal(session__drain(s), 0);
	} while (session__waiting(s));
}

static void run_followed(struct session *s, const char *toolchain, const char *program)
{
	struct child c = prepare(toolchain, program);

	assert_int_equal(session__follow_new(s, c.pid), 0);
	session__start(s);
	let_go(&c);
	drain_while_held(s);
	end(&c);
	assert_int_equal(session__drain(s), 0);
}

/* ---- Tests -------------------------------------------------------------------------------------
 */

TEST_CASE(a_toolchain_that_is_first_seen_at_an_exec)
{
	_session_ struct session *s = NULL;
	struct seen seen;
	struct output o;
	struct child c, other;

	need_capture();
	s = open_session(&seen);
	c = prepare("good", "rustc");
	other = prepare("good", "rustc");
	assert_int_equal(session__follow_new(s, c.pid) | session__follow_new(s, other.pid), 0);
	session__start(s);
	let_go(&c);
	let_go(&other);
	output_begin(&o);
	drain_while_held(s);
	/* Another recording of the machine may hold a process in our place, which we then do not.
	 */
	for (int tries = 0; seen.n_late < 2 && tries < 6000; tries++)
		drain_while_held(s);
	output_end(&o);
	/* The second process needs no new library, but has begun before the probes, too. */
	assert_int_equal(seen.n_libraries, 1);
	assert_int_equal(session__libraries(s), 1);
	assert_int_equal(seen.n_late, 2);
	assert_true(seen.late == c.pid || seen.late == other.pid);
	assert_contains(o.text[1], "/good/lib/librustc_driver-1.so were there; its first queries "
				   "may be missing\n");
	output_free(&o);
	end(&c);
	end(&other);
	/* Later processes are in time. */
	run_followed(s, "good", "rustc");
	assert_int_equal(seen.n_execs, 3);
	assert_int_equal(seen.n_late, 2);
}

TEST_CASE(a_toolchain_that_is_known_is_in_time)
{
	_session_ struct session *s = NULL;
	struct seen seen;

	need_capture();
	s = open_session(&seen);
	assert_int_equal(session__add_library(s, good_library), 0);
	assert_int_equal(session__add_library(s, good_library), 0);
	assert_int_equal(seen.n_libraries, 1);
	run_followed(s, "good", "rustc");
	assert_int_equal(seen.n_execs, 1);
	assert_int_equal(seen.n_late, 0);
}

TEST_CASE(a_process_released_before_session_start_is_late)
{
	_session_ struct session *s = NULL;
	struct seen seen;
	struct output o;
	struct child c;

	need_capture();
	s = open_session(&seen);
	assert_int_equal(session__add_library(s, good_library), 0);
	c = prepare("good", "rustc");
	assert_int_equal(session__follow_new(s, c.pid), 0);
	let_go(&c);
	session__start(s);
	output_begin(&o);
	drain_while_held(s);
	output_end(&o);
	output_free(&o);
	assert_int_equal(seen.n_late, 1);
	assert_int_equal(seen.late, c.pid);
	end(&c);
}

/* Another program of the same directory: /usr/bin has many, next to a librustc_driver. */
TEST_CASE(other_programs_bring_in_no_library)
{
	_session_ struct session *s = NULL;
	struct seen seen;

	need_capture();
	s = open_session(&seen);
	run_followed(s, "good", "linker");
	assert_int_equal(seen.n_execs, 1);
	assert_int_equal(seen.n_libraries + seen.n_late, 0);
}

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

TEST_CASE(a_library_that_cannot_be_read_is_reported_once)
{
	uint64_t counters[WIRE_COUNTER_MAX];
	char path[PATH_MAX];
	_session_ struct session *s = NULL;
	struct seen seen;
	struct output o;

	need_capture();
	s = open_session(&seen);
	output_begin(&o);
	for (int i = 0; i < 3; i++)
		run_followed(s, "bad", "rustc");
	output_end(&o);
	assert_int_equal(seen.n_execs, 3);
	assert_int_equal(seen.n_libraries + seen.n_late, 0);
	assert_int_equal(session__libraries(s), 0);
	/* One line for the library, and one for each compiler without probes. */
	assert_int_equal(count(o.text[1], "error: "), 1);
	assert_int_equal(count(o.text[1], "bad/lib/librustc_driver-1.so, which cannot be attached "
					  "to: it is missing\n"),
			 3);
	assert_int_equal(count(o.text[1], "\n"), 4);
	assert_int_equal(session__counters(s, counters), 0);
	assert_int_equal(counters[WIRE_LOST_COMPILERS], 3);
	output_free(&o);
	/* Adding the library by its path fails, too. */
	snprintf(path, sizeof(path), "%s/bad/lib/librustc_driver-1.so", top);
	assert_int_equal(session__add_library(s, path), -ENODATA);
}

static pid_t sleeper_with_child(int *pipe_end)
{
	int pipes[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		assert_int_equal(write(pipes[1], "", 1), 1);
		for (;;)
			pause();
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[1]);
	*pipe_end = pipes[0];
	return pid;
}

static unsigned int links_of_ours(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;
	struct dirent *e;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		char to[64] = "";

		if (readlinkat(dirfd(dir), e->d_name, to, sizeof(to) - 1) > 0)
			n += strstr(to, "bpf_link") || strstr(to, "bpf-link");
	}
	closedir(dir);
	return n;
}

TEST_CASE(a_library_that_is_refused_has_no_probes)
{
	struct seen seen;
	_session_ struct session *s = NULL;
	unsigned int before;

	need_capture();
	if (!have_multi()) {
		print_message("skipped: perf events stay until the recording has ended\n");
		skip();
	}
	s = open_session(&seen);
	session__costs(s);
	before = links_of_ours();
	assert_true(before > 0);
	seen.refuses = true;
	assert_int_equal(session__add_library(s, good_library), -ENOMEM);
	assert_int_equal(seen.n_libraries, 1);
	/* The links are removed in the background; the number is free again after a second. */
	for (int i = 0; i < 500 && links_of_ours() != before; i++) {
		usleep(20000);
		session__drain(s);
	}
	assert_int_equal(links_of_ours(), before);
	assert_int_equal(session__libraries(s), 0);
}

TEST_CASE(a_running_tree_is_followed_and_forgotten)
{
	unsigned int compilers = 0;
	_session_ struct session *s = NULL;
	struct seen seen;
	pid_t pid;
	int alive;
	char byte;

	need_capture();
	s = open_session(&seen);
	pid = sleeper_with_child(&alive);
	assert_false(session__follows_any(s));
	assert_int_equal(session__follow_running(s, pid, &compilers), 0);
	assert_int_equal(compilers, 0);
	assert_int_equal(seen.n_running, 2);
	assert_int_equal(seen.running[0], pid);
	assert_true(session__follows_any(s));
	/* Following the tree again changes nothing. */
	assert_int_equal(session__follow_running(s, pid, &compilers), 0);
	assert_int_equal(seen.n_running, 2);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(read(alive, &byte, 1), 0); /* and its child */
	close(alive);
	assert_false(session__follows_any(s));
}

TEST_CASE(an_exited_process_is_not_followed)
{
	unsigned int compilers = 0;
	_session_ struct session *s = NULL;
	struct seen seen;
	siginfo_t info;
	pid_t pid;

	need_capture();
	s = open_session(&seen);
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	assert_int_equal(session__follow_running(s, pid, &compilers), -ESRCH);
	waitpid(pid, NULL, 0);
	assert_int_equal(session__follow_running(s, pid, &compilers), -ESRCH);
	assert_int_equal(seen.n_running, 0);
	assert_false(session__follows_any(s));
}

int main(void)
{
	/* On a busy machine the child of a look may take long to answer, and a planner to exit. */
	broker_ns = file_job_end_ns = 60000000000;
	return test_cases__run(make_toolchain, remove_toolchain);
}
