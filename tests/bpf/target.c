// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * target OUT SCRIPT: runs the script through the functions of shapes.S, and appends the spans that
 * a capture must record to OUT, one per line, each thread's in the order of their ends:
 * "pid tid query depth invocation flags kind label asked"; "asked" is the calling place.
 *
 *   a b e h z     queries (alpha, beta, epsilon, eta, zeta); a(...) runs the script inside it
 *   i             theta, whose result is hashed; o loads iota and runs the script meanwhile
 *   n             a guard within another; runs the script in the inner one
 *   m M           three cache hits; with M the last id cannot be read
 *   l L v         a guard with a dynamic label, with a long one; a timer within another
 *   c C           gamma through its wrapper, through the body with a vtable
 *   d D           delta, vtable in a register, in a slot
 *   u             a provider that is in no plan, in the same body
 *   w             gamma's wrapper, which returns without a provider
 *   A B           alpha through its wrapper, requested here, there
 *   G             gamma through its wrapper, requested there
 *   g             alpha through a wrapper that grows the stack, requested here
 *   W             alpha's wrapper, requested here, which returns without a provider
 *   rN(...)       alpha, N levels deep
 *   *N(...)       N times
 *   {...}         catches; ! throws to it; ^ too, but without the site of the catch
 *   s(...) S(...) on another stack, below, above the other ones
 *   t(...)        in a thread, waited for; pN(...) in N threads at once
 *   T(...)        in a thread with a stack of 256 MiB
 *   f(...)        in a forked child, waited for
 *   x(...)        in this program, executed anew by a child; X(...) by this process;
 *                 after ~ with a command line of more than 4,096 bytes
 *   .             writes a byte to stdout, waits for one from stdin
 *   0             the capture begins here, so open frames are unknown to it
 *   NN JN         a context with N definitions of 16, of 64 bytes is dropped (names_of_target.h)
 *   KN            a context of 3 definitions that knows N crates is dropped
 *   nN            two queries are fed N results each
 *   VN            a context of N definitions, with spans and source files, is dropped
 *   HN            a context that lies is dropped (enum names_lie)
 *   YN            the thread has a context that lies (enum names_death); O drops that one;
 *                 after + it has executed all its queries
 *   jN(script)    runs the script with tables of active jobs that lie (enum jobs_lie)
 *   %N(script)    runs the script with a list of LLVM that may lie (enum llvm_lie)
 *   ZN            sleeps N microseconds
 *   FN IN         spins for N ms of CPU time, the same within the kernel (target_chains.h)
 *   RN            the same in a function whose CFA is by r11
 *   EN            spins N ms below a deep recursion
 *   PN QN         touches N pages, sleeps N microseconds, in a chain of calls
 *   U             lists this thread's switches up to now: "pid tid switches ns voluntary
 *                 involuntary"
 *   @N            is user N from now on, and texts of labels are in pages of the program's
 *                 file that are not there
 *   &N            the same, of another file
 *   ~             later spans of this thread are counted, not listed: "pid tid total N"
 *   y             ends the thread; qN exits; kN raises a signal
 */
#include <setjmp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs_of_target.h"
#include "llvm_of_target.h"
#include "names_of_target.h"
#include "qprof/wire.h"
#include "shapes.h"
#include "target_chains.h"

#define SLOTS	   64
#define SLOT_BYTES (256ul << 10)
/* Far from all other mappings. */
#define STACKS_AT ((char *)0x200000000000)
#define BIG_STACK (256ul << 20)

enum { THROWN = 1, UNSEEN };

/* One frame of the stack that the kernel half should have. */
struct frame {
	unsigned int query; /* or guard */
	enum wire_kind kind;
	const char *label; /* a dynamic label, or NULL */
	uint32_t invocation;
	unsigned int depth;
	bool left;   /* by ^: the thread's next event reveals it */
	bool unseen; /* started before a 0, or not in the plan */
	unsigned int asked;
	bool unwrapped; /* by w: the wrapper has returned, so this is no span */
};

struct thread {
	struct frame *frames;
	unsigned int n, capacity;
	jmp_buf *catch;
	char *text;
	size_t size;
	FILE *out;
	bool quiet;
	unsigned long total;
	char *stacks;		   /* start of this thread's stack slots */
	unsigned int lower, upper; /* used slots below and above the middle */
};

struct call {
	uint64_t keys[SHAPE_KEYS]; /* first: the bodies load them */
	const char *inner;
	unsigned int query; /* or guard */
	enum wire_kind kind;
	const char *label;
	uint32_t id;
	bool unseen;
	unsigned int asked;
	unsigned int more; /* levels of recursion to go */
};

static const char *out_path;
static uint32_t invocations;
static __thread struct thread *self;

static const char *run(const char *s);

/* ---- Expected spans ----------------------------------------------------------------------------
 */

static void print_frame(const struct frame *f, unsigned int flags)
{
	if (f->unseen || f->unwrapped)
		return;
	self->total++;
	if (self->quiet)
		return;
	fprintf(self->out, "%d %d %u %u %u %u %d %s %u\n", getpid(), gettid(), f->query, f->depth,
		flags ? WIRE_NO_INVOCATION : f->invocation, flags, f->kind, f->label ?: "-",
		f->asked);
}

static void pop_frames(unsigned int n, unsigned int flags)
{
	while (self->n > n) {
		self->n--;
		print_frame(&self->frames[self->n],
			    self->frames[self->n].left ? WIRE_SPAN_LEFT : flags);
	}
}

static void pop_left(void)
{
	while (self->n && (self->frames[self->n - 1].left || self->frames[self->n - 1].unwrapped))
		pop_frames(self->n - 1, WIRE_SPAN_LEFT);
}

static void push_frame(const struct call *c)
{
	unsigned int depth = 0;

	pop_left();
	for (unsigned int i = self->n; i-- > 0;) {
		if (!self->frames[i].unseen) {
			depth = self->frames[i].depth + 1;
			break;
		}
	}
	if (self->n == self->capacity) {
		self->capacity = self->capacity * 2 + 64;
		self->frames = reallocarray(self->frames, self->capacity, sizeof(*self->frames));
	}
	self->frames[self->n++] = (struct frame){
		.query = c->query,
		.kind = c->kind,
		.label = c->label,
		.invocation = c->kind != WIRE_KIND_QUERY || c->query == EPSILON ? WIRE_NO_INVOCATION
										: c->id,
		.depth = depth,
		.unseen = c->unseen,
		.asked = c->asked,
	};
}

static void end_frame(void)
{
	pop_left();
	pop_frames(self->n - 1, 0);
}

static void thread_begin(void)
{
	static unsigned long n_threads;

	self = calloc(1, sizeof(*self));
	self->stacks = STACKS_AT +
		       SLOTS * SLOT_BYTES * __atomic_fetch_add(&n_threads, 1, __ATOMIC_RELAXED);
	self->out = open_memstream(&self->text, &self->size);
}

/* The thread is about to exit, so the open frames never end. */
static void thread_end(void)
{
	int fd = open(out_path, O_WRONLY | O_APPEND | O_CLOEXEC);

	pop_frames(0, WIRE_SPAN_OPEN);
	if (self->quiet)
		fprintf(self->out, "%d %d total %lu\n", getpid(), gettid(), self->total);
	fclose(self->out);
	if (write(fd, self->text, self->size) != (ssize_t)self->size)
		abort();
	close(fd);
	self = NULL;
}

/* ---- Queries -----------------------------------------------------------------------------------
 */

struct vtable {
	char bytes[VTABLE_INCR_SLOT + 8];
};

static struct vtable vtables[N_QUERIES + 1];

static const struct vtable *vtable_of(unsigned int query, void (*provider)(void), int offset)
{
	uint64_t number = shape_number(query);

	memcpy(vtables[query].bytes + offset, &provider, sizeof(provider));
	memcpy(vtables[query].bytes + offset + VTABLE_NUMBER, &number, sizeof(number));
	return &vtables[query];
}

static void number_query(struct call *c)
{
	c->id = __atomic_add_fetch(&invocations, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < SHAPE_KEYS; i++)
		c->keys[i] = shape_key(c->id, i);
}

static void run_query(struct call *c, body_fn *body, const void *provider_or_vtable)
{
	number_query(c);
	body(c, c->id, provider_or_vtable, c->keys[2], c->keys[3], c->keys[4]);
	end_frame();
}

static void recurse(const char *inner, unsigned int levels)
{
	struct call c = {.inner = inner, .query = ALPHA, .more = levels - 1};

	run_query(&c, body_alpha, provider_alpha);
}

void inside(struct call *c)
{
	push_frame(c);
	if (c->more)
		recurse(c->inner, c->more);
	else
		run(c->inner);
}

/* ---- Other intervals ---------------------------------------------------------------------------
 */

void outer_guard(struct call *c)
{
	struct call outer = *c;

	if (c->kind == WIRE_KIND_ACTIVITY && !c->label)
		outer.query = GUARD_OUTER;
	push_frame(&outer);
}

void inside_guard(struct call *c)
{
	push_frame(c);
	run(c->inner);
}

void hashing(struct call *c)
{
	struct call hash = *c;

	hash.kind = WIRE_KIND_HASHING;
	push_frame(&hash);
}

void guard_left(struct call *c)
{
	(void)c;
	end_frame();
}

static void print_hit(uint32_t id)
{
	struct frame f = {.query = WIRE_NO_QUERY, .kind = KIND_HIT, .invocation = id};

	for (unsigned int i = self->n; i-- > 0 && !f.depth;)
		if (!self->frames[i].unseen)
			f.depth = self->frames[i].depth + 1;
	print_frame(&f, 0);
}

static void hit_caches(bool readable)
{
	uint32_t first = __atomic_add_fetch(&invocations, 3, __ATOMIC_RELAXED);
	uint32_t entry[] = {0, 0, first + 2};

	hits((const uint32_t[]){first, first + 1}, readable ? entry : NULL);
	print_hit(first);
	print_hit(first + 1);
	print_hit(readable ? first + 2 : WIRE_NO_INVOCATION);
}

static void run_load(const char *inner)
{
	struct call c = {.inner = inner, .query = IOTA, .kind = WIRE_KIND_LOAD};

	body_iota(&c, 0, vtable_of(IOTA, provider_iota, VTABLE_INCR), 0, 0, 0);
	end_frame();
}

/* The command by which texts of labels are in pages that are not there; 0: they are. */
static char absent_in;

static void interval(char which, const char *inner)
{
	static const char text[] = "a_label_that_only_memory_tells_and_that_is_longer_than_what_is_"
				   "kept_of_one";
	struct call c = {.inner = inner, .query = GUARD_INNER, .kind = WIRE_KIND_ACTIVITY};

	if (which == 'n') {
		guards(&c);
	} else if (which == 'v') {
		c.query = WIRE_NO_QUERY;
		c.label = "timer";
		timed(&c, 0, c.label, strlen(c.label));
	} else {
		c.query = GUARD_DYNAMIC;
		c.label = which == 'L' ? text : "short";
		dynamic_guard(&c, 0,
			      absent_in == ':' ? dropped_text(c.label)
			      : absent_in      ? absent_text(c.label, absent_in == '@')
					       : c.label,
			      strlen(c.label));
	}
	end_frame();
}

static void query(char which, const char *inner)
{
	static const struct {
		char which;
		unsigned int query; /* N_QUERIES: in no plan */
		body_fn *body;
		void (*provider)(void);
		int vtable; /* the provider's offset in it; 0: the body gets the provider */
	} queries[] = {
		{'a', ALPHA, body_alpha, provider_alpha, 0},
		{'b', BETA, body_beta, provider_beta, 0},
		{'c', GAMMA, wrapper_gamma, provider_gamma, 0},
		{'C', GAMMA, body_incr, provider_gamma, VTABLE_INCR},
		{'d', DELTA, body_incr, provider_delta, VTABLE_INCR},
		{'D', DELTA, body_incr_slot, provider_delta, VTABLE_INCR_SLOT},
		{'e', EPSILON, body_epsilon, provider_epsilon, 0},
		{'h', ETA, body_eta, provider_eta, 0},
		{'i', THETA, body_theta, provider_theta, 0},
		{'z', ZETA, body_incr, provider_zeta, VTABLE_INCR},
		{'u', N_QUERIES, body_incr, provider_unknown, VTABLE_INCR},
	};

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		unsigned int of = queries[i].query;
		struct call c = {.inner = inner, .query = of, .unseen = of == N_QUERIES};
		const void *arg = queries[i].provider;

		if (queries[i].which != which)
			continue;
		if (queries[i].vtable)
			arg = vtable_of(of, queries[i].provider, queries[i].vtable);
		return run_query(&c, queries[i].body, arg);
	}
	if (which == 'o')
		run_load(inner);
	else if (strchr("nlLv", which))
		interval(which, inner);
}

/* ---- Requested queries -------------------------------------------------------------------------
 */

static char *map_stack(unsigned int slot);
static void keep_stacks(unsigned int lower, unsigned int upper);

static void ask(struct call *c, bool here, const void *provider, body_fn *wrapper)
{
	unsigned int lower = self->lower, upper = self->upper;
	void *top = wrapper == wrapper_alpha_grown ? map_stack(SLOTS / 2 + self->upper++) : NULL;

	c->asked = here ? ASKED_HERE : ASKED_THERE;
	number_query(c);
	(here ? ask_here : ask_there)(c, c->id, provider, wrapper, top);
	if (provider)
		end_frame();
	keep_stacks(lower, upper);
}

static void request(char which, const char *inner)
{
	struct call c = {.inner = inner, .query = which == 'G' ? GAMMA : ALPHA};

	if (which == 'G')
		return ask(&c, false, provider_gamma, wrapper_gamma);
	ask(&c, which != 'B', which == 'W' ? NULL : provider_alpha,
	    which == 'g' ? wrapper_alpha_grown : wrapper_alpha);
}

static void wrapper_alone(void)
{
	struct call c = {.query = GAMMA};

	push_frame(&c);
	wrapper_gamma(&c, 0, NULL, 0, 0, 0);
	self->frames[self->n - 1].unwrapped = true;
}

/* ---- Other stacks ------------------------------------------------------------------------------
 */

static char *slot_address(unsigned int slot)
{
	return self->stacks + slot * SLOT_BYTES;
}

/* The lowest page of each slot is unmapped, which keeps the mappings separate. */
static char *map_stack(unsigned int slot)
{
	char *low = slot_address(slot) + 4096;

	if (mmap(low, SLOT_BYTES - 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != low)
		abort();
	return slot_address(slot + 1);
}

/* Unmap the stacks that a return or a throw has left. */
static void keep_stacks(unsigned int lower, unsigned int upper)
{
	while (self->lower > lower)
		munmap(slot_address(SLOTS / 2 - self->lower--), SLOT_BYTES);
	while (self->upper > upper)
		munmap(slot_address(SLOTS / 2 - 1 + self->upper--), SLOT_BYTES);
}

static void run_on_stack(void *inner)
{
	run(inner);
}

static void on_stack(const char *inner, bool upper)
{
	unsigned int lower_was = self->lower, upper_was = self->upper;
	char *top = upper ? map_stack(SLOTS / 2 + self->upper++)
			  : map_stack(SLOTS / 2 - 1 - self->lower++);

	call_on_stack(run_on_stack, (void *)inner, top);
	keep_stacks(lower_was, upper_was);
}

/* ---- Leaving frames ----------------------------------------------------------------------------
 */

static void __attribute__((noinline)) catching(const char *s)
{
	jmp_buf here, *outer = self->catch;
	unsigned int n = self->n, lower = self->lower, upper = self->upper;

	self->catch = &here;
	switch (setjmp(here)) {
	case 0:
		run(s);
		break;
	case THROWN:
		panic_cleanup();
		pop_frames(n, WIRE_SPAN_UNWOUND);
		break;
	default:
		for (unsigned int i = n; i < self->n; i++)
			self->frames[i].left = true;
	}
	self->catch = outer;
	keep_stacks(lower, upper);
}

/* ---- Threads and processes ---------------------------------------------------------------------
 */

static void *thread_main(void *inner)
{
	thread_begin();
	run(inner);
	thread_end();
	return NULL;
}

static void threads(unsigned int n, const char *inner, size_t stack_bytes)
{
	pthread_t ids[64];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack_bytes);
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&ids[i], &attr, thread_main, (void *)inner))
			abort();
	for (unsigned int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

static size_t length_in_parentheses(const char *s)
{
	size_t len = 0;

	for (int open = 1; open; len++)
		open += (s[len] == '(') - (s[len] == ')');
	return len - 1;
}

static void execute(const char *inner)
{
	_Static_assert(sizeof(char *) == 8, "x86-64");
	static char padding[3 * WIRE_ARGS_MAX / 2];
	char *script = strndup(inner, length_in_parentheses(inner));
	char *padded = self->quiet ? memset(padding, '-', sizeof(padding) - 1) : NULL;

	thread_end();
	execl("/proc/self/exe", "target", out_path, script, padded, NULL);
	abort();
}

static void in_child(const char *inner, void (*fn)(const char *))
{
	bool quiet = self->quiet;
	pid_t pid = fork();

	if (pid == 0) {
		/* As capture.h; its parent waits for it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The child has a model of its own. */
		thread_begin();
		self->quiet = quiet;
		fn(inner);
		thread_end();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void run_forked(const char *inner)
{
	run(inner);
}

static void synchronize(void)
{
	char byte = '.';

	if (write(STDOUT_FILENO, &byte, 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
		_exit(99);
}

/* ---- The script --------------------------------------------------------------------------------
 */

static void leave(int how)
{
	longjmp(*self->catch, how);
}

static void forget(void)
{
	for (unsigned int i = 0; i < self->n; i++)
		self->frames[i].unseen = true;
}

static void end_process(char how, unsigned int arg)
{
	thread_end();
	if (how == 'q')
		_exit((int)arg);
	raise((int)arg);
}

/* Entries lie on the stack, further out than what runs. */
static void in_llvm(enum llvm_lie lie, const char *inner)
{
	char room[LLVM_ROOM] __attribute__((aligned(16))) = {0};

	llvm_run_pass(run, inner, llvm_lie(lie, room));
	llvm_over();
}

static void block(char what, unsigned int arg, const char *inner)
{
	switch (what) {
	case 'r':
		return recurse(inner, arg);
	case '*':
		for (unsigned int i = 0; i < arg; i++)
			run(inner);
		return;
	case '{':
		return catching(inner);
	case 's':
		return on_stack(inner, false);
	case 'S':
		return on_stack(inner, true);
	case 't':
		return threads(1, inner, 1 << 20);
	case 'T':
		return threads(1, inner, BIG_STACK);
	case 'p':
		return threads(arg, inner, 1 << 20);
	case 'f':
		return in_child(inner, run_forked);
	case 'x':
		return in_child(inner, execute);
	case 'X':
		return execute(inner);
	case '%':
		return in_llvm(arg, inner);
	case 'j':
		jobs_lie(arg);
		run(inner);
		return jobs_over();
	case 'A':
	case 'B':
	case 'G':
	case 'g':
		return request(what, inner);
	default:
		return query(what, inner);
	}
}

static void list_switches(void)
{
	struct rusage before, after;
	struct timespec now;

	/* Repeat until no switch happened in between. */
	do {
		getrusage(RUSAGE_THREAD, &before);
		clock_gettime(CLOCK_MONOTONIC, &now);
		getrusage(RUSAGE_THREAD, &after);
	} while (before.ru_nvcsw != after.ru_nvcsw || before.ru_nivcsw != after.ru_nivcsw);
	fprintf(self->out, "%d %d switches %lu %ld %ld\n", getpid(), gettid(),
		now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec, after.ru_nvcsw,
		after.ru_nivcsw);
}

static void call_chain(char what, unsigned int arg)
{
	switch (what) {
	case 'F':
		return chain_of_spin(arg);
	case 'I':
		return chain_of_reads(arg);
	case 'R':
		return chain_of_frames(arg);
	case 'E':
		return chain_of_recursion(arg);
	case 'P':
		return chain_of_pages(arg);
	default:
		return chain_of_sleep(arg);
	}
}

static void step(char what, unsigned int arg)
{
	switch (what) {
	case 'Z':
		/* Shorter than the kernel's usual slack. */
		prctl(PR_SET_TIMERSLACK, 1);
		usleep(arg);
		return;
	case 'F':
	case 'I':
	case 'R':
	case 'E':
	case 'P':
	case 'Q':
		return call_chain(what, arg);
	case 'U':
		return list_switches();
	case ':':
	case '@':
	case '&':
		absent_in = what;
		if (setresuid(arg, arg, arg))
			abort();
		return;
	case 'N':
	case 'J':
		return names_drop_table(arg, what == 'N' ? 16 : 64);
	case 'K':
		return names_drop_crates(arg);
	case 'n':
		return names_feed_results(arg);
	case 'V':
		return names_drop_places(arg);
	case 'H':
		return names_lie(arg);
	case 'Y':
		return names_have(arg);
	case 'O':
		return names_drop_had();
	case '+':
		return names_finish_had();
	case 'w':
		return wrapper_alone();
	case '!':
		return leave(THROWN);
	case '^':
		return leave(UNSEEN);
	case '.':
		return synchronize();
	case '0':
		return forget();
	case 'm':
	case 'M':
		return hit_caches(what == 'm');
	case '~':
		self->quiet = true;
		return;
	case 'y':
		thread_end();
		pthread_exit(NULL);
	case 'q':
	case 'k':
		return end_process(what, arg);
	case 'A':
	case 'B':
	case 'G':
	case 'g':
	case 'W':
		return request(what, "");
	default:
		return query(what, "");
	}
}

static bool closes(char c)
{
	return c == '\0' || c == ')' || c == '}';
}

/* The position after the bracket that closes the one before `s`. */
static const char *skip(const char *s)
{
	for (int open = 1; open; s++)
		open += (*s == '(' || *s == '{') - (*s == ')' || *s == '}');
	return s;
}

/* Run until the end of the script or the closing bracket; returns its position. */
static const char *run(const char *s)
{
	while (!closes(*s)) {
		char what = *s++, *end;
		bool takes_number = strchr("r*pqkZNJKVHYFIREPQjn%@&", what);
		unsigned int arg = takes_number ? strtoul(s, &end, 10) : 0;

		s = takes_number ? end : s;
		if (what == '{' || *s == '(') {
			s += what != '{';
			block(what, arg, s);
			s = skip(s);
		} else {
			step(what, arg);
		}
	}
	return s;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	out_path = argv[1];
	thread_begin();
	run(argv[2]);
	thread_end();
	return 0;
}
