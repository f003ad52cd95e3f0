// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/commit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "history/git.h"

#define HEX	   "0123456789abcdef"
#define SECOND_NS  UINT64_C(1000000000)
#define HASH_LEAST 7
#define BRANCHES   "refs/heads/"
#define ORIGIN	   "origin/"

void commit__init(struct commit *c)
{
	*c = (struct commit){.dirty = -1};
}

static bool is_hash(const char *text)
{
	size_t len = strlen(text);

	return len >= HASH_LEAST && len < COMMIT_MAX && strspn(text, HEX) == len;
}

/*
 * When HEAD last moved, in seconds since the epoch: from "HEAD@{1790000000}". False: git keeps no
 * record of that.
 */
static bool head_moved_at(struct git *g, uint64_t *seconds)
{
	static const char *const args[] = {"log",
					   "--walk-reflogs",
					   "--max-count=1",
					   "--date=unix",
					   "--format=%gd",
					   "HEAD",
					   "--",
					   NULL};
	char line[128], *at;

	if (git__ask(g, args, line, sizeof(line)))
		return false;
	at = strstr(line, "@{");
	*seconds = at ? strtoull(at + 2, NULL, 10) : 0;
	return *seconds;
}

/*
 * Without the filter that .gitattributes names, git compares a file that was touched with what the
 * filter made of it: then a change is none that counts.
 */
static int has_changes(struct git *g)
{
	static const char *const status[] = {"status", "--porcelain", "--untracked-files=no",
					     "--ignore-submodules=all", NULL};
	static const char *const filtered[] = {"ls-files", "--", ":/",
					       ":(top,exclude,attr:!filter)", NULL};
	char line[16], name[16];

	if (git__ask(g, status, line, sizeof(line)))
		return -1;
	if (!*line)
		return 0;
	return git__ask(g, filtered, name, sizeof(name)) || *name ? -1 : 1;
}

void commit__ask_git(struct commit *c, const char *directory, uint64_t start_ns, bool is_fresh)
{
	static const char *const hash[] = {"rev-parse", "--verify", "HEAD^{commit}", NULL};
	static const char *const branch[] = {"symbolic-ref", "--quiet", "--short", "HEAD", NULL};
	_git_ struct git g = GIT_NONE;
	char text[COMMIT_MAX];
	uint64_t seconds;

	if (git__open(&g, directory) || git__ask(&g, hash, text, sizeof(text)) || !is_hash(text))
		return;
	if (!head_moved_at(&g, &seconds)) {
		c->no_reflog = true;
		return;
	}
	/* A move within the second of the start may be of before. */
	if (seconds > start_ns / SECOND_NS) {
		c->moved = true;
		return;
	}
	strcpy(c->commit, text);
	if (git__ask(&g, branch, c->branch, sizeof(c->branch)))
		c->branch[0] = 0;
	if (is_fresh)
		c->dirty = has_changes(&g);
}

int commit__resolve(const char *revision, const char *directory, char commit[COMMIT_MAX])
{
	_free_ char *peeled = NULL;
	_git_ struct git g = GIT_NONE;
	char text[COMMIT_MAX];
	int err;

	/* git would take it for an option. */
	if (*revision == '-' || !*revision)
		return -EINVAL;
	if (asprintf(&peeled, "%s^{commit}", revision) < 0) {
		peeled = NULL;
		return -ENOMEM;
	}
	err = git__open(&g, directory);
	if (!err) {
		const char *const args[] = {"rev-parse", "--verify", "--quiet", peeled, NULL};

		err = git__ask(&g, args, text, sizeof(text));
		if (err == -ENOENT || (!err && !is_hash(text)))
			err = -EINVAL;
	}
	if (!err)
		strcpy(commit, text);
	return err;
}

/* The variables of one service. Of two branches, the first is that of a merge request. */
static const struct service {
	const char *commit;
	const char *branches[2];
} services[] = {
	{"GITHUB_SHA", {"GITHUB_HEAD_REF", "GITHUB_REF_NAME"}},
	{"CI_COMMIT_SHA", {"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"}},
	{"BUILDKITE_COMMIT", {"BUILDKITE_BRANCH"}},
	{"CIRCLE_SHA1", {"CIRCLE_BRANCH"}},
	{"TRAVIS_COMMIT", {"TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"}},
	{"BUILD_SOURCEVERSION", {"BUILD_SOURCEBRANCH"}},
	{"APPVEYOR_REPO_COMMIT", {"APPVEYOR_REPO_BRANCH"}},
	{"BITBUCKET_COMMIT", {"BITBUCKET_BRANCH"}},
	{"CIRRUS_CHANGE_IN_REPO", {"CIRRUS_BRANCH"}},
	{"DRONE_COMMIT_SHA", {"DRONE_SOURCE_BRANCH", "DRONE_COMMIT_BRANCH"}},
	{"GIT_COMMIT", {"GIT_BRANCH"}}, /* Jenkins */
};

static const char *branch_of(const struct service *s, char *(*get)(const char *name))
{
	for (size_t i = 0; i < N_OF(s->branches); i++) {
		const char *branch = s->branches[i] ? get(s->branches[i]) : NULL;

		if (!branch || !*branch)
			continue;
		if (!strncmp(branch, BRANCHES, strlen(BRANCHES)))
			branch += strlen(BRANCHES);
		if (!strncmp(branch, ORIGIN, strlen(ORIGIN)))
			branch += strlen(ORIGIN);
		return branch;
	}
	return NULL;
}

void commit__add_ci(struct commit *c, char *(*get)(const char *name))
{
	for (size_t i = 0; i < N_OF(services); i++) {
		const char *commit = get(services[i].commit), *branch;
		size_t n, known = strlen(c->commit);

		if (!commit || !is_hash(commit))
			continue;
		/* Either may be abbreviated. */
		n = strlen(commit);
		if (strncmp(c->commit, commit, n < known ? n : known))
			return;
		branch = branch_of(&services[i], get);
		if (!*c->commit)
			strcpy(c->commit, commit);
		if (!*c->branch && branch && strlen(branch) < BRANCH_MAX)
			strcpy(c->branch, branch);
		return;
	}
}
