// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/debug_file.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
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
	_free_ char *place = NULL;

	if (read_quietly(lib, &img) || elf_image__has_symbols(img))
		return NULL;
	s.id_len = elf_image__build_id(img, s.id);
	elf_image__debuglink(img, s.link);
	place = s.id_len ? debug_file__place(s.id, s.id_len) : NULL;
	if (place)
		try(&s, place, SYMBOLS_OF_BUILD_ID);
	if (s.id_len)
		try_link(&s);
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

/* ---- Its symbols ----------------------------------------------------------------------------- */

/* rustc's own are 200,000, with 30 MB of names. */
#define SYMBOLS_MAX (4u << 20)
#define NAMES_MAX   (512u << 20)

/* Function symbols of libdwfl, copied: the names lie in `text`, one after another. */
struct copied {
	GElf_Sym *symbols; /* st_name: offset of its name */
	uint32_t n, symbols_capacity;
	char *text;
	size_t len, text_capacity;
	const Elf_Data *names; /* the string table in which the last name lies, or NULL */
	const char *last_nul;  /* of this table, or NULL */
};

static bool holds(const Elf_Data *data, const char *name)
{
	const char *start = data ? data->d_buf : NULL;

	return start && name >= start && name < start + data->d_size;
}

static const Elf_Data *string_table_of(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const Elf_Data *data = NULL;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_STRTAB)
			data = elf_getdata(scn, NULL);
		if (holds(data, name))
			return data;
	}
	return NULL;
}

/* libdwfl checks that a name begins in its string table, not that it ends there. */
static bool ends(struct copied *c, Elf *elf, const char *name)
{
	if (!holds(c->names, name)) {
		c->names = string_table_of(elf, name);
		c->last_nul = c->names ? memrchr(c->names->d_buf, '\0', c->names->d_size) : NULL;
	}
	return c->names && c->last_nul && name <= c->last_nul;
}

static int copy_symbols(Dwfl_Module *mod, struct copied *c)
{
	int n = dwfl_module_getsymtab(mod), err = 0;
	GElf_Addr bias = 0;

	/* If .gnu_debugdata has fewer symbols than local ones, libdwfl reads them after freeing. */
	if (dwfl_module_getsymtab_first_global(mod) > n)
		return -ENODATA;
	dwfl_module_getelf(mod, &bias);
	for (int i = 1; i < n && !err; i++) {
		GElf_Sym sym;
		GElf_Addr addr;
		GElf_Word section;
		Elf *elf = NULL;
		size_t size;
		const char *name =
			dwfl_module_getsym_info(mod, i, &sym, &addr, &section, &elf, NULL);

		if (!name || GELF_ST_TYPE(sym.st_info) != STT_FUNC || section == SHN_UNDEF ||
		    !ends(c, elf, name) || !*name)
			continue;
		size = strlen(name) + 1;
		if (c->n == SYMBOLS_MAX || size > NAMES_MAX - c->len)
			return -EFBIG;
		sym.st_value = addr - bias;
		sym.st_name = (Elf64_Word)c->len;
		err = bytes__append(&c->text, &c->len, &c->text_capacity, name, size)
			      ?: array__add(&c->symbols, &c->n, &c->symbols_capacity, &sym);
	}
	return err;
}

/* libdwfl asks for the path and a descriptor of the debug file, and closes the latter. */
static int give_debug_file(Dwfl_Module *mod, void **userdata, const char *module, Dwarf_Addr base,
			   const char *file, const char *link, GElf_Word crc, char **path)
{
	struct debug_file *d = *userdata;

	(void)mod;
	(void)module;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	if (d->fd < 0)
		return -1;
	*path = strdup(d->path);
	return take_fd(d->fd);
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = give_debug_file,
	.section_address = dwfl_offline_section_address,
};

/* Symbols that cannot be read are none. Only -ENOMEM is an error. */
static int read_symbols(struct elf_image *img, struct debug_file *debug)
{
	int library_fd = take_fd(debug->library_fd);
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *mod =
		dwfl ? dwfl_report_offline(dwfl, "", elf_image__path(img), library_fd) : NULL;
	struct copied c = {0};
	void **userdata;
	int err = dwfl ? -ENODATA : -ENOMEM;

	if (mod) {
		dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
		*userdata = debug;
		dwfl_report_end(dwfl, NULL, NULL);
		err = copy_symbols(mod, &c);
	} else {
		close(library_fd);
	}
	dwfl_end(dwfl);
	if (!err && c.n)
		err = elf_image__take_symbols(img, c.symbols, c.n, take_ptr(c.text), c.len);
	free(c.symbols);
	free(c.text);
	return err == -ENOMEM ? err : 0;
}

int debug_symbols__map(struct library_file *file, struct debug_file *debug, struct elf_image **out,
		       enum symbol_source *source)
{
	_elf_image_ struct elf_image *img = NULL;
	int err = elf_image__map(file, &img);

	if (err)
		return err;
	*source = SYMBOLS_OF_LIBRARY;
	if (debug && debug->library_fd >= 0 && !elf_image__has_symbols(img)) {
		*source = debug->source;
		err = read_symbols(img, debug);
	}
	if (!err)
		*out = take_ptr(img);
	return err;
}
