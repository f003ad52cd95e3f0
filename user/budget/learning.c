// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/learning.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "budget/usual.h"

#define NO_LIB 0xff
/* Probes take less of a compiler's CPU time than this. */
#define MOST_PROBES 0.9

struct library {
	struct rates *learnt; /* NULL: not added */
	bool *queries;	      /* by query: probed, and not hidden */
	bool *groups;
	uint32_t *group_of; /* by guard */
	uint32_t n_guards;
	uint32_t waiting, loading; /* groups: all guards of a kind are one; or UINT32_MAX */
	double usual_others;	   /* usual executions a second of queries that are not probed */
	uint64_t added_ns;
};

/* A compiler. */
struct process {
	pid_t pid;
	clockid_t clock;
	uint64_t first_ns; /* when it was first seen */
	uint64_t read_ns;  /* when its CPU time was read last */
	uint64_t old_ns;   /* CPU time before it was first seen */
	uint64_t cpu_ns;   /* since then */
	uint64_t intervals;
	uint64_t executions; /* of these */
	uint64_t before;     /* results before the first that was seen; UINT64_MAX: none was */
	uint64_t results;    /* that rustc has numbered so far, of queries with probes or without */
	uint8_t lib;	     /* of the last interval that was recorded */
};

struct learning {
	struct costs costs;
	struct library libs[LEARNING_LIBS];
	struct process *processes;
	uint32_t n_processes;
	uint32_t room;
};

int learning__new(struct learning **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void learning__set_costs(struct learning *l, const struct costs *costs)
{
	l->costs = *costs;
}

/* ---- Libraries ------------------------------------------------------------------------------- */

static uint32_t group_of_kind(const struct plan *plan, const struct chosen *chosen, uint8_t kind)
{
	for (uint32_t i = 0; i < plan->n_guards; i++)
		if (plan->guards[i].kind == kind)
			return chosen->group_of[i];
	return UINT32_MAX;
}

static void clear_library(struct library *lib)
{
	rates__free(lib->learnt);
	free(lib->queries);
	free(lib->groups);
	free(lib->group_of);
	*lib = (struct library){};
}

static int fill_library(struct library *lib, const struct plan *plan, const bool *queries,
			const struct chosen *chosen)
{
	int err = rates__new(plan, &lib->learnt);

	lib->queries = calloc(plan->n_queries + 1UL, sizeof(*lib->queries));
	lib->groups = calloc(chosen->n_groups + 1UL, sizeof(*lib->groups));
	lib->group_of = calloc(plan->n_guards + 1UL, sizeof(*lib->group_of));
	if (err || !lib->queries || !lib->groups || !lib->group_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		lib->queries[i] = queries[i] && chosen->queries[i];
		lib->usual_others += lib->queries[i] ? 0 : usual_rate(plan->queries[i].name);
	}
	memcpy(lib->groups, chosen->groups, chosen->n_groups * sizeof(*lib->groups));
	memcpy(lib->group_of, chosen->group_of, plan->n_guards * sizeof(*lib->group_of));
	lib->n_guards = plan->n_guards;
	lib->waiting = group_of_kind(plan, chosen, WIRE_KIND_BLOCKED);
	lib->loading = group_of_kind(plan, chosen, WIRE_KIND_LOAD);
	lib->added_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

int learning__add_library(struct learning *l, uint8_t lib, const struct plan *plan,
			  const bool *queries, const struct chosen *chosen)
{
	int err;

	if (lib >= LEARNING_LIBS || l->libs[lib].learnt)
		return 0;
	err = fill_library(&l->libs[lib], plan, queries, chosen);
	if (err)
		clear_library(&l->libs[lib]);
	return err;
}

static struct library *find_library(struct learning *l, uint8_t lib)
{
	return lib < LEARNING_LIBS && l->libs[lib].learnt ? &l->libs[lib] : NULL;
}

/* ---- Compilers ------------------------------------------------------------------------------- */

static struct process *find_process(const struct learning *l, pid_t pid)
{
	/* The last that was added is asked for most. */
	for (uint32_t i = l->n_processes; i-- > 0;)
		if (l->processes[i].pid == pid)
			return &l->processes[i];
	return NULL;
}

/* False: it is gone. */
static bool read_cpu(const struct process *p, uint64_t *ns)
{
	struct timespec ts;

	if (clock_gettime(p->clock, &ts))
		return false;
	*ns = clock_of_timespec(&ts);
	return true;
}

static void advance(struct process *p, uint64_t now_ns)
{
	uint64_t ns;

	if (!read_cpu(p, &ns) || ns < p->old_ns)
		return;
	p->cpu_ns = ns - p->old_ns;
	p->read_ns = now_ns;
}

/* A thread of a compiler hit its first probe: of a new process, or of one that is known. */
static int add_process(struct learning *l, pid_t pid)
{
	struct process p = {.pid = pid, .lib = NO_LIB, .before = UINT64_MAX};

	if (find_process(l, pid) || clock_getcpuclockid(pid, &p.clock) || !read_cpu(&p, &p.old_ns))
		return 0;
	if (array__reserve_one(&l->processes, l->n_processes, &l->room, sizeof(p)))
		return -ENOMEM;
	p.first_ns = p.read_ns = clock_ns(CLOCK_MONOTONIC);
	l->processes[l->n_processes++] = p;
	return 0;
}

/* The CPU time since the last read: it cannot be read any more. */
static void estimate_rest(struct process *p, uint64_t end_ns)
{
	uint64_t rest = end_ns > p->read_ns ? end_ns - p->read_ns : 0;
	uint64_t known = p->read_ns - p->first_ns;

	if (known)
		rest = (uint64_t)((double)rest * (double)p->cpu_ns / (double)known);
	p->cpu_ns += rest;
}

/* Its CPU time without what its probes took, in seconds. */
static double plain_s(const struct learning *l, const struct process *p)
{
	double cpu = (double)p->cpu_ns / 1e9;
	double probes = 2 * (double)p->intervals * (double)l->costs.hit_ps / 1e12;

	return cpu - (probes < cpu * MOST_PROBES ? probes : cpu * MOST_PROBES);
}

static void learn_others(struct rates *r, const struct library *lib, const struct process *p,
			 double cpu_s)
{
	/* Those from before a late attach took no CPU time that is known. */
	uint64_t results = p->results ? p->results - p->before : 0;

	if (results <= p->executions)
		return;
	r->others += (double)(results - p->executions);
	r->usual_others += lib->usual_others * cpu_s;
}

static void end_process(struct learning *l, struct process *p)
{
	struct library *lib = find_library(l, p->lib);
	double cpu_s = plain_s(l, p);
	struct rates *r = lib ? lib->learnt : NULL;

	if (lib)
		learn_others(r, lib, p, cpu_s);
	*p = l->processes[--l->n_processes];
	if (!lib)
		return;
	r->compilers++;
	r->cpu_s += cpu_s;
	for (uint32_t i = 0; i < r->n; i++)
		r->queries[i].cpu_s += lib->queries[i] ? cpu_s : 0;
	for (uint32_t i = 0; i < r->n_groups; i++)
		r->groups[i].cpu_s += lib->groups[i] ? cpu_s : 0;
}

static void remove_process(struct learning *l, const struct wire_exit *r)
{
	struct process *p = find_process(l, (pid_t)r->pid);

	if (!p)
		return;
	estimate_rest(p, r->time_ns);
	end_process(l, p);
}

void learning__tick(struct learning *l)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (uint32_t i = 0; i < l->n_processes; i++)
		advance(&l->processes[i], now_ns);
}

void learning__end(struct learning *l)
{
	learning__tick(l);
	while (l->n_processes)
		end_process(l, &l->processes[l->n_processes - 1]);
}

/* ---- Records --------------------------------------------------------------------------------- */

static uint32_t group_of(const struct library *lib, const struct wire_span *r)
{
	switch (r->kind) {
	case WIRE_KIND_ACTIVITY:
		return r->query < lib->n_guards ? lib->group_of[r->query] : UINT32_MAX;
	case WIRE_KIND_BLOCKED:
		return lib->waiting;
	case WIRE_KIND_LOAD:
		return lib->loading;
	default:
		return UINT32_MAX;
	}
}

/* Threads give numbers in another order than their records come. */
static void add_result(struct process *p, uint32_t number)
{
	if (number == WIRE_NO_INVOCATION)
		return;
	if (number < p->before)
		p->before = number;
	if (number >= p->results)
		p->results = number + 1ul;
}

static void on_span(struct learning *l, const struct wire_span *r)
{
	struct library *lib = find_library(l, r->lib);
	struct process *p = lib ? find_process(l, (pid_t)r->pid) : NULL;
	uint32_t group;

	if (!p)
		return;
	p->lib = r->lib;
	p->intervals++;
	if (r->kind == WIRE_KIND_QUERY) {
		p->executions++;
		add_result(p, r->invocation);
		if (r->query < lib->learnt->n)
			lib->learnt->queries[r->query].executions++;
		return;
	}
	group = group_of(lib, r);
	if (group < lib->learnt->n_groups)
		lib->learnt->groups[group].intervals++;
}

int learning__record(struct learning *l, const void *record, size_t size)
{
	switch (size ? *(const wire_u8 *)record : 0) {
	case WIRE_SPAN:
		on_span(l, record);
		return 0;
	case WIRE_THREAD:
		return add_process(l, (pid_t)((const struct wire_thread *)record)->pid);
	case WIRE_EXIT:
		remove_process(l, record);
		return 0;
	default:
		return 0;
	}
}

const struct rates *learning__of(const struct learning *l, uint8_t lib)
{
	return lib < LEARNING_LIBS ? l->libs[lib].learnt : NULL;
}

void learning__free(struct learning *l)
{
	if (!l)
		return;
	for (int i = 0; i < LEARNING_LIBS; i++)
		clear_library(&l->libs[i]);
	free(l->processes);
	free(l);
}
