// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Builds a plan from any bytes as a librustc_driver, and forges it: sites move by a checksum of the
 * input, and the plan's own checksum is corrected. The proof must refuse the plan, or Capstone must
 * find an instruction that the kernel emulates at each site when it decodes from a function's
 * start; the same holds for each cache hit. The function starts do not come from our ELF reader
 * (fixtures/elf_starts.h).
 */
#include <capstone/capstone.h>
#include <zlib.h>

#include "../fixtures/elf_builder.h"
#include "../fixtures/elf_starts.h"
#include "plan/check.h"
#include "plan/codec.h"
#include "plan/proof.h"
#include "fuzz.h"

#define MOVES 16
#define REACH 24

static struct elf_bytes input;
static csh cs;
static cs_insn *insn;

static bool is_emulated(const uint8_t *b)
{
	switch (insn->id) {
	case X86_INS_PUSH:
		return (b[0] & 0xf8) == 0x50 || (b[0] == 0x41 && (b[1] & 0xf8) == 0x50);
	case X86_INS_CALL:
	case X86_INS_JMP:
		return insn->detail->x86.operands[0].type == X86_OP_IMM;
	case X86_INS_NOP:
		return b[0] == 0x90;
	default:
		return b[0] >> 4 == 7 || (b[0] == 0x0f && b[1] >> 4 == 8);
	}
}

/*
 * Capstone cannot judge code behind an instruction that it does not know, or behind UD1, which it
 * takes to be too short.
 */
static void expect_start(uint64_t addr, uint64_t offset)
{
	uint64_t at = elf_bytes__start(&input, addr), real;
	const uint8_t *p;
	size_t len;

	expect(elf_bytes__code(&input, addr, &real, &len) && real == offset);
	expect(at && elf_bytes__code(&input, at, &real, &len));
	p = input.data + real;
	len = len < input.size - real ? len : input.size - real;
	while (at < addr)
		if (!cs_disasm_iter(cs, &p, &len, &at, insn) || insn->id == X86_INS_UD2B)
			return;
	expect(at == addr);
	if (cs_disasm_iter(cs, &p, &len, &at, insn))
		expect(is_emulated(insn->bytes));
}

static void check(struct elf_image *img, const struct plan *plan)
{
	uint64_t bad;

	if (proof__of_plan(img, plan, &bad))
		return;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		expect_start(plan->sites[i].addr, plan->sites[i].offset);
}

/*
 * Move a site by a few bytes; its offset mostly follows. Only one site moves at a time, because the
 * proof stops at the first wrong site.
 */
static void forge(struct elf_image *img, struct plan *plan, uint64_t random)
{
	for (int i = 0; plan->n_sites && i < MOVES; i++) {
		struct plan_site *site = &plan->sites[random % plan->n_sites], was = *site;
		uint64_t by = (random >> 32) % (2 * REACH + 1) - REACH;

		site->addr += by;
		site->offset += random >> 60 ? by : 0;
		plan->code_crc = plan_code_crc(img, plan);
		check(img, plan);
		*site = was;
		random = random * 6364136223846793005u + 1442695040888963407u;
	}
}

static void check_hits(struct elf_image *img, struct library_file *file)
{
	_plan_hits_ struct plan_hits *hits = NULL;

	if (plan_hits__find(file, NULL, &hits) || proof__of_hits(img, hits))
		return;
	for (uint32_t i = 0; i < hits->n; i++)
		expect_start(hits->items[i].addr, hits->items[i].offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_close_ int fd = elf_builder_memfd(data, size);
	_library_file_ struct library_file *file = NULL;
	_elf_image_ struct elf_image *img = NULL;
	_plan_ struct plan *plan = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (library_file__open(path, &file) || elf_image__map(file, &img))
		return 0;
	expect(elf_bytes__open(&input, data, size));
	if (!plan__build(file, NULL, &plan)) {
		check(img, plan);
		forge(img, plan, crc32_z(0, data, size) * 0x9e3779b97f4a7c15u);
	}
	check_hits(img, file);
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	expect(cs_open(CS_ARCH_X86, CS_MODE_64, &cs) == CS_ERR_OK);
	cs_option(cs, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(cs);
	return fuzz_drop_messages();
}
