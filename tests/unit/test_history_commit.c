// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/commit.h"
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "test.h"
#include "history/git.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"

/* A time after everything that a test does. */
#define LATER (UINT64_C(4000000000) * 1000000000)

static char top[32], repository[64], marker[64], script[64];

/* In the directory of the repository. */
__attribute__((format(printf, 1, 2))) static void run(const char *fmt, ...)
{
	char command[1024];
	va_list args;
	int n = snprintf(command, sizeof(command), "cd %s && ", repository);

	va_start(args, fmt);
	vsnprintf(command + n, sizeof(command) - n, fmt, args);
	va_end(args);
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
	unsetenv("XDG_STATE_HOME");
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	snprintf(repository, sizeof(repository), "%s/r", top);
	snprintf(marker, sizeof(marker), "%s/ran", top);
	if (mkdir(repository, 0755))
		return -1;
	run(GIT "init -q . && echo 1 >a && " GIT "add a && " GIT "commit -qm 1");
	return 0;
}

static int remove_repository(void **state)
{
	run("rm -rf %s", top);
	return 0;
}
#define REPOSITORY_CASE(name) TEST_CASE_WITH(name, make_repository, remove_repository)

static struct commit ask(const char *directory, uint64_t start_ns)
{
	struct commit c;

	commit__init(&c);
	commit__ask_git(&c, directory, start_ns, true);
	return c;
}

REPOSITORY_CASE(git_says_commit_and_branch)
{
	struct commit c = ask(repository, LATER);

	assert_int_equal(strlen(c.commit), 40);
	assert_struct(c, branch, "main", dirty, 0, moved, false);
}

REPOSITORY_CASE(revisions_are_those_of_the_repository)
{
	static const char *const none[] = {"HEAD~1", "nonsense", "", "-h", "--all", "HEAD HEAD"};
	char commit[COMMIT_MAX], other[COMMIT_MAX] = "";

	assert_int_equal(commit__resolve("HEAD", repository, commit), 0);
	assert_string_equal(commit, ask(repository, LATER).commit);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(commit__resolve(none[i], repository, other), -EINVAL);
	assert_string_equal(other, "");
	run(GIT "commit -qm 2 --allow-empty && " GIT "tag -a -m t v1");
	assert_int_equal(commit__resolve("main~1", repository, other), 0);
	assert_string_equal(other, commit);
	assert_int_equal(commit__resolve("v1", repository, other), 0);
	assert_string_equal(other, ask(repository, LATER).commit);
	commit[9] = 0;
	assert_int_equal(commit__resolve(commit, repository, other), 0);
	assert_int_equal(commit__resolve("HEAD", top, other), -ENOENT);
}

/* Who can replace the directory in place of .git can name filters in it. */
REPOSITORY_CASE(what_others_can_replace_is_given_to_no_git)
{
	char commit[COMMIT_MAX];

	if (geteuid())
		skip();
	run("mkdir -p ../.local/state && chown 50001 ../.local/state");
	assert_int_equal(commit__resolve("HEAD", repository, commit), -EPERM);
	run("rmdir ../.local/state/qprof-bpf && chown 0 ../.local/state");
	assert_int_equal(commit__resolve("HEAD", repository, commit), 0);
}

REPOSITORY_CASE(changes_are_seen_in_tracked_files)
{
	struct commit c;

	run("echo 2 >new");
	assert_int_equal(ask(repository, LATER).dirty, 0);
	run("echo 2 >>a");
	assert_int_equal(ask(repository, LATER).dirty, 1);
	commit__init(&c);
	commit__ask_git(&c, repository, LATER, false);
	assert_int_equal(c.dirty, -1);
	assert_int_equal(strlen(c.commit), 40);
}

REPOSITORY_CASE(a_detached_head_has_no_branch)
{
	struct commit c;

	run(GIT "checkout -q --detach");
	c = ask(repository, LATER);
	assert_int_equal(strlen(c.commit), 40);
	assert_string_equal(c.branch, "");
}

REPOSITORY_CASE(a_worktree_has_its_own_branch)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/w", top);
	run(GIT "worktree add -q -b side ../w");
	assert_string_equal(ask(path, LATER).branch, "side");
	assert_string_equal(ask(repository, LATER).branch, "main");
}

REPOSITORY_CASE(a_head_that_moved_since_says_nothing)
{
	struct commit c = ask(repository, 1000000000);

	assert_struct(c, commit, "", moved, true, dirty, -1);
}

REPOSITORY_CASE(a_head_without_a_reflog_has_not_moved)
{
	struct commit c;

	run("rm -r .git/logs");
	c = ask(repository, LATER);
	assert_struct(c, commit, "", moved, false, no_reflog, true);
}

REPOSITORY_CASE(without_a_repository_nothing_is_known)
{
	struct commit none = ask(top, LATER), missing = ask("/nonexistent", LATER), empty;
	char path[80];

	assert_struct(none, commit, "", moved, false);
	assert_string_equal(missing.commit, "");
	snprintf(path, sizeof(path), "%s/e", top);
	run("mkdir ../e && cd ../e && " GIT "init -q .");
	empty = ask(path, LATER);
	assert_struct(empty, commit, "", moved, false);
}

REPOSITORY_CASE(a_repository_of_sha256_is_read)
{
	run("rm -rf .git && " GIT "init -q --object-format=sha256 . && " GIT "add a && " GIT
	    "commit -qm 1");
	assert_int_equal(strlen(ask(repository, LATER).commit), 64);
	assert_int_equal(ask(repository, LATER).dirty, 0);
}

REPOSITORY_CASE(modes_count_where_the_repository_says_so)
{
	run("chmod 755 a");
	assert_int_equal(ask(repository, LATER).dirty, 1);
	run("git config core.fileMode false");
	assert_int_equal(ask(repository, LATER).dirty, 0);
}

REPOSITORY_CASE(a_filtered_file_that_was_touched_has_no_known_change)
{
	run("echo '*.bin filter=x' >.gitattributes && echo raw >b.bin && "
	    "touch -d 2020-01-01 b.bin && " GIT "-c filter.x.clean='echo stored' add . && " GIT
	    "commit -qm 2");
	assert_int_equal(ask(repository, LATER).dirty, 0);
	run("touch -d 2100-01-01 b.bin");
	assert_int_equal(ask(repository, LATER).dirty, -1);
}

REPOSITORY_CASE(root_asks_where_nobody_else_may_write)
{
	char below[80];
	size_t hash = geteuid() ? 40 : 0;

	snprintf(below, sizeof(below), "%s/sub", repository);
	run("mkdir %s && chmod 777 %s", below, below);
	assert_int_equal(strlen(ask(below, LATER).commit), 40);
	run("chmod 777 .git");
	assert_int_equal(strlen(ask(repository, LATER).commit), hash);
	run("chmod 755 .git && chmod 777 ..");
	assert_int_equal(strlen(ask(repository, LATER).commit), hash);
	run("chmod 1777 ..");
	assert_int_equal(strlen(ask(repository, LATER).commit), 40);
}

REPOSITORY_CASE(a_fifo_is_not_waited_for)
{
	run("rm .git/HEAD && mkfifo .git/HEAD");
	assert_string_equal(ask(repository, LATER).commit, "");
	run("rm -r .git && mkfifo .git");
	assert_string_equal(ask(repository, LATER).commit, "");
}

REPOSITORY_CASE(nothing_is_left_behind)
{
	assert_int_equal(strlen(ask(repository, LATER).commit), 40);
	run("rmdir ../.local/state/qprof-bpf");
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

/* Programs that some command of git runs. */
static const char every_program[] =
	"[core]\nfsmonitor = %1$s\nsshCommand = %1$s\npager = %1$s\neditor = %1$s\n"
	"askPass = %1$s\ngitProxy = %1$s\nalternateRefsCommand = %1$s\nhooksPath = %2$s/hooks\n"
	"[filter \"x\"]\nclean = %1$s\nsmudge = %1$s\nprocess = %1$s\nrequired = true\n"
	"[diff]\nexternal = %1$s\n[diff \"x\"]\ncommand = %1$s\ntextconv = %1$s\n"
	"[merge \"x\"]\ndriver = %1$s\n[gpg]\nprogram = %1$s\n[gpg \"ssh\"]\nprogram = %1$s\n"
	"[log]\nshowSignature = true\n[credential]\nhelper = !%1$s\n"
	"[pager]\nstatus = %1$s\nlog = %1$s\nconfig = %1$s\n"
	"[alias]\nstatus = !%1$s\nlog = !%1$s\nrev-parse = !%1$s\nls-files = !%1$s\n"
	"[submodule]\nrecurse = true\n[status]\nsubmoduleSummary = true\n";

static void write_text(const char *below, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, below);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void write_programs(const char *below)
{
	char text[4096];

	snprintf(text, sizeof(text), every_program, script, top);
	write_text(below, text);
}

/* Files that git looks into, as they are newer than the index; and what they would pass through. */
static void touch_files(void)
{
	run("echo '* filter=x diff=x merge=x' >.gitattributes && " GIT
	    "-c core.fsmonitor=false -c core.hooksPath=/dev/null add .gitattributes && "
	    "touch -d 2100-01-01 a .gitattributes");
}

static void assert_nothing_ran(void)
{
	struct commit c = ask(repository, LATER);

	assert_int_equal(strlen(c.commit), 40);
	assert_string_equal(c.branch, "main");
	/* .gitattributes is new, and may differ by what the filter does to it. */
	assert_int_equal(c.dirty, -1);
	assert_int_not_equal(access(marker, F_OK), 0);
}

REPOSITORY_CASE(nothing_of_a_hostile_configuration_runs)
{
	write_script();
	touch_files();
	run("mkdir %s/hooks && cd %s/hooks && for h in post-index-change reference-transaction "
	    "pre-auto-gc fsmonitor-watchman post-checkout; do cp ../evil $h && "
	    "cp ../evil ../r/.git/hooks/$h; done",
	    top, top);
	write_programs("r/.git/config");
	assert_nothing_ran();
}

/* The condition is true by the scope that no question about a single scope reads. */
REPOSITORY_CASE(nothing_of_an_included_configuration_runs)
{
	write_script();
	touch_files();
	write_programs("evil.config");
	run("git config extensions.worktreeConfig true && "
	    "git config 'includeIf.hasconfig:remote.*.url:https://x/**.path' %s/evil.config && "
	    "git config --worktree remote.x.url https://x/y",
	    top);
	assert_nothing_ran();
}

/* A user's own filter, such as git-lfs, would read settings that another wrote. */
REPOSITORY_CASE(nothing_of_the_users_configuration_runs)
{
	write_script();
	touch_files();
	write_programs(".gitconfig");
	assert_nothing_ran();
}

REPOSITORY_CASE(nothing_of_a_submodule_runs)
{
	write_script();
	run(GIT "init -q s && cd s && echo 1 >b && " GIT "add b && " GIT
		"commit -qm 1 && cd .. && " GIT "add s 2>%s/said && " GIT
		"commit -qm 2 && echo 2 >s/b",
	    top);
	touch_files();
	write_programs("r/s/.git/config");
	assert_nothing_ran();
}

REPOSITORY_CASE(nothing_of_an_alternate_runs)
{
	write_script();
	run("cd .. && mv r of && git clone -q --shared of r");
	touch_files();
	write_programs("of/.git/config");
	assert_nothing_ran();
}

/* A program of this name, where a relative directory of PATH leads to. */
REPOSITORY_CASE(no_git_of_the_repository_runs)
{
	_free_ char *before = strdup(getenv("PATH"));
	_free_ char *path = NULL;

	write_script();
	touch_files();
	run("cp %s git", script);
	assert_true(asprintf(&path, ".:%s", before) > 0);
	setenv("PATH", path, 1);
	assert_int_equal(chdir(repository), 0);
	assert_nothing_ran();
	assert_int_equal(chdir("/"), 0);
	setenv("PATH", before, 1);
}

/* A commit that says it is signed, so that git would have its signature checked. */
static void sign(void)
{
	run("git cat-file commit HEAD | "
	    "sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n iQ==\\n "
	    "-----END PGP SIGNATURE-----' >%s/commit",
	    top);
	run("git reset -q --soft $(git hash-object -t commit -w %s/commit)", top);
}

REPOSITORY_CASE(no_program_checks_a_signature)
{
	struct commit c;

	write_script();
	sign();
	run("git config gpg.program %s && git config log.showSignature true", script);
	c = ask(repository, LATER);
	assert_int_equal(strlen(c.commit), 40);
	assert_struct(c, branch, "main", dirty, 0);
	assert_int_not_equal(access(marker, F_OK), 0);
}

/* git would fetch a missing object from a remote that promised it. */
REPOSITORY_CASE(no_remote_is_asked_for_objects)
{
	write_script();
	run("git config core.repositoryformatversion 1 && "
	    "git config extensions.partialClone evil && git config remote.evil.promisor "
	    "true && git config protocol.ext.allow always && git config remote.evil.url 'ext::%s'",
	    script);
	run("rm -f .git/objects/$(git rev-parse HEAD^{tree} | sed 's,^..,&/,')");
	ask(repository, LATER);
	assert_int_not_equal(access(marker, F_OK), 0);
	run("rm -f .git/objects/$(git rev-parse HEAD | sed 's,^..,&/,')");
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

TEST_CASE(a_ci_says_commit_and_branch)
{
	static const char *const push[] = {
		"GITHUB_SHA", HASH, "GITHUB_HEAD_REF", "", "GITHUB_REF_NAME", "v2", NULL};
	static const char *const request[] = {
		"GITHUB_SHA", HASH, "GITHUB_HEAD_REF", "fix", "GITHUB_REF_NAME", "1/merge", NULL};
	static const char *const azure[] = {"BUILD_SOURCEVERSION", HASH, "BUILD_SOURCEBRANCH",
					    "refs/heads/a/b", NULL};
	static const char *const jenkins[] = {"GIT_COMMIT", HASH, "GIT_BRANCH", "origin/main",
					      NULL};

	assert_struct(of_ci(push), commit, HASH, branch, "v2");
	assert_string_equal(of_ci(request).branch, "fix");
	assert_string_equal(of_ci(azure).branch, "a/b");
	assert_string_equal(of_ci(jenkins).branch, "main");
	assert_int_equal(of_ci(push).dirty, -1);
}

TEST_CASE(what_is_no_hash_is_no_commit)
{
	static const char *const none[] = {"PATH", "/bin", NULL};
	static const char *const head[] = {"BUILDKITE_COMMIT", "HEAD", "BUILDKITE_BRANCH", "main",
					   NULL};

	assert_string_equal(of_ci(none).commit, "");
	assert_struct(of_ci(head), commit, "", branch, "");
}

TEST_CASE(git_counts_for_more_than_the_ci)
{
	static const char *const push[] = {"CI_COMMIT_SHA", HASH, "CI_COMMIT_REF_NAME", "v2", NULL};
	struct commit c = {.commit = HASH, .branch = "own"}, short_one = {.commit = "8f5c1f0"},
		      other = {.commit = "1234567"};

	variables = push;
	commit__add_ci(&c, get);
	assert_string_equal(c.branch, "own");
	commit__add_ci(&short_one, get);
	assert_struct(short_one, commit, "8f5c1f0", branch, "v2");
	/* The branch is of the CI's commit. */
	commit__add_ci(&other, get);
	assert_struct(other, commit, "1234567", branch, "");
}

/* ---- Git ------------------------------------------------------------------------------------- */

/* With programs in git's place. */

static char *path_before;

static int make_place(void **state)
{
	char path[512];

	if (directory_make(state))
		return -1;
	path_before = strdup(getenv("PATH"));
	snprintf(path, sizeof(path), "%s:%s", directory, path_before);
	return setenv("PATH", path, 1);
}

static int remove_place(void **state)
{
	setenv("PATH", path_before, 1);
	free(path_before);
	return directory_remove(state);
}

static void let_git_be(const char *script)
{
	output_write(directory_path("git"), script);
	assert_int_equal(chmod(directory_path("git"), 0700), 0);
}

static int git_ask(int left_ms, char *line, size_t size)
{
	static const char *const args[] = {"rev-parse", "HEAD", NULL};
	struct git g = {.directory = directory, .work_tree = "/w", .fd = -1, .left_ms = left_ms};

	return git__ask(&g, args, line, size);
}

TEST_CASE_WITH(the_first_line_is_the_answer, make_place, remove_place)
{
	char line[32];

	let_git_be("#!/bin/sh\necho one\necho two\n");
	assert_int_equal(git_ask(GIT_MS, line, sizeof(line)), 0);
	assert_string_equal(line, "one");
	assert_int_equal(git_ask(GIT_MS, line, 3), 0);
	assert_string_equal(line, "on");
	let_git_be("#!/bin/sh\nexit 0\n");
	assert_int_equal(git_ask(GIT_MS, line, sizeof(line)), 0);
	assert_string_equal(line, "");
}

TEST_CASE_WITH(an_error_is_no_answer, make_place, remove_place)
{
	char line[32];

	let_git_be("#!/bin/sh\nexit 128\n");
	assert_int_equal(git_ask(GIT_MS, line, sizeof(line)), -ENOENT);
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(git_ask(GIT_MS, line, sizeof(line)), -ENOENT);
}

/* The process ends with the question: else this test would not. */
TEST_CASE_WITH(git_may_not_take_longer, make_place, remove_place)
{
	char line[32];

	let_git_be("#!/bin/sh\nsleep 100000\n");
	assert_int_equal(git_ask(0, line, sizeof(line)), -ETIMEDOUT);
	let_git_be("#!/bin/sh\necho yes\nsleep 100000\n");
	assert_int_equal(git_ask(GIT_MS, line, sizeof(line)), 0);
	assert_string_equal(line, "yes");
}

TEST_CASE_WITH(it_sees_no_environment_but_ours, make_place, remove_place)
{
	char line[512];

	setenv("GIT_DIR", "/nonexistent", 1);
	setenv("GIT_CONFIG_COUNT", "1", 1);
	let_git_be("#!/bin/sh\necho \"$PWD [$GIT_DIR] [$GIT_WORK_TREE] [$HOME] "
		   "[$GIT_CONFIG_COUNT] [${GIT_ALLOW_PROTOCOL-any}] $*\"\n");
	assert_int_equal(git_ask(GIT_MS, line, sizeof(line)), 0);
	unsetenv("GIT_DIR");
	unsetenv("GIT_CONFIG_COUNT");
	assert_contains(line, "/ [");
	assert_contains(line, directory);
	assert_contains(line, "] [/w] [");
	assert_contains(line, "] [] [] --no-pager rev-parse HEAD");
}

TEST_MAIN(NULL, NULL)
