// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/trends_page.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bisect.h"
#include "export/out.h"
#include "view/json.h"

/* The page around the data; the Makefile puts it together. */
__asm__(".section .rodata\n"
	".global trends_head, trends_tail\n"
	"trends_head: .incbin \"" TRENDS_PAGE "/head.html\"\n"
	".byte 0\n"
	"trends_tail: .incbin \"" TRENDS_PAGE "/tail.html\"\n"
	".byte 0\n"
	".previous\n");
extern const char trends_head[], trends_tail[];

/* A build by its UUID. */
struct build_number {
	const char *id;
	size_t number;
};

struct trends_page {
	struct out *out;
	struct gzip *gzip;
	struct json j;
	struct build_number *numbers; /* in the order of ids */
	size_t n;
	size_t trends;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct build_number *)a)->id, ((const struct build_number *)b)->id);
}

/* page->n: the page does not have it. */
static size_t number_of(const struct trends_page *page, const struct history_build *build)
{
	size_t at = bisect(page->n, i, strcmp(page->numbers[i].id, build->build) < 0);

	if (at == page->n || strcmp(page->numbers[at].id, build->build) != 0)
		return page->n;
	return page->numbers[at].number;
}

static void put_builds(struct json *j, const struct history_builds *builds)
{
	json__array(j, "builds");
	for (size_t i = 0; i < builds->n && !j->err; i++) {
		const struct history_build *b = &builds->at[i];

		json__line(j, i);
		json__text(j, "commit", b->commit);
		json__text(j, "branch", b->branch);
		json__bool(j, "dirty", b->dirty == 1);
		json__number(j, "start_ms", b->start_ns / 1000000);
		json__text(j, "toolchain", b->toolchain);
		json__text(j, "label", b->label);
		json__put(j);
	}
	json__print(j, "]");
}

int trends_page__new(struct out *out, const struct history_builds *builds,
		     const struct history_filter *filter, const char *store,
		     struct trends_page **page)
{
	_trends_page_ struct trends_page *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->n = builds->n;
	p->numbers = calloc(builds->n ?: 1, sizeof(*p->numbers));
	if (!p->numbers)
		return -ENOMEM;
	for (size_t i = 0; i < builds->n; i++)
		p->numbers[i] = (struct build_number){builds->at[i].build, i};
	qsort(p->numbers, p->n, sizeof(*p->numbers), compare);
	p->out = out;
	out__text(out, trends_head);
	out__text(out, "<script type=\"text/plain\" id=\"trends\">");
	err = gzip__new(out, GZIP_BASE64, &p->gzip);
	if (err)
		return err;
	p->j.out = gzip__stream(p->gzip);
	if (!p->j.out)
		return -ENOMEM;
	json__begin(&p->j);
	json__text(&p->j, "schema", "qprof-trends/1");
	json__text(&p->j, "store", store);
	json__text(&p->j, "branch", filter->branch);
	json__text(&p->j, "toolchain", filter->toolchain);
	json__put_open(&p->j);
	put_builds(&p->j, builds);
	json__array(&p->j, "trends");
	*page = take_ptr(p);
	return (*page)->j.err;
}

static void add_real(struct json *j, const char *key, double value)
{
	if (isfinite(value))
		json__value(j, key, json_object_new_double(value));
	else
		json__null(j, key);
}

/* [the build's number, value, why it does not count] */
static void put_points(struct trends_page *page, const struct trend *t, size_t *indexes)
{
	struct json *j = &page->j;
	size_t n = 0;

	json__array(j, "points");
	for (size_t i = 0; i < t->n && !j->err; i++) {
		const struct trend_point *p = &t->points[i];
		size_t number = number_of(page, p->build);

		indexes[i] = n;
		if (number == page->n)
			continue;
		fprintf(j->out, "%s[%zu,", n++ ? "," : "", number);
		if (p->value == HISTORY_UNKNOWN)
			fputs("null,", j->out);
		else
			fprintf(j->out, "%" PRIu64 ",", p->value);
		json__print_text(j, trend_reason_name(p->reason));
		json__print(j, "]");
	}
	json__print(j, "]");
}

static void put_changes(struct trends_page *page, const struct trend *t, const size_t *indexes)
{
	struct json *j = &page->j;
	size_t n = 0;

	json__array(j, "changes");
	for (size_t i = 0; i < t->n_changes && !j->err; i++) {
		const struct trend_change *c = &t->changes[i];

		if (number_of(page, t->points[c->point].build) == page->n ||
		    number_of(page, t->points[c->former].build) == page->n)
			continue;
		json__item(j, n++);
		json__number(j, "point", indexes[c->point]);
		json__number(j, "former", indexes[c->former]);
		add_real(j, "before", c->before);
		add_real(j, "after", c->after);
		add_real(j, "change", c->change);
		add_real(j, "confidence", c->confidence);
		json__bool(j, "other_toolchain", c->toolchain);
		json__put(j);
	}
	json__print(j, "]");
}

int trends_page__add(struct trends_page *page, const struct trend *t)
{
	_free_ size_t *indexes = calloc(t->n ?: 1, sizeof(*indexes));
	struct json_object *notes = NULL;
	struct json *j = &page->j;

	if (!indexes)
		return -ENOMEM;
	json__line(j, page->trends++);
	json__text(j, "crate", t->question.of.crate);
	json__text(j, "query", t->question.of.query);
	json__text(j, "item", t->question.of.item);
	json__text(j, "llvm", t->question.of.llvm);
	json__text(j, "metric", trend_metric_name(t->question.metric));
	json__bool(j, "exact", t->exact);
	notes = json_object_new_array();
	for (size_t i = 0; notes && i < t->n_notes; i++)
		json_object_array_add(notes, json_new_text(t->notes[i]));
	json__value(j, "notes", notes);
	json__put_open(j);
	put_points(page, t, indexes);
	put_changes(page, t, indexes);
	json__print(j, "}");
	return page->j.err;
}

int trends_page__finish(struct trends_page *page)
{
	int err = page->j.err;

	json__print(&page->j, "]}\n");
	if (fclose(take_ptr(page->j.out)))
		err = err ?: -errno;
	err = err ?: gzip__finish(page->gzip);
	out__text(page->out, "</script>\n");
	out__text(page->out, trends_tail);
	return err ?: out__error(page->out);
}

void trends_page__free(struct trends_page *page)
{
	if (!page)
		return;
	if (page->j.out)
		fclose(page->j.out);
	gzip__free(page->gzip);
	free(page->numbers);
	free(page);
}
