// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/clickhouse_server.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/format.h"
#include "history/tab_separated.h"

/* A build's user may wait for it: a server that hangs is away. */
#define SECONDS 30

/* ON CLUSTER waits three minutes for a server that is away, and then says so. */
#define CHANGE_SECONDS 240

/* Sixteen builds of a thousand crates are about as much. */
#define ANSWER_MAX (512u << 20)

#define FORMAT " FORMAT TabSeparatedWithNamesAndTypes"

/* ---- What a server says of an error ---------------------------------------------------------- */

static bool is_login(long code)
{
	/* UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, AUTHENTICATION_FAILED */
	return code == 192 || code == 193 || code == 194 || code == 516;
}

/* Errors that pass by themselves: the server takes the same statement later. */
static bool is_for_now(long code)
{
	static const long codes[] = {
		202, /* TOO_MANY_SIMULTANEOUS_QUERIES */
		209, /* SOCKET_TIMEOUT */
		210, /* NETWORK_ERROR */
		225, /* NO_ZOOKEEPER */
		242, /* TABLE_IS_READ_ONLY, as a replica is that cannot reach ZooKeeper */
		243, /* NOT_ENOUGH_SPACE */
		252, /* TOO_MANY_PARTS */
		279, /* ALL_CONNECTION_TRIES_FAILED */
		319, /* UNKNOWN_STATUS_OF_INSERT */
		999, /* KEEPER_EXCEPTION */
	};

	for (size_t i = 0; i < N_OF(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* The words between "DB::Exception: " and what follows them, in one line. */
static void keep_words(struct clickhouse_server *s, const char *text)
{
	static const char *const ends[] = {", e.what() =", " (version ", "\n"};
	const char *from = strstr(text, "DB::Exception: ");
	_free_ char *words = strdup(from ? from + strlen("DB::Exception: ") : text), *clean = NULL;

	for (size_t i = 0; words && i < N_OF(ends); i++) {
		char *end = strstr(words, ends[i]);

		if (end)
			*end = '\0';
	}
	clean = words && *words ? format_clean(words) : NULL;
	if (clean)
		snprintf(s->why, sizeof(s->why), "%.300s", clean);
}

/* The server's own text is better than the status of HTTP. */
static int judge(struct clickhouse_server *s, int err, const struct http_result *result)
{
	snprintf(s->why, sizeof(s->why), "%s", result->why);
	if (err != -EREMOTEIO)
		return err;
	if (!strncmp(result->text, "Code: ", 6))
		s->code = strtol(result->text + 6, NULL, 10);
	if (s->code)
		keep_words(s, result->text);
	if (is_login(s->code) || (!s->code && (result->status == 401 || result->status == 403))) {
		snprintf(s->why, sizeof(s->why),
			 "it does not accept the user and the password (status %ld); they come "
			 "from QPROF_CLICKHOUSE_USER and QPROF_CLICKHOUSE_PASSWORD, or from "
			 "~/.config/qprof-bpf/clickhouse",
			 result->status);
		return -EACCES;
	}
	/* MEMORY_LIMIT_EXCEEDED; a proxy's: the body is too large. */
	if (s->code == 241 || (!s->code && result->status == 413))
		return -ENOBUFS;
	/* A proxy's, for a server behind it. */
	return is_for_now(s->code) || (!s->code && result->status >= 500) ? -EHOSTUNREACH : err;
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* Write `text` as a part of an address. */
static void put_encoded(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
			putc(*text, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*text);
	}
}

/*
 * The address of a statement that is in the body, or, with `sql`, in the address: an INSERT, whose
 * rows are the body.
 */
static char *make_url(const struct clickhouse_server *s, const char *sql)
{
	char *url = NULL;
	size_t size;
	FILE *out = open_memstream(&url, &size);
	bool failed;

	if (!out)
		return NULL;
	/* The status is that of the whole answer, not of its beginning. */
	fprintf(out, "%s?wait_end_of_query=1", s->at.base);
	if (!s->outside)
		fprintf(out, "&database=%s", s->at.database);
	if (sql) {
		/*
		 * The rows are on their server, not on their way there, when the answer comes. A
		 * replicated table would drop a block that it once had, also after its rows were
		 * deleted; rows that come twice are one by their table.
		 */
		fputs("&insert_distributed_sync=1&insert_deduplicate=0&query=", out);
		put_encoded(out, sql);
	}
	failed = ferror(out);
	if (!fclose(out) && !failed)
		return url;
	free(url);
	return NULL;
}

static unsigned int seconds(const struct clickhouse_server *s)
{
	return s->login.timeout ? (unsigned int)atoi(s->login.timeout) : SECONDS;
}

/* p->seconds: those that it takes by its nature; 0: as any other. */
static int post(struct clickhouse_server *s, struct http_post *p, char *url)
{
	struct http_result result;
	int err;

	s->code = 0;
	s->why[0] = '\0';
	if (!url) {
		snprintf(s->why, sizeof(s->why), "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	p->url = url;
	if (p->seconds < seconds(s))
		p->seconds = seconds(s);
	err = http__post(s->http, p, &result);
	return err ? judge(s, err, &result) : 0;
}

int clickhouse_server__run(struct clickhouse_server *s, const char *sql, const char *rows,
			   size_t len)
{
	_free_ char *url = make_url(s, rows ? sql : NULL);
	struct http_post p = {
		.body = rows ? rows : sql,
		.len = rows ? len : strlen(sql),
		.seconds = rows ? 0 : CHANGE_SECONDS,
	};

	return post(s, &p, url);
}

struct asked {
	store_row row;
	void *ctx;
	int returned; /* by `row`: no fault of the server */
	uint64_t bytes;
	struct tab_separated rows;
};

static void clear_asked(struct asked *a)
{
	tab_separated__clear(&a->rows);
}
#define _asked_ __cleanup(clear_asked)

static int pass_row(void *ctx, const struct store_value *cells, size_t n)
{
	struct asked *a = ctx;

	a->returned = a->row(a->ctx, cells, n);
	return a->returned;
}

/* Takes a part of an answer. Memory for rows may grow with it, up to a limit. */
static int take_rows(void *ctx, const char *bytes, size_t n)
{
	struct asked *a = ctx;

	a->bytes += n;
	return a->bytes > ANSWER_MAX ? -EPROTO : tab_separated__take(&a->rows, bytes, n);
}

int clickhouse_server__select(struct clickhouse_server *s, const char *sql, store_row row,
			      void *ctx)
{
	_free_ char *url = make_url(s, NULL), *text = NULL;
	_asked_ struct asked asked = {.row = row, .ctx = ctx};
	struct http_post p = {.take = take_rows, .ctx = &asked};
	int err;

	if (asprintf(&text, "%s" FORMAT, sql) < 0)
		text = NULL;
	if (!text)
		return -ENOMEM;
	asked.rows = (struct tab_separated){.row = pass_row, .ctx = &asked};
	p.body = text;
	p.len = strlen(text);
	err = post(s, &p, url);
	if (!err)
		err = tab_separated__end(&asked.rows);
	if (asked.bytes > ANSWER_MAX)
		snprintf(s->why, sizeof(s->why), "its answer has more than %u MiB",
			 ANSWER_MAX >> 20);
	if (err == -EPROTO && !asked.returned && !*s->why)
		snprintf(s->why, sizeof(s->why), "its answer is not ClickHouse's");
	return err;
}

int clickhouse_server__open(struct clickhouse_server *s, const char *where)
{
	int err;

	*s = (struct clickhouse_server){};
	err = address__parse(&s->at, where);
	if (!err)
		err = http_login__read(&s->login);
	if (err)
		return err;
	err = http__open(&s->login, s->why, &s->http);
	return err ? diag_error_r(err, "%s: %s", s->at.name, s->why) : 0;
}

void clickhouse_server__clear(struct clickhouse_server *s)
{
	http__close(s->http);
	http_login__clear(&s->login);
	s->http = NULL;
}
