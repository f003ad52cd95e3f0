// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/outside.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/epoll.h"
#include "base/invoker.h"
#include "capture/outside_compiler.h"
#include "plan/job.h"
#include "plan/mine/active_jobs.h"
#include "proc/processes.h"

/*
 * Between two looks: LOOK_NS, or more where a look takes so long that it would be more than a
 * COST_SHARE of the time. What is watched between them has the same limit of its own. An executed
 * program maps a compiler's library within 10 ms, or is none.
 */
#define LOOK_NS	     (UINT64_C(1000000000) / OUTSIDE_HZ)
#define LOOK_MOST_NS UINT64_C(1000000000)
#define COST_SHARE   50
/* Looks at the mappings of a program, each twice as long after its exec as the one before. */
#define MAPPING_LOOKS 7
/* Threads of a process whose children are read, and such processes that are followed. */
#define THREADS_MOST   256
#define PROCESSES_MOST 4096
#define LIBRARIES_MOST 16
/* Peaks of memory, and the children of compilers, are read at each of so many looks. */
#define SELDOM 8
/* How a process ended is not known: as TRACE_EXIT_UNKNOWN. */
#define NO_STATUS 0x80000000u
/* Looks in which a process that has ended waits for its parent to learn it. */
#define WAITS_MOST 20

/* Linux 6.15 and later tell anybody how a process ended, once its parent knows: linux/pidfd.h. */
struct pidfd_exit {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t status;
	uint32_t coredump[2];
};
#define PIDFD_GET_EXIT _IOWR(0xff, 11, struct pidfd_exit)
#define PIDFD_HAS_EXIT 8u
_Static_assert(sizeof(struct pidfd_exit) == 72, "struct pidfd_info");

struct outside_process {
	pid_t pid;
	int pidfd;
	bool began_as_ours; /* somebody in this process waits for it */
	uint32_t waits;	    /* looks since it has ended */
	uint32_t status;
	dev_t exe_dev; /* the program that it executes */
	ino_t exe_ino;
	uint64_t exec_ns; /* when that was seen */
	uint32_t looks;	  /* at its mappings */
	pid_t parent;
	bool seen_before; /* a look has met it */
	bool foreign;	  /* another user's: a read of its memory may wait for his file system */
	uint32_t peak_kib;
	uint64_t cpu_ns;
	struct outside_compiler *compiler; /* or NULL */
};

struct outside {
	struct broker *broker;
	struct session_sink sink;
	int nice;
	struct invoker invoker; /* the user of the processes that are read */
	int timer, epoll;
	bool started;
	bool warned;   /* a line says that memory cannot be read */
	dev_t own_dev; /* our program: children that it forked are helpers */
	ino_t own_ino;
	struct outside_process *items;
	uint32_t n, capacity;
	struct outside_library libs[LIBRARIES_MOST];
	uint32_t n_libs, missing;
	uint64_t n_looks;
	uint64_t gone_cpu_ns; /* of processes that have left */
	uint64_t look_ns;     /* the next one */
	uint64_t watch_ns;    /* compilers are not watched before */
};

int outside__new(struct broker *broker, const struct session_sink *sink, int nice,
		 struct outside **out)
{
	_outside_ struct outside *o = calloc(1, sizeof(*o));
	struct stat st;
	int err;

	if (!o)
		return -ENOMEM;
	o->broker = broker;
	o->sink = *sink;
	o->nice = nice;
	o->epoll = epoll_create1(EPOLL_CLOEXEC);
	o->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (o->timer < 0 || o->epoll < 0 || stat("/proc/self/exe", &st))
		return -errno;
	err = invoker__get(&o->invoker) ?: epoll_watch(o->epoll, o->timer);
	if (err)
		return err;
	/* Root would read memory that another user's processes point to. */
	if (o->invoker.sudo)
		return -EPERM;
	o->own_dev = st.st_dev;
	o->own_ino = st.st_ino;
	*out = take_ptr(o);
	return 0;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

/* The plan is there: tell the sink, and keep what is read by it. Takes `plan`. */
static int set_plan(struct outside *o, struct outside_library *lib, struct plan *plan)
{
	_free_ bool *none = calloc(plan->n_queries + plan->n_guards + 1UL, sizeof(*none));
	const struct record r = {.kind = RECORD_LIBRARY,
				 .lib = lib->number,
				 .pid = RECORD_NO_PID,
				 .library = {plan, none, none}};

	lib->plan = plan;
	lib->tables.tables = plan->tables;
	lib->tables.queries = calloc(plan->n_queries + 1UL, sizeof(*lib->tables.queries));
	lib->jobs = calloc(1, sizeof(*lib->jobs));
	if (!none || !lib->tables.queries || !lib->jobs)
		return -ENOMEM;
	if (plan->tables.n != plan->n_queries)
		lib->tables.tables.n = 0;
	for (uint32_t i = 0; i < lib->tables.tables.n; i++)
		lib->tables.queries[i] = plan->queries[i].table;
	if (!active_jobs__tables(plan, lib->jobs))
		free(take_ptr(lib->jobs));
	return session_sink__take(&o->sink, &r);
}

static struct outside_library *new_library(struct outside *o, struct library_file *file)
{
	struct outside_library *lib = &o->libs[o->n_libs];

	if (o->n_libs == LIBRARIES_MOST)
		return NULL;
	*lib = (struct outside_library){.file = library_file__ref(file),
					.number = (uint8_t)++o->n_libs};
	return lib;
}

int outside__add_library(struct outside *o, struct library_file *file)
{
	struct outside_library *lib = new_library(o, file);
	struct plan *plan;
	int err = lib ? plan__load(file, &plan) : -ENOMEM;

	return err ?: set_plan(o, lib, plan);
}

/* NULL: it cannot be read, or there are too many. */
static struct outside_library *library_of(struct outside *o, const struct outside_mapping *m,
					  int *err)
{
	_library_file_ struct library_file *file = NULL;
	struct outside_library *lib;
	struct plan *plan;
	int none;

	for (uint32_t i = 0; i < o->n_libs; i++) {
		const struct library_identity *id = library_file__identity(o->libs[i].file);

		if (id->ino == m->ino &&
		    (id->dev == m->dev || !strcmp(library_file__path(o->libs[i].file), m->path)))
			return &o->libs[i];
	}
	/* The process has named it. */
	if (invoker__take_file_rights(&o->invoker))
		return NULL;
	none = library_file__try(m->path, &file);
	invoker__return_file_rights(&o->invoker);
	if (none)
		return NULL;
	/* Another file has its name by now, or is there in our mount namespace. */
	if (library_file__identity(file)->ino != m->ino)
		return NULL;
	lib = new_library(o, file);
	if (!lib)
		return NULL;
	if (!plan_load__stored(file, &plan))
		*err = set_plan(o, lib, plan);
	else if (plan_job__start(file, o->nice, &lib->job))
		lib->job = NULL;
	return lib;
}

static int settle_plans(struct outside *o)
{
	int err = 0;

	for (uint32_t i = 0; i < o->n_libs && !err; i++) {
		struct outside_library *lib = &o->libs[i];
		struct plan *plan;

		if (!lib->job || !plan_job__read(lib->job))
			continue;
		if (!plan_job__finish(lib->job, &plan))
			err = set_plan(o, lib, plan);
		plan_job__free(take_ptr(lib->job));
	}
	return err;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static struct outside_process *find_process(struct outside *o, pid_t pid)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (o->items[i].pid == pid)
			return &o->items[i];
	return NULL;
}

/* One whose library could not be planned, or not in time, was not read. */
static void forget_program(struct outside *o, struct outside_process *p)
{
	if (p->compiler) {
		o->missing += !p->compiler->lib->plan;
		outside_compiler__clear(p->compiler);
	}
	free(take_ptr(p->compiler));
	p->looks = 0;
}

static void forget_process(struct outside *o, struct outside_process *p)
{
	forget_program(o, p);
	cleanup_close_p(&p->pidfd);
}

static int send_fork(struct outside *o, pid_t parent, pid_t pid, uint64_t now_ns)
{
	const struct wire_fork fork = {.type = WIRE_FORK,
				       .parent_pid = (wire_u32)parent,
				       .child_pid = (wire_u32)pid,
				       .time_ns = now_ns};
	const struct record r = record_of(&fork, sizeof(fork));

	return session_sink__take(&o->sink, &r);
}

/* A process ran when the recording began. */
static int send_running(struct outside *o, pid_t pid, uint64_t now_ns)
{
	_arguments_ struct arguments args = {0};
	struct record r = {.kind = RECORD_RUNNING, .pid = (uint32_t)pid};

	if (broker__arguments(o->broker, pid, &args))
		return 0;
	r.running.parent = process_parent(pid);
	r.running.now_ns = now_ns;
	r.running.args = &args;
	return session_sink__take(&o->sink, &r) ?: session_sink__cwd(&o->sink, pid);
}

static int send_exec(struct outside *o, struct outside_process *p, uint64_t now_ns)
{
	struct wire_exec exec = {.type = WIRE_EXEC,
				 .pid = (wire_u32)p->pid,
				 .time_ns = now_ns,
				 .peak_kib = p->peak_kib,
				 .cpu_ns = p->cpu_ns};

	exec.args_len = (wire_u32)process_arguments(p->pid, exec.args, sizeof(exec.args));
	exec.truncated = exec.args_len == sizeof(exec.args);
	process_name(p->pid, exec.comm, sizeof(exec.comm));
	return session_sink__exec(&o->sink, o->broker, &exec)
		       ?: session_sink__cwd(&o->sink, p->pid);
}

static int send_exit(struct outside *o, const struct outside_process *p, uint64_t now_ns)
{
	const struct wire_exit end = {.type = WIRE_EXIT,
				      .pid = (wire_u32)p->pid,
				      .time_ns = now_ns,
				      .exit_code = p->status,
				      .peak_kib = p->peak_kib,
				      .cpu_ns = p->cpu_ns};
	const struct record r = record_of(&end, sizeof(end));

	return session_sink__take(&o->sink, &r);
}

static bool has_ended(int pidfd)
{
	struct pollfd pfd = {.fd = pidfd, .events = POLLIN};

	return poll(&pfd, 1, 0) == 1;
}

static uint32_t peak_of(pid_t pid)
{
	_fclose_ FILE *f = process_file(pid, "status");
	_free_ char *line = NULL;
	size_t room = 0;
	uint32_t kib;

	while (f && getline(&line, &room, f) > 0)
		if (sscanf(line, "VmHWM: %u kB", &kib) == 1)
			return kib;
	return 0;
}

/* One that has ended and whose parent does not ask for it is passed over. */
static int add_process(struct outside *o, pid_t parent, pid_t pid, bool runs, uint64_t now_ns)
{
	struct outside_process p = {.pid = pid, .exec_ns = now_ns, .status = NO_STATUS};
	_close_ int fd = o->n < PROCESSES_MOST ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	if (fd < 0 || has_ended(fd))
		return 0;
	p.pidfd = fd;
	p.began_as_ours = parent == getpid();
	p.parent = parent;
	if (array__add(&o->items, &o->n, &o->capacity, &p))
		return -ENOMEM;
	epoll_watch(o->epoll, take_fd(fd));
	return runs ? send_running(o, pid, now_ns) : send_fork(o, parent, pid, now_ns);
}

/* The program that a process executes; false: it is gone. */
static bool program_of(pid_t pid, struct stat *exe)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return !stat(path, exe);
}

static bool is_ours(const struct outside *o, const struct stat *exe)
{
	return exe->st_dev == o->own_dev && exe->st_ino == o->own_ino;
}

/* It has executed a program since the last look, or may map a compiler's library still. */
static int look_at_program(struct outside *o, struct outside_process *p, uint64_t now_ns)
{
	struct outside_mapping m = {};
	struct outside_library *lib;
	struct stat exe;
	char byte;
	int err;

	if (!program_of(p->pid, &exe))
		return 0;
	/* Before its exec a child runs its parent's program, and in the middle of one has no
	 * arguments. */
	if (exe.st_dev != p->exe_dev || exe.st_ino != p->exe_ino) {
		const struct outside_process *parent = find_process(o, p->parent);
		bool ran = !p->exe_ino && !o->started, before = p->seen_before;

		p->seen_before = true;
		if (!ran && !p->exe_ino && !before && parent && parent->exe_dev == exe.st_dev &&
		    parent->exe_ino == exe.st_ino)
			return 0;

		if (is_ours(o, &exe) || !process_arguments(p->pid, &byte, 1))
			return 0;
		p->exe_dev = exe.st_dev;
		p->exe_ino = exe.st_ino;
		p->exec_ns = now_ns;
		p->foreign = process_uid(p->pid) != o->invoker.uid;
		forget_program(o, p);
		err = ran ? 0 : send_exec(o, p, now_ns);
		if (err)
			return err;
	}
	if (p->foreign || p->compiler || p->looks == MAPPING_LOOKS ||
	    now_ns - p->exec_ns < (LOOK_NS << p->looks) - LOOK_NS)
		return 0;
	p->looks++;
	if (outside_mapping__find(p->pid, &m))
		return 0;
	err = 0;
	lib = library_of(o, &m, &err);
	free(m.path);
	if (err)
		return err;
	p->compiler = lib ? calloc(1, sizeof(*p->compiler)) : NULL;
	if (!p->compiler) {
		o->missing += !lib;
		p->looks = MAPPING_LOOKS;
		return lib ? -ENOMEM : 0;
	}
	outside_compiler__init(p->compiler, p->pid, lib, m.bias);
	return 0;
}

/*
 * Add the children of a process that are not known; `runs`: they ran before. Ours are helpers, or
 * processes that lost their parent.
 */
static int add_children(struct outside *o, pid_t pid, bool runs, uint64_t now_ns)
{
	pid_t tids[THREADS_MOST];
	size_t n = process_tids(pid, tids, THREADS_MOST);
	int err = 0, child;
	struct stat exe;

	for (size_t i = 0; i < n && !err; i++) {
		_fclose_ FILE *f = NULL;
		char name[48];

		snprintf(name, sizeof(name), "task/%d/children", (int)tids[i]);
		f = process_file(pid, name);
		while (f && !err && fscanf(f, "%d", &child) == 1)
			if (!find_process(o, child) &&
			    (pid != getpid() || (program_of(child, &exe) && !is_ours(o, &exe))))
				err = add_process(o, pid, child, runs, now_ns);
	}
	return err;
}

/* It has ended, and how is known, or will not be. */
static bool is_over(const struct outside *o, struct outside_process *p)
{
	struct pidfd_exit end = {.mask = PIDFD_HAS_EXIT};

	if (!has_ended(p->pidfd))
		return false;
	/* It polls readable from now on. */
	if (!p->waits++)
		epoll_ctl(o->epoll, EPOLL_CTL_DEL, p->pidfd, NULL);
	/* If it has lost its parent, it is ours, and nobody else's. */
	if (!p->began_as_ours)
		waitpid(p->pid, NULL, WNOHANG);
	if (ioctl(p->pidfd, PIDFD_GET_EXIT, &end))
		return true;
	if (end.mask & PIDFD_HAS_EXIT)
		p->status = (uint32_t)end.status;
	return end.mask & PIDFD_HAS_EXIT || p->waits == WAITS_MOST;
}

static void warn_closed(struct outside *o, int err)
{
	if (!o->warned)
		diag_warn("the memory of compilers cannot be read: %s (kernel.yama.ptrace_scope of "
			  "2 or 3, or of 1 with --pid, or seccomp): only the CPU time and memory "
			  "of each are recorded",
			  strerror(-err));
	o->warned = true;
}

static int read_compiler(struct outside *o, struct outside_process *p, uint64_t now_ns)
{
	int err = outside_compiler__read(p->compiler, &o->sink, now_ns);

	if (err == -EPERM || err == -ENOSYS)
		warn_closed(o, err);
	if (p->compiler->cpu_ns > p->cpu_ns)
		p->cpu_ns = p->compiler->cpu_ns;
	p->compiler->watch_ns = outside_compiler__watch_ns(p->compiler, now_ns);
	return err == -EPERM || err == -ENOSYS || err == -ESRCH ? 0 : err;
}

static int look_at_process(struct outside *o, uint32_t i, uint64_t now_ns)
{
	bool seldom = o->n_looks % SELDOM == 0;
	struct outside_process *p = &o->items[i];
	uint64_t cpu_ns = outside_cpu_ns(p->pid);
	uint32_t peak;
	pid_t pid = p->pid;
	int err;

	if (p->waits)
		return 0;
	err = look_at_program(o, p, now_ns);
	if (err)
		return err;
	p->cpu_ns = cpu_ns > p->cpu_ns ? cpu_ns : p->cpu_ns;
	if (p->compiler && p->compiler->lib->plan)
		err = read_compiler(o, p, now_ns);
	if (err)
		return err;
	peak = p->compiler && seldom ? peak_of(pid) : 0;
	p->peak_kib = peak > p->peak_kib ? peak : p->peak_kib;
	/* It may move the processes. */
	return !p->compiler || seldom ? add_children(o, pid, false, now_ns) : 0;
}

/* Processes that have ended leave. */
static int sweep(struct outside *o)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint32_t kept = 0;
	int err = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		struct outside_process *p = &o->items[i];

		if (!is_over(o, p)) {
			o->items[kept++] = *p;
			continue;
		}
		err = err ?: send_exit(o, p, now_ns);
		o->gone_cpu_ns += p->cpu_ns;
		forget_process(o, p);
	}
	o->n = kept;
	return err;
}

static int look(struct outside *o)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	/* First: a number may be another process's by now. */
	int err = sweep(o) ?: settle_plans(o);

	o->n_looks++;
	/* Processes that lost their parent are ours. */
	err = err ?: add_children(o, getpid(), false, now_ns);
	for (uint32_t i = 0; i < o->n && !err; i++)
		err = look_at_process(o, i, now_ns);
	return err;
}

/* When one is to be watched next. */
static uint64_t next_watch_ns(const struct outside *o)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < o->n; i++) {
		const struct outside_compiler *c = o->items[i].compiler;

		if (c && c->watch_ns < next_ns)
			next_ns = c->watch_ns;
	}
	return next_ns > o->watch_ns ? next_ns : o->watch_ns;
}

/* Compilers that have executed their queries are read before their memory is another's. */
static int watch(struct outside *o, uint64_t now_ns)
{
	int err = 0;

	for (uint32_t i = 0; i < o->n && !err; i++) {
		struct outside_process *p = &o->items[i];
		struct outside_compiler *c = p->compiler;

		/* Its number may be another process's by now. */
		if (!c || c->watch_ns > now_ns || p->waits || has_ended(p->pidfd))
			continue;
		c->watch_ns = outside_compiler__watch_ns(c, now_ns);
		if (outside_compiler__has_left(c))
			err = read_compiler(o, p, now_ns);
	}
	return err;
}

int outside__follow(struct outside *o, pid_t pid, bool runs, unsigned int *compilers)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint32_t first = o->n;
	int err;

	if (!runs)
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	else if (process_is_running(pid) && process_uid(pid) != o->invoker.uid)
		return diag_error_r(
			-EPERM,
			"process %d belongs to another user: from outside one's own are read "
			"alone; leave --attach out, or run it with sudo",
			(int)pid);
	err = find_process(o, pid) ? 0 : add_process(o, getpid(), pid, runs, now_ns);
	if (!err && !find_process(o, pid))
		return runs ? -ESRCH
			    : diag_error_r(-EPERM, "cannot follow the command: %s",
					   strerror(errno));
	for (uint32_t i = first; i < o->n && !err && runs; i++) {
		err = look_at_program(o, &o->items[i], now_ns);
		*compilers += o->items[i].compiler != NULL;
		err = err ?: add_children(o, o->items[i].pid, true, now_ns);
	}
	return err;
}

int outside__start(struct outside *o)
{
	const struct wire_label label = {
		.type = WIRE_LABEL,
		.label = OUTSIDE_LLVM,
		.key = {.len = strlen(OUTSIDE_LLVM_TEXT), .text = OUTSIDE_LLVM_TEXT}};
	const struct record r = record_of(&label, sizeof(label));

	o->started = true;
	o->look_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
	epoll_set_timer(o->timer, o->look_ns);
	return session_sink__take(&o->sink, &r);
}

int outside__fd(const struct outside *o)
{
	return o->epoll;
}

int outside__take(struct outside *o)
{
	uint64_t expired, before, now_ns, ns;
	bool looks;
	int err;

	if (!o->started)
		return 0;
	if (read(o->timer, &expired, sizeof(expired)) < 0)
		return sweep(o);
	before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	looks = now_ns >= o->look_ns;
	err = looks ? look(o) : watch(o, now_ns);
	ns = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - before) * COST_SHARE;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (looks)
		o->look_ns = now_ns + (ns < LOOK_NS	   ? LOOK_NS
				       : ns > LOOK_MOST_NS ? LOOK_MOST_NS
							   : ns);
	else
		o->watch_ns = now_ns + ns;
	ns = next_watch_ns(o);
	epoll_set_timer(o->timer, ns < o->look_ns ? ns : o->look_ns);
	return err;
}

int outside__stop(struct outside *o)
{
	int err = o->started ? look(o) ?: sweep(o) : 0;

	/* A program of cargo run may go on for long, and its orphans are none of ours. */
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	o->started = false;
	return err;
}

bool outside__follows_any(const struct outside *o)
{
	return o->n;
}

unsigned int outside__libraries(const struct outside *o)
{
	return o->n_libs;
}

uint32_t outside__missing(const struct outside *o)
{
	return o->missing;
}

uint64_t outside__cpu_ns(const struct outside *o)
{
	uint64_t ns = o->gone_cpu_ns;

	for (uint32_t i = 0; i < o->n; i++)
		ns += o->items[i].cpu_ns;
	return ns;
}

void outside__free(struct outside *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->n; i++)
		forget_process(o, &o->items[i]);
	free(o->items);
	for (uint32_t i = 0; i < o->n_libs; i++) {
		struct outside_library *lib = &o->libs[i];

		plan_job__free(lib->job);
		plan__free(lib->plan);
		library_file__free(lib->file);
		free(lib->tables.queries);
		free(lib->jobs);
	}
	cleanup_close_p(&o->timer);
	cleanup_close_p(&o->epoll);
	invoker__clear(&o->invoker);
	free(o);
}
