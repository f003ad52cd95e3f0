// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/sampling.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/timerfd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/epoll.h"
#include "capture/sample_events.h"
#include "capture/sample_tables.h"
#include "capture/sampled_files.h"
#include "proc/processes.h"

/* The pause between two looks at a process; doubled by a look that finds nothing new. */
#define FIRST_PAUSE_NS	 2000000ull
#define LONGEST_PAUSE_NS 2000000000ull
/* As many as the kernel half's table has room for; and of foreign users. */
#define PROCESSES_MAX	      4096
#define FOREIGN_PROCESSES_MAX (PROCESSES_MAX / 2)
/* The pause between two searches for processes that have ended without a record. */
#define SWEEP_NS 1000000000ull

/* A compiler. */
struct sampled_process {
	pid_t pid;
	bool foreign;	    /* its user is neither root nor the invoker */
	bool changed;	    /* it has mapped more, or a stack ended at an unknown address */
	bool llvm_noted;    /* the sink knows why LLVM is not shown */
	uint32_t pending;   /* mappings whose file's table is being made */
	uint32_t n;	    /* mappings that the kernel half has */
	uint32_t lost;	    /* mappings that it has not, and never will */
	uint64_t looked_ns; /* when the last look began */
	uint64_t pause_ns;
	uint16_t *files; /* that it holds, by their numbers */
	uint32_t n_files;
};

struct sampling {
	struct sampling_options opt;
	struct kernel_samples kernel;
	struct broker *broker;
	struct session_sink sink;
	struct sample_tables *tables;
	struct sampled_files *files;
	struct sample_events *events; /* NULL: no samples are taken */
	int epoll;		      /* of the files and the timer */
	int timer;		      /* expires when a process is to be looked at again */
	uint64_t timer_ns;	      /* at this time; 0: it is not set */
	struct sampled_process *items;
	uint32_t n;
	uint32_t capacity;
	uint64_t n_lost;   /* mappings without room */
	uint64_t n_missed; /* ticks, by events that are closed */
	uint64_t swept_ns;
	/* Of the libraries that are attached to, by their numbers; `ino` is 0: none is. */
	struct library_identity libs[WIRE_MAX_LIBS + 1];
	uint32_t n_libs; /* numbers up to this were used */
	bool warned;	 /* a line has reported that there are too many processes */
};

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static struct sampled_process *find(const struct sampling *s, pid_t pid)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->items[i].pid == pid)
			return &s->items[i];
	return NULL;
}

static void release(struct sampling *s, const uint16_t *files, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sampled_files__release(s->files, files[i]);
}

static void forget(struct sampling *s, struct sampled_process *p)
{
	sample_tables__unmap(s->tables, p->pid);
	release(s, p->files, p->n_files);
	free(p->files);
	*p = s->items[--s->n];
}

int sampling__open(const struct sampling_options *opt, const struct kernel_samples *k,
		   struct broker *broker, const struct session_sink *sink, int nice,
		   struct sampling **out)
{
	_sampling_ struct sampling *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_error_r(-ENOMEM, "out of memory");
	s->epoll = s->timer = -1;
	s->opt = *opt;
	s->kernel = *k;
	s->broker = broker;
	s->sink = *sink;
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = s->timer < 0 || s->epoll < 0 ? -errno : sample_tables__new(&s->kernel, &s->tables);
	err = err ?: sampled_files__new(s->tables, &s->sink, nice, &s->files)
		      ?: epoll_watch(s->epoll, sampled_files__fd(s->files))
		      ?: epoll_watch(s->epoll, s->timer);
	if (err)
		return diag_error_r(err, "cannot take samples: %s%s", strerror(-err),
				    diag_step(err, ""));
	*out = take_ptr(s);
	return 0;
}

/* ---- Compilers' libraries -------------------------------------------------------------------- */

/* The kernel half reads jobs of threads that have a frame in a compiler's library. */
static void tie(struct sampling *s, uint32_t number, const struct library_identity *id)
{
	uint8_t lib = 0;

	for (uint32_t i = 1; i <= s->n_libs; i++)
		if (s->libs[i].ino && library_identity_is_one(&s->libs[i], id))
			lib = (uint8_t)i;
	if (s->kernel.libs && number < s->kernel.n_files)
		s->kernel.libs[number] = lib;
}

void sampling__library(struct sampling *s, uint8_t lib, struct library_file *file)
{
	struct library_identity id = {0};
	uint32_t number;

	if (!s)
		return;
	if (file)
		id = *library_file__identity(file);
	s->libs[lib] = id;
	s->n_libs = lib > s->n_libs ? lib : s->n_libs;
	for (uint32_t i = 0; s->kernel.libs && !file && i < s->kernel.n_files; i++)
		if (s->kernel.libs[i] == lib)
			s->kernel.libs[i] = 0;
	number = file ? sampled_files__find(s->files, &id, id.uid) : 0;
	if (number)
		tie(s, number, &id);
}

/* ---- Files before any process ---------------------------------------------------------------- */

int sampling__foresee(struct sampling *s, const struct toolchain_files *files)
{
	int err = 0;

	for (uint32_t i = 0; i < files->n && !err; i++) {
		const struct toolchain_file *f = &files->items[i];
		const struct library_identity *id = library_file__identity(f->file);
		uint32_t number;

		if (f->is_program && sample_tables__know_program(s->tables, f->file))
			diag_verbose("the first samples of %s have no stack",
				     library_file__path(f->file));
		if (sampled_files__find(s->files, id, id->uid))
			continue;
		err = sampled_files__add(s->files, f->file, id->uid, &number);
		if (!err)
			tie(s, number, id);
		/* A file that is refused here is taken, or counted, when a compiler maps it. */
		if (err == -EDQUOT || err == -EAGAIN)
			err = 0;
	}
	return err;
}

void sampling__await_foreseen(struct sampling *s, uint64_t most_ns)
{
	if (s)
		sampled_files__await_own(s->files, most_ns);
}

/* ---- Mappings -------------------------------------------------------------------------------- */

/* A look at a process. */
struct visit {
	struct sampled_process *process;
	uid_t user;
	struct mapped_files found;
	uint32_t lost;
	uint16_t files[MAPPED_FILES_MAX]; /* that are held for it */
	uint32_t n_files;
	struct wire_mappings to;
};

/* The number of a mapping's file; *number is 0 if it has none, or none yet. */
static int number_of(struct sampling *s, struct visit *v, const struct mapped_file *m,
		     uint32_t *number)
{
	_library_file_ struct library_file *file = NULL;
	int err;

	*number = sampled_files__find(s->files, &m->id, v->user);
	if (*number)
		return 0;
	if (!m->id.ino) {
		err = sampled_files__add_vdso(s->files, number);
		return err == -EAGAIN ? 0 : err;
	}
	err = sampled_files__may_add(s->files, &m->id, v->user)
		      ? broker__mapped_file(s->broker, v->process->pid, &v->found, m, &file)
		      : -EDQUOT;
	/* Others may be opened later: the file was being written to, or the child was busy. */
	if (err && err != -EDQUOT && err != -BROKER_SERVED)
		err = -EAGAIN;
	err = err ?: sampled_files__add(s->files, file, v->user, number);
	if (err == -EDQUOT || err == -BROKER_SERVED)
		v->lost++;
	else if (err == -EAGAIN)
		sampling__mapped(s, v->process->pid);
	else
		return err;
	return 0;
}

static int add_mapping(struct sampling *s, struct visit *v, const struct mapped_file *m)
{
	struct wire_mapping new = {.start = m->start, .end = m->end};
	struct sampled_process *p = v->process;
	int err = number_of(s, v, m, &new.file), none;

	if (err || !new.file)
		return err;
	/* At once: the next file may need room. */
	sampled_files__hold(s->files, new.file);
	v->files[v->n_files++] = (uint16_t) new.file;
	tie(s, new.file, &m->id);
	none = sampled_files__bias(s->files, new.file, m->start, m->offset, &new.bias);
	p->pending += none == -EAGAIN;
	if (!none)
		v->to.items[p->n++] = new;
	return 0;
}

/* The process holds what was found now, in place of what was found before. */
static int hold_found(struct sampling *s, struct visit *v)
{
	struct sampled_process *p = v->process;
	size_t size = v->n_files * sizeof(*p->files);
	uint16_t *files = malloc(size ?: 1);

	if (!files) {
		release(s, v->files, v->n_files);
		return -ENOMEM;
	}
	memcpy(files, v->files, size);
	p->llvm_noted &= p->n_files == v->n_files;
	release(s, p->files, p->n_files);
	free(p->files);
	p->files = files;
	p->n_files = v->n_files;
	return 0;
}

static int look_at(struct sampling *s, struct sampled_process *p)
{
	struct visit v = {.process = p, .to.pid = (uint32_t)p->pid};
	uint32_t n_before = p->n, pending = p->pending;
	int err;

	p->looked_ns = now();
	p->changed = false;
	v.user = process_uid(p->pid);
	/*
	 * The process may have ended, or block its readers: then its stacks end where they are
	 * unknown. If it ends during a look, what could not be read is not lost: a second look
	 * finds nothing.
	 */
	err = broker__mapped_files(s->broker, p->pid, &v.found);
	if (!err && v.found.n_lost > p->lost)
		err = broker__mapped_files(s->broker, p->pid, &v.found);
	if (err)
		return 0;
	p->pending = p->n = 0;
	v.lost = v.found.n_lost;
	_Static_assert(MAPPED_FILES_MAX <= WIRE_MAPPINGS_MAX, "all mappings have room");
	for (uint32_t i = 0; i < v.found.n && !err; i++)
		err = add_mapping(s, &v, &v.found.items[i]);
	err = err ?: hold_found(s, &v);
	if (err)
		return err;
	if (v.lost > p->lost) {
		s->n_lost += v.lost - p->lost;
		p->lost = v.lost;
	}
	for (uint32_t i = p->n; i < WIRE_MAPPINGS_MAX; i++)
		v.to.items[i].start = WIRE_MAPPING_NONE;
	if (p->n != n_before || p->pending != pending)
		p->pause_ns = FIRST_PAUSE_NS;
	else if (p->pause_ns < LONGEST_PAUSE_NS)
		p->pause_ns *= 2;
	err = p->n ? sample_tables__map(s->tables, &v.to) : 0;
	if (err)
		s->n_lost += p->n;
	/* What the kernel half was told before is of files that are not held any more. */
	if (err || (!p->n && n_before))
		sample_tables__unmap(s->tables, p->pid);
	return 0;
}

/* Those whose end has no record: they were killed before they were followed. */
static void sweep(struct sampling *s)
{
	uint64_t now_ns = now();

	if (s->swept_ns && now_ns - s->swept_ns < SWEEP_NS)
		return;
	s->swept_ns = now_ns;
	for (uint32_t i = s->n; i-- > 0;)
		if (!process_is_running(s->items[i].pid))
			forget(s, &s->items[i]);
}

static bool has_room(const struct sampling *s, bool foreign)
{
	uint32_t n = 0;

	for (uint32_t i = 0; foreign && i < s->n; i++)
		n += s->items[i].foreign;
	return s->n < PROCESSES_MAX && n < FOREIGN_PROCESSES_MAX;
}

static bool make_room(struct sampling *s, bool foreign)
{
	if (!has_room(s, foreign))
		sweep(s);
	if (has_room(s, foreign))
		return true;
	if (!s->warned)
		diag_warn("there are too many compilers at a time: samples of further ones have "
			  "no stacks");
	s->warned = true;
	s->n_lost++;
	return false;
}

int sampling__expect(struct sampling *s, pid_t pid)
{
	struct sampled_process new = {.pid = pid, .pause_ns = FIRST_PAUSE_NS};
	struct sampled_process *p = s ? find(s, pid) : NULL;

	if (!s)
		return 0;
	if (!p) {
		new.foreign = sampled_files__is_foreign(s->files, process_uid(pid));
		if (!make_room(s, new.foreign))
			return 0;
		if (array__add(&s->items, &s->n, &s->capacity, &new))
			return -ENOMEM;
		p = &s->items[s->n - 1];
	}
	/* A known one may have executed another compiler, whose record is not read yet. */
	return look_at(s, p);
}

int sampling__expect_running(struct sampling *s, pid_t pid)
{
	struct kernel *k = s ? s->kernel.kernel : NULL;
	int err = k ? kernel__prepare_waits(k, pid) : 0;

	if (err)
		diag_verbose("waits of process %d are not sampled: %s", (int)pid, strerror(-err));
	return sampling__expect(s, pid);
}

bool sampling__is_ready(const struct sampling *s, pid_t pid)
{
	const struct sampled_process *p = s ? find(s, pid) : NULL;

	return !p || !p->pending;
}

/* Wake the session then, or before. */
static void wake_at(struct sampling *s, uint64_t ns)
{
	if (s->timer_ns && s->timer_ns <= ns)
		return;
	s->timer_ns = ns;
	epoll_set_timer(s->timer, ns);
}

void sampling__mapped(struct sampling *s, pid_t pid)
{
	struct sampled_process *p = s ? find(s, pid) : NULL;

	if (!p || p->changed)
		return;
	p->changed = true;
	wake_at(s, p->looked_ns + p->pause_ns);
}

int sampling__settle(struct sampling *s)
{
	uint64_t now_ns = now(), expired;
	bool more;
	int err = 0;

	if (!s)
		return 0;
	if (read(s->timer, &expired, sizeof(expired)) > 0)
		s->timer_ns = 0;
	if (s->events)
		sample_events__refresh(s->events, now_ns);
	more = sampled_files__settle(s->files);
	/* Look at those whose time has come. */
	for (uint32_t i = 0; i < s->n && !err; i++) {
		struct sampled_process *p = &s->items[i];
		uint64_t due_ns = p->looked_ns + p->pause_ns;

		if ((more && p->pending) || (p->changed && now_ns >= due_ns))
			err = look_at(s, p);
		else if (p->changed)
			wake_at(s, due_ns);
	}
	return err;
}

int sampling__fd(const struct sampling *s)
{
	return s ? s->epoll : -1;
}

/* ---- Records --------------------------------------------------------------------------------- */

/*
 * Its mappings may have changed without notice, or be not known yet. The sink knows the process by
 * now, as it may not when that is looked at.
 */
static int on_sample(struct sampling *s, const struct wire_sample *sample)
{
	struct sampled_process *p = sample->llvm ? NULL : find(s, (pid_t)sample->pid);
	const char *why = p && !p->llvm_noted && !p->pending
				  ? sampled_files__no_llvm(s->files, p->files, p->n_files)
				  : NULL;

	if (sample->cut == WIRE_CUT_NO_MAP)
		sampling__mapped(s, (pid_t)sample->pid);
	if (!why)
		return 0;
	p->llvm_noted = true;
	return session_sink__take(
		&s->sink,
		&(struct record){.kind = RECORD_NO_LLVM, .pid = (uint32_t)p->pid, .text = why});
}

int sampling__take(struct sampling *s, const struct record *r)
{
	struct sampled_process *p;

	if (!s)
		return 0;
	switch (r->kind) {
	case WIRE_SAMPLE:
		return on_sample(s, r->sample);
	case WIRE_EXEC:
		p = find(s, (pid_t)r->exec->pid);
		/*
		 * The process was looked at before it executed another program: what the kernel
		 * half was given after it had forgotten the process is of the program before.
		 */
		if (p && p->looked_ns < r->exec->time_ns)
			forget(s, p);
		return 0;
	case WIRE_EXIT:
		p = find(s, (pid_t)r->exit->pid);
		if (p)
			forget(s, p);
		return 0;
	default:
		return 0;
	}
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

int sampling__start(struct sampling *s)
{
	if (s->events)
		return 0;
	if (!s->kernel.cpu && !s->kernel.fault)
		return s->kernel.waits ? 0 : -ENODATA;
	return sample_events__open(&s->opt, s->kernel.cpu, s->kernel.fault, &s->events);
}

void sampling__stop(struct sampling *s)
{
	if (!s)
		return;
	s->n_missed += sample_events__missed(s->events);
	sample_events__free(take_ptr(s->events));
}

void sampling__count(const struct sampling *s, uint64_t counters[WIRE_COUNTER_MAX])
{
	if (!s)
		return;
	counters[WIRE_LOST_SAMPLES_CPU] = s->n_missed + sample_events__missed(s->events);
	counters[WIRE_LOST_SAMPLE_FILES] = sampled_files__lost(s->files);
	counters[WIRE_LOST_SAMPLE_MAPPINGS] = s->n_lost;
}

void sampling__free(struct sampling *s)
{
	if (!s)
		return;
	sample_events__free(s->events);
	for (uint32_t i = 0; i < s->n; i++)
		free(s->items[i].files);
	sampled_files__free(s->files);
	sample_tables__free(s->tables);
	cleanup_close_p(&s->timer);
	cleanup_close_p(&s->epoll);
	free(s->items);
	free(s);
}
