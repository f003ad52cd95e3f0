// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * libelf reads the headers, from our own read-only mapping or by pread(2): it checks every range
 * against the size given to it. It does not check segments, names and symbol ranges; this file
 * does.
 */
#include "plan/symbols/elf_image.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/diag.h"
#include "base/map.h"
#include "plan/code/opcode.h"
#include "plan/symbols/elf_symbol.h"
#include "plan/symbols/got.h"

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#else
#error "unsupported machine"
#endif

/* Larger than any build of rustc with all its debug information. */
#define SIZE_LIMIT (8ULL << 30)

/*
 * A thread that must not wait long reads unmapped images, so the amount is limited. The library of
 * rustc 1.95 has 11 segments, 516 bytes of section names, an unwind table of 106,000 rows and
 * 165,000 symbols with 25 MB of names.
 */
#define SEGMENTS_MAX	  128
#define SECTION_NAMES_MAX (1u << 16)
#define FRAME_ROWS_MAX	  (4u << 20)
#define START_SYMBOLS_MAX (1u << 20)
#define SYMBOL_NAMES_MAX  (256u << 20)

/* The file-backed part of one PT_LOAD, wholly inside the mapping. */
struct segment {
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
	bool code; /* executable */
};

struct elf_image {
	struct library_file *file;
	uint8_t *map; /* NULL if the image is read */
	size_t size;
	Elf *elf;
	struct segment *segs;
	size_t n_segs;
	struct elf_symbol *syms; /* NULL until first used */
	size_t n_syms;
	char *names;	  /* of symbols that the image was given; or NULL */
	uint64_t *starts; /* likewise */
	size_t n_starts;
	struct got *got; /* NULL if the image is read */
};

/*
 * Read from the file or the mapping. Returns the number of bytes: less than `len` at the end of the
 * file or on an error.
 */
static size_t read_at(const struct elf_image *img, uint64_t offset, void *buf, size_t len)
{
	size_t done = 0;

	if (offset >= img->size)
		return 0;
	if (len > img->size - offset)
		len = img->size - offset;
	if (img->map) {
		memcpy(buf, img->map + offset, len);
		return len;
	}
	while (done < len) {
		ssize_t n = pread(library_file__fd(img->file), (char *)buf + done, len - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

static int check_header(const struct elf_image *img)
{
	GElf_Ehdr ehdr;

	if (!img->elf || elf_kind(img->elf) != ELF_K_ELF || !gelf_getehdr(img->elf, &ehdr))
		return diag_error_r(-ENOEXEC, "%s is damaged: its ELF header cannot be read",
				    elf_image__path(img));
	if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_ident[EI_DATA] != ELFDATA2LSB ||
	    ehdr.e_machine != HOST_MACHINE)
		return diag_error_r(-ENOEXEC, "%s is an ELF file for another machine",
				    elf_image__path(img));
	if (ehdr.e_type != ET_DYN && ehdr.e_type != ET_EXEC)
		return diag_error_r(-ENOEXEC, "%s is neither a shared library nor a program",
				    elf_image__path(img));
	return 0;
}

static int read_segments(struct elf_image *img)
{
	size_t n;

	if (elf_getphdrnum(img->elf, &n))
		n = 0;
	img->segs = calloc(n ? n : 1, sizeof(*img->segs));
	if (!img->segs)
		return diag_error_r(-ENOMEM, "out of memory reading %s", elf_image__path(img));
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		uint64_t size;

		if (!gelf_getphdr(img->elf, i, &p) || p.p_type != PT_LOAD ||
		    p.p_offset >= img->size)
			continue;
		size = p.p_filesz < p.p_memsz ? p.p_filesz : p.p_memsz;
		if (size > img->size - p.p_offset)
			size = img->size - p.p_offset;
		if (size && p.p_vaddr <= UINT64_MAX - size)
			img->segs[img->n_segs++] =
				(struct segment){p.p_vaddr, p.p_offset, size, p.p_flags & PF_X};
	}
	return 0;
}

static int check_code(const struct elf_image *img)
{
	for (size_t i = 0; i < img->n_segs; i++)
		if (img->segs[i].code)
			return 0;
	return diag_error_r(-ENOEXEC, "%s is damaged, or not a library: it holds no code",
			    elf_image__path(img));
}

static int open_image(struct library_file *file, bool map, struct elf_image **out)
{
	_elf_image_ struct elf_image *img = calloc(1, sizeof(*img));
	const char *path = library_file__path(file);
	Elf64_Ehdr ehdr;
	int err;

	if (!img)
		return diag_error_r(-ENOMEM, "out of memory opening %s", path);
	img->file = library_file__ref(file);
	img->size = library_file__identity(file)->size;
	elf_version(EV_CURRENT);
	if (img->size < EI_NIDENT)
		return diag_error_r(-ENOEXEC, "%s is not an ELF file: it is too short", path);
	if (img->size > SIZE_LIMIT)
		return diag_error_r(-ENOEXEC, "%s is too large: over %llu GiB", path,
				    SIZE_LIMIT >> 30);
	if (map) {
		/*
		 * A shared mapping: the kernel puts the breakpoints of a running capture into
		 * private mappings.
		 */
		void *p = mmap(NULL, img->size, PROT_READ, MAP_SHARED, library_file__fd(file), 0);

		if (p == MAP_FAILED) {
			err = errno;
			return diag_error_r(-err, "cannot map %s: %s", path, strerror(err));
		}
		img->map = p;
	}
	/*
	 * libelf allocates memory for every section that the file claims to have. A library of
	 * rustc has 44 sections and 11 segments; only a file with more than 65,279 sections keeps
	 * the number elsewhere.
	 */
	if (read_at(img, 0, &ehdr, sizeof(ehdr)) < SELFMAG || memcmp(&ehdr, ELFMAG, SELFMAG))
		return diag_error_r(-ENOEXEC, "%s is not an ELF file", path);
	if (ehdr.e_phnum > SEGMENTS_MAX || (ehdr.e_shoff && !ehdr.e_shnum))
		return diag_error_r(-ENOEXEC, "%s is damaged: its ELF header cannot be read", path);
	/*
	 * libelf's parameter is not const, but it never writes the image: that is opened for
	 * reading only.
	 */
	img->elf = map ? elf_memory((char *)img->map, img->size)
		       : elf_begin(library_file__fd(file), ELF_C_READ, NULL);
	err = check_header(img) ?: read_segments(img);
	if (err)
		return err;
	*out = take_ptr(img);
	return 0;
}

int elf_image__read_debug_file(struct library_file *file, struct elf_image **out)
{
	return open_image(file, false, out);
}

int elf_image__read(struct library_file *file, struct elf_image **out)
{
	_elf_image_ struct elf_image *img = NULL;
	int err = open_image(file, false, &img) ?: check_code(img);

	if (!err)
		*out = take_ptr(img);
	return err;
}

#define ANY_TYPE UINT32_MAX

/* The first section of `type`, with this name unless that is NULL. */
static Elf_Scn *find_section(const struct elf_image *img, uint32_t type, const char *name,
			     GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t strndx;

	if (elf_getshdrstrndx(img->elf, &strndx))
		return NULL;
	/* elf_strptr() reads all names. */
	if (!gelf_getshdr(elf_getscn(img->elf, strndx), shdr) || shdr->sh_size > SECTION_NAMES_MAX)
		return NULL;
	while ((scn = elf_nextscn(img->elf, scn))) {
		const char *found;

		if (!gelf_getshdr(scn, shdr) || (type != ANY_TYPE && shdr->sh_type != type))
			continue;
		if (!name)
			return scn;
		found = elf_strptr(img->elf, strndx, shdr->sh_name);
		if (found && !strcmp(found, name))
			return scn;
	}
	return NULL;
}

/* The segment that holds `addr`; with `code`, only an executable one. */
static const struct segment *find_segment(const struct elf_image *img, uint64_t addr, bool code)
{
	for (const struct segment *seg = img->segs; seg < img->segs + img->n_segs; seg++)
		if ((seg->code || !code) && addr >= seg->addr && addr - seg->addr < seg->size)
			return seg;
	return NULL;
}

static const struct segment *find_code(const struct elf_image *img, uint64_t addr)
{
	return find_segment(img, addr, true);
}

#define BASE_MOST (1u << 16) /* a longer name is cut here: many symbols may share one */

/* Add `sym` if it is a function whose code and name lie inside the file. There is room for it. */
static void add_symbol(struct elf_image *img, const GElf_Sym *sym, const char *names,
		       size_t names_size)
{
	const struct segment *seg;
	uint64_t room;

	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
	    sym->st_name >= names_size || !names[sym->st_name])
		return;
	seg = find_code(img, sym->st_value);
	if (!seg)
		return;
	room = seg->size - (sym->st_value - seg->addr);
	img->syms[img->n_syms++] = (struct elf_symbol){
		.addr = sym->st_value,
		.size = sym->st_size < room ? sym->st_size : room,
		.name = names + sym->st_name,
	};
}

static int compare_symbols(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strncmp(x->name, y->name, BASE_MOST);
}

/*
 * For a plan. Others do without, as this reads all names: 21 MB of rustc's. Names may overlap, so
 * that a small file has as many bytes of them as it likes.
 */
static int set_bases_and_sort(struct elf_image *img)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < img->n_syms; i++) {
		struct elf_symbol *sym = &img->syms[i];
		size_t len = strnlen(sym->name, BASE_MOST);
		const char *end = sym->name + len, *dot = memchr(sym->name, '.', len);
		size_t left = dot ? (size_t)(end - dot) : 0;

		if (dot)
			end = memmem(dot, left, ".cold", 5) ?: memmem(dot, left, ".warm", 5) ?: end;
		sym->base_len = (uint32_t)(end - sym->name);
		sym->base_hash = (uint32_t)map_hash(sym->name, sym->base_len);
		bytes += len;
		if (bytes > SYMBOL_NAMES_MAX)
			return -EFBIG;
	}
	qsort(img->syms, img->n_syms, sizeof(*img->syms), compare_symbols);
	return 0;
}

static int read_symbols(struct elf_image *img, uint32_t type)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(img, type, NULL, &shdr);
	Elf_Data *syms = scn ? elf_getdata(scn, NULL) : NULL;
	Elf_Scn *str_scn = syms ? elf_getscn(img->elf, shdr.sh_link) : NULL;
	Elf_Data *names = str_scn ? elf_getdata(str_scn, NULL) : NULL;
	size_t n = syms ? syms->d_size / sizeof(Elf64_Sym) : 0, size;
	const char *last;

	if (!n || n > INT32_MAX || !names || !names->d_buf)
		return -ENODATA;
	/* A name that begins before the last NUL ends there at the latest. */
	last = memrchr(names->d_buf, '\0', names->d_size);
	size = last ? (size_t)(last - (const char *)names->d_buf) + 1 : 0;
	img->syms = malloc(n * sizeof(*img->syms));
	if (!img->syms)
		return diag_error_r(-ENOMEM, "out of memory reading the symbols of %s",
				    elf_image__path(img));
	for (size_t i = 0; i < n; i++) {
		GElf_Sym sym;

		if (gelf_getsym(syms, i, &sym))
			add_symbol(img, &sym, names->d_buf, size);
	}
	return 0;
}

bool elf_image__has_symbols(const struct elf_image *img)
{
	GElf_Shdr shdr;

	return find_section(img, SHT_SYMTAB, NULL, &shdr) && shdr.sh_size > sizeof(Elf64_Sym);
}

int elf_image__take_symbols(struct elf_image *img, const GElf_Sym *symbols, size_t n, char *names,
			    size_t names_size)
{
	free(img->names);
	free(img->syms);
	img->names = names;
	img->syms = calloc(n + 1, sizeof(*img->syms));
	if (!img->syms)
		return -ENOMEM;
	img->n_syms = 0;
	for (size_t i = 0; i < n; i++)
		add_symbol(img, &symbols[i], names, names_size);
	return set_bases_and_sort(img);
}

int elf_image__symbols(struct elf_image *img, const struct elf_symbol **syms, size_t *n)
{
	if (!img->syms) {
		int err = read_symbols(img, SHT_SYMTAB) ?: set_bases_and_sort(img);

		if (err) {
			free(take_ptr(img->syms));
			img->n_syms = 0;
			return err;
		}
	}
	*syms = img->syms;
	*n = img->n_syms;
	return img->n_syms ? 0 : -ENODATA;
}

uint64_t elf_image__size_of(const struct elf_image *img, uint64_t addr)
{
	size_t i = bisect(img->n_syms, k, img->syms[k].addr < addr);

	return i < img->n_syms && img->syms[i].addr == addr ? img->syms[i].size : 0;
}

int elf_image__any_symbols(struct elf_image *img, const struct elf_symbol **syms, size_t *n)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};

	for (size_t i = 0; i < N_OF(types) && !img->n_syms; i++) {
		GElf_Shdr shdr, names;
		Elf_Scn *scn = find_section(img, types[i], NULL, &shdr);

		free(take_ptr(img->syms));
		/* They and their names must be of a size that is read. */
		if (!scn || shdr.sh_size > START_SYMBOLS_MAX * sizeof(Elf64_Sym) ||
		    !gelf_getshdr(elf_getscn(img->elf, shdr.sh_link), &names) ||
		    names.sh_size > SYMBOL_NAMES_MAX)
			continue;
		if (read_symbols(img, types[i]) == -ENOMEM)
			return -ENOMEM;
		elf_symbols__sort(img->syms, img->n_syms);
	}
	*syms = img->syms;
	*n = img->n_syms;
	return img->n_syms ? 0 : -ENODATA;
}

/* ---- Where functions start ------------------------------------------------------------------- */

/* Version, encodings of three fields, address of .eh_frame, number of rows. */
#define FRAME_HEADER 12
#define FRAME_ROW    8

/*
 * The table of .eh_frame_hdr in the one encoding that linkers write: rows of two signed 32-bit
 * distances from the section's own address.
 */
static int starts_of_frames(struct elf_image *img)
{
	static const uint8_t known[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					DW_EH_PE_datarel | DW_EH_PE_sdata4};
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(img, SHT_PROGBITS, ".eh_frame_hdr", &shdr);
	const uint8_t *p;
	Elf_Data *data;
	uint64_t n;

	if (scn && shdr.sh_size > FRAME_HEADER + (uint64_t)FRAME_ROWS_MAX * FRAME_ROW)
		return -EBADMSG;
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	p = data ? data->d_buf : NULL;
	if (!p || data->d_size < FRAME_HEADER || memcmp(p, known, sizeof(known)))
		return -ENODATA;
	n = opcode_u32(p + 8);
	if (!n || n > (data->d_size - FRAME_HEADER) / FRAME_ROW)
		return -ENODATA;
	img->starts = calloc(n, sizeof(*img->starts));
	if (!img->starts)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		img->starts[i] = shdr.sh_addr +
				 (uint64_t)(int32_t)opcode_u32(p + FRAME_HEADER + i * FRAME_ROW);
	img->n_starts = n;
	return 0;
}

/*
 * The names of symbols are not read, as comparing names for elf_image__symbols() can take very
 * long.
 */
static int starts_of_symbols(struct elf_image *img)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(img, SHT_SYMTAB, NULL, &shdr);
	Elf_Data *data;
	GElf_Sym sym;
	size_t n;

	if (scn && shdr.sh_size > START_SYMBOLS_MAX * sizeof(Elf64_Sym))
		return -EBADMSG;
	data = scn ? elf_getdata(scn, NULL) : NULL;
	n = data ? data->d_size / sizeof(Elf64_Sym) : 0;
	if (!n)
		return -ENODATA;
	img->starts = calloc(n, sizeof(*img->starts));
	if (!img->starts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (gelf_getsym(data, (int)i, &sym) && GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
		    sym.st_shndx != SHN_UNDEF && find_code(img, sym.st_value))
			img->starts[img->n_starts++] = sym.st_value;
	qsort(img->starts, img->n_starts, sizeof(*img->starts), array__by_u64);
	return img->n_starts ? 0 : -ENODATA;
}

int elf_image__starts(struct elf_image *img, const uint64_t **starts, size_t *n)
{
	int err = 0;

	if (!img->starts) {
		size_t kept = 0;

		err = starts_of_frames(img);
		if (err == -ENODATA)
			err = starts_of_symbols(img);
		/* Drop repeated starts. The others must be sorted. */
		for (size_t i = 0; i < img->n_starts && !err; i++) {
			if (kept && img->starts[i] < img->starts[kept - 1])
				err = -EBADMSG;
			else if (!kept || img->starts[i] != img->starts[kept - 1])
				img->starts[kept++] = img->starts[i];
		}
		img->n_starts = kept;
	}
	if (err) {
		free(take_ptr(img->starts));
		img->n_starts = 0;
		return err;
	}
	*starts = img->starts;
	*n = img->n_starts;
	return 0;
}

bool elf_image__section(const struct elf_image *img, const char *name, uint64_t *addr,
			uint64_t *size)
{
	GElf_Shdr shdr;

	if (!find_section(img, ANY_TYPE, name, &shdr) || !(shdr.sh_flags & SHF_ALLOC) ||
	    shdr.sh_type == SHT_NOBITS)
		return false;
	*addr = shdr.sh_addr;
	*size = shdr.sh_size;
	return true;
}

const uint8_t *elf_image__section_bytes(const struct elf_image *img, const char *name,
					uint64_t *addr, size_t *len)
{
	const uint8_t *bytes;
	uint64_t size;

	if (!elf_image__section(img, name, addr, &size))
		return NULL;
	bytes = elf_image__bytes(img, *addr, len);
	*len = size < *len ? size : *len;
	return bytes;
}

bool elf_image__has_section(const struct elf_image *img, const char *name)
{
	GElf_Shdr shdr;

	return find_section(img, ANY_TYPE, name, &shdr);
}

bool elf_image__debuglink(const struct elf_image *img, char name[ELF_LINK_MAX])
{
	GElf_Shdr shdr;
	size_t len;

	name[0] = '\0';
	if (!find_section(img, SHT_PROGBITS, ".gnu_debuglink", &shdr))
		return false;
	len = shdr.sh_size < ELF_LINK_MAX ? shdr.sh_size : ELF_LINK_MAX - 1;
	name[read_at(img, shdr.sh_offset, name, len)] = '\0';
	/* A name that leads out of the directories that are searched is none. */
	if (name[0] == '.' || strchr(name, '/'))
		name[0] = '\0';
	return name[0];
}

int elf_image__map(struct library_file *file, struct elf_image **out)
{
	static const char *const names[] = {".got", ".got.plt"};
	_elf_image_ struct elf_image *img = NULL;
	struct got_part parts[N_OF(names)];
	size_t n = 0;
	int err = open_image(file, true, &img) ?: check_code(img);

	if (err)
		return err;
	for (size_t i = 0; i < N_OF(names); i++) {
		parts[n].bytes =
			elf_image__section_bytes(img, names[i], &parts[n].addr, &parts[n].size);
		n += parts[n].bytes != NULL;
	}
	if (got__read(img->elf, parts, n, &img->got))
		return diag_error_r(-ENOMEM, "out of memory reading %s", elf_image__path(img));
	*out = take_ptr(img);
	return 0;
}

uint64_t elf_image__through(const struct elf_image *img, uint64_t slot)
{
	uint64_t value = img->got ? got__value(img->got, slot) : 0;

	return value && find_code(img, value) ? value : 0;
}

uint64_t elf_image__entry(const struct elf_image *img)
{
	GElf_Ehdr ehdr;

	return gelf_getehdr(img->elf, &ehdr) ? ehdr.e_entry : 0;
}

size_t elf_image__code_segments(const struct elf_image *img, struct elf_segment *out, size_t most)
{
	size_t n = 0;

	for (const struct segment *seg = img->segs; seg < img->segs + img->n_segs; seg++) {
		if (!seg->code)
			continue;
		if (n < most)
			out[n] = (struct elf_segment){seg->addr, seg->offset, seg->size};
		n++;
	}
	return n;
}

static const uint8_t *mapped_at(const struct elf_image *img, uint64_t addr, bool code, size_t *len)
{
	const struct segment *seg = img->map ? find_segment(img, addr, code) : NULL;

	*len = seg ? seg->size - (addr - seg->addr) : 0;
	return seg ? img->map + seg->offset + (addr - seg->addr) : NULL;
}

const uint8_t *elf_image__code(const struct elf_image *img, uint64_t addr, size_t *len)
{
	return mapped_at(img, addr, true, len);
}

const uint8_t *elf_image__bytes(const struct elf_image *img, uint64_t addr, size_t *len)
{
	return mapped_at(img, addr, false, len);
}

size_t elf_image__copy(const struct elf_image *img, uint64_t addr, uint8_t *buf, size_t len)
{
	const struct segment *seg = find_code(img, addr);
	uint64_t room = seg ? seg->size - (addr - seg->addr) : 0;

	return room ? read_at(img, seg->offset + (addr - seg->addr), buf, len < room ? len : room)
		    : 0;
}

bool elf_image__offset(const struct elf_image *img, uint64_t addr, uint64_t *offset)
{
	const struct segment *seg = find_code(img, addr);

	if (seg)
		*offset = seg->offset + (addr - seg->addr);
	return seg;
}

uint32_t elf_image__build_id(const struct elf_image *img, uint8_t id[ELF_BUILD_ID_MAX])
{
	return build_id_of(img->elf, id, ELF_BUILD_ID_MAX);
}

/* CRC-32 of [off, off + len), cut at the end of the file. */
static uint32_t crc_range(const struct elf_image *img, uint64_t off, uint64_t len)
{
	uint32_t crc = 0;

	if (off >= img->size)
		return 0;
	if (len > img->size - off)
		len = img->size - off;
	if (img->map)
		return crc32_z(0, img->map + off, len);
	while (len) {
		uint8_t buf[16384];
		size_t n = read_at(img, off, buf, len < sizeof(buf) ? len : sizeof(buf));

		if (!n)
			break;
		crc = crc32_z(crc, buf, n);
		off += n;
		len -= n;
	}
	return crc;
}

static uint32_t crc_section(const struct elf_image *img, uint32_t type, const char *name)
{
	GElf_Shdr shdr;

	return find_section(img, type, name, &shdr) ? crc_range(img, shdr.sh_offset, shdr.sh_size)
						    : 0;
}

uint32_t elf_image__identity(struct elf_image *img, uint8_t id[ELF_BUILD_ID_MAX])
{
	uint32_t len = elf_image__build_id(img, id);
	GElf_Ehdr ehdr;

	if (len || !gelf_getehdr(img->elf, &ehdr))
		return len;
	const uint32_t words[] = {
		htole32((uint32_t)img->size),
		htole32(crc_range(img, 0, ehdr.e_ehsize) ^
			crc_range(img, ehdr.e_phoff, (uint64_t)ehdr.e_phnum * ehdr.e_phentsize)),
		htole32(crc_range(img, ehdr.e_shoff, (uint64_t)ehdr.e_shnum * ehdr.e_shentsize)),
		htole32(crc_section(img, SHT_SYMTAB, NULL)),
		htole32(crc_section(img, SHT_PROGBITS, ".eh_frame_hdr"))};
	_Static_assert(sizeof(words) <= ELF_BUILD_ID_MAX, "room for an identity");
	memcpy(id, words, sizeof(words));
	return sizeof(words);
}

const char *elf_image__rustc_version(const struct elf_image *img)
{
	static const char prefix[] = "rustc version ";
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(img, SHT_PROGBITS, ".comment", &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const char *at, *end;

	if (!data || !data->d_buf)
		return NULL;
	end = (const char *)data->d_buf + data->d_size;
	at = memmem(data->d_buf, data->d_size, prefix, sizeof(prefix) - 1);
	return at && memchr(at, '\0', end - at) ? at : NULL;
}

struct Dwarf *elf_image__dwarf(const struct elf_image *img)
{
	return dwarf_begin_elf(img->elf, DWARF_C_READ, NULL);
}

const char *elf_image__path(const struct elf_image *img)
{
	return library_file__path(img->file);
}

struct library_file *elf_image__file(const struct elf_image *img)
{
	return img->file;
}

void elf_image__free(struct elf_image *img)
{
	if (!img)
		return;
	got__free(img->got);
	free(img->starts);
	free(img->syms);
	free(img->names);
	free(img->segs);
	elf_end(img->elf);
	if (img->map)
		munmap(img->map, img->size);
	library_file__free(img->file);
	free(img);
}
