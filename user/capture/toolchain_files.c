// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/toolchain_files.h"

#include <dirent.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Entries of a directory that are looked at. */
#define ENTRIES_MAX 4096

/* Beside LLVM's library there may be a script for linkers, and a program may be one, too. */
static bool is_elf(const struct library_file *file)
{
	char magic[SELFMAG];

	return pread(library_file__fd(file), magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/* Several names of LLVM's library are links to one file. */
static bool has(const struct toolchain_files *f, const struct library_file *file)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (library_identity_is_one(library_file__identity(f->items[i].file),
					    library_file__identity(file)))
			return true;
	return false;
}

static void add_toolchain_file(struct toolchain_files *f, const char *path, bool is_program)
{
	_library_file_ struct library_file *file = NULL;

	if (f->n == TOOLCHAIN_FILES_MAX || library_file__try(path, &file) || !is_elf(file) ||
	    has(f, file))
		return;
	f->items[f->n++] = (struct toolchain_file){take_ptr(file), is_program};
}

static void add_in(struct toolchain_files *f, const char *dir, const char *name, bool is_program)
{
	_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		path = NULL;
	else
		add_toolchain_file(f, path, is_program);
}

void toolchain_files__add_toolchain(struct toolchain_files *f, const char *library)
{
	const char *name = strrchr(library, '/');
	_free_ char *dir = name ? strndup(library, (size_t)(name - library)) : NULL;
	_closedir_ DIR *d = NULL;
	const struct dirent *e;

	add_toolchain_file(f, library, false);
	if (!dir)
		return;
	add_in(f, dir, "../bin/rustc", true);
	d = opendir(dir);
	for (int i = 0; d && i < ENTRIES_MAX && (e = readdir(d)); i++)
		if (!strncmp(e->d_name, "libLLVM", 7))
			add_in(f, dir, e->d_name, false);
}

static int add_if_libc(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	if (name && (!strncmp(name, "/libc.so", 8) || !strncmp(name, "/ld-", 4)))
		add_toolchain_file(ctx, info->dlpi_name, false);
	return 0;
}

void toolchain_files__add_own(struct toolchain_files *f)
{
	dl_iterate_phdr(add_if_libc, f);
}

void toolchain_files__clear(struct toolchain_files *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		library_file__free(f->items[i].file);
	f->n = 0;
}
