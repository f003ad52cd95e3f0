// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/cargo_traces.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/own_path.h"
#include "options/cargo_qprof.h"

#define HASH_TEXT    9 /* "-1b2c3d4e" */
#define COMMAND_MOST 40
#define NAME_MOST    80
/* Lines of a Cargo.toml that are looked at. */
#define LINES_MOST 10000

/* The time of a name, and what follows it. */
static const char form[] = "-00000000T000000.000Z.qpt";

/* FNV-1a: names must be the same in each process, and nobody gains by two that are equal. */
static uint32_t hash(uint32_t of, const char *text)
{
	for (; *text; text++)
		of = (of ^ (uint8_t)*text) * 16777619u;
	return of * 16777619u; /* its end */
}

#define HASH_BEGIN 2166136261u

/* ---- The workspace --------------------------------------------------------------------------- */

/* [workspace], or a table in it. */
static bool is_workspace_table(const char *line)
{
	line += strspn(line, " \t");
	if (*line != '[')
		return false;
	line += 1 + strspn(line + 1, " \t");
	if (strncmp(line, "workspace", strlen("workspace")))
		return false;
	line += strlen("workspace");
	line += strspn(line, " \t");
	return *line == ']' || *line == '.';
}

bool cargo_manifest_is_workspace(FILE *manifest)
{
	char line[256];

	/* A line that is longer is read in parts, of which a later one is no table's in TOML. */
	for (int i = 0; i < LINES_MOST && fgets(line, sizeof(line), manifest); i++)
		if (is_workspace_table(line))
			return true;
	return false;
}

/* Whether `directory`, "" for the root, has a manifest; *is_workspace: one of a workspace. */
static bool has_manifest(const char *directory, bool *is_workspace)
{
	_fclose_ FILE *manifest = NULL;
	_free_ char *path = NULL;

	if (asprintf(&path, "%s/Cargo.toml", directory) < 0) {
		path = NULL;
		return false;
	}
	manifest = regular_file__stream(AT_FDCWD, path, 0);
	*is_workspace = manifest && cargo_manifest_is_workspace(manifest);
	return manifest;
}

int cargo_workspace__find(const char *from, char **top)
{
	_free_ char *at = realpath(from, NULL), *found = NULL;
	bool is_workspace = false;

	if (!at)
		return -errno;
	while (!is_workspace) {
		char *slash = strrchr(at, '/');

		if (has_manifest(at, &is_workspace) && (is_workspace || !found)) {
			free(found);
			found = strdup(*at ? at : "/");
			if (!found)
				return -ENOMEM;
		}
		if (!slash)
			break;
		*slash = '\0';
	}
	if (!found)
		return -ENOENT;
	*top = take_ptr(found);
	return 0;
}

char *cargo_traces_directory(const char *top)
{
	const char *name = strrchr(top, '/');
	char rest[sizeof("qprof-bpf/") + NAME_MOST + HASH_TEXT];

	name = name && name[1] ? name + 1 : "root";
	snprintf(rest, sizeof(rest), "qprof-bpf/%.*s-%08" PRIx32, NAME_MOST, name,
		 hash(HASH_BEGIN, top));
	return xdg__path(XDG_STATE, rest);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *whole_name(const char *command)
{
	static const char *const names[] = {"build", "check", "doc", "run", "test"};

	for (size_t i = 0; i < N_OF(names); i++)
		if (command[0] == names[i][0] && !command[1])
			return names[i];
	return command;
}

char *cargo_traces_name(char *const words[], const struct timespec *at)
{
	char command[COMMAND_MOST + 1] = "cargo", utc[32], *name;
	uint32_t hashed = HASH_BEGIN;
	struct tm tm;

	/* Options of the recording, and the toolchain, stand before the command. */
	for (; *words && (**words == '-' || **words == '+'); words++)
		if (strcmp(*words, CARGO_QPROF_SUDO))
			hashed = hash(hashed, *words);
	if (*words) {
		snprintf(command, sizeof(command), "%s", whole_name(*words));
		hashed = hash(hashed, whole_name(*words++));
	}
	while (*words)
		hashed = hash(hashed, *words++);
	for (char *c = command; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	strftime(utc, sizeof(utc), "%Y%m%dT%H%M%S", gmtime_r(&at->tv_sec, &tm));
	if (asprintf(&name, "%s-%08" PRIx32 "-%s.%03dZ.qpt", command, hashed, utc,
		     (int)(at->tv_nsec / 1000000)) < 0)
		return NULL;
	return name;
}

size_t cargo_traces_command(const char *name)
{
	size_t length = strlen(name), i = 0;

	if (length <= strlen(form) + HASH_TEXT)
		return 0;
	length -= strlen(form);
	for (const char *c = name + length; *c; c++, i++)
		if (form[i] == '0' ? !isdigit((unsigned char)*c) : *c != form[i])
			return 0;
	for (i = length - HASH_TEXT + 1; i < length; i++)
		if (!isxdigit((unsigned char)name[i]))
			return 0;
	return name[length - HASH_TEXT] == '-' ? length : 0;
}

char *cargo_traces_page(const char *trace)
{
	char *page;

	return asprintf(&page, "%.*s.html", (int)(strlen(trace) - strlen(".qpt")), trace) < 0
		       ? NULL
		       : page;
}

/* ---- The list -------------------------------------------------------------------------------- */

static int newest_first(const void *a, const void *b)
{
	const struct cargo_trace *one = a, *other = b;

	return strcmp(other->name + other->length, one->name + one->length)
		       ?: strcmp(one->name, other->name);
}

static int add(struct cargo_traces *t, const char *name)
{
	struct cargo_trace one = {.length = cargo_traces_command(name)};
	struct stat st;

	if (!one.length || fstatat(t->fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	one.name = strdup(name);
	if (!one.name || array__add(&t->at, &t->n, &t->capacity, &one)) {
		free(one.name);
		return -ENOMEM;
	}
	return 0;
}

int cargo_traces__list(struct cargo_traces *t, const char *directory)
{
	_closedir_ DIR *dir = opendir(directory);
	struct dirent *entry;
	struct stat st;
	int err = 0;

	*t = CARGO_TRACES_NONE;
	if (!dir || fstat(dirfd(dir), &st))
		return -errno;
	if (own_path_is_theirs(&st))
		return -EPERM;
	t->fd = fcntl(dirfd(dir), F_DUPFD_CLOEXEC, 0);
	if (t->fd < 0)
		return -errno;
	while (!err && (entry = readdir(dir)))
		err = add(t, entry->d_name);
	if (t->n)
		qsort(t->at, t->n, sizeof(*t->at), newest_first);
	return err;
}

static bool is_same_command(const struct cargo_trace *a, const struct cargo_trace *b)
{
	return a->length == b->length && !strncmp(a->name, b->name, a->length);
}

const struct cargo_trace *cargo_traces__before(const struct cargo_traces *t, uint32_t i)
{
	for (uint32_t j = i + 1; j < t->n; j++)
		if (is_same_command(&t->at[i], &t->at[j]))
			return &t->at[j];
	return NULL;
}

void cargo_traces__trim(const struct cargo_traces *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		_free_ char *page = cargo_traces_page(t->at[i].name);
		uint32_t newer = 0;

		for (uint32_t j = 0; j < i; j++)
			newer += is_same_command(&t->at[i], &t->at[j]);
		if (newer < CARGO_TRACES_KEPT && i < CARGO_TRACES_MOST)
			continue;
		unlinkat(t->fd, t->at[i].name, 0);
		if (page)
			unlinkat(t->fd, page, 0);
	}
}

void cargo_traces__clear(struct cargo_traces *t)
{
	cleanup_close_p(&t->fd);
	for (uint32_t i = 0; i < t->n; i++)
		free(t->at[i].name);
	free(t->at);
	*t = CARGO_TRACES_NONE;
}
