// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/file_job.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/epoll.h"
#include "base/rights.h"
#include "base/sandbox.h"

#define READ_BYTES 65536 /* the capacity of a pipe */
/* The plan of rustc 1.97 takes 600 kB, its cache hits 200 kB, the tables of LLVM's code 22 MB. */
#define MOST_SENT (64u << 20)
/* Bytes of the child's error line, which ends with zeroes. */
#define ERROR_LINE 1024
/* The first and the longest pause between checks whether a child has exited. */
#define FIRST_PAUSE_NS	 200000
#define LONGEST_PAUSE_NS 2000000
/* Children that were killed and have not ended yet. */
#define LEFT_MAX 64
/* Children that another process may end, one after another, before the job fails. */
#define TRIES_MAX 3

uint64_t file_job_most_ns = 120000000000;
uint64_t file_job_end_ns = 200000000;

struct file_job {
	pid_t pid; /* 0 once it was waited for */
	int fd;	   /* of the pipe */
	int epoll; /* of `fd`, which another child replaces */
	struct library_file *file;
	file_job_prepare_fn *prepare;
	file_job_fn *make;
	void *arg;
	int nice;
	unsigned int tries;
	int status; /* of the last child, */
	int err;    /* or why there is none; if `ended` */
	uint8_t *bytes;
	size_t len;
	size_t capacity;
	bool ended; /* the last child has */
	uint64_t deadline_ns;
	char why[ERROR_LINE];
};

/*
 * Killed children, which are waited for when the next child starts. Only one thread at a time has
 * jobs.
 */
static pid_t left[LEFT_MAX];
static unsigned int n_left;
static uint64_t ended_ns; /* CPU time of those that have ended */

/*
 * A probe's link lives as long as a process holds it. If the child held the links of the parent, a
 * link that the parent closes while the child runs would stay, and its probes would fire beside
 * those of the link that replaces it.
 */
static void close_all_but(unsigned int a, unsigned int b)
{
	unsigned int low = a < b ? a : b, high = a < b ? b : a, from = STDERR_FILENO + 1;

	if (low > from)
		syscall(SYS_close_range, from, low - 1, 0);
	if (low >= from)
		from = low + 1;
	if (high > from)
		syscall(SYS_close_range, from, high - 1, 0);
	syscall(SYS_close_range, high >= from ? high + 1 : from, ~0u, 0);
}

/*
 * The limits of the child. For the library of rustc 1.95, which has 150 MB, it takes less than
 * 600 MB of address space, 150 MB of memory, and 1 s.
 */
#define MOST_BYTES   (1ul << 30)
#define MOST_SECONDS 60
/* The group nogroup. */
#define NOBODY 65534

static void set_limits(void)
{
	_fclose_ FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0, most;

	/* The child inherits our address space, and RLIMIT_AS counts it. */
	if (f && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	most = pages * (unsigned long)sysconf(_SC_PAGESIZE) + MOST_BYTES;
	setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
	/* SIGXCPU, then SIGKILL */
	setrlimit(RLIMIT_CPU, &(struct rlimit){MOST_SECONDS, MOST_SECONDS + 1});
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/*
 * In place of root's rights to files those of the owner. The groups of the owner are not known
 * here. False if the kernel refuses; setfsuid() and setfsgid() return only the ids in force.
 */
static bool take_rights_of(uid_t owner)
{
	if (setgroups(0, NULL))
		return false;
	setfsgid(NOBODY);
	setfsuid(owner);
	return (gid_t)setfsgid(-1) == NOBODY && (uid_t)setfsuid(-1) == owner;
}

/*
 * The file names other files, so they are opened with its owner's rights: never with capabilities,
 * and under root as the owner; or not at all.
 */
static void run_prepare(const struct file_job *j, pid_t parent)
{
	const bool limited = geteuid() ? !rights__limit(0)
				       : take_rights_of(library_file__identity(j->file)->uid);

	/* A change of these ids resets the signal for the parent's death, and opening may hang. */
	die_with(parent);
	if (limited)
		j->prepare(j->file, j->arg);
}

/*
 * The child. The parent handles all signals, except the one for its own death, and prints the
 * child's errors, or holds them back. The exit status is the errno; if it is not 0, the error line
 * is the last part that is sent.
 */
static __attribute__((noreturn)) void run(const struct file_job *j, int fd, pid_t parent)
{
	struct file_writer w = {.fd = fd};
	char why[ERROR_LINE] = "";
	int err;

	close_all_but((unsigned int)fd, (unsigned int)library_file__fd(j->file));
	/*
	 * A build runs beside the child, so the child does not keep the priority of the recording
	 * thread.
	 */
	setpriority(PRIO_PROCESS, 0, j->nice);
	set_limits();
	prctl(PR_SET_NAME, "qprof-bpf: read");
	die_with(parent);
	if (j->prepare)
		run_prepare(j, parent);
	diag_hold_errors(why, sizeof(why));
	/* A file may take over its reader, which then has nothing but the file and our pipe. */
	for (int std = STDIN_FILENO; std <= STDERR_FILENO; std++)
		close(std);
	err = sandbox__enter(SANDBOX_PARSE, 0);
	if (err)
		diag_error("cannot read %s: the kernel refuses a sandbox for its reader: %s; it "
			   "needs CONFIG_SECCOMP_FILTER",
			   library_file__path(j->file), strerror(-err));
	err = err ?: j->make(j->file, j->arg, &w) ?: w.error;
	if (err)
		file_writer__write(&w, why, sizeof(why));
	_exit(-err);
}

/* ---- Children that end ----------------------------------------------------------------------- */

/* As waitpid() with WNOHANG. */
static pid_t wait_for(pid_t pid, int *status)
{
	struct rusage usage;
	pid_t ended = wait4(pid, status, WNOHANG, &usage);

	if (ended > 0)
		ended_ns += clock_of_usage(&usage);
	return ended;
}

/*
 * -ETIME: the child does not exit; it is reaped later. Adds up the pauses and does not ask the
 * clock: while a machine stands still the child cannot exit, so that time counts as one pause.
 */
static int wait_for_child(struct file_job *j, int *status)
{
	uint64_t pause_ns = FIRST_PAUSE_NS, waited_ns = 0;
	pid_t pid = j->pid, ended;

	while (!(ended = wait_for(pid, status)) && waited_ns < file_job_end_ns) {
		nanosleep(&(struct timespec){.tv_nsec = (long)pause_ns}, NULL);
		waited_ns += pause_ns;
		pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
	}
	j->pid = 0;
	if (ended)
		return ended < 0 ? -errno : 0;
	kill(pid, SIGKILL);
	if (n_left < LEFT_MAX)
		left[n_left++] = pid;
	return -ETIME;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static int start_child(struct file_job *j)
{
	pid_t parent = getpid();
	_close_ int theirs = -1;
	unsigned int kept = 0;
	int pair[2];

	for (unsigned int i = 0; i < n_left; i++)
		if (!wait_for(left[i], NULL))
			left[kept++] = left[i];
	n_left = kept;
	if (pipe2(pair, O_CLOEXEC))
		return -errno;
	j->fd = pair[0];
	theirs = pair[1];
	fcntl(j->fd, F_SETFL, O_NONBLOCK);
	j->pid = fork();
	if (j->pid < 0) {
		j->pid = 0;
		return -errno;
	}
	if (!j->pid)
		run(j, theirs, parent);
	j->tries++;
	return epoll_watch(j->epoll, j->fd);
}

int file_job__start(struct library_file *file, file_job_prepare_fn *prepare, file_job_fn *make,
		    void *arg, int nice, struct file_job **out)
{
	_file_job_ struct file_job *j = calloc(1, sizeof(*j));
	int err;

	if (!j)
		return -ENOMEM;
	*j = (struct file_job){
		.fd = -1,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.file = library_file__ref(file),
		.prepare = prepare,
		.make = make,
		.arg = arg,
		.nice = nice,
		.deadline_ns = clock_ns(CLOCK_MONOTONIC) + file_job_most_ns,
	};
	err = j->epoll < 0 ? -errno : start_child(j);
	if (!err)
		*out = take_ptr(j);
	return err;
}

int file_job__fd(const struct file_job *j)
{
	return j->epoll;
}

uint64_t file_job_ended_ns(void)
{
	return ended_ns;
}

uint64_t file_job__cpu_ns(const struct file_job *j)
{
	clockid_t clock;

	return j->pid && !clock_getcpuclockid(j->pid, &clock) ? clock_ns(clock) : 0;
}

struct library_file *file_job__file(const struct file_job *j)
{
	return j->file;
}

const char *file_job__why(const struct file_job *j)
{
	return j->why;
}

static int make_room(struct file_job *j)
{
	size_t capacity = j->capacity ? j->capacity * 2 : 4 * READ_BYTES;
	uint8_t *bytes;

	if (j->capacity - j->len >= READ_BYTES)
		return 0;
	bytes = realloc(j->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	j->bytes = bytes;
	j->capacity = capacity;
	return 0;
}

/* Another process has ended the child: not a limit of ours, and not a fault of its own. */
static bool was_ended_by_others(int status)
{
	static const int own[] = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
				  SIGABRT, SIGTRAP, SIGSYS, SIGXCPU};

	for (size_t i = 0; i < N_OF(own); i++)
		if (WTERMSIG(status) == own[i])
			return false;
	return WIFSIGNALED(status);
}

/* The child has closed its end. Another one begins if it was ended. */
static int end_try(struct file_job *j)
{
	int err = wait_for_child(j, &j->status);
	const bool again = !err && was_ended_by_others(j->status) && j->tries < TRIES_MAX;

	if (again) {
		epoll_ctl(j->epoll, EPOLL_CTL_DEL, j->fd, NULL);
		cleanup_close_p(&j->fd);
		j->len = 0;
		err = start_child(j);
	}
	j->ended = err || !again;
	return err;
}

int file_job__read(struct file_job *j)
{
	while (!j->ended) {
		int err = j->len > MOST_SENT ? -EFBIG : make_room(j);
		ssize_t n = err ? -1 : read(j->fd, j->bytes + j->len, READ_BYTES);

		if (err)
			return err;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return clock_ns(CLOCK_MONOTONIC) >= j->deadline_ns ? -ETIME : 0;
		if (n < 0)
			return -errno;
		j->len += (size_t)n;
		j->err = n ? 0 : end_try(j);
	}
	return j->err ?: 1;
}

static int ms_left(const struct file_job *j)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	return now_ns < j->deadline_ns ? (int)((j->deadline_ns - now_ns) / 1000000) + 1 : 0;
}

/* Set the cause of `err`, and return it. */
static __attribute__((format(printf, 3, 4))) int fail(struct file_job *j, int err, const char *fmt,
						      ...)
{
	int n = snprintf(j->why, sizeof(j->why), "cannot read %s: ", library_file__path(j->file));
	va_list ap;

	if (n < 0 || (size_t)n >= sizeof(j->why))
		return err;
	va_start(ap, fmt);
	vsnprintf(j->why + n, sizeof(j->why) - (size_t)n, fmt, ap);
	va_end(ap);
	return err;
}

int file_job__finish(struct file_job *j, const uint8_t **bytes, size_t *len)
{
	struct pollfd pfd = {.fd = j->epoll, .events = POLLIN};
	int err;

	while ((err = file_job__read(j)) == 0)
		poll(&pfd, 1, ms_left(j));
	if (err == -ETIME)
		return fail(j, err, "it took too long; see whether the machine is overloaded");
	if (err < 0)
		return fail(j, err, "%s", strerror(-err));
	if (was_ended_by_others(j->status))
		return fail(j, -EIO, "its reader was ended %u times, by signal %d", j->tries,
			    WTERMSIG(j->status));
	if (WIFSIGNALED(j->status) && WTERMSIG(j->status) == SIGXCPU)
		return fail(j, -EIO, "it takes more than %d s of CPU time", MOST_SECONDS);
	if (WIFSIGNALED(j->status))
		return fail(j, -EIO,
			    "reading it ended with signal %d; see whether the file is being "
			    "replaced",
			    WTERMSIG(j->status));
	err = -WEXITSTATUS(j->status);
	/* The child's own error line is the last part that it has sent. */
	if (err && j->len >= ERROR_LINE)
		memcpy(j->why, j->bytes + j->len - ERROR_LINE, ERROR_LINE - 1);
	if (err)
		return *j->why ? err : fail(j, err, "%s", strerror(-err));
	*bytes = j->bytes;
	*len = j->len;
	return 0;
}

void file_job__free(struct file_job *j)
{
	int status;

	if (!j)
		return;
	cleanup_close_p(&j->fd);
	if (j->pid) {
		kill(j->pid, SIGKILL);
		wait_for_child(j, &status);
	}
	cleanup_close_p(&j->epoll);
	library_file__free(j->file);
	free(j->bytes);
	free(j);
}
