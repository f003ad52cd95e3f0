// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_schema.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "history/columns.h"

/* ---- The tables of a version ----------------------------------------------------------------- */

/* Those before version 3 have a budget, behind "how" of a build. */
bool sqlite_schema__has(int64_t version, const struct history_column *c)
{
	if (!strcmp(c->name, "uncounted"))
		return version >= 4;
	return version >= 3 || strcmp(c->name, "results");
}

static bool has_budget_behind(int64_t version, const struct history_column *c)
{
	return version < 3 && !strcmp(c->name, "how");
}

void sqlite_schema__print_builds(FILE *f, int64_t version)
{
	const struct history_table *t = history_table(HISTORY_BUILD);

	fputs("CREATE TABLE builds(n INTEGER PRIMARY KEY", f);
	for (size_t i = 0; i < t->n; i++)
		if (sqlite_schema__has(version, &t->columns[i]))
			fprintf(f, ", \"%s\" %s%s%s%s", t->columns[i].name,
				t->columns[i].type == HISTORY_TEXT ? "TEXT" : "INTEGER",
				t->columns[i].required ? " NOT NULL" : "", i ? "" : " UNIQUE",
				has_budget_behind(version, &t->columns[i])
					? ", \"budget_ppm\" INTEGER"
					: "");
	fputs("); CREATE INDEX builds_start ON builds(start_ns); CREATE VIEW build AS SELECT ", f);
	for (size_t i = 0; i < t->n; i++)
		if (sqlite_schema__has(version, &t->columns[i]))
			fprintf(f, "%s\"%s\"%s", i ? ", " : "", t->columns[i].name,
				has_budget_behind(version, &t->columns[i]) ? ", \"budget_ppm\""
									   : "");
	fputs(" FROM builds;", f);

	t = history_table(HISTORY_COMPILE);
	fputs("CREATE TABLE compiles(n INTEGER NOT NULL", f);
	for (size_t i = SQLITE_OF_BUILD; i < t->n; i++)
		if (sqlite_schema__has(version, &t->columns[i]))
			fprintf(f, ", \"%s\" INTEGER%s", t->columns[i].name,
				t->columns[i].required ? " NOT NULL" : "");
	fputs(", PRIMARY KEY(n, number)) WITHOUT ROWID;"
	      "CREATE INDEX compiles_crate ON compiles(crate, n);"
	      "CREATE VIEW compile AS SELECT builds.build, builds.start_ns",
	      f);
	for (size_t i = SQLITE_OF_BUILD; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];

		if (!sqlite_schema__has(version, c))
			continue;
		if (!strcmp(c->name, "crate"))
			fputs(", names.text AS crate", f);
		else if (c->type == HISTORY_TEXT)
			fprintf(f, ", (SELECT text FROM names WHERE id = c.\"%s\") AS \"%s\"",
				c->name, c->name);
		else
			fprintf(f, ", c.\"%s\"", c->name);
	}
	fputs(" FROM compiles AS c JOIN builds ON builds.n = c.n"
	      " JOIN names ON names.id = c.crate;",
	      f);
}

/* ---- Rows of crates -------------------------------------------------------------------------- */

/* Codes of times from 2^bits us on: so many for each doubling, the first without `shift` bits. */
static const struct {
	uint32_t first;
	unsigned int bits, shift;
	uint32_t step;
} ranges[] = {
	{32, 5, 1, 16},	   {64, 7, 2, 32},    {160, 10, 4, 64},
	{352, 13, 6, 128}, {736, 16, 8, 256}, {1504, 19, 10, 512},
};
#define EXACT_US       32 /* codes below are microseconds */
#define OF_TIME	       3  /* the first character that is a time */
#define MOST_NS	       (UINT64_C(1) << 62)
#define MOST_DOUBLINGS 33 /* of the last range: more is above MOST_NS */
#define NS_PER_US      UINT64_C(1000)

static unsigned int width_of(uint64_t us)
{
	return us ? 64 - (unsigned int)__builtin_clzll(us) : 0;
}

/* The last range with times of that many bits; us >= EXACT_US. */
static size_t range_of(uint64_t us)
{
	size_t i = N_OF(ranges) - 1;

	while (us < UINT64_C(1) << ranges[i].bits)
		i--;
	return i;
}

static unsigned int dropped(uint64_t us)
{
	size_t i = us < EXACT_US ? 0 : range_of(us);

	return us < EXACT_US ? 0 : ranges[i].shift + width_of(us) - 1 - ranges[i].bits;
}

uint32_t sqlite_time(uint64_t ns)
{
	uint64_t us;
	size_t i;

	if (ns == HISTORY_UNKNOWN)
		return OF_TIME - 1;
	ns = ns < MOST_NS ? ns : MOST_NS;
	us = (ns + (NS_PER_US / 2 << dropped(ns / NS_PER_US))) / NS_PER_US;
	if (us < EXACT_US)
		return OF_TIME + (uint32_t)us;
	i = range_of(us);
	return OF_TIME + ranges[i].first + (width_of(us) - 2 - ranges[i].bits) * ranges[i].step +
	       (uint32_t)(us >> dropped(us));
}

uint64_t sqlite_time__ns(uint32_t code)
{
	size_t i = N_OF(ranges) - 1;
	uint32_t more;

	if (code < EXACT_US)
		return code * NS_PER_US;
	while (code < ranges[i].first)
		i--;
	more = code - ranges[i].first;
	if (more / ranges[i].step > MOST_DOUBLINGS)
		return MOST_NS;
	return ((uint64_t)(ranges[i].step + more % ranges[i].step)
		<< (ranges[i].shift + more / ranges[i].step)) *
	       NS_PER_US;
}

#define OF_COUNT 3	  /* the first character that is a count */
#define GAP	 0xd800u  /* there are no characters from here... */
#define GAP_END	 0x10000u /* ...up to this */
#define LAST	 0x10ffffu

uint32_t sqlite_count(uint64_t count)
{
	if (count > LAST - OF_COUNT - (GAP_END - GAP))
		return SQLITE_LARGE;
	return (uint32_t)count + OF_COUNT < GAP ? (uint32_t)count + OF_COUNT
						: (uint32_t)count + OF_COUNT + (GAP_END - GAP);
}

uint64_t sqlite_count__of(uint32_t c)
{
	return c < OF_COUNT  ? HISTORY_UNKNOWN
	       : c < GAP_END ? c - OF_COUNT
			     : c - OF_COUNT - (GAP_END - GAP);
}

/* sqlite_count__of() of the character at the place. */
static void print_count(FILE *f)
{
	fprintf(f,
		"(SELECT CASE WHEN c < %d THEN (SELECT count FROM large_counts"
		" WHERE counts = p.counts AND place = e.place)"
		" WHEN c < %u THEN c - %d ELSE c - %u END"
		" FROM (SELECT unicode(substr(counts, e.place + 1, 1)) AS c"
		" FROM counts WHERE id = p.counts))",
		OF_COUNT, GAP_END, OF_COUNT, OF_COUNT + GAP_END - GAP);
}

/* A time as a number: sqlite_time__ns() of the character at the place. */
static void print_time(FILE *f, const char *text)
{
	fprintf(f, "(SELECT CASE WHEN c < 0 THEN NULL WHEN c < %d THEN c", EXACT_US);
	for (size_t i = 0; i < N_OF(ranges); i++) {
		fputs(i + 1 < N_OF(ranges) ? " WHEN c < " : " ELSE ", f);
		if (i + 1 < N_OF(ranges))
			fprintf(f, "%u THEN ", ranges[i + 1].first);
		fprintf(f, "(%u + (c - %u) %% %u) << (%u + (c - %u) / %u)", ranges[i].step,
			ranges[i].first, ranges[i].step, ranges[i].shift, ranges[i].first,
			ranges[i].step);
	}
	fprintf(f, " END * %d FROM (SELECT unicode(substr(p.%s, e.place + 1, 1)) - %d AS c))",
		(int)NS_PER_US, text, OF_TIME);
}

static void print_column(FILE *f, const struct history_table *t, const struct history_column *c)
{
	if (c == sqlite_key(t))
		fputs("k.text", f);
	else if (c < t->columns + SQLITE_OF_BUILD)
		fprintf(f, "b.%s", c->name);
	else if (!strcmp(c->name, "crate"))
		fputs("c.text", f);
	else if (!strcmp(c->name, "count"))
		print_count(f);
	else if (c->type == HISTORY_TEXT)
		fprintf(f, "(SELECT text FROM names WHERE id = e.%s)", c->name);
	else
		print_time(f, strcmp(c->name, "total_ns") ? "self" : "total");
	fprintf(f, " AS \"%s\"", c->name);
}

/* A row for each character: so many rows as a file has bytes, whatever its entries are. */
static void print_view(FILE *f, enum history_table_id id, const char *what, bool has_crate)
{
	const struct history_table *t = history_table(id);
	const char *between = "";

	fprintf(f, "CREATE VIEW \"%s\" AS SELECT ", what);
	for (size_t i = 0; i < t->n; i++) {
		if (!has_crate && !strcmp(t->columns[i].name, "crate"))
			continue;
		fputs(between, f);
		print_column(f, t, &t->columns[i]);
		between = ", ";
	}
	fprintf(f,
		" FROM builds AS b JOIN parts AS p ON p.n = b.n JOIN lists AS l ON l.list = p.list"
		" JOIN entries AS e ON e.list = p.list AND e.place < min(length(p.self), %u)"
		" JOIN names AS k ON k.id = e.name%s"
		" WHERE l.what = '%s' AND unicode(substr(p.self, e.place + 1, 1)) > %d;",
		SQLITE_LIST_MOST, has_crate ? " JOIN names AS c ON c.id = l.crate" : "", what,
		SQLITE_ABSENT);
}

const struct history_column *sqlite_key(const struct history_table *t)
{
	return history_table__column(t, t->name) ?: history_table__column(t, "name");
}

void sqlite_schema__print_lists(FILE *f)
{
	fputs("CREATE TABLE lists(list INTEGER PRIMARY KEY, what TEXT NOT NULL, crate INTEGER);"
	      "CREATE INDEX lists_crate ON lists(crate, what);"
	      "CREATE TABLE entries(list INTEGER NOT NULL, place INTEGER NOT NULL, "
	      "name INTEGER NOT NULL, kind INTEGER, how INTEGER, PRIMARY KEY(list, place)) "
	      "WITHOUT ROWID;"
	      "CREATE INDEX entries_name ON entries(name, list);"
	      "CREATE TABLE counts(id INTEGER PRIMARY KEY, list INTEGER NOT NULL, "
	      "counts TEXT NOT NULL);"
	      "CREATE INDEX counts_list ON counts(list);"
	      "CREATE TABLE large_counts(counts INTEGER NOT NULL, place INTEGER NOT NULL, "
	      "count INTEGER NOT NULL, PRIMARY KEY(counts, place)) WITHOUT ROWID;"
	      "CREATE TABLE parts(n INTEGER NOT NULL, list INTEGER NOT NULL, counts INTEGER, "
	      "self TEXT NOT NULL, total TEXT, PRIMARY KEY(n, list)) WITHOUT ROWID;",
	      f);
	for (int id = HISTORY_QUERY; id < HISTORY_TABLES; id++)
		print_view(f, (enum history_table_id)id,
			   history_table((enum history_table_id)id)->name, true);
	print_view(f, HISTORY_QUERY, SQLITE_SUMS, false);
}
