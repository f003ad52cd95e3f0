// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/cfa.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "plan/symbols/dwarf_bytes.h"

/* The three operations that hold an operand in their low bits. */
#define OPERATION_MASK 0xc0

/* Not in <dwarf.h> of elfutils: the offset is negative and has no sign. */
#define CFA_GNU_NEGATIVE_OFFSET_EXTENDED 0x2f

/* How the CFA is found. */
enum cfa_kind { CFA_REGISTER, CFA_DEREF, CFA_PLT, CFA_OTHER };

struct cfa {
	enum cfa_kind kind;
	uint64_t reg; /* of CFA_REGISTER and CFA_DEREF */
	int64_t offset;
};

/* Where a register of the caller is. */
enum saved_kind {
	SAVED_NOT,	/* still in the register */
	SAVED_AT_CFA,	/* at CFA + offset */
	SAVED_AT_REG,	/* at a register of this frame + offset */
	SAVED_NOWHERE,	/* undefined */
	SAVED_ELSEWHERE /* in a way that is not followed */
};

struct saved {
	enum saved_kind kind;
	uint64_t reg; /* of SAVED_AT_REG */
	int64_t offset;
};

/* The registers that are followed. */
enum followed { RBP, RA, N_FOLLOWED };

struct state {
	struct cfa cfa;
	struct saved saved[N_FOLLOWED];
};

struct machine {
	const struct eh_frame *frame;
	const struct eh_fde *fde;
	struct dwarf_bytes program;
	struct state now;
	struct state initial; /* after the CIE's program */
	struct state *states; /* CFA_STATES_MAX of them; n_states are remembered */
	unsigned int n_states;
	bool in_cie;
	uint64_t pc;
	uint64_t end;
	cfa_run_fn *run;
	void *ctx;
};

/* ---- Rules ----------------------------------------------------------------------------------- */

static bool is_at_rsp(const struct saved *s, int64_t offset)
{
	return s->kind == SAVED_AT_REG && s->reg == EH_FRAME_RSP && s->offset == offset;
}

/* See WIRE_UNWIND_SIGNAL. */
static bool is_signal(const struct eh_cie *cie, const struct state *s)
{
	int64_t at = s->cfa.offset;

	return cie->signal && s->cfa.kind == CFA_DEREF && s->cfa.reg == EH_FRAME_RSP && at >= 40 &&
	       at < 4096 && is_at_rsp(&s->saved[RA], at + 8) && is_at_rsp(&s->saved[RBP], at - 40);
}

static enum wire_unwind_base base_of(const struct cfa *cfa)
{
	bool deref = cfa->kind == CFA_DEREF;

	if (cfa->kind == CFA_PLT)
		return WIRE_UNWIND_PLT;
	if (cfa->kind == CFA_OTHER || cfa->offset != (int32_t)cfa->offset)
		return WIRE_UNWIND_NONE;
	if (cfa->reg == EH_FRAME_RSP)
		return deref ? WIRE_UNWIND_RSP_DEREF : WIRE_UNWIND_RSP;
	if (cfa->reg == EH_FRAME_RBP)
		return deref ? WIRE_UNWIND_RBP_DEREF : WIRE_UNWIND_RBP;
	return cfa->reg == EH_FRAME_R11 && !deref ? WIRE_UNWIND_R11 : WIRE_UNWIND_NONE;
}

/* Equal rules have equal bytes. */
static struct wire_unwind_rule rule_of(const struct eh_cie *cie, const struct state *s)
{
	struct wire_unwind_rule rule = {};
	struct saved rbp = s->saved[RBP];
	bool fits;

	if (s->saved[RA].kind == SAVED_NOWHERE) {
		rule.base = WIRE_UNWIND_END;
		return rule;
	}
	if (is_signal(cie, s)) {
		rule.base = WIRE_UNWIND_SIGNAL;
		rule.cfa = (int32_t)s->cfa.offset;
		return rule;
	}
	if (s->saved[RA].kind != SAVED_AT_CFA || s->saved[RA].offset != -8)
		return rule;
	rule.base = base_of(&s->cfa);
	if (rule.base == WIRE_UNWIND_NONE)
		return rule;
	rule.cfa = (int32_t)s->cfa.offset;

	/* The place of rbp is an offset from the CFA if that is known. */
	if (rbp.kind == SAVED_AT_REG && s->cfa.kind == CFA_REGISTER && rbp.reg == s->cfa.reg)
		rbp = (struct saved){SAVED_AT_CFA, 0, rbp.offset - s->cfa.offset};
	fits = rbp.offset == (int16_t)rbp.offset;
	rule.rbp_is = WIRE_UNWIND_RBP_LOST;
	if (rbp.kind == SAVED_NOT)
		rule.rbp_is = WIRE_UNWIND_RBP_SAME;
	else if (rbp.kind == SAVED_AT_CFA && fits)
		rule.rbp_is = WIRE_UNWIND_RBP_AT_CFA;
	else if (rbp.kind == SAVED_AT_REG && rbp.reg == EH_FRAME_RBP && fits)
		rule.rbp_is = WIRE_UNWIND_RBP_AT_RBP;
	if (rule.rbp_is == WIRE_UNWIND_RBP_AT_CFA || rule.rbp_is == WIRE_UNWIND_RBP_AT_RBP)
		rule.rbp = (int16_t)rbp.offset;
	return rule;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

/* "The value of a register, and a number more", then nothing or `then`. */
static bool match_register(const uint8_t *p, size_t n, const char *then, size_t n_then,
			   uint64_t *reg, int64_t *offset)
{
	struct dwarf_bytes b = {p, p + n, false};
	uint8_t operation = dwarf_bytes__u8(&b);

	if (operation < DW_OP_breg0 || operation > DW_OP_breg31)
		return false;
	*reg = operation - DW_OP_breg0;
	*offset = dwarf_bytes__sleb(&b);
	return !b.bad && dwarf_bytes__left(&b) == n_then && !memcmp(b.at, then, n_then);
}

/*
 * rsp + 8 + ((rip & 15) >= k) * 8, as GNU ld writes it for entries of 16 bytes, each of which has
 * pushed a number from byte k on.
 */
static bool match_plt(const uint8_t *p, size_t n, int64_t *k)
{
	static const uint8_t plt[] = {DW_OP_breg0 + EH_FRAME_RSP,
				      8,
				      DW_OP_breg0 + EH_FRAME_RA,
				      0,
				      DW_OP_lit15,
				      DW_OP_and,
				      DW_OP_lit0,
				      DW_OP_ge,
				      DW_OP_lit3,
				      DW_OP_shl,
				      DW_OP_plus};
	const size_t at = 6;

	if (n != sizeof(plt) || memcmp(p, plt, at) || memcmp(p + at + 1, plt + at + 1, n - at - 1))
		return false;
	*k = p[at] - DW_OP_lit0;
	return *k >= 0 && *k <= 15;
}

static struct cfa cfa_of_expression(const uint8_t *p, size_t n)
{
	static const char deref[] = {DW_OP_deref};
	struct cfa cfa = {.kind = CFA_OTHER};

	if (match_register(p, n, "", 0, &cfa.reg, &cfa.offset))
		cfa.kind = CFA_REGISTER;
	else if (match_register(p, n, deref, sizeof(deref), &cfa.reg, &cfa.offset))
		cfa.kind = CFA_DEREF;
	else if (match_plt(p, n, &cfa.offset))
		cfa.kind = CFA_PLT;
	return cfa;
}

/* A block: its size, and that many bytes. NULL if it is not there. */
static const uint8_t *take_block(struct machine *m, size_t *n)
{
	uint64_t size = dwarf_bytes__uleb(&m->program);
	const uint8_t *p = dwarf_bytes__take(&m->program, size);

	*n = p ? (size_t)size : 0;
	return p;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* NULL if the register is not followed. */
static struct saved *register_of(struct state *s, uint64_t reg)
{
	static const uint8_t followed[EH_FRAME_RA + 1] = {
		[EH_FRAME_RBP] = RBP + 1,
		[EH_FRAME_RA] = RA + 1,
	};

	return reg <= EH_FRAME_RA && followed[reg] ? &s->saved[followed[reg] - 1] : NULL;
}

static void set_register(struct machine *m, uint64_t reg, struct saved to)
{
	struct saved *saved = register_of(&m->now, reg);

	if (saved)
		*saved = to;
}

/* A distance from the CFA, in the CIE's unit. */
static int64_t scaled(struct machine *m, int64_t n)
{
	int64_t offset;

	if (__builtin_mul_overflow(n, m->fde->cie.data_factor, &offset))
		m->program.bad = true;
	return m->program.bad ? 0 : offset;
}

static int64_t take_offset(struct machine *m)
{
	uint64_t n = dwarf_bytes__uleb(&m->program);

	if (n > INT64_MAX)
		m->program.bad = true;
	return m->program.bad ? 0 : (int64_t)n;
}

static void set_at_cfa(struct machine *m, uint64_t reg, int64_t n)
{
	set_register(m, reg, (struct saved){SAVED_AT_CFA, 0, scaled(m, n)});
}

/* Back to what the CIE says. */
static void restore_register(struct machine *m, uint64_t reg)
{
	const struct saved *initial = register_of(&m->initial, reg);

	if (initial)
		set_register(m, reg, *initial);
}

/* The run up to `pc` is complete. */
static int advance_to(struct machine *m, uint64_t pc)
{
	uint64_t start = m->pc;

	if (m->in_cie || pc < start)
		return -EBADMSG;
	m->pc = pc < m->end ? pc : m->end;
	return start < m->pc ? m->run(m->ctx, start, m->pc, rule_of(&m->fde->cie, &m->now)) : 0;
}

static int advance(struct machine *m, uint64_t n)
{
	uint64_t pc;

	if (__builtin_mul_overflow(n, m->fde->cie.code_factor, &pc) ||
	    __builtin_add_overflow(pc, m->pc, &pc))
		return -EBADMSG;
	return m->program.bad ? -EBADMSG : advance_to(m, pc);
}

/* Change one half of "register and offset". */
static int set_cfa(struct machine *m, const uint64_t *reg, const int64_t *offset)
{
	if (m->now.cfa.kind != CFA_REGISTER)
		return -EBADMSG;
	if (reg)
		m->now.cfa.reg = *reg;
	if (offset)
		m->now.cfa.offset = *offset;
	return 0;
}

static int change_cfa(struct machine *m, uint8_t operation)
{
	struct dwarf_bytes *b = &m->program;
	uint64_t reg = 0;
	int64_t offset = 0;
	const uint8_t *p;
	size_t n;

	switch (operation) {
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		reg = dwarf_bytes__uleb(b);
		offset = operation == DW_CFA_def_cfa ? take_offset(m)
						     : scaled(m, dwarf_bytes__sleb(b));
		m->now.cfa = (struct cfa){CFA_REGISTER, reg, offset};
		return 0;
	case DW_CFA_def_cfa_register:
		reg = dwarf_bytes__uleb(b);
		return set_cfa(m, &reg, NULL);
	case DW_CFA_def_cfa_offset:
		offset = take_offset(m);
		return set_cfa(m, NULL, &offset);
	case DW_CFA_def_cfa_offset_sf:
		offset = scaled(m, dwarf_bytes__sleb(b));
		return set_cfa(m, NULL, &offset);
	default: /* DW_CFA_def_cfa_expression */
		p = take_block(m, &n);
		if (p)
			m->now.cfa = cfa_of_expression(p, n);
		return 0;
	}
}

static void change_register(struct machine *m, uint8_t operation)
{
	struct dwarf_bytes *b = &m->program;
	uint64_t reg = dwarf_bytes__uleb(b);
	struct saved saved = {.kind = SAVED_ELSEWHERE};
	const uint8_t *p;
	size_t n;

	switch (operation) {
	case DW_CFA_offset_extended:
		set_at_cfa(m, reg, take_offset(m));
		break;
	case DW_CFA_offset_extended_sf:
		set_at_cfa(m, reg, dwarf_bytes__sleb(b));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_at_cfa(m, reg, -take_offset(m));
		break;
	case DW_CFA_restore_extended:
		restore_register(m, reg);
		break;
	case DW_CFA_undefined:
		set_register(m, reg, (struct saved){.kind = SAVED_NOWHERE});
		break;
	case DW_CFA_same_value:
		set_register(m, reg, (struct saved){.kind = SAVED_NOT});
		break;
	case DW_CFA_expression:
		p = take_block(m, &n);
		if (p && match_register(p, n, "", 0, &saved.reg, &saved.offset))
			saved.kind = SAVED_AT_REG;
		if (p)
			set_register(m, reg, saved);
		break;
	case DW_CFA_val_expression:
		take_block(m, &n);
		set_register(m, reg, saved);
		break;
	default: /* DW_CFA_register, DW_CFA_val_offset, DW_CFA_val_offset_sf: another number */
		dwarf_bytes__uleb(b);
		set_register(m, reg, saved);
	}
}

static int step_extended(struct machine *m, uint8_t operation)
{
	uint64_t pc;

	switch (operation) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_GNU_args_size:
		dwarf_bytes__uleb(&m->program);
		return 0;
	case DW_CFA_set_loc:
		return eh_frame__address(m->frame, m->fde->cie.encoding, &m->program.at,
					 m->program.end, &pc)
			       ? advance_to(m, pc)
			       : -EBADMSG;
	case DW_CFA_advance_loc1:
		return advance(m, dwarf_bytes__number(&m->program, 1));
	case DW_CFA_advance_loc2:
		return advance(m, dwarf_bytes__number(&m->program, 2));
	case DW_CFA_advance_loc4:
		return advance(m, dwarf_bytes__number(&m->program, 4));
	case DW_CFA_remember_state:
		if (m->n_states == CFA_STATES_MAX)
			return -EBADMSG;
		m->states[m->n_states++] = m->now;
		return 0;
	case DW_CFA_restore_state:
		if (!m->n_states)
			return -EBADMSG;
		m->now = m->states[--m->n_states];
		return 0;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		return change_cfa(m, operation);
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		change_register(m, operation);
		return 0;
	default: /* its operands are unknown, so the next operation is */
		return -EBADMSG;
	}
}

static int step(struct machine *m)
{
	uint8_t operation = dwarf_bytes__u8(&m->program);
	uint8_t operand = operation & (uint8_t)~OPERATION_MASK;
	int err = 0;

	switch (operation & OPERATION_MASK) {
	case DW_CFA_advance_loc:
		err = advance(m, operand);
		break;
	case DW_CFA_offset:
		set_at_cfa(m, operand, take_offset(m));
		break;
	case DW_CFA_restore:
		restore_register(m, operand);
		break;
	default:
		err = step_extended(m, operation);
	}
	return err ?: m->program.bad ? -EBADMSG : 0;
}

static int run_program(struct machine *m, const struct eh_program *program)
{
	int err = 0;

	m->program = (struct dwarf_bytes){program->bytes, program->bytes + program->size, false};
	while (!err && m->program.at < m->program.end)
		err = step(m);
	return err;
}

int cfa__run(const struct eh_frame *frame, const struct eh_fde *fde, cfa_run_fn *run, void *ctx)
{
	struct state states[CFA_STATES_MAX]; /* clearing them would take longer than all else */
	struct machine m = {
		.frame = frame,
		.fde = fde,
		.run = run,
		.ctx = ctx,
		.states = states,
		.pc = fde->start,
		.in_cie = true,
		/* Until a program says where, nothing is known of the return address. */
		.now = {.cfa.kind = CFA_OTHER, .saved[RA].kind = SAVED_ELSEWHERE},
	};
	int err;

	if (__builtin_add_overflow(fde->start, fde->length, &m.end))
		return -EBADMSG;
	err = run_program(&m, &fde->cie.program);
	if (err)
		return err;
	m.initial = m.now;
	m.in_cie = false;
	return run_program(&m, &fde->program) ?: advance_to(&m, m.end);
}
