// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/commit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

/* A time after everything that a test does. */
#define LATER (UINT64_C(4000000000) * 1000000000)

static char top[32], repository[64], marker[64], script[64];

static void run(const char *fmt, const char *a, const char *b)
{
	char command[1024];

	snprintf(command, sizeof(command), fmt, a, b);
	assert_int_equal(system(command), 0);
}

/* git, as a user without a configuration. */
#define GIT "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main "

static int make_repository(void **state)
{
	strcpy(top, "/tmp/qprof-test.XXXXXX");
	if (!mkdtemp(top))
		return -1;
	setenv("HOME", top, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	snprintf(repository, sizeof(repository), "%s/r", top);
	snprintf(marker, sizeof(marker), "%s/ran", top);
	run("mkdir %s && cd %s && " GIT "init -q . && echo 1 >a && " GIT "add a && " GIT
	    "commit -qm 1",
	    repository, repository);
	return 0;
}

static int remove_repository(void **state)
{
	run("rm -rf %s%s", top, "");
	return 0;
}

static struct commit ask(const char *directory, uint64_t start_ns)
{
	struct commit c;

	commit__init(&c);
	commit__ask_git(&c, directory, start_ns, true);
	return c;
}

static void git_says_commit_and_branch(void **state)
{
	struct commit c = ask(repository, LATER);

	assert_int_equal(strlen(c.commit), 40);
	assert_string_equal(c.branch, "main");
	assert_int_equal(c.dirty, 0);
	assert_false(c.moved);
}

static void changes_are_seen_in_tracked_files(void **state)
{
	struct commit c;

	run("echo 2 >%s/new%s", repository, "");
	assert_int_equal(ask(repository, LATER).dirty, 0);
	run("echo 2 >>%s/a%s", repository, "");
	assert_int_equal(ask(repository, LATER).dirty, 1);
	commit__init(&c);
	commit__ask_git(&c, repository, LATER, false);
	assert_int_equal(c.dirty, -1);
	assert_int_equal(strlen(c.commit), 40);
}

static void a_detached_head_has_no_branch(void **state)
{
	struct commit c;

	run("cd %s && " GIT "checkout -q --detach%s", repository, "");
	c = ask(repository, LATER);
	assert_int_equal(strlen(c.commit), 40);
	assert_string_equal(c.branch, "");
}

static void a_worktree_has_its_own_branch(void **state)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/w", top);
	run("cd %s && " GIT "worktree add -q -b side %s", repository, path);
	assert_string_equal(ask(path, LATER).branch, "side");
	assert_string_equal(ask(repository, LATER).branch, "main");
}

static void a_head_that_moved_since_says_nothing(void **state)
{
	struct commit c = ask(repository, 1000000000);

	assert_string_equal(c.commit, "");
	assert_true(c.moved);
	assert_int_equal(c.dirty, -1);
}

static void a_head_without_a_reflog_has_not_moved(void **state)
{
	struct commit c;

	run("rm -r %s/.git/logs%s", repository, "");
	c = ask(repository, LATER);
	assert_string_equal(c.commit, "");
	assert_false(c.moved);
	assert_true(c.no_reflog);
}

static void without_a_repository_nothing_is_known(void **state)
{
	struct commit none = ask(top, LATER), missing = ask("/nonexistent", LATER), empty;
	char path[80];

	assert_string_equal(none.commit, "");
	assert_false(none.moved);
	assert_string_equal(missing.commit, "");
	snprintf(path, sizeof(path), "%s/e", top);
	run("mkdir %s && cd %s && " GIT "init -q .", path, path);
	empty = ask(path, LATER);
	assert_string_equal(empty.commit, "");
	assert_false(empty.moved);
}

static void write_script(void)
{
	FILE *f;

	snprintf(script, sizeof(script), "%s/evil", top);
	f = fopen(script, "w");
	fprintf(f, "#!/bin/sh\necho ran >%s\n", marker);
	fclose(f);
	chmod(script, 0700);
}

static void nothing_of_a_hostile_configuration_runs(void **state)
{
	write_script();
	run("cd %s && git config core.fsmonitor %s", repository, script);
	run("cd %s && git config core.sshCommand %s", repository, script);
	run("cd %s && git config core.pager %s", repository, script);
	run("cp %s %s/.git/hooks/post-index-change", script, repository);
	run("cp %s %s/.git/hooks/reference-transaction", script, repository);
	run("echo 2 >%s/a%s", repository, "");
	assert_int_equal(strlen(ask(repository, LATER).commit), 40);
	assert_int_equal(ask(repository, LATER).dirty, 1);
	/* A filter, which files would pass through: then git is not asked for changes. */
	run("cd %s && git config filter.x.clean %s", repository, script);
	run("echo '* filter=x' >%s/.git/info/attributes%s", repository, "");
	assert_int_equal(strlen(ask(repository, LATER).commit), 40);
	assert_int_equal(ask(repository, LATER).dirty, -1);
	assert_int_not_equal(access(marker, F_OK), 0);
}

/* A commit that says it is signed, so that git would have its signature checked. */
static void sign(void)
{
	run("cd %s && git cat-file commit HEAD | "
	    "sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n iQ==\\n "
	    "-----END PGP SIGNATURE-----' >%s/commit",
	    repository, top);
	run("cd %s && git reset -q --soft $(git hash-object -t commit -w %s/commit)", repository,
	    top);
}

static void no_program_checks_a_signature(void **state)
{
	struct commit c;

	write_script();
	sign();
	run("cd %s && git config gpg.program %s", repository, script);
	run("cd %s && git config log.showSignature true%s", repository, "");
	c = ask(repository, LATER);
	assert_int_equal(strlen(c.commit), 40);
	assert_string_equal(c.branch, "main");
	assert_int_equal(c.dirty, 0);
	assert_int_not_equal(access(marker, F_OK), 0);
}

/* git would fetch a missing object from a remote that promised it. */
static void no_remote_is_asked_for_objects(void **state)
{
	write_script();
	run("cd %s && git config core.repositoryformatversion 1 && "
	    "git config extensions.partialClone evil && git config remote.evil.promisor "
	    "true && git config protocol.ext.allow always && "
	    "git config remote.evil.url 'ext::%s'",
	    repository, script);
	run("cd %s && rm -f .git/objects/$(git rev-parse HEAD^{tree} | sed 's,^..,&/,')%s",
	    repository, "");
	ask(repository, LATER);
	assert_int_not_equal(access(marker, F_OK), 0);
	run("cd %s && rm -f .git/objects/$(git rev-parse HEAD | sed 's,^..,&/,')%s", repository,
	    "");
	assert_string_equal(ask(repository, LATER).commit, "");
	assert_int_not_equal(access(marker, F_OK), 0);
}

static const char *const *variables; /* names and values */

static char *get(const char *name)
{
	for (size_t i = 0; variables[i]; i += 2)
		if (!strcmp(variables[i], name))
			return (char *)variables[i + 1];
	return NULL;
}

static struct commit of_ci(const char *const *all)
{
	struct commit c;

	variables = all;
	commit__init(&c);
	commit__add_ci(&c, get);
	return c;
}

#define HASH "8f5c1f0f4c1d9c1a0b5b2a7e3d1c4b6a79880011"

static void a_ci_says_commit_and_branch(void **state)
{
	static const char *const push[] = {
		"GITHUB_SHA", HASH, "GITHUB_HEAD_REF", "", "GITHUB_REF_NAME", "v2", NULL};
	static const char *const request[] = {
		"GITHUB_SHA", HASH, "GITHUB_HEAD_REF", "fix", "GITHUB_REF_NAME", "1/merge", NULL};
	static const char *const azure[] = {"BUILD_SOURCEVERSION", HASH, "BUILD_SOURCEBRANCH",
					    "refs/heads/a/b", NULL};
	static const char *const jenkins[] = {"GIT_COMMIT", HASH, "GIT_BRANCH", "origin/main",
					      NULL};

	assert_string_equal(of_ci(push).commit, HASH);
	assert_string_equal(of_ci(push).branch, "v2");
	assert_string_equal(of_ci(request).branch, "fix");
	assert_string_equal(of_ci(azure).branch, "a/b");
	assert_string_equal(of_ci(jenkins).branch, "main");
	assert_int_equal(of_ci(push).dirty, -1);
}

static void what_is_no_hash_is_no_commit(void **state)
{
	static const char *const none[] = {"PATH", "/bin", NULL};
	static const char *const head[] = {"BUILDKITE_COMMIT", "HEAD", "BUILDKITE_BRANCH", "main",
					   NULL};

	assert_string_equal(of_ci(none).commit, "");
	assert_string_equal(of_ci(head).commit, "");
	assert_string_equal(of_ci(head).branch, "");
}

static void git_counts_for_more_than_the_ci(void **state)
{
	static const char *const push[] = {"CI_COMMIT_SHA", HASH, "CI_COMMIT_REF_NAME", "v2", NULL};
	struct commit c = {.commit = HASH, .branch = "own"}, short_one = {.commit = "8f5c1f0"},
		      other = {.commit = "1234567"};

	variables = push;
	commit__add_ci(&c, get);
	assert_string_equal(c.branch, "own");
	commit__add_ci(&short_one, get);
	assert_string_equal(short_one.commit, "8f5c1f0");
	assert_string_equal(short_one.branch, "v2");
	/* The branch is of the CI's commit. */
	commit__add_ci(&other, get);
	assert_string_equal(other.commit, "1234567");
	assert_string_equal(other.branch, "");
}

#define WITH_REPOSITORY(test) \
	cmocka_unit_test_setup_teardown(test, make_repository, remove_repository)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_REPOSITORY(git_says_commit_and_branch),
		WITH_REPOSITORY(changes_are_seen_in_tracked_files),
		WITH_REPOSITORY(a_detached_head_has_no_branch),
		WITH_REPOSITORY(a_worktree_has_its_own_branch),
		WITH_REPOSITORY(a_head_that_moved_since_says_nothing),
		WITH_REPOSITORY(a_head_without_a_reflog_has_not_moved),
		WITH_REPOSITORY(without_a_repository_nothing_is_known),
		WITH_REPOSITORY(nothing_of_a_hostile_configuration_runs),
		WITH_REPOSITORY(no_program_checks_a_signature),
		WITH_REPOSITORY(no_remote_is_asked_for_objects),
		cmocka_unit_test(a_ci_says_commit_and_branch),
		cmocka_unit_test(what_is_no_hash_is_no_commit),
		cmocka_unit_test(git_counts_for_more_than_the_ci),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
