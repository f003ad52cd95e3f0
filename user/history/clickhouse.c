// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "history/cells.h"
#include "history/clickhouse_tables.h"
#include "history/columns.h"
#include "history/json_lines.h"
#include "history/spool.h"
#include "history/sql.h"

/* A mutation that has not ended then goes on by itself. */
#define PRUNE_PATIENCE_S 60

/* That one run drops. */
#define MONTHS_MAX 120

struct clickhouse {
	struct store store;
	struct clickhouse_server server;
	struct clickhouse_version version;
	bool asked; /* the version is known, and ours */
	struct spool spool;
	bool spooled;		    /* `spool` is open */
	int failed;		    /* why no more is sent; builds only wait then */
	char away[HTTP_WHY_MAX];    /* why builds wait now, which is printed at the end */
	const char *added;	    /* the build of store__add() */
	bool known;		    /* the server had it already */
	bool there;		    /* the server has it now */
	bool waiting;		    /* a build may wait longer than this process lives */
	char refusal[HTTP_WHY_MAX]; /* the cause of the last one */
};

static struct clickhouse *of(struct store *s)
{
	return (struct clickhouse *)s;
}

static int tell(struct clickhouse *c, int err)
{
	const char *why =
		err == -EPROTO ? "its answer is not that of a history's tables" : strerror(-err);

	return diag_error_r(err, "%s: %s", c->server.at.name, *c->server.why ? c->server.why : why);
}

static int check(struct clickhouse *c)
{
	int err = c->asked ? 0 : clickhouse_version__check(&c->server, &c->version);

	c->asked = !err;
	return err;
}

/* Builds whose rows are read together: their tables are in another order. */
#define BUILDS_AT_ONCE 16

/* ---- Rows there ------------------------------------------------------------------------------ */

static int insert_rows(struct clickhouse_server *s, enum history_table_id id,
		       const struct history_rows *const *builds, size_t n)
{
	_free_ char *body = NULL;
	char sql[64];
	size_t len;
	FILE *out = open_memstream(&body, &len);
	bool failed;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t row = 0; row < history_rows__n(builds[i], id); row++)
			json_lines__row(out, id, history_rows__at(builds[i], id, row));
	failed = ferror(out);
	if (fclose(out) || failed)
		return -ENOMEM;
	snprintf(sql, sizeof(sql), "INSERT INTO %s FORMAT JSONEachRow", history_table(id)->name);
	return len ? clickhouse_server__run(s, sql, body, len) : 0;
}

struct known {
	const struct history_rows *builds;
	size_t n;
	bool *known;
};

static int mark_known(void *ctx, const struct store_value *cells, size_t n)
{
	struct known *k = ctx;

	bool whole;

	if (n != 2 || cells->type != STORE_TEXT)
		return -EPROTO;
	whole = cells[1].type == STORE_TEXT && !strcmp(cells[1].text, "whole");
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->builds[i].build.build, cells->text) &&
		    (whole || !history_rows__are_whole(&k->builds[i])))
			k->known[i] = true;
	return 0;
}

/* The time finds the rows: they are in its order. */
static void put_builds(FILE *out, const struct history_rows *builds, size_t n)
{
	fputs(" WHERE start_ns IN (", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", builds[i].build.start_ns);
	fputs(") AND build IN (", out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", out);
		sql_text__quote(out, builds[i].build.build);
	}
	fputs(")", out);
}

/*
 * For each of `n` builds, whether it is there: known[i]. One whose trace was not whole counts for
 * no whole one, which replaces it.
 */
static int find_known(struct clickhouse_server *s, const struct history_rows *builds, size_t n,
		      bool *known)
{
	struct known k = {builds, n, known};
	_free_ char *sql = NULL;
	size_t len;
	FILE *out = open_memstream(&sql, &len);

	if (!out)
		return -ENOMEM;
	memset(known, 0, n * sizeof(*known));
	fputs("SELECT build, state FROM build", out);
	put_builds(out, builds, n);
	return fclose(out) ? -ENOMEM : clickhouse_server__select(s, sql, mark_known, &k);
}

/* ---- Rows back ------------------------------------------------------------------------------- */

struct reading {
	struct history_rows builds[BUILDS_AT_ONCE];
	size_t n;
	enum history_table_id table;
};

static int set_row(struct history_rows *rows, const struct history_table *t, void *row,
		   const struct store_value *cells, size_t n)
{
	int err = row ? 0 : -ENOMEM;

	if (n != t->n)
		return -EPROTO;
	for (size_t i = 0; !err && i < n; i++)
		err = t->columns[i].required && cells[i].type == STORE_NULL
			      ? -EPROTO
			      : history_cell__set(rows, &t->columns[i], row, &cells[i]);
	return err;
}

static int take_build(void *ctx, const struct store_value *cells, size_t n)
{
	struct reading *r = ctx;
	struct history_rows *rows = &r->builds[r->n];

	if (r->n == BUILDS_AT_ONCE)
		return -EPROTO;
	history_rows__init(rows);
	r->n++;
	return set_row(rows, history_table(HISTORY_BUILD), &rows->build, cells, n);
}

static int take_row(void *ctx, const struct store_value *cells, size_t n)
{
	struct reading *r = ctx;

	if (!n || cells->type != STORE_TEXT)
		return -EPROTO;
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->builds[i].build.build, cells->text))
			return set_row(&r->builds[i], history_table(r->table),
				       history_rows__append(&r->builds[i], r->table), cells, n);
	return -EPROTO;
}

static void put_columns(FILE *out, const struct history_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", t->columns[i].name);
}

static int read_table(struct clickhouse_server *s, struct reading *r)
{
	static const char *const orders[HISTORY_TABLES] = {
		[HISTORY_COMPILE] = " ORDER BY number",
		[HISTORY_QUERY] = " ORDER BY crate, query",
		[HISTORY_ITEM] = " ORDER BY crate, item",
		[HISTORY_LLVM] = " ORDER BY crate, name",
	};
	const struct history_table *t = history_table(r->table);
	_free_ char *sql = NULL;
	size_t len;
	FILE *out = open_memstream(&sql, &len);

	if (!out)
		return -ENOMEM;
	fputs("SELECT ", out);
	put_columns(out, t);
	fprintf(out, " FROM %s FINAL", t->name);
	put_builds(out, r->builds, r->n);
	fputs(orders[r->table], out);
	return fclose(out) ? -ENOMEM : clickhouse_server__select(s, sql, take_row, r);
}

static void clear_builds(struct reading *r)
{
	for (size_t i = 0; i < r->n; i++)
		history_rows__clear(&r->builds[i]);
	r->n = 0;
}
#define _reading_ __cleanup(clear_builds)

/* Where the next page begins. */
struct place {
	uint64_t start_ns;
	char build[HISTORY_ID_SIZE];
};

/* False if a page does not go on from there: the pages would never end. */
static bool advance(struct place *last, const struct reading *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct history_build *b = &r->builds[i].build;

		if (b->start_ns < last->start_ns ||
		    (b->start_ns == last->start_ns && strcmp(b->build, last->build) <= 0))
			return false;
		last->start_ns = b->start_ns;
		snprintf(last->build, sizeof(last->build), "%s", b->build);
	}
	return true;
}

/* Read the builds after the last one that was read, and all of their rows. */
static int read_page(struct clickhouse_server *s, struct reading *r, struct place *last)
{
	_free_ char *sql = NULL;
	size_t len;
	FILE *out = open_memstream(&sql, &len);
	int err;

	if (!out)
		return -ENOMEM;
	fputs("SELECT ", out);
	put_columns(out, history_table(HISTORY_BUILD));
	fputs(" FROM build FINAL", out);
	if (*last->build)
		fprintf(out,
			" WHERE start_ns > %" PRIu64 " OR (start_ns = %" PRIu64
			" AND toString(build) > '%s')",
			last->start_ns, last->start_ns, last->build);
	fprintf(out, " ORDER BY start_ns, toString(build) LIMIT %d", BUILDS_AT_ONCE);
	err = fclose(out) ? -ENOMEM : clickhouse_server__select(s, sql, take_build, r);
	if (!err && !advance(last, r))
		err = -EPROTO;
	for (int id = HISTORY_BUILD + 1; !err && r->n && id < HISTORY_TABLES; id++) {
		r->table = id;
		err = read_table(s, r);
	}
	if (err == -EPROTO && !*s->why)
		snprintf(s->why, sizeof(s->why), "its rows are not those of a history");
	return err;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int send_builds(void *ctx, const struct history_rows *builds, size_t n)
{
	const struct history_rows *missing[SPOOL_BATCH];
	struct clickhouse *c = ctx;
	bool known[SPOOL_BATCH];
	size_t n_missing = 0;
	int err = check(c);

	if (!err)
		err = find_known(&c->server, builds, n, known);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		if (!known[i])
			missing[n_missing++] = &builds[i];
		else if (c->added && !strcmp(builds[i].build.build, c->added))
			c->known = true;
	}
	/* Rows that are sent again replace themselves. */
	for (int id = HISTORY_BUILD + 1; !err && n_missing && id < HISTORY_TABLES; id++)
		err = insert_rows(&c->server, id, missing, n_missing);
	/* The last ones, as a build without its row is not there yet for any question. */
	if (!err && n_missing)
		err = insert_rows(&c->server, HISTORY_BUILD, missing, n_missing);
	for (size_t i = 0; !err && c->added && i < n; i++)
		c->there |= !strcmp(builds[i].build.build, c->added);
	if (err == -EREMOTEIO || err == -ENOBUFS)
		snprintf(c->refusal, sizeof(c->refusal), "%s", c->server.why);
	return err;
}

static void tell_aside(const struct clickhouse *c, const struct spool_aside *aside)
{
	if (aside->damaged)
		diag_warn("files in %s that hold no whole build, and are kept as *.damaged: "
			  "%" PRIu64,
			  c->spool.path, aside->damaged);
	if (aside->newer)
		diag_warn("files in %s that wait for the newer qprof-bpf that wrote them: "
			  "%" PRIu64,
			  c->spool.path, aside->newer);
	if (!aside->refused)
		return;
	diag_error("%s takes builds, but not all: %s; builds that it refuses, now kept as "
		   "*.refused: %" PRIu64 ", such as %s/%s; to send one again, take .refused off "
		   "its name",
		   c->server.at.name, c->refusal, aside->refused, c->spool.path, aside->name);
}

/* The server that is away is not asked again by this process. */
static int fail(struct clickhouse *c, int err)
{
	bool for_now = err == -EHOSTUNREACH || err == -ENOBUFS;

	c->waiting = true;
	if (for_now)
		snprintf(c->away, sizeof(c->away), "%s",
			 err == -ENOBUFS ? c->refusal : c->server.why);
	else
		tell(c, err);
	/* One that refuses a build may still take the next. */
	if (err != -EREMOTEIO && err != -ENOBUFS)
		c->failed = err;
	return for_now ? STORE_WAITS : err;
}

/* 0; STORE_WAITS: the server is away. */
static int drain(struct clickhouse *c)
{
	struct spool_aside aside;
	uint64_t dropped;
	int err;

	if (c->failed)
		return c->failed == -EHOSTUNREACH ? STORE_WAITS : c->failed;
	err = spool__drain(&c->spool, send_builds, c, &aside);
	tell_aside(c, &aside);
	if (err == -EREMOTEIO && aside.refused)
		return err;
	if (err)
		return fail(c, err);
	dropped = spool__take_dropped(&c->spool);
	if (dropped)
		diag_warn("%" PRIu64 " of the builds that waited for %s were dropped, because "
			  "their directory was full",
			  dropped, c->server.at.name);
	return 0;
}

static int open_spool(struct clickhouse *c)
{
	int err = c->spooled ? 0 : spool__make(&c->spool, c->server.at.directory);

	c->spooled = !err;
	return err;
}

static int clickhouse_add(struct store *s, const struct history_rows *rows)
{
	struct clickhouse *c = of(s);
	int err;

	c->added = rows->build.build;
	c->known = c->there = false;
	if (open_spool(c) || spool__put(&c->spool, rows)) {
		/* A spool that cannot be written must not keep a server from getting the build. */
		err = send_builds(c, rows, 1);
		err = err ? tell(c, err) : 0;
	} else {
		err = drain(c);
	}
	c->added = NULL;
	/* Others that waited may have failed. */
	if (c->there)
		return c->known;
	c->waiting |= !err;
	return err ? err : STORE_ELSEWHERE;
}

static int flush(struct store *s)
{
	int err = open_spool(of(s));

	return err ? err : drain(of(s));
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/*
 * Prints an error for an answer or a failure of the server, and passes on what a function of the
 * caller returned. -EPROTO is the caller's alone.
 */
static int end_question(struct clickhouse *c, int err)
{
	if (err >= 0 || !*c->server.why)
		return err;
	return tell(c, err == -EPROTO ? -EIO : err);
}

static int ask(struct store *s, const char *sql, const struct store_value *args, size_t n,
	       store_row row, void *ctx)
{
	struct clickhouse *c = of(s);
	_free_ char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int err;

	if (!out)
		return -ENOMEM;
	err = sql_text__fill(out, sql, args, n);
	if (fclose(out))
		return -ENOMEM;
	if (!err)
		err = check(c);
	if (!err)
		err = clickhouse_server__select(&c->server, text, row, ctx);
	return end_question(c, err);
}

static int each(struct store *s, int (*take)(void *ctx, const struct history_rows *rows), void *ctx)
{
	struct clickhouse *c = of(s);
	struct place last = {};
	int err = check(c);

	for (bool more = true; !err && more;) {
		_reading_ struct reading r = {};

		err = read_page(&c->server, &r, &last);
		more = r.n == BUILDS_AT_ONCE;
		for (size_t i = 0; !err && i < r.n; i++)
			err = take(ctx, &r.builds[i]);
	}
	return end_question(c, err);
}

/* ---- Removing -------------------------------------------------------------------------------- */

static int take_number(void *ctx, const struct store_value *cells, size_t n)
{
	if (n != 1 || cells->type != STORE_INTEGER)
		return -EPROTO;
	*(uint64_t *)ctx = (uint64_t)cells->integer;
	return 0;
}

/* "ALTER TABLE ..." of one table on all servers, with this end. */
static int alter(struct clickhouse *c, enum history_table_id id, const char *what, uint64_t number)
{
	const char *cluster = c->version.cluster;
	char sql[256];

	snprintf(sql, sizeof(sql), "ALTER TABLE %s%s%s%s%s %s %" PRIu64, history_table(id)->name,
		 *cluster ? "_local" : "", *cluster ? " ON CLUSTER `" : "", cluster,
		 *cluster ? "`" : "", what, number);
	return clickhouse_server__run(&c->server, sql, NULL, 0);
}

struct months {
	uint64_t at[MONTHS_MAX];
	size_t n;
};

static int take_month(void *ctx, const struct store_value *cells, size_t n)
{
	struct months *m = ctx;

	if (n != 1 || cells->type != STORE_INTEGER)
		return -EPROTO;
	if (m->n < MONTHS_MAX)
		m->at[m->n++] = (uint64_t)cells->integer;
	return 0;
}

static int prune(struct store *s, uint64_t before_ns, uint64_t *n)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	struct clickhouse *c = of(s);
	struct months months = {};
	char count[128], sql[256];
	uint64_t left = 0;
	time_t end;
	int err = check(c);

	*n = 0;
	snprintf(count, sizeof(count), "SELECT count() FROM build FINAL WHERE start_ns < %" PRIu64,
		 before_ns);
	if (!err)
		err = clickhouse_server__select(&c->server, count, take_number, n);

	/*
	 * Whole months, which are partitions, are gone at once. Of each, the rows of builds last:
	 * they name the month to a run after one that was stopped.
	 */
	snprintf(sql, sizeof(sql),
		 "SELECT DISTINCT toYYYYMM(" CLICKHOUSE_START_TIME ") AS month FROM build WHERE "
		 "month < toYYYYMM(toDateTime(intDiv(%" PRIu64 ", 1000000000), 'UTC'))",
		 before_ns);
	if (!err)
		err = clickhouse_server__select(&c->server, sql, take_month, &months);
	for (size_t i = 0; i < months.n; i++)
		for (int id = HISTORY_TABLES - 1; !err && id >= 0; id--)
			err = alter(c, id, "DROP PARTITION", months.at[i]);

	/* The rest is in the month that has the time in it. Rows of builds go last here, too. */
	if (!err)
		err = clickhouse_server__select(&c->server, count, take_number, &left);
	for (int id = HISTORY_TABLES - 1; !err && left && id >= 0; id--)
		err = alter(c, id, "DELETE WHERE start_ns <", before_ns);

	/* Rows are removed in the background: their builds must be gone when it is said. */
	end = time(NULL) + PRUNE_PATIENCE_S;
	for (left = 1; !err && left && time(NULL) < end;) {
		err = clickhouse_server__select(&c->server, count, take_number, &left);
		if (!err && left)
			nanosleep(&pause, NULL);
	}
	if (!err && left)
		diag_info("%s is still removing %" PRIu64 " builds", c->server.at.name, left);
	return err ? tell(c, err) : 0;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void close_store(struct store *s)
{
	struct clickhouse *c = of(s);
	uint64_t n = c->spooled && c->waiting ? spool__count(&c->spool) : 0;

	if (n)
		diag_warn("%s: %s%s%" PRIu64 " build%s in %s; \"history add\" sends %s",
			  c->server.at.name, c->away, *c->away ? "; " : "", n,
			  n == 1 ? " waits" : "s wait", c->spool.path, n == 1 ? "it" : "them");
	if (c->spooled)
		spool__clear(&c->spool);
	clickhouse_server__clear(&c->server);
	free(c);
}

static const struct store_ops ops = {
	.kind = STORE_CLICKHOUSE,
	.add = clickhouse_add,
	.flush = flush,
	.select = ask,
	.each = each,
	.prune = prune,
	.close = close_store,
};

int clickhouse__open(const char *where, struct store **out)
{
	struct clickhouse *c = calloc(1, sizeof(*c));
	int err = c ? clickhouse_server__open(&c->server, where) : -ENOMEM;

	if (!err) {
		c->store = (struct store){.ops = &ops, .name = strdup(c->server.at.name)};
		err = c->store.name ? 0 : -ENOMEM;
	}
	if (!err) {
		*out = &c->store;
		return 0;
	}
	if (c) {
		free(c->store.name);
		close_store(&c->store);
	}
	return err;
}
