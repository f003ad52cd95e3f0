// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/build_id.h"

#include <elf.h>
#include <gelf.h>
#include <string.h>

static uint32_t find_in_notes(Elf_Data *data, uint8_t *id, uint32_t most)
{
	size_t off = 0, name_off, desc_off;
	GElf_Nhdr nhdr;

	while ((off = gelf_getnote(data, off, &nhdr, &name_off, &desc_off)) > 0) {
		const char *buf = data->d_buf;

		if (nhdr.n_type != NT_GNU_BUILD_ID || nhdr.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp(buf + name_off, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			continue;
		if (!nhdr.n_descsz || nhdr.n_descsz > most)
			return 0;
		memcpy(id, buf + desc_off, nhdr.n_descsz);
		return nhdr.n_descsz;
	}
	return 0;
}

uint32_t build_id_of(Elf *elf, uint8_t *id, uint32_t most)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		uint32_t len;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(scn, NULL);
		len = data && data->d_buf ? find_in_notes(data, id, most) : 0;
		if (len)
			return len;
	}
	return 0;
}
