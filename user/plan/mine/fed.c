// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/fed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/code/walk.h"

/* What a body complains about if a result that was fed is not what the query computes. */
#define FED_TEXT      "with fed value"
#define FED_TEXT_MOST 96
/* In a complaint, what is behind the name of the query. */
#define BEHIND_NAME " key="

static bool says_fed(const struct elf_image *img, const struct code_insn *insn)
{
	const uint8_t *text;
	size_t room;

	if (insn->shape != CODE_LEA_RIP)
		return false;
	text = elf_image__bytes(img, insn->target, &room);
	return text && memmem(text, room < FED_TEXT_MOST ? room : FED_TEXT_MOST, FED_TEXT,
			      strlen(FED_TEXT));
}

/* The next branch by the flags that instruction `i` sets, or SIZE_MAX. */
static size_t branch_of(const struct code *code, size_t i)
{
	size_t last = i + 6;

	for (i++; i < code->n && i < last && code__after(code, i - 1) == i; i++) {
		if (code->insns[i].flow == CODE_JCC)
			return i;
		if (code->insns[i].flow != CODE_FALLS || code->insns[i].sets_flags)
			break;
	}
	return SIZE_MAX;
}

/* Whether a branch is taken if what was compared is equal: 1, if it is not: 0; else -1. */
static int taken_if_equal(const struct elf_image *img, const struct code_insn *branch)
{
	size_t room;
	const uint8_t *code = elf_image__bytes(img, branch->addr, &room);

	if (!code || room < 2)
		return -1;
	if (code[0] == 0x74 || (code[0] == 0x0f && code[1] == 0x84))
		return 1;
	return code[0] == 0x75 || (code[0] == 0x0f && code[1] == 0x85) ? 0 : -1;
}

static bool is_call_of(const struct code_insn *insn, uint64_t target)
{
	return target && (insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT) &&
	       insn->target == target;
}

/*
 * Mark all that control reaches from `from` on, up to what is marked already. Calls of `panic` do
 * not return: what lies behind one may belong to anything.
 */
static void mark(const struct walk *w, size_t from, uint64_t panic, uint8_t how, uint8_t *marks,
		 size_t *work)
{
	size_t n = 0;

	if (from < w->code->n && !marks[from]) {
		marks[from] = how;
		work[n++] = from;
	}
	while (n) {
		size_t i = work[--n], next[2] = {SIZE_MAX, w->to[i]};

		if (code_insn__goes_on(&w->code->insns[i]) &&
		    !is_call_of(&w->code->insns[i], panic))
			next[0] = code__after(w->code, i);
		for (int k = 0; k < 2; k++) {
			if (next[k] >= w->code->n || marks[next[k]])
				continue;
			marks[next[k]] = how;
			work[n++] = next[k];
		}
	}
}

int fed__prove(const struct elf_image *img, const struct code *code, uint64_t entry, size_t i,
	       bool *proven)
{
	enum { NOT_FED = 1, FED, HERE };
	size_t branch = branch_of(code, i), text = 0, call, sides[2];
	int equal = branch == SIZE_MAX ? -1 : taken_if_equal(img, &code->insns[branch]);
	_free_ uint8_t *marks = calloc(code->n + 1, 1);
	_free_ size_t *work = calloc(code->n + 1, sizeof(*work));
	struct walk w;
	uint64_t panic;
	int err;

	if (!marks || !work)
		return -ENOMEM;
	while (text < code->n && !says_fed(img, &code->insns[text]))
		text++;
	for (call = text; call < code->n && code->insns[call].flow == CODE_FALLS;)
		call++;
	if (equal < 0 || call == code->n)
		return 0;
	panic = code->insns[call].target;
	err = walk__init(&w, img, code, entry);
	if (!err) {
		sides[0] = code__after(code, branch);
		sides[1] = w.to[branch];
		marks[branch] = HERE; /* a loop may lead back to it */
		mark(&w, sides[equal], panic, NOT_FED, marks, work);
		mark(&w, sides[!equal], panic, FED, marks, work);
	}
	walk__fini(&w);
	*proven = *proven || marks[text] == FED;
	return err;
}

const char *fed__next_name(const struct elf_image *img, size_t *at, size_t *len)
{
	uint64_t addr, size;
	const char *all, *name, *end;
	size_t room;

	if (!elf_image__section(img, ".rodata", &addr, &size))
		return NULL;
	all = (const char *)elf_image__bytes(img, addr, &room);
	room = room < size ? room : size;
	if (!all || *at >= room)
		return NULL;
	name = memmem(all + *at, room - *at, FED_COMPLAINT, strlen(FED_COMPLAINT));
	name = name ? name + strlen(FED_COMPLAINT) : NULL;
	end = name ? memmem(name, room - (size_t)(name - all), BEHIND_NAME, strlen(BEHIND_NAME))
		   : NULL;
	if (!end)
		return NULL;
	*at = (size_t)(end - all);
	*len = (size_t)(end - name);
	return name;
}
