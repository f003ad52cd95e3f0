// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/ptrace_stop.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/signals.h"
#include "proc/processes.h"

/* Threads whose owner waits for them. */
#define LIVE_MAX 256
/*
 * Threads that do not return from PTRACE_SEIZE, of one user, of all but root, of one process. A
 * user can cause any number of these, and must not use up the stops of others.
 */
#define STUCK_PER_USER 8
/* A thread that was given up may only not have run yet. */
#define STUCK_PER_PROCESS 2
#define STUCK_MAX	  256
/* The interval of checks, while the process is stopped, for its death and for signals to us. */
#define LOOK_NS 20000000
/* The first and the longest pause between checks while the process has not stopped yet. */
#define FIRST_PAUSE_NS	 20000
#define LONGEST_PAUSE_NS 2000000
#define PATIENCE_NS	 100000000
/* See join_soon(). */
#define SLICE_NS    20000000
#define STACK_BYTES (128 << 10)

struct ptrace_stop {
	pthread_t thread;
	pthread_mutex_t lock; /* protects all fields below */
	pthread_cond_t changed;
	pid_t pid;
	uid_t user;
	struct ptrace_stop *next; /* of all_stops; protected by all_lock, as is `stuck` */
	bool stuck;		  /* abandoned */
	uint64_t until_ns;
	int wake_fd;
	enum ptrace_stop_state state;
	uint64_t pc;
	uint64_t stopped_ns;
	uint64_t over_ns; /* 0: not over yet */
	bool let_go;	  /* the owner wants the process to run on */
	bool seized;	  /* PTRACE_SEIZE has returned in time; the process may stop */
	bool finished;	  /* the thread does not use this struct any more */
	bool abandoned;	  /* the owner has freed it: the thread frees the memory */
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ptrace_stop *all_stops; /* those with a thread */

/* ---- The thread: every call on the process --------------------------------------------------- */

static void set_state(struct ptrace_stop *s, enum ptrace_stop_state state, uint64_t pc)
{
	_unlock_ pthread_mutex_t *held = locked(&s->lock);

	s->state = state;
	if (state == PTRACE_STOP_STOPPED) {
		s->pc = pc;
		s->stopped_ns = clock_ns(CLOCK_MONOTONIC);
	} else {
		s->over_ns = clock_ns(CLOCK_MONOTONIC);
	}
	/* The owner may have closed the descriptor after ptrace_stop__free(). */
	if (!s->abandoned && s->wake_fd >= 0)
		eventfd_write(s->wake_fd, 1);
}

/* The recording thread handles signals when it can; the process must not wait for that. */
static bool is_signalled(void)
{
	sigset_t set;

	return signals_end_recording() || (!sigpending(&set) && sigismember(&set, SIGTSTP));
}

/* Wait `ns`. False if the process must run on. */
static bool pause_for(struct ptrace_stop *s, uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;
	struct timespec until = clock_timespec(end < s->until_ns ? end : s->until_ns);
	bool go;

	pthread_mutex_lock(&s->lock);
	if (!s->let_go)
		pthread_cond_timedwait(&s->changed, &s->lock, &until);
	go = s->let_go;
	pthread_mutex_unlock(&s->lock);
	return !go && clock_ns(CLOCK_MONOTONIC) < s->until_ns && !is_signalled();
}

static int look(pid_t pid, siginfo_t *info, int what)
{
	info->si_pid = 0;
	return waitid(P_PID, (id_t)pid, info, what | WNOHANG | __WALL) ? -errno : 0;
}

static bool is_dead(pid_t pid)
{
	siginfo_t info;

	return look(pid, &info, WEXITED | WNOWAIT) ||
	       (info.si_pid && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
				info.si_code == CLD_DUMPED));
}

/*
 * Wait for a stop of any kind. *sig is the signal that was about to be delivered, or 0. Takes only
 * a stop, as other code may wait for the death. -ESRCH: the process is dead; -ETIME: it must run
 * on.
 */
static int wait_for_stop(struct ptrace_stop *s, int *sig)
{
	uint64_t pause = FIRST_PAUSE_NS;
	siginfo_t info;

	do {
		if (is_dead(s->pid))
			return -ESRCH;
		if (look(s->pid, &info, WSTOPPED))
			return -ESRCH;
		if (info.si_pid) {
			/* Like a wait(2) status without its stop bits: the signal and the event. */
			*sig = info.si_status >> 8 ? 0 : info.si_status;
			return 0;
		}
		pause = pause * 2 < LONGEST_PAUSE_NS ? pause * 2 : LONGEST_PAUSE_NS;
	} while (pause_for(s, pause));
	return -ETIME;
}

static uint64_t read_pc(pid_t pid)
{
#ifdef __x86_64__
	struct user_regs_struct regs;
	struct iovec iov = {&regs, sizeof(regs)};

	if (!ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov))
		return regs.rip;
#endif
	return 0;
}

/* PTRACE_SEIZE may have returned only after the owner gave up. */
static bool may_stop(struct ptrace_stop *s)
{
	_unlock_ pthread_mutex_t *held = locked(&s->lock);

	s->seized = !s->let_go && clock_ns(CLOCK_MONOTONIC) < s->until_ns;
	return s->seized;
}

/*
 * Only a stopped process can be detached from. From any other the kernel detaches when the thread
 * exits, and cancels the request to stop.
 */
static void stop_until_let_go(struct ptrace_stop *s)
{
	siginfo_t info;
	int err, sig = 0;

	if (ptrace(PTRACE_SEIZE, s->pid, NULL, NULL) || !may_stop(s))
		return;
	err = ptrace(PTRACE_INTERRUPT, s->pid, NULL, NULL) ? -errno : wait_for_stop(s, &sig);
	if (!err) {
		set_state(s, PTRACE_STOP_STOPPED, read_pc(s->pid));
		while (pause_for(s, LOOK_NS) && !is_dead(s->pid))
			;
		err = ptrace(PTRACE_DETACH, s->pid, NULL, (void *)(uintptr_t)sig) ? -errno : 0;
	}
	/*
	 * A tracer must reap a dead process before the parent can. If we are the parent, leave its
	 * status to the code that waits for the child: one wait would consume both.
	 */
	if (err == -ESRCH && process_parent(s->pid) != getpid())
		look(s->pid, &info, WEXITED);
}

static void destroy(struct ptrace_stop *s)
{
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

static void forget(struct ptrace_stop *s)
{
	_unlock_ pthread_mutex_t *held = locked(&all_lock);
	struct ptrace_stop **at = &all_stops;

	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
}

static void *run(void *ctx)
{
	struct ptrace_stop *s = ctx;
	bool abandoned;

	stop_until_let_go(s);
	set_state(s, PTRACE_STOP_OVER, 0);
	forget(s);
	pthread_mutex_lock(&s->lock);
	s->finished = true;
	abandoned = s->abandoned;
	pthread_mutex_unlock(&s->lock);
	if (abandoned)
		destroy(s);
	return NULL;
}

/* ---- Its owner ------------------------------------------------------------------------------- */

static int start_thread(struct ptrace_stop *s)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = signals_start_thread(&s->thread, &attr, run, s);
	pthread_attr_destroy(&attr);
	return err;
}

/* The caller has locked all_lock. */
static bool may_begin(pid_t pid, uid_t user)
{
	unsigned int live = 0, stuck = 0, stuck_of_user = 0, stuck_of_process = 0;

	for (const struct ptrace_stop *s = all_stops; s; s = s->next) {
		stuck_of_process += s->stuck && s->pid == pid;
		live += !s->stuck;
		stuck += s->stuck && s->user;
		stuck_of_user += s->stuck && s->user == user;
	}
	return live < LIVE_MAX && stuck_of_process < STUCK_PER_PROCESS &&
	       (!user || (stuck < STUCK_MAX && stuck_of_user < STUCK_PER_USER));
}

/* False: see may_begin(). */
static bool remember(struct ptrace_stop *s)
{
	_unlock_ pthread_mutex_t *held = locked(&all_lock);

	if (!may_begin(s->pid, s->user))
		return false;
	s->next = all_stops;
	all_stops = s;
	return true;
}

int ptrace_stop__begin(pid_t pid, uid_t user, uint64_t until_ns, int wake_fd,
		       struct ptrace_stop **out)
{
	struct ptrace_stop *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;
	int err;

	if (!s)
		return -ENOMEM;
	s->pid = pid;
	s->user = user;
	s->until_ns = until_ns;
	s->wake_fd = wake_fd;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = remember(s) ? start_thread(s) : -EAGAIN;
	if (err) {
		forget(s);
		destroy(s);
		return err;
	}
	*out = s;
	return 0;
}

enum ptrace_stop_state ptrace_stop__state(struct ptrace_stop *s)
{
	_unlock_ pthread_mutex_t *held = locked(&s->lock);

	return s->state;
}

uint64_t ptrace_stop__held_ns(struct ptrace_stop *s)
{
	_unlock_ pthread_mutex_t *held = locked(&s->lock);

	if (!s->stopped_ns)
		return 0;
	return (s->over_ns ?: clock_ns(CLOCK_MONOTONIC)) - s->stopped_ns;
}

uint64_t ptrace_stop__pc(struct ptrace_stop *s)
{
	_unlock_ pthread_mutex_t *held = locked(&s->lock);

	return s->pc;
}

static int join_within(struct ptrace_stop *s, uint64_t ns)
{
	struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + ns);

	return pthread_clockjoin_np(s->thread, NULL, CLOCK_MONOTONIC, &until);
}

/*
 * False if the thread did not run in time, or is still in PTRACE_SEIZE. Waits in slices: while a
 * machine stands still the thread cannot run, so that time takes up one slice at most.
 */
static bool join_soon(struct ptrace_stop *s, bool seized)
{
	uint64_t waited_ns = 0;
	int err;

	if (!seized)
		return !join_within(s, 0);
	do {
		err = join_within(s, SLICE_NS);
		waited_ns += SLICE_NS;
	} while (err == ETIMEDOUT && waited_ns < PATIENCE_NS);
	return !err;
}

void ptrace_stop__free(struct ptrace_stop *s)
{
	bool seized, finished;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->let_go = true;
	seized = s->seized || s->state == PTRACE_STOP_OVER;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (join_soon(s, seized)) {
		destroy(s);
		return;
	}
	/* The thread may stay in the kernel for long: it frees the struct when it exits. */
	pthread_mutex_lock(&s->lock);
	finished = s->finished;
	s->abandoned = !finished;
	if (!finished) {
		pthread_mutex_lock(&all_lock);
		s->stuck = true;
		pthread_mutex_unlock(&all_lock);
		pthread_detach(s->thread);
	}
	pthread_mutex_unlock(&s->lock);
	if (finished) {
		pthread_join(s->thread, NULL);
		destroy(s);
	}
}
