// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/probe_cost.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"

/* Each call is timed separately: the median ignores calls that were disturbed. */
#define CALLS	      96
#define STEPPED_CALLS 8
#define IDLE_CALLS    32 /* without probes, they hardly differ */
#define WARM_CALLS    8	 /* the first hits also pay for the page, and for the thread's storage */
#define MOST_RECORDS  (WARM_CALLS + CALLS)

/*
 * Half of the second-level cache is touched between two calls. In a bare loop only the probes use
 * the caches, so a probe costs less than in a compiler (docs/time.md).
 */
#define CACHE_LINE     64
#define USUAL_L2_BYTES (1l << 20) /* where the system does not report it */

/* The queries of the plan: one for each class of sites. */
enum { EMULATED, STEPPED, N_CLASSES };

/*
 * In assembly, so that each site is a chosen instruction: as in rustc, the first of a provider, and
 * a branch after its return.
 */
void qprof_cost_emulated(void);
void qprof_cost_emulated_start(void);
void qprof_cost_emulated_end(void);
void qprof_cost_stepped(void);
void qprof_cost_stepped_start(void);
void qprof_cost_stepped_end(void);
__asm__(".text\n"
	"	.macro cost_function name\n"
	"	.globl \\name\n"
	"	.hidden \\name\n"
	"	.type \\name, @function\n"
	"\\name:\n"
	"	.endm\n"
	"cost_function qprof_cost_emulated\n"
	"	sub $8, %rsp\n"
	"	call qprof_cost_emulated_start\n"
	"	test %rsp, %rsp\n"
	"cost_function qprof_cost_emulated_end\n"
	"	jz 1f\n"
	"1:	add $8, %rsp\n"
	"	ret\n"
	"cost_function qprof_cost_emulated_start\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	"cost_function qprof_cost_stepped\n"
	"	sub $8, %rsp\n"
	"	call qprof_cost_stepped_start\n"
	"cost_function qprof_cost_stepped_end\n"
	"	test %rsp, %rsp\n"
	"	add $8, %rsp\n"
	"	ret\n"
	"cost_function qprof_cost_stepped_start\n"
	"	sub $8, %rsp\n"
	"	add $8, %rsp\n"
	"	ret\n");

/* Durations of calls; in memory that the child shares with us. */
struct timings {
	uint64_t nothing_ns[IDLE_CALLS]; /* of a function without probes: reading the clock */
	uint64_t emulated_ns[CALLS];
	uint64_t stepped_ns[STEPPED_CALLS];
	bool called;
	bool written; /* a breakpoint */
};

/* The first byte of qprof_cost_emulated_start, "push %rbp", without a breakpoint. */
#define PUSH_RBP 0x55

struct samples {
	uint8_t lib;
	uint64_t n_spans;
	size_t n[N_CLASSES];
	uint64_t ns[N_CLASSES][MOST_RECORDS]; /* durations by the records */
};

/* ---- The plan of our own functions ----------------------------------------------------------- */

struct placed {
	uint64_t address;
	uint64_t offset; /* in the file, or 0 */
};

/* Finds the segment of an address, in the first object: the program itself. */
static int place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct placed *p = ctx;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_LOAD && p->address >= start && p->address - start < h->p_filesz)
			p->offset = h->p_offset + (p->address - start);
	}
	return 1;
}

uint64_t probe_cost_offset(void (*function)(void))
{
	struct placed p = {.address = (uint64_t)(uintptr_t)function};

	dl_iterate_phdr(place, &p);
	return p.offset;
}

static struct plan_site site(uint32_t query, uint32_t role, void (*at)(void))
{
	return (struct plan_site){
		.addr = (uint64_t)(uintptr_t)at,
		.offset = probe_cost_offset(at),
		.query = query,
		.body = PLAN_NONE,
		.role = (uint8_t)role,
		.cls = query == STEPPED ? PLAN_STEPPED : PLAN_EMULATED,
		.reg = role == WIRE_ROLE_END ? WIRE_REG_AX : WIRE_REG_NONE,
		.slot = PLAN_NO_SLOT,
		/* At the entry of a provider the return address is on top of the stack. */
		.sp_delta = role == WIRE_ROLE_START ? 8 : 0,
		.key_reg = WIRE_REG_NONE,
		.key_slot = PLAN_NO_SLOT,
	};
}

static int attach(struct kernel *k, uint8_t *lib)
{
	struct plan_site sites[] = {
		site(EMULATED, WIRE_ROLE_START, qprof_cost_emulated_start),
		site(STEPPED, WIRE_ROLE_START, qprof_cost_stepped_start),
		site(EMULATED, WIRE_ROLE_END, qprof_cost_emulated_end),
		site(STEPPED, WIRE_ROLE_END, qprof_cost_stepped_end),
	};
	_library_file_ struct library_file *self = NULL;
	struct plan plan = {
		.path = (char *)"/proc/self/exe",
		.sites = sites,
		.n_sites = N_OF(sites),
	};

	int err;

	for (uint32_t i = 0; i < plan.n_sites; i++)
		if (!sites[i].offset)
			return -ENOENT;
	err = library_file__try(plan.path, &self);
	plan.file = self;
	return err ?: kernel__attach(k, &plan, NULL, lib);
}

/* ---- The child that is probed ---------------------------------------------------------------- */

/* The first calls are not timed. */
static void time_calls(void (*function)(void), volatile char *bytes, size_t size, int calls,
		       uint64_t *ns)
{
	for (int i = -WARM_CALLS; i < calls; i++) {
		uint64_t start;

		for (size_t k = 0; k < size; k += CACHE_LINE)
			bytes[k]++;
		start = clock_ns(CLOCK_MONOTONIC);
		function();
		if (i >= 0)
			ns[i] = clock_ns(CLOCK_MONOTONIC) - start;
	}
}

static void nothing(void)
{
	__asm__ volatile("");
}

static void call_all(struct timings *t)
{
	long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
	size_t size = (size_t)(l2 > 0 ? l2 : USUAL_L2_BYTES) / 2;
	char *bytes = calloc(1, size);

	if (!bytes)
		return;
	t->written = *(const volatile uint8_t *)(uintptr_t)qprof_cost_emulated_start != PUSH_RBP;
	time_calls(nothing, bytes, size, IDLE_CALLS, t->nothing_ns);
	time_calls(qprof_cost_emulated, bytes, size, CALLS, t->emulated_ns);
	time_calls(qprof_cost_stepped, bytes, size, STEPPED_CALLS, t->stepped_ns);
	t->called = true;
}

static _Noreturn void child(int go, struct timings *t)
{
	cpu_set_t here;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A move to another CPU would cost more than a probe. */
	CPU_ZERO(&here);
	CPU_SET((unsigned int)sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	if (read(go, &byte, 1) == 1)
		call_all(t);
	_exit(0);
}

/*
 * A child and not a thread: after waitpid() the kernel half has counted all hits of the child, and
 * forgotten it. After pthread_join() a thread may still be exiting.
 */
static int run_child(struct kernel *k, struct timings *t)
{
	int go[2], err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		child(go[0], t);
	}
	err = pid < 0 ? -errno : kernel__follow(k, pid);
	kernel__enable(k, true);
	if (!err && write(go[1], "", 1) != 1)
		err = -EIO;
	close(go[0]);
	close(go[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	kernel__enable(k, false);
	if (pid > 0)
		kernel__unfollow(k, pid);
	return err;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

static int on_record(void *ctx, const struct record *r)
{
	const struct wire_span *span = r->span;
	struct samples *s = ctx;

	s->n_spans += r->kind == WIRE_SPAN;
	if (r->kind != WIRE_SPAN || span->lib != s->lib || span->flags ||
	    span->query >= N_CLASSES || s->n[span->query] == MOST_RECORDS)
		return 0;
	s->ns[span->query][s->n[span->query]++] = span->end_ns - span->start_ns;
	return 0;
}

static uint64_t median(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), array__by_u64);
	return n ? values[n / 2] : 0;
}

/* `calls_ns` are the durations of calls; `idle_ns` is the duration of one without probes. */
static struct probe_cost cost_of(uint64_t *calls_ns, size_t n, uint64_t idle_ns, struct samples *s,
				 unsigned int class)
{
	uint64_t ns = median(calls_ns, n);
	struct probe_cost c = {
		.hit_ps = ns > idle_ns ? (ns - idle_ns) * 1000 / 2 : 0,
		.inside_ps = median(s->ns[class], s->n[class]) * 1000,
	};
	/* A probe that did not fire has no cost. */
	bool fired = s->n[class] && c.inside_ps < 2 * c.hit_ps;

	return fired ? c : (struct probe_cost){0};
}

static int measure(struct kernel *k, struct timings *t, struct samples *s,
		   struct probe_costs *costs)
{
	int err = attach(k, &s->lib);
	uint64_t idle_ns;

	if (err)
		return err;
	err = run_child(k, t);
	err = kernel__drain(k, on_record, s) ?: err;
	err = kernel__counters(k, costs->rehearsal.counters) ?: err;
	err = kernel__reset_counters(k) ?: err;
	costs->rehearsal.called = t->called;
	costs->rehearsal.written = t->written;
	costs->rehearsal.spans = s->n_spans;
	if (err)
		return err;
	idle_ns = median(t->nothing_ns, IDLE_CALLS);
	costs->emulated = cost_of(t->emulated_ns, CALLS, idle_ns, s, EMULATED);
	costs->stepped = cost_of(t->stepped_ns, STEPPED_CALLS, idle_ns, s, STEPPED);
	return 0;
}

int probe_costs__measure(struct kernel *k, struct probe_costs *costs)
{
	struct timings *t =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	_free_ struct samples *s = calloc(1, sizeof(*s));
	int err;

	*costs = (struct probe_costs){0};
	if (t == MAP_FAILED)
		return -ENOMEM;
	err = s ? measure(k, t, s, costs) : -ENOMEM;
	munmap(t, sizeof(*t));
	return err;
}
