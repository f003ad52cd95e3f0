// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/visit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/broker.h"
#include "plan/symbols/demangle.h"
#include "plan/symbols/function_name.h"

#define OFTEN	    8	/* attempts to read a stack that keeps changing */
#define DRAIN_TRIES 200 /* 20 ms: a record still being written hides ours */
#define DRAIN_NS    100000

/* ---- Answers of the kernel half -------------------------------------------------------------- */

static int ask(const struct visit *v, pid_t tid)
{
	answers__expect(v->answers);
	return session__show_open(v->session, &(uint32_t){(uint32_t)tid}, 1);
}

static int wait_for_answer(const struct visit *v)
{
	const struct timespec step = {.tv_nsec = DRAIN_NS};
	int err = session__drain(v->session);

	for (int i = 0; i < DRAIN_TRIES && !v->answers->has_stack && !err; i++) {
		nanosleep(&step, NULL);
		err = session__drain(v->session);
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

/* The program that the last answer shows. */
static struct visit_program program_of(const struct visit *v)
{
	return v->answers->has_stack ? (struct visit_program){v->answers->stack.process_ns,
							      v->answers->stack.execs}
				     : (struct visit_program){0};
}

static bool is_same(struct visit_program a, struct visit_program b)
{
	return a.execs && a.execs == b.execs && a.process_ns == b.process_ns;
}

/* Of a task that is gone it is unknown. */
static int ask_for_program(const struct visit *v, pid_t tid, struct visit_program *program)
{
	int err = ask(v, tid) ?: wait_for_answer(v);

	if (!err)
		*program = program_of(v);
	return err;
}

int visit__begin(struct visit *v)
{
	return ask_for_program(v, v->pid, &v->program);
}

/* ---- One thread ------------------------------------------------------------------------------ */

static int keep_functions(const struct visit *v, struct snapshot_thread *t)
{
	uint32_t n = v->calls.n < SNAPSHOT_FUNCTIONS ? v->calls.n : SNAPSHOT_FUNCTIONS;

	t->functions = calloc(n + 1UL, sizeof(*t->functions));
	if (!t->functions)
		return -ENOMEM;
	for (; t->n_functions < n; t->n_functions++)
		t->functions[t->n_functions] = function_of(&v->calls.items[t->n_functions]);
	return 0;
}

/* For all reads of a process, of which a path takes hundreds: the process can delay each. */
#define READS_NS 1000000000ull

static int read_memory(void *ctx, const struct broker_memory *ranges, uint32_t n, uint8_t *bytes)
{
	struct visit *v = ctx;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (v->reads_ns > READS_NS)
		return -ETIME;
	err = broker__memory(v->broker, v->pid, ranges, n, bytes);
	v->reads_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
	return err;
}

/* Also false if the thread has ended, or if that is unknown. */
static bool runs_same(void *ctx)
{
	struct visit *v = ctx;
	struct visit_program now;

	return !ask_for_program(v, v->tid, &now) && is_same(now, v->program);
}

/* Whether the call is in the compiler's library. */
static bool is_in_compiler(const struct visit *v, const struct call *c)
{
	const struct library_file *file = c->file ? walked_file__file(c->file) : NULL;

	return v->compiler && file && c->addr && compiler__is(v->compiler, file);
}

/* From ELF addresses of the compiler's library to the process's; 0: no call is in it. */
static uint64_t bias_of(const struct visit *v)
{
	for (uint32_t i = 0; i < v->calls.n; i++)
		if (is_in_compiler(v, &v->calls.items[i]))
			return v->calls.items[i].pc - v->calls.items[i].addr;
	return 0;
}

/* A thread without a stack has no base either. */
static int name_items(struct visit *v, struct snapshot_thread *t)
{
	struct item_names names = {
		.memory = {v, read_memory},
		.runs_same = runs_same,
		.layout = v->compiler ? &v->compiler->plan->layout : NULL,
		.bias = bias_of(v),
		.fs_base = v->stopped.fs_base,
		.crate = v->crate,
	};

	if (!names.layout || !names.fs_base || !names.bias)
		return 0;
	return item_names__find(&names, &t->rows);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* While the thread is stopped, as its jobs stay active. */
static int read_jobs(struct visit *v)
{
	const struct compiler_memory memory = {v, read_memory};
	const struct compiler *c = v->compiler;
	uint64_t bias = bias_of(v);
	int err;

	if (!bias)
		return 0;
	if (!c->jobs) {
		v->keys_problem = c->plan->jobs.problem ?: c->plan->tables_problem ?: "unknown";
		return 0;
	}
	err = compiler_jobs__read(&memory, c->plan, c->jobs, bias, v->stopped.fs_base, &v->jobs);
	if (err)
		compiler_jobs__clear(&v->jobs);
	if (err && err != -ENOENT)
		v->keys_problem = err == -E2BIG ? "a compiler has fewer jobs" : strerror(-err);
	return err == -ENOMEM ? err : 0;
}

/* Bytes of a body's frame that are looked at. Those of rustc have less than 1,024. */
#define FRAME_MOST 4096

/* Set what the executions that the stack shows are about. */
static void find_jobs(struct visit *v, struct shown *shown, uint32_t n)
{
	uint64_t number = v->jobs.current;

	for (uint32_t i = n; i--;) {
		struct shown *s = &shown[i];
		const struct call *body = &v->calls.items[s->at.frame];
		uint64_t end = body->sp + FRAME_MOST;
		const struct compiler_job *job;

		if (s->at.kind != WIRE_KIND_QUERY)
			continue;
		v->thread->keys_problem = v->keys_problem;
		if (s->at.frame + 1 < v->calls.n && body[1].sp - body->sp < FRAME_MOST)
			end = body[1].sp;
		job = copied__job(&v->jobs, &v->memory, body->sp, end, s->at.query, number);
		if (!job)
			continue;
		s->at.query = job->query;
		s->name = compiler__query(v->compiler, job->query);
		s->key = job->key;
		number = job->parent;
	}
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The intervals that the stack shows: the caller frees *out. */
static int find_shown(const struct visit *v, struct shown **out, uint32_t *n)
{
	_free_ struct plan_frame_code *codes = calloc(v->calls.n + 1UL, sizeof(*codes));
	/* Guards nest in a frame, but there are few of them. */
	uint32_t most = 4 * v->calls.n;
	_free_ struct plan_shown *found = calloc(most + 1UL, sizeof(*found));
	_free_ struct shown *shown = calloc(most + 1UL, sizeof(*shown));

	*n = 0;
	if (!codes || !found || !shown)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->calls.n; i++)
		if (is_in_compiler(v, &v->calls.items[i]))
			codes[i] = plan_frames__code(v->compiler->frames, v->calls.items[i].addr,
						     false);
	if (v->compiler)
		*n = plan_frames__shown(v->compiler->frames, codes, v->calls.n, found, most);
	for (uint32_t i = 0; i < *n; i++) {
		shown[i].at = found[i];
		shown[i].name = found[i].kind == WIRE_KIND_ACTIVITY
					? compiler__guard(v->compiler, found[i].guard)
					: compiler__query(v->compiler, found[i].query);
	}
	*out = take_ptr(shown);
	return 0;
}

/* Join the recorded entries of this thread with what its stack shows. */
static int join_rows(struct visit *v, struct snapshot_thread *t)
{
	struct stuck_sources from = {
		.n_entered = v->answers->has_stack ? v->answers->n_frames : 0,
		.n_calls = v->calls.n,
		.whole = v->calls.whole,
	};
	_free_ struct entered *entered = calloc(from.n_entered + 1UL, sizeof(*entered));
	_free_ uint64_t *calls = calloc(v->calls.n + 1UL, sizeof(*calls));
	_free_ struct shown *shown = NULL;
	int err = entered && calls ? find_shown(v, &shown, &from.n_shown) : -ENOMEM;

	if (err)
		return err;
	for (uint32_t i = 0; i < from.n_entered; i++) {
		const struct wire_open_frame *f = &v->answers->frames[i];

		entered[i] = (struct entered){
			.sp = f->sp,
			.start_ns = f->start_ns,
			.name = answers__name(v->answers, f),
			.number = f->query,
			.kind = f->kind,
			.key = f->kind == WIRE_KIND_QUERY ? f->key : 0,
		};
	}
	for (uint32_t i = 0; i < v->calls.n; i++)
		calls[i] = v->calls.items[i].sp;
	find_jobs(v, shown, from.n_shown);
	from.entered = entered;
	from.shown = shown;
	from.calls = calls;
	t->n_calls = v->calls.n;
	t->whole = v->calls.whole;
	v->joined = true;
	return stuck_rows__find(&from, &t->rows);
}

/* The thread is stopped: what it is in is recorded from now on. */
static int begin_thread(struct visit *v)
{
	const struct stuck_rows *rows = &v->thread->rows;
	struct wire_begun begun[WIRE_BEGUN_MAX];
	uint32_t n = 0;
	int err = wait_for_answer(v);

	if (err || !v->answers->has_stack || !is_same(program_of(v), v->program) || !v->compiler)
		return err;
	err = join_rows(v, v->thread);
	if (err)
		return err;
	/* The outermost rows, up to the first interval whose entry was recorded. */
	for (uint32_t i = 0; i < rows->n && !rows->items[i].exact && n < WIRE_BEGUN_MAX; i++) {
		const struct stuck_row *row = &rows->items[i];

		if (!compiler__begun(v->compiler, row->kind, row->query, row->guard, &begun[n]))
			continue;
		begun[n].sp = v->calls.items[row->call].sp;
		begun[n].key = row->key;
		begun[n].lib = (uint8_t)v->lib;
		n++;
	}
	if (n && stopped__hold(&v->stopped) &&
	    !session__put_begun(v->session, v->tid, v->begun_ns, begun, n))
		v->thread->n_begun = n;
	return 0;
}

/* The thread is stopped. */
static int on_stopped(void *ctx, const struct stopped *s)
{
	struct visit *v = ctx;
	int err = walker__walk(v->walker, s, &v->memory, &v->calls)
			  ?: stuck_llvm__of_calls(&v->calls, s, &v->memory, &v->thread->llvm)
			  ?: read_jobs(v)
			  ?: ask(v, v->tid);

	return err || !v->begun_ns ? err : begin_thread(v);
}

/* Read a thread that could not be stopped. Its stack may change during the read. */
static int read_running(const struct visit *v, struct snapshot_thread *t)
{
	int err = 0;

	for (int i = 0; i < OFTEN && !err; i++) {
		err = ask(v, t->task.tid) ?: wait_for_answer(v);
		if (!v->answers->stack.torn)
			break;
	}
	return err;
}

static int look_at(struct visit *v, struct snapshot_thread *t)
{
	const struct wire_open_stack *stack = &v->answers->stack;
	int err = 0;

	if (t->task.state == 'D') {
		t->err = -EBUSY;
	} else if (!v->walker) {
		t->err = -EACCES;
	} else {
		v->memory = (struct copied){.broker = v->broker, .pid = v->pid};
		t->err = stopped__take(&v->stopped, v->tid, on_stopped, v);
		copied__close(&v->memory);
		t->stopped_ns = v->stopped.ns;
	}
	if (t->err == -ESRCH || t->err == -EINTR || t->err == -ENOMEM)
		return t->err;
	if (t->err) {
		/* The rows are of these calls. */
		calls__clear(&v->calls);
		stuck_rows__clear(&t->rows);
		v->joined = false;
	}
	if (t->err || !v->joined)
		err = t->err ? read_running(v, t) : wait_for_answer(v);
	if (err)
		return err;
	/* A stack of one program means nothing with the mappings of another. */
	if (v->answers->has_stack && v->program.execs && !is_same(program_of(v), v->program))
		return -ESRCH;
	/* Nor does memory that may be another program's. */
	if (t->err || !is_same(program_of(v), v->program))
		stuck_llvm__clear(&t->llvm);
	if (v->answers->has_stack) {
		t->torn = stack->torn;
		t->cut = stack->n_lost || stack->n != v->answers->n_frames;
		t->off_since_ns = stack->off_since_ns;
		t->preempted = stack->off_since_ns && stack->reason == WIRE_OFF_PREEMPTED;
	}
	err = v->joined ? 0 : join_rows(v, t);
	return err ?: name_items(v, t) ?: keep_functions(v, t);
}

int visit__thread(struct visit *v, struct snapshot_thread *t)
{
	int err;

	v->tid = t->task.tid;
	v->thread = t;
	err = look_at(v, t);
	copied__clear(&v->memory);
	calls__clear(&v->calls);
	compiler_jobs__clear(&v->jobs);
	v->stopped = (struct stopped){0};
	v->keys_problem = NULL;
	v->joined = false;
	return err;
}

/* ---- Items ----------------------------------------------------------------------------------- */

static int name_row(const struct item_names *n, const struct compiler_context *c,
		    struct stuck_rows *rows, uint32_t row)
{
	struct stuck_row *r = &rows->items[row];

	/* A row further in may have the same key. */
	for (uint32_t i = row + 1; i < rows->n; i++) {
		if (rows->items[i].key != r->key || !rows->items[i].item)
			continue;
		r->item = strdup(rows->items[i].item);
		return r->item ? 0 : -ENOMEM;
	}
	return compiler_names__path(&n->memory, n->layout, c, n->crate, (uint32_t)r->key, &r->item);
}

int item_names__find(const struct item_names *n, struct stuck_rows *rows)
{
	struct compiler_context c, after;
	uint32_t named = 0;
	int err = compiler_context__of_thread(&n->memory, n->layout, n->bias, n->fs_base, &c);

	for (uint32_t i = rows->n; i-- && !err && named < ITEMS_NAMED_MAX;) {
		if (!(rows->items[i].key &&
		      wire_key_crate(rows->items[i].key) == WIRE_KEY_LOCAL_CRATE))
			continue;
		named++;
		err = name_row(n, &c, rows, i);
		/* Without a name, or unreadable: others may be neither. */
		if (err == -ENOENT || err == -EFAULT)
			err = 0;
	}
	if (!err)
		err = compiler_context__of_thread(&n->memory, n->layout, n->bias, n->fs_base,
						  &after);
	/* Last: all that was read is of this program, or of none that is named. */
	if (err || after.context != c.context || (named && !n->runs_same(n->memory.ctx)))
		for (uint32_t i = 0; i < rows->n; i++)
			free(take_ptr(rows->items[i].item));
	return err == -ENOMEM ? err : 0;
}
