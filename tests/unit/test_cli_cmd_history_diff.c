// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The commits that a user names. */
#include "../fixtures/history_builds.h"
#include "../fixtures/output.h"
#include "cli/cmd.h"
#include "history/commit.h"
#include "options/exit_code.h"

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

	assert_int_equal(diff("HEAD~2", "main^", &out), EXIT_CODE_OK);
	assert_contains(out.text[0], "2,000 -> 2,500");
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

TEST_MAIN(make_place, leave_place)
