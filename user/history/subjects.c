// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/subjects.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "history/sql.h"

static int take_name(void *ctx, const struct store_value *cells, size_t n)
{
	struct history_subjects *s = ctx;

	if (!n || cells[0].type != STORE_TEXT || !cells[0].text)
		return 0;
	if (array__reserve_one(&s->names, s->n, &s->capacity, sizeof(*s->names)))
		return -ENOMEM;
	s->names[s->n] = strdup(cells[0].text);
	if (!s->names[s->n])
		return -ENOMEM;
	s->n++;
	return 0;
}

/* The start finds the build's rows where they are in the order of time. */
int history_subjects__ask(struct store *s, const struct history_build *build,
			  enum history_subject subject, unsigned int most,
			  struct history_subjects *out)
{
	static const struct {
		enum history_table_id table;
		const char *column, *cost, *where;
	} all[] = {
		[HISTORY_CRATES] = {HISTORY_COMPILE, "crate", "cpu_ns", ""},
		[HISTORY_QUERIES] = {HISTORY_QUERY, "query", "self_ns", ""},
		[HISTORY_PASSES] = {HISTORY_LLVM, "name", "self_ns", "AND \"kind\" = 'pass'"},
		[HISTORY_FUNCTIONS_IN_LLVM] = {HISTORY_LLVM, "name", "self_ns",
					       "AND \"kind\" = 'function'"},
	};
	const struct store_value args[] = {
		{.type = STORE_TEXT, .text = build->build},
		{.type = STORE_INTEGER, .integer = (int64_t)build->start_ns},
	};
	const char *column = all[subject].column, *cost = all[subject].cost;
	char sql[512];
	int err;

	snprintf(sql, sizeof(sql),
		 "SELECT \"%s\", sum(\"%s\") FROM %s WHERE \"build\" = ? AND \"start_ns\" = ? %s "
		 "GROUP BY \"%s\" ORDER BY sum(\"%s\") DESC, \"%s\" LIMIT %u",
		 column, cost, dialect__table(store__kind(s), all[subject].table),
		 all[subject].where, column, cost, column, most);
	err = store__select(s, sql, args, N_OF(args), take_name, out);
	return err == -ENOMEM ? diag_error_r(err, "out of memory") : err;
}

void history_subjects__clear(struct history_subjects *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->names[i]);
	free(s->names);
	*s = (struct history_subjects){0};
}
