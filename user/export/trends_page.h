/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The page of `history page`: self-contained, as that of a trace (export/html.c). Its one block,
 * "trends", is a JSON document, qprof-trends/1, that the page's script reads: the builds, and
 * trends whose points refer to them by number.
 */
#ifndef QPROF_EXPORT_TRENDS_PAGE_H
#define QPROF_EXPORT_TRENDS_PAGE_H

#include "export/out.h"
#include "history/trend.h"

struct trends_page;

/* The builds, the oldest first, must outlive the page. `store`: its name, for people. */
int trends_page__new(struct out *out, const struct history_builds *builds,
		     const struct history_filter *filter, const char *store,
		     struct trends_page **page);
/* Points of other builds are left out. */
int trends_page__add(struct trends_page *page, const struct trend *t);
int trends_page__finish(struct trends_page *page);
void trends_page__free(struct trends_page *page);
DEFINE_CLEANUP(struct trends_page, trends_page__free)
#define _trends_page_ __cleanup(trends_page__free_p)

#endif /* QPROF_EXPORT_TRENDS_PAGE_H */
