// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_path.h"

/* 0 if there is a regular file, or nothing, that no standard stream leads to. */
static int check_kind(const char *path)
{
	struct stat st, stream;

	if (!strcmp(path, "-"))
		return -EBUSY;
	if (stat(path, &st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &stream) && stream.st_dev == st.st_dev && stream.st_ino == st.st_ino)
			return -EBUSY;
	return 0;
}

/* Checks whether `path` may be written to, without changing the file. Opens only a regular file. */
static int check_replaceable(const char *path)
{
	_close_ int fd = -1;
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	/* Another file may have taken its place by now: a FIFO would make us wait for a reader. */
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

int output_file__choose(struct output_file *f, const char *path, bool force)
{
	_own_path_refusal_ struct own_path_refusal why = {0};
	_free_ char *real = NULL;
	const char *slash;
	uint64_t nonce;
	struct stat st;
	int err = own_path__resolve(path, false, &real, &why);

	*f = (struct output_file){0};
	err = err ?: check_kind(path);
	if (err)
		return err;
	if (!force || (lstat(path, &st) && errno == ENOENT)) {
		f->path = strdup(path);
		return f->path ? 0 : -ENOMEM;
	}
	f->over = take_ptr(real);
	err = check_replaceable(f->over);
	if (err)
		return err;
	/* In the same directory, so that rename(2) works; short, as a path has a maximal length. */
	slash = strrchr(f->over, '/');
	if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce))
		nonce = 0;
	if (asprintf(&f->path, "%.*s.qprof-%d-%016" PRIx64 ".qpt",
		     slash ? (int)(slash - f->over + 1) : 0, f->over, getpid(), nonce) >= 0)
		return 0;
	f->path = NULL;
	return -ENOMEM;
}

const char *output_file_error(int err)
{
	switch (err) {
	case -EINVAL:
		return "it is no regular file";
	case -EBUSY:
		return "it is a standard stream of this program, and a file of its own is needed";
	default:
		return own_path_error(err);
	}
}

int output_file__commit(struct output_file *f)
{
	if (f->committed || !f->created)
		return 0;
	f->committed = true;
	if (!f->over)
		return 0;
	if (rename(f->path, f->over))
		return -errno;
	free(f->path);
	f->path = take_ptr(f->over);
	return 0;
}

void output_file__discard(struct output_file *f)
{
	if (f->created && !f->committed)
		unlink(f->path);
	f->created = false;
}

void output_file__clear(struct output_file *f)
{
	free(f->path);
	free(f->over);
	*f = (struct output_file){0};
}
