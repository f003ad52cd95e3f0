// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Preloaded: of the allocations that the program itself asks for, number $FAILS fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static const void *program;
static long number, failing;

/* Behind the program's own objects come those of libraries, which do not all check. */
static __attribute__((constructor)) void begin(void)
{
	const char *text = getenv("FAILS");
	struct link_map *first = dlopen(NULL, RTLD_LAZY);

	failing = text ? atol(text) : 0;
	program = first ? (const void *)first->l_addr : NULL;
}

static int fails(const void *caller)
{
	Dl_info info;

	if (!program || !dladdr(caller, &info) || info.dli_fbase != program || ++number != failing)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}
