// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/first_environ.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static char **saved;

int first_environ__split(char *block, const char *end, char ***out)
{
	size_t n = 0, i = 0;
	char **env;

	if (block == end)
		end = NULL;
	else if (end < block || end[-1])
		return -EINVAL;
	for (const char *c = block; end && c < end; c++)
		n += !*c;
	env = calloc(n + 1, sizeof(*env));
	if (!env)
		return -ENOMEM;
	for (; i < n; block += strlen(block) + 1)
		env[i++] = block;
	*out = env;
	return 0;
}

/*
 * The kernel lays out the texts of the arguments, those of the environment and the name of the
 * executable one behind the other. The dynamic linker takes pointers away, not texts.
 */
int first_environ__save(int argc, char **argv)
{
	char *end = (char *)getauxval(AT_EXECFN);

	if (!getauxval(AT_SECURE) || !argc || !end)
		return 0;
	return first_environ__split(argv[argc - 1] + strlen(argv[argc - 1]) + 1, end, &saved);
}

char *const *first_environ(void)
{
	return saved ?: environ;
}
