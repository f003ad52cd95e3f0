/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_PLAN_SYMBOLS_BUILD_ID_H
#define QPROF_PLAN_SYMBOLS_BUILD_ID_H

#include <libelf.h>
#include <stdint.h>

/*
 * The GNU build-id, from the notes in the sections of an ELF file. Returns its length in bytes; 0
 * if there is none, or if it has more than `most`.
 */
uint32_t build_id_of(Elf *elf, uint8_t *id, uint32_t most);

#endif /* QPROF_PLAN_SYMBOLS_BUILD_ID_H */
