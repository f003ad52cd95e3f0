// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#define VFS_NAME "qprof-place"

int sqlite_place__open(const char *real, int *directory, char **path)
{
	const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				     .resolve = RESOLVE_NO_SYMLINKS};
	const char *name = strrchr(real, '/') + 1;
	/* A link before a last slash would be followed. */
	_free_ char *above = strndup(real, name - real > 1 ? (size_t)(name - real) - 1 : 1);
	_close_ int fd = -1;

	if (!above)
		return -ENOMEM;
	fd = (int)syscall(SYS_openat2, AT_FDCWD, above, &how, sizeof(how));
	/* Some sandboxes do not know the call. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(above, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (asprintf(path, "/proc/self/fd/%d/%s", fd, name) < 0)
		return -ENOMEM;
	*directory = take_fd(fd);
	return 0;
}

/* SQLite's own would follow the link in /proc to the directory's name. */
static int keep_path(sqlite3_vfs *vfs, const char *path, int size, char *out)
{
	(void)vfs;
	return snprintf(out, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

const char *sqlite_place__vfs(void)
{
	static sqlite3_vfs vfs;
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	if (!usual)
		return NULL;
	if (!vfs.zName) {
		vfs = *usual;
		vfs.zName = VFS_NAME;
		vfs.xFullPathname = keep_path;
	}
	return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? VFS_NAME : NULL;
}
