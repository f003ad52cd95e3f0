// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/first_environ.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

/* Those that we read ourselves, or a library must. Values of LC_* and LANG that are paths go. */
static const char *const known[] = {"HOME",  "XDG_CACHE_HOME", "RUSTUP_HOME", "TERM",	 "COLUMNS",
				    "LINES", "NO_COLOR",       "SUDO_UID",    "SUDO_GID"};
static const char *const locale[] = {"LANG", "LC_ALL", "LC_CTYPE"};

static char **saved;
static char **before_sudo;
static char **unrestricted; /* `environ` before first_environ__restrict(); or NULL */
static char **restricted;

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

static size_t count(char *const env[])
{
	size_t n = 0;

	while (env[n])
		n++;
	return n;
}

/*
 * The kernel lays out the texts of the arguments, those of the environment and the name of the
 * executable one behind the other. The dynamic linker takes pointers away, not texts.
 */
int first_environ__save(int argc, char **argv)
{
	char *end = (char *)getauxval(AT_EXECFN);
	size_t n = count(environ) + 1;

	if (getauxval(AT_SECURE) && argc && end)
		return first_environ__split(argv[argc - 1] + strlen(argv[argc - 1]) + 1, end,
					    &saved);
	saved = malloc(n * sizeof(*saved));
	if (!saved)
		return -ENOMEM;
	memcpy(saved, environ, n * sizeof(*saved));
	return 0;
}

char *const *first_environ(void)
{
	return saved ?: environ;
}

void environ_before_sudo__set(char **env)
{
	before_sudo = env;
}

char *const *environ_before_sudo(void)
{
	return before_sudo ?: first_environ();
}

bool environ_is_before_sudo(char *const env[])
{
	return before_sudo && env == before_sudo;
}

static bool is_one_of(const char *entry, const char *const names[], size_t n)
{
	size_t len = strcspn(entry, "=");

	for (size_t i = 0; i < n; i++) {
		if (strlen(names[i]) == len && !strncmp(names[i], entry, len))
			return true;
	}
	return false;
}

static bool is_safe(const char *entry)
{
	return is_one_of(entry, known, N_OF(known)) ||
	       (is_one_of(entry, locale, N_OF(locale)) && !strchr(entry, '/'));
}

int first_environ__restrict(void)
{
	char **env = calloc(count(environ) + 1, sizeof(*env));
	size_t n = 0;

	if (!env)
		return -ENOMEM;
	for (char **entry = environ; *entry; entry++) {
		if (is_safe(*entry))
			env[n++] = *entry;
	}
	unrestricted = environ;
	environ = restricted = env;
	return 0;
}

void first_environ__release(void)
{
	if (unrestricted)
		environ = unrestricted;
	unrestricted = NULL;
	free(take_ptr(restricted));
}

void first_environ__replace(char **env)
{
	first_environ__release();
	free(saved);
	environ = saved = env;
}
