// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/vdso.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/file_writer.h"
#include "unwind/job.h"

/* The kernel's has two pages. */
#define SIZE_MAX_BYTES (1u << 20)

/* Where it is mapped in this process. */
static int find_mapping(uint64_t *start, uint64_t *end)
{
	_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "[vdso]"))
			continue;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, start, end) != 2 || *end <= *start ||
		    *end - *start > SIZE_MAX_BYTES)
			return -EBADMSG;
		return 0;
	}
	return maps ? -ENOENT : -errno;
}

/* A file in memory with this content. */
static int open_copy(uint64_t start, uint64_t end, struct library_file **out)
{
	_close_ int fd = memfd_create("vdso", MFD_CLOEXEC);
	struct file_writer w = {.fd = fd};
	char path[32];
	int err;

	if (fd < 0)
		return -errno;
	err = file_writer__write(&w, (const void *)(uintptr_t)start, end - start);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return library_file__try(path, out);
}

int unwind_vdso__table(struct unwind_table **out)
{
	_library_file_ struct library_file *file = NULL;
	uint64_t start, end;
	char hidden[256];
	int err = find_mapping(&start, &end) ?: open_copy(start, end, &file);

	if (err)
		return err;
	diag_hold_errors(hidden, sizeof(hidden));
	err = unwind_table__of(file, out);
	diag_hold_errors(NULL, 0);
	return err;
}
