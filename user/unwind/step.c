// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/step.h"

struct reader {
	unwind_read_fn *read;
	void *ctx;
};

static bool read_word(const struct reader *from, uint64_t addr, uint64_t *word)
{
	return from->read(from->ctx, addr, word);
}

static enum unwind_stepped find_cfa(const struct unwind_registers *r, struct wire_unwind_rule rule,
				    const struct reader *from, uint64_t *cfa)
{
	uint64_t offset = (uint64_t)rule.cfa;
	bool pushed;

	switch (rule.base) {
	case WIRE_UNWIND_RSP:
	case WIRE_UNWIND_RSP_DEREF:
		*cfa = r->sp + offset;
		break;
	case WIRE_UNWIND_RBP:
	case WIRE_UNWIND_RBP_DEREF:
		if (r->bp_lost)
			return UNWIND_NO_RULE;
		*cfa = r->bp + offset;
		break;
	case WIRE_UNWIND_R11:
		if (r->r11_lost)
			return UNWIND_NO_RULE;
		*cfa = r->r11 + offset;
		break;
	case WIRE_UNWIND_PLT:
		pushed = (unwind_registers__pc(r) & 15) >= offset;
		*cfa = r->sp + (pushed ? 16 : 8);
		break;
	default:
		return UNWIND_NO_RULE;
	}
	if (rule.base != WIRE_UNWIND_RSP_DEREF && rule.base != WIRE_UNWIND_RBP_DEREF)
		return UNWIND_CALLER;
	return read_word(from, *cfa, cfa) ? UNWIND_CALLER : UNWIND_NO_WORD;
}

static bool find_bp(struct unwind_registers *caller, struct wire_unwind_rule rule,
		    const struct reader *from)
{
	uint64_t offset = (uint64_t)rule.rbp;

	switch (rule.rbp_is) {
	case WIRE_UNWIND_RBP_AT_CFA:
		caller->bp_lost = false;
		return read_word(from, caller->sp + offset, &caller->bp);
	case WIRE_UNWIND_RBP_AT_RBP:
		return caller->bp_lost || read_word(from, caller->bp + offset, &caller->bp);
	case WIRE_UNWIND_RBP_LOST:
		caller->bp_lost = true;
		return true;
	default:
		return true;
	}
}

enum unwind_stepped unwind_registers__step(struct unwind_registers *r, struct wire_unwind_rule rule,
					   unwind_read_fn *read, void *ctx)
{
	const struct reader from = {read, ctx};
	struct unwind_registers caller = *r;
	enum unwind_stepped stepped;

	if (rule.base == WIRE_UNWIND_END)
		return UNWIND_WHOLE;
	if (rule.base == WIRE_UNWIND_SIGNAL) {
		uint64_t at = r->sp + (uint64_t)rule.cfa;

		caller = (struct unwind_registers){.r11_lost = true, .interrupted = true};
		if (!read_word(&from, at - 40, &caller.bp) || !read_word(&from, at, &caller.sp) ||
		    !read_word(&from, at + 8, &caller.pc))
			return UNWIND_NO_WORD;
		*r = caller;
		return UNWIND_CALLER;
	}
	stepped = find_cfa(r, rule, &from, &caller.sp);
	if (stepped != UNWIND_CALLER)
		return stepped;
	if (!read_word(&from, caller.sp - 8, &caller.pc) || !find_bp(&caller, rule, &from))
		return UNWIND_NO_WORD;
	caller.r11_lost = true;
	caller.interrupted = false;
	/* The kernel, and clone(2) of some libraries, leave this below the outermost frame. */
	if (!caller.pc)
		return UNWIND_WHOLE;
	*r = caller;
	return UNWIND_CALLER;
}
