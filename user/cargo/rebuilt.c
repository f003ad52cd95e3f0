// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cargo/rebuilt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/invoker.h"
#include "base/map.h"
#include "base/own_path.h"
#include "cargo/fingerprint.h"
#include "cargo/target_dir.h"
#include "cargo/units.h"

/* Of a list of sources that rustc writes, the first one is read. */
#define SOURCES_SIZE 8192
#define COMPARED_NS  UINT64_C(1000000000)
#define HASH_DIGITS  16

struct rebuilt {
	int workspace, target; /* directories: no path is resolved twice */
	struct units before, after;
	struct u64_map compiled;  /* fingerprints of the units in `after` */
	struct u64_map passed_on; /* crates with their reasons */
	uint64_t until_ns;	  /* when nothing is compared any more */
};

/* What is found of one unit. */
struct finding {
	enum trace_rebuilt_reason reason;
	char detail[FINGERPRINT_DETAIL_MAX];
};

/* ---- Before ---------------------------------------------------------------------------------- */

/* Others could lay one where the invoker's cargo finds it, as in /tmp, and make up what is in it.
 */
static int open_own_directory(const char *path)
{
	_own_path_refusal_ struct own_path_refusal why = {0};
	_free_ char *real = NULL;
	_close_ int fd = -1;
	struct stat st;
	int err = own_path__resolve(path, false, &real, &why);

	if (err)
		return err;
	fd = open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	return own_path_is_theirs(&st) ? -EPERM : take_fd(fd);
}

static int remember(struct rebuilt *r, char *const argv[], char *const env[])
{
	_free_ char *workspace = NULL, *target = NULL;
	int err = target_dir__find(argv, env, &workspace, &target);

	if (err)
		return err;
	r->workspace = open_own_directory(workspace);
	r->target = open_own_directory(target);
	if (r->workspace < 0 || r->target < 0)
		return r->target < 0 ? r->target : r->workspace;
	return units__read(&r->before, r->target, NULL);
}

int rebuilt__remember(char *const argv[], char *const env[], struct rebuilt **out)
{
	_rebuilt_ struct rebuilt *r = calloc(1, sizeof(*r));
	_invoker_ struct invoker inv = {};
	_environ_ char **its = NULL;
	int err;

	if (!r)
		return -ENOMEM;
	r->workspace = r->target = -1;
	err = invoker__get(&inv) ?: invoker__environ(&inv, env, &its);
	err = err ?: invoker__take_file_rights(&inv);
	if (!err) {
		err = remember(r, argv, its);
		invoker__return_file_rights(&inv);
	}
	*out = err || !r->before.n ? NULL : take_ptr(r);
	return err == -ENOMEM ? err : 0;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Of a unit's file: "test-lib-serde" is the tests within serde's library. */
static const struct kind {
	const char *prefix;
	const char *outputs; /* the directory of a profile in which its outputs are; NULL: none */
	const char *what;    /* as in analyze/compile_name.h */
} kinds[] = {
	{"run-build-script-", NULL, " (build script run)"},
	{"build-script-", "build", " (build script)"},
	{"test-integration-test-", "deps", " (test)"},
	{"test-bench-", "deps", " (test)"},
	{"test-example-", "examples", " (test)"},
	{"test-bin-", "deps", " (test)"},
	{"test-lib-", "deps", " (test)"},
	{"doc-lib-", NULL, " (doc)"},
	{"doc-bin-", NULL, " (bin doc)"},
	{"lib-", "deps", ""},
	{"bin-", "deps", " (bin)"},
	{"example-", "examples", " (bin)"},
};

/* The kind of a unit, and in *crate its name as that of a crate. NULL: cargo has a new one. */
static const struct kind *kind_of(const struct unit *u, char crate[NAME_MAX + 1])
{
	const char *file = u->name + u->file;

	for (size_t i = 0; i < N_OF(kinds); i++) {
		size_t len = strlen(kinds[i].prefix);

		if (strncmp(file, kinds[i].prefix, len) != 0)
			continue;
		snprintf(crate, NAME_MAX + 1, "%s", file + len);
		for (char *at = crate; *at; at++)
			*at = *at == '-' ? '_' : *at;
		return &kinds[i];
	}
	return NULL;
}

/* The length of "serde" and of "debug" in the name of a unit, which is that of a directory. */
static int package_len(const struct unit *u)
{
	return (int)(u->hash - u->package - 1);
}

static int profile_len(const struct unit *u)
{
	return (int)(u->package - strlen("/.fingerprint/"));
}

/* The path of an output of rustc in the target directory: "debug/deps/lib" "serde-<hash>" ".rlib".
 */
static bool output_of(const struct unit *u, const char *before, const char *after,
		      char path[PATH_MAX])
{
	char crate[NAME_MAX + 1];
	const struct kind *kind = kind_of(u, crate);
	/* Only build scripts have a directory each. */
	bool own = kind && kind->outputs && !strcmp(kind->outputs, "build");

	return kind && kind->outputs &&
	       snprintf(path, PATH_MAX, "%.*s/%s/%.*s%s%s-%.*s%s", profile_len(u), u->name,
			kind->outputs, own ? (int)(u->file - u->package) : 0, u->name + u->package,
			before, crate, HASH_DIGITS, u->name + u->hash, after) < PATH_MAX;
}

/* Not access(2), which does not ask with the rights of this thread. */
static bool is_there(int dir, const char *path)
{
	struct stat st;

	return !fstatat(dir, path, &st, 0);
}

static bool is_too_late(const struct rebuilt *r)
{
	return clock_ns(CLOCK_MONOTONIC) > r->until_ns;
}

/* ---- Files of a package ---------------------------------------------------------------------- */

/* The first source in a list of rustc: "<output>: <source> ...", where a space in a name is "\ ".
 */
static bool first_source(int target, const char *list, char path[PATH_MAX])
{
	_close_ int fd = regular_file__open(target, list, O_NOFOLLOW);
	char text[SOURCES_SIZE + 1], *at;
	ssize_t size = fd < 0 ? fd : read(fd, text, SOURCES_SIZE);
	size_t n = 0;

	if (size <= 0)
		return false;
	text[size] = '\0';
	at = strstr(text, ": ");
	if (!at)
		return false;
	for (at += 2; *at && *at != ' ' && *at != '\n'; at++) {
		at += at[0] == '\\' && at[1] == ' ';
		if (n + 1 == PATH_MAX)
			return false;
		path[n++] = *at;
	}
	path[n] = '\0';
	/* A name that does not end here is not known. */
	return n && *at;
}

/* The build script of a unit that ran it. */
static const struct unit *script_of(const struct rebuilt *r, const struct unit *run)
{
	for (uint32_t i = 0; i < r->before.n; i++) {
		const struct unit *u = &r->before.at[i];

		if (package_len(u) == package_len(run) &&
		    !strncmp(u->name + u->package, run->name + run->package,
			     (size_t)package_len(run)) &&
		    !strncmp(u->name + u->file, "build-script-", strlen("build-script-")))
			return u;
	}
	return NULL;
}

/* The first source of a unit, or of its build script, relative to the workspace or absolute. */
static bool source_of(const struct rebuilt *r, const struct unit *u, char path[PATH_MAX])
{
	char list[PATH_MAX];

	u = u->inputs ? u : script_of(r, u);
	return u && output_of(u, "", ".d", list) && first_source(r->target, list, path);
}

/*
 * The directory of a unit's package, relative to the workspace or absolute: that of the nearest
 * Cargo.toml above its first source, or its build script's. It ends with a slash, unless it is "",
 * the workspace itself.
 */
static bool package_directory(const struct rebuilt *r, const struct unit *u, char path[PATH_MAX])
{
	char manifest[PATH_MAX + 16], *slash;
	bool absolute;

	if (!source_of(r, u, path))
		return false;
	absolute = *path == '/';
	while ((slash = strrchr(path, '/'))) {
		slash[1] = '\0';
		snprintf(manifest, sizeof(manifest), "%sCargo.toml", path);
		if (is_there(r->workspace, manifest))
			return true;
		*slash = '\0';
	}
	*path = '\0';
	return !absolute && is_there(r->workspace, "Cargo.toml");
}

enum file_state { FILE_OLD, FILE_NEWER, FILE_GONE, FILE_IS_DIRECTORY };

/* Whether a file was changed after the last build of a unit, and before this one began. */
static enum file_state look_at(const struct rebuilt *r, const char *package, struct word name,
			       const struct unit *before, const struct unit *after)
{
	uint64_t changed_ns;
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s%.*s", *name.at == '/' ? "" : package, (int)name.len,
		     name.at) >= (int)sizeof(path))
		return FILE_OLD;
	/* Files that never change: cargo does not look at them either. */
	if (strstr(path, "/registry/src/") || strstr(path, "/git/checkouts/"))
		return FILE_OLD;
	if (fstatat(r->workspace, path, &st, 0))
		return errno == ENOENT ? FILE_GONE : FILE_OLD;
	changed_ns = st.st_mtim.tv_sec > 0 ? clock_of_timespec(&st.st_mtim) : 0;
	if (changed_ns > before->as_of_ns &&
	    (changed_ns <= after->as_of_ns || changed_ns <= after->begun_ns))
		return FILE_NEWER;
	return S_ISDIR(st.st_mode) ? FILE_IS_DIRECTORY : FILE_OLD;
}

static bool found(struct finding *f, enum trace_rebuilt_reason reason, struct word name)
{
	f->reason = reason;
	snprintf(f->detail, sizeof(f->detail), "%.*s", (int)name.len, name.at ?: "");
	return true;
}

/* Of a build script that was run: a file that it watches was changed, or is not there. */
static bool watched_file_changed(const struct rebuilt *r, const struct unit *before,
				 const struct unit *after, struct finding *f)
{
	char package[PATH_MAX];
	struct word path, directory = {0};
	size_t at = 0;

	if (!package_directory(r, before, package))
		return false;
	while (!is_too_late(r) && (path = fingerprint__watched(&before->print, &at)).at) {
		enum file_state is = path.len ? look_at(r, package, path, before, after) : FILE_OLD;

		if (is == FILE_NEWER || is == FILE_GONE)
			return found(f,
				     is == FILE_GONE ? TRACE_REBUILT_MISSING : TRACE_REBUILT_FILE,
				     path);
		if (is == FILE_IS_DIRECTORY)
			directory = path;
	}
	/* Cargo looks at all that is below; what is left to be the reason is there. */
	return directory.at && found(f, TRACE_REBUILT_FILE, directory);
}

/* A variable has another value in the later list. */
static bool variable_changed(const struct rebuilt *r, const struct unit *before,
			     const struct unit *after, struct finding *f)
{
	struct dep_info_entry old, now;
	struct dep_info a, b;

	if (!before->inputs || !after->inputs ||
	    dep_info__begin(&a, before->inputs, before->inputs_size))
		return false;
	while (!is_too_late(r) && dep_info__next(&a, &old) > 0) {
		if (!old.is_variable || dep_info__begin(&b, after->inputs, after->inputs_size))
			continue;
		while (dep_info__next(&b, &now) > 0)
			if (now.is_variable && words_are_same(now.name, old.name) &&
			    !words_are_same(now.value, old.value))
				return found(f, TRACE_REBUILT_ENVIRONMENT, old.name);
	}
	return false;
}

/* A file that the compiler read was changed since, or is not there. */
static bool source_changed(const struct rebuilt *r, const struct unit *before,
			   const struct unit *after, struct finding *f)
{
	struct dep_info_entry entry;
	char package[PATH_MAX];
	struct dep_info list;
	bool known;

	if (!before->inputs || dep_info__begin(&list, before->inputs, before->inputs_size))
		return false;
	known = package_directory(r, before, package);
	while (!is_too_late(r) && dep_info__next(&list, &entry) > 0) {
		enum file_state is;

		if (entry.is_variable || !entry.name.len ||
		    (entry.in_package ? !known : *entry.name.at != '/'))
			continue;
		is = look_at(r, package, entry.name, before, after);
		if (is == FILE_NEWER || is == FILE_GONE)
			return found(f, TRACE_REBUILT_FILE, entry.name);
	}
	return false;
}

/* ---- Reasons --------------------------------------------------------------------------------- */

static bool was_compiled(void *rebuilt, uint64_t fingerprint)
{
	const struct rebuilt *r = rebuilt;

	return u64_map__get(&r->compiled, fingerprint) != U64_MAP_NONE;
}

static bool has_output(const struct rebuilt *r, const struct unit *u, const char *suffix)
{
	char path[PATH_MAX];

	return output_of(u, "lib", suffix, path) && is_there(r->target, path);
}

/* Whether only metadata was made of a unit, as by "cargo check". */
static bool is_checked(const struct rebuilt *r, const struct unit *u)
{
	return has_output(r, u, ".rmeta") && !has_output(r, u, ".rlib");
}

/*
 * The unit before that a new one is most like: of the same package, target and profile, with the
 * fewest differences, the latest of these. NULL: there was none.
 */
static const struct unit *most_like(const struct rebuilt *r, const struct unit *u, bool checked)
{
	const struct unit *best = NULL;
	unsigned int least = 0;

	for (uint32_t i = units__from(&r->before, u->name, u->hash); i < r->before.n; i++) {
		const struct unit *b = &r->before.at[i];
		unsigned int distance;

		if (strncmp(b->name, u->name, u->hash) != 0)
			break;
		if (b->hash != u->hash || strcmp(b->name + b->file, u->name + u->file) != 0)
			continue;
		distance = 2 * fingerprint__distance(&b->print, &u->print) +
			   (is_checked(r, b) != checked);
		if (best &&
		    (distance > least || (distance == least && b->noted_ns <= best->noted_ns)))
			continue;
		best = b;
		least = distance;
	}
	return best;
}

/*
 * Of a unit in a directory that was not there before. What names the directory and is in no field,
 * the version and a wrapper of rustc, or another source make it one that was never built.
 */
static bool new_unit_is_again(const struct rebuilt *r, const struct unit *u, struct finding *f)
{
	bool checked = is_checked(r, u);
	const struct unit *before = most_like(r, u, checked);

	if (!before)
		return false;
	if (!fingerprint__differs(&before->print, &u->print, &f->reason, f->detail) ||
	    f->reason == TRACE_REBUILT_SOURCE)
		return false;
	/* A profile's settings are one number with what the command makes of them. */
	if (f->reason == TRACE_REBUILT_PROFILE && is_checked(r, before) != checked)
		f->reason = TRACE_REBUILT_COMMAND;
	return true;
}

/* Whether a unit that cargo has begun or ended was built before, and why it was built again. */
static bool is_again(const struct rebuilt *r, const struct unit *u, struct finding *f)
{
	const struct unit *before = units__find(&r->before, u->name);
	char source[PATH_MAX];

	*f = (struct finding){.reason = TRACE_REBUILT_UNKNOWN};
	if (!before)
		return new_unit_is_again(r, u, f);
	if (fingerprint__differs(&before->print, &u->print, &f->reason, f->detail) &&
	    f->reason != TRACE_REBUILT_DEPENDENCY)
		return true;
	/*
	 * Another directory is the workspace, as beside a Cargo.lock that was left in a member: all
	 * of its files would seem to be gone.
	 */
	if (source_of(r, before, source) && !is_there(r->workspace, source))
		return false;
	if (source_changed(r, before, u, f) || variable_changed(r, before, u, f))
		return true;
	if (f->reason == TRACE_REBUILT_DEPENDENCY ||
	    fingerprint__any_dep(&u->print, was_compiled, (void *)r))
		return found(f, TRACE_REBUILT_DEPENDENCY, (struct word){0});
	if (!before->inputs && watched_file_changed(r, before, u, f))
		return true;
	f->reason = before->fingerprint ? TRACE_REBUILT_UNKNOWN : TRACE_REBUILT_UNFINISHED;
	/* Of one that failed, cargo keeps the former note: what else differs is not known. */
	return u->noted_ns != before->noted_ns;
}

/* As a report names it; false: cargo has a new kind of units. */
static bool name_unit(const struct rebuilt *r, const struct unit *u, char name[NAME_MAX + 32])
{
	char crate[NAME_MAX + 1];
	const struct kind *kind = kind_of(u, crate);

	if (!kind)
		return false;
	/* All build scripts have one name. */
	if (strstr(kind->prefix, "build-script-"))
		snprintf(crate, sizeof(crate), "%.*s", package_len(u), u->name + u->package);
	/* Of shared libraries, only a procedural macro has a hash in its name. */
	snprintf(name, NAME_MAX + 32, "%s%s", crate,
		 !*kind->what && has_output(r, u, ".so") ? " (proc-macro)" : kind->what);
	return true;
}

static int pass_on(struct rebuilt *r, int (*take)(void *ctx, const struct rebuilt_crate *crate),
		   void *ctx)
{
	uint32_t n = r->after.n < TRACE_REBUILT_MOST ? r->after.n : TRACE_REBUILT_MOST;
	_free_ struct finding *findings = calloc(n + 1, sizeof(*findings));
	_free_ bool *again = calloc(n + 1, sizeof(*again));
	int err = 0;

	if (!findings || !again)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->after.n && !err; i++)
		if (r->after.at[i].fingerprint)
			err = u64_map__put(&r->compiled, r->after.at[i].fingerprint, i);
	r->until_ns = clock_ns(CLOCK_MONOTONIC) + COMPARED_NS;
	for (uint32_t i = 0; i < n && !err && !is_too_late(r); i++)
		again[i] = is_again(r, &r->after.at[i], &findings[i]);
	for (int late = 0; late < 2; late++)
		for (uint32_t i = 0; i < n && !err; i++) {
			struct finding *f = &findings[i];
			char name[NAME_MAX + 32];
			uint64_t key;

			if (!again[i] || (f->reason == TRACE_REBUILT_DEPENDENCY) != late ||
			    !name_unit(r, &r->after.at[i], name))
				continue;
			key = map_hash(name, strlen(name)) ^ map_hash(f->detail, strlen(f->detail));
			key = map_fold(key ^ f->reason);
			if (u64_map__get(&r->passed_on, key) != U64_MAP_NONE)
				continue;
			err = u64_map__put(&r->passed_on, key, 0);
			err = err ?: take(ctx, &(struct rebuilt_crate){name, f->reason, f->detail});
		}
	return err;
}

int rebuilt__each(struct rebuilt *r, int (*take)(void *ctx, const struct rebuilt_crate *crate),
		  void *ctx)
{
	_invoker_ struct invoker inv = {};
	int err = invoker__get(&inv) ?: invoker__take_file_rights(&inv);

	if (err)
		return err;
	err = units__read(&r->after, r->target, &r->before);
	/* Without all units, it is not known what was compiled because of others. */
	err = err ? err == -ENOMEM ? err : 0 : pass_on(r, take, ctx);
	invoker__return_file_rights(&inv);
	return err;
}

void rebuilt__free(struct rebuilt *r)
{
	if (!r)
		return;
	cleanup_close_p(&r->workspace);
	cleanup_close_p(&r->target);
	units__clear(&r->before);
	units__clear(&r->after);
	u64_map__destroy(&r->compiled);
	u64_map__destroy(&r->passed_on);
	free(r);
}
