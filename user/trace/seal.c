// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/seal.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "qprof/trace_format.h"
#include "trace/bytes.h"

static int sync_file(int fd)
{
	return fsync(fd) ? -errno : 0;
}

static int set_state(int fd, uint32_t state)
{
	uint8_t bytes[4];
	ssize_t n;

	bytes_store_u32(bytes, state);
	n = pwrite(fd, bytes, sizeof(bytes), QPT_HEADER_STATE);
	if (n == sizeof(bytes))
		return 0;
	return n < 0 ? -errno : -EIO;
}

/* The data must be on disk before the mark says so. */
static int mark(int fd)
{
	int err = sync_file(fd) ?: set_state(fd, QPT_STATE_FINISHED);

	if (err)
		return err;
	err = sync_file(fd);
	if (err)
		set_state(fd, QPT_STATE_UNFINISHED);
	return err;
}

int trace_seal(int fd)
{
	int err = mark(fd);

	/* Some file systems report errors only here. */
	if (close(fd) && !err)
		err = -errno;
	return err;
}
