// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define BIT(class) (1u << (class))
#define HITS	   BIT(FILTER_HIT)
/* All intervals, but no cache hits: there are a hundred times as many of these. */
#define EVERYTHING ((BIT(FILTER_CLASSES) - 1) & ~HITS)
/* The label is checked too: see is_default(). */
#define DEFAULT BIT(FILTER_CLASSES)

/*
 * Globs of labels that the default leaves out: they occur thousands of times, or their code is
 * there once for each query, and each site is a breakpoint that every compiler installs.
 */
static const char *const tiny_labels[] = {
	"metadata_decode_*",
	"mir_pass_*",
	"incr_comp_encode_dep_graph",
	"compute_debuginfo_type_name",
	"encode_query_results_for",
	"query_key_hash_verify*",
	NULL,
};

static const struct {
	const char *word;
	unsigned int classes; /* bits; 0: not available, for this reason: */
	const char *why;
} events[] = {
	{"default", DEFAULT, NULL},
	{"all", EVERYTHING, NULL},
	{"query-provider", BIT(FILTER_QUERY), NULL},
	{"generic-activity", BIT(FILTER_ACTIVITY) | BIT(FILTER_DYNAMIC) | BIT(FILTER_TIMER), NULL},
	{"passes", BIT(FILTER_TIMER), NULL},
	{"query-blocked", BIT(FILTER_BLOCKED), NULL},
	{"incr-cache-load", BIT(FILTER_LOAD), NULL},
	{"incr-result-hashing", BIT(FILTER_HASHING), NULL},
	{"query-cache-hit", HITS | BIT(FILTER_QUERY), NULL},
	{"query-cache-hit-count", 0, "query-cache-hit records each hit, and report counts them"},
	{"query-keys", 0, "they are no events, but recorded with those, unless --no-keys is given"},
	{"function-args", 0,
	 "they are no events, but recorded with those, unless --no-keys is given"},
	{"args", 0, "they are no events, but recorded with those, unless --no-keys is given"},
	{"artifact-sizes", 0, "they are sizes, not intervals"},
	{"llvm", 0, "LLVM reports its passes only while rustc's own profiler is on"},
};

#define N_EVENTS (N_OF(events))

struct word {
	bool taken_away;
	unsigned int classes; /* 0: the word is a glob, namely: */
	const char *glob;
};

struct filter {
	char *text;  /* the lists as one */
	char *globs; /* the memory that the globs point into */
	struct word *words;
	size_t n;
	const char *missing[N_EVENTS];
	const char *why[N_EVENTS];
	size_t n_missing;
	bool no_off_cpu;
	bool no_counts;
	bool no_readings; /* "-counts" */
};

static char *join(const char *const *lists, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? "," : "", lists[i]);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void miss(struct filter *f, size_t event)
{
	for (size_t i = 0; i < f->n_missing; i++)
		if (f->missing[i] == events[event].word)
			return;
	f->missing[f->n_missing] = events[event].word;
	f->why[f->n_missing++] = events[event].why;
}

static int add_word(struct filter *f, const char *text)
{
	struct word *w = &f->words[f->n];

	*w = (struct word){.taken_away = *text == '-'};
	text += w->taken_away;
	if (!*text)
		return -EINVAL;
	if (!strcmp(text, "off-cpu")) {
		f->no_off_cpu = w->taken_away;
		return 0;
	}
	if (!strcmp(text, "counts")) {
		f->no_counts = f->no_readings = w->taken_away;
		return 0;
	}
	if (!strcmp(text, "none")) {
		/* "none" means the same as "-all", and "-counts". */
		w->taken_away = !w->taken_away;
		text = "all";
		f->no_counts = w->taken_away;
	}
	f->n++;
	for (size_t i = 0; i < N_EVENTS; i++) {
		if (strcmp(text, events[i].word))
			continue;
		w->classes = events[i].classes;
		/*
		 * "-query-cache-hit" takes away only cache hits, not queries. "-all" takes away
		 * hits too.
		 */
		if (w->taken_away && w->classes & HITS)
			w->classes = HITS;
		else if (w->taken_away && w->classes == EVERYTHING)
			w->classes |= HITS;
		if (w->classes)
			return 0;
		f->n--;
		if (!w->taken_away)
			miss(f, i);
		return 0;
	}
	w->glob = text;
	return 0;
}

static bool only_takes_away(const struct filter *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (!f->words[i].taken_away)
			return false;
	return !f->n_missing;
}

int filter__new(const char *const *lists, size_t n, struct filter **out)
{
	_filter_ struct filter *f = calloc(1, sizeof(*f));
	size_t n_words = 1;
	char *rest, *word;

	if (!f)
		return -ENOMEM;
	f->text = join(lists, n);
	f->globs = f->text ? strdup(f->text) : NULL;
	for (const char *at = f->text; at && *at; at++)
		n_words += *at == ',';
	f->words = f->globs ? calloc(n_words + 1, sizeof(*f->words)) : NULL;
	if (!f->words)
		return -ENOMEM;
	rest = n ? f->globs : NULL;
	while ((word = strsep(&rest, ",")))
		if (add_word(f, word))
			return -EINVAL;
	if (only_takes_away(f)) {
		memmove(f->words + 1, f->words, f->n * sizeof(*f->words));
		f->words[0] = (struct word){.classes = DEFAULT};
		f->n++;
	}
	*out = take_ptr(f);
	return 0;
}

const char *filter__text(const struct filter *f)
{
	if (!f)
		return "all";
	return *f->text ? f->text : "default";
}

static bool is_tiny(const char *label)
{
	for (size_t i = 0; label && tiny_labels[i]; i++)
		if (!fnmatch(tiny_labels[i], label, 0))
			return true;
	return false;
}

static bool is_default(enum filter_class class, const char *label)
{
	return class != FILTER_DYNAMIC && class != FILTER_HASHING && class != FILTER_HIT &&
	       class != FILTER_QUERY && !is_tiny(label);
}

static bool fits(const struct word *w, enum filter_class class, const char *label)
{
	if (!w->classes)
		return label && !fnmatch(w->glob, label, 0);
	return w->classes & BIT(class) || (w->classes & DEFAULT && is_default(class, label));
}

bool filter__passes(const struct filter *f, enum filter_class class, const char *label)
{
	if (!f)
		return class != FILTER_HIT;
	for (size_t i = f->n; i-- > 0;)
		if (fits(&f->words[i], class, label))
			return !f->words[i].taken_away;
	return false;
}

/* With "all,-default", the intervals that the default leaves out by their label remain. */
static bool tiny_passes(const struct filter *f)
{
	for (size_t i = 0; tiny_labels[i]; i++)
		if (filter__passes(f, FILTER_ACTIVITY, tiny_labels[i]))
			return true;
	return false;
}

bool filter__may_pass(const struct filter *f, enum filter_class class)
{
	if (!f)
		return class != FILTER_HIT;
	if (class == FILTER_ACTIVITY && tiny_passes(f))
		return true;
	for (size_t i = f->n; i-- > 0;) {
		const struct word *w = &f->words[i];

		/* A glob takes away only some of the intervals. */
		if (!w->classes && !w->taken_away)
			return true;
		if (fits(w, class, NULL))
			return !w->taken_away;
	}
	return false;
}

/* Queries have names of small letters. */
static bool may_be_query(const char *glob)
{
	return !is_tiny(glob) && !strpbrk(glob, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

bool filter__passes_all_queries(const struct filter *f)
{
	for (size_t i = f ? f->n : 0; i-- > 0;) {
		const struct word *w = &f->words[i];

		if (fits(w, FILTER_QUERY, NULL))
			return !w->taken_away;
		if (!w->classes && w->taken_away && may_be_query(w->glob))
			return false;
	}
	return !f;
}

bool filter__may_probe_queries(const struct filter *f)
{
	return filter__may_pass(f, FILTER_QUERY) || filter__may_pass(f, FILTER_HASHING);
}

bool filter__passes_dynamic(const struct filter *f, const struct wire_label_key *label)
{
	char text[sizeof(label->text) + 1] = {0};

	memcpy(text, label->text, sizeof(label->text));
	return filter__passes(f, label->timer ? FILTER_TIMER : FILTER_DYNAMIC, text);
}

const char *filter__missing(const struct filter *f, size_t i, const char **why)
{
	if (i >= f->n_missing)
		return NULL;
	*why = f->why[i];
	return f->missing[i];
}

bool filter__wants_hits(const struct filter *f)
{
	return filter__passes(f, FILTER_HIT, NULL);
}

bool filter__wants_off_cpu(const struct filter *f)
{
	return !f->no_off_cpu;
}

bool filter__wants_counts(const struct filter *f)
{
	return !f || !f->no_counts;
}

bool filter__wants_readings(const struct filter *f)
{
	return !f || !f->no_readings;
}

bool filter__is_empty(const struct filter *f)
{
	return f && f->no_counts && !filter__selects_any(f);
}

bool filter__selects_any(const struct filter *f)
{
	for (int class = 0; class < FILTER_CLASSES; class ++)
		if (class != FILTER_HIT && filter__may_pass(f, class))
			return true;
	return filter__wants_hits(f);
}

void filter__free(struct filter *f)
{
	if (!f)
		return;
	free(f->text);
	free(f->globs);
	free(f->words);
	free(f);
}
