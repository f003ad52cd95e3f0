// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * history [BUILDS]: measure a history of synthetic builds (500) in a SQLite file: how fast builds
 * are added, how many bytes one takes, and how long trends take.
 *
 * A build has the rows of an exact one of 60 crates. Counts are those of the build before, but for
 * two crates; times have noise. The same number of builds is always the same history.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/random.h"
#include "base/clock.h"
#include "history/store.h"
#include "history/trend.h"

#define CRATES	  60
#define QUERIES	  360 /* that there are; a crate has three of four */
#define ITEMS	  65  /* of each crate */
#define CHANGED	  2   /* crates whose counts change from build to build */
#define START	  UINT64_C(1790000000000000000)
#define BUILD_GAP UINT64_C(3600000000000)

struct history {
	struct rng rng;
	uint64_t changes[CRATES]; /* of the counts of a crate, so far */
	struct history_rows rows; /* of the current build */
};

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "history: %s: %s\n", what, strerror(-err));
	exit(1);
}

static const char *text(struct history *h, const char *s)
{
	return history_rows__text(&h->rows, s) ?: (die("text", -ENOMEM), NULL);
}

static void *row(struct history *h, enum history_table_id table)
{
	return history_rows__append(&h->rows, table) ?: (die("row", -ENOMEM), NULL);
}

/* A number that is the same in all builds, from 0 to `n` - 1. */
static uint64_t fixed(uint64_t crate, uint64_t what, uint64_t n)
{
	struct rng rng = {crate << 32 | what};

	return rng_below(&rng, n);
}

/* As many short times as long ones, from half a microsecond to 8 ms. */
static uint64_t usual_ns(uint64_t crate, uint64_t what)
{
	uint64_t octave = UINT64_C(500) << fixed(crate, what, 14);

	return octave + fixed(crate, what + 1, octave);
}

/*
 * Measured builds of the same crates differed by 30 % in times below 2 ms, and by 10 % above. The
 * sum of four even distributions is nearly a normal one.
 */
static uint64_t noisy(struct history *h, uint64_t ns)
{
	double noise = ns < 2000000 ? 0.3 : 0.1, deviation = -2;

	for (int i = 0; i < 4; i++)
		deviation += (double)rng_below(&h->rng, 1 << 20) / (1 << 20);
	return (uint64_t)((double)ns * (1 + noise * 1.7 * deviation));
}

static void make_build(struct history *h, uint64_t number)
{
	struct history_build *b = &h->rows.build;
	char id[HISTORY_ID_SIZE], commit[48];

	snprintf(id, sizeof(id), "0f1e2d3c-4b5a-4978-8695-%012" PRIx64, number);
	snprintf(commit, sizeof(commit), "%08" PRIx64 "c1a00b5b2a7e3d1c4b6a798800118f5c",
		 number * 2654435761u % UINT32_MAX);
	*b = (struct history_build){
		.build = text(h, id),
		.start_ns = START + number * BUILD_GAP,
		.host = text(h, "builder"),
		.commit = text(h, commit),
		.branch = text(h, "main"),
		.toolchain = text(h, "rustc 1.95.0 (59807616e 2026-04-14)"),
		.profile = text(h, "debug"),
		.cpus = 8,
		.how = text(h, "exact"),
		.state = text(h, "whole"),
		.cost_ppm = 31000,
		.wall_ns = noisy(h, 20000000000),
		.cpu_ns = noisy(h, 90000000000),
		.peak_bytes = 300 << 20,
		.executions = 9000000,
		.compiles = CRATES,
	};
}

static void make_compile(struct history *h, uint64_t crate, const char *name)
{
	struct history_compile *c = row(h, HISTORY_COMPILE);
	uint64_t cpu_ns = 1000 * usual_ns(crate, QUERIES * 4);

	*c = (struct history_compile){
		.build = h->rows.build.build,
		.start_ns = h->rows.build.start_ns,
		.number = crate,
		.crate = name,
		.target = text(h, "lib"),
		.tool = text(h, "rustc"),
		.wall_ns = noisy(h, cpu_ns),
		.cpu_ns = noisy(h, cpu_ns),
		.off_cpu_ns = noisy(h, cpu_ns / 8),
		.front_end_ns = noisy(h, cpu_ns / 2),
		.codegen_ns = noisy(h, cpu_ns / 3),
		.link_ns = noisy(h, cpu_ns / 30),
		.peak_bytes = (100 << 20) + 4096 * rng_below(&h->rng, 1000),
		.executions = 150000 + h->changes[crate] * 30,
	};
}

static void make_query(struct history *h, uint64_t crate, const char *crate_name, uint64_t i)
{
	uint64_t usual = usual_ns(crate, 4 * i), self = noisy(h, usual);
	bool leaf = fixed(crate, 4 * i + 2, 100) < 43;
	struct history_query *q;
	char name[32];

	if (!fixed(crate, 4 * i + 3, 4))
		return;
	snprintf(name, sizeof(name), "a_query_with_name_%" PRIu64, i);
	q = row(h, HISTORY_QUERY);
	*q = (struct history_query){
		.build = h->rows.build.build,
		.start_ns = h->rows.build.start_ns,
		.crate = crate_name,
		.query = text(h, name),
		.kind = text(h, i % 6 ? "query" : "activity"),
		.how = text(h, "exact"),
		.count = 1 + usual / 1000 + h->changes[crate] * (usual / 50000),
		.self_ns = self,
		.total_ns = leaf ? self : self + noisy(h, usual_ns(crate, 4 * i + QUERIES * 8)),
	};
}

static void make_item(struct history *h, uint64_t crate, const char *crate_name, uint64_t i)
{
	struct history_item *item = row(h, HISTORY_ITEM);
	uint64_t usual = usual_ns(crate, QUERIES * 16 + 2 * i);
	char name[64];

	snprintf(name, sizeof(name), "crate_%02" PRIu64 "::a_module::of_items::Item%" PRIu64, crate,
		 i);
	*item = (struct history_item){
		.build = h->rows.build.build,
		.start_ns = h->rows.build.start_ns,
		.crate = crate_name,
		.item = text(h, name),
		.how = text(h, "exact"),
		.count = 1 + usual / 1000 + h->changes[crate] * (usual / 50000),
		.self_ns = noisy(h, usual),
	};
}

static void make_rows(struct history *h, uint64_t number)
{
	history_rows__clear(&h->rows);
	make_build(h, number);
	for (int i = 0; i < CHANGED; i++)
		h->changes[rng_below(&h->rng, CRATES)]++;
	for (uint64_t crate = 0; crate < CRATES; crate++) {
		const char *name;
		char buffer[16];

		snprintf(buffer, sizeof(buffer), "crate_%02" PRIu64, crate);
		name = text(h, buffer);
		make_compile(h, crate, name);
		for (uint64_t i = 0; i < QUERIES; i++)
			make_query(h, crate, name, i);
		for (uint64_t i = 0; i < ITEMS; i++)
			make_item(h, crate, name, i);
	}
}

/* One value per line; history.py knows the targets. */
static void put(const char *name, double value)
{
	printf("%s %.4f\n", name, value);
}

static double seconds_since(uint64_t begin_ns)
{
	return (clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9;
}

static double file_bytes(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		die(path, -errno);
	return st.st_size;
}

/* Returns the seconds that adding took; making the rows is not part of it. */
static double add_builds(struct store *s, uint64_t from, uint64_t to, struct history *h)
{
	double taken = 0;

	for (uint64_t i = from; i < to; i++) {
		uint64_t begin;
		int err;

		make_rows(h, i);
		begin = clock_ns(CLOCK_MONOTONIC);
		err = store__add(s, &h->rows);
		taken += seconds_since(begin);
		if (err)
			die("a build was not added", err < 0 ? err : -EEXIST);
	}
	return taken;
}

/* The best of three, each by a process of its own would be: the file is opened anew. */
static void time_trend(const char *path, uint64_t builds, const char *name,
		       struct history_series of)
{
	const struct trend_question q = {.of = of, .metric = TREND_CPU};
	double best = 1e9;

	for (int i = 0; i < 3; i++) {
		uint64_t begin = clock_ns(CLOCK_MONOTONIC);
		struct trend t = {};
		struct store *s;
		int err = store__open(path, STORE_READ, &s);
		double taken;

		if (err || (err = trend__ask(s, &q, &t)))
			die(name, err);
		if (t.n != builds)
			die(name, -ENODATA);
		trend__clear(&t);
		store__close(s);
		taken = seconds_since(begin);
		best = taken < best ? taken : best;
	}
	put(name, best);
}

static void time_trends(const char *path, uint64_t builds)
{
	const char *crate = "crate_07", *query = "a_query_with_name_351";
	const char *item = "crate_07::a_module::of_items::Item63";

	time_trend(path, builds, "trend", (struct history_series){});
	time_trend(path, builds, "trend_crate", (struct history_series){.crate = crate});
	time_trend(path, builds, "trend_crate_query",
		   (struct history_series){.crate = crate, .query = query});
	time_trend(path, builds, "trend_query", (struct history_series){.query = query});
	time_trend(path, builds, "trend_crate_item",
		   (struct history_series){.crate = crate, .item = item});
	time_trend(path, builds, "trend_item", (struct history_series){.item = item});
}

/* Names and first shapes are there once, whatever the number of builds: they are no build's. */
static void measure(const char *path, uint64_t builds)
{
	struct history h = {.rng = {1}};
	uint64_t first = builds / 10 + 1;
	struct store *s;
	double bytes, taken;
	int err = store__open(path, STORE_WRITE, &s);

	if (err)
		die(path, err);
	history_rows__init(&h.rows);
	taken = add_builds(s, 0, first, &h);
	store__close(s);
	bytes = file_bytes(path);
	if (store__open(path, STORE_WRITE, &s))
		die(path, -EIO);
	taken += add_builds(s, first, builds, &h);
	store__close(s);
	put("builds", builds);
	put("rows", h.rows.n[HISTORY_QUERY] + h.rows.n[HISTORY_ITEM] + h.rows.n[HISTORY_COMPILE]);
	put("add_ms", taken / builds * 1e3);
	put("bytes_per_build", file_bytes(path) / builds);
	put("bytes_per_later_build", (file_bytes(path) - bytes) / (builds - first));
	history_rows__clear(&h.rows);
	time_trends(path, builds);
}

int main(int argc, char **argv)
{
	uint64_t builds = argc > 1 ? strtoull(argv[1], NULL, 10) : 500;
	char directory[] = "/tmp/qprof-history-XXXXXX", path[64], command[64];

	if (builds < 20) {
		fprintf(stderr, "history: give 20 builds or more\n");
		return 1;
	}
	if (!mkdtemp(directory))
		die(directory, -errno);
	snprintf(path, sizeof(path), "%s/history.db", directory);
	measure(path, builds);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command) ? 1 : 0;
}
