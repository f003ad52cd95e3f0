// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/variant_names.h"

#include <ctype.h>
#include <errno.h>

#include "plan/code/walk.h"

/* Instructions of a case. */
#define CASE_MAX     16
#define NAME_MAX_LEN 128

_Static_assert(VARIANT_NAMES_MAX == WALK_TABLE_MAX, "all cases of a switch");

static bool is_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return false;
	return len;
}

/* The text at `addr` of the image. */
static struct variant_name read_name(struct elf_image *img, uint64_t addr, uint64_t len)
{
	size_t room;
	const char *text = (const char *)elf_image__bytes(img, addr, &room);

	if (!text || len > room || len > NAME_MAX_LEN || !is_name(text, len))
		return (struct variant_name){0};
	return (struct variant_name){text, (uint32_t)len};
}

/* The second and third argument of the function that the case ends with. */
static struct variant_name name_of_case(struct elf_image *img, const struct code *code, size_t i)
{
	uint64_t addr = 0, len = 0;

	for (int steps = 0; steps < CASE_MAX && i != SIZE_MAX; steps++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->flow == CODE_JMP && code__index(code, insn->target) != SIZE_MAX) {
			i = code__index(code, insn->target);
			continue;
		}
		if (insn->flow != CODE_FALLS)
			break;
		if (insn->writes & 1u << WIRE_REG_SI)
			addr = insn->shape == CODE_LEA_RIP ? insn->target : 0;
		if (insn->writes & 1u << WIRE_REG_DX)
			len = insn->shape == CODE_SET ? insn->imm : 0;
		i = code__after(code, i);
	}
	return addr && len ? read_name(img, addr, len) : (struct variant_name){0};
}

static void read_cases(struct elf_image *img, const struct walk *w, struct variant_names *out)
{
	uint64_t targets[WALK_TABLE_MAX];

	for (size_t i = 0; i < w->code->n; i++) {
		if (w->code->insns[i].flow != CODE_JMP_INDIRECT)
			continue;
		out->n = (uint32_t)walk__table(w, i, targets);
		for (uint32_t k = 0; k < out->n; k++)
			out->items[k] =
				name_of_case(img, w->code, code__index(w->code, targets[k]));
		return;
	}
}

int variant_names__read(struct elf_image *img, struct code_decoder *decoder,
			struct code_region region, struct code *code, struct variant_names *out)
{
	struct walk w;
	int err = code_decoder__decode(decoder, &region, 1, code);

	out->n = 0;
	if (err)
		return err == -EFAULT ? 0 : err;
	err = walk__init(&w, img, code, region.addr);
	if (!err)
		read_cases(img, &w, out);
	walk__fini(&w);
	return err;
}
