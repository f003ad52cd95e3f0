// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/seal.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "qprof/trace_format.h"
#include "trace/bytes.h"

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

/*
 * The data must be on disk before the mark says so. Without the mark, which a power failure may
 * still take away, a trace is unfinished, and is read all the same.
 */
int trace_seal(int fd)
{
	int err = fsync(fd) ? -errno : set_state(fd, QPT_STATE_FINISHED);

	/* Some file systems report errors only here. */
	if (close(fd) && !err)
		err = -errno;
	return err;
}
