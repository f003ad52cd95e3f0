// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads any bytes as an ELF file, through every function of the reader. */
#include "../fixtures/elf_builder.h"
#include "plan/symbols/elf_image.h"
#include "plan/symbols/names.h"
#include "../fixtures/library.h"
#include "fuzz.h"

static volatile size_t sink;

static void use_symbol(const struct elf_image *img, const struct elf_symbol *sym, size_t file_len)
{
	struct name_info info;
	uint64_t offset;
	size_t len;
	const uint8_t *code = elf_image__code(img, sym->addr, &len);

	if (!code || sym->size > len || !elf_image__offset(img, sym->addr, &offset) ||
	    offset >= file_len || len > file_len - offset)
		abort();
	name_classify(sym->name, &info);
	sink += code[0] + code[len - 1] + strlen(sym->name) + info.query_len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_close_ int fd = elf_builder_memfd(data, size);
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	uint8_t id[ELF_BUILD_ID_MAX];
	char path[32];
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (image_of(path, &img))
		return 0;
	if (!elf_image__identity(img, id))
		abort();
	if (elf_image__rustc_version(img))
		sink += strlen(elf_image__rustc_version(img));
	if (elf_image__symbols(img, &syms, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		use_symbol(img, &syms[i], size);
	return 0;
}

FUZZ_DROP_MESSAGES()
