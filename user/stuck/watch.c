// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/watch.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "capture/look.h"
#include "plan/symbols/function_name.h"
#include "proc/processes.h"
#include "proc/programs.h"
#include "plan/symbols/cxx_name.h"
#include "stuck/answers.h"
#include "stuck/items.h"
#include "stuck/walk.h"
#include "tracks/command.h"

#define RING_BYTES  (16u << 20)
#define OFTEN	    8	/* attempts to read a stack that keeps changing */
#define DRAIN_TRIES 200 /* 20 ms: a record still being written hides ours */
#define DRAIN_NS    100000
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
	struct look *look; /* reads the processes, where a read may block */
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

/* ---- Records from the kernel half ------------------------------------------------------------ */

static int on_library(void *ctx, uint8_t lib, const struct plan *plan)
{
	return answers__library(&((struct watch *)ctx)->answers, lib, plan);
}

static int on_record(void *ctx, const void *record, size_t size)
{
	return answers__record(&((struct watch *)ctx)->answers, record, size);
}

static int ask(void *ctx, pid_t tid)
{
	struct watch *w = ctx;

	answers__expect(&w->answers);
	return session__show_open(w->session, &(uint32_t){(uint32_t)tid}, 1);
}

static int wait_for_answer(struct watch *w)
{
	const struct timespec step = {.tv_nsec = DRAIN_NS};
	int err = session__drain(w->session);

	for (int i = 0; i < DRAIN_TRIES && !w->answers.has_stack && !err; i++) {
		nanosleep(&step, NULL);
		err = session__drain(w->session);
	}
	return err;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* NULL: no memory. The rest is shown anyway. */
static char *function_of(const struct call *c)
{
	const char *symbol = c->file ? walked_file__symbol(c->file, c->addr) : NULL;
	const char *slash = c->path ? strrchr(c->path, '/') : NULL;
	_free_ char *name = symbol ? function_path(symbol) : NULL;
	/* Rust's legacy mangling looks like C++. function_path() leaves only C++ names mangled. */
	char *cxx = name && !strncmp(name, "_Z", 2) ? cxx_name(name) : NULL;

	if (cxx || name)
		return cxx ?: take_ptr(name);
	return slash ? strdup(slash + 1) : NULL;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* A process may execute another program at any moment, and that may be another user's. */
struct program {
	uint64_t process_ns, execs; /* as in struct wire_open_stack */
};

/* The program that the last answer shows; execs 0: unknown. */
static struct program program_of(const struct watch *w)
{
	return w->answers.has_stack
		       ? (struct program){w->answers.stack.process_ns, w->answers.stack.execs}
		       : (struct program){0};
}

static bool is_same(struct program a, struct program b)
{
	return a.execs && a.execs == b.execs && a.process_ns == b.process_ns;
}

/* Of a task that is gone it is unknown. */
static int ask_for_program(struct watch *w, pid_t tid, struct program *program)
{
	int err = ask(w, tid) ?: wait_for_answer(w);

	if (!err)
		*program = program_of(w);
	return err;
}

/* ---- One thread ------------------------------------------------------------------------------ */

struct visit {
	struct watch *watch;
	struct walker *walker;
	const struct compiler *compiler;
	int lib; /* its number; negative: none */
	pid_t pid, tid;
	const char *crate;	/* of the process, or NULL */
	struct program program; /* whose mappings the walker has */
	uint64_t reads_ns;	/* that reads of the process's memory have taken */
	/* Of the thread. */
	struct snapshot_thread *thread;
	bool joined; /* its rows are found */
	struct stopped stopped;
	struct copied memory;
	struct calls calls;
};

static void visit__clear_thread(struct visit *l)
{
	copied__clear(&l->memory);
	calls__clear(&l->calls);
	l->stopped = (struct stopped){0};
	l->joined = false;
}

static int keep_functions(const struct visit *l, struct snapshot_thread *t)
{
	uint32_t n = l->calls.n < SNAPSHOT_FUNCTIONS ? l->calls.n : SNAPSHOT_FUNCTIONS;

	t->functions = calloc(n + 1UL, sizeof(*t->functions));
	if (!t->functions)
		return -ENOMEM;
	for (; t->n_functions < n; t->n_functions++)
		t->functions[t->n_functions] = function_of(&l->calls.items[t->n_functions]);
	return 0;
}

/* For all reads of a process, of which a path takes hundreds: the process can delay each. */
#define READS_NS 1000000000ull

static int read_memory(void *ctx, const struct look_memory *ranges, uint32_t n, uint8_t *bytes)
{
	struct visit *l = ctx;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (l->reads_ns > READS_NS)
		return -ETIME;
	err = look__memory(l->watch->look, l->pid, ranges, n, bytes);
	l->reads_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
	return err;
}

/* Also false if the thread has ended, or if that is unknown. */
static bool runs_same(void *ctx)
{
	struct visit *l = ctx;
	struct program now;

	return !ask_for_program(l->watch, l->tid, &now) && is_same(now, l->program);
}

/* Whether the call is in the compiler's library. */
static bool is_in_compiler(const struct visit *l, const struct call *c)
{
	const struct library_file *file = c->file ? walked_file__file(c->file) : NULL;

	return l->compiler && file && c->addr && compiler__is(l->compiler, file);
}

/* A thread without a stack has no base either. */
static int name_items(struct visit *l, struct snapshot_thread *t)
{
	struct item_names names = {
		.memory = {l, read_memory},
		.runs_same = runs_same,
		.layout = l->compiler ? compiler__layout(l->compiler) : NULL,
		.fs_base = l->stopped.fs_base,
		.crate = l->crate,
	};

	for (uint32_t i = 0; i < l->calls.n && !names.bias; i++)
		if (is_in_compiler(l, &l->calls.items[i]))
			names.bias = l->calls.items[i].pc - l->calls.items[i].addr;
	if (!names.layout || !names.fs_base || !names.bias)
		return 0;
	return item_names__find(&names, &t->rows);
}

/* The key that the query of call `i` is in, if it is a body's. */
static const struct plan_held_key *held_key(const struct visit *l, uint32_t i)
{
	const struct call *c = &l->calls.items[i];

	/* The pc is in the call instruction. */
	return is_in_compiler(l, c) ? compiler__held_key(l->compiler, c->addr + 1) : NULL;
}

static int find_preserved(struct visit *l)
{
	uint32_t calls[ITEMS_NAMED_MAX], n = 0;

	for (uint32_t i = 0; i < l->calls.n && n < ITEMS_NAMED_MAX; i++) {
		const struct plan_held_key *held = held_key(l, i);

		if (held && item_key__is_preserved(held))
			calls[n++] = i;
	}
	return calls__find_preserved(&l->calls, calls, n);
}

/* The calls with the keys of the queries whose bodies are on the stack. */
static int native_calls(struct visit *l, struct native_call *out)
{
	struct item_call at = {.calls = &l->calls, .stopped = &l->stopped, .memory = &l->memory};
	int err = find_preserved(l);

	for (uint32_t i = 0; i < l->calls.n && !err; i++) {
		const struct plan_held_key *held = held_key(l, i);

		at.index = i;
		out[i].sp = l->calls.items[i].sp;
		if (held)
			out[i].key = item_key(held, compiler__memory_key(l->compiler, held), &at);
	}
	return err;
}

static void take_entered(const struct watch *w, struct entered *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct entered){
			.sp = w->answers.frames[i].sp,
			.start_ns = w->answers.frames[i].start_ns,
			.name = answers__name(&w->answers, &w->answers.frames[i]),
			.number = w->answers.frames[i].query,
			.kind = w->answers.frames[i].kind,
			.key = w->answers.frames[i].kind == WIRE_KIND_QUERY
				       ? w->answers.frames[i].key
				       : 0,
		};
}

static const char *shown_name(const struct visit *l, const struct plan_shown *at)
{
	return at->kind == WIRE_KIND_ACTIVITY ? compiler__guard(l->compiler, at->guard)
					      : compiler__query(l->compiler, at->query);
}

/* The intervals that the stack shows: the caller frees *out. */
static int find_shown(const struct visit *l, struct shown **out, uint32_t *n)
{
	_free_ struct plan_frame_code *codes = calloc(l->calls.n + 1UL, sizeof(*codes));
	/* Guards nest in a frame, but there are few of them. */
	uint32_t most = 4 * l->calls.n;
	_free_ struct plan_shown *found = calloc(most + 1UL, sizeof(*found));
	_free_ struct shown *shown = calloc(most + 1UL, sizeof(*shown));

	*n = 0;
	if (!codes || !found || !shown)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->calls.n; i++)
		if (is_in_compiler(l, &l->calls.items[i]))
			codes[i] = plan_frames__code(compiler__frames(l->compiler),
						     l->calls.items[i].addr, false);
	if (l->compiler)
		*n = plan_frames__shown(compiler__frames(l->compiler), codes, l->calls.n, found,
					most);
	for (uint32_t i = 0; i < *n; i++)
		shown[i] = (struct shown){found[i], shown_name(l, &found[i])};
	*out = take_ptr(shown);
	return 0;
}

/* Join the recorded entries of this thread with what its stack shows. */
static int join_rows(struct visit *l, struct snapshot_thread *t)
{
	struct watch *w = l->watch;
	struct stuck_sources from = {
		.n_entered = w->answers.has_stack ? w->answers.n_frames : 0,
		.n_calls = l->calls.n,
		.whole = l->calls.whole,
	};
	_free_ struct entered *entered = calloc(from.n_entered + 1UL, sizeof(*entered));
	_free_ struct native_call *native = calloc(l->calls.n + 1UL, sizeof(*native));
	_free_ struct shown *shown = NULL;
	int err;

	if (!entered || !native)
		return -ENOMEM;
	take_entered(w, entered, from.n_entered);
	err = native_calls(l, native) ?: find_shown(l, &shown, &from.n_shown);
	if (err)
		return err;
	from.entered = entered;
	from.shown = shown;
	from.calls = native;
	t->n_calls = l->calls.n;
	t->whole = l->calls.whole;
	l->joined = true;
	return stuck_rows__find(&from, &t->rows);
}

/* The outermost rows, up to the first interval whose entry was recorded. */
static uint32_t list_begun(const struct visit *l, const struct stuck_rows *rows,
			   struct wire_begun out[WIRE_BEGUN_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows->n && !rows->items[i].exact && n < WIRE_BEGUN_MAX; i++) {
		const struct stuck_row *row = &rows->items[i];

		if (!compiler__begun(l->compiler, row->kind, row->query, row->guard, &out[n]))
			continue;
		out[n].sp = l->calls.items[row->call].sp;
		out[n].key = row->key;
		out[n].lib = (uint8_t)l->lib;
		n++;
	}
	return n;
}

/* The thread is stopped: what it is in is recorded from now on. */
static int begin_thread(struct visit *l)
{
	struct wire_begun begun[WIRE_BEGUN_MAX];
	struct watch *w = l->watch;
	uint32_t n;
	int err = wait_for_answer(w);

	if (err || !w->answers.has_stack || !is_same(program_of(w), l->program) || !l->compiler)
		return err;
	err = join_rows(l, l->thread);
	n = err ? 0 : list_begun(l, &l->thread->rows, begun);
	if (n && stopped__hold(&l->stopped) &&
	    !session__put_begun(w->session, l->tid, w->begun_ns, begun, n))
		l->thread->n_begun = n;
	return err;
}

/* The thread is stopped. */
static int on_stopped(void *ctx, const struct stopped *s)
{
	struct visit *l = ctx;
	int err = walker__walk(l->walker, s, &l->memory, &l->calls) ?: ask(l->watch, l->tid);

	return err || !l->watch->begun_ns ? err : begin_thread(l);
}

static int walk(struct visit *l, struct snapshot_thread *t)
{
	int err;

	l->memory = (struct copied){.look = l->watch->look, .pid = l->pid};
	err = stopped__take(&l->stopped, l->tid, on_stopped, l);
	copied__close(&l->memory);
	t->stopped_ns = l->stopped.ns;
	return err;
}

/* Read a thread that could not be stopped. Its stack may change during the read. */
static int read_running(struct watch *w, struct snapshot_thread *t)
{
	int err = 0;

	for (int i = 0; i < OFTEN && !err; i++) {
		err = ask(w, t->task.tid) ?: wait_for_answer(w);
		if (!w->answers.stack.torn)
			break;
	}
	return err;
}

static void take_answer(const struct watch *w, struct snapshot_thread *t)
{
	if (!w->answers.has_stack)
		return;
	t->torn = w->answers.stack.torn;
	t->cut = w->answers.stack.n_lost || w->answers.stack.n != w->answers.n_frames;
	t->off_since_ns = w->answers.stack.off_since_ns;
	t->preempted =
		w->answers.stack.off_since_ns && w->answers.stack.reason == WIRE_OFF_PREEMPTED;
}

static int look_at_stopped(struct visit *l, struct snapshot_thread *t)
{
	struct watch *w = l->watch;
	int err = 0;

	if (t->task.state == 'D')
		t->err = -EBUSY;
	else
		t->err = l->walker ? walk(l, t) : -EACCES;
	if (t->err == -ESRCH || t->err == -EINTR || t->err == -ENOMEM)
		return t->err;
	if (t->err) {
		/* The rows are of these calls. */
		calls__clear(&l->calls);
		stuck_rows__clear(&t->rows);
		l->joined = false;
	}
	if (t->err || !l->joined)
		err = t->err ? read_running(w, t) : wait_for_answer(w);
	if (err)
		return err;
	/* A stack of one program means nothing with the mappings of another. */
	if (w->answers.has_stack && l->program.execs && !is_same(program_of(w), l->program))
		return -ESRCH;
	take_answer(w, t);
	err = l->joined ? 0 : join_rows(l, t);
	return err ?: name_items(l, t) ?: keep_functions(l, t);
}

static int look_at_thread(struct visit *l, struct snapshot_thread *t)
{
	int err;

	l->tid = t->task.tid;
	l->thread = t;
	err = look_at_stopped(l, t);
	visit__clear_thread(l);
	return err;
}

/* ---- One process ----------------------------------------------------------------------------- */

static struct watched *watched_of(struct watch *w, pid_t pid)
{
	for (uint32_t i = 0; i < w->n_watched; i++)
		if (w->watched[i].pid == pid)
			return &w->watched[i];
	if (array__reserve_one(&w->watched, w->n_watched, &w->watched_capacity,
			       sizeof(*w->watched)))
		return NULL;
	w->watched[w->n_watched] = (struct watched){.pid = pid};
	return &w->watched[w->n_watched++];
}

/* NULL: its stacks are not readable. */
static struct walker *walker_of(struct watch *w, pid_t pid)
{
	struct watched *p = watched_of(w, pid);

	if (!p || (!p->walker && walker__new(pid, w->look, w->files, &p->walker)))
		return NULL;
	if (walker__refresh(p->walker, w->tables_until_ns))
		walker__free(take_ptr(p->walker));
	return p->walker;
}

static void name_process(struct watch *w, struct snapshot_process *p)
{
	char args[WIRE_ARGS_MAX];
	size_t len = look__arguments(w->look, p->pid, args, sizeof(args));
	struct command c;

	if (command__parse(&c, args, len, len == sizeof(args)))
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
	struct visit l = {.watch = w, .pid = pid};
	_tasks_ struct tasks tasks;
	int err = tasks__read(&tasks, pid);

	*p = (struct snapshot_process){.pid = pid, .age_ns = tasks.age_ns};
	if (err)
		return err;
	name_process(w, p);
	err = ask_for_program(w, pid, &l.program);
	if (err)
		return err;
	l.crate = p->crate;
	l.lib = answers__compiler(&w->answers, library);
	l.compiler = l.lib < 0 ? NULL : w->answers.compilers[l.lib];
	l.walker = library ? walker_of(w, pid) : NULL;
	p->threads = calloc(tasks.n + 1UL, sizeof(*p->threads));
	if (!p->threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < tasks.n; i++) {
		struct snapshot_thread *t = &p->threads[p->n_threads];

		t->task = tasks.items[i];
		err = look_at_thread(&l, t);
		if (err && err != -ESRCH)
			return err;
		p->n_threads += !err;
	}
	return 0;
}

/* A process that is not readable is judged by its name alone; *library is NULL then. */
static bool is_compiler(struct watch *w, pid_t pid, struct library_file **library)
{
	char name[32];
	int err = look__library(w->look, pid, library, NULL);

	if (err != -ETIME && err != -LOOK_SERVED)
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

static int add_other(struct watch *w, pid_t pid, struct snapshot *p)
{
	bool below = is_below_compiler(p, process_parent(pid));
	int err = array__reserve_one(&p->others, p->n_others, &p->others_capacity,
				     sizeof(*p->others));

	if (err)
		return err;
	err = other__read(&p->others[p->n_others], w->look, pid, below);
	if (err)
		other__clear(&p->others[p->n_others]);
	else
		p->n_others++;
	return err == -ESRCH ? 0 : err;
}

static void forget_gone(struct watch *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_watched; i++) {
		if (process_is_running(w->watched[i].pid))
			w->watched[n++] = w->watched[i];
		else
			walker__free(w->watched[i].walker);
	}
	w->n_watched = n;
}

static int add_any(struct watch *w, pid_t pid, struct snapshot *p)
{
	_library_file_ struct library_file *library = NULL;

	return is_compiler(w, pid, &library) ? add_process(w, pid, library, p)
					     : add_other(w, pid, p);
}

int watch__look(struct watch *w, pid_t pid, struct snapshot *p)
{
	struct process_list list;
	int err = process_list__descendants(pid, &list);

	p->time_ns = clock_ns(CLOCK_MONOTONIC);
	p->watched_ns = p->time_ns - w->started_ns;
	w->tables_until_ns = p->time_ns + TABLES_NS;
	for (size_t i = 0; i < list.n && !err; i++)
		if (list.pids[i] != getpid())
			err = add_any(w, list.pids[i], p);
	process_list__clear(&list);
	forget_gone(w);
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
	int err = 0;

	p->time_ns = clock_ns(CLOCK_MONOTONIC);
	p->watched_ns = p->time_ns - begun_ns;
	w->begun_ns = begun_ns;
	w->tables_until_ns = p->time_ns + TABLES_NS;
	if (is_compiler(w, pid, &library) && library)
		err = add_process(w, pid, library, p);
	return err == -ESRCH ? 0 : err;
}

/* ---- The watch ------------------------------------------------------------------------------- */

static int open_parts(struct watch *w)
{
	int err;

	if (!w)
		return diag_error_r(-ENOMEM, "out of memory");
	err = look__new(&w->look);
	if (err)
		return diag_error_r(err, "cannot look at processes: %s", strerror(-err));
	err = walked_files__new(w->look, &w->files);
	return err ? diag_error_r(err, "out of memory") : 0;
}

int watch__open(struct watch **out)
{
	_watch_ struct watch *w = calloc(1, sizeof(*w));
	struct session_sink sink = {
		.ctx = w,
		.library = on_library,
		.record = on_record,
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
	err = filter__new(NULL, 0, &w->filter);
	if (err)
		return diag_error_r(err, "out of memory");
	opt.filter = w->filter;
	err = session__open(&opt, &sink, (struct budget_limit){0}, &w->session);
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
	look__free(w->look);
	free(w->watched);
	free(w);
}
