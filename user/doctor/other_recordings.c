// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "doctor/other_recordings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* A program of bpf/qprof.bpf.c that every recording loads, with a name that nothing else uses. */
#define PROGRAM "qprof_site"

/* Find the ids of the programs of that name. Returns their number or a negative errno. */
static int find_programs(uint32_t ids[CAPTURES_MOST])
{
	uint32_t id = 0;
	int n = 0;

	while (n < CAPTURES_MOST && !bpf_prog_get_next_id(id, &id)) {
		_close_ int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		/* A program that is gone by now does not count. */
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    !strcmp(info.name, PROGRAM))
			ids[n++] = id;
	}
	return n < CAPTURES_MOST && errno != ENOENT ? -errno : n;
}

/* The program of a descriptor, or of its link, from the descriptor's file in /proc/PID/fdinfo. */
static uint32_t program_of(const char *path)
{
	_fclose_ FILE *f = fopen(path, "re");
	char line[128];
	uint32_t id;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "prog_id: %" SCNu32, &id) == 1)
			return id;
	return 0;
}

void other_recordings__find_holders(const char *root, const uint32_t *ids, uint32_t n,
				    struct other_recordings *c)
{
	_free_ char *pattern = NULL;
	pid_t holders[CAPTURES_MOST] = {0};
	glob_t found = {};

	*c = (struct other_recordings){.n = n};
	if (!n)
		return;
	if (asprintf(&pattern, "%s/proc/[0-9]*/fdinfo/*", root) < 0) {
		pattern = NULL;
		c->err = -ENOMEM;
		return;
	}
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		found.gl_pathc = 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		uint32_t id = program_of(found.gl_pathv[i]);

		for (uint32_t j = 0; id && j < n; j++)
			if (ids[j] == id)
				sscanf(found.gl_pathv[i] + strlen(root), "/proc/%d", &holders[j]);
	}
	globfree(&found);
	for (uint32_t j = 0; j < n; j++) {
		c->held += holders[j] != 0;
		c->pid = holders[j] ?: c->pid;
	}
}

void other_recordings__find(struct other_recordings *c)
{
	uint32_t ids[CAPTURES_MOST];
	int n = find_programs(ids);

	if (n < 0)
		*c = (struct other_recordings){.err = n};
	else
		other_recordings__find_holders("", ids, (uint32_t)n, c);
}
