// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/clickhouse_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

/* The table whose one row of the highest version says which version the tables are of. */
#define CLICKHOUSE_VERSION_TABLE "qprof_schema"

/* The column that builds have in version 1 alone. */
#define CLICKHOUSE_BUDGET "budget_ppm"

/* The order of rows, by which questions find them; it is also what makes two rows the same. */
static const char *const orders[HISTORY_TABLES] = {
	[HISTORY_BUILD] = "start_ns, build",
	[HISTORY_COMPILE] = "crate, start_ns, build, number",
	[HISTORY_QUERY] = "crate, query, start_ns, build",
	[HISTORY_ITEM] = "crate, item, start_ns, build",
	[HISTORY_LLVM] = "crate, name, start_ns, build",
};

/* " ON CLUSTER ..." where there is one. Names of databases are plain; those of clusters may have -.
 */
static void put_cluster(const struct clickhouse_tables *t, FILE *out)
{
	if (t->cluster)
		fprintf(out, " ON CLUSTER `%s`", t->cluster);
}

static void put_name(const struct clickhouse_tables *t, const char *table, bool local, FILE *out)
{
	fprintf(out, "%s.%s%s", t->database, table, local && t->cluster ? "_local" : "");
}

/* A UUID takes half the bytes of its text, in every row. Texts are plain: sorted ones are small. */
static void put_type(const struct history_column *c, FILE *out)
{
	const char *type = c->type == HISTORY_NUMBER ? "Int64" : "String";

	if (!strcmp(c->name, "build"))
		type = "UUID";
	fprintf(out, c->required ? "%s" : "Nullable(%s)", type);
}

static void put_columns(const struct history_table *table, FILE *out)
{
	for (size_t i = 0; i < table->n; i++) {
		fprintf(out, "%s\n    \"%s\" ", i ? "," : " (", table->columns[i].name);
		put_type(&table->columns[i], out);
	}
	fputs("\n)", out);
}

/* "CREATE DATABASE ..." */
static void clickhouse_tables__database(const struct clickhouse_tables *t, FILE *out)
{
	fprintf(out, "CREATE DATABASE IF NOT EXISTS %s", t->database);
	put_cluster(t, out);
}

/* The table of the version. */
static void clickhouse_tables__version(const struct clickhouse_tables *t, FILE *out)
{
	fprintf(out, "CREATE TABLE IF NOT EXISTS %s." CLICKHOUSE_VERSION_TABLE, t->database);
	put_cluster(t, out);
	fputs(" (\n    version Int64,\n    cluster String\n)", out);
	/* One for all shards. */
	if (t->cluster)
		fprintf(out,
			" ENGINE = ReplicatedReplacingMergeTree"
			"('/clickhouse/tables/%s/" CLICKHOUSE_VERSION_TABLE
			"', '{shard}-{replica}')",
			t->database);
	else
		fputs(" ENGINE = ReplacingMergeTree()", out);
	fputs(" ORDER BY version", out);
}

static void clickhouse_tables__mark(const struct clickhouse_tables *t, FILE *out)
{
	fprintf(out, "INSERT INTO %s." CLICKHOUSE_VERSION_TABLE " VALUES (%d, '%s')", t->database,
		HISTORY_VERSION, t->cluster ? t->cluster : "");
}

/* The table that holds rows. */
static void clickhouse_tables__local(const struct clickhouse_tables *t, enum history_table_id id,
				     FILE *out)
{
	const struct history_table *table = history_table(id);

	fputs("CREATE TABLE IF NOT EXISTS ", out);
	put_name(t, table->name, true, out);
	put_cluster(t, out);
	put_columns(table, out);
	if (t->cluster)
		fprintf(out,
			" ENGINE = ReplicatedReplacingMergeTree"
			"('/clickhouse/tables/{shard}/%s/%s', '{replica}')",
			t->database, table->name);
	else
		fputs(" ENGINE = ReplacingMergeTree()", out);
	fprintf(out, " PARTITION BY toYYYYMM(" CLICKHOUSE_START_TIME ") ORDER BY (%s)", orders[id]);
}

/* "ALTER TABLE ..." of the table that holds rows, up to `what`. */
static void put_alter(const struct clickhouse_tables *t, enum history_table_id id, const char *what,
		      FILE *out)
{
	fputs("ALTER TABLE ", out);
	put_name(t, history_table(id)->name, true, out);
	put_cluster(t, out);
	fputs(what, out);
}

/* Have the table that holds rows forget those that are older than `keep_days`. */
static void clickhouse_tables__keep(const struct clickhouse_tables *t, enum history_table_id id,
				    FILE *out)
{
	put_alter(t, id, " MODIFY TTL " CLICKHOUSE_START_TIME, out);
	fprintf(out, " + INTERVAL %" PRIu64 " DAY", t->keep_days);
}

/* The one that stands for all; of a cluster only. */
static void clickhouse_tables__distributed(const struct clickhouse_tables *t,
					   enum history_table_id id, FILE *out)
{
	const struct history_table *table = history_table(id);

	fputs("CREATE TABLE IF NOT EXISTS ", out);
	put_name(t, table->name, false, out);
	put_cluster(t, out);
	put_columns(table, out);
	fprintf(out, " ENGINE = Distributed(`%s`, %s, %s_local, cityHash64(toString(build)))",
		t->cluster, t->database, table->name);
}

void clickhouse_tables__print(const struct clickhouse_tables *t, FILE *out)
{
	clickhouse_tables__database(t, out);
	fputs(";\n\n", out);
	clickhouse_tables__version(t, out);
	fputs(";\n\n", out);
	for (int id = 0; id < HISTORY_TABLES; id++) {
		clickhouse_tables__local(t, id, out);
		fputs(";\n\n", out);
		if (t->keep_days) {
			clickhouse_tables__keep(t, id, out);
			fputs(";\n\n", out);
		}
		if (!t->cluster)
			continue;
		clickhouse_tables__distributed(t, id, out);
		fputs(";\n\n", out);
	}
	clickhouse_tables__mark(t, out);
	fputs(";\n", out);
}

#define DAY_NS 86400000000000ull

/* The first version that forgets rows by itself. */
#define TTL_MAJOR 19
#define TTL_MINOR 6

uint64_t clickhouse_version__days(uint64_t ns)
{
	return ns / DAY_NS + (ns % DAY_NS ? 1 : 0);
}

bool clickhouse_version__is_cluster(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-.")];
}

/* ---- What is there --------------------------------------------------------------------------- */

static int take_version(void *ctx, const struct store_value *cells, size_t n)
{
	struct clickhouse_version *v = ctx;

	if (n != 2 || cells[0].type != STORE_INTEGER || cells[1].type != STORE_TEXT)
		return -EPROTO;
	if (*cells[1].text && !clickhouse_version__is_cluster(cells[1].text))
		return -EPROTO;
	v->version = cells[0].integer;
	snprintf(v->cluster, sizeof(v->cluster), "%s", cells[1].text);
	return 0;
}

/* 0 with a version of 0: there are no tables. */
static int read_version(struct clickhouse_server *s, struct clickhouse_version *v)
{
	int err;

	*v = (struct clickhouse_version){};
	err = clickhouse_server__select(s,
					"SELECT version, cluster FROM " CLICKHOUSE_VERSION_TABLE
					" ORDER BY version DESC LIMIT 1",
					take_version, v);
	if (err == -EREMOTEIO &&
	    (s->code == CLICKHOUSE_UNKNOWN_TABLE || s->code == CLICKHOUSE_UNKNOWN_DATABASE))
		err = 0;
	return err;
}

static int refuse_newer(struct clickhouse_server *s, const struct clickhouse_version *v)
{
	if (v->version <= HISTORY_VERSION)
		return 0;
	snprintf(s->why, sizeof(s->why),
		 "its tables are of version %" PRId64
		 ", and this qprof-bpf knows %d; update qprof-bpf",
		 v->version, HISTORY_VERSION);
	return -EPROTONOSUPPORT;
}

int clickhouse_version__check(struct clickhouse_server *s, struct clickhouse_version *v)
{
	int err = read_version(s, v);

	if (!err)
		err = refuse_newer(s, v);
	if (err || v->version == HISTORY_VERSION)
		return err;
	snprintf(s->why, sizeof(s->why),
		 "it has no tables of version %d; run qprof-bpf history migrate --store %.128s",
		 HISTORY_VERSION, s->at.name);
	return -ENOENT;
}

/* ---- Making it ours -------------------------------------------------------------------------- */

struct migration {
	struct clickhouse_server *server;
	struct clickhouse_tables tables;
	enum history_table_id id;
	bool *has;	  /* its columns, in the order of history/columns.h */
	bool has_budget;  /* it has CLICKHOUSE_BUDGET */
	bool is_former;	  /* the tables are there already, in a former version */
	char version[32]; /* of the server */
};

static int run_text(struct migration *m, char *sql)
{
	_free_ char *text = sql;

	return text ? clickhouse_server__run(m->server, text, NULL, 0) : -ENOMEM;
}

/* Run what `print` writes to `out`. */
#define RUN(m, print)                                                \
	({                                                           \
		char *__text = NULL;                                 \
		size_t __len;                                        \
		FILE *out = open_memstream(&__text, &__len);         \
                                                                     \
		if (out)                                             \
			print;                                       \
		out && !fclose(out) ? run_text(m, __text) : -ENOMEM; \
	})

static int note_column(void *ctx, const struct store_value *cells, size_t n)
{
	struct migration *m = ctx;
	const struct history_table *t = history_table(m->id);
	const struct history_column *c;

	if (n != 1 || cells->type != STORE_TEXT)
		return -EPROTO;
	c = history_table__column(t, cells->text);
	m->has_budget |= m->id == HISTORY_BUILD && !strcmp(cells->text, CLICKHOUSE_BUDGET);
	if (c)
		m->has[c - t->columns] = true;
	return 0;
}

/* The rows of an older version lack the columns that came after it, and may have one that went. */
static int adapt_columns(struct migration *m)
{
	const struct history_table *t = history_table(m->id);
	_free_ bool *has = calloc(t->n, sizeof(*has));
	char sql[256];
	int err;

	if (!has)
		return -ENOMEM;
	m->has = has;
	m->has_budget = false;
	snprintf(sql, sizeof(sql),
		 "SELECT name FROM system.columns WHERE database = '%s' AND table = '%s%s'",
		 m->tables.database, t->name, m->tables.cluster ? "_local" : "");
	err = clickhouse_server__select(m->server, sql, note_column, m);
	for (size_t i = 0; !err && i < t->n; i++)
		if (!has[i])
			err = RUN(m, ({
					  put_alter(&m->tables, m->id, " ADD COLUMN ", out);
					  fprintf(out, "\"%s\" ", t->columns[i].name);
					  put_type(&t->columns[i], out);
				  }));
	if (!err && m->has_budget)
		err = RUN(m, put_alter(&m->tables, HISTORY_BUILD, " DROP COLUMN " CLICKHOUSE_BUDGET,
				       out));
	return err;
}

static int make_table(struct migration *m)
{
	/* 18.16 would remove rows of which a condition is null. */
	const char *forget = m->id == HISTORY_BUILD
				     ? " UPDATE how = 'sampled' WHERE coalesce(how, '') = 'budget'"
				     : " DELETE WHERE coalesce(how, '') = 'estimated'";
	int err = RUN(m, clickhouse_tables__local(&m->tables, m->id, out));

	if (!err)
		err = adapt_columns(m);
	/* Version 1 had estimates, and builds had budgets; compiles had neither. */
	if (!err && m->is_former && m->id != HISTORY_COMPILE)
		err = RUN(m, put_alter(&m->tables, m->id, forget, out));
	if (!err && m->tables.keep_days)
		err = RUN(m, clickhouse_tables__keep(&m->tables, m->id, out));
	if (err || !m->tables.cluster)
		return err;
	/* It has no rows, and 18.16 alters none on a cluster that has replicas. */
	if (m->is_former)
		err = RUN(m, ({
				  fputs("DROP TABLE IF EXISTS ", out);
				  put_name(&m->tables, history_table(m->id)->name, false, out);
				  put_cluster(&m->tables, out);
			  }));
	return err ?: RUN(m, clickhouse_tables__distributed(&m->tables, m->id, out));
}

static int take_text(void *ctx, const struct store_value *cells, size_t n)
{
	struct migration *m = ctx;

	if (n != 1 || cells->type != STORE_TEXT)
		return -EPROTO;
	snprintf(m->version, sizeof(m->version), "%s", cells->text);
	return 0;
}

/* Before anything is made. */
static int check_server(struct migration *m)
{
	unsigned int major = 0, minor = 0;
	int err;

	m->server->outside = true;
	err = clickhouse_server__select(m->server, "SELECT version()", take_text, m);
	if (err || !m->tables.keep_days)
		return err;
	if (sscanf(m->version, "%u.%u", &major, &minor) != 2)
		return -EPROTO;
	if (major > TTL_MAJOR || (major == TTL_MAJOR && minor >= TTL_MINOR))
		return 0;
	snprintf(m->server->why, sizeof(m->server->why),
		 "ClickHouse %s cannot forget rows by itself, which came with %d.%d; leave --keep "
		 "out, and run qprof-bpf history prune from time to time",
		 m->version, TTL_MAJOR, TTL_MINOR);
	return -EOPNOTSUPP;
}

/* The tables that are there know their cluster. */
static int check_cluster(struct migration *m, const struct clickhouse_version *v)
{
	const char *given = m->tables.cluster ? m->tables.cluster : "";

	if (!v->version || !strcmp(given, v->cluster))
		return 0;
	if (!*given) {
		m->tables.cluster = v->cluster;
		return 0;
	}
	snprintf(m->server->why, sizeof(m->server->why),
		 "its tables are of %s%s; give another database for those of cluster %s",
		 *v->cluster ? "cluster " : "one server", v->cluster, given);
	return -EEXIST;
}

static int migrate(struct migration *m, struct clickhouse_version *v)
{
	int err = check_server(m);

	m->server->outside = false;
	if (!err)
		err = read_version(m->server, v);
	if (!err)
		err = refuse_newer(m->server, v);
	if (!err)
		err = check_cluster(m, v);
	m->is_former = v->version && v->version < HISTORY_VERSION;
	m->server->outside = true;
	if (!err)
		err = RUN(m, clickhouse_tables__database(&m->tables, out));
	m->server->outside = false;
	if (!err)
		err = RUN(m, clickhouse_tables__version(&m->tables, out));
	for (int id = 0; !err && id < HISTORY_TABLES; id++) {
		m->id = id;
		err = make_table(m);
	}
	if (!err && v->version < HISTORY_VERSION)
		err = RUN(m, clickhouse_tables__mark(&m->tables, out));
	return err;
}

int clickhouse_version__migrate(const char *where, const char *cluster, uint64_t keep_ns)
{
	struct clickhouse_server s;
	struct migration m = {.server = &s};
	struct clickhouse_version v;
	int err = clickhouse_server__open(&s, where);

	if (err)
		return err;
	m.tables = (struct clickhouse_tables){
		s.at.database,
		cluster,
		clickhouse_version__days(keep_ns),
	};
	err = migrate(&m, &v);
	if (err && !*s.why)
		snprintf(s.why, sizeof(s.why), "%s",
			 err == -EPROTO ? "its answer is not that of a history's tables"
					: strerror(-err));
	if (err)
		diag_error("%s: %s", s.at.name, s.why);
	else if (v.version == HISTORY_VERSION)
		diag_info("%s: its tables are of version %d already", s.at.name, HISTORY_VERSION);
	else
		diag_info("%s: its tables are of version %d now (ClickHouse %s)", s.at.name,
			  HISTORY_VERSION, m.version);
	clickhouse_server__clear(&s);
	return err;
}
