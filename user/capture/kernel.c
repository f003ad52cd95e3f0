// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/privilege.h"
#include "capture/probes.h"
#include "capture/tables.h"
#include "capture/units.h"
#include "qprof.skel.h"

struct kernel {
	struct qprof_bpf *skel;
	struct ring_buffer *ring;
	struct bpf_program *progs[PROBES_ROLES];
	struct probes *libs[WIRE_MAX_LIBS];
	struct units *units[WIRE_MAX_LIBS];  /* if it is governed */
	uint32_t fixed_sites[WIRE_MAX_LIBS]; /* those of no unit */
	bool governed;
	unsigned int n_libs;
	bool multi;
	bool owned_elsewhere; /* a background child holds the perf events now */
	size_t ring_bytes;
	kernel_record_fn fn;
	void *ctx;
	size_t handed_over; /* bytes of the ring, in this drain */
};

/* The kernel's PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xeffffffcu
/* A ring buffer's record has a header. */
#define RECORD_HEADER 8
/* Not an error: a drain has handed over enough. */
#define ENOUGH (-4096)
/* Times to look again whether a program that sleeps is done, 2 ms apart. */
#define BUSY_TRIES 250

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (diag_level() < DIAG_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct kernel *k = ctx;
	int err = k->fn(k->ctx, data, size);

	k->handed_over += size + RECORD_HEADER;
	return !err && k->handed_over >= k->ring_bytes ? ENOUGH : err;
}

static bool wants_hits(const struct kernel_options *opt)
{
	return opt->hits || (opt->filter && filter__wants_hits(opt->filter));
}

static bool may_pass(const struct filter *f, enum filter_class class)
{
	return !f || filter__may_pass(f, class);
}

/*
 * Which program is for the sites of each role: none for those that no plan has one of that passes
 * the filter. Starts and ends of queries always have one, as the probes' cost is measured with
 * them.
 */
static void list_programs(struct kernel *k, const struct kernel_options *opt)
{
	const struct filter *f = opt->filter;
	struct bpf_program *site = k->skel->progs.qprof_site,
			   *label = k->skel->progs.qprof_label_site;
	bool hashing = may_pass(f, FILTER_HASHING);
	bool queries = hashing || may_pass(f, FILTER_QUERY);
	bool about_query = may_pass(f, FILTER_BLOCKED) || may_pass(f, FILTER_LOAD);
	bool guards =
		hashing || about_query || may_pass(f, FILTER_ACTIVITY) || may_pass(f, FILTER_TOLD);
	bool timers = may_pass(f, FILTER_TIMER);

	k->progs[WIRE_ROLE_START] = site;
	k->progs[WIRE_ROLE_START_BODY] = site;
	k->progs[WIRE_ROLE_END] = site;
	k->progs[WIRE_ROLE_CAUGHT] = site;
	k->progs[WIRE_ROLE_WRAPPER] = queries ? site : NULL;
	k->progs[WIRE_ROLE_REQUEST] = queries && opt->callers ? site : NULL;
	k->progs[WIRE_ROLE_IDENTIFY] = queries ? site : NULL;
	k->progs[WIRE_ROLE_GUARD] = guards ? label : NULL;
	k->progs[WIRE_ROLE_GUARD_QUERY] = about_query ? site : NULL;
	k->progs[WIRE_ROLE_GUARD_CALLED] = may_pass(f, FILTER_LOAD) ? site : NULL;
	k->progs[WIRE_ROLE_GUARD_END] = guards ? site : NULL;
	k->progs[WIRE_ROLE_TIMER] = timers ? label : NULL;
	k->progs[WIRE_ROLE_TIMER_END] = timers ? site : NULL;
	k->progs[WIRE_ROLE_HIT] = wants_hits(opt) ? site : NULL;
	bpf_program__set_autoload(label, guards || timers);
}

/* Not worth a recording: what cannot be had is told, and left out. */
static void tell_no_switches(int err)
{
	diag_warn("cannot tell when threads are off the CPU: %s; recording goes on without",
		  err == -ESRCH || err == -ENOENT ? "this kernel describes no sched_switch"
						  : strerror(-err));
}

static int explain_load(int err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return diag_error_r(
			-ENOENT, "cannot load: this kernel has no BTF (/sys/kernel/btf/vmlinux); "
				 "use one built with CONFIG_DEBUG_INFO_BTF=y");
	/* EACCES is the verifier's word, not a missing capability's. */
	if (err == -EPERM)
		privilege_explain("load the BPF programs", 0);
	else if (err == -ENOMEM)
		diag_error("cannot load: out of memory; try a smaller --ring-size");
	else
		diag_error("cannot load the BPF programs: %s; run again with -vv for the "
			   "kernel's own words, and see \"qprof-bpf doctor\"",
			   strerror(-err));
	return err;
}

static int choose_attach(struct kernel *k, enum kernel_attach attach, bool hits)
{
	const char *leave_out = hits	      ? "leave query-cache-hit out of --events"
				: k->governed ? "leave out --budget"
					      : "use --attach perf";
	bool have = attach != KERNEL_ATTACH_PERF && probes_have_multi();

	k->multi = have;
	if (hits && !have && attach == KERNEL_ATTACH_PERF)
		return diag_error_r(-EINVAL, "query-cache-hit needs thousands of probes, more than "
					     "perf events can be; leave out --attach perf");
	if (k->governed && !have && attach == KERNEL_ATTACH_PERF)
		return diag_error_r(-EINVAL,
				    "no budget can be kept with perf events, which take up "
				    "to a second each to remove; leave out --attach perf");
	if ((hits || k->governed || attach == KERNEL_ATTACH_MULTI) && !have) {
		char missing[128];

		if (privilege_missing(privilege_effective(), 0, missing, sizeof(missing))) {
			privilege_explain("attach", 0);
			return -EPERM;
		}
		return diag_error_r(-ENOSYS,
				    "this kernel has no uprobe_multi links (they came with 6.6); "
				    "%s",
				    leave_out);
	}
	return 0;
}

static int load_with(struct kernel *k, const struct kernel_options *opt, bool switches)
{
	k->skel = qprof_bpf__open();
	if (!k->skel)
		return -errno;
	list_programs(k, opt);
	bpf_program__set_autoload(k->skel->progs.on_switch, switches);
	if (k->multi) {
		int type = probes_multi_attach_type();

		bpf_program__set_expected_attach_type(k->skel->progs.qprof_site, type);
		bpf_program__set_expected_attach_type(k->skel->progs.qprof_label_site, type);
	}
	bpf_program__set_autoload(k->skel->progs.show_open, opt->only_open);
	bpf_map__set_max_entries(k->skel->maps.ring, (uint32_t)opt->ring_bytes);
	/* Early enough that the reader finds room to be slow in. */
	k->skel->rodata->knobs.wakeup_bytes = (uint32_t)(opt->ring_bytes / 8);
	k->skel->rodata->knobs.callers = opt->callers;
	k->skel->rodata->knobs.silent = opt->only_open;
	k->skel->rodata->knobs.governed = opt->governed;
	return qprof_bpf__load(k->skel);
}

/*
 * A program whose tracepoint the kernel does not know keeps all of them from being loaded. To ask
 * first would be to read the kernel's types twice, which takes longer than to verify a program.
 */
static int load(struct kernel *k, const struct kernel_options *opt)
{
	int err = load_with(k, opt, opt->off_cpu), why = err;

	if (err && opt->off_cpu) {
		qprof_bpf__destroy(take_ptr(k->skel));
		err = load_with(k, opt, false);
		if (!err)
			tell_no_switches(why);
	}
	return err ? explain_load(err) : 0;
}

/* The life of processes; the probes come with each library, flush_all is read when asked. */
static int attach_lifecycle(struct kernel *k)
{
	struct qprof_bpf *s = k->skel;

	if (bpf_program__autoload(s->progs.on_switch)) {
		s->links.on_switch = bpf_program__attach(s->progs.on_switch);
		if (!s->links.on_switch)
			tell_no_switches(-errno);
	}

	s->links.on_fork = bpf_program__attach(s->progs.on_fork);
	s->links.on_exec = bpf_program__attach(s->progs.on_exec);
	s->links.on_exit = bpf_program__attach(s->progs.on_exit);
	if (s->links.on_fork && s->links.on_exec && s->links.on_exit)
		return 0;
	return diag_error_r(-errno,
			    "cannot follow processes: %s; see whether another tracer "
			    "holds the sched tracepoints",
			    strerror(errno));
}

/* What would fail later, with a worse explanation, or would find nothing. */
static int check_surroundings(const struct kernel_options *opt)
{
	bool perf = opt->attach == KERNEL_ATTACH_PERF;
	char missing[128];
	struct stat ns;

	if (privilege_missing(privilege_effective(), perf, missing, sizeof(missing))) {
		privilege_explain("attach", perf);
		return -EPERM;
	}
	/* The kernel half knows processes by the numbers that the first namespace has for them. */
	if (!stat("/proc/self/ns/pid", &ns) && ns.st_ino != FIRST_PID_NAMESPACE)
		return diag_error_r(-ENOTSUP,
				    "cannot follow processes from inside a container with "
				    "process numbers of its own; run it on the host, or in "
				    "a container that shares the host's (docker run --pid=host)");
	return 0;
}

int kernel__open(const struct kernel_options *opt, struct kernel **out)
{
	_kernel_ struct kernel *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return diag_error_r(-ENOMEM, "out of memory");
	libbpf_set_print(print_libbpf);
	k->ring_bytes = opt->ring_bytes;
	k->governed = opt->governed;
	err = check_surroundings(opt);
	if (!err)
		err = choose_attach(k, opt->attach, wants_hits(opt));
	if (!err)
		err = load(k, opt);
	if (!err)
		err = attach_lifecycle(k);
	if (err)
		return err;
	k->ring = ring_buffer__new(bpf_map__fd(k->skel->maps.ring), on_record, k, NULL);
	if (!k->ring)
		return diag_error_r(-errno, "cannot map the ring buffer: %s", strerror(errno));
	*out = take_ptr(k);
	return 0;
}

static void raise_limit_by(uint32_t n)
{
	struct rlimit lim, most;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return;
	most = lim;
	most.rlim_cur = lim.rlim_max;
	lim.rlim_cur += 2ul * n;
	if (lim.rlim_max < lim.rlim_cur)
		lim.rlim_max = lim.rlim_cur;
	/* Only CAP_SYS_RESOURCE goes beyond what was the most. */
	if (setrlimit(RLIMIT_NOFILE, &lim))
		setrlimit(RLIMIT_NOFILE, &most);
}

/* One perf event is one descriptor; the usual limit of 1,024 is less than a plan. */
static void raise_file_limit(uint32_t n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	raise_limit_by(n);
	pthread_mutex_unlock(&lock);
}

static int attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		  unsigned int n)
{
	bool governed = k->governed && plan->n_queries;
	bool callers = k->progs[WIRE_ROLE_REQUEST];
	struct tables tables = {
		.providers = bpf_map__fd(k->skel->maps.providers),
		.steps = bpf_map__fd(k->skel->maps.steps),
		.wrappers = bpf_map__fd(k->skel->maps.wrappers),
	};
	_choice_ struct choice c;
	int err = choice__init(&c, plan, filter, (uint8_t)n, callers);

	if (err)
		return err;
	/* One link of a unit is one as well. */
	if (!k->multi || governed)
		raise_file_limit(choice__sites(&c));
	err = tables_fill(&tables, &c);
	if (!err)
		err = probes__attach(k->progs, &c, k->multi, governed, &k->libs[n]);
	/* They are the budget's to attach. */
	if (!err && governed)
		err = units__new(k->progs, &c, &k->units[n]);
	for (uint32_t i = 0; i < plan->n_sites && governed; i++)
		k->fixed_sites[n] +=
			!units_have(&plan->sites[i]) && choice__wants(&c, &plan->sites[i]);
	if (!err)
		diag_verbose("attached %u of %u probes to %s by %s", choice__sites(&c),
			     plan->n_sites, plan->path, kernel__attach_name(k));
	return err;
}

/* A failure uses the number up: what was filled in for it would speak for the next library. */
int kernel__attach(struct kernel *k, const struct plan *plan, const struct filter *filter,
		   uint8_t *lib)
{
	unsigned int n = __atomic_fetch_add(&k->n_libs, 1, __ATOMIC_RELAXED);
	int err;

	if (n >= WIRE_MAX_LIBS) {
		k->n_libs = WIRE_MAX_LIBS;
		return diag_error_r(-ENOSPC, "cannot attach to %s: too many toolchains at once",
				    plan->path);
	}
	err = attach(k, plan, filter, n);
	/* A deleted library can be reached only as long as its process lives. */
	if ((err == -EPERM || err == -EACCES) && !faccessat(AT_FDCWD, plan->path, R_OK, AT_EACCESS))
		privilege_explain("attach", !k->multi);
	else if (err)
		diag_error("cannot attach to %s: %s", plan->path, strerror(-err));
	if (err) {
		kernel__detach(k, (uint8_t)n);
		return err;
	}
	*lib = (uint8_t)n;
	return 0;
}

int kernel__attach_hits(struct kernel *k, uint8_t lib, const struct plan *plan,
			const struct plan_hits *hits)
{
	struct choice c = {.plan = plan, .lib = lib};
	int err = probes__attach_hits(k->libs[lib], k->progs[WIRE_ROLE_HIT], &c, hits);

	if (err == -EPERM || err == -EACCES)
		privilege_explain("attach", false);
	else if (err)
		diag_error("cannot attach to the cache hits of %s: %s", plan->path, strerror(-err));
	else
		diag_verbose("attached %u more, for cache hits", hits->n);
	return err;
}

void kernel__detach(struct kernel *k, uint8_t lib)
{
	if (!k->multi)
		return;
	probes__free(take_ptr(k->libs[lib]));
	units__free(take_ptr(k->units[lib]));
	k->fixed_sites[lib] = 0;
}

struct units *kernel__units(struct kernel *k, uint8_t lib)
{
	return k->units[lib];
}

uint32_t kernel__sites(const struct kernel *k, uint8_t lib)
{
	return k->fixed_sites[lib] + units__sites(k->units[lib]);
}

void kernel__count_only(struct kernel *k, uint8_t lib, uint32_t query, bool counted)
{
	k->skel->bss->watched[WIRE_WATCHED(lib, query)].counted = counted;
}

/*
 * The clock is read here and not before: a start reads it, then asks whether it is to be counted.
 * One that was not told so yet must have an earlier time, and the fence is for that.
 */
void kernel__lapse(struct kernel *k, uint8_t lib, uint32_t query)
{
	__sync_synchronize();
	k->skel->bss->watched[WIRE_WATCHED(lib, query)].lapsed_ns = clock_ns(CLOCK_MONOTONIC);
}

uint64_t kernel__hits(const struct kernel *k)
{
	int n_cpus = libbpf_num_possible_cpus();
	_free_ uint64_t *values = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*values)) : NULL;
	uint32_t key = WIRE_COUNT_HITS;
	uint64_t sum = 0;

	if (!values || bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.counters), &key, values))
		return 0;
	for (int cpu = 0; cpu < n_cpus; cpu++)
		sum += values[cpu];
	return sum;
}

int kernel__follow(struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid, one = 1;

	return bpf_map_update_elem(bpf_map__fd(k->skel->maps.targets), &key, &one, BPF_ANY) ? -errno
											    : 0;
}

void kernel__unfollow(struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(k->skel->maps.targets), &key);
}

bool kernel__follows_any(const struct kernel *k)
{
	uint32_t key;

	return !bpf_map_get_next_key(bpf_map__fd(k->skel->maps.targets), NULL, &key);
}

bool kernel__follows(const struct kernel *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid, value;

	return !bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.targets), &key, &value);
}

int kernel__hide_label(struct kernel *k, const struct wire_label *r)
{
	struct wire_label_state state = {.label = r->label, .hidden = 1};

	return bpf_map_update_elem(bpf_map__fd(k->skel->maps.labels), &r->key, &state, BPF_ANY)
		       ? -errno
		       : 0;
}

void kernel__enable(struct kernel *k, bool on)
{
	k->skel->bss->enabled = on;
}

/* Wait until every program that was running has ended, but for those that may sleep. */
static void wait_for_programs(void)
{
	/* A grace period of RCU, which programs run under. Without it we are right nearly always.
	 */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* Run a program over all tasks. */
static int read_tasks(const struct bpf_link *link)
{
	_close_ int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char buf[64];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Leaves alone, and counts, those whose stacks are at work. */
static int read_flush_all(struct kernel *k, const struct bpf_link *link)
{
	k->skel->bss->n_busy = 0;
	return read_tasks(link);
}

/* A program that sleeps waits for a page, or for a CPU. */
static int flush_all(struct kernel *k)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	struct bpf_link *link = bpf_program__attach_iter(k->skel->progs.flush_all, NULL);
	int err = read_flush_all(k, link);

	for (int i = 0; i < BUSY_TRIES && !err && k->skel->bss->n_busy; i++) {
		nanosleep(&pause, NULL);
		err = read_flush_all(k, link);
	}
	bpf_link__destroy(link);
	return err ?: k->skel->bss->n_busy ? -EBUSY : 0;
}

int kernel__show_open(struct kernel *k, pid_t tid)
{
	struct qprof_bpf *s = k->skel;

	if (!s->links.show_open)
		s->links.show_open = bpf_program__attach_iter(s->progs.show_open, NULL);
	s->bss->open_tid = (uint32_t)tid;
	return read_tasks(s->links.show_open);
}

/*
 * Waits twice: a program that still ran would use a stack while it is flushed; and a record that
 * was still being written would hide from the reader those that come after it.
 */
int kernel__flush_open(struct kernel *k)
{
	int err = 0;

	/* Nobody runs who could have anything on a stack. */
	if (!kernel__follows_any(k))
		return 0;
	wait_for_programs();
	err = flush_all(k);
	wait_for_programs();
	return err;
}

int kernel__ring_fd(const struct kernel *k)
{
	return ring_buffer__epoll_fd(k->ring);
}

int kernel__drain(struct kernel *k, kernel_record_fn fn, void *ctx)
{
	int n;

	k->fn = fn;
	k->ctx = ctx;
	k->handed_over = 0;
	n = ring_buffer__consume(k->ring);
	return n < 0 && n != ENOUGH ? n : 0;
}

static uint64_t misses_of(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (!prog || bpf_program__fd(prog) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
		return 0;
	return info.recursion_misses;
}

/* Hits, and switches, for which the kernel did not run the program, as one of ours was running. */
static uint64_t recursion_misses(const struct kernel *k)
{
	const struct qprof_bpf *s = k->skel;

	return misses_of(s->progs.on_switch) + misses_of(s->progs.qprof_site) +
	       misses_of(s->progs.qprof_label_site);
}

int kernel__counters(const struct kernel *k, uint64_t counters[WIRE_COUNTER_MAX])
{
	int n_cpus = libbpf_num_possible_cpus();
	_free_ uint64_t *values = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*values)) : NULL;

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < WIRE_COUNTER_MAX; i++) {
		counters[i] = 0;
		if (bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.counters), &i, values))
			return -errno;
		for (int cpu = 0; cpu < n_cpus; cpu++)
			counters[i] += values[cpu];
	}
	counters[WIRE_LOST_RECURSION] += recursion_misses(k);
	return 0;
}

int kernel__reset_counters(struct kernel *k)
{
	int n_cpus = libbpf_num_possible_cpus();
	_free_ uint64_t *zeros = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*zeros)) : NULL;

	if (!zeros)
		return -ENOMEM;
	for (uint32_t i = 0; i < WIRE_COUNTER_MAX; i++)
		if (bpf_map_update_elem(bpf_map__fd(k->skel->maps.counters), &i, zeros, BPF_ANY))
			return -errno;
	return 0;
}

const char *kernel__attach_name(const struct kernel *k)
{
	return k->multi ? "uprobe_multi" : "perf events";
}

/* Returns once every copy of the pipe's other end is closed: the process that had it is gone. */
static void wait_for_exit(int pipe_end)
{
	char byte;

	while (read(pipe_end, &byte, 1) < 0 && errno == EINTR)
		;
}

/*
 * Somebody may wait for the end of a pipe, or for a lock, that we were started with. What is ours
 * is closed on exec, so the rest is theirs.
 */
static void close_inherited(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *ent;

	while (dir && (ent = readdir(dir))) {
		int fd = atoi(ent->d_name), flags = fd > 2 ? fcntl(fd, F_GETFD) : -1;

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/*
 * Leave the slow removal of perf events to a child that owns nothing else of ours: no terminal, no
 * pipe that somebody waits on. Whoever closes an event last removes it, so the child waits until
 * we have exited; it ends as soon as the kernel is done.
 */
static void detach_in_background(struct kernel *k)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), alive[2];
	pid_t pid = null < 0 || pipe2(alive, O_CLOEXEC) ? -1 : fork();

	if (pid == 0) {
		close(alive[1]);
		setsid();
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		close_inherited();
		wait_for_exit(alive[0]);
		for (unsigned int i = 0; i < k->n_libs; i++)
			probes__free(k->libs[i]);
		_exit(0);
	}
	/* alive[1] stays open for as long as we live. */
	k->owned_elsewhere = pid > 0;
}

/* All at once: see probes__begin_free(). */
void kernel__begin_free(struct kernel *k)
{
	if (k->skel && k->skel->bss)
		k->skel->bss->enabled = 0;
	for (unsigned int i = 0; i < k->n_libs && k->multi; i++) {
		probes__begin_free(k->libs[i]);
		units__begin_free(k->units[i]);
	}
}

void kernel__free(struct kernel *k)
{
	if (!k)
		return;
	kernel__begin_free(k);
	if (!k->multi && k->n_libs)
		detach_in_background(k);
	/* Even disabling a perf event waits for its removal: the child's to do, then. */
	for (unsigned int i = 0; i < k->n_libs; i++) {
		if (k->owned_elsewhere)
			probes__abandon(k->libs[i]);
		else
			probes__free(k->libs[i]);
		units__free(k->units[i]);
	}
	ring_buffer__free(k->ring);
	qprof_bpf__destroy(k->skel);
	free(k);
}
