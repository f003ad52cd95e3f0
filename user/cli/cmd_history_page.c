// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/format.h"
#include "base/output_file.h"
#include "export/trends_page.h"
#include "history/subjects.h"
#include "options/exit_code.h"

#define BUILDS_SHOWN 1000 /* the newest, if the user does not say how many */

/* A page that is made. */
struct page {
	struct store *store;
	struct history_filter filter;
	struct trend_builds builds; /* that all trends are of */
	struct trends_page *out;
	size_t trends;
	size_t changes;
};

static void page__clear(struct page *p)
{
	trends_page__free(p->out);
	trend_builds__clear(&p->builds);
	store__close(p->store);
}

static int add_trend(struct page *p, const struct history_series *of, enum trend_metric metric)
{
	const struct trend_question question = {.of = *of, .metric = metric, .filter = p->filter};
	_trend_ struct trend t = {};
	int err = trend__of(p->store, &question, &p->builds, &t);

	/* Not all builds have counts. */
	if (err || !t.reasons[TREND_COUNTED])
		return err;
	p->trends++;
	p->changes += t.n_changes;
	err = trends_page__add(p->out, &t);
	return err ? diag_error_r(err, "cannot make the page: %s", strerror(-err)) : 0;
}

/* What is worth trends, and of which metrics these are. */
static const struct worth {
	enum history_subject subject;
	unsigned int most;
	size_t field; /* of struct history_series */
	unsigned int metrics;
} worth[] = {
	{HISTORY_CRATES, 30, offsetof(struct history_series, crate),
	 1u << TREND_CPU | 1u << TREND_COUNT | 1u << TREND_RESULTS},
	{HISTORY_QUERIES, 30, offsetof(struct history_series, query),
	 1u << TREND_CPU | 1u << TREND_COUNT},
	{HISTORY_PASSES, 10, offsetof(struct history_series, llvm), 1u << TREND_CPU},
	{HISTORY_FUNCTIONS_IN_LLVM, 30, offsetof(struct history_series, llvm), 1u << TREND_CPU},
};

static int add_subjects(struct page *p, const struct worth *w)
{
	const struct history_build *newest = &p->builds.list.at[p->builds.list.n - 1];
	_history_subjects_ struct history_subjects subjects = {};
	int err = history_subjects__ask(p->store, newest, w->subject, w->most, &subjects);

	for (size_t i = 0; i < subjects.n && !err; i++) {
		struct history_series of = {};

		*(const char **)((char *)&of + w->field) = subjects.names[i];
		for (unsigned int metric = 0; metric < TREND_METRICS && !err; metric++)
			if (w->metrics >> metric & 1)
				err = add_trend(p, &of, metric);
	}
	return err;
}

static int ask_builds(struct page *p, const struct cli_history_page_options *o)
{
	int err = store__open(o->store, STORE_READ, &p->store);

	p->filter = (struct history_filter){
		.branch = o->builds.branch,
		.toolchain = o->builds.toolchain,
		.workspace = o->builds.workspace,
		.last = o->builds.last ?: BUILDS_SHOWN,
	};
	err = err ?: trend_builds__ask(p->store, &p->filter, &p->builds);
	if (err)
		return err;
	/* Each trend of the page would have the same note of the workspace. */
	p->builds.elsewhere = false;
	if (!p->builds.list.n)
		return diag_error_r(-ENOENT,
				    "%s has no such builds that are whole; see qprof-bpf history "
				    "list",
				    store__name(p->store));
	return 0;
}

static int make_page(struct page *p, struct out *out)
{
	const struct history_series build = {};
	const char *name = store__name(p->store), *slash = strrchr(name, '/');
	int err;

	/* A page may be shown to others: without the directories of a file. */
	if (store__kind(p->store) == STORE_SQLITE && slash)
		name = slash + 1;
	err = trends_page__new(out, &p->builds.list, &p->filter, name, &p->out);
	if (err)
		return diag_error_r(err, "cannot make the page: %s", strerror(-err));
	for (unsigned int metric = 0; metric < TREND_METRICS && !err; metric++)
		err = add_trend(p, &build, metric);
	for (size_t i = 0; i < N_OF(worth) && !err; i++)
		err = add_subjects(p, &worth[i]);
	if (err)
		return err;
	err = trends_page__finish(p->out) ?: out__flush(out);
	return err ? diag_error_r(err, "cannot make the page: %s", strerror(-err)) : 0;
}

/* 0 or a negative errno. */
static int copy(int from, int to, size_t size)
{
	off_t at = 0;

	while ((size_t)at < size) {
		ssize_t n = sendfile(to, from, &at, size - (size_t)at);

		if (n <= 0 && errno != EINTR)
			return n ? -errno : -EIO;
	}
	return 0;
}

static int write_file(const struct cli_history_page_options *o, int page, size_t size)
{
	_output_file_ struct output_file file = {};
	_close_ int fd = -1;
	int err = output_file__choose(&file, o->output, o->force);

	if (err)
		return err;
	fd = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	file.created = true;
	err = copy(page, fd, size);
	if (!err && close(take_fd(fd)))
		err = -errno;
	err = err ?: output_file__commit(&file);
	if (err)
		output_file__discard(&file);
	return err;
}

/* The page is made in memory: a store that fails leaves no file. */
int cmd_history_page(const struct cli_history_page_options *o)
{
	_close_ int page = memfd_create("page", MFD_CLOEXEC);
	_out_ struct out *out = NULL;
	/* Cleared first: its streams end in `out`. */
	__cleanup(page__clear) struct page p = {};
	bool is_stdout = !strcmp(o->output, "-");
	char bytes[FORMAT_MAX];
	size_t size;
	int err;

	if (page < 0 || out__new(page, &out)) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	if (ask_builds(&p, o) || make_page(&p, out))
		return EXIT_CODE_FAILURE;
	size = out__size(out);
	err = is_stdout ? copy(page, STDOUT_FILENO, size) : write_file(o, page, size);
	if (err) {
		cmd_no_output(o->output, err);
		return EXIT_CODE_FAILURE;
	}
	diag_info("wrote %zu trends of %zu build%s with %zu change%s to %s (%s)", p.trends,
		  p.builds.list.n, p.builds.list.n == 1 ? "" : "s", p.changes,
		  p.changes == 1 ? "" : "s", is_stdout ? "standard output" : o->output,
		  format_bytes(bytes, size));
	diag_info("open %s in a browser; nothing was sent anywhere, but it holds commits and names "
		  "of what was compiled",
		  is_stdout ? "it" : o->output);
	return EXIT_CODE_OK;
}
