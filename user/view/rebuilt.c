// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/rebuilt.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "view/view.h"

/* Reasons of the first screen, and names of crates of one reason. */
#define FIT_REASONS 3
#define FIT_CRATES  3

#define LEAD "rebuilt   "

/* What is before and behind the name of what changed. */
static const struct {
	const char *before, *behind;
} texts[TRACE_REBUILT_MAX] = {
	[TRACE_REBUILT_UNKNOWN] = {"no change found, perhaps an output was deleted", ""},
	[TRACE_REBUILT_FILE] = {"", " changed"},
	[TRACE_REBUILT_MISSING] = {"watches ", ", which is missing, so it runs each time"},
	[TRACE_REBUILT_FEATURES] = {"other features: ", ""},
	[TRACE_REBUILT_PROFILE] =
		{"other settings of the profile, or another command (such as cargo test)", ""},
	[TRACE_REBUILT_COMMAND] = {"built before by another command", ""},
	[TRACE_REBUILT_FLAGS] = {"RUSTFLAGS changed", ""},
	[TRACE_REBUILT_RUSTC] = {"another rustc", ""},
	[TRACE_REBUILT_ENVIRONMENT] = {"variable ", " changed"},
	[TRACE_REBUILT_DEPENDENCIES] = {"other dependencies: ", ""},
	[TRACE_REBUILT_DEPENDENCY] = {"a dependency was built again", ""},
	[TRACE_REBUILT_SOURCE] = {"another main source file", ""},
	[TRACE_REBUILT_MANIFEST] = {"Cargo.toml changed", ""},
	[TRACE_REBUILT_CONFIG] = {"cargo's configuration changed", ""},
	[TRACE_REBUILT_BUILD_SCRIPT] = {"the build script watches other things", ""},
	[TRACE_REBUILT_UNFINISHED] = {"the last build of it did not end well", ""},
};

static const char *text_of(const struct build_view *v, uint32_t string)
{
	return string == TRACE_NO_STRING ? "" : v->names->text(v->names->ctx, string);
}

/* "dep" and "dep (test)", whose names are those of one crate. */
static bool are_one_crate(const char *a, const char *b)
{
	size_t len = strcspn(a, " ");

	return len == strcspn(b, " ") && !strncmp(a, b, len);
}

/* Two packages have each a file of one relative name. */
static bool is_one_reason(const struct build_view *v, const struct trace_rebuilt *a,
			  const struct trace_rebuilt *b)
{
	bool of_file = a->reason == TRACE_REBUILT_FILE || a->reason == TRACE_REBUILT_MISSING;

	return a->reason == b->reason && a->detail == b->detail &&
	       (!of_file || *text_of(v, a->detail) == '/' ||
		are_one_crate(text_of(v, a->crate), text_of(v, b->crate)));
}

static bool shows(const struct build_view *v)
{
	const struct build *whole = build__whole(v->build);

	return v->n_rebuilt && (!whole || whole == v->build);
}

/* The next row from `i` on that has a reason which no row before it has. */
static uint32_t next_reason(const struct build_view *v, uint32_t i)
{
	for (; i < v->n_rebuilt; i++) {
		uint32_t k = 0;

		while (k < i && !is_one_reason(v, &v->rebuilt[k], &v->rebuilt[i]))
			k++;
		if (k == i)
			break;
	}
	return i;
}

/* "dep, app (bin) and 3 more: RUSTFLAGS changed"; the number of crates in *n. NULL: no memory. */
static char *line_of(const struct build_view *v, uint32_t first, uint32_t *n)
{
	const struct trace_rebuilt *r = &v->rebuilt[first];
	_free_ char *text = NULL;
	uint32_t named = 0;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	*n = 0;
	for (uint32_t i = first; i < v->n_rebuilt; i++)
		*n += is_one_reason(v, r, &v->rebuilt[i]);
	for (uint32_t i = first; i < v->n_rebuilt; i++) {
		if (!is_one_reason(v, r, &v->rebuilt[i]) ||
		    (named == FIT_CRATES && *n > FIT_CRATES && !v->full))
			continue;
		fprintf(to, "%s%s", named++ ? ", " : "", text_of(v, v->rebuilt[i].crate));
	}
	if (named < *n)
		fprintf(to, " and %" PRIu32 " more", *n - named);
	fprintf(to, ": %s%s%s", texts[r->reason].before, text_of(v, r->detail),
		texts[r->reason].behind);
	return fclose(to) ? NULL : format_clean(text);
}

/* Call `print` for each line that fits, and then for what does not. */
static int each_line(FILE *out, const struct build_view *v,
		     void (*print)(FILE *out, const char *line, bool first))
{
	size_t shown = 0;
	uint32_t left = v->n_rebuilt;

	for (uint32_t i = 0; i < v->n_rebuilt; i = next_reason(v, i + 1), shown++) {
		_free_ char *line = NULL;
		uint32_t n;

		if (shown == FIT_REASONS && !v->full) {
			char more[FORMAT_MAX * 2];

			snprintf(more, sizeof(more), "%" PRIu32 " more: report --full", left);
			print(out, more, false);
			break;
		}
		line = line_of(v, i, &n);
		if (!line)
			return -ENOMEM;
		left -= n;
		print(out, line, !shown);
	}
	return 0;
}

static void print_text(FILE *out, const char *line, bool first)
{
	fprintf(out, "%*s", (int)strlen(LEAD), first ? LEAD : "");
	wrap_print(out, line, strlen(LEAD), WRAP_COLUMNS, strlen(LEAD));
}

int rebuilt_text(FILE *out, const struct build_view *v, size_t *lines)
{
	_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err = !to ? -ENOMEM : shows(v) ? each_line(to, v, print_text) : 0;

	if (to && fclose(to))
		err = -ENOMEM;
	*lines = 0;
	for (size_t i = 0; !err && i < size; i++)
		*lines += text[i] == '\n';
	if (!err)
		fputs(text, out);
	return err;
}

static void print_markdown(FILE *out, const char *line, bool first)
{
	fputs(first ? "- built again:\n  - " : "  - ", out);
	markdown_code(out, line);
	fputc('\n', out);
}

int rebuilt_markdown(FILE *out, const struct build_view *v)
{
	return shows(v) ? each_line(out, v, print_markdown) : 0;
}

void rebuilt_columns(struct columns *c, const struct build_view *v)
{
	if (!LIST(c, "rebuilt", v && shows(v), "crates that cargo built again, if any is known"))
		return;
	EACH_ROW (c, i, v->n_rebuilt) {
		const struct trace_rebuilt *r = ROW(c, &v->rebuilt[i]);

		TEXT(c, "crate", NULL, text_of(v, r->crate), "package and target");
		TEXT(c, "reason", NULL, trace_rebuilt_name(r->reason),
		     "a word; docs/report.md has them");
		TEXT(c, "detail", NULL, r->detail == TRACE_NO_STRING ? NULL : text_of(v, r->detail),
		     "the file, variable, features or dependencies; null: none");
	}
}
