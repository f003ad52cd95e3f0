// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/file_writer.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"

int file_writer__fail(struct file_writer *w, int err)
{
	if (!w->error)
		w->error = err;
	return w->error;
}

int file_writer__write(struct file_writer *w, const void *data, size_t size)
{
	const char *p = data;

	while (size && !w->error) {
		ssize_t n = write(w->fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return file_writer__fail(w, n < 0 ? -errno : -EIO);
		w->bytes += n;
		p += n;
		size -= n;
	}
	return w->error;
}

int file_writer__close(struct file_writer *w)
{
	if (w->error)
		return w->error;
	return close(take_fd(w->fd)) ? file_writer__fail(w, -errno) : 0;
}
