// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads any bytes as a profile of rustc, and imports them into a trace that is discarded. */
#include <errno.h>
#include <sys/mman.h>

#include "import/measureme.h"
#include "fuzz.h"

static volatile size_t sink;

static void import(struct mm_reader *r)
{
	const struct trace_info info = {.tool = (char *)"fuzz"};
	_trace_writer_ struct trace_writer *w = NULL;
	struct measureme_found found;
	char path[64];
	int err;

	/* A writer creates its file, so it cannot write to a memfd. */
	snprintf(path, sizeof(path), "/dev/shm/fuzz_mm_reader-%d.qpt", (int)getpid());
	if (trace_writer__open(path, &info, &w) || unlink(path))
		abort();
	err = import_measureme(w, 0, r, "a-0000001.mm_profdata", &found);
	/* Hostile texts may exceed the limits of a trace. */
	if (err && err != -E2BIG)
		abort();
	if (!err && trace_writer__finish(w))
		abort();
	sink += found.spans;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_close_ int fd = memfd_create("profile", MFD_CLOEXEC);
	_mm_reader_ struct mm_reader *r = NULL;
	const char *why = NULL;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (mm_reader__open(path, &r, &why))
		sink += strlen(why);
	else
		import(r);
	return 0;
}
