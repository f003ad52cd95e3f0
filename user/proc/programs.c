// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "proc/programs.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "plan/library/find.h"

static const char *const compilers[] = {"rustc", "rustdoc", "clippy-driver", "miri"};

static bool starts_with(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

bool is_compiler_name(const char *name, size_t len)
{
	for (size_t i = 0; i < N_OF(compilers); i++)
		if (strlen(compilers[i]) == len && !memcmp(compilers[i], name, len))
			return true;
	return false;
}

bool is_compiler_program(const char *exe)
{
	const char *name = basename(exe);

	for (size_t i = 0; i < N_OF(compilers); i++)
		if (starts_with(name, compilers[i]))
			return true;
	return false;
}

bool is_toolchain_program(const char *exe)
{
	return is_compiler_program(exe) || starts_with(basename(exe), "cargo");
}

int library_beside(const char *exe, char **path)
{
	if (!is_toolchain_program(exe))
		return -ENOENT;
	return plan_find__of_exe(exe, path);
}
