// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/live_now.h"

#include <errno.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "view/item_text.h"

#define GAP	   2
#define NAME_WIDTH 24 /* columns of a crate's name at most */
#define IN_LEAST   16 /* columns that are left to what it is in */

static const struct top_now *in_of(const struct top_nows *nows, const struct trace_process *p)
{
	for (uint32_t i = 0; i < nows->n && !p->end_ns; i++)
		if (nows->at[i].pid == p->pid)
			return &nows->at[i];
	return NULL;
}

size_t live_now__find(const struct top_nows *nows, const struct summary *s,
		      struct live_now found[TOP_NOW_MAX])
{
	size_t n = 0;

	for (uint32_t i = 0; nows && i < summary__n_processes(s) && n < TOP_NOW_MAX; i++) {
		const struct trace_process *p = summary__process_at(s, i);
		const struct top_now *in = in_of(nows, p);

		if (in)
			found[n++] = (struct live_now){p, in};
	}
	return n;
}

struct names {
	char *at[TOP_NOW_MAX];
	size_t width; /* of the widest */
};

static void names__clear(struct names *names)
{
	for (size_t i = 0; i < TOP_NOW_MAX; i++)
		free(names->at[i]);
}

static int make_names(struct names *names, const struct live_now *found, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_free_ char *name = compile_name(found[i].process);
		size_t width;

		names->at[i] = name ? format_clean(name) : NULL;
		if (!names->at[i])
			return -ENOMEM;
		format_cut(names->at[i], NAME_WIDTH);
		width = format_width(names->at[i]);
		names->width = width > names->width ? width : names->width;
	}
	return 0;
}

int live_now__print(const struct live_now *found, size_t n, size_t columns, const char *indent,
		    FILE *out)
{
	__cleanup(names__clear) struct names names = {};
	int err = make_names(&names, found, n);
	size_t before = strlen(indent) + names.width + GAP;
	size_t room = columns > before + IN_LEAST ? columns - before : IN_LEAST;

	for (size_t i = 0; i < n && !err; i++) {
		_free_ char *line = NULL;
		char in[ITEM_TEXT_MAX];
		int pad = (int)(names.width - format_width(names.at[i]) + GAP);

		_free_ char *function = format_clean(found[i].in->function);

		item_text(in, room, found[i].in->name, found[i].in->item);
		if (!function || asprintf(&line, "%s%s%*s%s%s%s", indent, names.at[i], pad, "", in,
					  *function ? "  in " : "", function) < 0)
			return -ENOMEM;
		fprintf(out, "%.*s\n", (int)format_fit(line, columns), line);
	}
	return err;
}

static void put(const struct live_now *found, struct json *j)
{
	_free_ char *crate = compile_name(found->process);

	json__number(j, "pid", found->process->pid);
	json__text(j, "crate", crate);
	json__text(j, "name", found->in->name);
	json__text(j, "event", found->in->item[0] ? found->in->item : NULL);
	json__text(j, "function", found->in->function[0] ? found->in->function : NULL);
	json__put(j);
}

void live_now__json(const struct live_now *found, size_t n, struct json *j)
{
	json__array(j, "now");
	for (size_t i = 0; i < n && !j->err; i++) {
		json__item(j, i);
		put(&found[i], j);
	}
	json__print(j, "]");
}
