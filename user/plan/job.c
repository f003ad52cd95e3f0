// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/job.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/file_writer.h"
#include "base/rights.h"
#include "plan/cache.h"
#include "plan/codec.h"
#include "plan/load.h"
#include "plan/mine/hits.h"
#include "plan/proof.h"

#define READ_BYTES 65536 /* the capacity of a pipe */
/* The plan of rustc 1.97 takes 300 kB, and its cache hits take 200 kB. */
#define MOST_SENT (16u << 20)
/* Bytes of the child's error line, which ends with zeroes. */
#define ERROR_LINE 1024
/* The first and the longest pause between checks whether a child has exited. */
#define FIRST_PAUSE_NS	 200000
#define LONGEST_PAUSE_NS 2000000
/* Children that were killed and have not ended yet. */
#define LEFT_MAX 64

uint64_t plan_job_most_ns = 120000000000;
uint64_t plan_job_end_ns = 200000000;

struct plan_job {
	pid_t pid; /* 0 once it was waited for */
	int fd;
	struct library_file *file;
	struct plan *plan; /* NULL: the child makes it */
	bool hits;	   /* the child looks for cache hits */
	uint8_t *bytes;
	size_t len;
	size_t capacity;
	bool ended; /* the child has closed its end */
	uint64_t deadline_ns;
};

/*
 * Killed children, which are waited for when the next child starts. Only one thread at a time has
 * jobs.
 */
static pid_t left[LEFT_MAX];
static unsigned int n_left;

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
 * The child sends the number of the plan's bytes, then the plan, then the cache hits; a part that
 * was not requested has no bytes.
 */
static int make_plan(struct library_file *file, struct file_writer *to)
{
	_plan_ struct plan *plan = NULL;
	_free_ uint8_t *bytes = NULL;
	size_t len = 0;
	uint64_t sent;
	int err;

	diag_verbose("reading %s for the first time", library_file__path(file));
	err = plan__build(file, &plan) ?: plan_encode(plan, &bytes, &len);
	if (err)
		return err;
	sent = len;
	file_writer__write(to, &sent, sizeof(sent));
	return file_writer__write(to, bytes, len);
}

static int make_hits(struct library_file *file, struct file_writer *to)
{
	_plan_hits_ struct plan_hits *hits = NULL;
	int err = plan_hits__find(file, &hits);

	if (err)
		return err;
	file_writer__write(to, hits, sizeof(*hits));
	return file_writer__write(to, hits->items, hits->n * sizeof(*hits->items));
}

/*
 * The limits of the child. For the library of rustc 1.95, which has 150 MB, it takes less than
 * 600 MB of address space, 150 MB of memory, and 1 s.
 */
#define MOST_BYTES   (1ul << 30)
#define MOST_SECONDS 60
/* The user nobody. */
#define NOBODY 65534

/* The child inherits our address space, and RLIMIT_AS counts it. */
static unsigned long inherited_bytes(void)
{
	_fclose_ FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static void set_limits(void)
{
	const unsigned long most = inherited_bytes() + MOST_BYTES;
	const struct rlimit bytes = {most, most};
	const struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS};
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_AS, &bytes);
	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_CORE, &none);
}

/*
 * A file may exploit its reader. So the child can open no other file, has no capability, and
 * becomes the user nobody if it may. If one of these limits fails, the others stay in force.
 */
static void give_up_rights(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_NOFILE, &none);
	if (!geteuid() && !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY))
		(void)!setresuid(NOBODY, NOBODY, NOBODY);
	rights__limit(0);
}

/* The parent handles all signals, except the one for its own death. */
static void become_planner(int nice, unsigned int fd, unsigned int file_fd, pid_t parent)
{
	close_all_but(fd, file_fd);
	/*
	 * A build runs beside the child, so the child does not keep the priority of the recording
	 * thread.
	 */
	setpriority(PRIO_PROCESS, 0, nice);
	set_limits();
	give_up_rights();
	/* A change of user resets the signal for the parent's death. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_NAME, "qprof-bpf: plan");
}

static int make(const struct plan_job *j, struct file_writer *to)
{
	const uint64_t no_plan = 0;
	int err = j->plan ? file_writer__write(to, &no_plan, sizeof(no_plan))
			  : make_plan(j->file, to);

	return err || !j->hits ? err : make_hits(j->file, to);
}

/* The exit status is the errno; if it is not 0, the error line is the last part that is sent. */
static __attribute__((noreturn)) void run(const struct plan_job *j, int nice, int fd, pid_t parent)
{
	struct file_writer w = {.fd = fd};
	char why[ERROR_LINE] = "";
	int err;

	become_planner(nice, (unsigned int)fd, (unsigned int)library_file__fd(j->file), parent);
	/* The parent prints the child's errors, or holds them back. */
	diag_hold_errors(why, sizeof(why));
	err = make(j, &w);
	if (err)
		file_writer__write(&w, why, sizeof(why));
	_exit(-err);
}

/* ---- Children that end ----------------------------------------------------------------------- */

static void reap(void)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n_left; i++)
		if (!waitpid(left[i], NULL, WNOHANG))
			left[kept++] = left[i];
	n_left = kept;
}

/*
 * -ETIME: the child does not exit; it is reaped later. Adds up the pauses and does not ask the
 * clock: while a machine stands still the child cannot exit, so that time counts as one pause.
 */
static int wait_for_child(struct plan_job *j, int *status)
{
	uint64_t pause_ns = FIRST_PAUSE_NS, waited_ns = 0;
	pid_t pid = j->pid, ended;

	while (!(ended = waitpid(pid, status, WNOHANG)) && waited_ns < plan_job_end_ns) {
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

static void end_child(struct plan_job *j)
{
	int status;

	cleanup_close_p(&j->fd);
	if (!j->pid)
		return;
	kill(j->pid, SIGKILL);
	wait_for_child(j, &status);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static int start(struct library_file *file, struct plan *plan, bool hits, int nice,
		 struct plan_job **out)
{
	_plan_job_ struct plan_job *j = calloc(1, sizeof(*j));
	pid_t parent = getpid();
	_close_ int theirs = -1;
	int pair[2];

	if (!j) {
		plan__free(plan);
		return -ENOMEM;
	}
	reap();
	j->plan = plan;
	j->hits = hits;
	j->fd = -1;
	j->deadline_ns = clock_ns(CLOCK_MONOTONIC) + plan_job_most_ns;
	j->file = library_file__ref(file);
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
		run(j, nice, theirs, parent);
	*out = take_ptr(j);
	return 0;
}

int plan_job__start(struct library_file *file, int nice, struct plan_job **out)
{
	return start(file, NULL, false, nice, out);
}

int plan_job__start_hits(struct library_file *file, struct plan *plan, int nice,
			 struct plan_job **out)
{
	return start(file, plan, true, nice, out);
}

int plan_job__fd(const struct plan_job *j)
{
	return j->fd;
}

static int make_room(struct plan_job *j)
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

static bool is_late(const struct plan_job *j)
{
	return clock_ns(CLOCK_MONOTONIC) >= j->deadline_ns;
}

int plan_job__read(struct plan_job *j)
{
	while (!j->ended) {
		int err = j->len > MOST_SENT ? -EFBIG : make_room(j);
		ssize_t n = err ? -1 : read(j->fd, j->bytes + j->len, READ_BYTES);

		if (err)
			return err;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return is_late(j) ? -ETIME : 0;
		if (n < 0)
			return -errno;
		j->ended = n == 0;
		j->len += (size_t)n;
	}
	return 1;
}

/* The file may have exploited the child, so the parent proves the plan. */
static int take_plan(struct plan_job *j, const uint8_t *bytes, size_t len, struct plan **out)
{
	_plan_ struct plan *plan = NULL;
	int err = plan_decode(bytes, len, &plan);

	if (err)
		return diag_error_r(err, "cannot read %s: %s", library_file__path(j->file),
				    strerror(-err));
	err = plan_load__prove(j->file, plan);
	if (err)
		return err;
	plan_cache__store(library_file__identity(j->file), plan);
	*out = take_ptr(plan);
	return 0;
}

static int decode_hits(const uint8_t *bytes, size_t len, struct plan_hits *hits)
{
	size_t size;

	if (len < sizeof(*hits))
		return -EBADMSG;
	memcpy(hits, bytes, sizeof(*hits));
	hits->items = NULL;
	size = hits->n * sizeof(*hits->items);
	if (len != sizeof(*hits) + size)
		return -EBADMSG;
	hits->items = calloc(hits->n + 1UL, sizeof(*hits->items));
	if (!hits->items)
		return -ENOMEM;
	memcpy(hits->items, bytes + sizeof(*hits), size);
	return 0;
}

/* Hits that are not proven are left out. */
static int take_hits(struct plan_job *j, const uint8_t *bytes, size_t len, struct plan_hits **out)
{
	_plan_hits_ struct plan_hits *hits = calloc(1, sizeof(*hits));
	_elf_image_ struct elf_image *img = NULL;
	int err = hits ? decode_hits(bytes, len, hits) : -ENOMEM;

	err = err ?: elf_image__read(j->file, &img) ?: proof__of_hits(img, hits);
	if (err)
		return diag_error_r(err, "cannot use the cache hits of %s: %s",
				    library_file__path(j->file), strerror(-err));
	*out = take_ptr(hits);
	return 0;
}

static int take_all(struct plan_job *j, struct plan **out)
{
	_plan_ struct plan *plan = take_ptr(j->plan);
	const uint8_t *plan_bytes, *hits_bytes;
	uint64_t plan_len = UINT64_MAX;
	int err;

	if (j->len >= sizeof(plan_len))
		memcpy(&plan_len, j->bytes, sizeof(plan_len));
	if (j->len < sizeof(plan_len) || plan_len > j->len - sizeof(plan_len))
		return diag_error_r(-EBADMSG, "cannot read %s: its planner sent no plan",
				    library_file__path(j->file));
	plan_bytes = j->bytes + sizeof(plan_len);
	hits_bytes = plan_bytes + plan_len;
	err = plan ? 0 : take_plan(j, plan_bytes, plan_len, &plan);
	if (!err && j->hits)
		err = take_hits(j, hits_bytes, (size_t)(j->bytes + j->len - hits_bytes),
				&plan->hits);
	if (err)
		return err;
	*out = take_ptr(plan);
	return 0;
}

static int ms_left(const struct plan_job *j)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	return now_ns < j->deadline_ns ? (int)((j->deadline_ns - now_ns) / 1000000) + 1 : 0;
}

/* The child's error line, which may follow a plan. */
static void print_error(const struct plan_job *j)
{
	size_t len = j->len < ERROR_LINE ? j->len : ERROR_LINE;

	diag_error("%.*s", (int)len, (const char *)j->bytes + j->len - len);
}

/* Wait for the child and for all bytes that it writes. */
static int await(struct plan_job *j)
{
	const char *path = library_file__path(j->file);
	struct pollfd pfd = {.fd = j->fd, .events = POLLIN};
	int err, status;

	while ((err = plan_job__read(j)) == 0)
		poll(&pfd, 1, ms_left(j));
	if (err > 0)
		err = wait_for_child(j, &status);
	if (err == -ETIME)
		return diag_error_r(err,
				    "cannot read %s: it took too long; see whether the machine is "
				    "overloaded",
				    path);
	if (err)
		return diag_error_r(err, "cannot read %s: %s", path, strerror(-err));
	if (WIFSIGNALED(status))
		return diag_error_r(-EIO,
				    "cannot read %s: reading it ended with signal %d; see whether "
				    "the file is being replaced",
				    path, WTERMSIG(status));
	if (WEXITSTATUS(status))
		print_error(j);
	return -WEXITSTATUS(status);
}

int plan_job__finish(struct plan_job *j, struct plan **out)
{
	return await(j) ?: take_all(j, out);
}

void plan_job__free(struct plan_job *j)
{
	if (!j)
		return;
	end_child(j);
	library_file__free(j->file);
	plan__free(j->plan);
	free(j->bytes);
	free(j);
}

int plan__load(struct library_file *file, struct plan **out)
{
	_plan_job_ struct plan_job *j = NULL;
	int err = plan_load__stored(file, out);

	if (err != -ENOENT)
		return err;
	/* The caller waits, so the child has our own nice value. */
	err = plan_job__start(file, getpriority(PRIO_PROCESS, 0), &j);
	if (err)
		return diag_error_r(err, "cannot read %s: %s", library_file__path(file),
				    strerror(-err));
	return plan_job__finish(j, out);
}
