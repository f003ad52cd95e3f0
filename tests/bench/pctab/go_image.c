// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds the function table of a Go executable: in a section of its own, or, if another linker
 * put it together (docker, for one), somewhere among the relocated data.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "gopclntab.h"

static int map_file(struct go_image *image, const char *path)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	void *map;

	if (fd < 0) {
		int err = errno;

		return diag_error_r(-err, "cannot open %s: %s", path, strerror(err));
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return diag_error_r(-ENOEXEC, "%s is not a regular file", path);
	if (st.st_size < EI_NIDENT)
		return diag_error_r(-ENOEXEC, "%s is not an ELF file: it is too short", path);
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		int err = errno;

		return diag_error_r(-err, "cannot map %s: %s", path, strerror(err));
	}
	image->map = map;
	image->map_size = st.st_size;
	return 0;
}

/* A section's bytes in the file; NULL if it has none, or they are not all there. */
static const uint8_t *section_bytes(const struct go_image *image, const GElf_Shdr *shdr)
{
	if (shdr->sh_type == SHT_NOBITS || shdr->sh_offset > image->map_size ||
	    shdr->sh_size > image->map_size - shdr->sh_offset)
		return NULL;
	return image->map + shdr->sh_offset;
}

static bool is_own_section(const char *name)
{
	return !strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab");
}

/* The table may start at any word of a section of other things; what only looks like one is not. */
static int scan(struct go_image *image, const uint8_t *bytes, size_t size, bool big_endian)
{
	struct gopclntab_function first;
	struct gopclntab t;
	const char *why;

	for (size_t at = 0; at + 8 <= size; at += 4) {
		const uint8_t *p = bytes + at;
		uint8_t low = p[big_endian ? 3 : 0];

		if ((low != 0xf0 && low != 0xf1) || p[1] != 0xff || p[2] != 0xff || p[4] || p[5])
			continue;
		if (gopclntab__init(&t, p, size - at, big_endian, &why) || !t.n_functions ||
		    gopclntab__function(&t, 0, &first))
			continue;
		image->table = t;
		return 0;
	}
	return -ENOENT;
}

/* 0, or -ENOENT if none of the sections has it, or -ENOEXEC for one that cannot be read. */
static int search_sections(struct go_image *image, Elf *elf, bool big_endian, const char **why)
{
	int err = -ENOENT;
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return -ENOENT;
	while (err == -ENOENT && (scn = elf_nextscn(elf, scn))) {
		const uint8_t *bytes;
		const char *name;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		bytes = section_bytes(image, &shdr);
		if (!name || !bytes)
			continue;
		if (is_own_section(name))
			err = gopclntab__init(&image->table, bytes, shdr.sh_size, big_endian, why);
		else if (!strcmp(name, ".data.rel.ro"))
			err = scan(image, bytes, shdr.sh_size, big_endian);
	}
	return err;
}

static int find_table(struct go_image *image, const char *path)
{
	const char *why = NULL;
	GElf_Ehdr ehdr;
	Elf *elf;
	int err;

	elf_version(EV_CURRENT);
	/* Not declared const, but the image is never written: it is opened for reading only. */
	elf = elf_memory((char *)image->map, image->map_size);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr)) {
		elf_end(elf);
		return diag_error_r(-ENOEXEC, "%s is not an ELF file", path);
	}
	err = search_sections(image, elf, ehdr.e_ident[EI_DATA] == ELFDATA2MSB, &why);
	elf_end(elf);
	if (!err && image->table.text_size > image->map_size) {
		why = "its functions are longer than the file";
		err = -ENOEXEC;
	}
	if (err == -ENOENT)
		diag_error("%s has no Go function table; name an executable that Go 1.18 or later "
			   "built",
			   path);
	else if (err)
		diag_error("cannot read the functions of %s: %s; name an executable that Go 1.18 "
			   "or later built",
			   path, why);
	return err;
}

int go_image__open(const char *path, struct go_image **out)
{
	_go_image_ struct go_image *image = calloc(1, sizeof(*image));
	int err;

	if (!image)
		return diag_error_r(-ENOMEM, "out of memory opening %s", path);
	err = map_file(image, path) ?: find_table(image, path);
	if (err)
		return err;
	*out = take_ptr(image);
	return 0;
}

void go_image__free(struct go_image *image)
{
	if (!image)
		return;
	if (image->map)
		munmap(image->map, image->map_size);
	free(image);
}
