// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/captures.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* One of bpf/qprof.bpf.c that every recording loads, under a name that is nobody else's. */
#define PROGRAM "qprof_site"

/* Ids of the programs by that name; their number, or a negative errno. */
static int find_programs(uint32_t ids[CAPTURES_MOST])
{
	uint32_t id = 0;
	int n = 0;

	while (n < CAPTURES_MOST && !bpf_prog_get_next_id(id, &id)) {
		_close_ int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		/* One that is gone by now is not there. */
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    !strcmp(info.name, PROGRAM))
			ids[n++] = id;
	}
	return n < CAPTURES_MOST && errno != ENOENT ? -errno : n;
}

/* The program whose descriptor, or whose link's, this file of /proc/PID/fdinfo is about. */
static uint32_t program_of(const char *path)
{
	_fclose_ FILE *f = fopen(path, "re");
	char line[128];
	uint32_t id;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "prog_id: %" SCNu32, &id) == 1)
			return id;
	}
	return 0;
}

void captures__find_holders(const char *root, const uint32_t *ids, uint32_t n, struct captures *c)
{
	_free_ char *pattern = NULL;
	pid_t holders[CAPTURES_MOST] = {0};
	glob_t found = {};

	*c = (struct captures){.n = n};
	if (!n)
		return;
	if (asprintf(&pattern, "%s/proc/[0-9]*/fdinfo/*", root) < 0) {
		pattern = NULL;
		c->err = -ENOMEM;
		return;
	}
	if (!glob(pattern, GLOB_NOSORT, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			uint32_t id = program_of(found.gl_pathv[i]);

			for (uint32_t j = 0; id && j < n; j++) {
				if (ids[j] == id)
					sscanf(found.gl_pathv[i] + strlen(root), "/proc/%d",
					       &holders[j]);
			}
		}
	}
	globfree(&found);
	for (uint32_t j = 0; j < n; j++) {
		c->held += holders[j] != 0;
		c->pid = holders[j] ?: c->pid;
	}
}

void captures__find(struct captures *c)
{
	uint32_t ids[CAPTURES_MOST];
	int n = find_programs(ids);

	if (n < 0)
		*c = (struct captures){.err = n};
	else
		captures__find_holders("", ids, (uint32_t)n, c);
}
