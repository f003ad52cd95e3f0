// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sides.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"

/* More builds than are compared are looked at, as some may not be comparable. */
#define LOOKED_AT 10

void sides__clear(struct sides *s)
{
	for (int i = 0; i < COMPARE_N_SIDES; i++)
		history_builds__clear(&s->builds[i]);
	free(s->all);
	*s = (struct sides){};
}

static bool is_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Keep the builds for which `is_kept` says so; their number. */
typedef bool (*keep_fn)(const struct history_build *b, const struct history_build *as);

static size_t keep(struct history_builds *builds, keep_fn is_kept, const struct history_build *as)
{
	const struct history_build like = *as;
	size_t kept = 0;

	for (size_t i = 0; i < builds->n; i++)
		if (is_kept(&builds->at[i], &like))
			builds->at[kept++] = builds->at[i];
	builds->n = kept;
	return kept;
}

static bool any(const struct history_builds *builds, keep_fn is_kept,
		const struct history_build *as)
{
	for (size_t i = 0; i < builds->n; i++)
		if (is_kept(&builds->at[i], as))
			return true;
	return false;
}

static bool is_clean(const struct history_build *b, const struct history_build *as)
{
	(void)as;
	return !b->reused || b->reused == HISTORY_UNKNOWN;
}

static bool is_committed(const struct history_build *b, const struct history_build *as)
{
	(void)as;
	return b->dirty != 1;
}

static bool has_profile(const struct history_build *b, const struct history_build *as)
{
	return is_text(b->profile, as->profile);
}

static bool has_workspace(const struct history_build *b, const struct history_build *as)
{
	return is_text(b->workspace, as->workspace);
}

static bool has_host(const struct history_build *b, const struct history_build *as)
{
	return is_text(b->host, as->host);
}

static bool has_commit(const struct history_build *b, const struct history_build *as)
{
	return is_text(b->commit, as->commit);
}

static bool has_toolchain(const struct history_build *b, const struct history_build *as)
{
	return is_text(b->toolchain, as->toolchain);
}

/* Whether no more of its compiles failed: a compile that fails does less. */
static bool has_no_more_failed(const struct history_build *b, const struct history_build *as)
{
	return b->failed == HISTORY_UNKNOWN || b->failed <= as->failed;
}

static bool is_sound(const struct history_build *b, const struct history_build *as)
{
	return (!b->lost || b->lost == HISTORY_UNKNOWN) && has_no_more_failed(b, as);
}

/* Times of samples are no times of recorded executions. */
static bool is_recorded_alike(const struct history_build *b, const struct history_build *as)
{
	return is_text(b->how, as->how);
}

/* Failed compiles of most builds are usual, as those of build scripts that try the compiler. */
static uint64_t usual_failed(const struct history_builds *builds)
{
	_free_ uint64_t *failed = calloc(builds->n + 1, sizeof(*failed));
	size_t n = 0;

	for (size_t i = 0; failed && i < builds->n; i++)
		if (builds->at[i].failed != HISTORY_UNKNOWN)
			failed[n++] = builds->at[i].failed;
	if (!n)
		return 0;
	qsort(failed, n, sizeof(*failed), array__by_u64);
	return failed[n / 2];
}

static bool has_other_commit(const struct history_build *b, const struct history_build *as)
{
	return strcmp(b->build, as->build) &&
	       (as->dirty == 1 || !as->commit || !is_text(b->commit, as->commit));
}

static void keep_newest(struct history_builds *builds, size_t most)
{
	size_t more = builds->n > most ? builds->n - most : 0;

	builds->n -= more;
	memmove(builds->at, builds->at + more, builds->n * sizeof(*builds->at));
}

/* A build that failed took less, whatever its commit made slower. */
static int check_failed(const struct sides *s)
{
	const struct history_builds *new = &s->builds[COMPARE_NEW];
	const struct history_build like = {.failed = usual_failed(&s->builds[COMPARE_BASE])};

	for (size_t i = 0; i < new->n; i++)
		if (!has_no_more_failed(&new->at[i], &like))
			return diag_error_r(-ENODATA,
					    "the build %s has no verdict: %llu of its compiles "
					    "failed",
					    new->at[i].build,
					    (unsigned long long)new->at[i].failed);
	return 0;
}

/* Leave out what is not comparable on both sides; `most` builds of base. */
static int match(struct sides *s, size_t most)
{
	struct history_builds *base = &s->builds[COMPARE_BASE], *new = &s->builds[COMPARE_NEW];
	struct history_build like = new->at[new->n - 1];
	size_t all = base->n + new->n, n = 0;

	for (int i = 0; i < COMPARE_N_SIDES; i++) {
		keep(&s->builds[i], has_workspace, &like);
		keep(&s->builds[i], has_profile, &like);
		if (any(&s->builds[i], is_clean, &like))
			keep(&s->builds[i], is_clean, &like);
	}
	if (!base->n)
		return diag_error_r(-ENOENT,
				    "none of the builds to compare with is of the workspace '%s' "
				    "and has the profile '%s', as the build %s",
				    like.workspace ?: "unknown", like.profile ?: "unknown",
				    like.build);
	/* Leave out builds whose numbers are incomplete, if the side has others. */
	like = (struct history_build){.failed = usual_failed(base)};
	for (int i = 0; i < COMPARE_N_SIDES; i++)
		if (any(&s->builds[i], is_sound, &like))
			keep(&s->builds[i], is_sound, &like);
	like = new->at[new->n - 1];
	if (any(base, is_recorded_alike, &like))
		keep(base, is_recorded_alike, &like);
	if (any(base, has_host, &like)) {
		keep(base, has_host, &like);
		keep(new, has_host, &like);
	}
	s->left_out = all - base->n - new->n;
	keep_newest(base, most < SIDES_MOST ? most : SIDES_MOST);
	keep_newest(new, SIDES_MOST);
	s->all = calloc(base->n + new->n, sizeof(*s->all));
	if (!s->all)
		return diag_error_r(-ENOMEM, "out of memory");
	for (int i = 0; i < COMPARE_N_SIDES; i++) {
		s->n[i] = s->builds[i].n;
		for (size_t k = 0; k < s->n[i]; k++)
			s->all[n++] = &s->builds[i].at[k];
	}
	return 0;
}

/* The whole builds of one commit, of which `commit` is the beginning. */
static int ask_commit(struct store *s, const char *commit, const struct history_filter *of,
		      struct history_builds *out)
{
	const struct history_build like = {.commit = commit};
	const struct history_filter f = {
		.commit = commit,
		.toolchain = of->toolchain,
		.workspace = of->workspace,
		.state = "whole",
	};
	int err = history_builds__ask(s, &f, out);

	if (err)
		return err;
	/* One that was kept as it was abbreviated. */
	if (any(out, has_commit, &like))
		keep(out, has_commit, &like);
	for (size_t i = 1; i < out->n; i++)
		if (!is_text(out->at[i].commit, out->at[0].commit))
			return diag_error_r(-EINVAL,
					    "%s is the beginning of several commits, such as %s "
					    "and %s: give more of it",
					    commit, out->at[0].commit, out->at[i].commit);
	if (!out->n)
		return diag_error_r(-ENOENT,
				    "%s has no whole build of commit %s; qprof-bpf history list "
				    "shows those that it has",
				    store__name(s), commit);
	if (!keep(out, is_committed, &like))
		return diag_error_r(-ENOENT,
				    "all builds of commit %s have changes that are in no commit",
				    commit);
	return 0;
}

int sides__of_commits(struct store *s, const char *base, const char *new,
		      const struct history_filter *f, struct sides *out)
{
	*out = (struct sides){};
	return ask_commit(s, base, f, &out->builds[COMPARE_BASE])
		       ?: ask_commit(s, new, f, &out->builds[COMPARE_NEW])
		       ?: match(out, SIDES_MOST);
}

/* The newest build and further builds of its commit, or those of the commit that was given. */
static int ask_new(struct store *s, const struct sides_against *a, struct history_builds *out)
{
	const struct history_filter newest = {.workspace = a->workspace, .last = 1};
	struct history_filter f = {.workspace = a->workspace};
	_history_builds_ struct history_builds builds = {};
	const struct history_build *b;
	int err;

	if (a->commit)
		return ask_commit(s, a->commit, &f, out);
	err = history_builds__ask(s, &newest, &builds);
	if (err)
		return err;
	if (!builds.n)
		return diag_error_r(-ENOENT, "%s has no build", store__name(s));
	/* Whatever its state: an older one is not what is to be judged. */
	b = &builds.at[0];
	if (!is_text(b->state, "whole"))
		return diag_error_r(-ENODATA,
				    "the newest build, %s, is %s: it is not judged; give --commit "
				    "to judge another one",
				    b->build, b->state ?: "of an unknown state");
	f.workspace = b->workspace ?: "";
	if (b->commit && b->dirty != 1)
		return ask_commit(s, b->commit, &f, out);
	*out = builds;
	builds = (struct history_builds){};
	return 0;
}

int sides__against(struct store *s, const struct sides_against *a, struct sides *out)
{
	struct history_builds *base = &out->builds[COMPARE_BASE], *new = &out->builds[COMPARE_NEW];
	struct history_filter f = {
		.branch = a->branch,
		.toolchain = a->toolchain,
		.state = "whole",
		.last = a->last > SIDES_MOST * LOOKED_AT ? a->last : a->last * LOOKED_AT,
	};
	const struct history_build *like;
	int err;

	*out = (struct sides){};
	err = ask_new(s, a, new);
	if (err)
		return err;
	like = &new->at[new->n - 1];
	f.before_ns = like->start_ns;
	f.workspace = like->workspace ?: "";
	err = history_builds__ask(s, &f, base);
	if (err)
		return err;
	keep(base, has_other_commit, like);
	if (!a->toolchain) {
		keep(base, has_toolchain, like);
		keep(new, has_toolchain, like);
	}
	if (!base->n)
		return diag_error_r(-ENOENT,
				    "%s has no other whole build of branch %s and workspace %s "
				    "by %s to compare with",
				    store__name(s), a->branch,
				    like->workspace ?: "unknown",
				    a->toolchain ?: like->toolchain ?: "an unknown toolchain");
	return match(out, a->last) ?: check_failed(out);
}
