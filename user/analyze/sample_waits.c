// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sample_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code_name.h"
#include "base/array.h"
#include "base/cleanup.h"

static const struct {
	const char *name, *text;
} waits[SAMPLE_WAIT_KINDS] = {
	[SAMPLE_WAIT_OTHER] = {"other", "another system call"},
	[SAMPLE_WAIT_LOCK] = {"lock", "a lock or a message"},
	[SAMPLE_WAIT_JOBSERVER] = {"jobserver", "the jobserver"},
	[SAMPLE_WAIT_THREAD] = {"thread", "the end of a thread"},
	[SAMPLE_WAIT_CHILD] = {"child", "another process"},
	[SAMPLE_WAIT_READ] = {"read", "reading"},
	[SAMPLE_WAIT_WRITE] = {"write", "writing"},
	[SAMPLE_WAIT_POLL] = {"poll", "a pipe or socket"},
	[SAMPLE_WAIT_SLEEP] = {"sleep", "sleeping"},
	[SAMPLE_WAIT_MAPPING] = {"mapping", "mapping memory"},
	[SAMPLE_WAIT_FILE] = {"file", "opening and closing files"},
	[SAMPLE_WAIT_PAGE] = {"page", "a page of memory"},
};

const char *sample_wait_name(unsigned int wait)
{
	return wait < SAMPLE_WAIT_KINDS ? waits[wait].name : NULL;
}

const char *sample_wait_text(unsigned int wait)
{
	return wait < SAMPLE_WAIT_KINDS ? waits[wait].text : NULL;
}

/* Words of functions of the C library, without leading underscores; the first that fits counts. */
static const struct {
	const char *begins;
	enum sample_wait wait;
} of_libc[] = {
	{"pthread_join", SAMPLE_WAIT_THREAD},
	{"pthread_clockjoin", SAMPLE_WAIT_THREAD},
	{"pthread_timedjoin", SAMPLE_WAIT_THREAD},
	{"pthread_", SAMPLE_WAIT_LOCK},
	{"lll_", SAMPLE_WAIT_LOCK},
	{"syscall", SAMPLE_WAIT_LOCK}, /* of Rust code: its only call that waits is futex */
	{"futex", SAMPLE_WAIT_LOCK},
	{"sem_", SAMPLE_WAIT_LOCK},
	{"new_sem_", SAMPLE_WAIT_LOCK},
	{"wait", SAMPLE_WAIT_CHILD},
	{"libc_wait", SAMPLE_WAIT_CHILD},
	{"posix_spawn", SAMPLE_WAIT_CHILD},
	{"spawn", SAMPLE_WAIT_CHILD},
	{"vfork", SAMPLE_WAIT_CHILD},
	{"fork", SAMPLE_WAIT_CHILD},
	{"clone", SAMPLE_WAIT_CHILD},
	{"readdir", SAMPLE_WAIT_FILE},
	{"readlink", SAMPLE_WAIT_FILE},
	{"read", SAMPLE_WAIT_READ},
	{"libc_read", SAMPLE_WAIT_READ},
	{"pread", SAMPLE_WAIT_READ},
	{"libc_pread", SAMPLE_WAIT_READ},
	{"recv", SAMPLE_WAIT_READ},
	{"write", SAMPLE_WAIT_WRITE},
	{"libc_write", SAMPLE_WAIT_WRITE},
	{"pwrite", SAMPLE_WAIT_WRITE},
	{"libc_pwrite", SAMPLE_WAIT_WRITE},
	{"send", SAMPLE_WAIT_WRITE},
	{"copy_file_range", SAMPLE_WAIT_WRITE},
	{"fsync", SAMPLE_WAIT_WRITE},
	{"ftruncate", SAMPLE_WAIT_WRITE},
	{"poll", SAMPLE_WAIT_POLL},
	{"ppoll", SAMPLE_WAIT_POLL},
	{"select", SAMPLE_WAIT_POLL},
	{"pselect", SAMPLE_WAIT_POLL},
	{"epoll_wait", SAMPLE_WAIT_POLL},
	{"epoll_pwait", SAMPLE_WAIT_POLL},
	{"nanosleep", SAMPLE_WAIT_SLEEP},
	{"clock_nanosleep", SAMPLE_WAIT_SLEEP},
	{"sched_yield", SAMPLE_WAIT_SLEEP},
	{"mmap", SAMPLE_WAIT_MAPPING},
	{"munmap", SAMPLE_WAIT_MAPPING},
	{"mremap", SAMPLE_WAIT_MAPPING},
	{"mprotect", SAMPLE_WAIT_MAPPING},
	{"madvise", SAMPLE_WAIT_MAPPING},
	{"brk", SAMPLE_WAIT_MAPPING},
	{"sbrk", SAMPLE_WAIT_MAPPING},
	{"open", SAMPLE_WAIT_FILE},
	{"libc_open", SAMPLE_WAIT_FILE},
	{"close", SAMPLE_WAIT_FILE},
	{"libc_close", SAMPLE_WAIT_FILE},
	{"stat", SAMPLE_WAIT_FILE},
	{"fstat", SAMPLE_WAIT_FILE},
	{"lstat", SAMPLE_WAIT_FILE},
	{"access", SAMPLE_WAIT_FILE},
	{"getdents", SAMPLE_WAIT_FILE},
	{"mkdir", SAMPLE_WAIT_FILE},
	{"unlink", SAMPLE_WAIT_FILE},
	{"rename", SAMPLE_WAIT_FILE},
	{"link", SAMPLE_WAIT_FILE},
	{"flock", SAMPLE_WAIT_FILE},
	{"fcntl", SAMPLE_WAIT_FILE},
};

/* How a stack of calls waits, if it ends at an entry. */
struct state {
	uint8_t wait;
	uint8_t hint; /* what a function that is about to wait will wait for; or _OTHER */
	bool in_jobserver;
	uint32_t function; /* as in a row */
	uint32_t query;
};

/* Functions that memory is copied and set by, and the like, wait for pages only. */
static uint8_t wait_of_libc(const char *name, const struct state *around)
{
	bool by_lock = around->wait == SAMPLE_WAIT_LOCK || around->wait == SAMPLE_WAIT_THREAD;

	/* Only exported functions of libc have names: the one that called this says more. */
	if (*name == '[')
		return around->wait == SAMPLE_WAIT_PAGE ? around->hint : around->wait;
	if (!strncmp(name, "mem", 3) || !strncmp(name, "str", 3) || !strncmp(name, "__mem", 5) ||
	    !strncmp(name, "__str", 5))
		return SAMPLE_WAIT_PAGE;
	name += strspn(name, "_");
	/* rustc's std makes its locks and joins with "syscall" and the like. */
	if (by_lock &&
	    (!strcmp(name, "syscall") || !strncmp(name, "futex", 5) || !strncmp(name, "lll_", 4)))
		return around->wait;
	for (size_t i = 0; i < N_OF(of_libc); i++)
		if (!strncmp(name, of_libc[i].begins, strlen(of_libc[i].begins)))
			return of_libc[i].wait;
	return SAMPLE_WAIT_OTHER;
}

/* Functions of Rust's std, and of crates, that wait for others; libc's below may be nameless. */
static uint8_t hint_of(const char *name)
{
	static const char *const of_locks[] = {"futex",	 "Mutex",    "RwLock", "Condvar",
					       "::recv", "sem_wait", "::park"};
	size_t n = strlen(name);

	if (strstr(name, "thread") && n > 6 && !strcmp(name + n - 6, "::join"))
		return SAMPLE_WAIT_THREAD;
	for (size_t i = 0; i < N_OF(of_locks); i++)
		if (strstr(name, of_locks[i]))
			return SAMPLE_WAIT_LOCK;
	return SAMPLE_WAIT_OTHER;
}

static void enter(const struct code_functions *f, uint32_t number, struct state *s)
{
	const struct code_function *function = &f->at[number];
	const char *part;

	if (function->part == CODE_NO_PART) {
		if (!function->is_unknown)
			s->query = number;
		return;
	}
	part = f->parts[function->part];
	s->in_jobserver |= !strcmp(part, "jobserver");
	if (!function->is_general)
		s->function = number;
	if (!strcmp(part, CODE_LIBC)) {
		s->wait = wait_of_libc(function->name, s);
	} else {
		s->wait = SAMPLE_WAIT_PAGE;
		s->hint = hint_of(function->name);
	}
	if (s->in_jobserver && s->wait != SAMPLE_WAIT_PAGE)
		s->wait = SAMPLE_WAIT_JOBSERVER;
}

struct making {
	struct sample_waits *w;
	const struct sample_waits_options *options;
	struct state *states; /* by number of an entry */
	/* By wait << 56 | function << 28 | query: there are far fewer of each. */
	TABLE(struct sample_wait_row) rows;
};

static void making__clear(struct making *m)
{
	free(m->states);
	table__destroy(&m->rows);
}

#define KEY_BITS 28

static int add_sum(struct making *m, const struct state *s, const struct sample_sum *sum)
{
	const struct sample_waits_options *o = m->options;
	uint64_t most = (1u << KEY_BITS) - 1;
	struct sample_wait_row *row;

	if (!sum->n || (o->wants && (s->query == CODE_NO_FUNCTION ||
				     !o->wants(o->ctx, m->w->functions.at[s->query].name))))
		return 0;
	row = table__get(&m->rows,
			 (uint64_t)s->wait << 2 * KEY_BITS | (s->function & most) << KEY_BITS |
				 (s->query & most),
			 .wait = s->wait, .function = s->function, .query = s->query);
	if (!row)
		return -ENOMEM;
	sample_sum__add(&row->sum, sum);
	sample_sum__add(&m->w->of[s->wait], sum);
	sample_sum__add(&m->w->all, sum);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct sample_wait_row *x = a, *y = b;

	return (x->sum.value < y->sum.value) - (x->sum.value > y->sum.value)
		       ?: (x->wait > y->wait) - (x->wait < y->wait)
		       ?: (x->function > y->function) - (x->function < y->function)
		       ?: (x->query > y->query) - (x->query < y->query);
}

int sample_waits__make(struct sample_waits *w, const struct stack_sums *sums,
		       const struct sample_waits_options *options)
{
	__cleanup(making__clear) struct making m = {.w = w, .options = options};

	*w = (struct sample_waits){
		.functions = {.source = sums->source, .texts = options->texts},
	};
	m.states = calloc(sums->n + 1UL, sizeof(*m.states));
	if (!m.states)
		return -ENOMEM;
	/* The parents of an entry have smaller numbers, and so were seen before. */
	for (uint32_t id = 0; id < sums->n; id++) {
		struct state *s = &m.states[id];
		struct trace_stack entry = {.kind = TRACE_STACK_KINDS};
		uint32_t number;

		*s = (struct state){
			.wait = SAMPLE_WAIT_PAGE,
			.function = CODE_NO_FUNCTION,
			.query = CODE_NO_FUNCTION,
		};
		if (stack_source__entry(&sums->source, id, &entry) &&
		    entry.parent != TRACE_NO_STACK)
			*s = m.states[entry.parent];
		if (entry.kind < TRACE_STACK_KINDS) {
			if (code_functions__find(&w->functions, &entry, &number))
				return -ENOMEM;
			enter(&w->functions, number, s);
		}
		if (add_sum(&m, s, &sums->at[id]))
			return -ENOMEM;
	}
	w->n_rows = m.rows.n;
	w->rows = take_ptr(m.rows.at);
	if (w->n_rows)
		qsort(w->rows, w->n_rows, sizeof(*w->rows), by_value);
	return 0;
}

void sample_waits__destroy(struct sample_waits *w)
{
	code_functions__destroy(&w->functions);
	free(w->rows);
	*w = (struct sample_waits){};
}
