// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "../fixtures/history_builds.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "history/commit.h"
#include "options/exit_code.h"
#include <json-c/json.h>
#include <sqlite3.h>
#include "../fixtures/directory.h"
#include "../fixtures/page.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_history.h"
#include "history/store.h"

/* The commits that a user names. */

#define GIT "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main "

static char store_path[64], was_in[256];

/* A repository of three commits, and a history of the first two. */
static int make_place(void **state)
{
	_store_ struct store *s = NULL;
	char command[1024], commit[COMMIT_MAX];

	if (directory_make(state) || !getcwd(was_in, sizeof(was_in)))
		return -1;
	strcpy(store_path, directory_path("history.db"));
	setenv("HOME", directory, 1);
	unsetenv("XDG_STATE_HOME");
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	snprintf(command, sizeof(command),
		 "mkdir %s/r && cd %s/r && " GIT "init -q . && for n in 1 2 3; do " GIT
		 "commit -q --allow-empty -m $n; done",
		 directory, directory);
	if (system(command) || chdir(directory_path("r")))
		return -1;
	s = history_builds_store("history.db");
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(commit__resolve(i ? "main~1" : "main~2", ".", commit), 0);
		history_builds_add(
			s, i,
			&(struct history_change){.commit = commit, .results = 2000 + 500 * i});
	}
	return 0;
}

static int leave_place(void **state)
{
	_free_ char *command = NULL;

	if (asprintf(&command, "rm -rf %s/r %s/.local", directory, directory) < 0 ||
	    system(command))
		return -1;
	return chdir(was_in) || directory_remove(state);
}

static int diff(const char *base, const char *new, struct output *out)
{
	const struct cli_history_diff_options o = {
		.store = store_path,
		.commits = {.texts = (const char *[]){base, new}, .n = 2},
		.metric = CLI_HISTORY_RESULTS,
		.wide = true,
	};

	return CAPTURED(out, cmd_history_diff(&o));
}

TEST_CASE(revisions_are_resolved_by_git)
{
	_output_ struct output out = {};

	assert_says(&out, diff("HEAD~2", "main^", &out), EXIT_CODE_OK, "2,000 -> 2,500");
}

TEST_CASE(what_has_no_build_is_named_in_one_line)
{
	_output_ struct output none = {}, unknown = {}, elsewhere = {};

	assert_int_equal(diff("HEAD~2", "HEAD", &none), EXIT_CODE_FAILURE);
	assert_one_line(none.text[1]);
	assert_contains(none.text[1], "no whole build of commit");
	assert_int_equal(diff("HEAD~7", "HEAD~1", &unknown), EXIT_CODE_FAILURE);
	assert_one_line(unknown.text[1]);
	assert_contains(unknown.text[1],
			"no build of commit HEAD~7, and git knows no such revision");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(diff("HEAD~2", "HEAD~1", &elsewhere), EXIT_CODE_FAILURE);
	assert_one_line(elsewhere.text[1]);
	assert_contains(elsewhere.text[1], "in no git repository");
}

/* ---- Cmd history page ------------------------------------------------------------------------ */

/* The data of the page; tests/e2e/test_trends_page.py opens it in a browser. */

#define BUILDS	40
#define CHANGED 25 /* the first build that takes 10 % more */

static char store_path[64], page_path[64];

static void add_builds(const char *path, unsigned int n, const char *state)
{
	_store_ struct store *s = NULL;

	assert_int_equal(store__open(path, STORE_WRITE, &s), 0);
	for (unsigned int i = 0; i < n; i++) {
		_history_rows_ struct history_rows r;
		char commit[41];

		sample_history(&r, i);
		snprintf(commit, sizeof(commit), "%040x", i + 1);
		r.build.commit = history_rows__text(&r, commit);
		r.build.branch = history_rows__text(&r, "</script><b>");
		r.build.state = history_rows__text(&r, state);
		r.build.cpu_ns = (i < CHANGED ? 4000000000 : 4400000000) + i * 7 % 23 * 1000000;
		assert_int_equal(store__add(s, &r), 0);
	}
}

static int make_store(void **state)
{
	if (directory_make(state))
		return -1;
	strcpy(store_path, directory_path("history.db"));
	strcpy(page_path, directory_path("page.html"));
	add_builds(store_path, BUILDS, "whole");
	return 0;
}

static int run(const struct cli_history_page_options *o, struct output *out)
{
	return CAPTURED(out, cmd_history_page(o));
}

static struct json_object *the_trend(struct json_object *document, const char *crate,
				     const char *query, const char *metric)
{
	struct json_object *trends = member(document, "trends");

	for (size_t i = 0; i < json_object_array_length(trends); i++) {
		struct json_object *t = json_object_array_get_idx(trends, i);
		const char *c = json_object_get_string(member(t, "crate"));
		const char *q = json_object_get_string(member(t, "query"));

		if (!strcmp(c ?: "", crate ?: "") && !strcmp(q ?: "", query ?: "") &&
		    !strcmp(json_object_get_string(member(t, "metric")), metric))
			return t;
	}
	fail_msg("no trend of %s %s %s", crate ?: "-", query ?: "-", metric);
	return NULL;
}

TEST_GROUP(make_store, directory_remove)

TEST_CASE(a_page_has_the_trends_and_their_changes)
{
	const struct cli_history_page_options o = {.store = store_path, .output = page_path};
	_output_ struct output out = {};
	_free_ char *page = NULL, *text = NULL;
	struct json_object *document, *trend, *change, *point;
	size_t size;

	assert_says(&out, run(&o, &out), EXIT_CODE_OK, "2> trends of 40 builds with 1 change to ");
	page = output_read(page_path);
	text = (char *)page_block(page, "trends", &size);
	document = parsed_json(text);
	assert_string_equal(json_object_get_string(member(document, "schema")), "qprof-trends/1");
	assert_string_equal(json_object_get_string(member(document, "store")), "history.db");
	assert_int_equal(json_object_array_length(member(document, "builds")), BUILDS);
	trend = the_trend(document, NULL, NULL, "cpu");
	assert_int_equal(json_object_array_length(member(trend, "points")), BUILDS);
	point = json_object_array_get_idx(member(trend, "points"), 0);
	assert_int_equal(json_object_get_int64(json_object_array_get_idx(point, 0)), 0);
	assert_int_equal(json_object_array_length(member(trend, "changes")), 1);
	change = json_object_array_get_idx(member(trend, "changes"), 0);
	assert_int_equal(json_object_get_int(member(change, "point")), CHANGED);
	the_trend(document, "syn (build script)", NULL, "cpu");
	the_trend(document, NULL, "typeck", "count");
	json_object_put(document);
}

/* Names are in the block only, so the browser never parses one as HTML. */
TEST_CASE(names_are_no_part_of_the_page)
{
	_free_ char *page = output_read(page_path);

	assert_int_equal(occurrences(page, "</script>"), 2);
	assert_int_equal(occurrences(page, "<b>"), 0);
	assert_contains(page, "\"default-src 'none'; script-src 'sha256-");
	assert_int_equal(occurrences(page, "http"), 2); /* http-equiv, and a name space of SVG */
}

TEST_CASE(an_existing_file_stays)
{
	struct cli_history_page_options o = {.store = store_path, .output = page_path};
	_output_ struct output refused = {}, forced = {};

	assert_says(&refused, run(&o, &refused), EXIT_CODE_FAILURE, "2>exists already");
	assert_one_line(refused.text[1]);
	o.force = true;
	assert_int_equal(run(&o, &forced), EXIT_CODE_OK);
}

TEST_CASE(without_builds_there_is_no_page)
{
	char path[64];
	struct cli_history_page_options o = {.store = path, .output = directory_path("none.html")};
	_output_ struct output missing = {}, damaged = {};

	snprintf(path, sizeof(path), "%s/other.db", directory);
	assert_int_equal(run(&o, &missing), EXIT_CODE_FAILURE);
	assert_one_line(missing.text[1]);
	add_builds(path, 2, "damaged");
	o.output = directory_path("none.html");
	assert_says(&damaged, run(&o, &damaged), EXIT_CODE_FAILURE,
		    "2>no such builds that are whole");
	assert_int_equal(access(directory_path("none.html"), F_OK), -1);
}

TEST_CASE(a_damaged_store_leaves_no_page)
{
	_free_ char *path = strdup(directory_path("harmed.db"));
	const struct cli_history_page_options o = {.store = path,
						   .output = directory_path("none.html")};
	_output_ struct output out = {};
	_fclose_ FILE *file = NULL;
	sqlite3_stmt *root;
	sqlite3 *db;
	long at;

	add_builds(path, 2, "whole");
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "SELECT rootpage, page_size FROM sqlite_schema, "
					    "pragma_page_size WHERE name = 'parts'",
					    -1, &root, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(root), SQLITE_ROW);
	at = (sqlite3_column_int64(root, 0) - 1) * sqlite3_column_int64(root, 1);
	sqlite3_finalize(root);
	sqlite3_close(db);
	file = fopen(path, "r+e");
	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fputs("no page of a table", file) < 0, false);
	fflush(file);
	assert_int_equal(run(&o, &out), EXIT_CODE_FAILURE);
	assert_one_line(out.text[1]);
	assert_contains(out.text[1], "it is damaged");
	assert_int_equal(access(o.output, F_OK), -1);
}

TEST_MAIN(make_place, leave_place)
