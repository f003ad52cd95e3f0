// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "history/json_lines.h"
#include "history/store.h"
#include "options/exit_code.h"

struct merging {
	struct store *into;
	uint64_t added;
	uint64_t known;
	uint64_t elsewhere; /* other processes send them */
	const char *other;  /* its name */
};

static int add_build(void *ctx, const struct history_rows *rows)
{
	struct merging *m = ctx;
	int err = store__add(m->into, rows);

	if (err == STORE_WAITS)
		return diag_error_r(-EHOSTUNREACH,
				    "%s takes no builds now, so the rest of %s is not added; merge "
				    "it again later",
				    store__name(m->into), m->other);
	m->added += !err;
	m->known += err == 1;
	m->elsewhere += err == STORE_ELSEWHERE;
	return err < 0 ? err : 0;
}

static int merge_lines(struct merging *m, FILE *in, const char *name)
{
	_json_lines_ struct json_lines *l = NULL;
	int err = json_lines__new(in, &l);

	while (!err) {
		_history_rows_ struct history_rows rows;

		history_rows__init(&rows);
		err = json_lines__next(l, &rows);
		if (err <= 0)
			break;
		err = add_build(m, &rows);
		if (err)
			return err;
	}
	if (err)
		diag_error("%s: %s", name, json_lines__problem(l) ?: strerror(-err));
	return err;
}

static int merge(struct merging *m, const char *name)
{
	_store_ struct store *other = NULL;
	_fclose_ FILE *in = strstr(name, "://") ? NULL : fopen(name, "re");
	int first = in ? getc(in) : EOF, err;

	/* JSON lines begin with an object; a SQLite file never does. */
	if (first == '{') {
		ungetc(first, in);
		return merge_lines(m, in, name);
	}
	err = store__open(name, STORE_READ, &other);
	return err ?: store__each(other, add_build, m);
}

int cmd_history_merge(const struct cli_history_merge_options *o)
{
	_store_ struct store *s = NULL;
	struct merging m = {};
	int err = store__open(o->store, STORE_WRITE, &s);

	m.into = s;
	m.other = o->other;
	err = err ?: merge(&m, o->other);
	if (s && (!err || m.added))
		diag_info("%s: %" PRIu64 " build%s added, %" PRIu64 " known already",
			  store__name(s), m.added, m.added == 1 ? "" : "s", m.known);
	if (m.elsewhere)
		diag_info("%s: %" PRIu64 " more %s sent by other processes", store__name(s),
			  m.elsewhere, m.elsewhere == 1 ? "is" : "are");
	return err ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}
