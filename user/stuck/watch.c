// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/watch.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "capture/broker.h"
#include "capture/running.h"
#include "proc/processes.h"
#include "proc/programs.h"
#include "stuck/answers.h"
#include "stuck/visit.h"
#include "decode/command.h"

#define RING_BYTES (16u << 20)
/*
 * A look waits so long for unwind tables that are being made: those of a compiler take 0.4 s. Its
 * processes run meanwhile.
 */
#define TABLES_NS 5000000000ull

struct watched {
	pid_t pid;
	struct walker *walker; /* NULL: its mappings are not readable */
};

struct watch {
	struct broker *broker; /* reads the processes, where a read may block */
	struct session *session;
	struct filter *filter;
	struct walked_files *files;
	struct watched *watched;
	uint32_t n_watched, watched_capacity;
	uint64_t started_ns;
	uint64_t begun_ns;	  /* not 0: what threads are in is recorded, as begun before then */
	bool borrowed;		  /* the session is another's */
	uint64_t tables_until_ns; /* this look waits for unwind tables until then */
	struct answers answers;
};

/* ---- One process ----------------------------------------------------------------------------- */

/* NULL: its stacks are not readable. */
static struct walker *walker_of(struct watch *w, pid_t pid)
{
	struct watched *p = NULL;

	for (uint32_t i = 0; i < w->n_watched && !p; i++)
		if (w->watched[i].pid == pid)
			p = &w->watched[i];
	if (!p) {
		if (array__reserve_one(&w->watched, w->n_watched, &w->watched_capacity,
				       sizeof(*w->watched)))
			return NULL;
		p = &w->watched[w->n_watched++];
		*p = (struct watched){.pid = pid};
	}
	if (!p->walker && walker__new(pid, w->broker, w->files, &p->walker))
		return NULL;
	if (walker__refresh(p->walker, w->tables_until_ns))
		walker__free(take_ptr(p->walker));
	return p->walker;
}

static void name_process(struct watch *w, struct snapshot_process *p)
{
	_arguments_ struct arguments args = {0};
	struct command c;

	if (broker__arguments(w->broker, p->pid, &args) ||
	    command__parse(&c, args.bytes, args.size, args.cut))
		return;
	p->crate = take_ptr(c.crate);
	p->crate_type = take_ptr(c.crate_type);
	p->command = take_ptr(c.line);
	command__clear(&c);
}

/* Without the library, its mappings are not readable either. */
static int look_at_process(struct watch *w, pid_t pid, const struct library_file *library,
			   struct snapshot_process *p)
{
	struct visit v = {
		.session = w->session,
		.answers = &w->answers,
		.broker = w->broker,
		.pid = pid,
		.begun_ns = w->begun_ns,
	};
	_tasks_ struct tasks tasks;
	int err = tasks__read(&tasks, pid);

	*p = (struct snapshot_process){.pid = pid, .age_ns = tasks.age_ns};
	if (err)
		return err;
	name_process(w, p);
	err = visit__begin(&v);
	if (err)
		return err;
	v.crate = p->crate;
	v.lib = answers__compiler(&w->answers, library);
	v.compiler = v.lib < 0 ? NULL : w->answers.compilers[v.lib];
	v.walker = library ? walker_of(w, pid) : NULL;
	p->threads = calloc(tasks.n + 1UL, sizeof(*p->threads));
	if (!p->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < tasks.n; i++) {
		struct snapshot_thread *t = &p->threads[p->n_threads];

		t->task = tasks.items[i];
		err = visit__thread(&v, t);
		if (err && err != -ESRCH)
			return err;
		p->n_threads += !err;
	}
	return 0;
}

/*
 * A process that is not readable is judged by its name alone; *library is NULL then. *problem is
 * why its library cannot be read, if that is known, or NULL.
 */
static bool is_compiler(struct watch *w, pid_t pid, struct library_file **library,
			const char **problem)
{
	char name[32];
	int err = broker__library(w->broker, pid, library, NULL);

	*problem = running_why_closed(err);
	if (err != -ETIME && err != -BROKER_SERVED)
		return !err;
	process_name(pid, name, sizeof(name));
	return is_compiler_program(name);
}

static int add_process(struct watch *w, pid_t pid, const struct library_file *library,
		       struct snapshot *p)
{
	int err = array__reserve_one(&p->processes, p->n, &p->capacity, sizeof(*p->processes));

	if (err)
		return err;
	err = look_at_process(w, pid, library, &p->processes[p->n]);
	/* Count it even on failure, so that its memory is freed. */
	p->n++;
	return err == -ESRCH ? 0 : err;
}

static bool is_below_compiler(const struct snapshot *p, pid_t parent)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->processes[i].pid == parent)
			return true;
	for (uint32_t i = 0; i < p->n_others; i++)
		if (p->others[i].pid == parent)
			return p->others[i].kind == OTHER_LINKER;
	return false;
}

static int add_other(struct watch *w, pid_t pid, const char *problem, struct snapshot *p)
{
	bool below = is_below_compiler(p, process_parent(pid));
	int err = array__reserve_one(&p->others, p->n_others, &p->others_capacity,
				     sizeof(*p->others));

	if (err)
		return err;
	err = other__read(&p->others[p->n_others], w->broker, pid, below);
	if (err)
		other__clear(&p->others[p->n_others]);
	else
		p->n_others++;
	if (!err && p->others[p->n_others - 1].kind == OTHER_COMPILER)
		p->others[p->n_others - 1].problem = problem;
	return err == -ESRCH ? 0 : err;
}

int watch__look(struct watch *w, pid_t pid, struct snapshot *p)
{
	struct process_list list;
	uint32_t n = 0;
	int err = process_list__descendants(pid, &list);

	p->time_ns = clock_ns(CLOCK_MONOTONIC);
	p->watched_ns = p->time_ns - w->started_ns;
	w->tables_until_ns = p->time_ns + TABLES_NS;
	for (size_t i = 0; i < list.n && !err; i++) {
		_library_file_ struct library_file *library = NULL;
		const char *problem;

		if (list.pids[i] == getpid())
			continue;
		err = is_compiler(w, list.pids[i], &library, &problem)
			      ? add_process(w, list.pids[i], library, p)
			      : add_other(w, list.pids[i], problem, p);
	}
	process_list__clear(&list);
	for (uint32_t i = 0; i < w->n_watched; i++) {
		if (process_is_running(w->watched[i].pid))
			w->watched[n++] = w->watched[i];
		else
			walker__free(w->watched[i].walker);
	}
	w->n_watched = n;
	return err == -ESRCH ? 0 : err;
}

void watch__prepare(struct watch *w, pid_t pid)
{
	w->tables_until_ns = clock_ns(CLOCK_MONOTONIC) + TABLES_NS;
	walker_of(w, pid);
}

int watch__begin(struct watch *w, pid_t pid, uint64_t begun_ns, struct snapshot *p)
{
	_library_file_ struct library_file *library = NULL;
	const char *problem;
	int err = 0;

	p->time_ns = clock_ns(CLOCK_MONOTONIC);
	p->watched_ns = p->time_ns - begun_ns;
	w->begun_ns = begun_ns;
	w->tables_until_ns = p->time_ns + TABLES_NS;
	if (is_compiler(w, pid, &library, &problem) && library)
		err = add_process(w, pid, library, p);
	return err == -ESRCH ? 0 : err;
}

/* ---- The watch ------------------------------------------------------------------------------- */

static int open_parts(struct watch *w)
{
	int err;

	if (!w)
		return diag_error_r(-ENOMEM, "out of memory");
	err = broker__new(&w->broker);
	if (err)
		return diag_error_r(err, "cannot look at processes: %s%s", strerror(-err),
				    diag_step(err, ""));
	err = walked_files__new(w->broker, &w->files);
	return err ? diag_error_r(err, "out of memory") : 0;
}

int watch__open(struct watch **out)
{
	_watch_ struct watch *w = calloc(1, sizeof(*w));
	struct session_sink sink = {
		.ctx = &w->answers,
		.take = answers__take,
		.unnamed = true,
	};
	struct kernel_options opt = {
		.ring_bytes = RING_BYTES,
		.off_cpu = true,
		.only_open = true,
		.keys = true,
	};
	int err = open_parts(w);

	if (err)
		return err;
	err = filter__new(&(const char *){"default,query-provider"}, 1, &w->filter);
	if (err)
		return diag_error_r(err, "out of memory");
	opt.filter = w->filter;
	err = session__open(&opt, &sink, &w->session);
	if (err)
		return err;
	*out = take_ptr(w);
	return 0;
}

int watch__open_beside(struct session *s, struct answers **answers, struct watch **out)
{
	_watch_ struct watch *w = calloc(1, sizeof(*w));
	int err = open_parts(w);

	if (err)
		return err;
	w->session = s;
	w->borrowed = true;
	*answers = &w->answers;
	*out = take_ptr(w);
	return 0;
}

int watch__follow(struct watch *w, pid_t pid, unsigned int *compilers)
{
	return session__follow_running(w->session, pid, compilers);
}

void watch__start(struct watch *w)
{
	/* Without samples, it cannot fail. */
	session__start(w->session);
	w->started_ns = clock_ns(CLOCK_MONOTONIC);
}

int watch__drain(struct watch *w)
{
	return session__drain(w->session);
}

int watch__suspend(struct watch *w)
{
	return session__suspend(w->session);
}

int watch__hits(const struct watch *w, uint64_t *hits, uint64_t *lost)
{
	uint64_t counters[WIRE_COUNTER_MAX];
	int err = session__counters(w->session, counters);

	if (err)
		return err;
	*hits = counters[WIRE_COUNT_HITS] + counters[WIRE_LOST_RECURSION];
	*lost = counters[WIRE_LOST_NO_STORAGE] + counters[WIRE_LOST_RECURSION];
	return 0;
}

void watch__free(struct watch *w)
{
	if (!w)
		return;
	if (!w->borrowed)
		session__free(w->session);
	filter__free(w->filter);
	for (uint32_t i = 0; i < w->n_watched; i++)
		walker__free(w->watched[i].walker);
	walked_files__free(w->files);
	answers__clear(&w->answers);
	broker__free(w->broker);
	free(w->watched);
	free(w);
}
