// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "plan/library/file.h"
#include "proc/command_line.h"
#include "proc/processes.h"

struct reading {
	pid_t pid;
	uid_t user;
	uid_t invoker;
	struct arguments *out;
	size_t capacity;
};

/* ---- Argument files -------------------------------------------------------------------------- */

/*
 * As the process would find it; without reading anything of it, as it may be a device. -1: there is
 * none, or the root of the process is another one, such as a container's, where links in a path
 * lead elsewhere.
 */
static int find_file(pid_t pid, const char *path)
{
	struct stat ours, theirs;
	_close_ int dir = -1;
	char at[64];

	snprintf(at, sizeof(at), "/proc/%d/root/", (int)pid);
	if (stat("/", &ours) || stat(at, &theirs) || ours.st_dev != theirs.st_dev ||
	    ours.st_ino != theirs.st_ino)
		return -1;
	snprintf(at, sizeof(at), "/proc/%d/cwd", (int)pid);
	dir = open(at, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : openat(dir, path, O_PATH | O_CLOEXEC);
}

/* The file as a whole, to be freed; NULL: it must not be read, or changes meanwhile. */
static char *read_file(const struct reading *r, struct word name, size_t *size)
{
	_free_ char *path = strndup(name.at, name.len), *text = NULL;
	_close_ int found = path ? find_file(r->pid, path) : -1, fd = -1;
	struct file_mount mount;
	struct stat st;
	char again[64];

	if (found < 0 || fstat(found, &st) || !S_ISREG(st.st_mode) || st.st_uid != r->user ||
	    st.st_size > WIRE_COMMAND_MAX)
		return NULL;
	if (file_mount__of(found, &mount) || file_mount__is_foreign(&mount, r->invoker))
		return NULL;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	fd = open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	*size = (size_t)st.st_size;
	text = fd < 0 ? NULL : malloc(*size + 1);
	if (!text || read(fd, text, *size + 1) != (ssize_t)*size || memchr(text, '\0', *size))
		return NULL;
	return take_ptr(text);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static int add_argument(struct reading *r, const char *text, size_t len)
{
	struct arguments *out = r->out;

	if (len >= WIRE_COMMAND_MAX - out->size) {
		out->cut = true;
		return 0;
	}
	if (bytes__append(&out->bytes, &out->size, &r->capacity, text, len) ||
	    bytes__append(&out->bytes, &out->size, &r->capacity, "", 1))
		return -ENOMEM;
	return 0;
}

/* Each line is an argument, whatever it holds, as in rustc: a file in a file is not read. */
static int add_file(struct reading *r, struct word name)
{
	size_t size;
	_free_ char *text = read_file(r, name, &size);
	int err = 0;

	if (!text)
		r->out->cut = true;
	for (char *at = text; text && at < text + size && !err;) {
		char *end = memchr(at, '\n', (size_t)(text + size - at)) ?: text + size;
		size_t len = (size_t)(end - at);

		if (end < text + size && len && at[len - 1] == '\r')
			len--;
		err = add_argument(r, at, len);
		at = end + 1;
	}
	return err;
}

int arguments__read(pid_t pid, uid_t invoker, struct arguments *out)
{
	_free_ char *raw = malloc(WIRE_COMMAND_MAX + 1);
	_arguments_ struct arguments found = {0};
	struct reading r = {pid, process_uid(pid), invoker, &found, 0};
	struct command_line line;
	bool compiler = false;
	size_t size;
	int err = 0;

	if (!raw)
		return -ENOMEM;
	size = process_arguments(pid, raw, WIRE_COMMAND_MAX + 1);
	found.cut = size > WIRE_COMMAND_MAX;
	line = command_line_raw(raw, size > WIRE_COMMAND_MAX ? WIRE_COMMAND_MAX : size);
	for (struct word word; !err && (word = command_line__next(&line)).at;) {
		bool is_file = compiler && word.len && *word.at == '@';

		err = add_argument(&r, word.at, word.len);
		if (!err && is_file)
			err = add_file(&r, (struct word){word.at + 1, word.len - 1});
		if (word.at == raw)
			compiler = word__names_compiler(word);
	}
	if (!err) {
		*out = found;
		found = (struct arguments){0};
	}
	return err;
}
