// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * store [EVENTS]: measure how fast traces are written and read.
 * store EVENTS FILE: only write such a trace.
 *
 * Writes EVENTS (100 million) synthetic executions of queries to a trace, then reads and sums them
 * up, in one thread and one run. Rates are millions of events per second of this process's CPU
 * time; rates by wall time depend on the machine's load.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../fixtures/random.h"
#include "analyze/model.h"
#include "base/clock.h"
#include "trace/reader.h"
#include "trace/writer.h"

#define PATTERN	 65536u
#define N_LABELS 319u

/* Executions like a compiler's; the trace repeats them with later times and ids. */
struct pattern {
	struct trace_span spans[PATTERN];
	uint32_t n;
	uint64_t ns;
	struct rng rng;
};

struct timing {
	double wall, cpu;
};

static struct timing now(void)
{
	return (struct timing){clock_ns(CLOCK_MONOTONIC) / 1e9,
			       clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9};
}

static struct timing since(struct timing begin)
{
	struct timing t = now();

	return (struct timing){t.wall - begin.wall, t.cpu - begin.cpu};
}

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "store: %s: %s\n", what, strerror(-err));
	exit(1);
}

/* From tens of nanoseconds to tens of microseconds; short ones are the most frequent. */
static uint64_t duration(struct rng *rng)
{
	return 30 + (rng_u64(rng) & ((64ULL << rng_below(rng, 10)) - 1));
}

/* A few queries have most of the executions. */
static uint32_t label(struct rng *rng)
{
	return rng_below(rng, 1 + rng_below(rng, 1 + rng_below(rng, N_LABELS)));
}

static void nest(struct pattern *p, uint32_t depth)
{
	uint64_t start = p->ns += 20 + rng_below(&p->rng, 200);

	while (depth < 30 && p->n + depth + 1 < PATTERN && rng_below(&p->rng, 16) < 7)
		nest(p, depth + 1);
	p->ns += duration(&p->rng);
	if (p->n == PATTERN)
		return;
	p->spans[p->n] = (struct trace_span){
		.start_ns = start,
		.end_ns = p->ns,
		.tid = 4711,
		.label = label(&p->rng),
		.invocation = p->n,
		.depth = depth,
	};
	p->n++;
}

static struct pattern *make_pattern(void)
{
	struct pattern *p = calloc(1, sizeof(*p));

	if (!p)
		die("pattern", -ENOMEM);
	p->rng.state = 1;
	while (p->n < PATTERN)
		nest(p, 0);
	return p;
}

static struct trace_writer *open_writer(const char *path)
{
	const struct trace_info info = {.tool = "store", .kernel = "-", .host = "-"};
	const struct trace_process process = {.pid = 4711, .exit_status = TRACE_EXIT_UNKNOWN};
	struct trace_writer *w;
	char name[32];
	uint32_t id;
	int err = trace_writer__open(path, &info, &w);

	for (uint32_t i = 0; i < N_LABELS && !err; i++) {
		snprintf(name, sizeof(name), "a_query_with_a_name_%u", i);
		err = trace_writer__intern(w, name, &id);
	}
	if (!err)
		err = trace_writer__process(w, &process);
	if (err)
		die(path, err);
	return w;
}

static struct timing write_events(const char *path, const struct pattern *p, uint64_t n)
{
	struct timing begin = now();
	struct trace_writer *w = open_writer(path);
	uint64_t shift = 0;
	int err = 0;

	for (uint64_t i = 0; i < n && !err; i++) {
		struct trace_span s = p->spans[i % PATTERN];

		s.start_ns += shift;
		s.end_ns += shift;
		s.invocation = (uint32_t)i & 0x7fffffff;
		err = trace_writer__span(w, &s);
		if (i % PATTERN == PATTERN - 1)
			shift += p->ns;
	}
	if (!err)
		err = trace_writer__finish(w);
	if (err)
		die(path, err);
	trace_writer__free(w);
	return since(begin);
}

/* Sum up everything that a report needs; returns the number of spans. */
static uint64_t sum_up(const char *path, struct timing *t)
{
	struct timing begin = now();
	_trace_reader_ struct trace_reader *r = NULL;
	_model_ struct model m = {};
	struct model_options options;
	uint64_t n;
	int err = trace_reader__open(path, &r, NULL);

	if (!err) {
		options = model_options_of(r);
		err = model__init(&m, &options) ?: model__read(&m, r);
	}
	if (err)
		die(path, err);
	n = summary__spans(m.summary);
	*t = since(begin);
	return n;
}

static bool never(void *ctx, const char *text)
{
	(void)ctx;
	(void)text;
	return false;
}

/* Read the last hundredth of the time, or no span at all if `from_ns` is 0. */
static struct timing seek(const char *path, uint64_t from_ns)
{
	struct timing begin = now();
	struct trace_filter filter = {.from_ns = from_ns, .to_ns = UINT64_MAX};
	struct trace_reader *r;
	struct trace_item item;
	int err = trace_reader__open(path, &r, NULL);

	if (!from_ns)
		filter.label = never;
	if (err)
		die(path, err);
	trace_reader__filter(r, &filter);
	while (!(err = trace_reader__next(r, &item)) && item.kind != TRACE_ITEM_END)
		;
	if (err || trace_reader__problem(r))
		die(path, err);
	trace_reader__free(r);
	return since(begin);
}

static double file_bytes(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		die(path, -errno);
	return st.st_size;
}

/* Only of this image: getrusage(2) would include the program that started it. */
static double peak_mib(void)
{
	_fclose_ FILE *status = fopen("/proc/self/status", "re");
	char line[128];
	long kib = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (!kib)
		die("/proc/self/status", -ENODATA);
	return kib / 1024.0;
}

/* One value per line; bench.py knows the targets. */
static void put(const char *name, double value)
{
	printf("%s %.4f\n", name, value);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
	char path[] = "/tmp/qprof-store-XXXXXX";
	struct timing writing, reading, finding, skipping;
	struct pattern *p = make_pattern();
	int fd;

	if (argc > 2) {
		write_events(argv[2], p, n);
		free(p);
		return 0;
	}
	fd = mkstemp(path);

	/* A writer creates its file, so only the name is needed. */
	if (fd < 0 || close(fd) || unlink(path))
		die(path, -errno);
	writing = write_events(path, p, n);
	put("writer_mib", peak_mib());
	if (sum_up(path, &reading) != n)
		die("not all events came back", -EIO);
	put("reader_mib", peak_mib());
	finding = seek(path, p->ns * (n / PATTERN) / 100 * 99);
	skipping = seek(path, 0);
	put("events", n);
	put("bytes", file_bytes(path));
	put("writer_rate", n / writing.cpu / 1e6);
	put("writer_wall_rate", n / writing.wall / 1e6);
	put("reader_rate", n / reading.cpu / 1e6);
	put("reader_wall_rate", n / reading.wall / 1e6);
	put("last_hundredth", finding.cpu / reading.cpu);
	put("absent_query", skipping.cpu / reading.cpu);
	unlink(path);
	free(p);
	return 0;
}
