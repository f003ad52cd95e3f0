// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/outside_compiler.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/compiler_jobs.h"
#include "capture/running_names.h"
#include "plan/library/find.h"
#include "proc/processes.h"

/* Results are read so often while queries are executed, ... */
#define COUNT_NS UINT64_C(250000000)
/* ... and definitions, if that takes a share of the time that is less than one of so many. */
#define NAMES_SHARE 100
/*
 * The memory of a compiler that has executed its queries lasts the longer, the more it has to free.
 * So it is watched that often: in this share of the time since its context was found.
 */
#define WATCH_NS    UINT64_C(1000000)
#define WATCH_SHARE 128
/* Another context of a process is looked for so often. */
#define ANOTHER_NS UINT64_C(100000000)
/* Jobs of a compiler, whose records are sent once. */
#define JOBS_MOST (1u << 20)
/* Threads beside rustc's are looked at if they have taken so much CPU time. */
#define THREADS_NS   UINT64_C(1000000)
#define THREADS_MOST 256
#define NAME_LOOKS   2
/* The end of a thread's stack that is searched: a thread's descriptor is at the top. */
#define STACK_TOP (8u << 10)
/* rustc's thread has 8 MiB. */
#define STACK_LEAST (1u << 20)
/* In glibc's descriptor of a thread: itself, twice, and its number. */
#define PTHREAD_SELF 0x10
#define PTHREAD_TID  0x2d0
/* A multiple of its alignment that holds all that is read. */
#define PTHREAD_ALIGN 64u
#define PTHREAD_ROOM  (12 * PTHREAD_ALIGN)

/* ---- Memory ---------------------------------------------------------------------------------- */

static int read_memory(void *compiler, const struct broker_memory *ranges, uint32_t n,
		       uint8_t *bytes)
{
	const struct outside_compiler *c = compiler;
	struct iovec to = {.iov_base = bytes}, from[BROKER_RANGES_MAX];
	ssize_t got;

	if (n > BROKER_RANGES_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < n; i++) {
		from[i] = (struct iovec){(void *)ranges[i].addr, ranges[i].size};
		to.iov_len += ranges[i].size;
	}
	got = process_vm_readv(c->pid, &to, 1, from, n, 0);
	if (got < 0)
		return errno == ESRCH || errno == EPERM || errno == ENOSYS ? -errno : -EFAULT;
	return (size_t)got == to.iov_len ? 0 : -EFAULT;
}

static struct compiler_memory memory_of(struct outside_compiler *c)
{
	return (struct compiler_memory){c, read_memory};
}

uint64_t outside_cpu_ns(pid_t pid)
{
	struct timespec ts;

	/* The clock of another process's CPU time, as clock_getcpuclockid(3) has it. */
	if (clock_gettime((clockid_t)(~(unsigned int)pid << 3 | 2), &ts))
		return 0;
	return clock_of_timespec(&ts);
}

static uint64_t thread_cpu_ns(pid_t pid, pid_t tid)
{
	_fclose_ FILE *f = NULL;
	char name[48];
	uint64_t ns;

	snprintf(name, sizeof(name), "task/%d/schedstat", (int)tid);
	f = process_file(pid, name);
	return f && fscanf(f, "%" SCNu64, &ns) == 1 ? ns : 0;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

struct mapping_line {
	uint64_t start, end, offset;
	char perms[8];
	unsigned int major, minor;
	uint64_t ino;
	const char *path; /* "" if it has none */
};

static bool parse_mapping(char *line, struct mapping_line *m)
{
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
		   &m->end, m->perms, &m->offset, &m->major, &m->minor, &m->ino, &at) < 7)
		return false;
	m->path = line + at;
	return true;
}

int outside_mapping__find(pid_t pid, struct outside_mapping *out)
{
	_fclose_ FILE *f = process_file(pid, "maps");
	_free_ char *line = NULL;
	struct mapping_line m;
	size_t room = 0;

	if (!f)
		return -ESRCH;
	while (getline(&line, &room, f) > 0) {
		if (!parse_mapping(line, &m) || m.offset || !plan_find__is_library(m.path))
			continue;
		*out = (struct outside_mapping){
			.path = strdup(m.path),
			.dev = makedev(m.major, m.minor),
			.ino = m.ino,
			.bias = m.start,
		};
		return out->path ? 0 : -ENOMEM;
	}
	return -ENOENT;
}

/*
 * Set *fs to the descriptor of the thread whose stack ends at `end`: it holds its own address
 * twice. -ENOENT, or the error of the read.
 */
static int find_descriptor(struct outside_compiler *c, uint64_t end, uint64_t *fs)
{
	_Alignas(8) uint8_t bytes[STACK_TOP];
	const struct broker_memory top = {end - STACK_TOP, STACK_TOP};
	int err = read_memory(c, &top, 1, bytes);

	for (uint32_t at = STACK_TOP - PTHREAD_ROOM; at && !err; at -= PTHREAD_ALIGN) {
		uint64_t self[2];

		memcpy(&self[0], bytes + at, 8);
		memcpy(&self[1], bytes + at + PTHREAD_SELF, 8);
		*fs = top.addr + at;
		if (self[0] == *fs && self[1] == *fs)
			return 0;
	}
	return err ?: -ENOENT;
}

/* 0 if that thread works in a query context now. */
static int try_thread(struct outside_compiler *c, uint64_t fs)
{
	const struct compiler_memory memory = memory_of(c);
	const struct broker_memory number = {fs + PTHREAD_TID, 4};
	uint32_t tid;
	int err = compiler_context__of_thread(&memory, &c->lib->plan->layout, c->bias, fs,
					      &c->context);

	err = err ?: read_memory(c, &number, 1, (uint8_t *)&tid);
	if (err)
		return err;
	c->tid = (pid_t)tid;
	c->fs = fs;
	return 0;
}

static bool is_refused(int err)
{
	return err == -EPERM || err == -ENOSYS;
}

/*
 * An incremental compiler maps the results of the last compile, which it may load, before it enters
 * its query context, and until it has executed all queries (rustc_incremental's
 * load_query_result_cache() and save_dep_graph()). Also true if it is not known, or if the library
 * does not name their file.
 */
static bool maps_old_results(const struct outside_compiler *c)
{
	_fclose_ FILE *f = process_file(c->pid, "maps");
	_free_ char *line = NULL;
	bool any = false, old = false;
	struct mapping_line m;
	size_t room = 0;

	while (f && !old && getline(&line, &room, f) > 0) {
		any = any || parse_mapping(line, &m);
		old = strstr(line, "/" PLAN_OLD_RESULTS) != NULL;
	}
	return old || !any || !feof(f) || ferror(f) || !c->lib->plan->names_old_results;
}

/* Threads' stacks are above a guard page, and no files. */
static int find_context(struct outside_compiler *c)
{
	_fclose_ FILE *f = process_file(c->pid, "maps");
	_free_ char *line = NULL;
	struct mapping_line m;
	uint64_t guard = 0, fs;
	size_t room = 0;
	int err;

	if (!f)
		return errno == EACCES ? -EPERM : -ESRCH;
	while (getline(&line, &room, f) > 0) {
		if (!parse_mapping(line, &m))
			continue;
		if (guard == m.start && m.end - m.start >= STACK_LEAST && !*m.path &&
		    !strncmp(m.perms, "rw-p", 4)) {
			err = find_descriptor(c, m.end, &fs) ?: try_thread(c, fs);
			if (!err || is_refused(err))
				return err;
		}
		guard = m.perms[0] == '-' ? m.end : 0;
	}
	return -ENOENT;
}

/*
 * The thread that was found works in no context. While it works in one, what the pointer leads to
 * may change between two reads, and may be anything.
 */
bool outside_compiler__has_left(struct outside_compiler *c)
{
	const struct compiler_memory memory = memory_of(c);
	struct compiler_context now;

	return compiler_context__of_thread(&memory, &c->lib->plan->layout, c->bias, c->fs, &now) ==
	       -ENOENT;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static int send_record(const struct session_sink *sink, const void *bytes, size_t size)
{
	const struct record r = record_of(bytes, size);

	return session_sink__take(sink, &r);
}

/* The job, and those around it that were not sent yet. */
static int send_jobs(struct outside_compiler *c, const struct session_sink *sink,
		     const struct compiler_jobs *jobs, const struct compiler_job *job)
{
	int err = 0;

	while (job && !err && c->sent.used < JOBS_MOST &&
	       u64_map__get(&c->sent, job->number) == U64_MAP_NONE) {
		const struct wire_job record = {
			.type = WIRE_JOB,
			.lib = c->lib->number,
			.query = (wire_u16)job->query,
			.pid = (wire_u32)c->pid,
			.job = job->number,
			.parent = job->parent,
			.key = job->key,
		};

		err = u64_map__put(&c->sent, job->number, 0)
			      ?: send_record(sink, &record, sizeof(record));
		job = compiler_jobs__find(jobs, job->parent);
	}
	return err;
}

/* `label`: of the activity that the thread is in; or 0. */
static int send_sample(struct outside_compiler *c, const struct session_sink *sink, uint32_t label,
		       pid_t tid, uint64_t job, uint64_t now_ns, uint64_t cpu_ns)
{
	struct wire_sample sample = {
		.type = WIRE_SAMPLE,
		.cause = WIRE_SAMPLE_CPU,
		.query = WIRE_NO_QUERY,
		.depth = label ? 1 : 0,
		.kind = WIRE_KIND_ACTIVITY,
		.label = label,
		.pid = (wire_u32)c->pid,
		.tid = (wire_u32)tid,
		.time_ns = now_ns,
		.value = cpu_ns,
		.job = job,
		.job_lib = c->lib->number,
		.inner = label ? 0 : WIRE_INNER_UNKNOWN,
	};

	return cpu_ns ? send_record(sink, &sample, offsetof(struct wire_sample, frames)) : 0;
}

/*
 * What the compiler executes now took the CPU time of its thread since the last reading. Jobs that
 * are around no other are what threads execute: one, but with -Zthreads, where they share the time
 * of all threads, `*others` with it, of which then nothing is left.
 */
static int sample_jobs(struct outside_compiler *c, const struct session_sink *sink,
		       const struct compiler_jobs *jobs, uint64_t now_ns, uint64_t cpu_ns,
		       uint64_t *others)
{
	_free_ bool *around = calloc(jobs->n + 1UL, sizeof(*around));
	uint32_t leaves = 0;
	int err = around ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < jobs->n && !err; i++) {
		const struct compiler_job *parent =
			compiler_jobs__find(jobs, jobs->items[i].parent);

		if (parent)
			around[parent - jobs->items] = true;
	}
	for (uint32_t i = 0; i < jobs->n && !err; i++)
		leaves += jobs->items[i].number && !around[i];
	if (!leaves)
		return err ?: send_sample(c, sink, 0, c->tid, 0, now_ns, cpu_ns);
	if (leaves > 1) {
		cpu_ns += *others;
		*others = 0;
	}
	for (uint32_t i = 0; i < jobs->n && !err; i++)
		if (jobs->items[i].number && !around[i])
			err = send_jobs(c, sink, jobs, &jobs->items[i])
				      ?: send_sample(c, sink, 0, c->tid, jobs->items[i].number,
						     now_ns, cpu_ns / leaves);
	return err;
}

/* ---- Other threads --------------------------------------------------------------------------- */

/* A new thread has the name of the one that made it at first. */
static int name_thread(struct outside_compiler *c, const struct session_sink *sink,
		       struct outside_thread *t, uint64_t now_ns)
{
	static const char *const works[] = {"opt ", "lto ", "cpy "};
	struct wire_thread record = {.type = WIRE_THREAD,
				     .pid = (wire_u32)c->pid,
				     .tid = (wire_u32)t->tid,
				     .time_ns = now_ns};
	const struct record why = {.kind = RECORD_NO_LLVM,
				   .pid = (uint32_t)c->pid,
				   .text = "the compiler was read from outside"};
	int err = 0;

	process_name(t->tid, record.name, sizeof(record.name));
	for (size_t i = 0; i < N_OF(works); i++)
		t->in_llvm |= !strncmp(record.name, works[i], strlen(works[i]));
	t->looks++;
	if (t->in_llvm && !c->has_llvm)
		err = session_sink__take(sink, &why);
	c->has_llvm = c->has_llvm || t->in_llvm;
	return err ?: t->in_llvm ? send_record(sink, &record, sizeof(record)) : 0;
}

static struct outside_thread *find_thread(struct outside_compiler *c, pid_t tid)
{
	for (uint32_t i = 0; i < c->n_threads; i++)
		if (c->threads[i].tid == tid)
			return &c->threads[i];
	return NULL;
}

/*
 * rustc has a thread for each codegen unit that LLVM works on, and names it after both: what it
 * has taken since the last reading leaves *others. What a thread took that has ended stays there.
 */
static int sample_llvm(struct outside_compiler *c, const struct session_sink *sink, uint64_t now_ns,
		       uint64_t *others)
{
	pid_t tids[THREADS_MOST];
	size_t n = *others < THREADS_NS ? 0 : process_tids(c->pid, tids, THREADS_MOST);
	uint32_t kept = 0;
	int err = 0;

	for (uint32_t i = 0; i < c->n_threads; i++)
		c->threads[i].seen = false;
	for (size_t i = 0; i < n && !err; i++) {
		const struct outside_thread new = {.tid = tids[i]};
		struct outside_thread *t = find_thread(c, tids[i]);
		uint64_t cpu_ns, ns;

		if (tids[i] == c->tid || tids[i] == c->pid)
			continue;
		if (!t && array__add(&c->threads, &c->n_threads, &c->threads_capacity, &new))
			return -ENOMEM;
		t = t ?: &c->threads[c->n_threads - 1];
		t->seen = true;
		if (!t->in_llvm && t->looks < NAME_LOOKS)
			err = name_thread(c, sink, t, now_ns);
		if (!t->in_llvm || err)
			continue;
		cpu_ns = thread_cpu_ns(c->pid, t->tid);
		ns = cpu_ns > t->cpu_ns ? cpu_ns - t->cpu_ns : 0;
		ns = ns < *others ? ns : *others;
		t->cpu_ns = cpu_ns;
		*others -= ns;
		err = send_sample(c, sink, OUTSIDE_LLVM, t->tid, 0, now_ns, ns);
	}
	for (uint32_t i = 0; i < c->n_threads && n; i++)
		if (c->threads[i].seen)
			c->threads[kept++] = c->threads[i];
	c->n_threads = n ? kept : c->n_threads;
	return err;
}

/* ---- Results --------------------------------------------------------------------------------- */

struct counts_reading {
	struct wire_count *to;
	uint32_t n;
};

static int take_counts(void *reading, const void *record, size_t size)
{
	struct counts_reading *r = reading;
	const struct wire_counts *counts = record;

	(void)size;
	memcpy(r->to + counts->first, counts->items, counts->n * sizeof(*counts->items));
	r->n = counts->first + counts->n;
	return 0;
}

static int send_counts(const struct outside_compiler *c, const struct session_sink *sink,
		       const struct wire_count *counts, enum wire_counts_moment moment,
		       uint64_t now_ns)
{
	uint32_t n = c->lib->tables.tables.n;
	struct wire_counts record = {
		.type = WIRE_COUNTS,
		.lib = c->lib->number,
		.moment = (wire_u8)moment,
		/* The mappings were looked at before it had executed all queries. */
		.no_loads = !c->may_load && c->executed,
		.pid = (wire_u32)c->pid,
		.of = n,
		.time_ns = now_ns,
		.context = c->context.context,
	};
	int err = 0;

	for (; record.first < n && !err; record.first += record.n) {
		record.n = n - record.first < WIRE_COUNTS_MAX ? n - record.first : WIRE_COUNTS_MAX;
		memcpy(record.items, counts + record.first, record.n * sizeof(*counts));
		err = send_record(sink, &record,
				  offsetof(struct wire_counts, items) +
					  record.n * sizeof(*record.items));
	}
	return err;
}

/* No number is less than it was before, and none is unknown that was known. */
static bool continues(const struct wire_count *before, const struct wire_count *now, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (before[i].results != WIRE_NO_COUNT &&
		    (now[i].results == WIRE_NO_COUNT || now[i].results < before[i].results ||
		     now[i].others < before[i].others))
			return false;
	return true;
}

/* A number that was known before is greater now: a query was executed meanwhile. */
static bool has_grown(const struct wire_count *before, const struct wire_count *now, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (before[i].results != WIRE_NO_COUNT && now[i].results != WIRE_NO_COUNT &&
		    (now[i].results > before[i].results || now[i].others > before[i].others))
			return true;
	return false;
}

/* With -Zthreads tables are heads of several others, which are freed with the context. */
static bool is_sharded(struct outside_compiler *c)
{
	const struct compiler_tables *t = &c->lib->tables;
	uint8_t mode = 0;

	for (uint32_t i = 0; i < t->tables.n; i++) {
		const struct broker_memory at = {
			c->context.context + t->queries[i].cache + t->tables.mode, 1};

		if (t->queries[i].kind == WIRE_CACHE_HASH)
			return read_memory(c, &at, 1, &mode) || mode == t->tables.sharded;
	}
	return false;
}

static int read_results(struct outside_compiler *c, uint64_t now_ns, struct wire_count *to)
{
	struct counts_reading reading = {.to = to};
	const struct compiler_memory memory = memory_of(c);
	const struct wire_context context = {
		.context = c->context.context,
		.globals = c->context.globals,
		.bias = c->bias,
		.lib = c->lib->number,
	};
	int err = compiler_results__copy(&memory, &c->lib->tables, &context, c->pid, now_ns,
					 c->left ? WIRE_COUNTS_FINISHED : WIRE_COUNTS_RUNNING,
					 take_counts, &reading);

	return err ?: reading.n == c->lib->tables.tables.n ? 0 : -ENODATA;
}

/*
 * Read the results. While the thread is in the context, they are what it has so far. It leaves the
 * context when it has executed all queries; the memory of the tables' heads, which lies on its
 * stack, stays as it is until something else is called there: if two readings after that agree, and
 * continue the one before, nothing was, and the numbers are those of the end.
 */
static int count_results(struct outside_compiler *c, const struct session_sink *sink,
			 uint64_t now_ns)
{
	size_t size = c->lib->tables.tables.n * sizeof(*c->counts[0]);
	struct wire_count *last = c->counts[0], *next = c->counts[1];
	int err = read_results(c, now_ns, next);

	c->counted_ns = now_ns;
	c->sharded = c->sharded || is_sharded(c);
	if (err || (c->n_counts && !continues(last, next, c->lib->tables.tables.n)) ||
	    (c->left && c->sharded)) {
		c->known = c->left;
		return err == -ESRCH ? err : 0;
	}
	c->executed |= c->n_counts && has_grown(last, next, c->lib->tables.tables.n);
	c->counts[0] = next;
	c->counts[1] = last;
	c->n_counts++;
	c->n_left = c->left ? c->n_left + 1 : 0;
	if (!c->left)
		return send_counts(c, sink, next, WIRE_COUNTS_RUNNING, now_ns);
	if (c->n_left < 2 || memcmp(last, next, size))
		return 0;
	c->known = true;
	/* Or another context of the process has mapped them since. */
	c->may_load = c->may_load || maps_old_results(c);
	return send_counts(c, sink, next, WIRE_COUNTS_FINISHED, now_ns);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/*
 * Definitions that have come since the last time are among all of them: the sink knows the others.
 * They are right if their table is where it was after the copy.
 */
static int copy_names(struct outside_compiler *c, const struct session_sink *sink)
{
	const struct plan_layout *l = &c->lib->plan->layout;
	const struct broker_memory at[2] = {{c->context.context + l->wire.count, 8},
					    {c->context.context + l->wire.table, 8}};
	const struct compiler_memory memory = memory_of(c);
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), before[2], after[2];
	struct kept_records kept = {.n = 0};
	int err = l->wire.size ? read_memory(c, at, 2, (uint8_t *)before) : -ENODATA;

	if (err || before[0] <= c->n_definitions)
		return err == -ESRCH ? err : 0;
	err = compiler_names__copy(&memory, l, &c->context, c->pid, c->lib->number,
				   kept_records__add, &kept)
		      ?: read_memory(c, at, 2, (uint8_t *)after);
	if (!err && after[1] == before[1] && !outside_compiler__has_left(c)) {
		err = kept_records__pass_on(&kept, sink->take, sink->ctx);
		c->n_definitions = before[0];
	}
	free(kept.bytes);
	c->names_ns = began_ns + NAMES_SHARE * (clock_ns(CLOCK_MONOTONIC) - began_ns);
	/* The next time, then. */
	return err == -EFAULT || err == -ENODATA || err == -E2BIG ? 0 : err;
}

/* ---- One reading ----------------------------------------------------------------------------- */

void outside_compiler__init(struct outside_compiler *c, pid_t pid,
			    const struct outside_library *lib, uint64_t bias)
{
	*c = (struct outside_compiler){
		.pid = pid, .lib = lib, .bias = bias, .watch_ns = UINT64_MAX};
}

static int read_jobs(struct outside_compiler *c, const struct session_sink *sink, uint64_t now_ns,
		     uint64_t cpu_ns, uint64_t *others)
{
	const struct compiler_memory memory = memory_of(c);
	_compiler_jobs_ struct compiler_jobs jobs = {0};
	int err = c->lib->jobs && !c->left
			  ? compiler_jobs__read(&memory, c->lib->plan, c->lib->jobs, c->bias, c->fs,
						&jobs)
			  : -ENODATA;

	if (err == -ESRCH || err == -ENOMEM)
		return err;
	return err ? send_sample(c, sink, 0, c->tid, 0, now_ns, cpu_ns)
		   : sample_jobs(c, sink, &jobs, now_ns, cpu_ns, others);
}

static int prepare_counts(struct outside_compiler *c)
{
	uint32_t n = c->lib->tables.tables.n;

	for (int i = 0; i < 2 && n && !c->counts[i]; i++) {
		c->counts[i] = calloc(n, sizeof(*c->counts[i]));
		if (!c->counts[i])
			return -ENOMEM;
	}
	return 0;
}

/*
 * The thread has left its context. If it, or another one, works in a context now, that is another
 * one of the process: no more is known of the one before, and nothing yet of this. But with
 * -Zthreads threads work in one context in turns.
 */
static int find_another(struct outside_compiler *c, const struct session_sink *sink,
			uint64_t now_ns)
{
	const struct wire_names_end over = {.type = WIRE_NAMES_END,
					    .lib = c->lib->number,
					    .moment = WIRE_COUNTS_DROPPED,
					    .pid = (wire_u32)c->pid,
					    .time_ns = now_ns};
	struct outside_compiler next = {.pid = c->pid,
					.lib = c->lib,
					.bias = c->bias,
					.cpu_ns = c->cpu_ns,
					.has_llvm = c->has_llvm,
					.threads = c->threads,
					.n_threads = c->n_threads,
					.threads_capacity = c->threads_capacity,
					.counts = {c->counts[0], c->counts[1]}};
	int err = find_context(&next);

	c->sought_ns = now_ns;
	if (err)
		return err == -ENOENT ? 0 : err;
	if (c->sharded && next.context.context == c->context.context) {
		c->tid = next.tid;
		c->fs = next.fs;
		c->thread_ns = 0;
		return 0;
	}
	next.may_load = maps_old_results(&next);
	u64_map__destroy(&c->sent);
	*c = next;
	return send_record(sink, &over, sizeof(over));
}

int outside_compiler__read(struct outside_compiler *c, const struct session_sink *sink,
			   uint64_t now_ns)
{
	uint64_t cpu_ns = outside_cpu_ns(c->pid), thread_ns, in_thread, others, age_ns;
	bool due;
	int err = cpu_ns ? prepare_counts(c) : -ESRCH;

	if (!err && !c->fs && !c->closed) {
		err = find_context(c);
		c->may_load = err || maps_old_results(c);
	}
	if (!err && c->left && now_ns - c->sought_ns >= ANOTHER_NS)
		err = find_another(c, sink, now_ns);
	c->closed = c->closed || is_refused(err);
	if (err && err != -ENOENT)
		return err;
	thread_ns = c->tid ? thread_cpu_ns(c->pid, c->tid) : 0;
	others = cpu_ns > c->cpu_ns ? cpu_ns - c->cpu_ns : 0;
	in_thread = thread_ns > c->thread_ns && c->thread_ns ? thread_ns - c->thread_ns : 0;
	/* In a PID namespace the thread has another number here. */
	if (in_thread > others || (c->tid && !thread_ns))
		in_thread = others;
	others -= in_thread;
	c->cpu_ns = cpu_ns;
	c->thread_ns = thread_ns;
	if (c->fs && !c->known)
		c->left = outside_compiler__has_left(c);
	err = c->fs ? read_jobs(c, sink, now_ns, in_thread, &others) : 0;
	err = err ?: sample_llvm(c, sink, now_ns, &others);
	err = err ?: send_sample(c, sink, 0, c->pid, 0, now_ns, others);
	if (err || !c->fs)
		return err;
	c->found_ns = c->found_ns ?: now_ns;
	/* Of a short compile the last reading would be one of its begin. */
	age_ns = now_ns - c->found_ns;
	due = now_ns - c->counted_ns >= (age_ns / 4 < COUNT_NS ? age_ns / 4 : COUNT_NS);
	if (due && !c->left && now_ns >= c->names_ns)
		err = copy_names(c, sink);
	if (!err && c->lib->tables.tables.n && !c->known && (c->left || due))
		err = count_results(c, sink, now_ns);
	/* At once again, before the memory is another's. */
	if (!err && c->n_left == 1 && !c->known)
		err = count_results(c, sink, now_ns);
	return err;
}

uint64_t outside_compiler__watch_ns(const struct outside_compiler *c, uint64_t now_ns)
{
	uint64_t by = (now_ns - c->found_ns) / WATCH_SHARE;

	if (!c->found_ns || c->known || !c->lib->tables.tables.n)
		return UINT64_MAX;
	return now_ns + (by > WATCH_NS ? by : WATCH_NS);
}

void outside_compiler__clear(struct outside_compiler *c)
{
	u64_map__destroy(&c->sent);
	free(c->threads);
	free(c->counts[0]);
	free(c->counts[1]);
	*c = (struct outside_compiler){0};
}
