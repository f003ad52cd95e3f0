// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/passed_keys.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/eval.h"

#define WORD 4
/* Steps of a function and the beginning of the one that it passes a definition on to. */
#define STEPS_MAX 64
/* Bytes from the start of a key to the definition in it. */
#define OFFSET_MAX 1024

/* A definition within the key that the function is given the address of. */
struct passed {
	uint64_t at; /* of its index; the crate is behind it */
	bool local;  /* there is no crate: it is that of the compiled one */
};

/* The function's last jump, which leaves it; false if there is none. */
static bool find_jump(const struct passed_keys *p, const struct code_region *f, uint64_t *jump)
{
	struct code_insn insn;
	bool found = false;

	for (uint64_t addr = f->addr; addr - f->addr < f->size; addr += insn.size) {
		if (!code_decoder__at(p->decoder, addr, &insn))
			return false;
		if (insn.flow != CODE_JMP || insn.target - f->addr < f->size)
			continue;
		if (found)
			return false;
		*jump = addr;
		found = true;
	}
	return found;
}

/* Run the function for the values that it passes on in the registers of `asked`, or, without
 * these, for all that it does. */
static int run(const struct passed_keys *p, const struct code_region *f, const uint8_t *variant,
	       uint64_t until, const struct wire_place *asked, struct eval **out)
{
	const struct eval_given given = {WIRE_REG_DI, 1, 0, variant ? *variant : 0};
	const struct eval_function ef = {
		.img = p->img,
		.entry = f->addr,
		.regions = f,
		.n_regions = 1,
		.steps = STEPS_MAX,
		.follows = !asked,
		.given = &given,
		.n_given = variant != NULL,
		.until = until,
		.asked = asked,
		.n_asked = asked ? EVAL_ASKED : 0,
	};

	return eval__run(&ef, out);
}

/* `a` is the word at *at of what the function was given the address of. */
static bool is_word(const struct eval *e, const struct sum *a, uint64_t *at)
{
	return sum_is_field(&e->nodes, a, WIRE_REG_DI, WORD, at) && *at < OFFSET_MAX &&
	       *at % WORD == 0;
}

static bool read_passed(const struct eval *e, const struct sum *index, const struct sum *crate,
			struct passed *out)
{
	uint64_t behind;

	if (!is_word(e, index, &out->at))
		return false;
	out->local = sum_is_constant(crate) && !crate->constant;
	return out->local || (is_word(e, crate, &behind) && behind == out->at + WORD);
}

/* The function that is jumped to compares the crate with that of the compiled one. */
static int is_looked_up(const struct passed_keys *p, const struct code_region *f,
			const uint8_t *variant, const struct passed *passed, bool *is)
{
	_free_ struct eval *e = NULL;
	int err = run(p, f, variant, 0, NULL, &e);

	*is = false;
	for (uint32_t i = 0; !err && i < e->compares.n && !*is; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		uint64_t at;

		if (!sum_is_constant(&c->b) || c->b.constant)
			continue;
		*is = passed->local ? sum_is_constant(&c->a) && !c->a.constant
				    : is_word(e, &c->a, &at) && at == passed->at + WORD;
	}
	return err;
}

int passed_keys__learn(struct passed_keys *p, const struct code_region *f)
{
	/* Those of the later arguments: the first is the context. */
	static const struct wire_place asked[EVAL_ASKED] = {{.reg = WIRE_REG_DX},
							    {.reg = WIRE_REG_CX},
							    {.reg = WIRE_REG_R8},
							    {.reg = WIRE_REG_R9}};
	_free_ struct eval *e = NULL;
	uint64_t jump;
	int err = find_jump(p, f, &jump) ? run(p, f, NULL, jump, asked, &e) : -ENODATA;

	for (size_t i = 0; !err && i + 1 < N_OF(asked); i++) {
		struct passed passed;
		bool is;

		if (!read_passed(e, &e->answers[i], &e->answers[i + 1], &passed) || passed.at ||
		    passed.local)
			continue;
		err = is_looked_up(p, f, NULL, &passed, &is);
		if (err || !is)
			continue;
		p->index = asked[i].reg;
		p->crate = asked[i + 1].reg;
		return 0;
	}
	return err == -ENODATA ? 0 : err;
}

/* 1, 0 or -ENOMEM. */
static int find_passed(const struct passed_keys *p, const struct code_region *f,
		       const uint8_t *variant, struct passed *out)
{
	const struct wire_place asked[EVAL_ASKED] = {{.reg = p->index}, {.reg = p->crate}};
	_free_ struct eval *e = NULL;
	uint64_t jump;
	bool is = false;
	int err = find_jump(p, f, &jump) ? run(p, f, variant, jump, asked, &e) : -ENODATA;

	if (!err && read_passed(e, &e->answers[0], &e->answers[1], out))
		err = is_looked_up(p, f, variant, out, &is);
	return err && err != -ENODATA ? err : is;
}

/* By the variant of an enum, in the first byte. */
static int find_variants(const struct passed_keys *p, const struct code_region *f,
			 struct wire_memory_key *out)
{
	bool any = false;

	*out = (struct wire_memory_key){.other = WIRE_NO_WORD, .narrow = 1};
	for (uint8_t i = 0; i < WIRE_VARIANTS; i++) {
		struct passed passed;
		int found = find_passed(p, f, &i, &passed);

		if (found < 0)
			return found;
		out->words[i] = found && !passed.local && passed.at &&
						passed.at / WORD + 1 < WIRE_MEMORY_WORDS
					? (uint8_t)(passed.at / WORD)
					: WIRE_NO_WORD;
		any = any || out->words[i] != WIRE_NO_WORD;
	}
	return any;
}

int passed_keys__find(const struct passed_keys *p, const struct code_region *f,
		      struct wire_memory_key *out)
{
	struct passed passed;
	int found = find_passed(p, f, NULL, &passed);

	if (found < 0)
		return found;
	if (!found)
		return find_variants(p, f, out);
	*out = (struct wire_memory_key){
		.offset = (uint32_t)passed.at,
		.other = passed.local ? WIRE_LOCAL_WORD : 0,
	};
	memset(out->words, out->other, sizeof(out->words));
	return 1;
}
