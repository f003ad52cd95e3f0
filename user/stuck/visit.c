// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/visit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/look.h"
#include "plan/symbols/demangle.h"
#include "plan/symbols/function_name.h"
#include "base/array.h"

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

static void clear_thread(struct visit *v)
{
	copied__clear(&v->memory);
	calls__clear(&v->calls);
	v->stopped = (struct stopped){0};
	v->joined = false;
}

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

static int read_memory(void *ctx, const struct look_memory *ranges, uint32_t n, uint8_t *bytes)
{
	struct visit *v = ctx;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (v->reads_ns > READS_NS)
		return -ETIME;
	err = look__memory(v->look, v->pid, ranges, n, bytes);
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

/* A thread without a stack has no base either. */
static int name_items(struct visit *v, struct snapshot_thread *t)
{
	struct item_names names = {
		.memory = {v, read_memory},
		.runs_same = runs_same,
		.layout = v->compiler ? &v->compiler->plan->layout : NULL,
		.fs_base = v->stopped.fs_base,
		.crate = v->crate,
	};

	for (uint32_t i = 0; i < v->calls.n && !names.bias; i++)
		if (is_in_compiler(v, &v->calls.items[i]))
			names.bias = v->calls.items[i].pc - v->calls.items[i].addr;
	if (!names.layout || !names.fs_base || !names.bias)
		return 0;
	return item_names__find(&names, &t->rows);
}

/* The key that the query of call `i` is in, if it is a body's. */
static const struct plan_held_key *held_key(const struct visit *v, uint32_t i)
{
	const struct call *c = &v->calls.items[i];

	/* The pc is in the call instruction. */
	return is_in_compiler(v, c) ? compiler__held_key(v->compiler, c->addr + 1) : NULL;
}

static int find_preserved(struct visit *v)
{
	uint32_t calls[ITEMS_NAMED_MAX], n = 0;

	for (uint32_t i = 0; i < v->calls.n && n < ITEMS_NAMED_MAX; i++) {
		const struct plan_held_key *held = held_key(v, i);

		if (held && item_key__is_preserved(held))
			calls[n++] = i;
	}
	return calls__find_preserved(&v->calls, calls, n);
}

/* The calls with the keys of the queries whose bodies are on the stack. */
static int native_calls(struct visit *v, struct native_call *out)
{
	struct item_call at = {.calls = &v->calls, .stopped = &v->stopped, .memory = &v->memory};
	int err = find_preserved(v);

	for (uint32_t i = 0; i < v->calls.n && !err; i++) {
		const struct plan_held_key *held = held_key(v, i);

		at.index = i;
		out[i].sp = v->calls.items[i].sp;
		if (held)
			out[i].key = item_key(held, &v->compiler->plan->queries[held->query].memory,
					      &at);
	}
	return err;
}

static void take_entered(const struct visit *v, struct entered *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct entered){
			.sp = v->answers->frames[i].sp,
			.start_ns = v->answers->frames[i].start_ns,
			.name = answers__name(v->answers, &v->answers->frames[i]),
			.number = v->answers->frames[i].query,
			.kind = v->answers->frames[i].kind,
			.key = v->answers->frames[i].kind == WIRE_KIND_QUERY
				       ? v->answers->frames[i].key
				       : 0,
		};
}

static const char *shown_name(const struct visit *v, const struct plan_shown *at)
{
	return at->kind == WIRE_KIND_ACTIVITY ? compiler__guard(v->compiler, at->guard)
					      : compiler__query(v->compiler, at->query);
}

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
	for (uint32_t i = 0; i < *n; i++)
		shown[i] = (struct shown){found[i], shown_name(v, &found[i])};
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
	_free_ struct native_call *native = calloc(v->calls.n + 1UL, sizeof(*native));
	_free_ struct shown *shown = NULL;
	int err;

	if (!entered || !native)
		return -ENOMEM;
	take_entered(v, entered, from.n_entered);
	err = native_calls(v, native) ?: find_shown(v, &shown, &from.n_shown);
	if (err)
		return err;
	from.entered = entered;
	from.shown = shown;
	from.calls = native;
	t->n_calls = v->calls.n;
	t->whole = v->calls.whole;
	v->joined = true;
	return stuck_rows__find(&from, &t->rows);
}

/* The outermost rows, up to the first interval whose entry was recorded. */
static uint32_t list_begun(const struct visit *v, const struct stuck_rows *rows,
			   struct wire_begun out[WIRE_BEGUN_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows->n && !rows->items[i].exact && n < WIRE_BEGUN_MAX; i++) {
		const struct stuck_row *row = &rows->items[i];

		if (!compiler__begun(v->compiler, row->kind, row->query, row->guard, &out[n]))
			continue;
		out[n].sp = v->calls.items[row->call].sp;
		out[n].key = row->key;
		out[n].lib = (uint8_t)v->lib;
		n++;
	}
	return n;
}

/* The thread is stopped: what it is in is recorded from now on. */
static int begin_thread(struct visit *v)
{
	struct wire_begun begun[WIRE_BEGUN_MAX];
	uint32_t n;
	int err = wait_for_answer(v);

	if (err || !v->answers->has_stack || !is_same(program_of(v), v->program) || !v->compiler)
		return err;
	err = join_rows(v, v->thread);
	n = err ? 0 : list_begun(v, &v->thread->rows, begun);
	if (n && stopped__hold(&v->stopped) &&
	    !session__put_begun(v->session, v->tid, v->begun_ns, begun, n))
		v->thread->n_begun = n;
	return err;
}

/* The thread is stopped. */
static int on_stopped(void *ctx, const struct stopped *s)
{
	struct visit *v = ctx;
	int err = walker__walk(v->walker, s, &v->memory, &v->calls)
			  ?: stuck_llvm__of_calls(&v->calls, s, &v->memory, &v->thread->llvm)
			  ?: ask(v, v->tid);

	return err || !v->begun_ns ? err : begin_thread(v);
}

static int walk(struct visit *v, struct snapshot_thread *t)
{
	int err;

	v->memory = (struct copied){.look = v->look, .pid = v->pid};
	err = stopped__take(&v->stopped, v->tid, on_stopped, v);
	copied__close(&v->memory);
	t->stopped_ns = v->stopped.ns;
	return err;
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

static void take_answer(const struct visit *v, struct snapshot_thread *t)
{
	if (!v->answers->has_stack)
		return;
	t->torn = v->answers->stack.torn;
	t->cut = v->answers->stack.n_lost || v->answers->stack.n != v->answers->n_frames;
	t->off_since_ns = v->answers->stack.off_since_ns;
	t->preempted =
		v->answers->stack.off_since_ns && v->answers->stack.reason == WIRE_OFF_PREEMPTED;
}

static int look_at(struct visit *v, struct snapshot_thread *t)
{
	int err = 0;

	if (t->task.state == 'D')
		t->err = -EBUSY;
	else
		t->err = v->walker ? walk(v, t) : -EACCES;
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
	take_answer(v, t);
	err = v->joined ? 0 : join_rows(v, t);
	return err ?: name_items(v, t) ?: keep_functions(v, t);
}

int visit__thread(struct visit *v, struct snapshot_thread *t)
{
	int err;

	v->tid = t->task.tid;
	v->thread = t;
	err = look_at(v, t);
	clear_thread(v);
	return err;
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Registers by their numbers in struct cfa_preserved. */
static const uint8_t registers[CFA_PRESERVED] = {WIRE_REG_BX, WIRE_REG_R12, WIRE_REG_R13,
						 WIRE_REG_R14, WIRE_REG_R15};

static bool read_register(const struct item_call *c, uint8_t reg, uint64_t *value)
{
	const struct call *call = &c->calls->items[c->index];

	if (reg == WIRE_REG_BP) {
		*value = call->bp;
		return !call->bp_lost;
	}
	for (unsigned int i = 0; i < CFA_PRESERVED; i++)
		if (registers[i] == reg)
			return calls__preserved(c->calls, c->index, i, c->stopped, c->memory,
						value);
	return false;
}

bool item_key__is_preserved(const struct plan_held_key *held)
{
	return !held->in_place && held->reg != WIRE_REG_NONE && held->reg != WIRE_REG_BP;
}

/* As the kernel half reads one at a probe. */
static uint64_t make_key(uint8_t key, uint32_t index, uint32_t krate)
{
	switch (key) {
	case WIRE_KEY_LOCAL:
		return wire_key(WIRE_KEY_LOCAL_CRATE, index);
	case WIRE_KEY_DEF:
		return krate == WIRE_NO_CRATE ? 0 : wire_key(krate, index);
	default:
		return 0;
	}
}

/* The words of a key that lies on the copied stack, as bpf/operands.h reads them. */
static uint64_t key_in_memory(const struct wire_memory_key *m, uint64_t at, struct copied *memory)
{
	uint32_t words[WIRE_MEMORY_WORDS];
	uint64_t pairs[WIRE_MEMORY_WORDS / 2];
	uint32_t variant, index;

	for (size_t i = 0; i < N_OF(pairs); i++)
		if (!m || !copied__word(memory, at + m->offset + 8 * i, &pairs[i]))
			return 0;
	memcpy(words, pairs, sizeof(words));
	variant = (m->narrow ? words[0] & 0xff : words[0]) - m->first;
	index = variant < WIRE_VARIANTS ? m->words[variant] : m->other;
	if (index == WIRE_LOCAL_WORD)
		return make_key(WIRE_KEY_LOCAL, words[0], 0);
	if (index >= WIRE_MEMORY_WORDS - 1)
		return 0;
	return make_key(WIRE_KEY_DEF, words[index], words[index + 1]);
}

uint64_t item_key(const struct plan_held_key *held, const struct wire_memory_key *m,
		  const struct item_call *c)
{
	uint64_t slot = c->calls->items[c->index].sp + (uint32_t)held->slot, value;

	if (held->in_place)
		return held->slot < 0 ? 0 : key_in_memory(m, slot, c->memory);
	if (held->reg != WIRE_REG_NONE) {
		if (held->key == WIRE_KEY_DEF || !read_register(c, held->reg, &value))
			return 0;
	} else if (held->slot < 0 || !copied__word(c->memory, slot, &value)) {
		return 0;
	}
	if (held->key == WIRE_KEY_MEMORY)
		return key_in_memory(m, value, c->memory);
	return make_key(held->key, (uint32_t)value, (uint32_t)(value >> 32));
}

/* The name of a row further in with the same key, or NULL. */
static const char *known_name(const struct stuck_rows *rows, uint32_t row)
{
	for (uint32_t i = row + 1; i < rows->n; i++)
		if (rows->items[i].key == rows->items[row].key && rows->items[i].item)
			return rows->items[i].item;
	return NULL;
}

static int name_row(const struct item_names *n, const struct compiler_context *c,
		    struct stuck_rows *rows, uint32_t row)
{
	struct stuck_row *r = &rows->items[row];
	const char *known = known_name(rows, row);

	if (!known)
		return compiler_names__path(&n->memory, n->layout, c, n->crate, (uint32_t)r->key,
					    &r->item);
	r->item = strdup(known);
	return r->item ? 0 : -ENOMEM;
}

static void forget(struct stuck_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++)
		free(take_ptr(rows->items[i].item));
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
		forget(rows);
	return err == -ENOMEM ? err : 0;
}
