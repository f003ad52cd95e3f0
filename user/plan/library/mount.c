// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/library/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"

/* Not from /proc/self/fdinfo, which is closed to a process that has given up root. */
static int mount_id(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st))
		return -errno;
	return st.stx_mask & STATX_MNT_ID ? (int)st.stx_mnt_id : -ENODATA;
}

/* `options` are the superblock's: of FUSE, "rw,user_id=1000,group_id=1000,allow_other". */
static void find_server(char *options, struct file_mount *m)
{
	char *rest = NULL;

	for (char *o = strtok_r(options, ",\n", &rest); o; o = strtok_r(NULL, ",\n", &rest))
		if (sscanf(o, "user_id=%u", &m->server) == 1)
			m->has_server = true;
}

void file_mount__find(FILE *mountinfo, int id, struct file_mount *m)
{
	_free_ char *line = NULL;
	size_t size = 0;
	int of;

	while (getline(&line, &size, mountinfo) > 0) {
		char *type = strstr(line, " - "), *source, *options;

		if (sscanf(line, "%d", &of) != 1 || of != id || !type)
			continue;
		m->ours = true;
		/* A source has no space: the kernel writes it as \040. */
		source = strchr(type + 3, ' ');
		options = source ? strchr(source + 1, ' ') : NULL;
		if (m->fuse && options)
			find_server(options + 1, m);
		return;
	}
}

int file_mount__of(int fd, struct file_mount *m)
{
	_fclose_ FILE *mountinfo = NULL;
	struct statfs fs;
	int id;

	*m = (struct file_mount){0};
	if (fstatfs(fd, &fs))
		return -errno;
	m->fuse = fs.f_type == FUSE_SUPER_MAGIC;
	m->overlay = fs.f_type == OVERLAYFS_SUPER_MAGIC;
	if (!m->fuse && !m->overlay)
		return 0;
	id = mount_id(fd);
	if (id < 0)
		return id;
	mountinfo = fopen("/proc/self/mountinfo", "re");
	if (!mountinfo)
		return -errno;
	file_mount__find(mountinfo, id, m);
	return 0;
}

/* virtiofs has no user: only root mounts it, and the host serves it. */
bool file_mount__is_foreign(const struct file_mount *m, uid_t user)
{
	if (!m->fuse)
		return false;
	if (!m->ours)
		return true;
	return m->has_server && m->server && m->server != user;
}
