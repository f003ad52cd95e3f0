// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/debug_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/format.h"
#include "plan/symbols/elf_image.h"

const char *debug_file_root = "/usr/lib/debug";

/* A search for the debug file of one library. */
struct search {
	struct library_file *lib;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint32_t id_len;
	char link[ELF_LINK_MAX]; /* "": there is none */
	struct debug_file *found;
};

/* A file that is no ELF file is no error here. */
static int read_quietly(struct library_file *file, struct elf_image **out)
{
	char hidden[256];
	int err;

	diag_hold_errors(hidden, sizeof(hidden));
	err = elf_image__read_debug_file(file, out);
	diag_hold_errors(NULL, 0);
	return err;
}

static bool is_trusted(const struct search *s, const struct library_file *file)
{
	const struct library_identity *id = library_file__identity(file);

	return id->lasting && (!id->uid || id->uid == library_file__identity(s->lib)->uid);
}

static bool fits(const struct search *s, struct library_file *file)
{
	_elf_image_ struct elf_image *img = NULL;
	uint8_t id[ELF_BUILD_ID_MAX];

	return !read_quietly(file, &img) && elf_image__build_id(img, id) == s->id_len &&
	       !memcmp(id, s->id, s->id_len) && elf_image__has_symbols(img);
}

/* `file` is NULL for the library itself. */
static void take(struct search *s, const struct library_file *file, enum symbol_source source)
{
	_debug_file_ struct debug_file *d = malloc(sizeof(*d));

	if (!d)
		return;
	*d = (struct debug_file){
		.source = source,
		.fd = file ? fcntl(library_file__fd(file), F_DUPFD_CLOEXEC, 0) : -1,
		.library_fd = fcntl(library_file__fd(s->lib), F_DUPFD_CLOEXEC, 0),
		.path = strdup(library_file__path(file ?: s->lib)),
	};
	if ((!file || d->fd >= 0) && d->library_fd >= 0 && d->path)
		s->found = take_ptr(d);
}

static void try(struct search *s, const char *path, enum symbol_source source)
{
	_library_file_ struct library_file *file = NULL;

	if (s->found || library_file__try(path, &file))
		return;
	if (!is_trusted(s, file))
		diag_verbose("not using the debug file %s: it belongs to another user, or was "
			     "changed just now",
			     path);
	else if (!fits(s, file))
		diag_verbose("not using the debug file %s: it is not of %s, or has no symbols",
			     path, library_file__path(s->lib));
	else
		take(s, file, source);
}

char *debug_file__place(const uint8_t *id, size_t len)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1], *path;

	format_hex(hex, id, len);
	if (asprintf(&path, "%s/.build-id/%.2s/%s.debug", debug_file_root, hex, hex + 2) < 0)
		return NULL;
	return path;
}

static void try_build_id(struct search *s)
{
	_free_ char *path = debug_file__place(s->id, s->id_len);

	if (path)
		try(s, path, SYMBOLS_OF_BUILD_ID);
}

static void try_link(struct search *s)
{
	static const char *const ways[] = {"", "/.debug"};
	_free_ char *dir = strdup(library_file__path(s->lib));
	char *slash = dir ? strrchr(dir, '/') : NULL;
	char path[PATH_MAX];

	if (!slash || !s->link[0])
		return;
	*slash = '\0';
	for (size_t i = 0; i < 2; i++)
		if (snprintf(path, sizeof(path), "%s%s/%s", dir, ways[i], s->link) <
		    (int)sizeof(path))
			try(s, path, SYMBOLS_OF_DEBUGLINK);
	if (snprintf(path, sizeof(path), "%s%s/%s", debug_file_root, dir, s->link) <
	    (int)sizeof(path))
		try(s, path, SYMBOLS_OF_DEBUGLINK);
}

struct debug_file *debug_file__find(struct library_file *lib)
{
	_elf_image_ struct elf_image *img = NULL;
	struct search s = {.lib = lib};

	if (read_quietly(lib, &img) || elf_image__has_symbols(img))
		return NULL;
	s.id_len = elf_image__build_id(img, s.id);
	elf_image__debuglink(img, s.link);
	if (s.id_len) {
		try_build_id(&s);
		try_link(&s);
	}
	if (!s.found && elf_image__has_section(img, ".gnu_debugdata"))
		take(&s, NULL, SYMBOLS_OF_DEBUGDATA);
	return s.found;
}

void debug_file__free(struct debug_file *d)
{
	if (!d)
		return;
	cleanup_close_p(&d->fd);
	cleanup_close_p(&d->library_fd);
	free(d->path);
	free(d);
}
