// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/last_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/eval.h"
#include "plan/code/scan.h"
#include "plan/mine/owners.h"

/* Instructions before the last field is passed on. */
#define LINE_MAX 32
/* Uses of the text. Code is untrusted, and there is one for each type, or two. */
#define USES_MAX 256

/* ---- One function ---------------------------------------------------------------------------- */

/* Where the address of the struct that is printed, and of its fields, is. */
struct fields {
	int64_t at[CODE_REG_SP]; /* bytes above the start of the struct, or NO_FIELD */
	int64_t last;		 /* the field whose address is stored, or NO_FIELD */
	bool several;
};

#define NO_FIELD INT64_MIN

static void note_field(struct fields *f, const struct code_insn *insn)
{
	bool from = insn->base < CODE_REG_SP && f->at[insn->base] != NO_FIELD;
	int64_t value = NO_FIELD;

	if (from && insn->shape == CODE_MOVE64)
		value = f->at[insn->base];
	else if (from && insn->shape == CODE_LEA)
		value = f->at[insn->base] + insn->disp;
	if (insn->shape == CODE_STORE64 && insn->reg < CODE_REG_SP &&
	    f->at[insn->reg] != NO_FIELD) {
		f->several = f->several || f->last != NO_FIELD;
		f->last = f->at[insn->reg];
	}
	for (int r = 0; r < CODE_REG_SP; r++)
		if (insn->writes & 1u << r)
			f->at[r] = NO_FIELD;
	if (insn->reg < CODE_REG_SP && (insn->writes & 1u << insn->reg))
		f->at[insn->reg] = value;
}

bool last_field__find(struct code_decoder *decoder, uint64_t entry, uint64_t *offset)
{
	struct fields f = {.last = NO_FIELD};
	struct code_insn insn;
	uint64_t addr = entry;

	for (int r = 0; r < CODE_REG_SP; r++)
		f.at[r] = NO_FIELD;
	f.at[WIRE_REG_DI] = 0;
	for (int i = 0; i < LINE_MAX && code_decoder__at(decoder, addr, &insn); i++) {
		if (insn.flow == CODE_CALL || insn.flow == CODE_CALL_INDIRECT)
			break;
		if (insn.flow != CODE_FALLS)
			return false;
		note_field(&f, &insn);
		addr += insn.size;
	}
	if (f.several || f.last < 0 || f.last >= LAST_FIELD_MAX)
		return false;
	*offset = (uint64_t)f.last;
	return true;
}

/* ---- All functions of a text ----------------------------------------------------------------- */

struct uses {
	const struct elf_image *img;
	const char *text;
	uint64_t addrs[USES_MAX];
	uint32_t n;
};

static bool is_text(const struct uses *u, uint64_t addr)
{
	size_t room, len = strlen(u->text);
	const uint8_t *bytes = elf_image__bytes(u->img, addr, &room);

	return bytes && room >= len && !memcmp(bytes, u->text, len);
}

/* Any `lea disp32(%rip), %rsi` that leads to the text. */
static int look_for_uses(void *arg, const struct code_span *span)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x35};
	struct uses *u = arg;
	const uint8_t *at = span->bytes, *end = span->bytes + span->len;

	while (u->n < USES_MAX && (at = memmem(at, (size_t)(end - at), lea, sizeof(lea)))) {
		uint64_t addr = span->addr + (uint64_t)(at - span->bytes);
		int32_t disp;

		if (end - at < 7)
			break;
		memcpy(&disp, at + sizeof(lea), sizeof(disp));
		if (is_text(u, addr + 7 + (uint64_t)(int64_t)disp))
			u->addrs[u->n++] = addr;
		at += sizeof(lea);
	}
	return 0;
}

/* A function with one call, which passes the text and its length: 1; 0 or -ENOMEM. */
static int prints(const struct uses *u, const struct owner *o)
{
	const struct eval_function f = {
		.img = u->img,
		EVAL_OF(o),
		.steps = 2 * LINE_MAX,
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&f, &e);
	const struct eval_call *call;

	if (err)
		return err;
	call = &e->calls[0];
	return e->n_calls == 1 && sum_is_constant(&call->second) &&
	       is_text(u, call->second.constant) && sum_is_constant(&call->third) &&
	       call->third.constant == strlen(u->text);
}

int last_field__of_generic(struct elf_image *img, struct code_decoder *decoder, const char *name,
			   uint64_t *offset)
{
	_free_ struct uses *u = calloc(1, sizeof(*u));
	_owners_ struct owners owners = {NULL, 0};
	uint64_t first = 0, other;
	uint32_t n = 0;
	int err;

	if (!u)
		return -ENOMEM;
	u->img = img;
	u->text = name;
	err = code_scan__spans(img, look_for_uses, u) ?: owners__find(img, u->addrs, u->n, &owners);
	/* All must show the same, and some may be missing. */
	if (err || u->n == USES_MAX)
		return err;
	for (size_t i = 0; i < owners.n; i++) {
		int found = prints(u, &owners.items[i]);

		if (found < 0)
			return found;
		/* One that prints a reference is given the address of an address. */
		if (!found || !last_field__find(decoder, owners.items[i].entry, &other))
			continue;
		if (n++ && other != first)
			return 0;
		first = other;
	}
	if (n < 2)
		return 0;
	*offset = first;
	return 1;
}
