// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * unwind_tables [--json] FILE...: compare five forms of unwind tables (docs/unwind.md).
 *
 * Reads the .eh_frame of each file, makes all forms of its rows, checks that they agree, and times
 * look-ups at random places of the code. Prints sizes and times. Needs no privileges.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../fixtures/random.h"
#include "base/clock.h"
#include "forms.h"
#include "unwind/codec.h"
#include "view/json.h"

#define LOOKUPS	 (1u << 18)
#define ROUNDS	 9
#define MOST_HOT 1024u
#define CHECKED	 2000000u

/* Places to look up: more than caches and branch predictors can learn, and few. */
static const uint32_t n_samples[] = {LOOKUPS, MOST_HOT};
#define CASES 2

struct result {
	const char *file;
	uint32_t functions, rows, rules;
	double read_ms, make_ms; /* .eh_frame to rows, and to our table */
	size_t bytes[FORMS];
	double ns[FORMS][CASES];
};

static _Noreturn void die(const char *file, const char *what, int err)
{
	fprintf(stderr, "unwind_tables: %s: %s: %s\n", file, what, strerror(-err));
	exit(EXIT_FAILURE);
}

static volatile uint32_t sink;

static double time_round(const struct form *f, const uint32_t *at, uint32_t n)
{
	uint32_t sum = 0;
	uint64_t begin_ns;

	/* Untimed, so that the caches hold of this form what they can. */
	for (uint32_t i = 0; i < LOOKUPS; i++)
		sum += f->class->look_up(f, at[i & (n - 1)]);
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < LOOKUPS; i++)
		sum += f->class->look_up(f, at[i & (n - 1)]);
	sink = sum;
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / LOOKUPS;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The middle round of each; the forms take turns, so that a disturbance hits all. */
static void time_forms(const struct form *forms, const uint32_t *at, struct result *r, int nth)
{
	double ns[FORMS][ROUNDS];

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < FORMS; i++)
			ns[i][round] = time_round(&forms[i], at, n_samples[nth]);
	for (int i = 0; i < FORMS; i++) {
		qsort(ns[i], ROUNDS, sizeof(*ns[i]), by_value);
		r->ns[i][nth] = ns[i][ROUNDS / 2];
	}
}

/* Random places that have a rule: each byte of code is as likely as any other. */
static void draw(const struct form *f, uint32_t end, uint32_t *at, uint32_t n)
{
	struct rng rng = {1};

	for (uint32_t i = 0; i < n;) {
		at[i] = (uint32_t)rng_below(&rng, end);
		i += f->class->look_up(f, at[i]) != 0;
	}
}

static void check(const char *file, const struct form *forms, uint32_t end)
{
	struct rng rng = {2};

	for (uint32_t i = 0; i < CHECKED; i++) {
		uint32_t at = (uint32_t)rng_below(&rng, end);
		uint32_t first = forms[0].class->look_up(&forms[0], at);

		for (int k = 1; k < FORMS; k++)
			if (forms[k].class->look_up(&forms[k], at) != first)
				die(file, forms[k].class->name, -EBADMSG);
	}
}

/* Offsets of functions within the rows, from 0 on. */
static uint32_t *find_starts(const char *file, struct elf_image *img,
			     const struct unwind_rows *rows, uint32_t *n)
{
	uint32_t *offsets, end = rows->rows[rows->n - 1].at;
	const uint64_t *starts;
	size_t n_starts;
	int err = elf_image__starts(img, &starts, &n_starts);

	if (err)
		die(file, "functions", err);
	offsets = calloc(n_starts + 1, sizeof(*offsets));
	if (!offsets)
		die(file, "functions", -ENOMEM);
	*n = 1;
	for (size_t i = 0; i < n_starts; i++)
		if (starts[i] > rows->start && starts[i] - rows->start < end)
			offsets[(*n)++] = (uint32_t)(starts[i] - rows->start);
	return offsets;
}

static double ms_since(uint64_t begin_ns)
{
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / 1e6;
}

/* The rows and our table of a file; the table sorts the rules of the rows. */
static struct unwind_table *read_file(const char *file, struct elf_image *img,
				      struct unwind_rows *rows, struct result *r)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct unwind_table *t = NULL;
	struct unwind_input in;
	int err = unwind_input__find(img, &in) ?: unwind_rows__read(&in, rows);

	if (err)
		die(file, "unwind information", err);
	r->read_ms = ms_since(begin_ns);
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	err = unwind_table__make(&in, rows, &t);
	if (err)
		die(file, "table", err);
	r->make_ms = ms_since(begin_ns);
	r->file = file;
	r->functions = t->functions;
	r->rows = rows->n;
	r->rules = t->n_rules;
	return t;
}

static void compare(const char *file, struct result *r)
{
	_library_file_ struct library_file *lib = NULL;
	_elf_image_ struct elf_image *img = NULL;
	_unwind_rows_ struct unwind_rows rows = {};
	_unwind_table_ struct unwind_table *t = NULL;
	struct form forms[FORMS] = {};
	_free_ uint32_t *starts = NULL, *at = calloc(LOOKUPS, sizeof(*at));
	struct form_input in = {.rows = &rows};
	uint32_t end;
	int err = library_file__open(file, &lib) ?: elf_image__map(lib, &img);

	if (err || !at)
		die(file, "open", err ?: -ENOMEM);
	in.table = t = read_file(file, img, &rows, r);
	in.starts = starts = find_starts(file, img, &rows, &in.n_starts);
	end = rows.rows[rows.n - 1].at;
	for (int i = 0; i < FORMS; i++) {
		forms[i].class = &form_classes[i];
		err = forms[i].class->make(&forms[i], &in);
		if (err)
			die(file, forms[i].class->name, err);
		r->bytes[i] = forms[i].bytes;
	}
	check(file, forms, end);
	draw(&forms[0], end, at, LOOKUPS);
	for (int nth = 0; nth < CASES; nth++)
		time_forms(forms, at, r, nth);
	for (int i = 0; i < FORMS; i++)
		form__destroy(&forms[i]);
}

static void print_text(const struct result *r)
{
	printf("%s: %u functions, %u rows, %u rules; %.0f ms to read, %.0f ms to encode\n", r->file,
	       r->functions, r->rows, r->rules, r->read_ms, r->make_ms);
	printf("%-36s %10s %8s %14s %12s\n", "", "bytes", "per row", "ns, 262,144", "ns, 1,024");
	for (int i = 0; i < FORMS; i++)
		printf("%-36s %10zu %8.2f %14.1f %12.1f\n", form_classes[i].text, r->bytes[i],
		       (double)r->bytes[i] / r->rows, r->ns[i][0], r->ns[i][1]);
}

static void add_decimal(struct json *j, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", value);
	json__value(j, key, json_object_new_double_s(value, text));
}

static struct json_object *form_json(const struct result *r, int i)
{
	struct json j = {};

	json__begin(&j);
	json__number(&j, "bytes", r->bytes[i]);
	add_decimal(&j, "ns", r->ns[i][0]);
	add_decimal(&j, "hot_ns", r->ns[i][1]);
	return json__take(&j);
}

/* {"schema": "qprof-unwind/1", "files": [{"file", "functions", "rows", "rules", "read_ms",
 *  "make_ms", <form>: {"bytes", "ns" (262,144 places), "hot_ns" (1,024)}}]} */
static void print_json(const struct result *results, int n)
{
	struct json j = {.out = stdout};

	json__begin(&j);
	json__text(&j, "schema", "qprof-unwind/1");
	json__put_open(&j);
	json__array(&j, "files");
	for (int i = 0; i < n; i++) {
		json__line(&j, i);
		json__text(&j, "file", results[i].file);
		json__number(&j, "functions", results[i].functions);
		json__number(&j, "rows", results[i].rows);
		json__number(&j, "rules", results[i].rules);
		add_decimal(&j, "read_ms", results[i].read_ms);
		add_decimal(&j, "make_ms", results[i].make_ms);
		for (int k = 0; k < FORMS; k++)
			json__value(&j, form_classes[k].name, form_json(&results[i], k));
		json__put(&j);
	}
	json__print(&j, "]}\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {}};
	struct result *results = calloc((size_t)argc, sizeof(*results));
	int c = getopt_long(argc, argv, "", options, NULL), n = 0;

	if (!results || optind == argc || (c != -1 && c != 'j')) {
		fputs("usage: unwind_tables [--json] FILE...\n", stderr);
		return EXIT_FAILURE;
	}
	for (int i = optind; i < argc; i++)
		compare(argv[i], &results[n++]);
	if (c == 'j')
		print_json(results, n);
	for (int i = 0; c != 'j' && i < n; i++)
		print_text(&results[i]);
	free(results);
	return EXIT_SUCCESS;
}
